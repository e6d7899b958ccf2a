/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/follow_merge.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/trace/cursor.h"

/* A chunk as it was at the last poll. */
struct live_chunk {
    struct trace_slot slot;
    struct trace_cursor *scan; /* positioned after the scanned records; NULL: not begun, or done */
    bool known, scanned, closed;
};

/* One chunk whose events are due, positioned at its next one. */
struct live_run {
    struct live_chunk *chunk;
    struct trace_cursor cursor;
    struct trace_record record;
    struct trace_extension extension;
    uint64_t key, offset, carry;
    enum event_kind kind;
    bool second_half, has_event, done;
};

struct live_trace {
    struct trace_file *file;
    struct trace_scan *scan;
    struct live_chunk **chunks; /* by slot number, NULL: not begun yet */
    size_t chunk_capacity, chunk_count;
    struct live_chunk **waiting; /* not open yet, the one that begins first at the end */
    size_t waiting_count, waiting_capacity;
    struct live_run **runs;
    size_t run_count, run_capacity;
    struct live_run *given; /* the one whose event was given last; NULL: none */
    uint64_t given_limit;   /* below this stamp its next event is the next one of all */
    uint64_t limit, seen;   /* highest stamps that the polls have seen */
    size_t nodes_seen;      /* nodes at the end of the previous poll */
    uint64_t committed;
};

struct live_trace *live_trace_new(struct trace_file *file, struct trace_scan *scan)
{
    struct live_trace *live = calloc(1, sizeof(*live));
    if (!live)
        return NULL;
    live->file = file;
    live->scan = scan;
    return live;
}

static void close_scan(struct live_chunk *chunk)
{
    if (chunk->scan)
        trace_cursor_close(chunk->scan);
    free(chunk->scan);
    chunk->scan = NULL;
}

void live_trace_free(struct live_trace *live)
{
    if (!live)
        return;
    for (size_t i = 0; i < live->run_count; i++) {
        trace_cursor_close(&live->runs[i]->cursor);
        free(live->runs[i]);
    }
    for (size_t i = 0; i < live->chunk_count; i++)
        if (live->chunks[i]) {
            close_scan(live->chunks[i]);
            free(live->chunks[i]);
        }
    free(live->runs);
    free(live->waiting);
    free(live->chunks);
    free(live);
}

/* ---- polling ---------------------------------------------------------------------------- */

/* Scans the records that the chunk has gained. */
static bool scan_chunk(struct live_trace *live, struct live_chunk *chunk)
{
    bool begins = !chunk->scan;
    if (begins && !(chunk->scan = calloc(1, sizeof(*chunk->scan))))
        return false;
    if (begins ? !trace_cursor_open(chunk->scan, live->file, &chunk->slot)
               : !trace_cursor_extend(chunk->scan, live->file))
        return false;
    if (trace_scan_records(live->scan, chunk->scan, begins) == TRACE_GET_RECORD)
        return false;
    if (chunk->closed) {
        close_scan(chunk);
        chunk->scanned = true;
    }
    return true;
}

static struct live_chunk *find_chunk(struct live_trace *live, uint32_t number)
{
    if (!array_reserve(&live->chunks, &live->chunk_capacity, (size_t)number + 1,
                       sizeof(struct live_chunk *)))
        return NULL;
    if (live->chunk_count <= number)
        live->chunk_count = (size_t)number + 1;
    if (!live->chunks[number])
        live->chunks[number] = calloc(1, sizeof(*live->chunks[number]));
    return live->chunks[number];
}

/* Takes a slot as it is now. One that is just being begun may look damaged, but the next poll sees
 * it whole. */
static bool poll_slot(struct live_trace *live, const struct trace_slot *slot)
{
    if (slot->damage)
        return true;
    struct live_chunk *chunk = find_chunk(live, slot->number);
    if (!chunk)
        return false;
    live->committed += slot->available;
    if (!chunk->known) {
        if (!array_reserve(&live->waiting, &live->waiting_capacity, live->waiting_count + 1,
                           sizeof(struct live_chunk *)))
            return false;
        live->waiting[live->waiting_count++] = chunk;
    }
    /* One read gets the seal and the commit, but they are written one after the other. */
    chunk->closed = chunk->known && chunk->slot.sealed && chunk->slot.commit == slot->commit;
    chunk->known = true;
    chunk->slot = *slot;
    return chunk->scanned || scan_chunk(live, chunk);
}

