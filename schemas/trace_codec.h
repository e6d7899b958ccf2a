/*
 * Trace format 1: the one codec that capture (writer) and ingest (reader) share.
 *
 * schemas/trace-format.md is normative; this header follows it. Everything here is
 * inline, allocates nothing, calls nothing but mem* of libc, and is safe in a signal handler.
 *
 * Writer: fill a `struct trace_coding` with trace_coding_reset() for every chunk and after
 * every SWITCH record, put records with trace_put_*() at a cursor that has at least
 * TRACE_RECORD_MAX bytes left, then publish them by a release store of the chunk's `commit`.
 * Reader: reset the same way, call trace_get() until TRACE_GET_END or TRACE_GET_DAMAGED.
 */
#ifndef MPROF_SCHEMAS_TRACE_CODEC_H
#define MPROF_SCHEMAS_TRACE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "schemas/trace_layout.h"

/* ---- primitives ------------------------------------------------------------------------- */

/* Bits 3-4 of records that carry a stack. */
enum { TRACE_STACK_SAME = 0, TRACE_STACK_CACHED = 1, TRACE_STACK_EXPLICIT = 2 };
/* Two bits wherever an address is coded. */
enum { TRACE_ADDRESS_DELTA16 = 0, TRACE_ADDRESS_DELTA = 1, TRACE_ADDRESS_CACHED = 2 };

#define TRACE_CACHE_SIZE 256u

/* What both ends remember within one chunk (or since the last SWITCH). */
struct trace_coding {
    uint64_t ticks;
    uint64_t address;
    uint64_t size;
    uint32_t stack;
    uint32_t node;
    uint64_t address_cache[TRACE_CACHE_SIZE];
    uint32_t stack_cache[TRACE_CACHE_SIZE];
};

static inline void trace_coding_reset(struct trace_coding *coding, uint64_t base_ticks)
{
    memset(coding, 0, sizeof *coding);
    coding->ticks = base_ticks;
}

static inline uint32_t trace_address_slot(uint64_t address)
{
    return (uint32_t)(((address >> 4) * UINT64_C(0x9E3779B97F4A7C15)) >> 56);
}

static inline uint32_t trace_stack_slot(uint32_t stack)
{
    return (stack * UINT32_C(0x9E3779B1)) >> 24;
}

/*
 * 64-bit sum of `length` bytes: four lanes of multiply-and-rotate over little-endian words,
 * the last partial word zero-padded, the length mixed in. Detects damage, not malice.
 */
static inline uint64_t trace_sum(const void *data, size_t length)
{
    const uint8_t *bytes = (const uint8_t *)data;
    const uint64_t prime = UINT64_C(0x9E3779B185EBCA87);
    uint64_t lane[4] = {1, 2, 3, 4};
    size_t i = 0;
    for (; i + 32 <= length; i += 32)
        for (size_t k = 0; k < 4; k++) {
            uint64_t word;
            memcpy(&word, bytes + i + 8 * k, 8);
            lane[k] = (lane[k] ^ word) * prime;
            lane[k] ^= lane[k] >> 29;
        }
    for (; i < length; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, length - i < 8 ? length - i : 8);
        lane[0] = (lane[0] ^ word) * prime;
        lane[0] ^= lane[0] >> 29;
    }
    uint64_t sum = length;
    for (unsigned k = 0; k < 4; k++) {
        sum = (sum ^ lane[k]) * prime;
        sum ^= sum >> 32;
    }
    return sum;
}

static inline uint64_t trace_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t trace_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* LEB128, at most 10 bytes. */
static inline uint8_t *trace_put_varint(uint8_t *p, uint64_t value)
{
    while (value >= 0x80) {
        *p++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *p++ = (uint8_t)value;
    return p;
}

/* Reads one varint; false where it does not end before `end` or exceeds 64 bits. */
static inline bool trace_get_varint(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
    uint64_t result = 0;
    const uint8_t *at = *p;
    for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
        uint8_t byte = *at++;
        if (shift == 63 && byte > 1)
            return false;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *p = at;
            *value = result;
            return true;
        }
    }
    return false;
}

