#include "cli/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int nx_complain(enum nx_status status, const char *format, ...)
{
    va_list args;

    fputs("neuron-explorer: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return (int)status;
}

int nx_complain_about(const struct nx_error *error)
{
    return nx_complain(error->status, "%s", error->text);
}

int nx_complain_query(const struct nx_answer *answer)
{
    nx_complain(NX_FAILED, "%s", answer->message ? answer->message : nx_query_code_name(answer->code));
    if (answer->hint)
        fprintf(stderr, "%s\n", answer->hint);
    return NX_FAILED;
}

bool nx_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return !errno && *end == '\0' && *value >= low && *value <= high;
}

bool nx_parse_seconds(const char *text, unsigned *milliseconds)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end || !(seconds > 0) || seconds > 86400)
        return false;
    *milliseconds = (unsigned)(seconds * 1000);
    if (*milliseconds == 0)
        *milliseconds = 1;
    return true;
}

enum nx_status nx_open_store(const char *path, bool create, struct nx_store *store, struct nx_error *error)
{
    char *standard = path ? NULL : nx_store_default_path();
    enum nx_status status;

    if (!path && !standard)
        return nx_fail(error, NX_UNAVAILABLE, "neither XDG_DATA_HOME nor HOME is set: name the data path by --data-path");
    status = nx_store_open(path ? path : standard, create, store, error);
    free(standard);
    return status;
}

bool nx_is_terminal(int fd)
{
    const char *term = getenv("TERM");

    return term && term[0] && strcmp(term, "dumb") != 0 && isatty(fd);
}

bool nx_wants_colour(int fd)
{
    const char *no_colour = getenv("NO_COLOR");

    return nx_is_terminal(fd) && !(no_colour && no_colour[0]);
}

unsigned nx_terminal_width(void)
{
    struct winsize size;

    if (!isatty(STDOUT_FILENO))
        return 0;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}
