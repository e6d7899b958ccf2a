/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/totals.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/stage.h"
#include "ingest/replay/totals_log.h"

/* ---- stack usage --------------------------------------------------------------------------- */

enum { FIRST_CAPACITY = 64 };

bool stack_usages_grow(struct stack_usages *usages, size_t count)
{
    size_t capacity = usages->capacity ? usages->capacity : FIRST_CAPACITY;
    while (capacity < count)
        capacity *= 2;
    if (capacity == usages->capacity)
        return true;
    const size_t added = capacity - usages->capacity;
    struct stack_sums *sums = aligned_alloc(sizeof(*sums), capacity * sizeof(*sums));
    struct stack_share *shares = !sums ? NULL : realloc(usages->shares, capacity * sizeof(*shares));
    if (!shares) {
        free(sums);
        return false;
    }
    if (usages->capacity != 0)
        memcpy(sums, usages->sums, usages->capacity * sizeof(*sums));
    memset(sums + usages->capacity, 0, added * sizeof(*sums));
    memset(shares + usages->capacity, 0, added * sizeof(*shares));
    free(usages->sums);
    usages->sums = sums;
    usages->shares = shares;
    usages->capacity = capacity;
    return true;
}

/* Copies the shares of stacks that have not changed since the peak, after the last event. */
static void stack_usages_finish(struct stack_usages *usages, uint64_t generation)
{
    for (size_t i = 0; i < usages->capacity; i++)
        stack_usages_settle(usages, i, generation);
}

struct stack_usage stack_usages_of(const struct stack_usages *usages, size_t stack)
{
    if (stack >= usages->capacity)
        return (struct stack_usage){0};
    const struct stack_sums *sums = &usages->sums[stack];
    const struct stack_share *share = &usages->shares[stack];
    return (struct stack_usage){
        .allocations = sums->allocations,
        .bytes = sums->bytes,
        .live_count = sums->live_count,
        .live_bytes = sums->live_bytes,
        .at_peak_count = share->count,
        .at_peak_bytes = share->bytes,
        .peak_bytes = sums->peak_bytes,
        .peak_ns = sums->peak_ns,
        .lifetime_ns = sums->lifetime_ns,
    };
}

/* Adds the usages of another machine (totals_join()). `largest`: its peak is the program's. False
 * if memory is exhausted. */
static bool stack_usages_join(struct stack_usages *sum, const struct stack_usages *part,
                              bool largest)
{
    if (!stack_usages_grow(sum, part->capacity))
        return false;
    for (size_t i = 0; i < sum->capacity; i++) {
        const struct stack_usage add = stack_usages_of(part, i);
        struct stack_sums *sums = &sum->sums[i];
        sums->allocations += add.allocations;
        sums->bytes += add.bytes;
        sums->live_count += add.live_count;
        sums->live_bytes += add.live_bytes;
        sums->lifetime_ns += add.lifetime_ns;
        if (largest)
            sum->shares[i] = (struct stack_share){add.at_peak_count, add.at_peak_bytes};
        if (add.peak_bytes > sums->peak_bytes) {
            sums->peak_bytes = add.peak_bytes;
            sums->peak_ns = add.peak_ns;
        }
    }
    return true;
}

void stack_usages_free_memory(struct stack_usages *usages)
{
    free(usages->sums);
    free(usages->shares);
    *usages = (struct stack_usages){0};
}

/* ---- type usage ---------------------------------------------------------------------------- */

/* Takes what is live now as the type's part of the peak, unless that was done since the peak. */
static void settle(struct type_usage *usage, uint64_t generation)
{
    if (usage->generation == generation)
        return;
    usage->generation = generation;
    usage->at_peak_count = usage->live_count;
    usage->at_peak_bytes = usage->live_bytes;
}

static struct type_usage *find(struct type_usages *usages, uint32_t type)
{
    if (!ARRAY_RESERVE(usages->rows, type, usages->capacity))
        return NULL;
    return &usages->rows[type];
}

bool type_usages_allocate(struct type_usages *usages, uint32_t type, uint64_t size,
                          const struct type_moment *now)
{
    struct type_usage *usage = find(usages, type);
    if (!usage)
        return false;
    settle(usage, now->generation);
    usage->allocations++;
    usage->bytes += size;
    usage->live_count++;
    usage->live_bytes += size;
    usage->last_allocation = now->order;
    if (usage->live_bytes > usage->peak_bytes) {
        usage->previous_peak = usage->peak_bytes;
        usage->peak_bytes = usage->live_bytes;
        usage->peak_order = now->order;
    }
    return true;
}

