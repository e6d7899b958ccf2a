/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums a selection by stack. Without a split and for the usual sums each thread adds to tables that
 * stay in its cache (stack_sums.h), or those that ingest stored are there already. Otherwise the
 * stacks and what they are split by make a join (session/table), whose groups are the rows. */
#include <stdlib.h>
#include <string.h>

#include "session/stacks.h"
#include "session/store/error.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "session/store/summary.h"
#include "session/table/group_state.h"
#include "session/table/peaks.h"
#include "session/table/stack_sums.h"

/* Sums that lie anywhere are fetched so many rows ahead of their turn. */
enum { AHEAD = 64 };

enum { COUNT_BITS = 24, BYTE_BITS = 64 - COUNT_BITS };

/* Bytes and count of a stack in one number. */
#define PACKED(bytes) ((bytes) << COUNT_BITS | 1)
#define COUNT_OF(packed) ((packed) & ((UINT64_C(1) << COUNT_BITS) - 1))
#define BYTES_OF(packed) ((packed) >> COUNT_BITS)

enum { STACKS_PER_LOOK = 1 << 17 };

void stack_tables_empty(struct stack_tables *tables)
{
    struct stack_summing *summing = tables->summing;
    if (tables->rows == 0)
        return;
    pthread_mutex_lock(&summing->lock);
    for (uint32_t stack = 0; stack < summing->stacks; stack++) {
        struct stack_sum *sum = &summing->sums[stack];
        /* The caller looks again before it goes on, and drops the sums. */
        if (stack % STACKS_PER_LOOK == 0 && scan_cancelled(summing->session))
            break;
        if (tables->all[stack] == 0)
            continue;
        sum->bytes += BYTES_OF(tables->all[stack]);
        sum->count += COUNT_OF(tables->all[stack]);
        sum->live_bytes += BYTES_OF(tables->live[stack]);
        sum->live_count += COUNT_OF(tables->live[stack]);
        sum->at_peak_bytes += BYTES_OF(tables->at_peak[stack]);
        sum->at_peak_count += COUNT_OF(tables->at_peak[stack]);
        sum->short_lived += tables->short_lived[stack];
        tables->all[stack] = tables->live[stack] = tables->at_peak[stack] = 0;
        tables->short_lived[stack] = 0;
    }
    pthread_mutex_unlock(&summing->lock);
    tables->rows = tables->bytes = 0;
}

static bool is_at_peak(const struct stack_summing *summing, const struct stack_rows *taken,
                       size_t i)
{
    return kernel_is_live(taken->began[i], taken->life_ns[i], summing->peak_ns) &&
           (summing->peak_machine == 0 ||
            group_machine_of(summing->session, taken->thread[i]) == summing->peak_machine);
}

static void add_packed(struct stack_tables *tables, const struct stack_rows *taken)
{
    const size_t count = taken->rows.count;
    uint64_t *all = tables->all;
    for (size_t i = 0; i < count && i < AHEAD; i++)
        __builtin_prefetch(&all[taken->stack[i]], 1);
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch(&all[taken->stack[i + AHEAD]], 1);
        all[taken->stack[i]] += PACKED(taken->bytes[i]);
    }
    for (size_t i = 0; taken->short_lived && i < count; i++)
        tables->short_lived[taken->stack[i]]++;
    for (size_t i = 0; taken->life && i < count; i++) {
        if (taken->life_ns[i] - 1 < SESSION_SHORT_LIVED_NS)
            tables->short_lived[taken->stack[i]]++;
        if (taken->life_ns[i] == 0)
            tables->live[taken->stack[i]] += PACKED(taken->bytes[i]);
    }
    for (size_t i = 0; taken->peak && i < count; i++)
        if (is_at_peak(tables->summing, taken, i))
            tables->at_peak[taken->stack[i]] += PACKED(taken->bytes[i]);
}

