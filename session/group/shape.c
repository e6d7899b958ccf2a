/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/group/shape.h"

#include <stdlib.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/scan/estimate.h"

/* The shapes of one thread. */
struct shaping {
    const struct session_group_set *set;
    struct group_shape *shapes;
    /* By group: the size of its row before in this chunk. The chunk counts from 1. */
    uint64_t *size_before;
    uint32_t *chunk_before;
    uint32_t groups[COLUMN_CHUNK_ROWS];
    struct estimate_rows *estimated; /* NULL: the session is not sampled */
    uint64_t points[SHAPE_POINTS], end_ns;
};

struct shape_views {
    struct column_view size, bytes, counts, began, life;
};

static bool read_views(struct shaping *shaping, struct scan_worker *worker, uint32_t chunk,
                       struct shape_views *views, struct session_error *error)
{
    if (!scan_column(worker, chunk, COLUMN_SIZE, &views->size, error) ||
        !scan_column(worker, chunk, COLUMN_ALLOC_NS, &views->began, error) ||
        !scan_column(worker, chunk, COLUMN_LIFE_NS, &views->life, error))
        return false;
    estimate_chunk(shaping->set->session->estimate, (uint64_t)chunk * COLUMN_CHUNK_ROWS,
                   &views->size, shaping->estimated, &views->bytes, &views->counts);
    return true;
}

/* Adds to the first point at or after `ns`; the sum up to a point is what is live there. */
static void add_from(const struct shaping *shaping, struct group_shape *shape, uint64_t ns,
                     uint64_t bytes)
{
    for (size_t i = 0; i < SHAPE_POINTS; i++) {
        if (shaping->points[i] >= ns) {
            shape->live[i] += bytes;
            return;
        }
    }
}

static void add_row(struct shaping *shaping, const struct shape_views *views, uint32_t chunk,
                    size_t row)
{
    const uint32_t group = shaping->groups[row];
    struct group_shape *shape = &shaping->shapes[group];
    const uint64_t size = column_view_at(&views->size, row);
    const uint64_t bytes = column_view_at(&views->bytes, row);
    const uint64_t began = column_view_at(&views->began, row);
    const uint64_t life = column_view_at(&views->life, row);
    const uint64_t end = life != 0                 ? began + life - 1
                         : shaping->end_ns > began ? shaping->end_ns
                                                   : began;
    shape->first_alloc = began < shape->first_alloc ? began : shape->first_alloc;
    shape->last_alloc = began > shape->last_alloc ? began : shape->last_alloc;
    shape->first_end = end < shape->first_end ? end : shape->first_end;
    shape->last_end = end > shape->last_end ? end : shape->last_end;
    add_from(shaping, shape, began, bytes);
    if (life != 0)
        add_from(shaping, shape, end, (uint64_t)0 - bytes);
    shape->rows++;
    shape->climbs +=
        shaping->chunk_before[group] == chunk + 1 && size > shaping->size_before[group];
    shaping->chunk_before[group] = chunk + 1;
    shaping->size_before[group] = size;
}

static bool shape_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                        struct session_error *error)
{
    struct shaping *shaping = context;
    const struct session_group_set *set = shaping->set;
    struct shape_views views;
    if (row_set_chunk_empty(&set->rows, chunk))
        return true;
    const uint64_t *words = row_set_chunk(&set->rows, chunk);
    if (!group_of_rows(set, worker, chunk, words, shaping->groups, error) ||
        !read_views(shaping, worker, chunk, &views, error))
        return false;
    ROW_SET_EACH(words, row)
    {
        add_row(shaping, &views, chunk, row);
    }
    return true;
}

static void shaping_free(struct shaping *shaping)
{
    if (!shaping)
        return;
    free(shaping->shapes);
    free(shaping->size_before);
    free(shaping->chunk_before);
    free(shaping->estimated);
    free(shaping);
}

static struct shaping *shaping_new(const struct session_group_set *set)
{
    const struct session *session = set->session;
    struct shaping *shaping = calloc(1, sizeof(*shaping));
    if (!shaping)
        return NULL;
    shaping->set = set;
    shaping->end_ns = session->duration_ns;
    for (uint64_t i = 0; i < SHAPE_POINTS; i++) {
        const uint64_t odd = 2 * i + 1, parts = 2 * (uint64_t)SHAPE_POINTS;
        shaping->points[i] = (uint64_t)((unsigned __int128)session->duration_ns * odd / parts);
    }
    shaping->shapes = calloc(set->made + 1, sizeof(*shaping->shapes));
    shaping->size_before = calloc(set->made + 1, sizeof(*shaping->size_before));
    shaping->chunk_before = calloc(set->made + 1, sizeof(*shaping->chunk_before));
    if (session->estimate)
        shaping->estimated = malloc(sizeof(*shaping->estimated));
    if (!shaping->shapes || !shaping->size_before || !shaping->chunk_before ||
        (session->estimate && !shaping->estimated)) {
        shaping_free(shaping);
        return NULL;
    }
    for (size_t i = 0; i < set->made; i++)
        shaping->shapes[i].first_alloc = shaping->shapes[i].first_end = UINT64_MAX;
    return shaping;
}

static void add_shape(struct group_shape *sum, const struct group_shape *part)
{
    sum->first_alloc = part->first_alloc < sum->first_alloc ? part->first_alloc : sum->first_alloc;
    sum->last_alloc = part->last_alloc > sum->last_alloc ? part->last_alloc : sum->last_alloc;
    sum->first_end = part->first_end < sum->first_end ? part->first_end : sum->first_end;
    sum->last_end = part->last_end > sum->last_end ? part->last_end : sum->last_end;
    sum->rows += part->rows;
    sum->climbs += part->climbs;
    for (size_t i = 0; i < SHAPE_POINTS; i++)
        sum->live[i] += part->live[i];
}

bool group_find_shapes(struct session_group_set *set, struct session_error *error)
{
    struct shaping *contexts[SCAN_THREADS_MAX] = {NULL};
    const size_t threads = group_threads(
        set, set->made * (sizeof(struct group_shape) + sizeof(uint64_t) + sizeof(uint32_t)));
    bool good = true;
    if (set->shapes)
        return true;
    for (size_t i = 0; good && i < threads; i++) {
        contexts[i] = shaping_new(set);
        good = contexts[i] || session_fail_memory(error, "the measures of groups");
    }
    good = good && scan_chunks(set->session, set->rows.chunks, shape_chunk, (void **)contexts,
                               threads, error);
    for (size_t i = 1; good && i < threads; i++)
        for (size_t group = 0; group < set->made; group++)
            add_shape(&contexts[0]->shapes[group], &contexts[i]->shapes[group]);
    for (size_t group = 0; good && group < set->made; group++)
        for (size_t i = 1; i < SHAPE_POINTS; i++)
            contexts[0]->shapes[group].live[i] += contexts[0]->shapes[group].live[i - 1];
    if (good) {
        set->shapes = contexts[0]->shapes;
        contexts[0]->shapes = NULL;
    }
    for (size_t i = 0; i < threads; i++)
        shaping_free(contexts[i]);
    return good;
}

uint64_t group_shape_rises(const struct group_shape *shape)
{
    uint64_t rises = 0;
    for (size_t i = 1; i < SHAPE_POINTS; i++)
        rises += shape->live[i] > shape->live[i - 1];
    return rises;
}