void type_usages_free(struct type_usages *usages, uint32_t type, uint64_t size,
                      const struct type_moment *now)
{
    struct type_usage *usage = &usages->rows[type];
    settle(usage, now->generation);
    usage->live_count--;
    usage->live_bytes -= size;
    usage->last_free = now->order;
}

/* Takes the block out of the largest live bytes of its former type. */
static void take_peak(struct type_usage *usage, uint64_t order)
{
    if (usage->peak_order < order)
        return;
    if (usage->peak_order > order) {
        usage->peak_unknown = true;
        return;
    }
    usage->peak_bytes = usage->previous_peak;
    usage->peak_order = order - 1; /* not known, but before this one */
}

/* Adds the block to the largest live bytes of its new type. */
static void give_peak(struct type_usage *usage, uint64_t order)
{
    if (usage->last_allocation > order || usage->last_free >= order)
        usage->peak_unknown = true;
    if (usage->live_bytes > usage->peak_bytes) {
        usage->previous_peak = usage->peak_bytes;
        usage->peak_bytes = usage->live_bytes;
        usage->peak_order = order;
    }
    if (usage->last_allocation < order)
        usage->last_allocation = order;
}

bool type_usages_rename(struct type_usages *usages, uint32_t type, uint32_t new_type, uint64_t size,
                        uint64_t order, const struct type_moment *now)
{
    if (type == new_type)
        return true;
    struct type_usage *to = find(usages, new_type);
    if (!to)
        return false;
    struct type_usage *from = &usages->rows[type];
    /* A share that is not copied yet follows from the live bytes. */
    const bool at_peak = now->peak_order >= order;
    if (!at_peak) {
        settle(from, now->generation);
        settle(to, now->generation);
    }
    if (at_peak && from->generation == now->generation) {
        from->at_peak_count--;
        from->at_peak_bytes -= size;
    }
    if (at_peak && to->generation == now->generation) {
        to->at_peak_count++;
        to->at_peak_bytes += size;
    }
    from->allocations--;
    from->bytes -= size;
    from->live_count--;
    from->live_bytes -= size;
    to->allocations++;
    to->bytes += size;
    to->live_count++;
    to->live_bytes += size;
    take_peak(from, order);
    give_peak(to, order);
    return true;
}

void type_usages_finish(struct type_usages *usages, uint64_t generation)
{
    for (size_t i = 0; i < usages->capacity; i++)
        settle(&usages->rows[i], generation);
}

bool type_usages_join(struct type_usages *sum, const struct type_usages *part, bool largest)
{
    if (part->capacity != 0 && !find(sum, (uint32_t)part->capacity - 1))
        return false;
    for (size_t i = 0; i < sum->capacity; i++) {
        static const struct type_usage none;
        const struct type_usage *add = i < part->capacity ? &part->rows[i] : &none;
        struct type_usage *row = &sum->rows[i];
        row->allocations += add->allocations;
        row->bytes += add->bytes;
        row->live_count += add->live_count;
        row->live_bytes += add->live_bytes;
        if (largest) {
            row->at_peak_count = add->at_peak_count;
            row->at_peak_bytes = add->at_peak_bytes;
        }
        if (add->peak_bytes > row->peak_bytes)
            row->peak_bytes = add->peak_bytes;
    }
    return true;
}

void type_usages_free_memory(struct type_usages *usages)
{
    free(usages->rows);
    *usages = (struct type_usages){0};
}

/* ---- totals -------------------------------------------------------------------------------- */

void totals_init(struct totals *totals, uint64_t duration_ns)
{
    memset(totals, 0, sizeof(*totals)); /* too large for a literal on the stack */
    totals->generation = 1;
    totals->slot_ns = duration_ns / TIMELINE_SLOTS + 1;
    totals->slot_end = totals->slot_ns;
    totals->slot_count = (size_t)(duration_ns / totals->slot_ns) + 1;
}

bool totals_sum_slots(struct totals *totals, uint64_t duration_ns, uint64_t events)
{
    if (events >= SLOT_FEWEST)
        totals->slot_sums = slot_sums_new(duration_ns, events);
    return events < SLOT_FEWEST || totals->slot_sums;
}

