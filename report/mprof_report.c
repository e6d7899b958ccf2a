/* SPDX-License-Identifier: BSD-2-Clause */
/* mprof-report: reads the command line, opens the session and writes one report. */
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/say.h"
#include "report/budget/check.h"
#include "report/budget/history.h"
#include "report/nineteen88/nineteen88.h"
#include "report/output/names.h"
#include "report/output/output.h"
#include "report/page/page.h"
#include "report/tables/reports.h"
#include "schemas/code/suppressions.h"

static const struct report_kind kinds[] = {
    {.name = "summary", .write = report_summary},
    {.name = "peak", .write = report_peak, .by = BY_USER},
    {.name = "leaks", .write = report_leaks, .by = BY_STACK},
    {.name = "functions", .write = report_functions},
    {.name = "types", .write = report_types},
    {.name = "lines", .write = report_lines},
    {.name = "sizes", .write = report_sizes},
    {.name = "fragmentation", .write = report_fragmentation, .by = BY_USER},
    {.name = "rss", .write = report_rss, .by = BY_USER},
    {.name = "retained", .write = report_retained},
    {.name = "diff", .write = report_diff, .by = BY_FUNCTION, .base = true},
    {.name = "findings", .write = report_findings},
    {.name = "trend", .history = true},
    {.name = "short-lived", .write = report_short_lived, .by = BY_USER},
};

