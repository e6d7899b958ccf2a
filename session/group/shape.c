/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/group/shape.h"

#include <stdlib.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/scan/estimate.h"

/* The sums of a group, and the last of its rows in this chunk, from 1. */
struct shape_sum {
    struct group_shape shape;
    uint64_t id_before, size_before, began_before, end_before, end_before_that;
    uint32_t chunk_before;
};

/* The shapes of one thread. */
struct shaping {
    const struct session_group_set *set;
    const uint8_t *left; /* by group: it is left; NULL: all are */
    struct shape_sum *sums;
    struct estimate_rows *estimated; /* NULL: the session is not sampled */
    uint64_t points[SHAPE_POINTS], end_ns;
};

struct shape_views {
    struct group_key_views keys;
    struct column_view size, bytes, counts, began, life, realloc_of;
};

/* The values of the rows of a batch. */
struct shape_values {
    uint32_t groups[KERNEL_ROWS];
    uint64_t size[KERNEL_ROWS], bytes[KERNEL_ROWS], began[KERNEL_ROWS], life[KERNEL_ROWS];
    uint64_t realloc_of[KERNEL_ROWS];
};

static bool read_views(struct shaping *shaping, struct scan_worker *worker, uint32_t chunk,
                       struct shape_views *views, struct session_error *error)
{
    const struct session_group_set *set = shaping->set;
    if (!group_keys_views(&set->keys, &set->rows, worker, chunk, &views->keys, error) ||
        !scan_column(worker, chunk, COLUMN_SIZE, &views->size, error) ||
        !scan_column(worker, chunk, COLUMN_ALLOC_NS, &views->began, error) ||
        !scan_column(worker, chunk, COLUMN_LIFE_NS, &views->life, error) ||
        !scan_column(worker, chunk, COLUMN_REALLOC_OF, &views->realloc_of, error))
        return false;
    group_keys_reread(&set->keys, &views->keys, COLUMN_SIZE, &views->size);
    group_keys_reread(&set->keys, &views->keys, COLUMN_LIFE_NS, &views->life);
    estimate_chunk(set->session->estimate, (uint64_t)chunk * COLUMN_CHUNK_ROWS, &views->size,
                   shaping->estimated, &views->bytes, &views->counts);
    return true;
}

/* Adds to the first point at or after `ns`; the sum up to a point is what is live there. */
static void add_from(const struct shaping *shaping, struct group_shape *shape, uint64_t ns,
                     uint64_t bytes)
{
    size_t point = 0;
    for (size_t i = 0; i < SHAPE_POINTS; i++)
        point += shaping->points[i] < ns;
    if (point < SHAPE_POINTS)
        shape->live[point] += bytes;
}

/* A row as a step of a buffer that grows. */
struct step {
    uint64_t id, size, began, end; /* end: UINT64_MAX if it was not freed */
    uint64_t realloc_of;           /* 0: of none */
};

/*
 * Adds a row to the steps by which sizes climb: it is larger than the row before, and realloc()
 * made it of that one, or it was allocated while that one was live and after the one before that
 * was freed. So a buffer grows: at most two of its blocks are live at once. If frees have stacks,
 * realloc() frees the old block before it allocates the new one.
 */
static void add_step(struct shape_sum *sum, const struct step *step, uint32_t chunk)
{
    const bool same_chunk = sum->chunk_before == chunk + 1;
    const bool proven = step->realloc_of != 0 && step->realloc_of == sum->id_before;
    const bool inferred = sum->began_before <= step->began && sum->end_before >= step->began &&
                          sum->end_before != UINT64_MAX && sum->end_before_that <= step->began;
    if (same_chunk && step->size > sum->size_before && (proven || inferred)) {
        sum->shape.climbs++;
        sum->shape.replaced += sum->size_before;
    }
    sum->end_before_that = same_chunk ? sum->end_before : 0;
    sum->chunk_before = chunk + 1;
    sum->id_before = step->id;
    sum->size_before = step->size;
    sum->began_before = step->began;
    sum->end_before = step->end;
}

/* `row` is the row's place in the chunk. */
static void add_row(const struct shaping *shaping, const struct shape_values *values,
                    uint32_t chunk, size_t row, size_t i)
{
    struct shape_sum *sum = &shaping->sums[values->groups[i]];
    struct group_shape *shape = &sum->shape;
    const uint64_t size = values->size[i], began = values->began[i], life = values->life[i];
    const uint64_t end = life != 0                 ? began + life - 1
                         : shaping->end_ns > began ? shaping->end_ns
                                                   : began;
    shape->first_alloc = began < shape->first_alloc ? began : shape->first_alloc;
    shape->last_alloc = began > shape->last_alloc ? began : shape->last_alloc;
    shape->first_end = end < shape->first_end ? end : shape->first_end;
    shape->last_end = end > shape->last_end ? end : shape->last_end;
    add_from(shaping, shape, began, values->bytes[i]);
    if (life != 0)
        add_from(shaping, shape, end, (uint64_t)0 - values->bytes[i]);
    shape->rows++;
    shape->sizes += size;
    add_step(sum,
             &(struct step){.id = (uint64_t)chunk * COLUMN_CHUNK_ROWS + row + 1,
                            .size = size,
                            .began = began,
                            .end = life != 0 ? end : UINT64_MAX,
                            .realloc_of = values->realloc_of[i]},
             chunk);
}