/* Joins two slots into one. `begun`: the second one has begun. */
static struct timeline_slot join_slots(const struct timeline_slot *first,
                                       const struct timeline_slot *second, bool begun)
{
    const struct timeline_slot *last = begun ? second : first;
    return (struct timeline_slot){
        .live_bytes = last->live_bytes,
        .live_count = last->live_count,
        .peak_bytes =
            first->peak_bytes > second->peak_bytes ? first->peak_bytes : second->peak_bytes,
        .allocated_bytes = first->allocated_bytes + second->allocated_bytes,
        .allocated_count = first->allocated_count + second->allocated_count,
        .freed_bytes = first->freed_bytes + second->freed_bytes,
        .freed_count = first->freed_count + second->freed_count,
    };
}

void totals_extend(struct totals *totals, uint64_t duration_ns)
{
    while (duration_ns / totals->slot_ns >= TIMELINE_SLOTS) {
        for (size_t i = 0; i < TIMELINE_SLOTS / 2; i++)
            totals->slots[i] = join_slots(&totals->slots[2 * i], &totals->slots[2 * i + 1],
                                          2 * i + 1 <= totals->slot);
        memset(&totals->slots[TIMELINE_SLOTS / 2], 0, sizeof(totals->slots) / 2);
        totals->slot /= 2;
        totals->slot_ns *= 2;
        totals->slot_end = (totals->slot + 1) * totals->slot_ns;
    }
    totals->slot_count = (size_t)(duration_ns / totals->slot_ns) + 1;
}

void totals_free_memory(struct totals *totals)
{
    stage_free(totals->stage);
    stack_usages_free_memory(&totals->stacks);
    free(totals->functions);
    type_usages_free_memory(&totals->types);
    slot_sums_delete(totals->slot_sums);
    free(totals->sizes);
    index_map_free(&totals->by_size);
    memset(totals, 0, sizeof(*totals));
}

/* Closes the slots that end at or before `ns`. */
static void advance_slot(struct totals *totals, uint64_t ns)
{
    while (ns >= totals->slot_end && totals->slot + 1 < totals->slot_count) {
        struct timeline_slot *slot = &totals->slots[totals->slot];
        slot->live_bytes = totals->live_bytes;
        slot->live_count = totals->live_count;
        totals->slots[++totals->slot].peak_bytes = totals->live_bytes;
        totals->slot_end += totals->slot_ns;
    }
}

/* Returns the row of a size, which it adds if it is new. NULL if memory is exhausted. */
static struct size_row *find_size(struct totals *totals, uint64_t size)
{
    const size_t small = sizeof(totals->small_sizes) / sizeof(*totals->small_sizes);
    if (size < small && totals->small_sizes[size] != 0)
        return &totals->sizes[totals->small_sizes[size] - 1];
    const uint64_t hash = hash_combine(hash_seed(), size);
    size_t probe = index_map_begin(&totals->by_size, hash);
    uint32_t index;
    while (size >= small && (index = index_map_next(&totals->by_size, hash, &probe)) != INDEX_NONE)
        if (totals->sizes[index].size == size)
            return &totals->sizes[index];
    if (totals->size_count >= INDEX_NONE ||
        !ARRAY_RESERVE(totals->sizes, totals->size_count, totals->size_capacity))
        return NULL;
    if (size < small)
        totals->small_sizes[size] = (uint32_t)totals->size_count + 1;
    else if (!index_map_insert(&totals->by_size, hash, (uint32_t)totals->size_count))
        return NULL;
    totals->sizes[totals->size_count] = (struct size_row){.size = size};
    return &totals->sizes[totals->size_count++];
}

static struct type_moment moment_of(const struct totals *totals)
{
    return (struct type_moment){totals->allocations, totals->generation, totals->peak_order};
}

static void settle_size(struct size_row *bin, uint64_t generation)
{
    if (bin->generation == generation)
        return;
    bin->generation = generation;
    bin->at_peak_count = bin->allocations - bin->frees;
}

static struct slot_event slot_event_of(const struct totals *totals,
                                       const struct totals_block *block, uint64_t ns)
{
    return (struct slot_event){
        .ns = ns,
        .address = block->address,
        .size = block->size,
        .function = block->function,
        .type = block->type,
        .live_bytes = totals->live_bytes,
    };
}