static int compare_begin(const void *a, const void *b)
{
    const struct live_chunk *x = *(struct live_chunk *const *)a,
                            *y = *(struct live_chunk *const *)b;
    if (x->slot.base_ticks != y->slot.base_ticks)
        return x->slot.base_ticks > y->slot.base_ticks ? -1 : 1;
    return x->slot.number > y->slot.number ? -1 : x->slot.number < y->slot.number;
}

static bool advance(struct live_trace *live, struct live_run *run);

/* Lets runs continue that had no committed event left, and frees those that are done. */
static bool wake_runs(struct live_trace *live)
{
    size_t kept = 0;
    bool good = true;
    live->given = NULL;
    for (size_t i = 0; i < live->run_count; i++) {
        struct live_run *run = live->runs[i];
        if (good && !run->has_event)
            good = advance(live, run);
        if (run->has_event || !run->done) {
            live->runs[kept++] = run;
            continue;
        }
        trace_cursor_close(&run->cursor);
        free(run);
    }
    live->run_count = kept;
    return good;
}

bool live_trace_poll(struct live_trace *live, struct ingest_status *status)
{
    const struct trace_slot *slots;
    bool good = trace_file_refresh(live->file, status);
    size_t count = good ? trace_file_slots(live->file, &slots) : 0;
    live->committed = 0;
    live->limit = live->seen;
    /* The event that was given last is done. Its run must step before the slots are polled. */
    if (good && live->given)
        good = advance(live, live->given);
    for (size_t i = 0; good && i < count; i++)
        good = poll_slot(live, &slots[i]);
    if (good)
        qsort(live->waiting, live->waiting_count, sizeof(struct live_chunk *), compare_begin);
    /* By now the parents of all nodes that the previous poll has seen are known. */
    good =
        good && context_tree_resolve_first(&live->scan->tree, live->nodes_seen) && wake_runs(live);
    live->nodes_seen = live->scan->tree.count;
    live->seen = live->scan->last_ticks;
    return good || (status->code == INGEST_OK && ingest_fail_memory(status, "the open chunks"));
}

uint64_t live_trace_limit(const struct live_trace *live)
{
    return live->limit;
}

void live_trace_lift_limit(struct live_trace *live)
{
    live->limit = live->seen;
}

uint64_t live_trace_committed(const struct live_trace *live)
{
    return live->committed;
}

/* ---- merging ---------------------------------------------------------------------------- */

/* Tells whether an extended record is an event. The scan has read the others. */
static bool is_event(const struct live_run *run)
{
    uint64_t type = run->record.extended.type;
    return type >= TRACE_EXT_ARENA && type <= TRACE_EXT_LAST && type != TRACE_EXT_CLOCK;
}

/* Tells whether the record is an event, and sets the run's kind and key. */
static bool take_record(struct live_run *run)
{
    const struct trace_record *record = &run->record;
    run->key = record->ticks;
    switch (record->kind) {
    case TRACE_ALLOC:
    case TRACE_ALLOC_ATTR:
        run->kind = EVENT_ALLOCATE;
        return true;
    case TRACE_FREE:
    case TRACE_FREE_STACK:
        run->kind = EVENT_FREE;
        return true;
    case TRACE_REALLOC:
        run->kind = EVENT_FREE;
        run->key = record->free_ticks;
        return record->outcome != TRACE_REALLOC_FAILED;
    case TRACE_EXTENDED:
        if (!is_event(run) ||
            !trace_extension_get(record, run->cursor.coding.ticks, &run->extension))
            return false;
        run->kind = EVENT_EXTENDED;
        run->key = run->extension.when;
        return true;
    case TRACE_NODE:
        return false;
    }
    return false;
}

