/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/totals_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/base/output_file.h"
#include "schemas/array.h"

/* An event is a byte, then varints: ns after the last event, the difference of the address from the
 * last event's (zigzag), size, stack, type; of a free its lifetime too. */
enum { EVENT_ALLOCATE, EVENT_FREE, EVENT_FREE_UNCOUNTED };
enum { EVENT_MOST = 1 + 6 * 10, WRITE_SIZE = 1 << 18, READ_MOST = 1 << 16, READ_LEAST = 1 << 12 };
/* All readers together have about as much memory as this. */
enum { READ_ALL = 1 << 22 };

struct totals_log_reader {
    struct totals_log_event next;
    uint64_t later_ns;
    uint64_t place, end; /* bytes of the file that are not in the buffer yet */
    uint64_t ns, address, order;
    struct totals_log_names names; /* `names` NULL: no block was named late */
    uint8_t *buffer;
    size_t size, used, filled;
};

static bool fail(struct totals_log *log, int error)
{
    if (log->error == 0)
        log->error = error;
    return false;
}

bool totals_log_begin(struct totals_log *log, int events, int names)
{
    *log = (struct totals_log){.events = events, .names = names};
    log->buffer = malloc(WRITE_SIZE);
    return log->buffer || fail(log, ENOMEM);
}

static bool flush(struct totals_log *log)
{
    const int error = write_whole(log->events, log->buffer, log->used);
    if (error != 0)
        return fail(log, error);
    log->written += log->used;
    log->used = 0;
    return true;
}