/* Adds without tables. */
static void add_plain(struct stack_summing *summing, const struct stack_rows *taken)
{
    pthread_mutex_lock(&summing->lock);
    for (size_t i = 0; i < taken->rows.count; i++) {
        struct stack_sum *sum = &summing->sums[taken->stack[i]];
        const bool live = taken->life_ns[i] == 0;
        const bool at_peak = is_at_peak(summing, taken, i);
        sum->bytes += taken->bytes[i];
        sum->count += taken->counts[i];
        sum->live_bytes += live ? taken->bytes[i] : 0;
        sum->live_count += live ? taken->counts[i] : 0;
        sum->at_peak_bytes += at_peak ? taken->bytes[i] : 0;
        sum->at_peak_count += at_peak ? taken->counts[i] : 0;
        sum->short_lived += taken->life_ns[i] - 1 < SESSION_SHORT_LIVED_NS ? taken->counts[i] : 0;
    }
    pthread_mutex_unlock(&summing->lock);
}

/* Adds the rows of a sample, each of which represents a number of blocks. */
static void add_sampled(void *context, const struct chunk_rows *rows)
{
    struct stack_tables *tables = context;
    struct stack_rows taken;
    KERNEL_EACH_BATCH(rows->words, &taken.rows)
    {
        kernel_take(&rows->views[COLUMN_STACK], &taken.rows, taken.stack);
        kernel_take(&rows->views[COLUMN_ALLOC_NS], &taken.rows, taken.began);
        kernel_take(&rows->views[COLUMN_LIFE_NS], &taken.rows, taken.life_ns);
        kernel_take(&rows->bytes, &taken.rows, taken.bytes);
        kernel_take(&rows->counts, &taken.rows, taken.counts);
        if (tables->summing->peak_machine != 0)
            kernel_take(&rows->views[COLUMN_THREAD], &taken.rows, taken.thread);
        add_plain(tables->summing, &taken);
    }
}

void stack_rows_look(const struct stack_summing *summing, const struct column_store *store,
                     uint32_t chunk, struct stack_rows *rows)
{
    const uint64_t peak_ns = summing->peak_ns;
    const uint64_t least = column_store_min(store, chunk, COLUMN_LIFE_NS);
    const uint64_t most = column_store_max(store, chunk, COLUMN_LIFE_NS);
    rows->huge =
        column_store_max(store, chunk, COLUMN_SIZE) >= (UINT64_C(1) << BYTE_BITS) / KERNEL_ROWS;
    rows->peak = rows->huge || (column_store_min(store, chunk, COLUMN_ALLOC_NS) <= peak_ns &&
                                column_store_last_free(store, chunk) > peak_ns);
    rows->short_lived = least > 0 && most - 1 < SESSION_SHORT_LIVED_NS;
    rows->life =
        rows->huge || least == 0 || (!rows->short_lived && least - 1 < SESSION_SHORT_LIVED_NS);
}

/* Adds the rows by tables, or without them if they are too large. */
void stack_tables_add(struct stack_tables *tables, struct stack_rows *rows)
{
    const uint64_t bytes = kernel_sum(rows->bytes, rows->rows.count);
    if (rows->huge) {
        for (size_t i = 0; i < rows->rows.count; i++)
            rows->counts[i] = 1;
        add_plain(tables->summing, rows);
        return;
    }
    if (tables->rows + rows->rows.count >= UINT64_C(1) << COUNT_BITS ||
        tables->bytes + bytes >= UINT64_C(1) << BYTE_BITS)
        stack_tables_empty(tables);
    add_packed(tables, rows);
    tables->rows += rows->rows.count;
    tables->bytes += bytes;
}

static bool add_chunk(void *context, struct scan_worker *worker, uint32_t chunk,
                      struct session_error *error)
{
    struct stack_tables *tables = context;
    const struct row_set *set = tables->summing->set;
    struct column_view stack, size, begin, life, thread;
    struct stack_rows taken;
    if (row_set_chunk_empty(set, chunk))
        return true;
    stack_rows_look(tables->summing, scan_session(worker)->columns, chunk, &taken);
    const bool machines = taken.peak && tables->summing->peak_machine != 0;
    if (!scan_column(worker, chunk, COLUMN_STACK, &stack, error) ||
        !scan_column(worker, chunk, COLUMN_SIZE, &size, error) ||
        (taken.peak && !scan_column(worker, chunk, COLUMN_ALLOC_NS, &begin, error)) ||
        (machines && !scan_column(worker, chunk, COLUMN_THREAD, &thread, error)) ||
        ((taken.peak || taken.life) && !scan_column(worker, chunk, COLUMN_LIFE_NS, &life, error)))
        return false;
    KERNEL_EACH_BATCH(row_set_chunk(set, chunk), &taken.rows)
    {
        kernel_take(&stack, &taken.rows, taken.stack);
        kernel_take(&size, &taken.rows, taken.bytes);
        if (taken.peak)
            kernel_take(&begin, &taken.rows, taken.began);
        if (taken.peak || taken.life)
            kernel_take(&life, &taken.rows, taken.life_ns);
        if (machines)
            kernel_take(&thread, &taken.rows, taken.thread);
        stack_tables_add(tables, &taken);
    }
    return true;
}