static void add_batch(const struct shaping *shaping, const struct shape_views *views,
                      uint32_t chunk, struct kernel_rows *rows)
{
    struct shape_values values;
    group_of_batch(shaping->set, &views->keys, rows, values.groups);
    group_keep_left(shaping->left, rows, values.groups);
    kernel_take(&views->size, rows, values.size);
    kernel_take(&views->bytes, rows, values.bytes);
    kernel_take(&views->began, rows, values.began);
    kernel_take(&views->life, rows, values.life);
    kernel_take(&views->realloc_of, rows, values.realloc_of);
    for (size_t i = 0; i < rows->count; i++) {
        /* Many groups do not fit into the cache: fetch one ahead of its turn. */
        if (i + 16 < rows->count) {
            const char *soon = (const char *)&shaping->sums[values.groups[i + 16]];
            for (size_t line = 0; line < sizeof(struct shape_sum); line += 64)
                __builtin_prefetch(soon + line, 1);
        }
        add_row(shaping, &values, chunk, rows->first + rows->row[i], i);
    }
}

static bool shape_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                        struct session_error *error)
{
    struct shaping *shaping = context;
    const struct session_group_set *set = shaping->set;
    struct shape_views views;
    struct kernel_rows rows;
    if (row_set_chunk_empty(&set->rows, chunk))
        return true;
    if (!read_views(shaping, worker, chunk, &views, error))
        return false;
    KERNEL_EACH_BATCH(row_set_chunk(&set->rows, chunk), &rows)
    {
        add_batch(shaping, &views, chunk, &rows);
    }
    return true;
}

static void shaping_free(struct shaping *shaping)
{
    if (!shaping)
        return;
    free(shaping->sums);
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
    shaping->sums = calloc(set->made + 1, sizeof(*shaping->sums));
    if (session->estimate)
        shaping->estimated = malloc(sizeof(*shaping->estimated));
    if (!shaping->sums || (session->estimate && !shaping->estimated)) {
        shaping_free(shaping);
        return NULL;
    }
    for (size_t i = 0; i < set->made; i++)
        shaping->sums[i].shape.first_alloc = shaping->sums[i].shape.first_end = UINT64_MAX;
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
    sum->sizes += part->sizes;
    sum->replaced += part->replaced;
    for (size_t i = 0; i < SHAPE_POINTS; i++)
        sum->live[i] += part->live[i];
}

/* Takes the shapes of all threads, which lie in the first one. */
static bool take_shapes(struct session_group_set *set, const struct shaping *all,
                        struct session_error *error)
{
    set->shapes = malloc((set->made + 1) * sizeof(*set->shapes));
    if (!set->shapes)
        return session_fail_memory(error, "the measures of groups");
    for (size_t group = 0; group < set->made; group++) {
        struct group_shape *shape = &set->shapes[group];
        *shape = all->sums[group].shape;
        for (size_t i = 1; i < SHAPE_POINTS; i++)
            shape->live[i] += shape->live[i - 1];
    }
    return true;
}

bool group_find_shapes(struct session_group_set *set, struct session_error *error)
{
    struct shaping *contexts[SCAN_THREADS_MAX] = {NULL};
    const size_t threads = group_threads(set, set->made * sizeof(struct shape_sum));
    uint8_t *left = NULL;
    if (set->shapes)
        return true;
    bool good = group_left(set, &left, error);
    for (size_t i = 0; good && i < threads; i++) {
        contexts[i] = shaping_new(set);
        good = contexts[i] || session_fail_memory(error, "the measures of groups");
        if (good)
            contexts[i]->left = left;
    }
    good = good && (set->count == 0 || scan_chunks(set->session, set->rows.chunks, shape_chunk,
                                                   (void **)contexts, threads, error));
    for (size_t i = 1; good && i < threads; i++)
        for (size_t group = 0; group < set->made; group++)
            add_shape(&contexts[0]->sums[group].shape, &contexts[i]->sums[group].shape);
    good = good && contexts[0] && take_shapes(set, contexts[0], error);
    for (size_t i = 0; i < threads; i++)
        shaping_free(contexts[i]);
    free(left);
    return good;
}

uint64_t group_shape_rises(const struct group_shape *shape)
{
    uint64_t rises = 0;
    for (size_t i = 1; i < SHAPE_POINTS; i++)
        rises += shape->live[i] > shape->live[i - 1];
    return rises;
}
