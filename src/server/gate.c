#include "server/gate.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool is_port(const char *text)
{
    size_t size = strlen(text);

    if (size == 0)
        return true; /* no port */
    if (text[0] != ':' || size < 2 || size > 6)
        return false;
    for (const char *p = text + 1; *p; p++)
        if (!isdigit((unsigned char)*p))
            return false;
    return true;
}

static bool is_loopback_v4(const char *host, size_t size)
{
    char text[16];
    struct in_addr address;

    if (size >= sizeof(text))
        return false;
    memcpy(text, host, size);
    text[size] = '\0';
    return inet_pton(AF_INET, text, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

bool nx_gate_host(const char *host)
{
    size_t size;

    if (!host)
        return false;
    if (strncmp(host, "[::1]", 5) == 0)
        return is_port(host + 5);
    size = strcspn(host, ":");
    if (!is_port(host + size))
        return false;
    return (size == 9 && strncasecmp(host, "localhost", 9) == 0) || is_loopback_v4(host, size);
}

bool nx_gate_origin(const char *origin)
{
    if (strncasecmp(origin, "http://", 7) == 0)
        return nx_gate_host(origin + 7);
    if (strncasecmp(origin, "https://", 8) == 0)
        return nx_gate_host(origin + 8);
    return false;
}

bool nx_gate_json(const char *content_type)
{
    static const char json[] = "application/json";
    size_t size = sizeof(json) - 1;

    return content_type && strncasecmp(content_type, json, size) == 0 &&
           (content_type[size] == '\0' || content_type[size] == ';' || isspace((unsigned char)content_type[size]));
}
