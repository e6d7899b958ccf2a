/* SPDX-License-Identifier: BSD-2-Clause */
/* mprof-export: reads the command line, and writes a selection of a session in a format. */
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/labels.h"
#include "cli/options.h"
#include "cli/say.h"
#include "report/export/export.h"
#include "report/output/output.h"
#include "schemas/array.h"
#include "session/groups.h"
#include "session/same_modules.h"
#include "session/time.h"
#include "session/translation.h"

static const struct export_format formats[] = {
    {.name = "pprof",
     .write = export_pprof,
     .takes_base = true,
     .takes_at = true,
     .is_binary = true},
    {.name = "pprof-text", .write = export_pprof_text, .takes_at = true},
    {.name = "collapsed",
     .write = export_collapsed,
     .takes_base = true,
     .takes_at = true,
     .takes_value = true},
    {.name = "speedscope", .write = export_speedscope, .takes_at = true},
    {.name = "callgrind", .write = export_callgrind, .takes_at = true},
    {.name = "massif", .write = export_massif},
    {.name = "dhat", .write = export_dhat},
    {.name = "heaptrack", .write = export_heaptrack},
    {.name = "firefox", .write = export_firefox},
    {.name = "chrome", .write = export_chrome, .has_no_stacks = true},
    {.name = "heapsnapshot", .write = export_heapsnapshot, .has_no_stacks = true, .is_whole = true},
    {.name = "csv",
     .write = export_csv,
     .takes_base = true,
     .runs_graph = true,
     .has_no_stacks = true},
    {.name = "ndjson",
     .write = export_ndjson,
     .takes_base = true,
     .runs_graph = true,
     .has_no_stacks = true},
    {.name = "parquet",
     .write = export_parquet,
     .runs_graph = true,
     .has_no_stacks = true,
     .is_binary = true},
    {.name = "svg", .write = export_svg, .takes_base = true, .takes_at = true, .takes_value = true},
};

