/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/tables/group_table.h"

#include <stdlib.h>
#include <string.h>

#include "session/code_facts.h"
#include "session/residency.h"

const char *group_join_step(enum report_by by)
{
    static const char *const steps[] = {[BY_FUNCTION] = "| join function, module",
                                        [BY_TYPE] = "| join type",
                                        [BY_LINE] = "| join function, file, line",
                                        [BY_MODULE] = "| join module",
                                        [BY_THREAD] = "| join thread",
                                        [BY_STACK] = "| join stack",
                                        [BY_SIZE] = "| join size",
                                        [BY_USER] = "| join user",
                                        [BY_DEFAULT] = "| join user"};
    return steps[by];
}

size_t group_key_columns(enum report_by by, struct document_column *columns)
{
    static const struct document_column user[] = {{"user", NULL, VALUE_NAME, NULL}},
                                        function[] = {{"function", NULL, VALUE_NAME, NULL},
                                                      {"module", NULL, VALUE_TEXT, NULL}},
                                        type[] = {{"type", NULL, VALUE_NAME, NULL}},
                                        line[] = {{"function", NULL, VALUE_NAME, NULL},
                                                  {"file", NULL, VALUE_TEXT, NULL},
                                                  {"line", NULL, VALUE_LINE, NULL}},
                                        module[] = {{"module", NULL, VALUE_TEXT, NULL}},
                                        thread[] = {{"thread", NULL, VALUE_TEXT, NULL}},
                                        stack[] = {{"stack_id", "stack", VALUE_LINE, NULL},
                                                   {"function", NULL, VALUE_NAME, NULL},
                                                   {"frames", NULL, VALUE_FRAMES, NULL}},
                                        size[] = {{"size", NULL, VALUE_BYTES, NULL}};
#define COPY(from)                                                                                 \
    do {                                                                                           \
        memcpy(columns, (from), sizeof(from));                                                     \
        return sizeof(from) / sizeof(*(from));                                                     \
    } while (0)
    switch (by) {
    case BY_FUNCTION:
        COPY(function);
    case BY_TYPE:
        COPY(type);
    case BY_LINE:
        COPY(line);
    case BY_MODULE:
        COPY(module);
    case BY_THREAD:
        COPY(thread);
    case BY_STACK:
        COPY(stack);
    case BY_SIZE:
        COPY(size);
    default:
        COPY(user);
    }
#undef COPY
}

static struct document_column group_measure_column(enum session_group_measure measure)
{
    static const enum value_kind kinds[] = {[UNIT_NUMBER] = VALUE_NUMBER,
                                            [UNIT_BYTES] = VALUE_BYTES,
                                            [UNIT_DURATION] = VALUE_DURATION,
                                            [UNIT_MOMENT] = VALUE_MOMENT};
    return (struct document_column){.name = session_group_measure_name(measure),
                                    .kind = kinds[session_group_measure_unit(measure)]};
}

void group_stack_values(struct document *document, struct session *session, uint32_t stack)
{
    struct session_code_frame frame = {.function = 0};
    struct session_error ignored;
    uint32_t site;
    const bool known = session_stack_site_frame(session, stack, &site, &ignored) && site != 0 &&
                       session_code_frame(session, site, &frame, &ignored);
    document_number(document, stack);
    document_text(document, known ? session_function_name(session, frame.function) : NULL);
    document_frames(document, session, stack);
}

void group_key_values(struct document *document, struct session *session, enum report_by by,
                      const struct session_group_set *set, size_t row, size_t first)
{
    struct document_column columns[DOCUMENT_COLUMNS_MOST];
    char text[32];
    if (by == BY_STACK) {
        const struct session_group_key key = session_group_key(set, row, first);
        group_stack_values(document, session, key.is_null ? 0 : (uint32_t)key.id);
        return;
    }
    const size_t count = group_key_columns(by, columns);
    for (size_t i = 0; i < count; i++) {
        const struct session_group_key key = session_group_key(set, row, first + i);
        if (key.is_null)
            document_null(document);
        else if (columns[i].kind != VALUE_TEXT && columns[i].kind != VALUE_NAME)
            document_number(document, key.id);
        else if (key.text)
            document_text(document, key.text);
        else {
            session_group_key_text(set, row, first + i, text, sizeof(text));
            document_text(document, text);
        }
    }
}

