/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/query/kept_selections.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/session_state.h"
#include "session/filter/sort_order.h"

/* A selection may take 100 bytes for each stack, and a bit for each allocation. */
enum { KEPT_MOST = 4 };

size_t kept_selections_bytes_most = (size_t)64 << 20;

struct kept_selections {
    struct kept_selection {
        char *text; /* NULL: none is here */
        size_t length;
        struct selection *selection;
    } each[KEPT_MOST];
    size_t next; /* takes the place of this one */
};

void kept_selections_text(const struct session *session, const struct filter_pipeline *pipeline,
                          struct pipeline_text *text)
{
    pipeline_text_begin(text, session, 0, pipeline->set);
    for (const struct filter_step *step = pipeline->steps; step; step = step->next)
        pipeline_text_add(text, step);
    if (pipeline->kind != KIND_ALLOCATIONS)
        text->usable = false;
}

struct selection *kept_selections_find(const struct session *session,
                                       const struct pipeline_text *text)
{
    for (size_t i = 0; session->kept && text->usable && i < KEPT_MOST; i++) {
        const struct kept_selection *kept = &session->kept->each[i];
        if (kept->text && kept->length == text->length &&
            memcmp(kept->text, text->bytes, text->length) == 0)
            return selection_share(kept->selection);
    }
    return NULL;
}

static void drop(struct kept_selection *kept)
{
    free(kept->text);
    selection_free(kept->selection);
    *kept = (struct kept_selection){.text = NULL};
}

/* Frees the order of rows if nobody else has the selection: it may take 8 bytes for each row. */
static void trim(const struct kept_selection *kept)
{
    struct selection *selection = kept->selection;
    if (!selection || atomic_load(&selection->owners) > 1 || selection->ordered <= SORT_FEW)
        return;
    free(selection->order);
    selection->order = NULL;
    selection->ordered = 0;
}

void kept_selections_add(struct session *session, const struct pipeline_text *text,
                         struct selection *selection)
{
    const size_t bytes = (size_t)selection->set.chunks * ROW_SET_WORDS * sizeof(uint64_t);
    if (!text->usable || selection->warnings || bytes > kept_selections_bytes_most / KEPT_MOST)
        return;
    if (!session->kept && !(session->kept = calloc(1, sizeof(*session->kept))))
        return;
    char *copy = malloc(text->length + 1);
    if (!copy)
        return;
    memcpy(copy, text->bytes, text->length);
    struct kept_selection *kept = &session->kept->each[session->kept->next];
    session->kept->next = (session->kept->next + 1) % KEPT_MOST;
    drop(kept);
    *kept = (struct kept_selection){copy, text->length, selection_share(selection)};
    for (size_t i = 0; i < KEPT_MOST; i++)
        trim(&session->kept->each[i]);
}

void kept_selections_free(struct session *session)
{
    for (size_t i = 0; session->kept && i < KEPT_MOST; i++)
        drop(&session->kept->each[i]);
    free(session->kept);
    session->kept = NULL;
}