size_t stack_tables_size(const struct stack_summing *summing)
{
    return summing->stacks * (3 * sizeof(uint64_t) + sizeof(uint32_t));
}

void stack_tables_place(struct stack_tables *tables, struct stack_summing *summing, void *memory)
{
    const size_t stacks = summing->stacks;
    tables->summing = summing;
    tables->all = memory;
    tables->live = tables->all + stacks;
    tables->at_peak = tables->live + stacks;
    tables->short_lived = (uint32_t *)(tables->at_peak + stacks);
}

static bool sum_stacks(struct selection *selection, struct stack_summing *summing,
                       struct session_error *error)
{
    const size_t size = sizeof(struct stack_tables) + stack_tables_size(summing);
    struct scan_contexts contexts;
    if (!scan_contexts_open(selection->session, &contexts, size, (size_t)64 << 20, error))
        return false;
    for (size_t i = 0; i < contexts.threads; i++) {
        struct stack_tables *tables = contexts.each[i];
        stack_tables_place(tables, summing, tables + 1);
    }
    bool good = selection->session->estimate
                    ? scan_each_chunk(selection->session, &selection->set,
                                      COLUMN_BIT(COLUMN_SIZE) | COLUMN_BIT(COLUMN_ALLOC_NS) |
                                          COLUMN_BIT(COLUMN_LIFE_NS) | COLUMN_BIT(COLUMN_STACK) |
                                          COLUMN_BIT(COLUMN_THREAD),
                                      add_sampled, contexts.each, contexts.threads, error)
                    : scan_chunks(selection->session, selection->set.chunks, add_chunk,
                                  contexts.each, contexts.threads, error);
    for (size_t i = 0; good && i < contexts.threads; i++) {
        stack_tables_empty(contexts.each[i]);
        good = scan_go_on(selection->session, error);
    }
    scan_contexts_close(&contexts);
    return good;
}

bool stack_summing_open(struct stack_summing *summing, const struct selection *selection,
                        struct session_error *error)
{
    *summing = (struct stack_summing){.stacks = selection->session->stacks.count,
                                      .session = selection->session,
                                      .set = &selection->set,
                                      .peak_ns = selection->session->peak_ns};
    if (!(summing->sums = calloc(summing->stacks, sizeof(*summing->sums))))
        return session_fail_memory(error, "the sums by stack");
    if (!group_peak_machine(selection->session, &summing->peak_machine, error)) {
        free(summing->sums);
        return false;
    }
    pthread_mutex_init(&summing->lock, NULL);
    return true;
}

void stack_summing_close(struct stack_summing *summing, struct selection *selection, bool good)
{
    if (good)
        selection->stack_sums = summing->sums;
    else
        free(summing->sums);
    pthread_mutex_destroy(&summing->lock);
}

bool selection_sum_stacks(struct selection *selection, struct session_error *error)
{
    struct stack_summing summing;
    if (selection->stack_sums)
        return true;
    if (stack_summing_open(&summing, selection, error))
        stack_summing_close(&summing, selection, sum_stacks(selection, &summing, error));
    return selection->stack_sums != NULL;
}

const struct stack_sum *selection_stack_sums(struct selection *selection,
                                             struct session_error *error)
{
    if (!selection->stack_sums && selection->session->expected &&
        !selection->session->expected(selection, error))
        return NULL;
    return selection_sum_stacks(selection, error) ? selection->stack_sums : NULL;
}