static bool add_measure(struct document *document, struct session_group_set *set, size_t row,
                        enum session_group_measure measure, struct session_error *error)
{
    uint64_t value;
    double standard_error;
    if (!session_group_value(set, row, measure, &value, error) ||
        !session_group_error(set, row, measure, &standard_error, error))
        return false;
    const bool recorded = measure == MEASURE_MIN_SIZE || measure == MEASURE_MAX_SIZE ||
                          measure == MEASURE_MIN_LIFETIME || measure == MEASURE_MAX_LIFETIME;
    if (recorded)
        document_number(document, value);
    else
        document_sum(document, value, standard_error);
    return true;
}

static bool add_row(const struct report_request *request, const struct group_plan *plan,
                    struct session_group_set *set, size_t row, uint64_t whole,
                    struct document *document, struct session_error *error)
{
    uint64_t value = 0;
    for (size_t i = 0; i < plan->measure_count; i++) {
        if (!add_measure(document, set, row, plan->measures[i], error))
            return false;
        if (i > 0 || !plan->share)
            continue;
        if (!session_group_value(set, row, plan->measures[0], &value, error))
            return false;
        document_share(document, value, whole);
    }
    group_key_values(document, request->session, plan->by, set, row, 0);
    return true;
}

static void begin_table(const struct group_plan *plan, struct document *document)
{
    struct document_column columns[DOCUMENT_COLUMNS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < plan->measure_count; i++) {
        columns[count++] = group_measure_column(plan->measures[i]);
        if (i == 0 && plan->share)
            columns[count++] = (struct document_column){"share", NULL, VALUE_SHARE, NULL};
    }
    count += group_key_columns(plan->by, columns + count);
    document_table(document, plan->name, plan->title, columns, count);
}

bool group_table(const struct report_request *request, const struct group_plan *plan,
                 struct document *document, struct session_error *error)
{
    char steps[512];
    unsigned measures = 0;
    uint64_t whole = 0;
    snprintf(steps, sizeof(steps), "%s %s", plan->steps ? plan->steps : "",
             group_join_step(plan->by));
    struct graph_result *result = request_run(request, request->session, plan->set, steps, error);
    struct session_group_set *set = result ? graph_result_groups(result) : NULL;
    for (size_t i = 0; i < plan->measure_count; i++)
        measures |= 1u << plan->measures[i];
    bool good = set && (plan->by != BY_STACK || session_load_stacks(request->session, error)) &&
                session_groups_prepare(set, measures, error) &&
                session_groups_sort(set, plan->measures[0], true, error) &&
                (!plan->share || session_groups_sum(set, plan->measures[0], &whole, error));
    begin_table(plan, document);
    const size_t rows = good ? session_groups_count(set) : 0;
    for (size_t row = 0; good && row < rows && (request->top == 0 || row < request->top); row++)
        good = add_row(request, plan, set, row, whole, document, error);
    document_rows(document, rows);
    graph_result_free(result);
    return good;
}

/* The reports that are one table of groups. */

/* The columns of blocks that are live, and of all blocks. */
static const enum session_group_measure live[] = {MEASURE_BYTES, MEASURE_ALLOCATIONS,
                                                  MEASURE_AVG_SIZE};
static const enum session_group_measure whole[] = {
    MEASURE_BYTES,           MEASURE_ALLOCATIONS,   MEASURE_LIVE_BYTES, MEASURE_LIVE_COUNT,
    MEASURE_PEAK_BYTES,      MEASURE_AT_PEAK_BYTES, MEASURE_AVG_SIZE,   MEASURE_AVG_LIFETIME,
    MEASURE_AT_PEAK_RESIDENT}; /* the last one only if it is known */
