/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/trace/merge.h"

#include <stdlib.h>

#include "ingest/base/array.h"
#include "ingest/trace/cursor.h"

/*
 * The most bytes that open chunks may hold in total. A recorder leaves one chunk of 64 KiB open for
 * each running thread. Only a forged file in which all chunks begin at once comes near the limit.
 */
static const uint64_t open_bytes_limit = UINT64_C(4) << 30;

/* How many records are decoded before the first is given. */
enum { RECORDS_AHEAD = 16 };

/* One open chunk, positioned at its next event. */
struct run {
    struct trace_cursor cursor; /* positioned after the records ahead */
    struct ahead {
        struct trace_record record;
        uint64_t offset;
    } ahead[RECORDS_AHEAD];
    unsigned ahead_next, ahead_count;
    bool at_end;                       /* the cursor has no more records */
    uint32_t thread;                   /* of the records ahead */
    const struct trace_record *record; /* of the event */
    struct trace_extension extension;
    uint64_t key; /* ticks of the event */
    uint64_t offset;
    uint64_t carry;
    enum event_kind kind;
    bool second_half;
};

struct merge {
    const struct trace_file *file;
    struct order {
        const struct trace_slot *slot;
    } * order; /* the good slots, by base_ticks */
    size_t slot_count, next_slot;
    struct heap_entry {
        struct run *run;
    } * heap;
    size_t heap_count, heap_capacity, most_open;
    struct run *spare; /* a closed run, whose memory the next chunk uses again */
    uint64_t open_bytes, bytes_done;
    struct merge_watcher watcher;
    bool emitted;   /* the heap's first run has given its event */
    uint64_t limit; /* below this key the first run stays the first, and no chunk is due */
};

static bool before(const struct run *a, const struct run *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    if ((a->kind == EVENT_FREE) != (b->kind == EVENT_FREE))
        return a->kind == EVENT_FREE;
    return a->cursor.slot->number < b->cursor.slot->number;
}

static void sift_down(struct merge *merge, size_t at)
{
    struct run *run = merge->heap[at].run;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= merge->heap_count)
            break;
        if (child + 1 < merge->heap_count &&
            before(merge->heap[child + 1].run, merge->heap[child].run))
            child++;
        if (!before(merge->heap[child].run, run))
            break;
        merge->heap[at] = merge->heap[child];
        at = child;
    }
    merge->heap[at].run = run;
}

