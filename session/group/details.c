/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes the measures of groups that need more than one pass's sums: lives, sizes, estimates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/group/group_state.h"
#include "session/scan/estimate.h"

/* The details of one thread, and of a pass. */
struct detailing {
    const struct session_group_set *set;
    const uint8_t *left; /* by group: it is left; NULL: all are */
    struct group_detail *details;
    struct group_variance *variances; /* NULL: the session is not sampled */
    struct estimate_rows *estimated;  /* NULL: the session is not sampled */
    uint64_t peak_ns, end_ns;
    uint32_t peak_machine; /* 0: there is only one */
};

/* The columns of one chunk. */
struct detail_views {
    struct group_key_views keys;
    struct column_view size, bytes, counts, objects, began, life, thread;
};

/* The values of the rows of a batch. */
struct detail_values {
    uint32_t groups[KERNEL_ROWS];
    uint64_t size[KERNEL_ROWS], bytes[KERNEL_ROWS], counts[KERNEL_ROWS], objects[KERNEL_ROWS];
    uint64_t began[KERNEL_ROWS], life[KERNEL_ROWS], thread[KERNEL_ROWS];
};

static bool read_views(struct detailing *detailing, struct scan_worker *worker, uint32_t chunk,
                       struct detail_views *views, struct session_error *error)
{
    const struct session_group_set *set = detailing->set;
    const struct session *session = set->session;
    if (!group_keys_views(&set->keys, &set->rows, worker, chunk, &views->keys, error) ||
        !scan_column(worker, chunk, COLUMN_SIZE, &views->size, error) ||
        !scan_column(worker, chunk, COLUMN_COUNT_OF_OBJECTS, &views->objects, error) ||
        !scan_column(worker, chunk, COLUMN_ALLOC_NS, &views->began, error) ||
        !scan_column(worker, chunk, COLUMN_LIFE_NS, &views->life, error))
        return false;
    if (detailing->peak_machine != 0 &&
        !scan_column(worker, chunk, COLUMN_THREAD, &views->thread, error))
        return false;
    group_keys_reread(&set->keys, &views->keys, COLUMN_SIZE, &views->size);
    group_keys_reread(&set->keys, &views->keys, COLUMN_COUNT_OF_OBJECTS, &views->objects);
    group_keys_reread(&set->keys, &views->keys, COLUMN_LIFE_NS, &views->life);
    if (detailing->peak_machine != 0)
        group_keys_reread(&set->keys, &views->keys, COLUMN_THREAD, &views->thread);
    estimate_chunk(session->estimate, (uint64_t)chunk * COLUMN_CHUNK_ROWS, &views->size,
                   detailing->estimated, &views->bytes, &views->counts);
    return true;
}

uint32_t group_machine_of(const struct session *session, uint64_t thread)
{
    return session->names.process_machine[session->names.thread_process[thread]];
}

static void add_lifetime(struct group_detail *detail, uint64_t lifetime, uint64_t count)
{
    const unsigned __int128 sum =
        ((unsigned __int128)detail->lifetime_high << 64 | detail->lifetime_low) +
        (unsigned __int128)lifetime * count;
    detail->lifetime_low = (uint64_t)sum;
    detail->lifetime_high = (uint64_t)(sum >> 64);
}

static void add_variance(struct group_variance *variance, double weight, double size,
                         double objects, bool live, bool at_peak)
{
    const double each = weight * (weight - 1);
    variance->allocations += each;
    variance->bytes += each * size * size;
    variance->objects += each * objects * objects;
    variance->live_count += live ? each : 0;
    variance->live_bytes += live ? each * size * size : 0;
    variance->at_peak_bytes += at_peak ? each * size * size : 0;
}

static bool is_at_peak(const struct detailing *detailing, const struct detail_values *values,
                       size_t i)
{
    /* For life 0, life - 1 is the largest number. */
    if (values->began[i] > detailing->peak_ns ||
        values->life[i] - 1 <= detailing->peak_ns - values->began[i])
        return false;
    return detailing->peak_machine == 0 ||
           group_machine_of(detailing->set->session, values->thread[i]) == detailing->peak_machine;
}