static inline uint8_t *trace_put_address(uint8_t *p, struct trace_coding *coding, uint64_t address,
                                         unsigned *mode)
{
    uint32_t slot = trace_address_slot(address);
    if (coding->address_cache[slot] == address && address != 0) {
        *mode = TRACE_ADDRESS_CACHED;
        *p++ = (uint8_t)slot;
    } else {
        uint64_t delta = address - coding->address;
        coding->address_cache[slot] = address;
        if ((delta & 15) == 0) {
            *mode = TRACE_ADDRESS_DELTA16;
            p = trace_put_varint(p, trace_zigzag((int64_t)delta >> 4));
        } else {
            *mode = TRACE_ADDRESS_DELTA;
            p = trace_put_varint(p, trace_zigzag((int64_t)delta));
        }
    }
    coding->address = address;
    return p;
}

static inline bool trace_get_address(const uint8_t **p, const uint8_t *end,
                                     struct trace_coding *coding, unsigned mode, uint64_t *address)
{
    uint64_t value;
    if (mode == TRACE_ADDRESS_CACHED) {
        if (*p == end)
            return false;
        *address = coding->address_cache[*(*p)++];
        if (*address == 0)
            return false;
    } else {
        if (mode > TRACE_ADDRESS_CACHED || !trace_get_varint(p, end, &value))
            return false;
        int64_t delta = trace_unzigzag(value);
        if (mode == TRACE_ADDRESS_DELTA16)
            delta = (int64_t)((uint64_t)delta << 4);
        *address = coding->address + (uint64_t)delta;
        coding->address_cache[trace_address_slot(*address)] = *address;
    }
    coding->address = *address;
    return true;
}

static inline uint8_t *trace_put_stack(uint8_t *p, struct trace_coding *coding, uint32_t stack,
                                       unsigned *mode)
{
    if (stack == coding->stack) {
        *mode = TRACE_STACK_SAME;
        return p;
    }
    coding->stack = stack;
    uint32_t slot = trace_stack_slot(stack);
    if (coding->stack_cache[slot] == stack && stack != 0) {
        *mode = TRACE_STACK_CACHED;
        *p++ = (uint8_t)slot;
        return p;
    }
    coding->stack_cache[slot] = stack;
    *mode = TRACE_STACK_EXPLICIT;
    return trace_put_varint(p, stack);
}

static inline bool trace_get_stack(const uint8_t **p, const uint8_t *end,
                                   struct trace_coding *coding, unsigned mode, uint32_t *stack)
{
    uint64_t value;
    switch (mode) {
    case TRACE_STACK_SAME:
        *stack = coding->stack;
        return true;
    case TRACE_STACK_CACHED:
        if (*p == end)
            return false;
        *stack = coding->stack_cache[*(*p)++];
        if (*stack == 0)
            return false;
        break;
    case TRACE_STACK_EXPLICIT:
        if (!trace_get_varint(p, end, &value) || value > UINT32_MAX)
            return false;
        *stack = (uint32_t)value;
        coding->stack_cache[trace_stack_slot(*stack)] = *stack;
        break;
    default:
        return false;
    }
    coding->stack = *stack;
    return true;
}

/* Stamps never run backwards within a chunk: a clock that did is held. */
static inline uint8_t *trace_put_ticks(uint8_t *p, struct trace_coding *coding, uint64_t ticks)
{
    uint64_t delta = ticks > coding->ticks ? ticks - coding->ticks : 0;
    coding->ticks += delta;
    return trace_put_varint(p, delta);
}

/* ---- writing ---------------------------------------------------------------------------- */
/* Each returns the cursor behind the record, at most TRACE_RECORD_MAX bytes further. */

