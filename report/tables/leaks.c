/* SPDX-License-Identifier: BSD-2-Clause */
/* Leaks: by their common path, with the stack that holds most of each group;
 * or by another key. A file of suppressions leaves out more stacks than those of the session. */

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "report/tables/group_table.h"
#include "report/tables/reports.h"
#include "report/tables/variances.h"
#include "schemas/array.h"
#include "schemas/code/suppressions.h"
#include "session/leaks.h"

/* Runs the request's sentence on the leaks that it is about. */
static struct graph_result *run_leaked(const struct report_request *request, const char *steps,
                                       struct session_error *error)
{
    char set[512];
    snprintf(set, sizeof(set), request->reach ? "leaked | where %s" : "leaked", request->reach);
    return request_run(request, request->session, set, steps, error);
}

/* ---- facts ------------------------------------------------------------------------------ */

static const char live_at_stop[] = "live when the recording stopped";

/* Returns the title of the blocks that are still there. */
static const char *title_of(const struct report_request *request)
{
    return session_stopped(request->session) ? "Live when the recording stopped" : "Leaked";
}

/* The variances of a group's bytes and blocks; 0 if the session is not sampled. */
struct leak_variance {
    double bytes, blocks;
};

static bool is_suppressed(const struct session_leak *leak)
{
    return leak->kind > SESSION_LEAK_START_UP;
}

/* Stores the variances of each group, by its place in `leaks`. */
static void find_variances(struct session *session, const struct session_leaks *leaks,
                           const struct variances *variances, struct leak_variance *of)
{
    for (size_t i = 0; i < leaks->count; i++) {
        const struct session_leak *leak = &leaks->leaks[i];
        const char *type = leak->type ? session_type_name(session, leak->type) : NULL;
        for (size_t j = 0; j < leak->stack_count; j++) {
            size_t count;
            const struct variance_row *rows =
                variances_of_stack(variances, leaks->stacks[leak->first_stack + j].stack, &count);
            for (size_t k = 0; k < count; k++) {
                const bool same =
                    rows[k].type && type ? strcmp(rows[k].type, type) == 0 : rows[k].type == type;
                of[i].bytes += same ? rows[k].of[VARIANCE_BYTES] : 0;
                of[i].blocks += same ? rows[k].of[VARIANCE_ALLOCATIONS] : 0;
            }
        }
    }
}

static bool add_facts(const struct report_request *request, const struct session_leaks *leaks,
                      const struct leak_variance *variances, struct document *document,
                      struct session_error *error)
{
    uint64_t bytes = 0, blocks = 0, suppressed = 0, start_up = 0, later = 0;
    struct leak_variance sum = {.bytes = 0}, left_out = {.bytes = 0}, leaked = {.bytes = 0};
    struct session_measure kept;
    double start_up_variance = 0;
    if (!request_measure(request, request->session, "live - leaked", "| sum size", &kept, error))
        return false;
    for (size_t i = 0; i < leaks->count; i++) {
        const struct session_leak *leak = &leaks->leaks[i];
        bytes += is_suppressed(leak) ? 0 : leak->bytes;
        blocks += is_suppressed(leak) ? 0 : leak->blocks;
        suppressed += is_suppressed(leak) ? leak->bytes : 0;
        start_up += leak->kind == SESSION_LEAK_START_UP ? leak->bytes : 0;
        start_up_variance += leak->kind == SESSION_LEAK_START_UP ? variances[i].bytes : 0;
        later += leak->kind == SESSION_LEAK_LATER ? leak->bytes : 0;
        leaked.bytes += leak->kind == SESSION_LEAK_LATER ? variances[i].bytes : 0;
        struct leak_variance *of = is_suppressed(leak) ? &left_out : &sum;
        of->bytes += variances[i].bytes;
        of->blocks += variances[i].blocks;
    }
    const bool stopped = session_stopped(request->session);
    document_fact_sum(document, "bytes", stopped ? live_at_stop : "leaked", VALUE_BYTES, bytes,
                      sqrt(sum.bytes));
    document_fact_sum(document, "allocations",
                      stopped ? "blocks live when the recording stopped" : "blocks leaked",
                      VALUE_NUMBER, blocks, sqrt(sum.blocks));
    document_fact_sum(document, "start_up_bytes", "of these, early", VALUE_BYTES, start_up,
                      sqrt(start_up_variance));
    document_fact_sum(document, "later_bytes", "of these, later", VALUE_BYTES, later,
                      sqrt(leaked.bytes));
    static const char *const reaches[SESSION_LEAK_REACHES][2] = {
        {"unreachable_bytes", "of these, unreachable"},
        {"possibly_bytes", "of these, possibly reachable"},
        {"unknown_bytes", "of these, not known if reachable"},
        {"reachable_bytes", "of these, reachable"}};
    for (int i = 0; leaks->has_reach && i < SESSION_LEAK_REACHES; i++)
        document_fact_sum(document, reaches[i][0], reaches[i][1], VALUE_BYTES,
                          leaks->of_reach[i].bytes, 0);
    document_fact_sum(document, "suppressed_bytes", "suppressed here", VALUE_BYTES, suppressed,
                      sqrt(left_out.bytes));
    document_fact_sum(document, "kept_bytes", "kept by the runtime, or suppressed by ingest",
                      VALUE_BYTES, kept.value, kept.estimated ? kept.standard_error : -1);
    return true;
}

