/* SPDX-License-Identifier: BSD-2-Clause */
/* The program, its sums, and who holds most. */
#include <stdlib.h>
#include <string.h>

#include "report/tables/group_table.h"
#include "report/tables/reports.h"

static void add_program(struct session *session, struct document *document)
{
    const struct session_process *processes;
    document_fact_text(document, "program", NULL, session_meta(session, "program"));
    document_fact_text(document, "argv", "command", session_meta(session, "argv"));
    const char *start = session_meta(session, "start_time"); /* "": not known */
    if (start && *start)
        document_fact_text(document, "start_time", "recorded", start);
    if (session_meta(session, "part_of")) {
        document_fact_text(document, "part_of", "part of", session_meta(session, "part_of"));
        document_fact_text(document, "part_graph", "written by",
                           session_meta(session, "part_graph"));
    }
    if (session_meta(session, "imported"))
        document_fact_text(document, "imported", "imported from",
                           session_meta(session, "imported"));
    char *labels = session_labels(session);
    if (labels)
        document_fact_text(document, "labels", NULL, labels);
    free(labels);
    document_fact_text(document, "ending", NULL, session_meta(session, "ending"));
    document_fact_number(document, "duration_ns", "duration", VALUE_DURATION,
                         session_duration_ns(session) - session_start_ns(session));
    document_fact_number(document, "processes", NULL, VALUE_NUMBER,
                         session_processes(session, &processes));
    document_fact_number(document, "threads", NULL, VALUE_NUMBER,
                         (uint64_t)session_meta_number(session, "threads"));
    if (session_sampled(session))
        document_fact_number(document, "sample_interval", "sampled one in", VALUE_BYTES,
                             (uint64_t)session_meta_number(session, "sample_interval"));
}

/* A sum of the summary: a sentence and its name. */
struct summary_sum {
    const char *name, *title, *set, *steps;
    enum value_kind kind;
    const char *stopped; /* title if the recording stopped before the program */
};

static const struct summary_sum sums[] = {
    {"allocations", NULL, NULL, "| count", VALUE_NUMBER, NULL},
    {"bytes", "bytes allocated", NULL, "| sum size", VALUE_BYTES, NULL},
    {"frees", NULL, NULL, "| where freed == true | count", VALUE_NUMBER, NULL},
    {"peak_bytes", "peak", NULL, "| peak", VALUE_BYTES, NULL},
    {"live_bytes", "live at end", "live", "| sum size", VALUE_BYTES,
     "live when the recording stopped"},
    {"live_count", "blocks live at end", "live", "| count", VALUE_NUMBER,
     "blocks live when the recording stopped"},
    {"leaked_bytes", "leaked", "leaked", "| sum size", VALUE_BYTES, NULL},
    {"leaked_count", "blocks leaked", "leaked", "| count", VALUE_NUMBER, NULL},
    {"short_lived", "freed within 1 ms", NULL, "| where freed == true and lifetime < 1ms | count",
     VALUE_NUMBER, NULL},
};

/* Adds one sum, and after a peak its moment. */
static bool add_sum(const struct report_request *request, const struct summary_sum *sum,
                    struct document *document, struct session_error *error)
{
    struct session_measure measure;
    const struct session_measure_part *peak = NULL;
    const bool stopped = session_stopped(request->session);
    if (stopped && sum->set && strcmp(sum->set, "leaked") == 0)
        return true;
    if (!request_measure(request, request->session, sum->set, sum->steps, &measure, error))
        return false;
    for (size_t i = 0; i < measure.part_count; i++)
        if (measure.part[i].unit == UNIT_MOMENT)
            peak = &measure.part[i];
    if (peak && !request_error_at(request, peak->value, &measure.standard_error, error))
        return false;
    document_fact_sum(document, sum->name, stopped && sum->stopped ? sum->stopped : sum->title,
                      sum->kind, measure.value, measure.estimated ? measure.standard_error : -1);
    if (peak)
        document_fact_number(document, "peak_ns", "time of the peak", VALUE_MOMENT, peak->value);
    return true;
}

static void add_problems(struct session *session, struct document *document)
{
    static const char *const problems[] = {"dropped_events",   "unmatched_frees", "double_frees",
                                           "mismatched_frees", "wrong_sizes",     "overlaps",
                                           "damaged_bytes"};
    for (size_t i = 0; i < sizeof(problems) / sizeof(*problems); i++)
        document_fact_number(document, problems[i], NULL, VALUE_NUMBER,
                             (uint64_t)session_meta_number(session, problems[i]));
}

bool report_summary(const struct report_request *request, struct document *document,
                    struct session_error *error)
{
    static const enum session_group_measure measures[] = {MEASURE_BYTES, MEASURE_ALLOCATIONS};
    const bool stopped = session_stopped(request->session);
    const struct group_plan plans[] = {
        {"at_peak", "Live at the program's peak, by your own functions", "(live at peak)", NULL,
         measures, 2, BY_USER, true},
        {"types", "Live at the program's peak, by type", "(live at peak)", NULL, measures, 2,
         BY_TYPE, true},
        {"leaks",
         stopped ? "Live when the recording stopped, by your own functions"
                 : "Leaked, by your own functions",
         "leaked", NULL, measures, 2, BY_USER, true},
        {"allocated", "Allocated, by your own functions", NULL, NULL, measures, 2, BY_USER, true},
    };
    struct report_request few = *request;
    bool good = true;
    if (few.top == 0 || few.top > 5)
        few.top = 5;
    document->facts_first = true;
    add_program(request->session, document);
    for (size_t i = 0; good && i < sizeof(sums) / sizeof(*sums); i++)
        good = add_sum(request, &sums[i], document, error);
    add_problems(request->session, document);
    for (size_t i = 0; good && i < sizeof(plans) / sizeof(*plans); i++)
        good = group_table(&few, &plans[i], document, error);
    return good;
}