static inline uint8_t *trace_put_alloc(uint8_t *p, struct trace_coding *coding, uint64_t ticks,
                                       uint64_t address, uint64_t size, uint32_t stack,
                                       enum trace_alloc_kind kind, unsigned log2_alignment)
{
    uint8_t *head = p++;
    unsigned address_mode, stack_mode, same_size = size == coding->size;
    if (kind != TRACE_KIND_MALLOC) {
        *p++ = (uint8_t)kind;
        if (kind >= TRACE_KIND_POSIX_MEMALIGN)
            *p++ = (uint8_t)log2_alignment;
    }
    p = trace_put_ticks(p, coding, ticks);
    p = trace_put_address(p, coding, address, &address_mode);
    if (!same_size) {
        coding->size = size;
        p = trace_put_varint(p, size);
    }
    p = trace_put_stack(p, coding, stack, &stack_mode);
    *head = (uint8_t)((kind == TRACE_KIND_MALLOC ? TRACE_ALLOC : TRACE_ALLOC_ATTR) |
                      stack_mode << 3 | same_size << 5 | address_mode << 6);
    return p;
}

static inline uint8_t *trace_put_free(uint8_t *p, struct trace_coding *coding, uint64_t ticks,
                                      uint64_t address)
{
    uint8_t *head = p++;
    unsigned address_mode;
    p = trace_put_ticks(p, coding, ticks);
    p = trace_put_address(p, coding, address, &address_mode);
    *head = (uint8_t)(TRACE_FREE | address_mode << 6);
    return p;
}

static inline uint8_t *trace_put_free_stack(uint8_t *p, struct trace_coding *coding, uint64_t ticks,
                                            uint64_t address, uint32_t stack)
{
    uint8_t *head = p++;
    unsigned address_mode, stack_mode;
    p = trace_put_ticks(p, coding, ticks);
    p = trace_put_address(p, coding, address, &address_mode);
    p = trace_put_stack(p, coding, stack, &stack_mode);
    *head = (uint8_t)(TRACE_FREE_STACK | stack_mode << 3 | address_mode << 6);
    return p;
}

/* `free_ticks` was read before the real call, `ticks` after it. */
static inline uint8_t *trace_put_realloc(uint8_t *p, struct trace_coding *coding,
                                         uint64_t free_ticks, uint64_t ticks, uint64_t old_address,
                                         uint64_t address, uint64_t size, uint32_t stack,
                                         enum trace_realloc_outcome outcome, bool array)
{
    uint8_t *head = p++, *attribute = p++;
    unsigned old_mode, new_mode = 0, stack_mode, same_size = size == coding->size;
    p = trace_put_ticks(p, coding, free_ticks);
    p = trace_put_ticks(p, coding, ticks);
    p = trace_put_address(p, coding, old_address, &old_mode);
    if (outcome == TRACE_REALLOC_MOVED)
        p = trace_put_address(p, coding, address, &new_mode);
    if (!same_size) {
        coding->size = size;
        p = trace_put_varint(p, size);
    }
    p = trace_put_stack(p, coding, stack, &stack_mode);
    *attribute = (uint8_t)((unsigned)outcome | new_mode << 2 | (unsigned)array << 4);
    *head = (uint8_t)(TRACE_REALLOC | stack_mode << 3 | same_size << 5 | old_mode << 6);
    return p;
}

/*
 * Node `id` (> 0, unique in the trace) under `parent` (0: outermost frame). `module` 0 means
 * no module was mapped there; `value` is then the address itself, otherwise the address
 * minus the module's load bias.
 */
static inline uint8_t *trace_put_node(uint8_t *p, struct trace_coding *coding, uint32_t id,
                                      uint32_t parent, enum trace_node_frame frame, uint32_t module,
                                      uint64_t value)
{
    unsigned chained = parent == coding->node && parent != 0;
    *p++ = (uint8_t)(TRACE_NODE | chained << 3 | (unsigned)frame << 4);
    p = trace_put_varint(p, trace_zigzag((int64_t)id - (int64_t)coding->node));
    if (!chained)
        p = trace_put_varint(p, parent);
    coding->node = id;
    if (frame <= TRACE_FRAME_EXACT) {
        p = trace_put_varint(p, module);
        p = trace_put_varint(p, value);
    }
    return p;
}

static inline uint8_t *trace_put_string(uint8_t *p, const char *text, size_t length)
{
    p = trace_put_varint(p, length);
    memcpy(p, text, length);
    return p + length;
}