/* Lists the patterns of --suppress that name blocks, as LeakSanitizer does, by kind. */
static void add_patterns(const struct session_leaks *leaks, const struct leak_variance *variances,
                         const struct suppressions *suppressions, struct document *document)
{
    static const struct document_column columns[] = {{"bytes", NULL, VALUE_BYTES, NULL},
                                                     {"allocations", NULL, VALUE_NUMBER, NULL},
                                                     {"pattern", NULL, VALUE_TEXT, NULL}};
    document_table(document, "suppressed", "Suppressed", columns, 3);
    for (size_t i = 0; i < suppressions_count(suppressions); i++) {
        const char *pattern = suppressions_pattern(suppressions, i);
        uint64_t bytes = 0, blocks = 0;
        struct leak_variance sum = {.bytes = 0};
        for (size_t j = 0; j < leaks->count; j++)
            if (is_suppressed(&leaks->leaks[j]) && strcmp(leaks->leaks[j].why, pattern) == 0) {
                bytes += leaks->leaks[j].bytes;
                blocks += leaks->leaks[j].blocks;
                sum.bytes += variances[j].bytes;
                sum.blocks += variances[j].blocks;
            }
        if (blocks == 0)
            continue;
        document_sum(document, bytes, sqrt(sum.bytes));
        document_sum(document, blocks, sqrt(sum.blocks));
        document_text(document, pattern);
    }
}

/* ---- by path ---------------------------------------------------------------------------- */

static int by_bytes(const void *left, const void *right)
{
    const struct session_leak *a = left, *b = right;
    if (is_suppressed(a) != is_suppressed(b))
        return is_suppressed(a) ? 1 : -1;
    return ORDER(a->reach, b->reach) ?: ORDER(b->bytes, a->bytes) ?: ORDER(b->blocks, a->blocks) ?: ORDER(a->stack, b->stack) ?: ORDER(a->type, b->type);
}

