/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/group/shape.h"

#include <stdlib.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/scan/estimate.h"

/* The sums of one group for each part of its shape. A session may have hundreds of thousands of
 * groups: small sums are what makes a pass fast. */

struct times {
    uint64_t first_alloc, last_alloc, first_end, last_end;
};

struct lives {
    uint64_t came[SHAPE_POINTS];
};

/* 40 bits count all rows that a session can have, as 24 count its chunks. */
struct steps {
    uint64_t rows : 40, chunk_before : 24; /* from 1: the chunk of the row before */
    uint64_t climbs : 40, row_before : 24; /* its place in the chunk */
    uint64_t size_before, began_before, end_before, end_before_that;
    uint64_t sizes, replaced;
};

/* The sums of one thread. */
struct shaping {
    const struct session_group_set *set;
    const struct shape_part *part;
    const uint8_t *left;            /* by group: it is left; NULL: all are */
    const uint32_t *place;          /* by group: its place in the sums */
    void *sums;                     /* of the groups that are left */
    struct estimate_rows estimated; /* if the session is sampled */
    uint64_t points[SHAPE_POINTS], end_ns;
};

struct shape_views {
    struct group_key_views keys;
    struct column_view size, bytes, counts, began, life, realloc_of;
};

/* A batch of rows, with the places of their groups. */
struct shape_rows {
    const struct shape_views *views;
    struct kernel_rows rows;
    uint32_t chunk, places[KERNEL_ROWS];
    uint64_t began[KERNEL_ROWS], life[KERNEL_ROWS], end[KERNEL_ROWS];
};

/* One part of the shape: how it is summed up. */
struct shape_part {
    size_t size;                       /* of a group's sums */
    bool sized, weighted, reallocated; /* it needs these columns */
    void (*add)(const struct shaping *shaping, const struct shape_rows *rows);
    /* Adds the sums of a group in one thread to its shape. */
    void (*take)(struct group_shape *shape, const void *sums, size_t place);
};

/* ---- when blocks came and went ---- */

static void add_times(const struct shaping *shaping, const struct shape_rows *rows)
{
    for (size_t i = 0; i < rows->rows.count; i++) {
        struct times *sum = (struct times *)shaping->sums + rows->places[i];
        const uint64_t began = rows->began[i], end = rows->end[i];
        /* The sums begin as 0, so the first times are kept as distances from the largest one. */
        const uint64_t before_began = UINT64_MAX - began, before_end = UINT64_MAX - end;
        sum->first_alloc = before_began > sum->first_alloc ? before_began : sum->first_alloc;
        sum->last_alloc = began > sum->last_alloc ? began : sum->last_alloc;
        sum->first_end = before_end > sum->first_end ? before_end : sum->first_end;
        sum->last_end = end > sum->last_end ? end : sum->last_end;
    }
}

static void take_times(struct group_shape *shape, const void *sums, size_t place)
{
    const struct times *sum = (const struct times *)sums + place;
    const uint64_t first_alloc = UINT64_MAX - sum->first_alloc;
    const uint64_t first_end = UINT64_MAX - sum->first_end;
    shape->first_alloc = first_alloc < shape->first_alloc ? first_alloc : shape->first_alloc;
    shape->last_alloc = sum->last_alloc > shape->last_alloc ? sum->last_alloc : shape->last_alloc;
    shape->first_end = first_end < shape->first_end ? first_end : shape->first_end;
    shape->last_end = sum->last_end > shape->last_end ? sum->last_end : shape->last_end;
}

/* ---- live bytes ---- */

/* Adds to the first point at or after `ns`; the sum up to a point is what is live there. */
static void add_from(const struct shaping *shaping, struct lives *sum, uint64_t ns, uint64_t bytes)
{
    size_t point = 0;
    for (size_t i = 0; i < SHAPE_POINTS; i++)
        point += shaping->points[i] < ns;
    if (point < SHAPE_POINTS)
        sum->came[point] += bytes;
}

static void add_lives(const struct shaping *shaping, const struct shape_rows *rows)
{
    uint64_t bytes[KERNEL_ROWS];
    kernel_take(&rows->views->bytes, &rows->rows, bytes);
    for (size_t i = 0; i < rows->rows.count; i++) {
        struct lives *sum = (struct lives *)shaping->sums + rows->places[i];
        add_from(shaping, sum, rows->began[i], bytes[i]);
        if (rows->life[i] != 0)
            add_from(shaping, sum, rows->end[i], (uint64_t)0 - bytes[i]);
    }
}

static void take_lives(struct group_shape *shape, const void *sums, size_t place)
{
    const struct lives *sum = (const struct lives *)sums + place;
    for (size_t i = 0; i < SHAPE_POINTS; i++)
        shape->came[i] += sum->came[i];
}

