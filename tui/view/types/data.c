/* SPDX-License-Identifier: BSD-2-Clause */
/* The questions of the view of types to the engine. */
#include <stdlib.h>

#include "tui/view/types/types.h"

/* ---- types ------------------------------------------------------------------------------ */

static bool run_rows(struct session *session, struct selection *selection, void *context,
                     struct session_error *error)
{
    struct type_rows_data *data = context;
    (void)session;
    data->complete = selection_types(selection, &data->rows, &data->count, error);
    for (size_t i = 0; i < data->count; i++) {
        data->bytes += data->rows[i].bytes;
        data->at_peak_bytes += data->rows[i].at_peak_bytes;
    }
    return data->complete;
}

static void clear_rows(void *context)
{
    free(((struct type_rows_data *)context)->rows);
}

static bool run_courses(struct session *session, struct selection *selection, void *context,
                        struct session_error *error)
{
    struct type_courses_data *data = context;
    (void)session;
    data->complete =
        selection_type_courses(selection, data->request.from_ns, data->request.to_ns,
                               data->request.peaks != 0, &data->rows, &data->count, error);
    return data->complete;
}

static void clear_courses(void *context)
{
    struct type_courses_data *data = context;
    if (data->complete)
        free(data->rows);
}

static bool all_peaks_known(const struct type_rows_data *data)
{
    for (size_t i = 0; i < data->count; i++)
        if (data->rows[i].peak_bytes == SESSION_PEAK_UNKNOWN)
            return false;
    return true;
}

const struct session_type_course *types_course(const struct types *types, uint32_t type)
{
    size_t from = 0, to = types->courses ? types->courses->count : 0;
    const size_t count = to;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (types->courses->rows[middle].type < type)
            from = middle + 1;
        else
            to = middle;
    }
    return from < count && types->courses->rows[from].type == type ? &types->courses->rows[from]
                                                                   : NULL;
}

/* ---- the pane --------------------------------------------------------------------------- */

/* Puts the padding before and after the members between them. */
static void list_members(struct type_members_data *data, const struct session_member *members)
{
    uint64_t gaps[TYPE_MEMBERS];
    uint64_t end = 0;
    const size_t count = data->members < TYPE_MEMBERS ? data->members : TYPE_MEMBERS;
    data->padding = session_members_padding(members, count, data->size, gaps);
    for (size_t i = 0; i < count; i++) {
        if (gaps[i] > 0)
            data->rows[data->count++] = (struct type_member_row){
                {.offset = members[i].offset - gaps[i], .size = gaps[i]}, true};
        data->rows[data->count++] = (struct type_member_row){members[i], false};
        end = members[i].offset + members[i].size > end ? members[i].offset + members[i].size : end;
    }
    if (count > 0 && count == data->members && data->size > end)
        data->rows[data->count++] =
            (struct type_member_row){{.offset = end, .size = data->size - end}, true};
}

static bool run_members(struct session *session, struct selection *selection, void *context,
                        struct session_error *error)
{
    struct type_members_data *data = context;
    struct session_member *members = malloc(TYPE_MEMBERS * sizeof(*members));
    (void)selection;
    if (!members) {
        *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
        return false;
    }
    const bool good = session_type_members(session, (uint32_t)data->request.type, members,
                                           TYPE_MEMBERS, &data->members, &data->size, error);
    if (good)
        list_members(data, members);
    free(members);
    return good;
}

static bool run_candidates(struct session *session, struct selection *selection, void *context,
                           struct session_error *error)
{
    struct type_candidates_data *data = context;
    (void)session;
    data->complete = selection_candidates(selection, &data->rows, &data->count, error);
    for (size_t i = 0; i < data->count; i++)
        data->bytes += data->rows[i].bytes;
    return data->complete;
}

static void clear_candidates(void *context)
{
    struct type_candidates_data *data = context;
    selection_candidates_free(data->rows, data->count);
}

const struct session_type_sums *types_selected(const struct types *types)
{
    return types->data && types->pair.main.selected < types->data->count
               ? &types->data->rows[types->order[types->pair.main.selected]]
               : NULL;
}

bool types_shows_candidates(const struct types *types)
{
    const struct session_type_sums *row = types_selected(types);
    return row && row->type == SESSION_TYPE_UNKNOWN && types->pane == TYPE_MEMBERS_PANE;
}