/* ---- sums of the selection ---- */

static bool selected_stacks(struct selection *selection, bool at_peak,
                            struct session_stack_sums **rows, size_t *count,
                            struct session_error *error)
{
    const struct stack_sum *sums = selection_stack_sums(selection, error);
    const uint32_t stacks = selection->session->stacks.count;
    size_t used = 0;
    if (!sums)
        return false;
    for (uint32_t stack = 0; stack < stacks; stack++)
        used += sums[stack].count > 0;
    *rows = large_memory((used + 1) * sizeof(**rows));
    if (!*rows)
        return session_fail_memory(error, "the sums by stack");
    *count = 0;
    for (uint32_t stack = 0; stack < stacks; stack++) {
        const struct stack_sum *sum = &sums[stack];
        if (sum->count == 0)
            continue;
        (*rows)[(*count)++] =
            (struct session_stack_sums){.stack = stack,
                                        .allocations = sum->count,
                                        .bytes = sum->bytes,
                                        .live_count = sum->live_count,
                                        .live_bytes = sum->live_bytes,
                                        .at_peak_count = at_peak ? sum->at_peak_count : 0,
                                        .at_peak_bytes = at_peak ? sum->at_peak_bytes : 0,
                                        .short_count = sum->short_lived};
    }
    return true;
}

/* ---- joins ---- */

/* The keys of a join: the stack, and what it is split by. */
static const struct {
    unsigned bit;
    enum filter_field field;
} splits[] = {
    {STACKS_BY_TYPE, FIELD_TYPE},       {STACKS_BY_THREAD, FIELD_THREAD},
    {STACKS_BY_ARENA, FIELD_ARENA},     {STACKS_BY_SIZE, FIELD_SIZE},
    {STACKS_BY_PROCESS, FIELD_PROCESS},
};
enum { SPLITS = sizeof(splits) / sizeof(splits[0]) };

/* Makes the groups, with the sums that are asked for. */
static struct session_group_set *join_stacks(struct selection *selection,
                                             const struct session_stacks_options *options,
                                             struct session_error *error)
{
    struct filter_field_use keys[SPLITS + 1] = {{.field = FIELD_STACK}};
    size_t count = 1;
    const struct sums_query also = {.parts = SUMS_BIT(SUMS_LIVE) |
                                             (options->without_short ? 0 : SUMS_BIT(SUMS_SHORT)) |
                                             (options->at_peak ? SUMS_BIT(SUMS_AT_PEAK) : 0) |
                                             (options->at ? SUMS_BIT(SUMS_AT) : 0) |
                                             (options->lifetimes ? SUMS_BIT(SUMS_LIFETIMES) : 0),
                                    .everything = selection->everything,
                                    .at_ns = options->at_ns};
    struct row_set set;
    for (size_t i = 0; i < SPLITS; i++)
        if ((options->split & splits[i].bit) != 0)
            keys[count++].field = splits[i].field;
    if (!row_set_start(&set, selection->session->columns, false, error))
        return NULL;
    memcpy(set.words, selection->set.words,
           (size_t)set.chunks * ROW_SET_WORDS * sizeof(*set.words));
    return group_join_plain(selection->session, &set, &selection->colors, keys, count, &also,
                            error);
}

/* Stores what a group is: its stack and the values of what it is split by. */
static void take_keys(const struct session_group_set *set, uint32_t group,
                      struct session_stack_sums *sums)
{
    const struct names *names = &set->session->names;
    for (size_t i = 0; i < set->keys.part_count; i++) {
        const struct group_part *part = &set->keys.parts[i];
        const uint64_t value = group_value(set, group, part->dimension);
        switch (part->field) {
        case FIELD_STACK:
            sums->stack = (uint32_t)value;
            break;
        case FIELD_TYPE:
            sums->type = (uint32_t)value;
            break;
        case FIELD_THREAD:
            sums->thread = (uint32_t)value;
            break;
        case FIELD_ARENA:
            sums->arena = (uint32_t)value;
            break;
        case FIELD_PROCESS:
            sums->process = names->thread_process[value];
            break;
        default:
            sums->size = value;
        }
    }
}