/* Moves to the chunk's next event, if one is committed. False if memory is exhausted. */
static bool advance(struct live_trace *live, struct live_run *run)
{
    if (run->has_event && run->kind == EVENT_FREE && run->record.kind == TRACE_REALLOC &&
        !run->second_half) {
        run->kind = EVENT_ALLOCATE;
        run->key = run->record.ticks;
        return run->second_half = true;
    }
    run->second_half = false;
    run->has_event = false;
    while (!run->has_event) {
        run->offset = trace_cursor_offset(&run->cursor);
        enum trace_get got = trace_cursor_next(&run->cursor, &run->record);
        if (got == TRACE_GET_RECORD) {
            run->has_event = take_record(run);
            continue;
        }
        const uint8_t *end = run->cursor.bytes + run->chunk->slot.available;
        if (got == TRACE_GET_END && run->cursor.end < end) {
            size_t had = (size_t)(run->cursor.end - run->cursor.bytes);
            if (!trace_cursor_extend(&run->cursor, live->file))
                return false;
            if (run->cursor.end > run->cursor.bytes + had)
                continue;
        }
        run->done = got == TRACE_GET_DAMAGED || run->chunk->closed;
        break;
    }
    return true;
}

static bool open_next(struct live_trace *live)
{
    struct live_run *run = calloc(1, sizeof(*run));
    if (!run || !array_reserve(&live->runs, &live->run_capacity, live->run_count + 1,
                               sizeof(struct live_run *))) {
        free(run);
        return false;
    }
    run->chunk = live->waiting[live->waiting_count - 1];
    if (!trace_cursor_open(&run->cursor, live->file, &run->chunk->slot)) {
        free(run);
        return false;
    }
    live->waiting_count--;
    live->runs[live->run_count++] = run;
    return advance(live, run);
}

static bool before(const struct live_run *a, const struct live_run *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    if ((a->kind == EVENT_FREE) != (b->kind == EVENT_FREE))
        return a->kind == EVENT_FREE;
    return a->chunk->slot.number < b->chunk->slot.number;
}

/*
 * Returns the run with the next event of all, or NULL if none has one. It looks at all runs in
 * turn, since they are few, one for each running thread, and the next event is mostly of the same
 * run.
 */
static struct live_run *find_first(struct live_trace *live)
{
    struct live_run *first = NULL;
    live->given_limit =
        live->waiting_count ? live->waiting[live->waiting_count - 1]->slot.base_ticks : UINT64_MAX;
    for (size_t i = 0; i < live->run_count; i++) {
        struct live_run *run = live->runs[i];
        if (!run->has_event)
            continue;
        const struct live_run *later = run;
        if (!first || before(run, first)) {
            later = first;
            first = run;
        }
        if (later && later->key < live->given_limit)
            live->given_limit = later->key;
    }
    return first;
}

/* Returns the run with the next event, or NULL. Runs that are done are freed at the next poll. */
static struct live_run *next_run(struct live_trace *live, bool *good)
{
    struct live_run *run = live->given;
    live->given = NULL;
    if (run) {
        *good = advance(live, run);
        if (!*good || (run->has_event && run->key < live->given_limit))
            return run;
    }
    for (;;) {
        run = find_first(live);
        if (live->waiting_count == 0)
            return run;
        uint64_t begin = live->waiting[live->waiting_count - 1]->slot.base_ticks;
        if (begin > live->limit || (run && begin > run->key))
            return run;
        if (!(*good = open_next(live)))
            return NULL;
    }
}

bool live_trace_next(struct live_trace *live, struct trace_event *event,
                     struct ingest_status *status)
{
    bool good = true;
    struct live_run *run = next_run(live, &good);
    if (!good)
        return ingest_fail_memory(status, "the open chunks");
    if (!run || run->key > live->limit)
        return false;
    live->given = run;
    event->kind = run->kind;
    event->of_realloc = run->record.kind == TRACE_REALLOC;
    event->thread = run->cursor.thread;
    event->ticks = run->key;
    event->coding_ticks = run->cursor.coding.ticks;
    event->offset = run->offset;
    event->record = &run->record;
    event->extension = &run->extension;
    event->carry = &run->carry;
    return true;
}