/* ---- steps ---- */

/*
 * Adds rows to the steps by which sizes climb: a row is larger than the row before, and realloc()
 * made it of that one, or it was allocated while that one was live and after the one before that
 * was freed. So a buffer grows: at most two of its blocks are live at once. If frees have stacks,
 * realloc() frees the old block before it allocates the new one.
 */
static void add_steps(const struct shaping *shaping, const struct shape_rows *rows)
{
    uint64_t sizes[KERNEL_ROWS], realloc_of[KERNEL_ROWS];
    kernel_take(&rows->views->size, &rows->rows, sizes);
    kernel_take(&rows->views->realloc_of, &rows->rows, realloc_of);
    const uint64_t first_id = (uint64_t)rows->chunk * COLUMN_CHUNK_ROWS + 1;
    for (size_t i = 0; i < rows->rows.count; i++) {
        struct steps *sum = (struct steps *)shaping->sums + rows->places[i];
        const uint64_t began = rows->began[i];
        const bool same_chunk = sum->chunk_before == rows->chunk + 1;
        const bool proven = realloc_of[i] != 0 && realloc_of[i] == first_id + sum->row_before;
        const bool inferred = sum->began_before <= began && sum->end_before >= began &&
                              sum->end_before != UINT64_MAX && sum->end_before_that <= began;
        if (same_chunk && sizes[i] > sum->size_before && (proven || inferred)) {
            sum->climbs++;
            sum->replaced += sum->size_before;
        }
        sum->rows++;
        sum->sizes += sizes[i];
        sum->end_before_that = same_chunk ? sum->end_before : 0;
        sum->chunk_before = (rows->chunk + 1) & 0xffffff;
        sum->row_before = (rows->rows.first + rows->rows.row[i]) & 0xffffff;
        sum->size_before = sizes[i];
        sum->began_before = began;
        sum->end_before = rows->life[i] != 0 ? rows->end[i] : UINT64_MAX;
    }
}

static void take_steps(struct group_shape *shape, const void *sums, size_t place)
{
    const struct steps *sum = (const struct steps *)sums + place;
    shape->rows += sum->rows;
    shape->climbs += sum->climbs;
    shape->sizes += sum->sizes;
    shape->replaced += sum->replaced;
}

/* ---- the pass ---- */

static bool read_views(struct shaping *shaping, struct scan_worker *worker, uint32_t chunk,
                       struct shape_views *views, struct session_error *error)
{
    const struct session_group_set *set = shaping->set;
    const struct shape_part *part = shaping->part;
    const bool sized = part->sized || part->weighted;
    if (!group_keys_views(&set->keys, &set->rows, worker, chunk, &views->keys, error) ||
        !scan_column(worker, chunk, COLUMN_ALLOC_NS, &views->began, error) ||
        !scan_column(worker, chunk, COLUMN_LIFE_NS, &views->life, error) ||
        (sized && !scan_column(worker, chunk, COLUMN_SIZE, &views->size, error)) ||
        (part->reallocated &&
         !scan_column(worker, chunk, COLUMN_REALLOC_OF, &views->realloc_of, error)))
        return false;
    if (sized)
        group_keys_reread(&set->keys, &views->keys, COLUMN_SIZE, &views->size);
    group_keys_reread(&set->keys, &views->keys, COLUMN_LIFE_NS, &views->life);
    if (part->weighted)
        estimate_chunk(set->session->estimate, (uint64_t)chunk * COLUMN_CHUNK_ROWS, &views->size,
                       &shaping->estimated, &views->bytes, &views->counts);
    return true;
}

/* Finds the places of the rows' groups, and the ends of their lives. */
static void add_batch(const struct shaping *shaping, struct shape_rows *rows)
{
    uint32_t groups[KERNEL_ROWS];
    group_of_batch(shaping->set, &rows->views->keys, &rows->rows, groups);
    group_keep_left(shaping->left, &rows->rows, groups);
    kernel_take(&rows->views->began, &rows->rows, rows->began);
    kernel_take(&rows->views->life, &rows->rows, rows->life);
    for (size_t i = 0; i < rows->rows.count; i++) {
        const uint64_t began = rows->began[i], life = rows->life[i];
        rows->end[i] = life != 0                 ? began + life - 1
                       : shaping->end_ns > began ? shaping->end_ns
                                                 : began;
        rows->places[i] = shaping->place[groups[i]];
        /* Many groups do not fit into the cache. */
        const char *soon = (const char *)shaping->sums + rows->places[i] * shaping->part->size;
        __builtin_prefetch(soon, 1);
        __builtin_prefetch(soon + shaping->part->size - 1, 1);
    }
    shaping->part->add(shaping, rows);
}