static const struct report_kind *find_report(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

enum exit_status { EXIT_GOOD = 0, EXIT_BAD_INPUT = 1, EXIT_BAD_USAGE = 2, EXIT_EXCEEDED = 3 };

/* Rows of a table, unless --top is given. */
enum { TOP_DEFAULT = 20 };

struct arguments {
    const struct report_kind *report; /* NULL: the tables of 1988 */
    bool report_given, top_given, tables_given;
    struct tables_options tables;
    const char *session, *base, *process, *output;
    const char *check, *junit, *suppress, *history; /* files, or NULL */
    const char *label;
    enum document_format format;
    char kinds[300]; /* the predicate of --kind */
    struct report_request request;
};

static int complain(const struct session_error *error)
{
    say("mprof-report", "%s", error->message);
    return EXIT_BAD_INPUT;
}

/* Says what is wrong in the text of an option, and shows its line with a mark below the place.
 * Columns of errors count the characters of the whole text. */
static int complain_of_text(const char *option, const char *text, const struct session_error *error)
{
    const char *line = text, *place = text;
    int number = 1, column = 1;
    for (int left = error->column - 1; left > 0 && *place; place++) {
        if (*place == '\n') {
            number++;
            column = 0;
            line = place + 1;
        }
        /* The bytes that continue a character count with it. */
        if (((unsigned char)place[1] & 0xC0) != 0x80) {
            left--;
            column++;
        }
    }
    const int before = (int)(place - line), whole = (int)strcspn(line, "\n");
    char *shown = strndup(line, (size_t)whole), *ahead = strndup(line, (size_t)before);
    say("mprof-report", "%s, line %d, column %d: %s", option, number, column, error->message);
    if (shown && ahead) {
        fputs("  ", stderr);
        name_put_text(stderr, shown);
        fprintf(stderr, "\n  %*s^\n", (int)name_text_columns(ahead), "");
    }
    free(shown);
    free(ahead);
    return EXIT_BAD_USAGE;
}

static bool take_top(const char *value, uint64_t *top)
{
    char *end;
    if (strcmp(value, "all") == 0) {
        *top = 0;
        return true;
    }
    errno = 0;
    *top = strtoull(value, &end, 10);
    return *value >= '1' && *value <= '9' && *end == '\0' && errno == 0;
}

/* Makes a predicate of the kinds of leaks, which are separated by commas. */
static bool take_kinds(struct arguments *arguments, const char *value)
{
    static const char *const reaches[][2] = {
        {"unreachable", "reachability == unreachable"},
        {"possibly", "reachability == possibly"},
        {"reachable", "reachability == reachable"},
        {"unknown", "reachability == unknown or reachability is null"}};
    size_t length = 0;
    for (const char *word = value;; word += strcspn(word, ",") + 1) {
        const size_t of_word = strcspn(word, ",");
        size_t kind = 0;
        while (kind < 4 && (strlen(reaches[kind][0]) != of_word ||
                            memcmp(reaches[kind][0], word, of_word) != 0))
            kind++;
        if (kind == 4 ||
            length + strlen(reaches[kind][1]) + sizeof(" or ") > sizeof(arguments->kinds))
            return false;
        length += (size_t)snprintf(arguments->kinds + length, sizeof(arguments->kinds) - length,
                                   "%s%s", length > 0 ? " or " : "", reaches[kind][1]);
        if (word[of_word] == '\0')
            break;
    }
    arguments->request.reach = arguments->kinds;
    return true;
}

static void take_tables_option(struct tables_options *tables, enum report_option option)
{
    if (option == REPORT_OPTION_OFFSETS) {
        tables->offsets = true;
        tables->no_leaks = false;
    } else if (option == REPORT_OPTION_LEAKTABLE || option == REPORT_OPTION_NOLEAKTABLE) {
        tables->no_leaks = option == REPORT_OPTION_NOLEAKTABLE;
    } else {
        tables->detail = option == REPORT_OPTION_VERBOSE  ? TABLES_VERBOSE
                         : option == REPORT_OPTION_NORMAL ? TABLES_NORMAL
                                                          : TABLES_TERSE;
    }
}

#define AT(member) offsetof(struct arguments, member)

/* Handles one option. Returns -1 to go on, or an exit status. */
static int take_option(void *context, int option, const char *value)
{
    static const struct command_kept kept[] = {{REPORT_OPTION_FILTER, AT(request.filter)},
                                               {REPORT_OPTION_AT, AT(request.at)},
                                               {REPORT_OPTION_PROCESS, AT(process)},
                                               {REPORT_OPTION_SUPPRESS, AT(suppress)},
                                               {REPORT_OPTION_CHECK, AT(check)},
                                               {REPORT_OPTION_BASE, AT(base)},
                                               {REPORT_OPTION_JUNIT, AT(junit)},
                                               {REPORT_OPTION_HISTORY, AT(history)},
                                               {REPORT_OPTION_LABEL, AT(label)}};
    struct arguments *arguments = context;
    const struct command_line *line = &report_command_line;
    if (command_line_keep(kept, sizeof(kept) / sizeof(*kept), option, value, arguments))
        return -1;
    switch (option) {
    case REPORT_OPTION_OUTPUT:
        arguments->output = strcmp(value, "-") == 0 ? NULL : value;
        break;
    case REPORT_OPTION_FORMAT:
        if (!document_format(value, &arguments->format))
            return command_line_wrong(line,
                                      "--format is text, csv, json, markdown, html, github or "
                                      "sarif, not %s",
                                      value);
        break;
    case REPORT_OPTION_BY:
        if (!report_by(value, &arguments->request.by))
            return command_line_wrong(
                line,
                "--by is user, function (or site), type, line, module, thread or stack, not %s",
                value);
        break;
    case REPORT_OPTION_TOP:
        if (!take_top(value, &arguments->request.top))
            return command_line_wrong(line, "--top needs a number from 1, or all");
        arguments->top_given = true;
        break;
    case REPORT_OPTION_KIND:
        if (!take_kinds(arguments, value))
            return command_line_wrong(line, "--kind needs a list of unreachable, possibly, "
                                            "reachable and unknown, such as unreachable,possibly");
        break;
    case REPORT_OPTION_VERBOSE:
    case REPORT_OPTION_NORMAL:
    case REPORT_OPTION_TERSE:
    case REPORT_OPTION_LEAKTABLE:
    case REPORT_OPTION_NOLEAKTABLE:
    case REPORT_OPTION_OFFSETS:
        take_tables_option(&arguments->tables, (enum report_option)option);
        arguments->tables_given = true;
        break;
    }
    return -1;
}

static bool is_report(const char *name)
{
    return strcmp(name, "1988") == 0 || find_report(name);
}

/* Takes the report, if one is named, and the session. */
static int take_operands(struct arguments *arguments, int count, char **values)
{
    const struct command_line *line = &report_command_line;
    if (count > 2)
        return command_line_wrong(line, "more than one report and one session named");
    if (count == 0 || (count == 1 && is_report(values[0])))
        return command_line_wrong(line, "no session named");
    /* The report may also come last. */
    const int place = count == 2 && !is_report(values[0]) && is_report(values[1]) ? 1 : 0;
    if (count == 2 && !is_report(values[place]))
        return command_line_wrong(line, "there is no report \"%s\"; the reports are: %s", values[0],
                                  line->words);
    arguments->report = find_report(count == 2 ? values[place] : "summary");
    arguments->report_given = count == 2;
    arguments->session = values[count == 2 ? 1 - place : 0];
    return -1;
}

/* Checks that the options fit the report. */
static int check_options(const struct arguments *arguments)
{
    const struct command_line *line = &report_command_line;
    const struct report_kind *report = arguments->report;
    const bool page = arguments->format == FORMAT_HTML;
    if (arguments->check && arguments->report_given)
        return command_line_wrong(line, "--check takes the place of a report");
    if (arguments->check && (arguments->request.filter || arguments->request.at))
        return command_line_wrong(line, "budgets have their own filters: --check takes no --filter "
                                        "and no --at");
    if (arguments->suppress && !page && (!report || report->write != report_leaks))
        return command_line_wrong(line, "--suppress is for the report leaks and --format html");
    if (arguments->request.reach && (page || !report || report->write != report_leaks))
        return command_line_wrong(line, "--kind is for the report leaks");
    if ((arguments->format == FORMAT_GITHUB || arguments->format == FORMAT_SARIF) &&
        !arguments->check)
        return command_line_wrong(line, "--format github and sarif are for --check");
    if (arguments->format == FORMAT_HTML && arguments->check)
        return command_line_wrong(line, "--check has no --format html");
    if (report && (report->write == report_rss || report->write == report_retained) &&
        arguments->request.filter)
        return command_line_wrong(line,
                                  "the report %s is about all of a process: it takes no "
                                  "--filter",
                                  report->name);
    if (report && report->write == report_rss && arguments->request.by > BY_TYPE)
        return command_line_wrong(line, "the report rss groups by user, type or site");
    if (arguments->history && !arguments->check && !page)
        return command_line_wrong(line, "--history is for --check and --format html");
    if (arguments->label && (!arguments->history || !arguments->check))
        return command_line_wrong(line, "--label needs --check and --history");
    if (report && report->history &&
        (arguments->request.filter || arguments->request.at || arguments->process))
        return command_line_wrong(line, "trend is about a history: it takes no --filter, no --at "
                                        "and no --process");
    if (arguments->junit && !arguments->check)
        return command_line_wrong(line, "--junit only works with --check");
    if (page && arguments->report_given)
        return command_line_wrong(line,
                                  "--format html is a page about the whole session, and takes "
                                  "no report");
    if (page && (arguments->request.by != BY_DEFAULT || arguments->top_given))
        return command_line_wrong(line, "--format html takes no --by and no --top");
    if (arguments->base && !arguments->check && !page &&
        !(report && (report->base || report->write == report_retained)))
        return command_line_wrong(line, "--base is for diff, retained, --check and --format html");
    if (report && report->base && !arguments->base)
        return command_line_wrong(line, "%s needs --base SESSION", report->name);
    if (report && arguments->tables_given)
        return command_line_wrong(line, "--verbose, --normal, --terse, --leaktable, --noleaktable "
                                        "and --offsets are for the report 1988");
    if (!report && arguments->format != FORMAT_TEXT)
        return command_line_wrong(line, "the tables of 1988 are text");
    if (arguments->request.by != BY_DEFAULT && (!report || report->by == BY_DEFAULT))
        return command_line_wrong(line, "%s has its own way to group, and takes no --by",
                                  arguments->check ? "--check"
                                  : report         ? report->name
                                                   : "1988");
    return -1;
}

/* The options of 1988 have one dash. */
static void take_old_dashes(int count, char **values)
{
    static char *const words[] = {"--verbose",   "--normal",      "--terse",
                                  "--leaktable", "--noleaktable", "--offsets"};
    for (int i = 1; i < count && strcmp(values[i], "--") != 0; i++)
        for (size_t j = 0; j < sizeof(words) / sizeof(*words); j++)
            if (strcmp(values[i], words[j] + 1) == 0)
                values[i] = words[j];
}

/* Reads the arguments. Returns -1 to go on, or an exit status. */
static int read_arguments(int count, char **values, struct arguments *arguments)
{
    const struct command_line *line = &report_command_line;
    take_old_dashes(count, values);
    int status = command_line_read(line, count, values, take_option, arguments);
    if (status < 0)
        status = take_operands(arguments, count - optind, values + optind);
    if (status < 0)
        status = check_options(arguments);
    struct report_request *request = &arguments->request;
    if (request->by == BY_DEFAULT && arguments->report)
        request->by = arguments->report->by;
    arguments->tables.top = request->top;
    if (!arguments->top_given)
        request->top = TOP_DEFAULT;
    return status;
}

/* Writes the report to an output. It is opened last: a report that fails leaves what was there. */
static bool write_document(const struct arguments *arguments, struct session_error *error)
{
    const struct report_request *request = &arguments->request;
    const struct document_about about = {arguments->session, request->filter, request->at,
                                         arguments->base};
    struct document *document = document_new(arguments->report->name,
                                             session_sampled(request->session) ||
                                                 (request->base && session_sampled(request->base)));
    if (!document)
        return report_fail_memory(error, "the report");
    struct output *output = arguments->report->write(request, document, error)
                                ? output_open(arguments->output, error)
                                : NULL;
    bool good = output && document_write(document, arguments->format, &about, output, error);
    if (good)
        good = output_close(output, error);
    else
        output_discard(output);
    document_free(document);
    return good;
}

static bool write_page(const struct arguments *arguments, struct session_error *error)
{
    struct output *output = output_open(arguments->output, error);
    if (!output)
        return false;
    struct history history = {.count = 0};
    const bool good =
        (!arguments->history || history_read(&history, arguments->history, false, error)) &&
        page_write(&arguments->request, arguments->history ? &history : NULL, output_stream(output),
                   error);
    history_free(&history);
    if (good)
        return output_close(output, error);
    output_discard(output);
    return false;
}

static bool write_tables(const struct arguments *arguments, struct session_error *error)
{
    struct output *output = output_open(arguments->output, error);
    if (!output)
        return false;
    if (nineteen88_write(&arguments->request, &arguments->tables, output_stream(output), error))
        return output_close(output, error);
    output_discard(output);
    return false;
}

/* Returns an exit status. */
static int write_report(const struct arguments *arguments)
{
    struct session_error error = {.message = ""};
    const bool good = arguments->format == FORMAT_HTML ? write_page(arguments, &error)
                      : arguments->report              ? write_document(arguments, &error)
                                                       : write_tables(arguments, &error);
    return good ? EXIT_GOOD : complain(&error);
}

/* Opens a session and selects the process. Returns -1 to go on, or an exit status. */
static int open_session(const char *path, const char *process, struct session **session)
{
    struct session_error error = {.message = ""};
    uint32_t id;
    *session = session_open(path, &error);
    if (!*session)
        return complain(&error);
    if (!process)
        return -1;
    if (!session_find_process(*session, process, &id, &error)) {
        complain(&error);
        return EXIT_BAD_USAGE;
    }
    return session_select_process(*session, id, &error) ? -1 : complain(&error);
}

/* Opens the session of a command, and its base. Returns -1 to go on, or an exit status. */
static int open_sessions(const struct arguments *arguments, struct session **session,
                         struct session **base)
{
    const int status = open_session(arguments->session, arguments->process, session);
    return status >= 0 || !arguments->base
               ? status
               : open_session(arguments->base, arguments->process, base);
}

/* Opens the session and checks the texts. Returns -1 to go on, or an exit status. */
static int begin_report(struct arguments *arguments)
{
    struct session_error error = {.message = ""};
    struct report_request *request = &arguments->request;
    const char *wrong = NULL;
    const int status = open_sessions(arguments, &request->session, &request->base);
    if (status >= 0)
        return status;
    if (request_check(request, request->session, &wrong, &error) &&
        (!request->base || request_check(request, request->base, &wrong, &error)))
        return -1;
    if (error.column == 0)
        return complain(&error);
    return complain_of_text(wrong, strcmp(wrong, "--at") == 0 ? request->at : request->filter,
                            &error);
}

/* Writes the report of a history. Returns an exit status. */
static int run_trend(const struct arguments *arguments)
{
    struct session_error error = {.message = ""};
    struct history history;
    const struct document_about about = {.session = arguments->session};
    struct document *document = document_new("trend", false);
    struct output *output = NULL;
    bool good = history_read(&history, arguments->session, false, &error) &&
                (document || report_fail_memory(&error, "the report"));
    if (good) {
        history_document(&history, document);
        output = output_open(arguments->output, &error);
    }
    good = good && output && document_write(document, arguments->format, &about, output, &error);
    if (good)
        good = output_close(output, &error);
    else
        output_discard(output);
    document_free(document);
    history_free(&history);
    return good ? EXIT_GOOD : complain(&error);
}

static int run_report(struct arguments *arguments)
{
    struct session_error error = {.message = ""};
    struct suppressions *suppressions = NULL;
    bool wrong = false;
    if (arguments->suppress &&
        !(suppressions = suppress_read(arguments->suppress, &wrong, &error))) {
        complain(&error);
        return wrong ? EXIT_BAD_USAGE : EXIT_BAD_INPUT;
    }
    arguments->request.suppressions = suppressions;
    int status = begin_report(arguments);
    if (status < 0)
        status = write_report(arguments);
    session_close(arguments->request.session);
    session_close(arguments->request.base);
    suppressions_free(suppressions);
    return status;
}

/* ---- budgets ---------------------------------------------------------------------------- */

static bool write_junit(const struct arguments *arguments, const struct budget_check *check,
                        struct session_error *error)
{
    struct output *output = arguments->junit ? output_open(arguments->junit, error) : NULL;
    if (!output)
        return !arguments->junit;
    verdicts_junit(check, arguments->session, output_stream(output));
    return output_close(output, error);
}

/* Writes the results in the formats of tables. Returns false with `error` set. */
static bool write_check_tables(const struct arguments *arguments, const struct budget_check *check,
                               bool sampled, struct output *output, struct session_error *error)
{
    const struct document_about about = {.session = arguments->session, .base = arguments->base};
    struct document *document = document_new("check", sampled);
    if (!document)
        return report_fail_memory(error, "the report");
    budget_check_document(check, document);
    const bool good = document_write(document, arguments->format, &about, output, error);
    document_free(document);
    return good;
}

static bool write_check(const struct arguments *arguments, const struct budget_check *check,
                        bool sampled, struct session_error *error)
{
    struct output *output = output_open(arguments->output, error);
    bool good = output != NULL;
    if (good && arguments->format == FORMAT_MARKDOWN)
        verdicts_markdown(check, output_stream(output));
    else if (good && arguments->format == FORMAT_GITHUB)
        verdicts_github(check, output_stream(output));
    else if (good && arguments->format == FORMAT_SARIF)
        good = verdicts_sarif(check, output_stream(output)) ||
               report_fail_memory(error, "the verdicts");
    else if (good)
        good = write_check_tables(arguments, check, sampled, output, error);
    if (good)
        good = output_close(output, error);
    else
        output_discard(output);
    return good && write_junit(arguments, check, error);
}

/* Says that sums can be too small, because the recording lost something or has not ended. */
static void say_losses(const char *path, const struct session *session)
{
    const char *ending = session ? session_meta(session, "ending") : NULL;
    if (!session)
        return;
    const unsigned long long events =
                                 (unsigned long long)session_meta_number(session, "dropped_events"),
                             bytes =
                                 (unsigned long long)session_meta_number(session, "damaged_bytes");
    if (events > 0 || bytes > 0)
        say("mprof-report",
            "%s: in doubt: %llu events were dropped and %llu bytes of the trace were damaged; "
            "record again to be sure",
            path, events, bytes);
    if (ending && strncmp(ending, "killed", strlen("killed")) == 0)
        say("mprof-report", "%s: in doubt: the recording has no end, the program was %s", path,
            strcmp(ending, "killed or running") == 0 ? "killed or still runs" : ending);
    if (session_stopped(session))
        say("mprof-report",
            "%s: in doubt: the recording stopped before the program ended; what was live then need "
            "not be leaked",
            path);
}

/* Checks the budgets of an open session. Returns an exit status. */
static int check_budgets(const struct arguments *arguments, const struct budget_file *file,
                         struct session *session, struct session *base)
{
    struct budget_check check = {.results = NULL};
    struct history history = {.count = 0};
    struct session_error error = {.message = ""};
    const bool kept = arguments->history != NULL;
    int status = EXIT_GOOD;
    say_losses(arguments->session, session);
    say_losses(arguments->base, base);
    if ((kept && !history_read(&history, arguments->history, true, &error)) ||
        !budget_check_run(&check, file, session, base, kept ? &history : NULL, &error) ||
        !write_check(arguments, &check, session_sampled(session), &error) ||
        (kept && check.wrong == 0 &&
         !history_append(arguments->history, &check, session, arguments->label, &error)))
        status = complain(&error);
    for (size_t i = 0; status == EXIT_GOOD && i < file->count; i++)
        if (check.results[i].error[0] != '\0')
            say("mprof-report", "%s", check.results[i].error);
    if (status == EXIT_GOOD)
        status = check.wrong > 0      ? EXIT_BAD_USAGE
                 : check.exceeded > 0 ? EXIT_EXCEEDED
                 : check.unknown > 0  ? EXIT_BAD_INPUT
                                      : EXIT_GOOD;
    budget_check_free(&check);
    history_free(&history);
    return status;
}

static int run_check(const struct arguments *arguments)
{
    struct session_error error = {.message = ""};
    struct budget_file file;
    struct session *session = NULL, *base = NULL;
    bool wrong = false;
    int status;
    if (!budget_file_read(&file, arguments->check, &wrong, &error)) {
        complain(&error);
        status = wrong ? EXIT_BAD_USAGE : EXIT_BAD_INPUT;
    } else {
        status = open_sessions(arguments, &session, &base);
        if (status < 0)
            status = check_budgets(arguments, &file, session, base);
    }
    budget_file_free(&file);
    session_close(session);
    session_close(base);
    return status;
}

int main(int count, char **values)
{
    struct arguments arguments = {.tables = {.detail = TABLES_NORMAL}};
    output_prepare();
    const int status = read_arguments(count, values, &arguments);
    if (status >= 0)
        return status;
    output_protect(arguments.session);
    output_protect(arguments.base);
    output_protect(arguments.check);
    output_protect(arguments.suppress);
    output_protect(arguments.history);
    return arguments.check                                 ? run_check(&arguments)
           : arguments.report && arguments.report->history ? run_trend(&arguments)
                                                           : run_report(&arguments);
}
