/* SPDX-License-Identifier: BSD-2-Clause */
/* The questions of the view of leaks to the engine. */
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/user_code.h"
#include "tui/view/leaks/leaks.h"

/* ---- groups ----------------------------------------------------------------------------- */

/* Frames that are kept of all groups, and at least of each. */
enum { FRAMES_IN_ALL = 1 << 24, FRAMES_OF_EACH = 16 };

/* Returns how many frames of each group's stack are kept. */
static size_t frames_of_each(const struct session_leaks *leaks)
{
    const size_t share = FRAMES_IN_ALL / (leaks->count + 1);
    return share > LEAK_FRAMES ? LEAK_FRAMES : share < FRAMES_OF_EACH ? FRAMES_OF_EACH : share;
}

/* Finds the names under which groups are listed. */
static bool name_groups(struct session *session, struct leaks_data *data,
                        struct session_error *error)
{
    const struct session_leaks *leaks = &data->leaks;
    struct session_frame frames[LEAK_FRAMES];
    const size_t most = frames_of_each(leaks);
    size_t kept = 0, room = 0;
    data->names = calloc(leaks->count + 1, sizeof(*data->names));
    if (!data->names) {
        snprintf(error->message, sizeof(error->message), SESSION_OUT_OF_MEMORY);
        return false;
    }
    for (size_t i = 0; i < leaks->count; i++) {
        const uint32_t stack = leaks->leaks[i].stack;
        const size_t count = session_stack(session, stack, frames, most);
        const size_t known = count < most ? count : most;
        const size_t user = session_stack_user(session, stack);
        const size_t site = session_stack_call_site(session, stack);
        if (!array_grow(&data->frames, &room, kept + known, sizeof(*data->frames))) {
            snprintf(error->message, sizeof(error->message), SESSION_OUT_OF_MEMORY);
            return false;
        }
        for (size_t frame = 0; frame < known; frame++)
            data->frames[kept + frame] = frames[frame].function;
        data->names[i] = (struct leak_names){
            .user = user < known ? frames[user].function : 0,
            .site = site < known ? frames[site].function : 0,
            .first_frame = kept,
            .frame_count = known,
            .user_frame = user < known   ? user
                          : site < known ? site
                                         : 0,
        };
        kept += known;
        data->bytes += leaks->leaks[i].bytes;
    }
    data->frame_count = kept;
    return true;
}

static bool run_leaks(struct session *session, struct selection *selection, void *context,
                      struct session_error *error)
{
    struct leaks_data *data = context;
    char path[SUPP_PATH_SIZE];
    data->suppressions =
        supp_file_read(supp_file_path(path, sizeof(path), session_path(session)), data->note);
    return selection_leaks(selection, data->suppressions, &data->leaks, error) &&
           name_groups(session, data, error);
}

static void clear_leaks(void *context)
{
    struct leaks_data *data = context;
    suppressions_free(data->suppressions);
    session_leaks_free(&data->leaks);
    free(data->names);
    free(data->frames);
}

/* ---- the stack -------------------------------------------------------------------------- */

/* Reads the stack whose id is in the upper half of request.nth. */
static bool run_stack(struct session *session, struct selection *selection, void *context,
                      struct session_error *error)
{
    struct leak_stack_data *data = context;
    (void)selection;
    (void)error;
    data->stack = (uint32_t)(data->request.nth >> 32);
    data->count = session_stack(session, data->stack, data->frames, LEAK_FRAMES);
    data->user = session_stack_user(session, data->stack);
    data->site = session_stack_call_site(session, data->stack);
    data->state = session_stack_state(session, data->stack);
    return true;
}

size_t leaks_rows(const struct leaks *leaks)
{
    return leaks->data ? leaks->data->leaks.count : 0;
}

size_t leaks_selected_group(const struct leaks *leaks)
{
    return leaks->data && leaks->groups.selected < leaks->data->leaks.count
               ? leaks->order[leaks->groups.selected]
               : SIZE_MAX;
}