static bool count_allocation(struct totals *totals, const struct totals_block *block)
{
    const uint64_t size = block->size, ns = block->alloc_ns;
    const uint32_t id = block->function;
    struct size_row *bin = find_size(totals, size);
    if (!bin || !ARRAY_RESERVE(totals->functions, id, totals->function_capacity))
        return false;
    totals->allocations++;
    const struct type_moment now = moment_of(totals);
    if (!type_usages_allocate(&totals->types, block->type, size, &now))
        return false;
    advance_slot(totals, ns);
    if (!stack_usages_allocate(&totals->stacks, block->stack, totals->generation, size, ns))
        return false;
    struct function_usage *function = &totals->functions[id];
    function->live_bytes += size;
    if (function->live_bytes > function->peak_bytes)
        function->peak_bytes = function->live_bytes;
    settle_size(bin, totals->generation);
    bin->allocations++;
    totals->reallocs += block->of_realloc;
    totals->bytes += size;
    totals->live_count++;
    totals->live_bytes += size;
    if (totals->live_bytes > totals->peak_bytes) {
        totals->peak_bytes = totals->live_bytes;
        totals->peak_count = totals->live_count;
        totals->peak_ns = ns;
        totals->peak_order = totals->allocations;
        totals->generation++;
    }
    struct timeline_slot *slot = &totals->slots[totals->slot];
    slot->allocated_bytes += size;
    slot->allocated_count++;
    if (totals->live_bytes > slot->peak_bytes)
        slot->peak_bytes = totals->live_bytes;
    const struct slot_event event = slot_event_of(totals, block, ns);
    if (totals->log)
        totals_log_allocate(totals->log, block);
    return !totals->slot_sums || slot_sums_allocate(totals->slot_sums, &event);
}

static bool count_free(struct totals *totals, const struct totals_block *block, uint64_t ns,
                       uint64_t lifetime_ns, bool counted)
{
    const uint64_t size = block->size;
    const struct type_moment now = moment_of(totals);
    struct timeline_slot *slot;
    advance_slot(totals, ns);
    stack_usages_free(&totals->stacks, block->stack, totals->generation, size, lifetime_ns);
    type_usages_free(&totals->types, block->type, size, &now);
    struct function_usage *function = &totals->functions[block->function];
    function->live_bytes -= size;
    function->short_lived += lifetime_ns < SHORT_LIVED_NS;
    totals->live_count--;
    totals->live_bytes -= size;
    slot = &totals->slots[totals->slot];
    slot->freed_bytes += size;
    slot->freed_count++;
    struct size_row *bin = find_size(totals, size); /* not NULL: the allocation added the row */
    settle_size(bin, totals->generation);
    bin->frees++;
    totals->frees += counted;
    const struct slot_event event = slot_event_of(totals, block, ns);
    if (totals->log)
        totals_log_free(totals->log, block, ns, lifetime_ns, counted);
    return !totals->slot_sums || slot_sums_free(totals->slot_sums, &event);
}

static bool count_rename(struct totals *totals, const struct totals_block *block, uint32_t new_type)
{
    const struct type_moment now = moment_of(totals);
    if (totals->log)
        totals_log_rename(totals->log, block->order, new_type);
    return type_usages_rename(&totals->types, block->type, new_type, block->size, block->order,
                              &now) &&
           (!totals->slot_sums || slot_sums_rename(totals->slot_sums, block->type, new_type,
                                                   block->size, block->alloc_ns));
}

/* ---- the stage ----------------------------------------------------------------------------- */

/* The events of a batch: 256 KiB. */
enum { BATCH_EVENTS = 4096 };
/* The number of events from the prefetch of an event's sums to their use. */
enum { EVENTS_AHEAD = 8 };

struct totals_batch {
    size_t count;
    struct totals_event {
        struct totals_block block; /* alloc_ns of a free: the time of the free */
        uint64_t lifetime_ns;
        enum { ALLOCATE, FREE, FREE_UNCOUNTED, RENAME, KNOW_SIZE } call;
        uint32_t new_type;
    } events[BATCH_EVENTS];
};

static bool count_event(struct totals *totals, const struct totals_event *event)
{
    const struct totals_block *block = &event->block;
    switch (event->call) {
    case ALLOCATE:
        return count_allocation(totals, block);
    case FREE:
    case FREE_UNCOUNTED:
        return count_free(totals, block, block->alloc_ns, event->lifetime_ns, event->call == FREE);
    case RENAME:
        return count_rename(totals, block, event->new_type);
    case KNOW_SIZE:
        break;
    }
    return find_size(totals, block->size) != NULL;
}

static bool count_batch(void *context, void *filled)
{
    struct totals *totals = context;
    struct totals_batch *batch = filled;
    bool good = true;
    for (size_t i = 0; good && i < batch->count; i++) {
        if (i + EVENTS_AHEAD < batch->count)
            stack_usages_prefetch(&totals->stacks, batch->events[i + EVENTS_AHEAD].block.stack);
        good = count_event(totals, &batch->events[i]);
    }
    batch->count = 0;
    return good;
}

