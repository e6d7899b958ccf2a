/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/run/recall.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/session_state.h"
#include "session/run/run_state.h"

size_t recall_bytes_most = (size_t)64 << 20;

/* The rows of a pipeline. Chunks without rows take no memory. */
struct recalled_set {
    struct recalled_set *next; /* the one that was used last comes first */
    char *text;
    size_t text_length, bytes;
    struct row_set set; /* its words are those of the chunks with rows, one after another */
    uint8_t *filled;    /* by chunk: it has rows */
    bool leaks_unknown, summed;
    struct row_totals totals;
};

static void set_free(struct recalled_set *recalled)
{
    if (!recalled)
        return;
    row_set_free(&recalled->set);
    free(recalled->filled);
    free(recalled->text);
    free(recalled);
}

void recall_free(struct session *session)
{
    while (session->recalled) {
        struct recalled_set *next = session->recalled->next;
        set_free(session->recalled);
        session->recalled = next;
    }
}

size_t recall_count(const struct session *session)
{
    size_t count = 0;
    for (const struct recalled_set *at = session->recalled; at; at = at->next)
        count++;
    return count;
}

/* ---- finding ---- */

/* Returns the set of a text, or NULL. */
static struct recalled_set *find(const struct run *run, const struct pipeline_text *text)
{
    struct recalled_set *at = run->session->recalled;
    while (at &&
           (at->text_length != text->length || memcmp(at->text, text->bytes, text->length) != 0))
        at = at->next;
    return at;
}

/* Puts a set before the others. */
static void use(struct session *session, struct recalled_set *used)
{
    struct recalled_set **at = &session->recalled;
    while (*at != used)
        at = &(*at)->next;
    *at = used->next;
    used->next = session->recalled;
    session->recalled = used;
}

static bool copy_out(const struct run *run, const struct recalled_set *found, struct row_set *set)
{
    if (!row_set_start(set, run->session->columns, false, NULL))
        return false;
    uint64_t *made = set->words;
    *set = found->set;
    set->words = made;
    const uint64_t *words = found->set.words;
    for (uint32_t chunk = 0; chunk < set->chunks; chunk++) {
        if (!found->filled[chunk])
            continue;
        memcpy(row_set_chunk(set, chunk), words, ROW_SET_WORDS * sizeof(*words));
        words += ROW_SET_WORDS;
    }
    return true;
}

const struct filter_step *recall_find(struct run *run, const struct filter_pipeline *pipeline,
                                      struct run_rows *rows, struct pipeline_text *text,
                                      const struct filter_step **keep)
{
    const struct filter_step *last = NULL;
    struct recalled_set *found = NULL;
    size_t length = 0;
    bool groups = false, complete = false, whole = false;
    *keep = NULL;
    pipeline_text_begin(text, run->session, run->arenas + 2u * run->processes, pipeline->set);
    for (const struct filter_step *step = pipeline->steps; step; step = step->next) {
        pipeline_text_add(text, step);
        complete |= step == run->last;
        groups = step->kind == STEP_JOIN || step->kind == STEP_FOLD ||
                 (groups && step->kind != STEP_UNGROUP);
        if (!text->usable || filter_step_measures(step->kind))
            break;
        if (groups)
            continue;
        struct recalled_set *known = find(run, text);
        if (known) {
            found = known;
            last = step;
            whole = complete;
        }
        *keep = step;
        length = text->length;
    }
    text->length = length;
    if (!found || !copy_out(run, found, &rows->set))
        return NULL;
    use(run->session, found);
    run->leaks_unknown |= found->leaks_unknown;
    if (whole && found->summed) {
        run->summed = true;
        run->totals = found->totals;
    }
    if (last == *keep)
        *keep = NULL;
    return last;
}

/* ---- keeping ---- */

/* Frees the sets that were used longest ago and take too much memory with the others. */
static void trim(struct session *session)
{
    size_t bytes = 0;
    for (struct recalled_set **at = &session->recalled; *at;) {
        struct recalled_set *recalled = *at;
        bytes += recalled->bytes;
        if (bytes <= recall_bytes_most) {
            at = &recalled->next;
            continue;
        }
        *at = recalled->next;
        set_free(recalled);
    }
}

/* Copies the chunks that have rows. */
static bool copy_set(struct recalled_set *recalled, const struct row_set *set)
{
    size_t filled = 0;
    recalled->filled = malloc((size_t)set->chunks + 1);
    for (uint32_t chunk = 0; recalled->filled && chunk < set->chunks; chunk++) {
        recalled->filled[chunk] = !row_set_chunk_empty(set, chunk);
        filled += recalled->filled[chunk];
    }
    const size_t size = ROW_SET_WORDS * sizeof(*set->words);
    recalled->set = *set;
    recalled->bytes = sizeof(*recalled) + recalled->text_length + set->chunks + filled * size;
    recalled->set.words = recalled->bytes <= recall_bytes_most ? malloc(filled * size + 1) : NULL;
    if (!recalled->filled || !recalled->set.words)
        return false;
    uint64_t *words = recalled->set.words;
    for (uint32_t chunk = 0; chunk < set->chunks; chunk++) {
        if (!recalled->filled[chunk])
            continue;
        memcpy(words, row_set_chunk(set, chunk), size);
        words += ROW_SET_WORDS;
    }
    return true;
}

void recall_keep(struct run *run, const struct pipeline_text *text, const struct run_rows *rows,
                 bool leaks_unknown)
{
    struct session *session = run->session;
    if (rows->kind != KIND_ALLOCATIONS || rows->groups || rows->sides || rows->set.colors ||
        run->warnings.count > 0)
        return;
    struct recalled_set *recalled = calloc(1, sizeof(*recalled));
    if (!recalled)
        return;
    recalled->text_length = text->length;
    recalled->text = malloc(text->length + 1);
    if (!recalled->text || !copy_set(recalled, &rows->set)) {
        set_free(recalled);
        return;
    }
    memcpy(recalled->text, text->bytes, text->length);
    recalled->leaks_unknown = leaks_unknown;
    recalled->summed = run->summed;
    recalled->totals = run->totals;
    recalled->next = session->recalled;
    session->recalled = recalled;
    trim(session);
}