static uint8_t *put(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static void put_event(struct totals_log *log, uint8_t kind, const struct totals_block *block,
                      uint64_t ns, uint64_t lifetime_ns)
{
    const uint64_t step = block->address - log->address;
    if (log->error != 0 || (log->used + EVENT_MOST > WRITE_SIZE && !flush(log)))
        return;
    uint8_t *at = log->buffer + log->used;
    *at++ = kind;
    at = put(at, ns - log->ns);
    at = put(at, step << 1 ^ (0 - (step >> 63)));
    at = put(at, block->size);
    at = put(at, block->stack);
    at = put(at, block->type);
    if (kind != EVENT_ALLOCATE)
        at = put(at, lifetime_ns);
    log->used = (size_t)(at - log->buffer);
    log->ns = ns;
    log->address = block->address;
}

void totals_log_allocate(struct totals_log *log, const struct totals_block *block)
{
    log->allocations++;
    put_event(log, EVENT_ALLOCATE, block, block->alloc_ns, 0);
}

void totals_log_free(struct totals_log *log, const struct totals_block *block, uint64_t ns,
                     uint64_t lifetime_ns, bool counted)
{
    put_event(log, counted ? EVENT_FREE : EVENT_FREE_UNCOUNTED, block, ns, lifetime_ns);
}

static bool write_names(struct totals_log *log, const uint32_t *names, size_t count, uint64_t place)
{
    const int error =
        write_whole_at(log->names, names, count * sizeof(*names), place * sizeof(*names));
    return error == 0 || fail(log, error);
}

/* Most blocks are named soon, so the newest types wait in memory. */
void totals_log_rename(struct totals_log *log, uint64_t order, uint32_t type)
{
    const uint32_t name = type + 1;
    const uint64_t place = log->part.allocations_before + order - 1;
    struct totals_log_names *named = &log->named;
    log->part.named = true;
    if (!named->names && !(named->names = calloc(TOTALS_LOG_NAMES, sizeof(name)))) {
        fail(log, ENOMEM);
        return;
    }
    if (place < named->first) {
        write_names(log, &name, 1, place);
        return;
    }
    if (place >= named->first + TOTALS_LOG_NAMES) {
        if (!write_names(log, named->names, TOTALS_LOG_NAMES, named->first))
            return;
        memset(named->names, 0, TOTALS_LOG_NAMES * sizeof(name));
        named->first = place - place % TOTALS_LOG_NAMES;
    }
    named->names[place - named->first] = name;
}

bool totals_log_end_part(struct totals_log *log)
{
    if (!ARRAY_RESERVE(log->parts, log->part_count, log->part_capacity))
        fail(log, ENOMEM);
    if (log->error != 0)
        return false;
    log->part.end = log->written + log->used;
    log->parts[log->part_count++] = log->part;
    log->part =
        (struct totals_log_part){.begin = log->part.end, .allocations_before = log->allocations};
    log->ns = log->address = 0;
    return true;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Reads up to `size` bytes at `place`. Returns how many, SIZE_MAX with the error set. */
static size_t read_at(struct totals_log *log, int file, void *buffer, size_t size, uint64_t place)
{
    const size_t done = read_whole(file, buffer, size, place);
    if (done == size || errno == 0)
        return done;
    fail(log, errno);
    return SIZE_MAX;
}

/* Fills the reader's buffer, so that it holds a whole event if there is one. */
static bool fill(struct totals_log *log, struct totals_log_reader *reader)
{
    const size_t kept = reader->filled - reader->used;
    const uint64_t left = reader->end - reader->place;
    memmove(reader->buffer, reader->buffer + reader->used, kept);
    size_t size = reader->size - kept;
    if (size > left)
        size = (size_t)left;
    const size_t got = read_at(log, log->events, reader->buffer + kept, size, reader->place);
    if (got != size)
        return fail(log, EIO);
    reader->used = 0;
    reader->filled = kept + size;
    reader->place += size;
    return true;
}

static const uint8_t *get(const uint8_t *at, uint64_t *value)
{
    uint64_t sum = *at & 0x7f;
    for (unsigned shift = 7; *at++ & 0x80; shift += 7)
        sum |= (uint64_t)(*at & 0x7f) << shift;
    *value = sum;
    return at;
}

/* Returns the last type of the reader's block, `type` if the program did not name it late. */
static uint32_t last_type(struct totals_log *log, struct totals_log_reader *reader, uint32_t type)
{
    struct totals_log_names *names = &reader->names;
    const uint64_t place = reader->order - 1;
    if (!names->names)
        return type;
    if (place < names->first || place >= names->first + TOTALS_LOG_NAMES) {
        const size_t size = TOTALS_LOG_NAMES * sizeof(*names->names);
        names->first = place - place % TOTALS_LOG_NAMES;
        memset(names->names, 0, size);
        read_at(log, log->names, names->names, size, names->first * sizeof(*names->names));
    }
    const uint32_t name = names->names[place - names->first];
    return name != 0 ? name - 1 : type;
}

/* Reads the reader's next event. Returns false after the last one, or with the error set. */
static bool step(struct totals_log *log, struct totals_log_reader *reader)
{
    uint64_t ns, step, stack, type;
    struct totals_log_event *next = &reader->next;
    if (reader->filled - reader->used < EVENT_MOST && reader->place < reader->end &&
        !fill(log, reader))
        return false;
    if (reader->used == reader->filled)
        return false;
    const uint8_t *at = reader->buffer + reader->used;
    const uint8_t kind = *at++;
    at = get(at, &ns);
    at = get(at, &step);
    at = get(at, &next->block.size);
    at = get(at, &stack);
    at = get(at, &type);
    next->lifetime_ns = 0;
    if (kind != EVENT_ALLOCATE)
        at = get(at, &next->lifetime_ns);
    reader->used = (size_t)(at - reader->buffer);
    reader->ns += ns;
    reader->address += step >> 1 ^ (0 - (step & 1));
    reader->order += kind == EVENT_ALLOCATE;
    next->is_free = kind != EVENT_ALLOCATE;
    next->counted = kind != EVENT_FREE_UNCOUNTED;
    next->ns = next->block.alloc_ns = reader->ns + reader->later_ns;
    next->block.address = reader->address;
    next->block.stack = (uint32_t)stack;
    next->block.type = next->is_free ? (uint32_t)type : last_type(log, reader, (uint32_t)type);
    return log->error == 0;
}

static bool is_before(const struct totals_log *log, size_t a, size_t b)
{
    const struct totals_log_event *x = &log->readers[a].next, *y = &log->readers[b].next;
    if (x->ns != y->ns)
        return x->ns < y->ns;
    return x->is_free != y->is_free ? x->is_free : a < b;
}

/* Moves the part at `at` down to its place in the heap. */
static void sift(struct totals_log *log, size_t at)
{
    const size_t part = log->heap[at];
    for (size_t child; (child = 2 * at + 1) < log->heap_count; at = child) {
        if (child + 1 < log->heap_count && is_before(log, log->heap[child + 1], log->heap[child]))
            child++;
        if (!is_before(log, log->heap[child], part))
            break;
        log->heap[at] = log->heap[child];
    }
    log->heap[at] = part;
}

static void free_readers(struct totals_log *log)
{
    for (size_t i = 0; log->readers && i < log->part_count; i++)
        FREE_ALL(log->readers[i].buffer, log->readers[i].names.names);
    FREE_ALL(log->readers, log->heap);
    log->readers = NULL;
    log->heap = NULL;
    log->heap_count = 0;
}

bool totals_log_rewind(struct totals_log *log, const bool *wanted, const uint64_t *later_ns)
{
    free_readers(log);
    if (!flush(log) || (log->named.names &&
                        !write_names(log, log->named.names, TOTALS_LOG_NAMES, log->named.first)))
        return false;
    log->readers = calloc(log->part_count + 1, sizeof(*log->readers));
    log->heap = calloc(log->part_count + 1, sizeof(*log->heap));
    if (!log->readers || !log->heap)
        return fail(log, ENOMEM);
    size_t size = READ_ALL / (log->part_count + 1);
    size = size > READ_MOST ? READ_MOST : size < READ_LEAST ? READ_LEAST : size;
    for (size_t i = 0; i < log->part_count; i++) {
        const struct totals_log_part *part = &log->parts[i];
        struct totals_log_reader *reader = &log->readers[i];
        if (!wanted[i] || part->begin == part->end)
            continue;
        *reader = (struct totals_log_reader){.next.part = i,
                                             .later_ns = later_ns[i],
                                             .place = part->begin,
                                             .end = part->end,
                                             .order = part->allocations_before,
                                             .names.first = UINT64_MAX / 2,
                                             .buffer = malloc(size),
                                             .size = size};
        if (part->named)
            reader->names.names = malloc(TOTALS_LOG_NAMES * sizeof(*reader->names.names));
        if (!reader->buffer || (part->named && !reader->names.names))
            return fail(log, ENOMEM);
        if (step(log, reader))
            log->heap[log->heap_count++] = i;
    }
    for (size_t i = log->heap_count; i-- > 0;)
        sift(log, i);
    return log->error == 0;
}

bool totals_log_next(struct totals_log *log, struct totals_log_event *event)
{
    if (log->heap_count == 0 || log->error != 0)
        return false;
    struct totals_log_reader *reader = &log->readers[log->heap[0]];
    *event = reader->next;
    if (!step(log, reader)) {
        if (log->error != 0)
            return false;
        free(reader->buffer);
        reader->buffer = NULL;
        log->heap[0] = log->heap[--log->heap_count];
    }
    if (log->heap_count > 0)
        sift(log, 0);
    return true;
}

void totals_log_free_memory(struct totals_log *log)
{
    free_readers(log);
    FREE_ALL(log->parts, log->named.names, log->buffer);
    *log = (struct totals_log){.events = -1, .names = -1};
}
