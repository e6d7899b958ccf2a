/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/trace/merge.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "schemas/array.h"

/* The most bytes that open chunks may hold in total. A recorder leaves 64 KiB open for each running
 * thread: only a forged file comes near the limit. */
static const uint64_t open_bytes_limit = UINT64_C(4) << 30;

/* The number of records that are decoded before the first is given. */
enum { RECORDS_AHEAD = 16 };

/* One open chunk, positioned at its next event. */
struct run {
    struct trace_cursor cursor; /* positioned after the records ahead */
    struct ahead {
        struct trace_record record;
        uint64_t offset;
    } ahead[RECORDS_AHEAD];
    unsigned ahead_next, ahead_count;
    const bool *closed;                /* of its merge_chunk */
    bool at_end;                       /* the cursor will have no more records */
    uint32_t bytes;                    /* that it adds to open_bytes */
    uint32_t thread;                   /* of the records ahead */
    const struct trace_record *record; /* of the event */
    struct trace_extension extension;
    uint64_t key; /* ticks of the event */
    uint64_t offset, carry;
    enum event_kind kind;
    bool second_half;
};

struct merge {
    const struct trace_file *file;
    struct merge_chunk *chunks; /* by base_ticks */
    size_t chunk_count, chunk_capacity, next_chunk;
    struct heap_entry {
        struct run *run;
    } * heap;
    size_t heap_count, heap_capacity, most_open;
    struct heap_entry *waiting; /* runs without a committed event, whose chunks may gain one */
    size_t waiting_count, waiting_capacity;
    struct run *spare; /* a closed run, whose memory the next chunk uses again */
    uint64_t open_bytes, bytes_done;
    struct merge_watcher watcher;
    bool emitted;   /* the heap's first run has given its event */
    bool exhausted; /* memory is */
    uint64_t last;  /* the highest key that may be given */
    uint64_t limit; /* below this key the first run stays the first, and no chunk is due */
};

static const bool whole_chunk = true;

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

/* Returns true if an extended record is an event. The first pass has read the others. References
 * are none: their chunks begin long after the moment that they tell of. */
static bool is_event(uint64_t type)
{
    return type >= TRACE_EXT_ARENA && type < TRACE_EXT_REFERENCES && type != TRACE_EXT_CLOCK;
}

/* Reads the bytes that the chunk has gained. This frees the payloads of the records before, but no
 * record ahead has one. False if there are none. */
static bool read_more(struct merge *merge, struct run *run)
{
    size_t had = (size_t)(run->cursor.end - run->cursor.bytes);
    if (had >= run->cursor.slot->available)
        return false;
    if (!trace_cursor_extend(&run->cursor, merge->file)) {
        merge->exhausted = true;
        return false;
    }
    return run->cursor.end > run->cursor.bytes + had;
}

/* Decodes some more records. One with a payload may change the thread and the coding state of the
 * records after it, so it is always the last one. False if no more are committed. */
static bool decode_ahead(struct merge *merge, struct run *run)
{
    const struct merge_watcher *watcher = &merge->watcher;
    run->ahead_next = run->ahead_count = 0;
    run->thread = run->cursor.thread;
    while (run->ahead_count < RECORDS_AHEAD && !run->at_end) {
        struct ahead *ahead = &run->ahead[run->ahead_count];
        ahead->offset = trace_cursor_offset(&run->cursor);
        enum trace_get got = trace_cursor_next(&run->cursor, &ahead->record);
        if (got == TRACE_GET_END && read_more(merge, run))
            continue;
        if (got != TRACE_GET_RECORD) {
            run->at_end = got == TRACE_GET_DAMAGED || *run->closed;
            break;
        }
        run->ahead_count++;
        if (trace_record_has_payload(&ahead->record))
            break;
        if (watcher->prefetch)
            watcher->prefetch(watcher->context, &ahead->record);
    }
    for (size_t i = 0; watcher->prefetch_next && i < run->ahead_count; i++)
        if (!trace_record_has_payload(&run->ahead[i].record))
            watcher->prefetch_next(watcher->context, &run->ahead[i].record);
    return run->ahead_count != 0;
}