static void add_paths(const struct report_request *request, const struct session_leaks *leaks,
                      const struct leak_variance *variances, struct document *document)
{
    struct document_column columns[] = {{"bytes", NULL, VALUE_BYTES, NULL},
                                        {"share", NULL, VALUE_SHARE, NULL},
                                        {"allocations", NULL, VALUE_NUMBER, NULL},
                                        {"stacks", NULL, VALUE_NUMBER, NULL},
                                        {"first_ns", "first at", VALUE_MOMENT, NULL},
                                        {"last_ns", "last at", VALUE_MOMENT, NULL},
                                        {"start_up", NULL, VALUE_TRUTH, NULL},
                                        {"reachability", NULL, VALUE_TEXT, NULL},
                                        {"type", NULL, VALUE_NAME, NULL},
                                        {"stack_id", "stack", VALUE_LINE, NULL},
                                        {"function", NULL, VALUE_NAME, NULL},
                                        {"frames", NULL, VALUE_FRAMES, NULL}};
    enum { COLUMNS = sizeof(columns) / sizeof(*columns), REACHABILITY = 7 };
    if (!leaks->has_reach)
        memmove(&columns[REACHABILITY], &columns[REACHABILITY + 1],
                (COLUMNS - REACHABILITY - 1) * sizeof(*columns));
    uint64_t whole = 0;
    size_t count = 0;
    for (size_t i = 0; i < leaks->count && !is_suppressed(&leaks->leaks[i]); i++) {
        whole += leaks->leaks[i].bytes;
        count++;
    }
    document_table(document, "groups", title_of(request), columns, COLUMNS - !leaks->has_reach);
    for (size_t i = 0; i < count && (request->top == 0 || i < request->top); i++) {
        const struct session_leak *leak = &leaks->leaks[i];
        document_sum(document, leak->bytes, sqrt(variances[i].bytes));
        document_share(document, leak->bytes, whole);
        document_sum(document, leak->blocks, sqrt(variances[i].blocks));
        document_number(document, leak->stack_count);
        document_number(document, leak->first_ns);
        document_number(document, leak->last_ns);
        document_truth(document, leak->kind == SESSION_LEAK_START_UP);
        if (leaks->has_reach)
            document_text(document, session_leak_reach_word(leak->reach));
        document_text(document,
                      leak->type ? session_type_name(request->session, leak->type) : NULL);
        group_stack_values(document, request->session, leak->stack);
    }
    document_rows(document, count);
}

/* ---- by another key --------------------------------------------------------------------- */

/* A row of the groups by stack and key, or several with equal keys. */
struct key_sum {
    size_t row;
    uint64_t bytes, blocks;
    struct leak_variance variance;
};

struct keyed {
    struct session_group_set *set;
    size_t keys; /* columns, after the stack */
};

static int compare_keys(const struct keyed *keyed, size_t left, size_t right)
{
    for (size_t i = 1; i <= keyed->keys; i++) {
        const struct session_group_key a = session_group_key(keyed->set, left, i),
                                       b = session_group_key(keyed->set, right, i);
        if (a.is_null != b.is_null)
            return a.is_null ? 1 : -1;
        if (!a.is_null && a.id != b.id)
            return a.id < b.id ? -1 : 1;
    }
    return 0;
}

static int by_key(const void *left, const void *right, void *context)
{
    const struct key_sum *a = left, *b = right;
    const int order = compare_keys(context, a->row, b->row);
    return order ? order : a->row < b->row ? -1 : a->row > b->row;
}

ARRAY_ORDER(by_sum, struct key_sum, ORDER(b->bytes, a->bytes) ?: ORDER(a->row, b->row))

/* Reads the rows whose stack is not suppressed. Returns their number. */
static bool read_rows(const struct keyed *keyed, const bool *suppressed, struct key_sum *sums,
                      size_t *count, struct session_error *error)
{
    *count = 0;
    for (size_t row = 0; row < session_groups_count(keyed->set); row++) {
        const struct session_group_key stack = session_group_key(keyed->set, row, 0);
        struct key_sum *sum = &sums[*count];
        double error_of_bytes = 0, error_of_blocks = 0;
        if (!stack.is_null && suppressed[stack.id])
            continue;
        sum->row = row;
        if (!session_group_value(keyed->set, row, MEASURE_BYTES, &sum->bytes, error) ||
            !session_group_value(keyed->set, row, MEASURE_ALLOCATIONS, &sum->blocks, error) ||
            !session_group_error(keyed->set, row, MEASURE_BYTES, &error_of_bytes, error) ||
            !session_group_error(keyed->set, row, MEASURE_ALLOCATIONS, &error_of_blocks, error))
            return false;
        sum->variance.bytes = error_of_bytes * error_of_bytes;
        sum->variance.blocks = error_of_blocks * error_of_blocks;
        ++*count;
    }
    return true;
}

