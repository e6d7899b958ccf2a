/* mprof-ingest: a trace becomes a session. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "ingest/trace_dump.h"
#include "ingest/trace_file.h"

struct options {
    const char *trace;
    bool dump;
};

static const char usage_text[] = "usage: mprof-ingest --dump TRACE\n"
                                 "\n"
                                 "  --dump       print the trace as text, one line a record\n"
                                 "  --help       this text\n"
                                 "  --version    the version\n";

enum { OPTION_DUMP = 256, OPTION_HELP, OPTION_VERSION };

static const struct option long_options[] = {
    {"dump", no_argument, NULL, OPTION_DUMP},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {0},
};

static bool dump(const struct options *options, struct ingest_status *status)
{
    struct trace_file *file = trace_file_open(options->trace, status);
    if (file == NULL)
        return false;
    bool good = trace_dump_file(stdout, file, status);
    trace_file_close(file);
    if (good && (fflush(stdout) != 0 || ferror(stdout)))
        return ingest_fail(status, INGEST_BAD_INPUT, "the output cannot be written");
    return good;
}

/* Returns -1 to go on, otherwise the exit status. */
static int parse(int argc, char **argv, struct options *options)
{
    int option;
    while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        switch (option) {
        case OPTION_DUMP:
            options->dump = true;
            break;
        case 'h':
        case OPTION_HELP:
            fputs(usage_text, stdout);
            return 0;
        case OPTION_VERSION:
            puts("mprof-ingest " MPROF_VERSION);
            return 0;
        default:
            fputs(usage_text, stderr);
            return 2;
        }
    }
    if (optind + 1 != argc || !options->dump) {
        fputs(usage_text, stderr);
        return 2;
    }
    options->trace = argv[optind];
    return -1;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    struct ingest_status status = {INGEST_OK, ""};
    int exit_status = parse(argc, argv, &options);
    if (exit_status >= 0)
        return exit_status;
    if (dump(&options, &status))
        return 0;
    fprintf(stderr, "mprof-ingest: %s\n", status.message);
    return status.code == INGEST_BAD_USAGE ? 2 : 1;
}
