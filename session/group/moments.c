/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums up, by group, the blocks that are live at the end, at the program's peak and at a moment,
 * those that did not live long, and all lifetimes. Each thread has sums of its own: one line of the
 * cache for each group.
 */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/group_state.h"
#include "session/scan/estimate.h"
#include "session/stacks.h"

/* The sums of one thread, and what it looks for. */
struct looking {
    const struct session_group_set *set;
    struct group_moments *sums;      /* by group */
    struct estimate_rows *estimated; /* NULL: the session is not sampled */
    uint64_t at_ns, peak_ns, end_ns;
    uint32_t peak_machine; /* 0: there is only one */
};

struct looking_views {
    struct group_key_views keys;
    struct column_view size, bytes, counts, began, life, thread;
};

struct looking_values {
    uint32_t groups[KERNEL_ROWS];
    uint64_t bytes[KERNEL_ROWS], counts[KERNEL_ROWS];
    uint64_t began[KERNEL_ROWS], life[KERNEL_ROWS], thread[KERNEL_ROWS];
};

static bool read_views(struct looking *looking, struct scan_worker *worker, uint32_t chunk,
                       struct looking_views *views, struct session_error *error)
{
    const struct session_group_set *set = looking->set;
    const bool thread = looking->peak_machine != 0;
    if (!group_keys_views(&set->keys, &set->rows, worker, chunk, &views->keys, error) ||
        !scan_column(worker, chunk, COLUMN_SIZE, &views->size, error) ||
        !scan_column(worker, chunk, COLUMN_ALLOC_NS, &views->began, error) ||
        !scan_column(worker, chunk, COLUMN_LIFE_NS, &views->life, error) ||
        (thread && !scan_column(worker, chunk, COLUMN_THREAD, &views->thread, error)))
        return false;
    group_keys_reread(&set->keys, &views->keys, COLUMN_SIZE, &views->size);
    group_keys_reread(&set->keys, &views->keys, COLUMN_LIFE_NS, &views->life);
    if (thread)
        group_keys_reread(&set->keys, &views->keys, COLUMN_THREAD, &views->thread);
    estimate_chunk(set->session->estimate, (uint64_t)chunk * COLUMN_CHUNK_ROWS, &views->size,
                   looking->estimated, &views->bytes, &views->counts);
    return true;
}

/* Returns true if a block is live at a moment. Life 0 is never freed: life - 1 is then the largest
 * number. */
static bool is_live(uint64_t began, uint64_t life, uint64_t ns)
{
    return began <= ns && life - 1 > ns - began;
}

static void add_lifetimes(struct group_moments *sum, uint64_t lifetime, uint64_t count)
{
    uint64_t product;
    if (__builtin_mul_overflow(lifetime, count, &product) ||
        __builtin_add_overflow(sum->lifetime_ns, product, &sum->lifetime_ns))
        sum->lifetime_ns = UINT64_MAX;
}

static void add_row(const struct looking *looking, const struct looking_values *values, size_t i)
{
    struct group_moments *sum = &looking->sums[values->groups[i]];
    const uint64_t bytes = values->bytes[i], count = values->counts[i];
    const uint64_t began = values->began[i], life = values->life[i];
    if (life == 0) {
        sum->live_count += count;
        sum->live_bytes += bytes;
    }
    if (life - 1 < SESSION_SHORT_LIVED_NS)
        sum->short_count += count;
    if (is_live(began, life, looking->at_ns)) {
        sum->at_count += count;
        sum->at_bytes += bytes;
    }
    if (is_live(began, life, looking->peak_ns) &&
        (looking->peak_machine == 0 ||
         group_machine_of(looking->set->session, values->thread[i]) == looking->peak_machine)) {
        sum->at_peak_count += count;
        sum->at_peak_bytes += bytes;
    }
    const uint64_t to_end = looking->end_ns > began ? looking->end_ns - began : 0;
    add_lifetimes(sum, life == 0 ? to_end : life - 1, count);
}

static bool look_at_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                          struct session_error *error)
{
    struct looking *looking = context;
    const struct session_group_set *set = looking->set;
    struct looking_views views;
    struct looking_values values;
    struct kernel_rows rows;
    if (row_set_chunk_empty(&set->rows, chunk))
        return true;
    if (!read_views(looking, worker, chunk, &views, error))
        return false;
    KERNEL_EACH_BATCH(row_set_chunk(&set->rows, chunk), &rows)
    {
        group_of_batch(set, &views.keys, &rows, values.groups);
        kernel_take(&views.bytes, &rows, values.bytes);
        kernel_take(&views.counts, &rows, values.counts);
        kernel_take(&views.began, &rows, values.began);
        kernel_take(&views.life, &rows, values.life);
        if (looking->peak_machine != 0)
            kernel_take(&views.thread, &rows, values.thread);
        for (size_t i = 0; i < rows.count; i++) {
            if (i + 16 < rows.count)
                __builtin_prefetch(&looking->sums[values.groups[i + 16]], 1);
            add_row(looking, &values, i);
        }
    }
    return true;
}

static void add_sums(struct group_moments *sum, const struct group_moments *part)
{
    sum->live_count += part->live_count;
    sum->live_bytes += part->live_bytes;
    sum->at_peak_count += part->at_peak_count;
    sum->at_peak_bytes += part->at_peak_bytes;
    sum->short_count += part->short_count;
    sum->at_count += part->at_count;
    sum->at_bytes += part->at_bytes;
    add_lifetimes(sum, part->lifetime_ns, 1);
}

static void looking_free(struct looking *looking)
{
    if (!looking)
        return;
    free(looking->sums);
    free(looking->estimated);
    free(looking);
}

static struct looking *looking_new(const struct session_group_set *set, uint64_t at_ns,
                                   uint32_t machine)
{
    const bool sampled = set->session->estimate != NULL;
    struct looking *looking = calloc(1, sizeof(*looking));
    if (!looking)
        return NULL;
    looking->set = set;
    looking->at_ns = at_ns;
    looking->peak_ns = set->session->peak_ns;
    looking->end_ns = set->session->duration_ns;
    looking->peak_machine = machine;
    looking->sums = calloc(set->made + 1, sizeof(*looking->sums));
    looking->estimated = sampled ? malloc(sizeof(*looking->estimated)) : NULL;
    if (!looking->sums || (sampled && !looking->estimated)) {
        looking_free(looking);
        return NULL;
    }
    return looking;
}

bool group_find_moments(struct session_group_set *set, uint64_t at_ns,
                        struct group_moments **moments, struct session_error *error)
{
    struct looking *contexts[SCAN_THREADS_MAX] = {NULL};
    const size_t threads = group_threads(set, set->made * sizeof(struct group_moments));
    uint32_t machine = 0;
    bool good = group_peak_machine(set->session, &machine, error);
    for (size_t i = 0; good && i < threads; i++) {
        contexts[i] = looking_new(set, at_ns, machine);
        good = contexts[i] || session_fail_memory(error, "the sums by stack");
    }
    good = good && scan_chunks(set->session, set->rows.chunks, look_at_chunk, (void **)contexts,
                               threads, error);
    for (size_t i = 1; good && i < threads; i++)
        for (size_t group = 0; group < set->made; group++)
            add_sums(&contexts[0]->sums[group], &contexts[i]->sums[group]);
    if (good) {
        *moments = contexts[0]->sums;
        contexts[0]->sums = NULL;
    }
    for (size_t i = 0; i < threads; i++)
        looking_free(contexts[i]);
    return good;
}