static bool call(struct totals *totals, const struct totals_event *event)
{
    struct totals_batch *batch = totals->batch;
    if (!totals->stage || !batch)
        return !totals->stage && count_event(totals, event);
    batch->events[batch->count++] = *event;
    if (batch->count == BATCH_EVENTS)
        totals->batch = stage_exchange(totals->stage, batch);
    return totals->batch != NULL;
}

bool totals_begin_stage(struct totals *totals)
{
    totals->stage = stage_new(sizeof(struct totals_batch), count_batch, totals);
    totals->batch = totals->stage ? stage_exchange(totals->stage, NULL) : NULL;
    return totals->batch != NULL;
}

/* Counts the last events. After that there is no stage. False if memory was exhausted. */
static bool end_stage(struct totals *totals)
{
    struct stage *stage = totals->stage;
    const bool good = !stage || (totals->batch && stage_work_now(stage, totals->batch));
    stage_free(stage);
    totals->stage = NULL;
    totals->batch = NULL;
    return good;
}

bool totals_allocate(struct totals *totals, const struct totals_block *block)
{
    return call(totals, &(struct totals_event){.block = *block, .call = ALLOCATE});
}

bool totals_free(struct totals *totals, const struct totals_block *block, uint64_t ns,
                 uint64_t lifetime_ns, bool counted)
{
    struct totals_event event = {
        .block = *block, .lifetime_ns = lifetime_ns, .call = counted ? FREE : FREE_UNCOUNTED};
    event.block.alloc_ns = ns;
    return call(totals, &event);
}

bool totals_rename(struct totals *totals, const struct totals_block *block, uint32_t new_type)
{
    return call(totals,
                &(struct totals_event){.block = *block, .call = RENAME, .new_type = new_type});
}

bool totals_know_size(struct totals *totals, uint64_t size)
{
    return call(totals, &(struct totals_event){.block.size = size, .call = KNOW_SIZE});
}

bool totals_finish_slots(struct totals *totals)
{
    return !totals->slot_sums || slot_sums_finish(totals->slot_sums, totals->allocations);
}

bool totals_finish(struct totals *totals)
{
    struct timeline_slot *last;
    const bool good = end_stage(totals);
    advance_slot(totals, UINT64_MAX);
    last = &totals->slots[totals->slot];
    last->live_bytes = totals->live_bytes;
    last->live_count = totals->live_count;
    stack_usages_finish(&totals->stacks, totals->generation);
    for (size_t i = 0; i < totals->size_count; i++)
        settle_size(&totals->sizes[i], totals->generation);
    type_usages_finish(&totals->types, totals->generation);
    return good;
}

static bool join_functions(struct totals *sum, const struct totals *part)
{
    if (!array_reserve(&sum->functions, &sum->function_capacity, part->function_capacity,
                       sizeof(*sum->functions)))
        return false;
    for (size_t i = 0; i < part->function_capacity; i++) {
        if (part->functions[i].peak_bytes > sum->functions[i].peak_bytes)
            sum->functions[i].peak_bytes = part->functions[i].peak_bytes;
        sum->functions[i].short_lived += part->functions[i].short_lived;
    }
    return true;
}

bool totals_join(struct totals *sum, const struct totals *part)
{
    bool largest = part->peak_bytes > sum->peak_bytes;
    for (size_t i = 0; largest && i < sum->size_count; i++)
        sum->sizes[i].at_peak_count = 0;
    for (size_t i = 0; i < part->size_count; i++) {
        struct size_row *row = find_size(sum, part->sizes[i].size);
        if (!row)
            return false;
        row->allocations += part->sizes[i].allocations;
        row->frees += part->sizes[i].frees;
        if (largest)
            row->at_peak_count = part->sizes[i].at_peak_count;
    }
    sum->allocations += part->allocations;
    sum->frees += part->frees;
    sum->reallocs += part->reallocs;
    sum->bytes += part->bytes;
    sum->live_bytes += part->live_bytes;
    sum->live_count += part->live_count;
    sum->slot_ns = part->slot_ns;
    if (largest) {
        sum->peak_bytes = part->peak_bytes;
        sum->peak_count = part->peak_count;
        sum->peak_ns = part->peak_ns;
    }
    return stack_usages_join(&sum->stacks, &part->stacks, largest) && join_functions(sum, part) &&
           type_usages_join(&sum->types, &part->types, largest);
}
