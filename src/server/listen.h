/* listen.h - the server's sockets, on the loopback interface only. */
#ifndef NX_SERVER_LISTEN_H
#define NX_SERVER_LISTEN_H

#include <stdint.h>

#include "base/error.h"

/*
 * Listens on 127.0.0.1 and, where the machine has it, on ::1 (else *v6 is -1), on one port; *port 0 takes any
 * that is free on both, and says which.  NX_UNAVAILABLE names the port and, if it can be told, who holds it.
 */
enum nx_status nx_listen(uint16_t *port, int *v4, int *v6, struct nx_error *error);

#endif