static void add_row(struct detailing *detailing, const struct detail_values *values, size_t i)
{
    struct group_detail *detail = &detailing->details[values->groups[i]];
    const uint64_t size = values->size[i];
    const uint64_t count = values->counts[i];
    const bool live = values->life[i] == 0, at_peak = is_at_peak(detailing, values, i);
    const uint64_t lifetime = !live ? values->life[i] - 1
                              : detailing->end_ns > values->began[i]
                                  ? detailing->end_ns - values->began[i]
                                  : 0;
    detail->objects += values->objects[i] * count;
    detail->live_bytes += live ? values->bytes[i] : 0;
    detail->live_count += live ? count : 0;
    detail->at_peak_bytes += at_peak ? values->bytes[i] : 0;
    detail->min_size = size < detail->min_size ? size : detail->min_size;
    detail->max_size = size > detail->max_size ? size : detail->max_size;
    detail->min_lifetime = lifetime < detail->min_lifetime ? lifetime : detail->min_lifetime;
    detail->max_lifetime = lifetime > detail->max_lifetime ? lifetime : detail->max_lifetime;
    add_lifetime(detail, lifetime, count);
    if (detailing->variances)
        add_variance(&detailing->variances[values->groups[i]],
                     estimate_weight(detailing->set->session->estimate, size), (double)size,
                     (double)values->objects[i], live, at_peak);
}

static void add_batch(struct detailing *detailing, const struct detail_views *views,
                      struct kernel_rows *rows)
{
    struct detail_values values;
    group_of_batch(detailing->set, &views->keys, rows, values.groups);
    group_keep_left(detailing->left, rows, values.groups);
    kernel_take(&views->size, rows, values.size);
    kernel_take(&views->bytes, rows, values.bytes);
    kernel_take(&views->counts, rows, values.counts);
    kernel_take(&views->objects, rows, values.objects);
    kernel_take(&views->began, rows, values.began);
    kernel_take(&views->life, rows, values.life);
    if (detailing->peak_machine != 0)
        kernel_take(&views->thread, rows, values.thread);
    for (size_t i = 0; i < rows->count; i++) {
        /* Many groups do not fit into the cache: fetch one ahead of its turn. */
        if (i + 16 < rows->count) {
            const struct group_detail *soon = &detailing->details[values.groups[i + 16]];
            __builtin_prefetch(soon, 1);
            __builtin_prefetch((const char *)(soon + 1) - 1, 1);
        }
        add_row(detailing, &values, i);
    }
}

static bool detail_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                         struct session_error *error)
{
    struct detailing *detailing = context;
    const struct session_group_set *set = detailing->set;
    struct detail_views views;
    struct kernel_rows rows;
    if (row_set_chunk_empty(&set->rows, chunk))
        return true;
    if (!read_views(detailing, worker, chunk, &views, error))
        return false;
    KERNEL_EACH_BATCH(row_set_chunk(&set->rows, chunk), &rows)
    {
        add_batch(detailing, &views, &rows);
    }
    return true;
}

/* ---- the machine of the peak ---- */

/* The bytes of each machine that are live at the program's peak, of one thread. */
struct weighing {
    const struct session *session;
    const struct row_set *all;
    uint64_t *live; /* by machine */
    struct estimate_rows *estimated;
};

static bool weigh_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                        struct session_error *error)
{
    struct weighing *weighing = context;
    const struct session *session = weighing->session;
    struct column_view size, bytes, counts, began, life, thread, arena;
    if (!scan_column(worker, chunk, COLUMN_SIZE, &size, error) ||
        !scan_column(worker, chunk, COLUMN_ALLOC_NS, &began, error) ||
        !scan_column(worker, chunk, COLUMN_LIFE_NS, &life, error) ||
        !scan_column(worker, chunk, COLUMN_THREAD, &thread, error) ||
        !scan_column(worker, chunk, COLUMN_ARENA, &arena, error))
        return false;
    estimate_chunk(session->estimate, (uint64_t)chunk * COLUMN_CHUNK_ROWS, &size,
                   weighing->estimated, &bytes, &counts);
    for (size_t row = 0; row < size.rows; row++) {
        const uint64_t from = column_view_at(&began, row);
        if (from <= session->peak_ns && column_view_at(&life, row) - 1 > session->peak_ns - from &&
            column_view_at(&arena, row) == 0)
            weighing->live[group_machine_of(session, column_view_at(&thread, row))] +=
                column_view_at(&bytes, row);
    }
    return true;
}

bool group_peak_machine(struct session *session, uint32_t *machine, struct session_error *error)
{
    const struct names *names = &session->names;
    *machine = 0;
    if (names->machines < 2)
        return true;
    if (session->processes.selected != 0) {
        *machine = names->process_machine[session->processes.selected];
        return true;
    }
    struct weighing weighing = {.session = session};
    weighing.live = calloc((size_t)names->machines + 1, sizeof(*weighing.live));
    weighing.estimated = session->estimate ? malloc(sizeof(*weighing.estimated)) : NULL;
    void *contexts[] = {&weighing};
    bool good = (weighing.live && (weighing.estimated || !session->estimate)) ||
                session_fail_memory(error, "the groups");
    good = good && scan_chunks(session, column_store_chunks(session->columns), weigh_chunk,
                               contexts, 1, error);
    for (uint32_t i = 1; good && i <= names->machines; i++)
        *machine = *machine == 0 || weighing.live[i] > weighing.live[*machine] ? i : *machine;
    free(weighing.live);
    free(weighing.estimated);
    return good;
}

