/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the graphs that look for faults, and ranks what they find. */
#include "session/findings.h"
#include "schemas/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/filter/references.h"
#include "session/groups.h"

#define TEXT_SIZE 8192

/* In the order in which they tell about a group: a later kind leaves out what an earlier one told.
 * Certainty: how sure the graph is that the bytes are too many. Bytes that pass through cost time
 * and hold no memory: such a finding never counts as much as one that holds a twentieth of the
 * peak. Steps of realloc() are recorded as such; the graph infers others, and these count less. */
static const struct {
    const char *graph, *word, *inferred;
    enum session_group_measure measure;
    double certainty, certainty_inferred;
    bool passes; /* its bytes are not held at one time */
} kinds[RANKED_KINDS + 1] = {
    [RANKED_UNREACHABLE] = {"unreachable_by_user", "unreachable", NULL, MEASURE_LIVE_BYTES, 1.0, 0,
                            false},
    [RANKED_LEAKS] = {"leaks_by_user", "later leaks", NULL, MEASURE_LIVE_BYTES, 1.0, 0, false},
    {"outlived_clear", "outlived a clear", NULL, MEASURE_BYTES, 0.8, 0, false},
    {"histories", "piles up", NULL, MEASURE_AT_PEAK_BYTES, 0.8, 0, false},
    {"kept_capacity", "kept capacity", NULL, MEASURE_BYTES, 0.7, 0, false},
    {"steady_growers", "grows on and on", NULL, MEASURE_AT_PEAK_BYTES, 0.6, 0, false},
    {"ladders", "small steps", "small steps?", MEASURE_BYTES, 0.1, 0.03, true},
    {"storms", "short-lived", NULL, MEASURE_BYTES, 0.1, 0, true},
    [RANKED_HOLES] = {NULL, "fragmentation", NULL, MEASURE_BYTES, 0.5, 0, false},
};
enum { PASSES_MOST = 25 }; /* such a finding counts at most as the peak divided by this */

/* Returns true if the graph infers what a finding says from blocks that realloc() did not make. */
static bool is_inferred(const struct ranked_finding *finding)
{
    return kinds[finding->kind].inferred && strncmp(finding->made_by, "realloc", 7) != 0;
}

const char *ranked_word(const struct ranked_finding *finding)
{
    return is_inferred(finding) ? kinds[finding->kind].inferred : kinds[finding->kind].word;
}

const char *ranked_graph(size_t kind)
{
    return kinds[kind].graph;
}

bool ranked_text(size_t kind, const char *filter, const char *more, char *out, size_t size)
{
    const int length = *filter ? snprintf(out, size, "( %s | ungroup ) & ( %s )%s",
                                          kinds[kind].graph, filter, more)
                               : snprintf(out, size, "%s | ungroup%s", kinds[kind].graph, more);
    return length > 0 && (size_t)length < size;
}

static bool take_row(struct session_group_set *groups, size_t row, struct ranked_finding *finding,
                     struct session_error *error)
{
    const struct session_group_key user = session_group_key(groups, row, 0);
    const struct session_group_key type = session_group_key(groups, row, 1);
    if (kinds[finding->kind].inferred) {
        const struct session_group_key kind = session_group_key(groups, row, 2);
        snprintf(finding->made_by, sizeof(finding->made_by), "%s", kind.text ? kind.text : "");
    }
    snprintf(finding->user, sizeof(finding->user), "%s",
             user.is_null || !user.text ? "" : user.text);
    snprintf(finding->type, sizeof(finding->type), "%s",
             type.is_null || !type.text ? "" : type.text);
    return session_group_value(groups, row, kinds[finding->kind].measure, &finding->bytes, error) &&
           session_group_value(groups, row, MEASURE_ALLOCATIONS, &finding->count, error) &&
           session_group_value(groups, row, MEASURE_FIRST_TIME, &finding->first_ns, error) &&
           session_group_value(groups, row, MEASURE_LAST_TIME, &finding->last_ns, error);
}

bool ranked_find(struct session *session, size_t kind, const char *filter,
                 struct ranked_finding *findings, size_t *count, struct session_error *error)
{
    char text[TEXT_SIZE], more[100];
    *count = 0;
    if ((kind == RANKED_LEAKS && (session_stopped(session) || references_at_end(session))) ||
        (kind == RANKED_UNREACHABLE && !references_known(session, "", 0, NULL)))
        return true;
    snprintf(more, sizeof(more), " | join user, type%s | sort %s desc | top %d",
             kinds[kind].inferred ? ", kind" : "", session_group_measure_name(kinds[kind].measure),
             RANKED_OF_KIND);
    if (!ranked_text(kind, filter, more, text, sizeof(text))) {
        *error = (struct session_error){.message = "the filter is too long for the findings"};
        return false;
    }
    struct graph_result *result = graph_run(session, text, error);
    if (!result)
        return false;
    struct session_group_set *groups = graph_result_groups(result);
    bool good = true;
    for (size_t row = 0;
         good && groups && row < session_groups_count(groups) && row < RANKED_OF_KIND; row++) {
        findings[row] = (struct ranked_finding){.kind = kind};
        good = take_row(groups, row, &findings[row], error);
        *count += good;
    }
    graph_result_free(result);
    return good;
}

bool ranked_has_kind(const struct ranked_finding *finding)
{
    return kinds[finding->kind].inferred != NULL;
}

static double score_of(const struct ranked_finding *finding, uint64_t peak_bytes)
{
    const double most = (double)peak_bytes / PASSES_MOST;
    const double score =
        (double)finding->bytes * (is_inferred(finding) ? kinds[finding->kind].certainty_inferred
                                                       : kinds[finding->kind].certainty);
    return kinds[finding->kind].passes && score > most ? most : score;
}

static bool is_told(const struct ranked_finding *findings, size_t count,
                    const struct ranked_finding *finding)
{
    for (size_t i = 0; i < count; i++)
        if (finding->kind != RANKED_HOLES && strcmp(findings[i].user, finding->user) == 0 &&
            strcmp(findings[i].type, finding->type) == 0)
            return true;
    return false;
}

ARRAY_ORDER(by_kind, struct ranked_finding, ORDER(a->kind, b->kind) ?: ORDER(b->bytes, a->bytes))

static int by_rank(const void *left, const void *right, void *peak)
{
    const struct ranked_finding *a = left, *b = right;
    const uint64_t peak_bytes = *(const uint64_t *)peak;
    const bool own_a = a->user[0] != 0, own_b = b->user[0] != 0;
    const double score_a = score_of(a, peak_bytes), score_b = score_of(b, peak_bytes);
    if (own_a != own_b)
        return own_a ? -1 : 1;
    return ORDER(score_b, score_a) ?: by_kind(left, right);
}

size_t ranked_order(struct ranked_finding *findings, size_t count, uint64_t peak_bytes)
{
    size_t kept = 0;
    if (count == 0)
        return 0;
    qsort(findings, count, sizeof(*findings), by_kind);
    for (size_t i = 0; i < count; i++)
        if (score_of(&findings[i], peak_bytes) * 1000 >= (double)peak_bytes &&
            !is_told(findings, kept, &findings[i]))
            findings[kept++] = findings[i];
    qsort_r(findings, kept, sizeof(*findings), by_rank, &peak_bytes);
    return kept;
}

int ranked_severity(const struct ranked_finding *finding, uint64_t peak_bytes)
{
    const double score = score_of(finding, peak_bytes), peak = (double)peak_bytes;
    return score * 20 >= peak ? 2 : score * 200 >= peak ? 1 : 0;
}