/* `length` <= TRACE_EXTENDED_MAX; needs length + 12 bytes. */
static inline uint8_t *trace_put_extended(uint8_t *p, enum trace_extended type,
                                          const uint8_t *payload, size_t length)
{
    *p++ = TRACE_EXTENDED;
    p = trace_put_varint(p, (uint64_t)type);
    p = trace_put_varint(p, length);
    memcpy(p, payload, length);
    return p + length;
}

/* ---- reading ---------------------------------------------------------------------------- */

/* One decoded record. Fields that the kind does not have are zero. */
struct trace_record {
    enum trace_kind kind;
    enum trace_alloc_kind alloc_kind;
    uint64_t ticks;      /* alloc, free; realloc: after the call */
    uint64_t free_ticks; /* realloc: before the call */
    uint64_t address;
    uint64_t old_address; /* realloc */
    uint64_t size;
    uint64_t alignment; /* bytes; 0: the allocator's own */
    uint32_t stack;
    enum trace_realloc_outcome outcome;
    struct {
        uint32_t id, parent, module;
        enum trace_node_frame frame;
        uint64_t value;
    } node;
    struct {
        uint64_t type; /* enum trace_extended, or unknown */
        const uint8_t *payload, *end;
    } extended;
};

enum trace_get { TRACE_GET_RECORD, TRACE_GET_END, TRACE_GET_DAMAGED };

static inline bool trace_get_ticks(const uint8_t **p, const uint8_t *end,
                                   struct trace_coding *coding, uint64_t *ticks)
{
    uint64_t delta;
    if (!trace_get_varint(p, end, &delta) || coding->ticks + delta < coding->ticks)
        return false;
    *ticks = coding->ticks += delta;
    return true;
}

static inline bool trace_get_size(const uint8_t **p, const uint8_t *end,
                                  struct trace_coding *coding, bool same, uint64_t *size)
{
    if (!same && !trace_get_varint(p, end, &coding->size))
        return false;
    *size = coding->size;
    return true;
}

static inline bool trace_get_alloc_body(const uint8_t **p, const uint8_t *end,
                                        struct trace_coding *coding, unsigned head,
                                        struct trace_record *record)
{
    if ((head & 7) == TRACE_ALLOC_ATTR) {
        if (*p == end || **p == TRACE_KIND_MALLOC || **p >= TRACE_KIND_COUNT)
            return false;
        record->alloc_kind = (enum trace_alloc_kind) * (*p)++;
        if (record->alloc_kind >= TRACE_KIND_POSIX_MEMALIGN) {
            if (*p == end || **p > 63)
                return false;
            record->alignment = UINT64_C(1) << *(*p)++;
        }
    }
    return trace_get_ticks(p, end, coding, &record->ticks) &&
           trace_get_address(p, end, coding, head >> 6, &record->address) &&
           trace_get_size(p, end, coding, head >> 5 & 1, &record->size) &&
           trace_get_stack(p, end, coding, head >> 3 & 3, &record->stack);
}

static inline bool trace_get_realloc_body(const uint8_t **p, const uint8_t *end,
                                          struct trace_coding *coding, unsigned head,
                                          struct trace_record *record)
{
    if (*p == end)
        return false;
    unsigned attribute = *(*p)++;
    if (attribute >> 5 || (attribute & 3) > TRACE_REALLOC_FAILED)
        return false;
    record->outcome = (enum trace_realloc_outcome)(attribute & 3);
    record->alloc_kind = attribute & 16 ? TRACE_KIND_REALLOCARRAY : TRACE_KIND_REALLOC;
    if (!trace_get_ticks(p, end, coding, &record->free_ticks) ||
        !trace_get_ticks(p, end, coding, &record->ticks) ||
        !trace_get_address(p, end, coding, head >> 6, &record->old_address))
        return false;
    record->address = record->old_address;
    if (record->outcome == TRACE_REALLOC_MOVED) {
        if (!trace_get_address(p, end, coding, attribute >> 2 & 3, &record->address))
            return false;
    } else if (attribute >> 2 & 3)
        return false;
    return trace_get_size(p, end, coding, head >> 5 & 1, &record->size) &&
           trace_get_stack(p, end, coding, head >> 3 & 3, &record->stack);
}