static bool shape_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                        struct session_error *error)
{
    struct shaping *shaping = context;
    const struct session_group_set *set = shaping->set;
    struct shape_views views;
    struct shape_rows rows = {.views = &views, .chunk = chunk};
    if (row_set_chunk_empty(&set->rows, chunk))
        return true;
    if (!read_views(shaping, worker, chunk, &views, error))
        return false;
    KERNEL_EACH_BATCH(row_set_chunk(&set->rows, chunk), &rows.rows)
    {
        add_batch(shaping, &rows);
    }
    return true;
}

static bool start(struct shaping *shaping, const struct session_group_set *set,
                  const struct shape_part *part)
{
    shaping->set = set;
    shaping->part = part;
    shaping->end_ns = set->session->duration_ns;
    for (uint64_t i = 0; i < SHAPE_POINTS; i++) {
        const uint64_t odd = 2 * i + 1, parts = 2 * (uint64_t)SHAPE_POINTS;
        shaping->points[i] = (uint64_t)((unsigned __int128)shaping->end_ns * odd / parts);
    }
    return (shaping->sums = calloc(set->count + 1, part->size)) != NULL;
}

/* Makes the shapes of all groups. */
static bool make_shapes(struct session_group_set *set, struct session_error *error)
{
    if (set->shapes)
        return true;
    set->shapes = calloc(set->made + 1, sizeof(*set->shapes));
    for (size_t i = 0; set->shapes && i < set->made; i++)
        set->shapes[i].first_alloc = set->shapes[i].first_end = UINT64_MAX;
    return set->shapes || session_fail_memory(error, "the measures of groups");
}

/* Returns the place of each group among those that are left. The caller frees it. */
static uint32_t *list_places(const struct session_group_set *set, struct session_error *error)
{
    uint32_t *place = calloc(set->made + 1, sizeof(*place));
    if (!place)
        session_fail_memory(error, "the measures of groups");
    for (size_t i = 0; place && i < set->count; i++)
        place[set->order[i]] = (uint32_t)i;
    return place;
}

static bool find_part(struct session_group_set *set, const struct shape_part *part,
                      struct session_error *error)
{
    const size_t threads = group_threads(set, set->count * part->size);
    struct scan_contexts contexts;
    uint8_t *left = NULL;
    if (!scan_contexts_open(set->session, &contexts, sizeof(struct shaping),
                            threads * sizeof(struct shaping), error))
        return false;
    uint32_t *place = list_places(set, error);
    bool good = place && group_left(set, &left, error) && make_shapes(set, error);
    for (size_t i = 0; good && i < contexts.threads; i++) {
        struct shaping *shaping = contexts.each[i];
        good = start(shaping, set, part) || session_fail_memory(error, "the measures of groups");
        shaping->left = left;
        shaping->place = place;
    }
    good = good && (set->count == 0 || scan_chunks(set->session, set->rows.chunks, shape_chunk,
                                                   contexts.each, contexts.threads, error));
    for (size_t i = 0; i < contexts.threads; i++) {
        const struct shaping *shaping = contexts.each[i];
        for (size_t at = 0; good && at < set->count; at++)
            part->take(&set->shapes[set->order[at]], shaping->sums, at);
        free(shaping->sums);
    }
    scan_contexts_close(&contexts);
    free(place);
    free(left);
    return good;
}

/* Finds a part if it is not known yet. */
static bool find_once(struct session_group_set *set, bool *known, const struct shape_part *part,
                      struct session_error *error)
{
    *known = *known || find_part(set, part, error);
    return *known;
}

bool group_find_times(struct session_group_set *set, struct session_error *error)
{
    static const struct shape_part part = {
        .size = sizeof(struct times), .add = add_times, .take = take_times};
    return find_once(set, &set->times_known, &part, error);
}

bool group_find_rises(struct session_group_set *set, struct session_error *error)
{
    static const struct shape_part part = {
        .size = sizeof(struct lives), .weighted = true, .add = add_lives, .take = take_lives};
    return find_once(set, &set->rises_known, &part, error);
}

bool group_find_steps(struct session_group_set *set, struct session_error *error)
{
    static const struct shape_part part = {.size = sizeof(struct steps),
                                           .sized = true,
                                           .reallocated = true,
                                           .add = add_steps,
                                           .take = take_steps};
    return find_once(set, &set->steps_known, &part, error);
}

uint64_t group_shape_rises(const struct group_shape *shape)
{
    uint64_t rises = 0;
    for (size_t i = 1; i < SHAPE_POINTS; i++)
        rises += (int64_t)shape->came[i] > 0;
    return rises;
}
