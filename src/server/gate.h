/*
 * gate.h - which requests are looked at.
 *
 * A page in the user's browser can send requests to this server.  Its Origin
 * tells it apart, if the browser sends one; its Host does, when the page's own
 * name was made to resolve to 127.0.0.1 (DNS rebinding); and it cannot make a
 * form send application/json.
 */
#ifndef NX_SERVER_GATE_H
#define NX_SERVER_GATE_H

#include <stdbool.h>

/* "localhost", 127.0.0.0/8, "[::1]", each with or without a port. NULL (no Host at all) is not. */
bool nx_gate_host(const char *host);
/* An http or https origin on a loopback host. ("null", as of a file or a sandboxed frame, is foreign.) */
bool nx_gate_origin(const char *origin);
/* "application/json", with or without parameters. */
bool nx_gate_json(const char *content_type);

#endif
