/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The courses of types: what is live at some moments, and what no member covers. Few rows are live
 * at a moment, so the pass asks the directory which chunks can have any, and a kernel which rows.
 */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/data/type_padding.h"
#include "session/groups.h"
#include "session/query/selection_state.h"
#include "session/scan/kernels.h"
#include "session/tables/type_ids.h"
#include "session/types.h"

/* The moments: the points, and both ends of the range. */
enum { MOMENT_FROM = SESSION_TYPE_POINTS, MOMENT_TO, MOMENTS };

struct sums {
    bool used;
    uint64_t objects;
    uint64_t live[MOMENTS]; /* bytes */
};

/* The sums of one thread. */
struct coursing {
    const struct column_store *store;
    uint64_t moments[MOMENTS];
    struct kernel_rows rows;
    uint64_t type[KERNEL_ROWS], objects[KERNEL_ROWS], counts[KERNEL_ROWS];
    uint64_t live[ROW_SET_WORDS];
    struct sums sums[]; /* by type id */
};

static void add_objects(struct coursing *coursing, const struct chunk_rows *chunk)
{
    KERNEL_EACH_BATCH(chunk->words, &coursing->rows)
    {
        kernel_take(&chunk->views[COLUMN_TYPE], &coursing->rows, coursing->type);
        kernel_take(&chunk->views[COLUMN_COUNT_OF_OBJECTS], &coursing->rows, coursing->objects);
        kernel_take(&chunk->counts, &coursing->rows, coursing->counts);
        for (size_t i = 0; i < coursing->rows.count; i++) {
            struct sums *sums = &coursing->sums[coursing->type[i]];
            sums->used = true;
            sums->objects += coursing->objects[i] * coursing->counts[i];
        }
    }
}

static void add_live(struct coursing *coursing, const struct chunk_rows *chunk, int moment)
{
    memset(coursing->live, 0, sizeof(coursing->live));
    kernel_live_at(&chunk->views[COLUMN_ALLOC_NS], &chunk->views[COLUMN_LIFE_NS],
                   coursing->moments[moment], coursing->live);
    row_set_keep(coursing->live, chunk->words);
    ROW_SET_EACH(coursing->live, row)
    {
        coursing->sums[column_view_at(&chunk->views[COLUMN_TYPE], row)].live[moment] +=
            column_view_at(&chunk->bytes, row);
    }
}

static void add_chunk(void *context, const struct chunk_rows *chunk)
{
    struct coursing *coursing = context;
    add_objects(coursing, chunk);
    for (int i = 0; i < MOMENTS; i++) {
        const uint64_t ns = coursing->moments[i];
        if (column_store_min(coursing->store, chunk->chunk, COLUMN_ALLOC_NS) <= ns &&
            column_store_last_free(coursing->store, chunk->chunk) > ns)
            add_live(coursing, chunk, i);
    }
}

static void find_moments(const struct session *session, uint64_t from_ns, uint64_t to_ns,
                         uint64_t moments[MOMENTS])
{
    const uint64_t start = session_start_ns(session), end = session_duration_ns(session);
    const uint64_t length = end > start ? end - start : 0;
    for (uint64_t i = 0; i < SESSION_TYPE_POINTS; i++) {
        const uint64_t odd = 2 * i + 1, parts = UINT64_C(2) * SESSION_TYPE_POINTS;
        moments[i] = start + (uint64_t)((unsigned __int128)length * odd / parts);
    }
    moments[MOMENT_FROM] = from_ns;
    moments[MOMENT_TO] = to_ns;
}

