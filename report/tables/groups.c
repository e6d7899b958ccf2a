/* SPDX-License-Identifier: BSD-2-Clause */
/* The reports that are one table of groups. */
#include "report/tables/group_table.h"
#include "report/tables/reports.h"

/* The columns of blocks that are live, and of all blocks. */
static const enum session_group_measure live[] = {MEASURE_BYTES, MEASURE_ALLOCATIONS,
                                                  MEASURE_AVG_SIZE};
static const enum session_group_measure whole[] = {
    MEASURE_BYTES,      MEASURE_ALLOCATIONS,   MEASURE_LIVE_BYTES, MEASURE_LIVE_COUNT,
    MEASURE_PEAK_BYTES, MEASURE_AT_PEAK_BYTES, MEASURE_AVG_SIZE,   MEASURE_AVG_LIFETIME};
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

bool report_types(const struct report_request *request, struct document *document,
                  struct session_error *error)
{
    const struct group_plan plan = {"types", "Types", NULL, NULL, whole, 8, BY_TYPE, false};
    return group_table(request, &plan, document, error);
}

bool report_lines(const struct report_request *request, struct document *document,
                  struct session_error *error)
{
    const struct group_plan plan = {"lines", "Lines", NULL, NULL, whole, 8, BY_LINE, false};
    return group_table(request, &plan, document, error);
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
