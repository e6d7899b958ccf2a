/* SPDX-License-Identifier: BSD-2-Clause */
/* The report `findings`: what the graphs that look for faults found, the gravest first. */
#include "session/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/tables/reports.h"

char *request_limits(const struct report_request *request)
{
    const char *filter = filter_text_blank(request->filter) ? NULL : request->filter;
    char *text = NULL;
    int length;
    if (filter && filter_text_pipeline(filter) != filter)
        return NULL;
    const char *groups = request->groups ? " | ungroup" : "";
    if (filter && request->at)
        length = asprintf(&text, "(%s%s) & (live at (%s))", filter, groups, request->at);
    else if (filter)
        length = asprintf(&text, "(%s%s)", filter, groups);
    else if (request->at)
        length = asprintf(&text, "(live at (%s))", request->at);
    else
        return strdup("");
    return length < 0 ? NULL : text;
}

bool findings_find(struct session *session, const char *limits, uint64_t peak,
                   struct ranked_finding findings[RANKED_MOST], size_t *count,
                   struct session_error *error)
{
    *count = 0;
    for (size_t kind = 0; kind < RANKED_KINDS; kind++) {
        size_t more;
        if (!ranked_find(session, kind, limits, findings + *count, &more, error))
            return false;
        *count += more;
    }
    *count = ranked_order(findings, *count, peak);
    return true;
}

static void add_row(const struct ranked_finding *finding, uint64_t peak, struct document *document)
{
    static const char *const weights[] = {"little", "some", "most"};
    document_sum(document, finding->bytes, -1);
    document_sum(document, finding->count, -1);
    document_number(document, finding->first_ns);
    document_number(document, finding->last_ns);
    document_text(document, weights[ranked_severity(finding, peak)]);
    document_text(document, ranked_word(finding));
    document_text(document, *finding->user ? finding->user : NULL);
    document_text(document, *finding->type ? finding->type : NULL);
    document_text(document, ranked_graph(finding->kind));
}

bool report_findings(const struct report_request *request, struct document *document,
                     struct session_error *error)
{
    static const struct document_column columns[] = {{"bytes", NULL, VALUE_BYTES, NULL},
                                                     {"allocations", NULL, VALUE_NUMBER, NULL},
                                                     {"first_ns", "first at", VALUE_MOMENT, NULL},
                                                     {"last_ns", "last at", VALUE_MOMENT, NULL},
                                                     {"matters", NULL, VALUE_TEXT, NULL},
                                                     {"finding", NULL, VALUE_TEXT, NULL},
                                                     {"user", NULL, VALUE_NAME, NULL},
                                                     {"type", NULL, VALUE_NAME, NULL},
                                                     {"graph", NULL, VALUE_TEXT, NULL}};
    struct ranked_finding *findings = calloc(RANKED_MOST, sizeof(*findings));
    char *limits = request_limits(request);
    struct session_measure peak;
    size_t count = 0;
    bool good = findings && limits;
    if (!findings)
        report_fail_memory(error, "the findings");
    else if (!limits)
        report_fail(error, "findings take no --filter that defines names: store it as a graph, and "
                           "name that");
    good = good && request_measure(request, request->session, NULL, "| peak", &peak, error) &&
           findings_find(request->session, limits, peak.value, findings, &count, error);
    document_table(document, "findings", "Findings", columns, sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; good && i < count && (request->top == 0 || i < request->top); i++)
        add_row(&findings[i], peak.value, document);
    document_rows(document, count);
    free(limits);
    free(findings);
    return good;
}