static const struct export_format *find_format(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

enum exit_status { EXIT_GOOD = 0, EXIT_BAD_INPUT = 1, EXIT_BAD_USAGE = 2 };

/* The defaults of options. */
enum { MAX_EVENTS = 2000000, LARGEST_BLOCKS = 1000 };

struct arguments {
    const char *session, *base, *at, *window;
    const struct export_format *format;
    struct export export;
    struct labels labels;
    char *keys[TRACE_LABELS_MOST]; /* of the labels */
    const char *sql;               /* the database of --sql, NULL: a session is exported */
    const char *by;                /* the keys of --by, NULL: none */
    enum session_dialect dialect;
    bool others; /* options that --sql does not take */
    bool quiet, value_given, frames_given, pcs_given, events_given, max_events_given;
};

static int wrong(const char *option, const char *wanted, const char *value)
{
    return command_line_wrong(&export_command_line, "%s needs %s, not \"%.80s\"", option, wanted,
                              value);
}

/* Stores which of two words a value is. Returns -1 to go on, or an exit status. */
static int take_choice(const char *option, const char *no, const char *yes, const char *value,
                       bool *chosen)
{
    *chosen = strcmp(value, yes) == 0;
    if (*chosen || strcmp(value, no) == 0)
        return -1;
    return command_line_wrong(&export_command_line, "%s needs %s or %s, not \"%.80s\"", option, no,
                              yes, value);
}

static int take_number(const char *option, const char *value, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(value, &end, 10);
    return *value >= '0' && *value <= '9' && *end == '\0' && errno == 0
               ? -1
               : wrong(option, "a number", value);
}

static int take_value(struct arguments *arguments, const char *value)
{
    for (int i = 0; i < EXPORT_TOTAL; i++) {
        if (strcmp(value, export_value_name((enum export_value)i)) == 0) {
            arguments->export.value = (enum export_value)i;
            arguments->value_given = true;
            return -1;
        }
    }
    return wrong("--value", "the name of a sum, as live_bytes", value);
}

static int take_sql(struct arguments *arguments, const char *value)
{
    arguments->sql = value;
    for (int i = 0; i < DIALECT_TOTAL; i++) {
        arguments->dialect = (enum session_dialect)i;
        if (strcmp(value, session_dialect_name(arguments->dialect)) == 0)
            return -1;
    }
    return command_line_wrong(&export_command_line, "--sql needs one of %s, not \"%.80s\"",
                              export_command_line.options[EXPORT_OPTION_SQL].choices, value);
}

#define AT(member) offsetof(struct arguments, member)

/* Handles one option. Returns -1 to go on, or an exit status. */
static int take_option(void *context, int option, const char *value)
{
    static const struct command_kept kept[] = {{EXPORT_OPTION_FILTER, AT(export.filter)},
                                               {EXPORT_OPTION_PROCESS, AT(export.process)},
                                               {EXPORT_OPTION_AT, AT(at)},
                                               {EXPORT_OPTION_BASE, AT(base)},
                                               {EXPORT_OPTION_TABLES, AT(export.tables)},
                                               {EXPORT_OPTION_WINDOW, AT(window)},
                                               {EXPORT_OPTION_QUIET, AT(quiet)}};
    struct arguments *arguments = context;
    struct export *export = &arguments->export;
    arguments->others |= option != EXPORT_OPTION_SQL && option != EXPORT_OPTION_BY &&
                         option != EXPORT_OPTION_FILTER && option != EXPORT_OPTION_OUTPUT &&
                         option != EXPORT_OPTION_QUIET;
    if (command_line_keep(kept, sizeof(kept) / sizeof(*kept), option, value, arguments))
        return -1;
    switch (option) {
    case EXPORT_OPTION_SQL:
        return take_sql(arguments, value);
    case EXPORT_OPTION_BY:
        arguments->by = value;
        return label_keys_good(value, SESSION_BY_MOST)
                   ? -1
                   : wrong("--by", "at most 8 keys, as in service,host", value);
    case EXPORT_OPTION_FORMAT:
        arguments->format = find_format(value);
        return arguments->format
                   ? -1
                   : command_line_wrong(&export_command_line,
                                        "--format needs one of %s, not \"%.80s\"",
                                        export_command_line.options[option].choices, value);
    case EXPORT_OPTION_OUTPUT:
        export->path = strcmp(value, "-") == 0 ? NULL : value;
        return -1;
    case EXPORT_OPTION_FRAMES:
        arguments->frames_given = true;
        return take_choice("--frames", "site", "all", value, &export->all_frames);
    case EXPORT_OPTION_VALUE:
        return take_value(arguments, value);
    case EXPORT_OPTION_PCS:
        arguments->pcs_given = true;
        return take_choice("--pcs", "made-up", "real", value, &export->real_pcs);
    case EXPORT_OPTION_LABEL:
        return labels_take(&arguments->labels, &export_command_line, value);
    case EXPORT_OPTION_EVENTS:
        arguments->events_given = true;
        return take_number("--events", value, &export->events);
    case EXPORT_OPTION_MAX_EVENTS:
        arguments->max_events_given = true;
        return take_number("--max-events", value, &export->max_events);
    }
    return -1;
}

/* Refuses the options that would change nothing. Returns -1 to go on, or an exit status. */
static int check_effects(const struct arguments *arguments)
{
    const struct export_format *format = arguments->format;
    const struct {
        bool useless;
        const char *option, *works;
    } rules[] = {
        {arguments->value_given && !format->takes_value, "--value", "collapsed and svg"},
        {arguments->frames_given && format->has_no_stacks, "--frames", "formats that show stacks"},
        {arguments->pcs_given && strcmp(format->name, "pprof-text") != 0, "--pcs", "pprof-text"},
        {arguments->events_given && strcmp(format->name, "chrome") != 0, "--events", "chrome"},
        {arguments->max_events_given && strcmp(format->name, "firefox") != 0, "--max-events",
         "firefox"},
    };
    for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
        if (rules[i].useless)
            return command_line_wrong(&export_command_line, "%s works with %s, not with %s",
                                      rules[i].option, rules[i].works, format->name);
    return -1;
}

/* Checks that the options fit the format. Returns -1 to go on, or an exit status. */
static int check_arguments(struct arguments *arguments)
{
    const struct command_line *line = &export_command_line;
    const struct export_format *format = arguments->format;
    if (!format) {
        command_line_wrong(line, "no format named; say --format NAME");
        return EXIT_BAD_USAGE;
    }
    if (arguments->base && !format->takes_base)
        return command_line_wrong(line,
                                  "%s has no differences: --base works with pprof, "
                                  "collapsed, svg, csv and ndjson",
                                  format->name);
    if (arguments->at && !format->takes_at)
        return command_line_wrong(line, "%s shows the whole run: leave out --at", format->name);
    if (arguments->export.filter && format->is_whole)
        return command_line_wrong(line, "%s shows all blocks: leave out --filter", format->name);
    if (arguments->export.tables && !format->runs_graph)
        return command_line_wrong(line, "--tables works with csv, ndjson and parquet");
    if (arguments->export.tables && (arguments->base || arguments->export.filter ||
                                     arguments->export.process || arguments->export.path))
        return command_line_wrong(line, "--tables writes the whole session into its folder: leave "
                                        "out --base, --filter, --process and -o");
    if (arguments->labels.count > 0 && !format->is_binary && !arguments->export.tables)
        return command_line_wrong(line, "--label works with pprof, parquet and --tables");
    if (arguments->window && strcmp(format->name, "pprof") != 0)
        return command_line_wrong(line, "--window works with pprof");
    if (arguments->window && (!arguments->export.path || arguments->base || arguments->at))
        return command_line_wrong(line, "--window writes several files: name them with -o, and "
                                        "leave out --base and --at");
    if (format->is_binary && !arguments->export.path && !arguments->export.tables &&
        isatty(STDOUT_FILENO))
        return command_line_wrong(line, "%s is not text for a terminal: name a file with -o",
                                  format->name);
    if (arguments->at && !arguments->value_given)
        arguments->export.value = EXPORT_LIVE_BYTES;
    arguments->export.at = arguments->at;
    return check_effects(arguments);
}

/* Reads the arguments. Returns -1 to go on, or an exit status. */
static int read_arguments(int count, char **values, struct arguments *arguments)
{
    const struct command_line *line = &export_command_line;
    const int status = command_line_read(line, count, values, take_option, arguments);
    if (status >= 0)
        return status;
    if (arguments->sql && arguments->others)
        return command_line_wrong(line, "--sql exports no session: of the other options it takes "
                                        "--by, --filter, -o and --quiet alone");
    if (arguments->by && !arguments->sql)
        return command_line_wrong(line, "--by works with --sql");
    if (optind == count && !arguments->sql)
        return command_line_wrong(line, "no session named");
    if (count - optind > 1)
        return command_line_wrong(line, "more than one session named");
    arguments->session = values[optind];
    return arguments->sql ? -1 : check_arguments(arguments);
}

static void say_warnings(const struct session_warning *warnings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        say("mprof-export", "--filter: %s", warnings[i].message);
}

/* Takes the allocations of a result: those of groups are their members. Returns NULL with `error`
 * set; a measure has none. */
static struct selection *take_selection(const struct export *export, struct session *session,
                                        struct graph_result *result)
{
    const struct session_warning *warnings = NULL;
    const struct graph_side *sides;
    struct selection *selection;
    if (graph_result_kind(result) == RESULT_MEASURE) {
        report_fail(export->error, "the filter gives a measure, and this format needs "
                                   "allocations: leave out this step, or use csv or ndjson");
        export->error->column = filter_text_last_step(export->filter);
        return NULL;
    }
    if (graph_result_kind(result) == RESULT_ALLOCATIONS &&
        graph_result_sides(result, &sides) == 0) {
        const size_t count = graph_result_warnings(result, &warnings);
        say_warnings(warnings, count);
        return graph_result_take_selection(result);
    }
    /* Notes say what is not shown. */
    selection = selection_new(session, export->filter, export->error);
    const size_t count = selection ? selection_warnings(selection, &warnings) : 0;
    say_warnings(warnings, count);
    return selection;
}

/* Makes the selection of the filter. Returns an exit status. */
static int make_selection(const struct export *export, struct export_side *side)
{
    struct graph_result *result = graph_run(side->session, export->filter, export->error);
    side->selection = result ? take_selection(export, side->session, result) : NULL;
    graph_result_free(result);
    return side->selection             ? EXIT_GOOD
           : export->error->column > 0 ? EXIT_BAD_USAGE
                                       : EXIT_BAD_INPUT;
}

/* Finds the nodes at which the stacks begin. */
static bool find_starts(const struct export *export, struct export_side *side)
{
    if (!session_stack_sites(side->session, &side->starts, export->error))
        return false;
    for (uint32_t i = 0; export->all_frames && i <= session_stack_largest(side->session); i++)
        side->starts[i] = session_stack_innermost(side->session, i);
    return true;
}

/* Opens a session with the selection of the filter. Returns an exit status. */
static int open_side(struct arguments *arguments, const char *path, struct export_side *side)
{
    struct session_error *error = arguments->export.error;
    uint32_t process;
    side->session = session_open(path, error);
    side->clean = clean_new();
    if (!side->session || !side->clean)
        return EXIT_BAD_INPUT;
    if (arguments->export.process &&
        (!session_find_process(side->session, arguments->export.process, &process, error) ||
         !session_select_process(side->session, process, error)))
        return EXIT_BAD_USAGE;
    if (arguments->at && !session_moment(side->session, arguments->at, &side->at_ns, error)) {
        say("mprof-export", "--at, column %d: %s", error->column, error->message);
        *error = (struct session_error){.message = ""};
        return EXIT_BAD_USAGE;
    }
    if (arguments->at && side->at_ns > session_duration_ns(side->session))
        say("mprof-export", "--at: the recording ended %.6g s after its start, before this time",
            (double)session_duration_ns(side->session) / 1e9);
    if (arguments->window &&
        (!session_duration(side->session, arguments->window, &arguments->export.window_ns, error) ||
         arguments->export.window_ns == 0)) {
        say("mprof-export", "--window needs a length of time, as in 10s");
        *error = (struct session_error){.message = ""};
        return EXIT_BAD_USAGE;
    }
    if (!session_load_stacks(side->session, error) || !find_starts(&arguments->export, side))
        return EXIT_BAD_INPUT;
    if (session_sampled(side->session) && !arguments->quiet)
        say("mprof-export", "%s is a sample: sums are estimates", path);
    return arguments->format->runs_graph ? EXIT_GOOD : make_selection(&arguments->export, side);
}

/* Calls the functions of the base that have no symbols as the other session does, if their modules
 * are the same builds under other names. */
static bool name_base(struct export *export)
{
    struct export_side *base = &export->base;
    const uint32_t count = session_function_count(base->session);
    const struct same_module *list;
    struct same_modules *same =
        same_modules_find(base->session, export->own.session, export->error);
    bool good = same != NULL;
    if (good && same_modules_list(same, &list) > 0) {
        base->names = calloc((size_t)count + 1, sizeof(*base->names));
        good = base->names || report_fail_memory(export->error, "names");
        for (uint32_t function = 1; good && function <= count; function++) {
            const char *name = session_function_name(base->session, function);
            if (!strstr(name, "+0x"))
                continue;
            base->names[function] = same_modules_name(same, "function", name);
            good = base->names[function] || report_fail_memory(export->error, "names");
        }
    }
    same_modules_free(same);
    return good;
}

static void close_side(struct export_side *side)
{
    const uint32_t count = side->names ? session_function_count(side->session) : 0;
    for (uint32_t function = 1; function <= count; function++)
        free(side->names[function]);
    FREE_ALL(side->names, side->starts);
    selection_free(side->selection);
    session_close(side->session);
    clean_free(side->clean);
}

/* Returns true if all names could be written. */
static bool check_names(const struct export *export)
{
    const bool failed =
        clean_failed(export->own.clean) || (export->base.clean && clean_failed(export->base.clean));
    return !failed || report_fail_memory(export->error, "names");
}

/* Lists the labels of --label, and those of the session that they do not replace. */
static bool list_labels(struct arguments *arguments)
{
    struct export *export = &arguments->export;
    const char *key, *text;
    for (size_t i = 0; i < arguments->labels.count; i++) {
        const char *label = arguments->labels.text[i];
        arguments->keys[i] = strndup(label, label_key_length(label));
        if (!arguments->keys[i])
            return report_fail_memory(export->error, "a label");
        export->labels[i] =
            (struct export_label){arguments->keys[i], label + label_key_length(label) + 1};
    }
    export->label_count = arguments->labels.count;
    for (size_t i = 0; session_label(export->own.session, i, &key, &text); i++) {
        bool given = export->label_count == EXPORT_LABELS_MOST;
        for (size_t k = 0; k < arguments->labels.count; k++)
            given |= strcmp(arguments->keys[k], key) == 0;
        if (!given)
            export->labels[export->label_count++] = (struct export_label){key, text};
    }
    return true;
}

static bool write_format(struct arguments *arguments)
{
    struct export *export = &arguments->export;
    if (!list_labels(arguments))
        return false;
    if (export->tables || export->window_ns > 0)
        return arguments->format->write(export) && check_names(export);
    struct output *output = output_open(export->path, export->error);
    if (!output)
        return false;
    export->out = output_stream(output);
    if (arguments->format->write(export) && check_names(export))
        return output_close(output, export->error);
    output_discard(output);
    return false;
}

/* Writes the query of --sql. Returns an exit status. */
static int write_query(struct arguments *arguments)
{
    struct export *export = &arguments->export;
    struct session *session =
        arguments->session ? session_open(arguments->session, export->error) : NULL;
    if (arguments->session && !session)
        return EXIT_BAD_INPUT;
    char *query = session_translate(session, export->filter, arguments->dialect, arguments->by,
                                    export->error);
    session_close(session);
    if (!query)
        return export->error->column > 0 ? EXIT_BAD_USAGE : EXIT_BAD_INPUT;
    struct output *output = output_open(export->path, export->error);
    if (output)
        fputs(query, output_stream(output));
    free(query);
    return output && output_close(output, export->error) ? EXIT_GOOD : EXIT_BAD_INPUT;
}

static void complain(const struct session_error *error)
{
    if (error->column > 0)
        say("mprof-export", "--filter, column %d: %s", error->column, error->message);
    else if (error->message[0])
        say("mprof-export", "%s", error->message);
}

int main(int argc, char **argv)
{
    struct session_error error = {.message = ""};
    struct arguments arguments = {
        .export = {.error = &error, .max_events = MAX_EVENTS, .events = LARGEST_BLOCKS}};
    output_prepare();
    int status = read_arguments(argc, argv, &arguments);
    if (status >= 0 || !(arguments.format || arguments.sql))
        return status;
    privileges_give_up();
    output_protect(arguments.session);
    output_protect(arguments.base);
    status = arguments.sql ? write_query(&arguments)
                           : open_side(&arguments, arguments.session, &arguments.export.own);
    if (status == EXIT_GOOD && arguments.base)
        status = open_side(&arguments, arguments.base, &arguments.export.base);
    if (status == EXIT_GOOD && arguments.base && !name_base(&arguments.export))
        status = EXIT_BAD_INPUT;
    if (status == EXIT_GOOD && !arguments.sql && !write_format(&arguments))
        status = error.column > 0 ? EXIT_BAD_USAGE : EXIT_BAD_INPUT;
    if (status != EXIT_GOOD)
        complain(&error);
    close_side(&arguments.export.base);
    close_side(&arguments.export.own);
    for (size_t i = 0; i < arguments.labels.count; i++)
        free(arguments.keys[i]);
    return status;
}