/* ---- threads ---- */

static void detailing_free(struct detailing *detailing)
{
    if (!detailing)
        return;
    free(detailing->details);
    free(detailing->variances);
    free(detailing->estimated);
    free(detailing);
}

enum { GROUPS_PER_LOOK = 1 << 16 };

/* Returns true to end a loop over groups. */
static bool is_cancelled(const struct session_group_set *set, size_t i)
{
    return i % GROUPS_PER_LOOK == 0 && scan_cancelled(set->session);
}

static struct detailing *detailing_new(const struct session_group_set *set, uint32_t machine)
{
    struct detailing *detailing = calloc(1, sizeof(*detailing));
    if (!detailing)
        return NULL;
    const bool sampled = set->session->estimate != NULL;
    detailing->set = set;
    detailing->peak_ns = set->session->peak_ns;
    detailing->end_ns = set->session->duration_ns;
    detailing->peak_machine = machine;
    detailing->details = calloc(set->made + 1, sizeof(*detailing->details));
    if (sampled) {
        detailing->variances = calloc(set->made + 1, sizeof(*detailing->variances));
        detailing->estimated = malloc(sizeof(*detailing->estimated));
    }
    if (!detailing->details || (sampled && (!detailing->variances || !detailing->estimated))) {
        detailing_free(detailing);
        return NULL;
    }
    /* Each page is new: many groups take their time. A cancel is noticed by the pass that follows.
     */
    for (size_t i = 0; i < set->made && !is_cancelled(set, i); i++) {
        detailing->details[i].min_size = UINT64_MAX;
        detailing->details[i].min_lifetime = UINT64_MAX;
    }
    return detailing;
}

static void add_detail(struct group_detail *sum, const struct group_detail *part)
{
    sum->objects += part->objects;
    sum->live_bytes += part->live_bytes;
    sum->live_count += part->live_count;
    sum->at_peak_bytes += part->at_peak_bytes;
    sum->min_size = part->min_size < sum->min_size ? part->min_size : sum->min_size;
    sum->max_size = part->max_size > sum->max_size ? part->max_size : sum->max_size;
    sum->min_lifetime =
        part->min_lifetime < sum->min_lifetime ? part->min_lifetime : sum->min_lifetime;
    sum->max_lifetime =
        part->max_lifetime > sum->max_lifetime ? part->max_lifetime : sum->max_lifetime;
    add_lifetime(sum, part->lifetime_low, 1);
    sum->lifetime_high += part->lifetime_high;
}

static void add_details(struct detailing *sum, const struct detailing *part)
{
    for (size_t i = 0; i < sum->set->made && !is_cancelled(sum->set, i); i++) {
        add_detail(&sum->details[i], &part->details[i]);
        if (sum->variances) {
            sum->variances[i].allocations += part->variances[i].allocations;
            sum->variances[i].bytes += part->variances[i].bytes;
            sum->variances[i].objects += part->variances[i].objects;
            sum->variances[i].live_count += part->variances[i].live_count;
            sum->variances[i].live_bytes += part->variances[i].live_bytes;
            sum->variances[i].at_peak_bytes += part->variances[i].at_peak_bytes;
        }
    }
}

bool group_find_details(struct session_group_set *set, struct session_error *error)
{
    struct detailing *contexts[SCAN_THREADS_MAX] = {NULL};
    const size_t threads = group_threads(
        set, set->made * (sizeof(struct group_detail) +
                          (set->session->estimate ? sizeof(struct group_variance) : 0)));
    uint32_t machine = 0;
    uint8_t *left = NULL;
    if (set->details)
        return true;
    bool good = group_left(set, &left, error) && group_peak_machine(set->session, &machine, error);
    for (size_t i = 0; good && i < threads; i++) {
        contexts[i] = detailing_new(set, machine);
        good = contexts[i] || session_fail_memory(error, "the measures of groups");
        if (good)
            contexts[i]->left = left;
    }
    good = good && (set->count == 0 || scan_chunks(set->session, set->rows.chunks, detail_chunk,
                                                   (void **)contexts, threads, error));
    for (size_t i = 1; good && i < threads; i++)
        add_details(contexts[0], contexts[i]);
    good = good && scan_go_on(set->session, error);
    if (good && contexts[0]) {
        set->details = contexts[0]->details;
        set->variances = contexts[0]->variances;
        contexts[0]->details = NULL;
        contexts[0]->variances = NULL;
    }
    for (size_t i = 0; i < threads; i++)
        detailing_free(contexts[i]);
    free(left);
    return good;
}