/* Adds up, by type id, in sums[0 … count - 1]. */
static bool add_up(struct selection *selection, uint64_t from_ns, uint64_t to_ns, size_t count,
                   struct sums *sums, struct session_error *error)
{
    struct session *session = selection->session;
    struct scan_contexts contexts;
    if (!scan_contexts_open(session, &contexts,
                            sizeof(struct coursing) + count * sizeof(struct sums), (size_t)64 << 20,
                            error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++) {
        struct coursing *coursing = contexts.each[i];
        coursing->store = session->columns;
        find_moments(session, from_ns, to_ns, coursing->moments);
    }
    const bool good = scan_each_chunk(session, &selection->set,
                                      COLUMN_BIT(COLUMN_SIZE) | COLUMN_BIT(COLUMN_ALLOC_NS) |
                                          COLUMN_BIT(COLUMN_LIFE_NS) | COLUMN_BIT(COLUMN_TYPE) |
                                          COLUMN_BIT(COLUMN_COUNT_OF_OBJECTS),
                                      add_chunk, contexts.each, contexts.threads, error);
    for (size_t thread = 0; good && thread < contexts.threads; thread++) {
        const struct coursing *coursing = contexts.each[thread];
        for (size_t type = 0; type < count; type++) {
            const struct sums *part = &coursing->sums[type];
            sums[type].used |= part->used;
            sums[type].objects += part->objects;
            for (int i = 0; i < MOMENTS; i++)
                sums[type].live[i] += part->live[i];
        }
    }
    scan_contexts_close(&contexts);
    return good;
}

static void take_sums(const struct sums *sums, uint64_t padding, struct session_type_course *course)
{
    course->objects += sums->objects;
    course->wasted += sums->objects * padding;
    for (int i = 0; i < SESSION_TYPE_POINTS; i++)
        course->live[i] += sums->live[i];
    course->at_from += sums->live[MOMENT_FROM];
    course->at_to += sums->live[MOMENT_TO];
}

/* Finds the peaks by a join. */
static bool find_peaks(struct selection *selection, const struct type_ids *ids,
                       struct session_type_course *courses, struct session_error *error)
{
    struct graph_result *result = selection_graph(selection, "join type", error);
    struct session_group_set *groups = result ? graph_result_groups(result) : NULL;
    bool good = groups && session_groups_prepare(groups, 1u << MEASURE_PEAK_BYTES, error);
    for (size_t i = 0; good && i < session_groups_count(groups); i++) {
        const struct session_group_key key = session_group_key(groups, i, 0);
        const uint32_t type = key.is_null || !key.text ? 0 : type_ids_find(ids, key.text);
        good = session_group_value(groups, i, MEASURE_PEAK_BYTES, &courses[type].peak_bytes, error);
    }
    graph_result_free(result);
    return good;
}

bool selection_type_courses(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                            bool peaks, struct session_type_course **rows, size_t *count,
                            struct session_error *error)
{
    struct session *session = selection->session;
    struct type_ids ids;
    if (!type_ids_open(&ids, session, error))
        return false;
    uint64_t *padding = type_padding_read(session, error);
    struct session_type_course *courses = calloc((size_t)ids.count + 1, sizeof(*courses));
    struct sums *sums = calloc((size_t)ids.count + 1, sizeof(*sums));
    bool *used = calloc((size_t)ids.count + 1, sizeof(*used));
    bool good = padding && ((courses && sums && used) || session_fail_memory(error, "the types")) &&
                add_up(selection, from_ns, to_ns, ids.count, sums, error);
    for (uint32_t id = 0; good && id < ids.count; id++)
        courses[id] = (struct session_type_course){.type = id, .peak_bytes = SESSION_PEAK_UNKNOWN};
    good = good && (!peaks || find_peaks(selection, &ids, courses, error));
    for (uint32_t id = 0; good && id < ids.count; id++) {
        if (!sums[id].used)
            continue;
        used[ids.same[id]] = true;
        take_sums(&sums[id], padding[id], &courses[ids.same[id]]);
    }
    *count = 0;
    for (uint32_t id = 0; good && id < ids.count; id++)
        if (used[id])
            courses[(*count)++] = courses[id];
    *rows = courses;
    if (!good)
        free(courses);
    free(sums);
    free(used);
    free(padding);
    type_ids_free(&ids);
    return good;
}
