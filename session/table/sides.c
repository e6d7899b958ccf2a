/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of other sessions, and sets with rows of several: each session's rows are one side. */
#include <stdlib.h>
#include <string.h>

#include "session/same_modules.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/table/match.h"
#include "session/table/run_state.h"

void run_sides_free(struct run_side *sides)
{
    while (sides) {
        struct run_side *next = sides->next;
        row_set_free(&sides->set);
        free(sides);
        sides = next;
    }
}

static struct run_side *find_side(struct run_side *sides, const struct session *session)
{
    while (sides && sides->session != session)
        sides = sides->next;
    return sides;
}

static size_t count_sides(const struct run_side *sides)
{
    size_t count = 0;
    for (; sides; sides = sides->next)
        count++;
    return count;
}

/* ---- sets of other sessions ---- */

/* Returns the length of a text without the blanks at its end. */
static int trimmed(const char *text)
{
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\n", text[length - 1]))
        length--;
    return length < 80 ? (int)length : 80;
}

/* Returns true if the innermost graph of a chain is running further out: it would run forever. */
static bool is_circle(const struct run_chain *chain)
{
    const struct run_chain *outer = chain->outer;
    while (outer && (outer->session != chain->session || strcmp(outer->graph, chain->graph) != 0))
        outer = outer->outer;
    return outer != NULL;
}

/* Runs a graph that is stored in the other session, or with its names. */
static bool run_stored_there(struct run *there, const struct filter_set *source,
                             struct run_rows *rows)
{
    if (is_circle(there->chain))
        return session_fail(there->error, 0, "the graph %.*s uses itself by way of this session",
                            trimmed(source->graph), source->graph);
    struct filter_graph *graph =
        filter_parse_named(source->graph, there->session->graph_names, there->error);
    if (!graph)
        return false;
    const struct filter_pipeline *pipeline = filter_graph_pipeline(graph);
    bool good = pipeline->kind == KIND_ALLOCATIONS ||
                session_fail(there->error, 0, "the graph gives no allocations");
    there->arenas |= filter_mentions(pipeline, FIELD_ARENA);
    there->processes |= filter_mentions(pipeline, FIELD_PROCESS);
    good = good && run_pipeline(there, pipeline, rows);
    filter_graph_free(graph);
    return good;
}

bool run_other_session(struct run *run, const struct filter_set *source, struct run_rows *rows)
{
    struct session_error inner = {.column = 0};
    struct run_rows found = {.kind = KIND_ALLOCATIONS};
    struct session *other =
        run->options->open ? run->options->open(run->options->context, source->file, &inner) : NULL;
    if (!other)
        return session_fail(run->error, source->column, "session \"%.120s\": %s", source->file,
                            inner.message[0] != '\0' ? inner.message : "not allowed here");
    struct run there = *run;
    const struct run_chain chain = {other, source->graph, run->chain};
    there.session = other;
    if (!source->left)
        there.chain = &chain;
    there.error = &inner;
    const bool good = source->left ? run_set(&there, source->left, &found)
                                   : run_stored_there(&there, source, &found);
    run->pipelines = there.pipelines;
    run->color_by = there.color_by;
    run->warnings = there.warnings;
    run->leaks_unknown = there.leaks_unknown;
    struct run_side *side = good ? calloc(1, sizeof(*side)) : NULL;
    if (!good || !side || !row_set_start(&rows->set, run->session->columns, false, &inner)) {
        if (good && inner.message[0] == '\0')
            session_fail_memory(&inner, "a set of another session");
        run_rows_free(&found);
        free(side);
        return session_fail(run->error,
                            source->left && inner.column != 0 ? inner.column : source->column,
                            "session \"%.120s\": %s", source->file, inner.message);
    }
    if (other == run->session) { /* it is open already: a set within a set of the same session */
        free(side);
        row_set_free(&rows->set);
        *rows = found;
        return true;
    }
    *side = (struct run_side){.session = other, .set = found.set, .next = found.sides};
    rows->sides = side;
    return true;
}

/* ---- combinations ---- */

static bool add_sides(struct run *run, struct run_rows *left, struct run_rows *right)
{
    if (!row_set_combine(&left->set, ROW_SET_PLUS, &right->set, run->error))
        return false;
    for (struct run_side **at = &right->sides; *at;) {
        struct run_side *side = *at;
        struct run_side *same = find_side(left->sides, side->session);
        if (same) {
            if (!row_set_combine(&same->set, ROW_SET_PLUS, &side->set, run->error))
                return false;
            at = &side->next;
            continue;
        }
        *at = side->next;
        side->next = left->sides;
        left->sides = side;
    }
    return true;
}