static void sift_up(struct merge *merge, size_t at)
{
    struct run *run = merge->heap[at].run;
    while (at > 0 && before(run, merge->heap[(at - 1) / 2].run)) {
        merge->heap[at] = merge->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    merge->heap[at].run = run;
}

/* Tells whether an extended record is an event. The first pass has read the others. */
static bool is_event(uint64_t type)
{
    return type >= TRACE_EXT_ARENA && type <= TRACE_EXT_LAST && type != TRACE_EXT_CLOCK;
}

/*
 * Decodes some more records. An extended record may change the thread and the coding state of the
 * records after it, so it is always the last one. False at the chunk's end.
 */
static bool decode_ahead(struct run *run, const struct merge_watcher *watcher)
{
    run->ahead_next = run->ahead_count = 0;
    run->thread = run->cursor.thread;
    while (run->ahead_count < RECORDS_AHEAD && !run->at_end) {
        struct ahead *ahead = &run->ahead[run->ahead_count];
        ahead->offset = trace_cursor_offset(&run->cursor);
        run->at_end = trace_cursor_next(&run->cursor, &ahead->record) != TRACE_GET_RECORD;
        if (run->at_end)
            break;
        run->ahead_count++;
        if (ahead->record.kind == TRACE_EXTENDED)
            break;
        if (watcher->expect)
            watcher->expect(watcher->context, &ahead->record);
    }
    for (size_t i = 0; watcher->approach && i < run->ahead_count; i++)
        if (run->ahead[i].record.kind != TRACE_EXTENDED)
            watcher->approach(watcher->context, &run->ahead[i].record);
    return run->ahead_count != 0;
}

/* Moves to the chunk's next event. False at its end. */
static bool advance(struct run *run, const struct merge_watcher *watcher)
{
    if (run->kind == EVENT_FREE && run->record->kind == TRACE_REALLOC && !run->second_half) {
        run->kind = EVENT_ALLOCATE;
        run->key = run->record->ticks;
        return run->second_half = true;
    }
    run->second_half = false;
    for (;;) {
        if (run->ahead_next == run->ahead_count && !decode_ahead(run, watcher))
            return false;
        const struct ahead *ahead = &run->ahead[run->ahead_next++];
        run->offset = ahead->offset;
        run->record = &ahead->record;
        switch (run->record->kind) {
        case TRACE_ALLOC:
        case TRACE_ALLOC_ATTR:
            run->kind = EVENT_ALLOCATE;
            run->key = run->record->ticks;
            return true;
        case TRACE_FREE:
        case TRACE_FREE_STACK:
            run->kind = EVENT_FREE;
            run->key = run->record->ticks;
            return true;
        case TRACE_REALLOC:
            if (run->record->outcome == TRACE_REALLOC_FAILED)
                continue;
            run->kind = EVENT_FREE;
            run->key = run->record->free_ticks;
            return true;
        case TRACE_EXTENDED:
            if (!is_event(run->record->extended.type) ||
                !trace_extension_get(run->record, run->cursor.coding.ticks, &run->extension))
                continue;
            run->kind = EVENT_EXTENDED;
            run->key = run->extension.when;
            return true;
        case TRACE_NODE:
            continue;
        }
    }
}

static void close_run(struct merge *merge, struct run *run)
{
    merge->open_bytes -= run->cursor.slot->available;
    merge->bytes_done += trace_file_header(merge->file)->chunk_size;
    trace_cursor_close(&run->cursor);
    free(merge->spare);
    merge->spare = run;
}

/* Opens the next chunk and puts it into the heap, if it has any event. */
static bool open_next(struct merge *merge, struct ingest_status *status)
{
    const struct trace_slot *slot = merge->order[merge->next_slot++].slot;
    struct run *run = merge->spare ? merge->spare : malloc(sizeof(*run));
    merge->spare = NULL;
    if (merge->open_bytes + slot->available > open_bytes_limit) {
        free(run);
        return ingest_fail(status, INGEST_BAD_INPUT,
                           "%s: more than 4 GiB of chunks begin before the first of them ends; no "
                           "recorder writes that, the trace is damaged",
                           trace_file_path(merge->file));
    }
    if (!run ||
        !array_reserve(&merge->heap, &merge->heap_capacity, merge->heap_count + 1,
                       sizeof(*merge->heap)) ||
        !trace_cursor_open(&run->cursor, merge->file, slot)) {
        free(run);
        return ingest_fail_memory(status, "the open chunks of the trace");
    }
    merge->open_bytes += slot->available;
    run->kind = EVENT_EXTENDED;
    run->second_half = false;
    run->at_end = false;
    run->ahead_next = run->ahead_count = 0;
    if (!advance(run, &merge->watcher)) {
        close_run(merge, run);
        return true;
    }
    merge->heap[merge->heap_count++].run = run;
    sift_up(merge, merge->heap_count - 1);
    if (merge->heap_count > merge->most_open)
        merge->most_open = merge->heap_count;
    return true;
}

static int compare_slots(const void *a, const void *b)
{
    const struct trace_slot *x = ((const struct order *)a)->slot;
    const struct trace_slot *y = ((const struct order *)b)->slot;
    if (x->base_ticks != y->base_ticks)
        return x->base_ticks < y->base_ticks ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

struct merge *merge_new(const struct trace_file *file, struct ingest_status *status)
{
    const struct trace_slot *slots;
    size_t count = trace_file_slots(file, &slots);
    struct merge *merge = calloc(1, sizeof(*merge));
    if (!merge || !(merge->order = malloc((count + 1) * sizeof(*merge->order)))) {
        free(merge);
        ingest_fail_memory(status, "the index of chunks");
        return NULL;
    }
    merge->file = file;
    for (size_t i = 0; i < count; i++)
        if (!slots[i].damage)
            merge->order[merge->slot_count++].slot = &slots[i];
    qsort(merge->order, merge->slot_count, sizeof(*merge->order), compare_slots);
    return merge;
}

void merge_watch(struct merge *merge, struct merge_watcher watcher)
{
    merge->watcher = watcher;
}

void merge_free(struct merge *merge)
{
    if (!merge)
        return;
    for (size_t i = 0; i < merge->heap_count; i++) {
        trace_cursor_close(&merge->heap[i].run->cursor);
        free(merge->heap[i].run);
    }
    free(merge->spare);
    free(merge->heap);
    free(merge->order);
    free(merge);
}

/*
 * Steps the run whose event was given, and keeps the heap in order. True if the run is still the
 * first, which is common: most programs stay with one thread for some events.
 */
static bool step(struct merge *merge)
{
    struct run *run = merge->heap[0].run;
    if (!advance(run, &merge->watcher)) {
        merge->heap[0] = merge->heap[--merge->heap_count];
        close_run(merge, run);
    } else if (run->key < merge->limit) {
        return true;
    }
    if (merge->heap_count > 1)
        sift_down(merge, 0);
    return false;
}

/* Returns the key up to which the first run stays the first. */
static uint64_t limit_of_first(const struct merge *merge)
{
    uint64_t limit = UINT64_MAX;
    if (merge->next_slot < merge->slot_count)
        limit = merge->order[merge->next_slot].slot->base_ticks;
    for (size_t child = 1; child < merge->heap_count && child <= 2; child++)
        if (merge->heap[child].run->key < limit)
            limit = merge->heap[child].run->key;
    return limit;
}

/* Brings the run with the next event to the front. False at the end, or with `status` set. */
static bool find_first(struct merge *merge, struct ingest_status *status)
{
    while (merge->next_slot < merge->slot_count &&
           (merge->heap_count == 0 ||
            merge->order[merge->next_slot].slot->base_ticks <= merge->heap[0].run->key))
        if (!open_next(merge, status))
            return false;
    merge->limit = limit_of_first(merge);
    return merge->heap_count != 0;
}

bool merge_next(struct merge *merge, struct trace_event *event, struct ingest_status *status)
{
    bool first_stays = merge->emitted && step(merge);
    merge->emitted = false;
    if (!first_stays && !find_first(merge, status))
        return false;
    struct run *run = merge->heap[0].run;
    event->kind = run->kind;
    event->of_realloc = run->record->kind == TRACE_REALLOC;
    event->thread = run->thread;
    event->ticks = run->key;
    event->coding_ticks = run->cursor.coding.ticks;
    event->offset = run->offset;
    event->record = run->record;
    event->extension = &run->extension;
    event->carry = &run->carry;
    return merge->emitted = true;
}

uint64_t merge_bytes_done(const struct merge *merge)
{
    return merge->bytes_done;
}

size_t merge_most_open(const struct merge *merge)
{
    return merge->most_open;
}