static inline bool trace_get_node_body(const uint8_t **p, const uint8_t *end,
                                       struct trace_coding *coding, unsigned head,
                                       struct trace_record *record)
{
    uint64_t value;
    if (head >> 6 || !trace_get_varint(p, end, &value))
        return false;
    int64_t id = (int64_t)((uint64_t)coding->node + (uint64_t)trace_unzigzag(value));
    if (id <= 0 || id > UINT32_MAX)
        return false;
    record->node.id = (uint32_t)id;
    record->node.parent = coding->node;
    record->node.frame = (enum trace_node_frame)(head >> 4 & 3);
    if (!(head & 8)) {
        if (!trace_get_varint(p, end, &value) || value > UINT32_MAX)
            return false;
        record->node.parent = (uint32_t)value;
    } else if (coding->node == 0)
        return false;
    coding->node = record->node.id;
    if (record->node.frame > TRACE_FRAME_EXACT)
        return true;
    if (!trace_get_varint(p, end, &value) || value > UINT32_MAX)
        return false;
    record->node.module = (uint32_t)value;
    return trace_get_varint(p, end, &record->node.value);
}

static inline bool trace_get_extended_body(const uint8_t **p, const uint8_t *end, unsigned head,
                                           struct trace_record *record)
{
    uint64_t length;
    if (head >> 3 || !trace_get_varint(p, end, &record->extended.type) ||
        !trace_get_varint(p, end, &length) || length > (uint64_t)(end - *p))
        return false;
    record->extended.payload = *p;
    record->extended.end = *p + length;
    *p += length;
    return true;
}

/*
 * Decodes the record at *p and moves *p behind it. TRACE_GET_END at `end`. TRACE_GET_DAMAGED
 * where the bytes are no record; *p is then unchanged and nothing behind it in this chunk can
 * be trusted. SWITCH records are returned as extended ones: the caller resets the coding.
 */
static inline enum trace_get trace_get(const uint8_t **p, const uint8_t *end,
                                       struct trace_coding *coding, struct trace_record *record)
{
    const uint8_t *at = *p;
    if (at >= end)
        return TRACE_GET_END;
    unsigned head = *at++;
    bool good = false;
    memset(record, 0, sizeof *record);
    record->kind = (enum trace_kind)(head & 7);
    switch (record->kind) {
    case TRACE_ALLOC:
    case TRACE_ALLOC_ATTR:
        good = trace_get_alloc_body(&at, end, coding, head, record);
        break;
    case TRACE_FREE:
        good = !(head >> 3 & 7) && trace_get_ticks(&at, end, coding, &record->ticks) &&
               trace_get_address(&at, end, coding, head >> 6, &record->address);
        break;
    case TRACE_FREE_STACK:
        good = !(head >> 5 & 1) && trace_get_ticks(&at, end, coding, &record->ticks) &&
               trace_get_address(&at, end, coding, head >> 6, &record->address) &&
               trace_get_stack(&at, end, coding, head >> 3 & 3, &record->stack);
        break;
    case TRACE_REALLOC:
        good = trace_get_realloc_body(&at, end, coding, head, record);
        break;
    case TRACE_NODE:
        good = trace_get_node_body(&at, end, coding, head, record);
        break;
    case TRACE_EXTENDED:
        good = trace_get_extended_body(&at, end, head, record);
        break;
    default:
        break;
    }
    if (!good)
        return TRACE_GET_DAMAGED;
    *p = at;
    return TRACE_GET_RECORD;
}

static inline bool trace_get_string(const uint8_t **p, const uint8_t *end, const char **text,
                                    size_t *length)
{
    uint64_t value;
    if (!trace_get_varint(p, end, &value) || value > (uint64_t)(end - *p))
        return false;
    *text = (const char *)*p;
    *length = (size_t)value;
    *p += value;
    return true;
}

#endif