static size_t join_rows(struct keyed *keyed, struct key_sum *sums, size_t count)
{
    size_t joined = 0;
    qsort_r(sums, count, sizeof(*sums), by_key, keyed);
    for (size_t i = 0; i < count; i++)
        if (joined > 0 && compare_keys(keyed, sums[joined - 1].row, sums[i].row) == 0) {
            sums[joined - 1].bytes += sums[i].bytes;
            sums[joined - 1].blocks += sums[i].blocks;
            sums[joined - 1].variance.bytes += sums[i].variance.bytes;
            sums[joined - 1].variance.blocks += sums[i].variance.blocks;
        } else
            sums[joined++] = sums[i];
    qsort(sums, joined, sizeof(*sums), by_sum);
    return joined;
}

static void put_rows(const struct report_request *request, const struct keyed *keyed,
                     const struct key_sum *sums, size_t count, struct document *document)
{
    struct document_column columns[DOCUMENT_COLUMNS_MOST] = {
        {"bytes", NULL, VALUE_BYTES, NULL},
        {"share", NULL, VALUE_SHARE, NULL},
        {"allocations", NULL, VALUE_NUMBER, NULL}};
    uint64_t whole = 0;
    document_table(document, "groups", title_of(request), columns,
                   3 + group_key_columns(request->by, columns + 3));
    for (size_t i = 0; i < count; i++)
        whole += sums[i].bytes;
    for (size_t i = 0; i < count && (request->top == 0 || i < request->top); i++) {
        document_sum(document, sums[i].bytes, sqrt(sums[i].variance.bytes));
        document_share(document, sums[i].bytes, whole);
        document_sum(document, sums[i].blocks, sqrt(sums[i].variance.blocks));
        group_key_values(document, request->session, request->by, keyed->set, sums[i].row, 1);
    }
    document_rows(document, count);
}

/* Marks the stacks of suppressed groups, by id. */
static bool *mark_suppressed(const struct session_leaks *leaks, const struct session_group_set *set)
{
    size_t largest = 0;
    for (size_t i = 0; i < leaks->stack_count; i++)
        if (leaks->stacks[i].stack > largest)
            largest = leaks->stacks[i].stack;
    for (size_t i = 0; i < session_groups_count(set); i++) {
        const struct session_group_key stack = session_group_key(set, i, 0);
        if (!stack.is_null && stack.id > largest)
            largest = (size_t)stack.id;
    }
    bool *marks = calloc(largest + 1, sizeof(*marks));
    for (size_t i = 0; marks && i < leaks->count; i++)
        for (size_t j = 0; is_suppressed(&leaks->leaks[i]) && j < leaks->leaks[i].stack_count; j++)
            marks[leaks->stacks[leaks->leaks[i].first_stack + j].stack] = true;
    return marks;
}

static bool add_keys(const struct report_request *request, const struct session_leaks *leaks,
                     struct document *document, struct session_error *error)
{
    char steps[128];
    struct document_column columns[DOCUMENT_COLUMNS_MOST];
    struct keyed keyed = {.keys = group_key_columns(request->by, columns)};
    size_t count = 0;
    snprintf(steps, sizeof(steps), "| join stack, %s",
             group_join_step(request->by) + sizeof("| join"));
    struct graph_result *result = run_leaked(request, steps, error);
    if (!result)
        return false;
    keyed.set = graph_result_groups(result);
    struct key_sum *sums = calloc(session_groups_count(keyed.set) + 1, sizeof(*sums));
    bool *suppressed = mark_suppressed(leaks, keyed.set);
    bool good = (sums && suppressed) || report_fail_memory(error, "the leaks");
    good = good && read_rows(&keyed, suppressed, sums, &count, error);
    if (good)
        put_rows(request, &keyed, sums, join_rows(&keyed, sums, count), document);
    FREE_ALL(sums, suppressed);
    graph_result_free(result);
    return good;
}

