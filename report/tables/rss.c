/* SPDX-License-Identifier: BSD-2-Clause */
/* The resident set at one moment: each byte in one class, whose live blocks are in memory and whose
 * are not, who pins the holes and who lived there last. */
#include <stdio.h>
#include <stdlib.h>

#include "report/tables/reports.h"
#include "session/residency.h"
#include "session/time.h"

/* Finds the moment: the one nearest to --at, or that of the largest resident set. */
static bool find_moment(const struct report_request *request,
                        const struct session_residency **moment, size_t *count,
                        struct session_error *error)
{
    struct session *session = request->session;
    const struct session_residency *moments;
    uint64_t ns;
    if (!session_residencies(session, &moments, count, error))
        return false;
    if (*count == 0) {
        snprintf(error->message, sizeof(error->message), "%s: %s", session_path(session),
                 session_residency_why(session));
        return false;
    }
    if (request->at && !session_moment(session, request->at, &ns, error))
        return false;
    *moment = &moments[request->at ? session_residency_nearest(moments, *count, ns)
                                   : session_residency_largest(moments, *count)];
    return true;
}

static void add_known(struct document *document, const char *name, const char *title, bool known,
                      uint64_t bytes)
{
    if (known)
        document_fact_number(document, name, title, VALUE_BYTES, bytes);
}

static void add_facts(struct session *session, const struct session_residency *moment, size_t count,
                      const struct session_residency_group *total, struct document *document)
{
    char advice[SESSION_RESIDENCY_ADVICE];
    const struct session_process *processes;
    const size_t process_count = session_processes(session, &processes);
    for (size_t i = 0; i < process_count; i++)
        if (processes[i].id == moment->process)
            document_fact_text(document, "program", NULL, processes[i].program);
    document_fact_number(document, "ns", "time", VALUE_MOMENT, moment->ns);
    document_fact_text(document, "reason", "read because of", moment->reason);
    if (*moment->mark)
        document_fact_text(document, "mark", NULL, moment->mark);
    document_fact_number(document, "moments", "readings in all", VALUE_NUMBER, count);
    document_fact_number(document, "rss_before", "RSS by the kernel, before", VALUE_BYTES,
                         moment->rss_before);
    document_fact_number(document, "rss_after", "RSS by the kernel, after", VALUE_BYTES,
                         moment->rss_after);
    document_fact_number(document, "live_bytes", "live", VALUE_BYTES, total->live_bytes);
    document_fact_number(document, "live_count", "live blocks", VALUE_NUMBER, total->live_count);
    document_fact_text(document, "allocator", NULL,
                       *moment->allocator ? moment->allocator : "unknown");
    if (!moment->zero_known)
        document_fact_text(document, "bounds", NULL,
                           "the kernel could not tell zero pages and huge pages apart: the parts "
                           "are upper bounds");
    add_known(document, "coarse", "between joined runs of pages", moment->coarse > 0,
              moment->coarse);
    add_known(document, "live_huge", "live in huge pages, touched or not", moment->live_huge > 0,
              moment->live_huge);
    add_known(document, "pss", "shared pages by share (PSS)", moment->has_pss, moment->pss);
    add_known(document, "lazy_free", "the kernel may take back", moment->has_lazy_free,
              moment->lazy_free);
    add_known(document, "cgroup_bytes", "memory of the cgroup", moment->has_cgroup,
              moment->cgroup_bytes);
    add_known(document, "cgroup_limit", "limit of the cgroup", moment->has_limit,
              moment->cgroup_limit);
    if (*session_residency_advice(session, moment, advice))
        document_fact_text(document, "advice", NULL, advice);
}

/* Adds the ledger: RSS, the parts that add up to it, and what lies beside it. */
static void add_parts(const struct session_residency *moment, struct document *document)
{
    static const struct document_column columns[] = {{"part", NULL, VALUE_TEXT, NULL},
                                                     {"bytes", NULL, VALUE_BYTES, NULL},
                                                     {"share", NULL, VALUE_SHARE, ""},
                                                     {"in_rss", "in RSS", VALUE_TRUTH, NULL},
                                                     {"meaning", NULL, VALUE_TEXT, NULL}};
    document_table(document, "parts", "The parts of RSS, and what lies beside it", columns,
                   sizeof(columns) / sizeof(*columns));
    document->also = "parts";
    document_text(document, "rss");
    document_number(document, moment->present);
    document_share(document, moment->present, moment->present);
    document_truth(document, true);
    document_text(document, "the pages counted");
    for (int i = 0; i < RESIDENCY_CLASSES; i++) {
        const enum session_residency_class class = (enum session_residency_class)i;
        document_text(document, session_residency_class_name(class));
        document_number(document, moment->bytes[i]);
        if (class < RESIDENCY_IN_RSS)
            document_share(document, moment->bytes[i], moment->present);
        else
            document_null(document);
        document_truth(document, class < RESIDENCY_IN_RSS);
        document_text(document, session_residency_class_title(class));
    }
    document_rows(document, RESIDENCY_CLASSES + 1);
}