bool types_step(const struct types *types, uint32_t type, char *out, size_t size)
{
    char name[1100];
    if (type == SESSION_TYPE_UNKNOWN)
        return (size_t)snprintf(out, size, "where type is null") < size;
    filter_quote(name, sizeof(name), session_type_name(types->session, type));
    return name[0] && (size_t)snprintf(out, size, "where type == %s", name) < size;
}

static void load_pane(struct types *types, struct exploration *exploration)
{
    static const struct load_kind members_kind = {sizeof(((struct type_members_data *)0)->request),
                                                  sizeof(struct type_members_data), run_members,
                                                  NULL};
    static const struct load_kind candidates_kind = {
        sizeof(uint64_t), sizeof(struct type_candidates_data), run_candidates, clear_candidates};
    const struct session_type_sums *row = types_selected(types);
    char step[BREAKDOWN_STEP];
    types->members = NULL;
    types->candidates = NULL;
    if (!row) {
        types->breakdown.data = NULL;
        return;
    }
    const uint64_t shown = (uint64_t)row->type << 8 | types->pane;
    if (types->shown != shown) {
        types->shown = shown;
        types->pair.side = (struct table){.blurred = types->pair.side.blurred,
                                          .descending = types->pane != TYPE_MEMBERS_PANE ||
                                                        row->type == SESSION_TYPE_UNKNOWN};
    }
    if (types_shows_candidates(types)) {
        types->candidates = exploration_get(exploration, &types->candidates_load, &candidates_kind,
                                            &exploration->selections);
        if (types->candidates && !types->candidates->complete)
            types->candidates = NULL;
    } else if (types->pane == TYPE_MEMBERS_PANE) {
        const struct type_members_request wanted = {exploration->renewals, row->type};
        types->members = exploration_get(exploration, &types->members_load, &members_kind, &wanted);
    } else if (types_step(types, row->type, step, sizeof(step))) {
        breakdown_load(&types->breakdown, exploration, step,
                       types->pane == TYPE_OWNERS_PANE ? "owner" : "user", &types->pair.side);
    }
}

/* ---- all -------------------------------------------------------------------------------- */

static bool renew_order(struct types *types, struct exploration *exploration)
{
    const bool known = types->courses != NULL;
    if (types->order && types->ordered == exploration->selections &&
        types->ordered_courses == known)
        return true;
    uint32_t *order = realloc(types->order, (types->data->count + 1) * sizeof(*order));
    if (!order) {
        exploration_complain(exploration, SESSION_OUT_OF_MEMORY);
        return false;
    }
    types->order = order;
    for (size_t i = 0; i < types->data->count; i++)
        types->order[i] = (uint32_t)i;
    types->ordered = exploration->selections;
    types->ordered_courses = known;
    types_sort(types);
    return true;
}

void types_load(struct types *types, struct exploration *exploration, bool with_pane)
{
    static const struct load_kind rows_kind = {sizeof(uint64_t), sizeof(struct type_rows_data),
                                               run_rows, clear_rows};
    static const struct load_kind courses_kind = {sizeof(((struct type_courses_data *)0)->request),
                                                  sizeof(struct type_courses_data), run_courses,
                                                  clear_courses};
    types->session = exploration->session;
    types->estimated = session_sampled(exploration->session);
    types->has_range = exploration->has_range;
    types->from_ns = exploration->has_range ? exploration->range_from_ns : 0;
    types->to_ns = exploration->has_range ? exploration->range_to_ns : 0;
    types->data =
        exploration_get(exploration, &types->rows_load, &rows_kind, &exploration->selections);
    types->courses = NULL;
    if (types->data && !types->data->complete)
        types->data = NULL;
    if (!types->data)
        return;
    const struct type_courses_data wanted = {.request = {exploration->selections, types->from_ns,
                                                         types->to_ns,
                                                         !all_peaks_known(types->data)}};
    types->courses =
        exploration_get(exploration, &types->courses_load, &courses_kind, &wanted.request);
    if (types->courses && !types->courses->complete)
        types->courses = NULL;
    if (!renew_order(types, exploration))
        types->data = NULL;
    if (with_pane)
        load_pane(types, exploration);
}