/* Moves to the chunk's next event. False if none is committed. */
static bool advance(struct merge *merge, struct run *run)
{
    if (run->kind == EVENT_FREE && run->record->kind == TRACE_REALLOC && !run->second_half) {
        run->kind = EVENT_ALLOCATE;
        run->key = run->record->ticks;
        return run->second_half = true;
    }
    run->second_half = false;
    for (;;) {
        if (run->ahead_next == run->ahead_count && !decode_ahead(merge, run)) {
            run->kind = EVENT_EXTENDED; /* the last record has no other half */
            return false;
        }
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
    merge->open_bytes -= run->bytes;
    merge->bytes_done += trace_file_header(merge->file)->chunk_size;
    trace_cursor_close(&run->cursor);
    free(merge->spare);
    merge->spare = run;
}

/* Keeps a run that has no event now, if its chunk may gain one, and closes it otherwise. */
static void leave_heap(struct merge *merge, struct run *run)
{
    if (run->at_end)
        close_run(merge, run);
    else
        merge->waiting[merge->waiting_count++].run = run;
}

static void enter_heap(struct merge *merge, struct run *run)
{
    merge->heap[merge->heap_count++].run = run;
    sift_up(merge, merge->heap_count - 1);
    if (merge->heap_count > merge->most_open)
        merge->most_open = merge->heap_count;
}

/* Makes room for one more run, in the heap or among those that wait. */
static bool reserve_run(struct merge *merge)
{
    size_t runs = merge->heap_count + merge->waiting_count + 1;
    return array_reserve(&merge->heap, &merge->heap_capacity, runs, sizeof(*merge->heap)) &&
           array_reserve(&merge->waiting, &merge->waiting_capacity, runs, sizeof(*merge->waiting));
}

/* Opens the next chunk and puts it into the heap, if it has any event. */
static bool open_next(struct merge *merge, struct ingest_status *status)
{
    const struct merge_chunk *chunk = &merge->chunks[merge->next_chunk++];
    struct run *run = merge->spare ? merge->spare : malloc(sizeof(*run));
    merge->spare = NULL;
    if (merge->open_bytes + chunk->slot->available > open_bytes_limit) {
        free(run);
        return ingest_fail(status, INGEST_BAD_INPUT,
                           "%s: more than 4 GiB of chunks begin before the first of them ends; no "
                           "recorder writes that, the trace is damaged",
                           trace_file_path(merge->file));
    }
    if (!run || !reserve_run(merge) || !trace_cursor_open(&run->cursor, merge->file, chunk->slot)) {
        free(run);
        return ingest_fail_memory(status, "the open chunks of the trace");
    }
    run->bytes = chunk->slot->available;
    merge->open_bytes += run->bytes;
    run->closed = chunk->closed;
    run->kind = EVENT_EXTENDED;
    run->second_half = false;
    run->at_end = false;
    run->ahead_next = run->ahead_count = 0;
    if (advance(merge, run))
        enter_heap(merge, run);
    else
        leave_heap(merge, run);
    return true;
}

static int compare_chunks(const void *a, const void *b)
{
    const struct trace_slot *x = ((const struct merge_chunk *)a)->slot;
    const struct trace_slot *y = ((const struct merge_chunk *)b)->slot;
    return ORDER(x->base_ticks, y->base_ticks) ?: ORDER(x->number, y->number);
}

/* Merge a trace that is still being recorded (merge.h). merge_new_growing() begins without chunks,
 * NULL if memory is exhausted. Each time slots have grown, call merge_step() before they change,
 * merge_add() for each chunk that has begun, and merge_wake(). Then merge_next() gives the events
 * up to the stamp `last`. merge_set_last() raises it. False if memory is exhausted. */
static struct merge *merge_new_growing(const struct trace_file *file)
{
    struct merge *merge = calloc(1, sizeof(*merge));
    if (merge)
        merge->file = file;
    return merge;
}

struct merge *merge_new(const struct trace_file *file, struct ingest_status *status)
{
    const struct trace_slot *slots;
    size_t count = trace_file_slots(file, &slots);
    struct merge *merge = merge_new_growing(file);
    if (!merge || !ARRAY_RESERVE(merge->chunks, count, merge->chunk_capacity)) {
        free(merge);
        ingest_fail_memory(status, "the index of chunks");
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (!slots[i].damage && slots[i].thread != TRACE_THREAD_REFERENCES)
            merge->chunks[merge->chunk_count++] = (struct merge_chunk){&slots[i], &whole_chunk};
    qsort(merge->chunks, merge->chunk_count, sizeof(*merge->chunks), compare_chunks);
    merge->last = UINT64_MAX;
    return merge;
}

void merge_watch(struct merge *merge, struct merge_watcher watcher)
{
    merge->watcher = watcher;
}

static void free_runs(struct heap_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        trace_cursor_close(&entries[i].run->cursor);
        free(entries[i].run);
    }
    free(entries);
}

void merge_free(struct merge *merge)
{
    if (!merge)
        return;
    free_runs(merge->heap, merge->heap_count);
    free_runs(merge->waiting, merge->waiting_count);
    FREE_ALL(merge->spare, merge->chunks, merge);
}

/* Steps the run whose event was given, and keeps the heap in order. True if the run is still the
 * first, which is common: most programs stay with one thread for some events. */
static bool step(struct merge *merge)
{
    struct run *run = merge->heap[0].run;
    if (!advance(merge, run)) {
        merge->heap[0] = merge->heap[--merge->heap_count];
        leave_heap(merge, run);
    } else if (run->key < merge->limit) {
        return true;
    }
    if (merge->heap_count > 1)
        sift_down(merge, 0);
    return false;
}

/* Returns the base of the next chunk, UINT64_MAX if there is none. */
static uint64_t next_base(const struct merge *merge)
{
    return merge->next_chunk < merge->chunk_count
               ? merge->chunks[merge->next_chunk].slot->base_ticks
               : UINT64_MAX;
}

/* Returns the key below which the first run stays the first. */
static uint64_t limit_of_first(const struct merge *merge)
{
    uint64_t limit = next_base(merge);
    if (merge->last < limit)
        limit = merge->last + 1;
    for (size_t child = 1; child < merge->heap_count && child <= 2; child++)
        if (merge->heap[child].run->key < limit)
            limit = merge->heap[child].run->key;
    return limit;
}

/* Brings the run with the next event to the front. False at the end, or with `status` set. */
static bool find_first(struct merge *merge, struct ingest_status *status)
{
    while (merge->next_chunk < merge->chunk_count && next_base(merge) <= merge->last &&
           (merge->heap_count == 0 || next_base(merge) <= merge->heap[0].run->key))
        if (!open_next(merge, status))
            return false;
    if (merge->exhausted)
        return ingest_fail_memory(status, "the open chunks of the trace");
    merge->limit = limit_of_first(merge);
    return merge->heap_count != 0 && merge->heap[0].run->key <= merge->last;
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

/* ---- a trace that is still being recorded ----------------------------------------------- */

static void merge_step(struct merge *merge)
{
    if (merge->emitted)
        step(merge);
    merge->emitted = false;
}

static bool merge_add(struct merge *merge, struct merge_chunk chunk)
{
    if (merge->next_chunk != 0) {
        merge->chunk_count -= merge->next_chunk;
        memmove(merge->chunks, merge->chunks + merge->next_chunk,
                merge->chunk_count * sizeof(*merge->chunks));
        merge->next_chunk = 0;
    }
    if (!ARRAY_RESERVE(merge->chunks, merge->chunk_count, merge->chunk_capacity))
        return false;
    merge->chunks[merge->chunk_count++] = chunk;
    return true;
}

static bool merge_wake(struct merge *merge, uint64_t last)
{
    size_t count = merge->waiting_count;
    merge->waiting_count = 0;
    merge->last = last;
    if (merge->chunk_count > merge->next_chunk)
        qsort(merge->chunks + merge->next_chunk, merge->chunk_count - merge->next_chunk,
              sizeof(*merge->chunks), compare_chunks);
    for (size_t i = 0; i < count; i++) {
        struct run *run = merge->waiting[i].run;
        if (advance(merge, run))
            enter_heap(merge, run);
        else
            leave_heap(merge, run); /* at an index that was read already */
    }
    return !merge->exhausted;
}

static void merge_set_last(struct merge *merge, uint64_t last)
{
    merge->last = last;
}

/* ---- numbers ---------------------------------------------------------------------------- */

uint64_t merge_bytes_done(const struct merge *merge)
{
    return merge->bytes_done;
}

size_t merge_most_open(const struct merge *merge)
{
    return merge->most_open;
}

/* ---- follow -------------------------------------------------------------------------------- */

struct chunk {
    struct trace_slot slot;
    struct trace_cursor *scan; /* positioned after the scanned records; NULL: not begun, or done */
    bool known, scanned, closed;
};

struct trace_follow {
    struct trace_file *file;
    struct trace_scanner scanner;
    struct merge *merge;
    struct chunk **chunks; /* by slot number, NULL: not begun yet */
    size_t chunk_capacity, chunk_count;
    uint64_t limit, seen; /* highest stamps that the polls have seen */
    uint64_t committed;
};

struct trace_follow *trace_follow_new(struct trace_file *file, struct trace_scanner scanner)
{
    struct trace_follow *follow = calloc(1, sizeof(*follow));
    if (!follow || !(follow->merge = merge_new_growing(file))) {
        free(follow);
        return NULL;
    }
    follow->file = file;
    follow->scanner = scanner;
    return follow;
}

static void close_scan(struct chunk *chunk)
{
    if (chunk->scan)
        trace_cursor_close(chunk->scan);
    free(chunk->scan);
    chunk->scan = NULL;
}

void trace_follow_free(struct trace_follow *follow)
{
    if (!follow)
        return;
    merge_free(follow->merge);
    for (size_t i = 0; i < follow->chunk_count; i++)
        if (follow->chunks[i]) {
            close_scan(follow->chunks[i]);
            free(follow->chunks[i]);
        }
    FREE_ALL(follow->chunks, follow);
}

/* Scans the records that the chunk has gained. */
static bool scan_chunk(struct trace_follow *follow, struct chunk *chunk)
{
    bool begins = !chunk->scan;
    if (begins && !(chunk->scan = calloc(1, sizeof(*chunk->scan))))
        return false;
    if (begins ? !trace_cursor_open(chunk->scan, follow->file, &chunk->slot)
               : !trace_cursor_extend(chunk->scan, follow->file))
        return false;
    if (!follow->scanner.read(follow->scanner.context, chunk->scan, begins))
        return false;
    if (chunk->closed) {
        close_scan(chunk);
        chunk->scanned = true;
    }
    return true;
}

static struct chunk *find_chunk(struct trace_follow *follow, uint32_t number)
{
    if (!array_reserve(&follow->chunks, &follow->chunk_capacity, (size_t)number + 1,
                       sizeof(struct chunk *)))
        return NULL;
    if (follow->chunk_count <= number)
        follow->chunk_count = (size_t)number + 1;
    if (!follow->chunks[number])
        follow->chunks[number] = calloc(1, sizeof(*follow->chunks[number]));
    return follow->chunks[number];
}

/* Takes a slot as it is. A just begun one may look damaged: the next poll sees it whole. */
static bool poll_slot(struct trace_follow *follow, const struct trace_slot *slot)
{
    if (slot->damage)
        return true;
    struct chunk *chunk = find_chunk(follow, slot->number);
    if (!chunk)
        return false;
    follow->committed += slot->available;
    if (!chunk->known && slot->thread != TRACE_THREAD_REFERENCES &&
        !merge_add(follow->merge, (struct merge_chunk){&chunk->slot, &chunk->closed}))
        return false;
    /* One read gets the seal and the commit, but they are written one after the other. */
    chunk->closed = chunk->known && chunk->slot.sealed && chunk->slot.commit == slot->commit;
    chunk->known = true;
    chunk->slot = *slot;
    return chunk->scanned || scan_chunk(follow, chunk);
}

bool trace_follow_poll(struct trace_follow *follow, struct ingest_status *status)
{
    const struct trace_slot *slots;
    bool good = trace_file_refresh(follow->file, status);
    size_t count = good ? trace_file_slots(follow->file, &slots) : 0;
    follow->committed = 0;
    follow->limit = follow->seen;
    merge_step(follow->merge);
    for (size_t i = 0; good && i < count; i++)
        good = poll_slot(follow, &slots[i]);
    good = good && follow->scanner.polled(follow->scanner.context, &follow->seen) &&
           merge_wake(follow->merge, follow->limit);
    return good || (status->code == INGEST_OK && ingest_fail_memory(status, "the open chunks"));
}

uint64_t trace_follow_limit(const struct trace_follow *follow)
{
    return follow->limit;
}

void trace_follow_lift_limit(struct trace_follow *follow)
{
    follow->limit = follow->seen;
    merge_set_last(follow->merge, follow->limit);
}

uint64_t trace_follow_committed(const struct trace_follow *follow)
{
    return follow->committed;
}

bool trace_follow_next(struct trace_follow *follow, struct trace_event *event,
                       struct ingest_status *status)
{
    return merge_next(follow->merge, event, status);
}