/* Adds the classes that consist of several things: stacks, files, mappings. */
static bool add_details(const struct report_request *request,
                        const struct session_residency *moment, struct document *document,
                        struct session_error *error)
{
    static const struct document_column columns[] = {{"bytes", NULL, VALUE_BYTES, NULL},
                                                     {"part", NULL, VALUE_TEXT, NULL},
                                                     {"detail", NULL, VALUE_TEXT, NULL}};
    struct session_residency_part *parts;
    size_t count;
    uint64_t shown = 0;
    if (!session_residency_parts(request->session, moment, &parts, &count, error))
        return false;
    document_table(document, "details", "Stacks, files and mappings", columns,
                   sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < count; i++) {
        if (!*parts[i].detail)
            continue;
        if (request->top == 0 || shown < request->top) {
            document_number(document, parts[i].bytes);
            document_text(document, session_residency_class_name(parts[i].class));
            document_text(document, parts[i].detail);
        }
        shown++;
    }
    document_rows(document, shown);
    session_residency_parts_free(parts, count);
    return true;
}

static void add_groups(const struct report_request *request,
                       const struct session_residency_group *rows, size_t count,
                       struct document *document)
{
    struct document_column columns[] = {{"live_bytes", "live", VALUE_BYTES, NULL},
                                        {"live_count", "blocks", VALUE_NUMBER, NULL},
                                        {"resident", NULL, VALUE_BYTES, NULL},
                                        {"untouched", NULL, VALUE_BYTES, NULL},
                                        {"swapped", NULL, VALUE_BYTES, NULL},
                                        {"headers", NULL, VALUE_BYTES, NULL},
                                        {"pinned", "holes pinned", VALUE_BYTES, NULL},
                                        {"pinned_pages", "pages pinned", VALUE_NUMBER, NULL},
                                        {"last_owned", "lived there last", VALUE_BYTES, NULL},
                                        {request->by == BY_TYPE       ? "type"
                                         : request->by == BY_FUNCTION ? "function"
                                                                      : "user",
                                         NULL, VALUE_TEXT, NULL}};
    document_table(document, "groups",
                   request->by == BY_TYPE ? "Live blocks and holes, by type"
                   : request->by == BY_FUNCTION
                       ? "Live blocks and holes, by function of the call site"
                       : "Live blocks and holes, by your own functions",
                   columns, sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < count && (request->top == 0 || i < request->top); i++) {
        const struct session_residency_group *row = &rows[i];
        const uint64_t numbers[] = {row->live_bytes, row->live_count,   row->resident,
                                    row->untouched,  row->swapped,      row->headers,
                                    row->pinned,     row->pinned_pages, row->last_owned};
        for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++)
            document_number(document, numbers[k]);
        document_text(document, row->id == 0 ? NULL
                                : request->by == BY_TYPE
                                    ? session_type_name(request->session, row->id)
                                    : session_function_name(request->session, row->id));
    }
    document_rows(document, count);
}

bool report_rss(const struct report_request *request, struct document *document,
                struct session_error *error)
{
    const enum session_residency_by by = request->by == BY_TYPE       ? SESSION_RESIDENCY_TYPE
                                         : request->by == BY_FUNCTION ? SESSION_RESIDENCY_SITE
                                                                      : SESSION_RESIDENCY_USER;
    const struct session_residency *moment;
    struct session_residency_group *rows, total;
    size_t moments, count;
    if (!find_moment(request, &moment, &moments, error) ||
        !session_residency_groups(request->session, moment, by, &rows, &count, &total, error))
        return false;
    add_facts(request->session, moment, moments, &total, document);
    add_parts(moment, document);
    add_groups(request, rows, count, document);
    free(rows);
    return add_details(request, moment, document, error);
}
