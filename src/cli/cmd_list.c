#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/options.h"

static const char help[] = "usage: neuron-explorer list [--data-path DIR] [--json]\n"
                           "\n"
                           "Lists the profiles of a data path.\n"
                           "\n"
                           "  --data-path DIR  default: $XDG_DATA_HOME/neuron-profile, else ~/.local/share/neuron-profile\n"
                           "  --json           as JSON\n";

static void print_json(const struct nx_profile_entry *list, size_t count)
{
    struct nx_text text = {0};

    nx_text_puts(&text, "[");
    for (size_t i = 0; i < count; i++) {
        nx_text_puts(&text, i ? ",\n {\"name\": " : "{\"name\": ");
        nx_text_json_string(&text, list[i].name, strlen(list[i].name));
        nx_text_printf(&text, ", \"modified\": %lld, \"tables\": %llu, \"bytes\": %llu}", (long long)list[i].modified,
                       (unsigned long long)list[i].tables, (unsigned long long)list[i].bytes);
    }
    nx_text_puts(&text, "]");
    puts(nx_text_string(&text));
    nx_text_free(&text);
}

static void print_table(const struct nx_profile_entry *list, size_t count)
{
    size_t width = 4;

    for (size_t i = 0; i < count; i++)
        if (nx_text_width(list[i].name) > width)
            width = nx_text_width(list[i].name);
    printf("%-*s  tables  size, kB  ingested\n", (int)width, "name");
    for (size_t i = 0; i < count; i++) {
        time_t seconds = (time_t)list[i].modified;
        char date[32] = "";
        struct tm tm;

        if (localtime_r(&seconds, &tm))
            strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
        printf("%s%*s  %6llu  %8.1f  %s\n", list[i].name, (int)(width - nx_text_width(list[i].name)), "",
               (unsigned long long)list[i].tables, (double)list[i].bytes / 1e3, date);
    }
    printf("(%zu profile%s)\n", count, count == 1 ? "" : "s");
}

int nx_cmd_list(int argc, char **argv)
{
    static const struct option options[] = {
        {"data-path", required_argument, NULL, 'd'}, {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    const char *path = NULL;
    struct nx_profile_entry *list;
    struct nx_store store;
    struct nx_error error;
    enum nx_status status;
    bool json = false;
    size_t count;
    int option;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (option) {
        case 'd': path = optarg; break;
        case 'j': json = true; break;
        case 'h': fputs(help, stdout); return NX_OK;
        default: fputs(help, stderr); return NX_USAGE;
        }
    if (optind != argc) {
        fputs(help, stderr);
        return NX_USAGE;
    }
    setlocale(LC_CTYPE, ""); /* widths of characters in names */
    status = nx_open_store(path, false, &store, &error);
    if (status == NX_OK)
        status = nx_store_list(&store, &list, &count, &error);
    if (status != NX_OK)
        return nx_complain_about(&error);
    if (json)
        print_json(list, count);
    else
        print_table(list, count);
    nx_profile_list_free(list, count);
    nx_store_close(&store);
    return NX_OK;
}