static const enum session_group_measure passing[] = {MEASURE_ALLOCATIONS, MEASURE_BYTES,
                                                     MEASURE_AVG_SIZE, MEASURE_AVG_LIFETIME};

/* Adds a fact that is the measure of a sentence. */
static bool add_sum(const struct report_request *request, const char *name, const char *title,
                    enum value_kind kind, const char *set, const char *steps,
                    struct document *document, struct session_error *error)
{
    struct session_measure measure;
    if (!request_measure(request, request->session, set, steps, &measure, error))
        return false;
    document_fact_sum(document, name, title, kind, measure.value,
                      measure.estimated ? measure.standard_error : -1);
    return true;
}

bool report_peak(const struct report_request *request, struct document *document,
                 struct session_error *error)
{
    const char *set = request->at ? NULL : "(live at peak)";
    const struct group_plan plan = {
        "groups",    request->at ? "Live at that time" : "Live at the program's peak",
        set,         NULL,
        live,        3,
        request->by, true};
    const struct report_request program = {.session = request->session};
    const uint64_t peak_ns = session_peak_ns(request->session);
    double standard_error;
    if (!request_error_at(&program, peak_ns, &standard_error, error))
        return false;
    document_fact_sum(document, "program_peak_bytes", "program's peak", VALUE_BYTES,
                      session_peak_bytes(request->session), standard_error);
    document_fact_number(document, "program_peak_ns", "time of that peak", VALUE_MOMENT, peak_ns);
    return add_sum(request, "bytes", "bytes here", VALUE_BYTES, set, "| sum size", document,
                   error) &&
           add_sum(request, "allocations", "blocks here", VALUE_NUMBER, set, "| count", document,
                   error) &&
           group_table(request, &plan, document, error);
}

static bool whole_table(const struct report_request *request, const char *name, const char *title,
                        enum report_by by, struct document *document, struct session_error *error)
{
    bool known;
    if (!session_reads_residency(request->session, &known, error))
        return false;
    const struct group_plan plan = {
        name, title, NULL, NULL, whole, sizeof(whole) / sizeof(*whole) - !known, by, false};
    return group_table(request, &plan, document, error);
}

bool report_types(const struct report_request *request, struct document *document,
                  struct session_error *error)
{
    return whole_table(request, "types", "Types", BY_TYPE, document, error);
}

bool report_lines(const struct report_request *request, struct document *document,
                  struct session_error *error)
{
    return whole_table(request, "lines", "Lines", BY_LINE, document, error);
}

bool report_sizes(const struct report_request *request, struct document *document,
                  struct session_error *error)
{
    static const enum session_group_measure sizes[] = {MEASURE_BYTES, MEASURE_ALLOCATIONS,
                                                       MEASURE_LIVE_BYTES, MEASURE_LIVE_COUNT,
                                                       MEASURE_AT_PEAK_BYTES};
    const struct group_plan plan = {"sizes", "Sizes", NULL, NULL, sizes, 5, BY_SIZE, true};
    return group_table(request, &plan, document, error);
}

bool report_short_lived(const struct report_request *request, struct document *document,
                        struct session_error *error)
{
    static const char steps[] = "| where freed == true and lifetime < 1ms";
    const struct group_plan plan = {"groups", "Freed within 1 ms", NULL, steps, passing,
                                    4,        request->by,         true};
    return add_sum(request, "allocations", "freed within 1 ms", VALUE_NUMBER, NULL,
                   "| where freed == true and lifetime < 1ms | count", document, error) &&
           add_sum(request, "bytes", "bytes of these", VALUE_BYTES, NULL,
                   "| where freed == true and lifetime < 1ms | sum size", document, error) &&
           add_sum(request, "all_allocations", "of all allocations", VALUE_NUMBER, NULL, "| count",
                   document, error) &&
           group_table(request, &plan, document, error);
}