const struct session_leak *leaks_selected(const struct leaks *leaks)
{
    const size_t group = leaks_selected_group(leaks);
    return group == SIZE_MAX ? NULL : &leaks->data->leaks.leaks[group];
}

uint32_t leaks_selected_function(const struct leaks *leaks)
{
    const size_t group = leaks_selected_group(leaks), row = leaks->frames.selected;
    if (leaks->in_stack && leaks->stack && row < leaks->stack->count && row < LEAK_FRAMES)
        return leaks->stack->frames[row].function;
    return group == SIZE_MAX ? 0 : leaks_function(leaks, group);
}

static void load_stack(struct leaks *leaks, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct leak_stack_data *)0)->request),
                                          sizeof(struct leak_stack_data), run_stack, NULL};
    const struct session_leak *leak = leaks_selected(leaks);
    if (!leak)
        return;
    const uint64_t key = (uint64_t)leak->stack << 32 | leak->type;
    if (leaks->nth_key != key || leaks->nth >= leak->stack_count) {
        leaks->nth = 0;
        leaks->nth_key = key;
    }
    const struct session_leak_stack *shown =
        &leaks->data->leaks.stacks[leak->first_stack + leaks->nth];
    struct leak_stack_data wanted = {.request = {exploration->selections, leaks->writes, key,
                                                 (uint64_t)shown->stack << 32 | leaks->nth}};
    leaks->stack = exploration_get(exploration, &leaks->stack_load, &kind, &wanted.request);
    if (leaks->stack && leaks->frames_of != wanted.request.nth) {
        /* Begins at the call site, with the user's frame selected. */
        const size_t user = leaks->stack->user, site = leaks->stack->site;
        leaks->frames_of = wanted.request.nth;
        leaks->frames = (struct table){.selected = user < leaks->stack->count ? user : site,
                                       .first = site > 0 ? site - 1 : 0,
                                       .blurred = leaks->frames.blurred};
    }
    leaks_ask_pattern(&leaks->shown_pattern, exploration, leaks->data, leaks_selected_group(leaks));
    leaks->pattern = leaks_pattern(&leaks->shown_pattern, exploration);
    exploration->stack = shown->stack;
    exploration->has_stack = true;
    const uint32_t below[FUNCTION_PARTS] = {[SESSION_ANYWHERE] = leaks_selected_function(leaks)};
    function_tests_load(&leaks->tests, exploration, below);
}

/* ---- both ------------------------------------------------------------------------------- */

void leaks_load(struct leaks *leaks, struct exploration *exploration, bool with_stack)
{
    static const struct load_kind kind = {sizeof(((struct leaks_data *)0)->request),
                                          sizeof(struct leaks_data), run_leaks, clear_leaks};
    const struct leaks_data wanted = {.request = {exploration->selections, leaks->writes}};
    leaks->session = exploration->session;
    leaks->estimated = session_sampled(exploration->session);
    leaks->data = exploration_get(exploration, &leaks->leaks_load, &kind, &wanted.request);
    if (leaks->data && !leaks->data->names)
        leaks->data = NULL; /* the question has failed */
    if (leaks->data && (!leaks->order || leaks->ordered_selections != exploration->selections ||
                        leaks->ordered_writes != leaks->writes)) {
        uint32_t *order = realloc(leaks->order, (leaks->data->leaks.count + 1) * sizeof(*order));
        if (!order) {
            leaks->data = NULL;
            exploration_complain(exploration, SESSION_OUT_OF_MEMORY);
            return;
        }
        leaks->order = order;
        for (size_t i = 0; i < leaks->data->leaks.count; i++)
            leaks->order[i] = (uint32_t)i;
        leaks->ordered_selections = exploration->selections;
        leaks->ordered_writes = leaks->writes;
        leaks_sort(leaks);
    }
    leaks->stack = NULL;
    leaks->pattern = NULL;
    if (with_stack)
        load_stack(leaks, exploration);
}