/* Lists the rows by session: first those of the run's own. */
static size_t list_parts(struct run *run, struct run_rows *rows, struct match_part *parts)
{
    size_t count = 0;
    parts[count++] = (struct match_part){.session = run->session, .set = &rows->set};
    for (struct run_side *side = rows->sides; side; side = side->next)
        parts[count++] = (struct match_part){.session = side->session, .set = &side->set};
    return count;
}

static struct row_set *set_of(struct run *run, struct run_rows *rows, const struct session *session)
{
    struct run_side *side = find_side(rows->sides, session);
    return session == run->session ? &rows->set : side ? &side->set : NULL;
}

static size_t words_of(const struct row_set *set)
{
    return (size_t)set->chunks * ROW_SET_WORDS;
}

/* Takes the rows of both sets out of both, and stores them in `common`. */
static void take_common(struct row_set *left, struct row_set *right, struct row_set *common)
{
    for (size_t i = 0; i < words_of(left); i++) {
        common->words[i] = left->words[i] & right->words[i];
        left->words[i] &= ~common->words[i];
        right->words[i] &= ~common->words[i];
    }
}

/* Says which modules of other sessions have another name here. False with the error set. */
static bool say_same_modules(struct run *run, const struct match_part *parts, size_t count)
{
    const struct same_module *list;
    char text[256];
    for (size_t i = 0; i < count; i++) {
        struct same_modules *same = same_modules_find(parts[i].session, run->session, run->error);
        if (!same)
            return false;
        const size_t modules = same_modules_list(same, &list);
        for (size_t k = 0; k < modules; k++)
            filter_warn(&run->warnings, 0, "%s", same_module_text(&list[k], text, sizeof(text)));
        same_modules_free(same);
    }
    return true;
}

/* Subtracts or intersects rows of several sessions: identical rows first, then equal ones. */
static bool match_sides(struct run *run, enum filter_set_kind kind, struct run_rows *left,
                        struct run_rows *right)
{
    struct match_part parts[MATCH_SESSIONS_MAX + 1], others[MATCH_SESSIONS_MAX + 1];
    struct row_set common[MATCH_SESSIONS_MAX + 1] = {{.words = NULL}};
    if (count_sides(left->sides) >= MATCH_SESSIONS_MAX ||
        count_sides(right->sides) >= MATCH_SESSIONS_MAX)
        return session_fail(run->error, 1, "more than %d sessions to compare", MATCH_SESSIONS_MAX);
    const size_t count = list_parts(run, left, parts);
    const size_t other_count = list_parts(run, right, others);
    bool good = say_same_modules(run, parts, count) && say_same_modules(run, others, other_count);
    for (size_t i = 0; good && i < count; i++) {
        struct row_set *same = set_of(run, right, parts[i].session);
        good = row_set_start(&common[i], parts[i].session->columns, false, run->error);
        if (good && same)
            take_common(set_of(run, left, parts[i].session), same, &common[i]);
    }
    good = good && match_rows(parts, count, others, other_count, run->error);
    for (size_t i = 0; i < count; i++) {
        struct row_set *set = set_of(run, left, parts[i].session);
        for (size_t k = 0; good && k < words_of(set); k++)
            set->words[k] = kind == SET_MINUS ? set->words[k] & ~parts[i].matched.words[k]
                                              : common[i].words[k] | parts[i].matched.words[k];
        set->sorted = false;
        row_set_free(&common[i]);
        row_set_free(&parts[i].matched);
    }
    return good;
}

bool run_combine(struct run *run, enum filter_set_kind kind, struct run_rows *left,
                 struct run_rows *right)
{
    static const enum row_set_operation operations[] = {
        [SET_PLUS] = ROW_SET_PLUS, [SET_MINUS] = ROW_SET_MINUS, [SET_BOTH] = ROW_SET_BOTH};
    if (!left->sides && !right->sides)
        return row_set_combine(&left->set, operations[kind], &right->set, run->error);
    if (kind == SET_PLUS)
        return add_sides(run, left, right);
    return match_sides(run, kind, left, right);
}

/* ---- rows of one session ---- */

static bool has_rows(const struct row_set *set)
{
    for (uint32_t chunk = 0; chunk < set->chunks && set->words; chunk++)
        if (!row_set_chunk_empty(set, chunk))
            return true;
    return false;
}

uint64_t run_side_rows(const struct run_side *side)
{
    uint64_t count = 0;
    for (uint32_t chunk = 0; chunk < side->set.chunks && side->set.words; chunk++)
        count += row_set_chunk_count(&side->set, chunk);
    return count;
}

struct run_side *run_only_side(struct run_rows *rows, bool *several)
{
    struct run_side *found = NULL;
    size_t count = has_rows(&rows->set);
    for (struct run_side *side = rows->sides; side; side = side->next) {
        if (!has_rows(&side->set))
            continue;
        found = side;
        count++;
    }
    *several = count > 1;
    return count == 1 ? found : NULL;
}
