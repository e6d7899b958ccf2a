/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/tables/reports.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "report/output/output.h"

bool report_by(const char *name, enum report_by *by)
{
    static const char *const names[] = {"user",   "function", "type", "line",
                                        "module", "thread",   "stack"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], name) == 0) {
            *by = (enum report_by)(BY_USER + i);
            return true;
        }
    *by = BY_FUNCTION;
    return strcmp(name, "site") == 0;
}

/* Returns the sentence as new memory: the filter in parentheses, with the limits and steps. Groups
 * become their allocations. NULL if memory is exhausted. */
static char *compose(const struct report_request *request, bool groups, const char *set,
                     const char *steps)
{
    const char *filter = filter_text_blank(request->filter) ? "all" : request->filter;
    const char *pipeline = filter_text_pipeline(filter);
    char *sentence = NULL;
    if (asprintf(&sentence, "%.*s (%s%s)%s%s%s%s%s %s", (int)(pipeline - filter), filter,
                 filter_text_blank(pipeline) ? "all" : pipeline, groups ? " | ungroup" : "",
                 request->at ? " & (live at (" : "", request->at ? request->at : "",
                 request->at ? "))" : "", set ? " & " : "", set ? set : "", steps ? steps : "") < 0)
        return NULL;
    return sentence;
}

struct graph_result *request_run(const struct report_request *request, struct session *session,
                                 const char *set, const char *steps, struct session_error *error)
{
    char *sentence = compose(request, request->groups, set, steps);
    if (!sentence) {
        report_fail_memory(error, "a sentence");
        return NULL;
    }
    struct graph_result *result = graph_run(session, sentence, error);
    free(sentence);
    return result;
}

bool request_measure(const struct report_request *request, struct session *session, const char *set,
                     const char *steps, struct session_measure *measure,
                     struct session_error *error)
{
    struct graph_result *result = request_run(request, session, set, steps, error);
    const struct session_measure *found = result ? graph_result_measure(result) : NULL;
    if (found)
        *measure = *found;
    else if (result)
        report_fail(error, "the sentence gives no measure");
    graph_result_free(result);
    return found != NULL;
}

bool request_error_at(const struct report_request *request, uint64_t ns, double *standard_error,
                      struct session_error *error)
{
    char set[64];
    struct session_measure live;
    *standard_error = 0;
    snprintf(set, sizeof(set), "(live at %" PRIu64 "ns)", ns);
    if (!session_sampled(request->session))
        return true;
    if (!request_measure(request, request->session, set, "| sum size", &live, error))
        return false;
    *standard_error = live.standard_error;
    return true;
}

/* `before`: the length of the text before that of the option. */
static void say_warnings(const struct graph_result *result, const char *option, int before)
{
    const struct session_warning *warnings;
    const size_t count = graph_result_warnings(result, &warnings);
    for (size_t i = 0; i < count; i++)
        if (warnings[i].column > 0)
            say("mprof-report", "%s, column %d: %s", option,
                warnings[i].column > before ? warnings[i].column - before : 1, warnings[i].message);
        else
            say("mprof-report", "%s: %s", option, warnings[i].message);
}

static bool check_filter(struct report_request *request, struct session *session,
                         struct session_error *error)
{
    struct graph_result *result = graph_run(session, request->filter, error);
    const struct graph_side *sides;
    if (!result)
        return false;
    bool good = true;
    if (graph_result_kind(result) == RESULT_MEASURE) {
        good = report_fail(error, "the filter gives a measure, and a report needs allocations: "
                                  "leave out this step");
        error->column = filter_text_last_step(request->filter);
    } else if (graph_result_sides(result, &sides) > 0) {
        good = report_fail(error, "the filter gives allocations of other sessions, and a report is "
                                  "about one: leave them out, or use diff");
        error->column = 1;
    }
    request->groups = graph_result_kind(result) == RESULT_GROUPS;
    say_warnings(result, "--filter", 0);
    graph_result_free(result);
    return good;
}

bool request_check(struct report_request *request, struct session *session, const char **wrong,
                   struct session_error *error)
{
    char *live = NULL;
    *wrong = "--filter";
    if (!filter_text_blank(request->filter) && !check_filter(request, session, error))
        return false;
    if (!request->at)
        return true;
    *wrong = "--at";
    if (asprintf(&live, "live at (%s)", request->at) < 0)
        return report_fail_memory(error, "a sentence");
    static const int before = sizeof("live at (") - 1;
    struct graph_result *result = graph_run(session, live, error);
    free(live);
    if (!result && error->column > 0)
        error->column = error->column > before ? error->column - before : 1;
    if (result)
        say_warnings(result, *wrong, before);
    graph_result_free(result);
    return result != NULL;
}