#define COMPARE(field)                                                                             \
    if (a->field != b->field)                                                                      \
    return a->field < b->field ? -1 : 1

static int compare_rows(const void *left, const void *right)
{
    const struct session_stack_sums *a = left, *b = right;
    COMPARE(stack);
    COMPARE(type);
    COMPARE(thread);
    COMPARE(arena);
    COMPARE(process);
    COMPARE(size);
    return 0;
}

static void take_parts(const struct session_group_set *set, uint32_t group, bool at_peak,
                       struct session_stack_sums *sums)
{
    const uint64_t *words = group_words(set, group, SUMS_LIVE);
    sums->live_count = words[0];
    sums->live_bytes = words[1];
    if (set->part[SUMS_SHORT].words)
        sums->short_count = group_words(set, group, SUMS_SHORT)[0];
    if (at_peak) {
        words = group_words(set, group, SUMS_AT_PEAK);
        sums->at_peak_count = words[0];
        sums->at_peak_bytes = words[1];
    }
    if (set->part[SUMS_AT].words) {
        words = group_words(set, group, SUMS_AT);
        sums->at_count = words[0];
        sums->at_bytes = words[1];
    }
    if (set->part[SUMS_LIFETIMES].words)
        sums->lifetime_ns = sums_lifetime(group_words(set, group, SUMS_LIFETIMES));
}

static bool joined_stacks(struct selection *selection, const struct session_stacks_options *options,
                          struct session_stack_sums **rows, size_t *count,
                          struct session_error *error)
{
    struct session_group_set *set = join_stacks(selection, options, error);
    struct peak *peaks = NULL;
    bool good = set && (!options->own_peaks || group_find_own_peaks(set, &peaks, error));
    if (good) {
        *rows = large_memory((set->made + 1) * sizeof(**rows));
        good = *rows || session_fail_memory(error, "the sums by stack");
    }
    for (uint32_t group = 0; good && group < set->made; group++) {
        struct session_stack_sums *sums = &(*rows)[group];
        *sums = (struct session_stack_sums){.allocations = set->sums[group].allocations,
                                            .bytes = set->sums[group].bytes};
        take_keys(set, group, sums);
        take_parts(set, group, options->at_peak, sums);
        if (peaks) {
            sums->own_peak_bytes = peaks[group].bytes;
            sums->own_peak_count = peaks[group].count;
        }
    }
    if (good) {
        *count = set->made;
        if (options->split != 0)
            qsort(*rows, *count, sizeof(**rows), compare_rows);
    }
    free(peaks);
    session_groups_free(set);
    return good;
}

bool selection_stacks(struct selection *selection, const struct session_stacks_options *options,
                      struct session_stack_sums **rows, size_t *count, struct session_error *error)
{
    struct session *session = selection->session;
    /* The sums by stack do not know machines. */
    const bool usual = options->split == 0 && !options->at && !options->own_peaks &&
                       !options->lifetimes && session->names.machines == 1;
    const bool stored = options->without_short && !selection->stack_sums && selection->everything &&
                        summary_answers(session);
    return usual && !stored ? selected_stacks(selection, options->at_peak, rows, count, error)
                            : joined_stacks(selection, options, rows, count, error);
}

/* ---- short-lived blocks ----------------------------------------------------------------- */

bool selection_short_lived(struct selection *selection, uint64_t **by_stack,
                           struct session_error *error)
{
    const uint32_t stacks = selection->session->stacks.count;
    const struct sums_query query = {
        .parts = SUMS_BIT(SUMS_SHORT), .cells = stacks, .columns = COLUMN_BIT(COLUMN_STACK)};
    struct sums sums = {.count = 0};
    if (!selection->stack_sums &&
        !sums_find(selection->session, &selection->set, &query, &sums, error))
        return false;
    if (!selection->stack_sums) {
        *by_stack = sums.words;
        return true;
    }
    *by_stack = calloc((size_t)stacks + 1, sizeof(**by_stack));
    for (uint32_t stack = 0; *by_stack && stack < stacks; stack++)
        (*by_stack)[stack] = selection->stack_sums[stack].short_lived;
    return *by_stack || session_fail_memory(error, "the sums by stack");
}