/* Adds all of the report. The groups that are not suppressed come first. */
static bool add_leaks(const struct report_request *request, struct session_leaks *leaks,
                      struct document *document, struct session_error *error)
{
    struct variances rows;
    struct leak_variance *variances = calloc(leaks->count + 1, sizeof(*variances));
    if (!variances)
        return report_fail_memory(error, "the leaks");
    if (leaks->count > 0)
        qsort(leaks->leaks, leaks->count, sizeof(*leaks->leaks), by_bytes);
    bool good = variances_read(request, "leaked", NULL, &rows, error);
    if (good) {
        find_variances(request->session, leaks, &rows, variances);
        free(rows.rows);
    }
    good = good && add_facts(request, leaks, variances, document, error);
    if (good && request->by == BY_STACK)
        add_paths(request, leaks, variances, document);
    else
        good = good && add_keys(request, leaks, document, error);
    if (good && request->suppressions)
        add_patterns(leaks, variances, request->suppressions, document);
    free(variances);
    return good;
}

bool report_leaks(const struct report_request *request, struct document *document,
                  struct session_error *error)
{
    struct session_leaks leaks = {.count = 0};
    struct graph_result *result = run_leaked(request, NULL, error);
    struct selection *selection = result ? graph_result_selection(result) : NULL;
    const bool read = selection && selection_leaks(selection, request->suppressions, &leaks, error);
    const bool good = read && add_leaks(request, &leaks, document, error);
    if (read)
        session_leaks_free(&leaks);
    graph_result_free(result);
    return good;
}

/* Returns true if a line is KIND:PATTERN. */
static bool has_kind(const char *line)
{
    size_t length = 0;
    while (isalnum((unsigned char)line[length]) || line[length] == '_' || line[length] == '-')
        length++;
    return length > 0 && line[length] == ':' && line[length + 1] != '\0' &&
           strncmp(line, "leak:", 5) != 0;
}

static bool take_line(struct suppressions *suppressions, char *line, size_t length,
                      const char *path, size_t number, struct session_error *error)
{
    bool taken = false;
    if (memchr(line, '\0', length))
        return report_fail(error, "%.200s:%zu: a zero byte in the line", path, number);
    if (length > SUPPRESSIONS_LINE_MOST)
        return report_fail(error, "%.200s:%zu: the line is longer than 64 KiB", path, number);
    const char *text = suppressions_trim(line, length);
    if (!suppressions_add_line(suppressions, text, strlen(text), &taken))
        return report_fail_memory(error, "the suppressions");
    if (!taken && has_kind(text)) {
        say("mprof-report", "%s:%zu: '%.*s' names no leaks: ignored", path, number,
            (int)strcspn(text, ":") + 1, text);
        return true;
    }
    return taken ||
           report_fail(error, "%.200s:%zu: no suppression: '%.100s'; a line is leak:PATTERN", path,
                       number, text);
}

struct suppressions *suppress_read(const char *path, bool *wrong, struct session_error *error)
{
    FILE *in = fopen(path, "re");
    struct suppressions *suppressions = in ? suppressions_new() : NULL;
    char *line = NULL;
    size_t room = 0, number = 0;
    ssize_t length;
    bool good = suppressions != NULL;
    *wrong = false;
    errno = in ? ENOMEM : errno;
    while (good && (length = suppressions_read_line(&line, &room, in)) >= 0) {
        good = take_line(suppressions, line, (size_t)length, path, ++number, error);
        *wrong = !good;
    }
    if (!suppressions || (good && ferror(in)))
        good = report_fail(error, "%.300s: the suppressions cannot be read: %s", path,
                           strerror(errno));
    free(line);
    if (in)
        fclose(in);
    if (good)
        return suppressions;
    suppressions_free(suppressions);
    return NULL;
}
