/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace format 1: the one codec that capture (writer) and ingest (reader) share.
 *
 * schemas/trace-format.md is normative; this header follows it. Everything here is inline,
 * allocates nothing, calls only mem* of libc, and is safe in a signal handler.
 *
 * A writer fills a `struct trace_coding` with trace_coding_reset() for every chunk and after every
 * SWITCH record. It puts records with trace_put_*() at a cursor that has at least TRACE_RECORD_MAX
 * bytes left. It publishes them by a release store of the chunk's `commit`.
 * A reader resets in the same places and calls trace_get() until it returns TRACE_GET_END or
 * TRACE_GET_DAMAGED. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "schemas/trace_coding.h"
#include "schemas/trace_layout.h"

/* ---- writing ---------------------------------------------------------------------------- */
/* Each function returns the cursor after the record, at most TRACE_RECORD_MAX bytes further. */

static inline uint8_t *trace_put_size(uint8_t *p, struct trace_coding *coding, uint64_t size,
                                      unsigned *same)
{
    *same = size == coding->size;
    coding->size = size;
    return *same ? p : trace_put_varint(p, size);
}

static inline uint8_t *trace_put_alloc(uint8_t *p, struct trace_coding *coding, uint64_t ticks,
                                       uint64_t address, uint64_t size, uint32_t stack,
                                       enum trace_alloc_kind kind, unsigned log2_alignment)
{
    uint8_t *head = p++;
    unsigned address_mode, stack_mode, same_size;
    if (kind != TRACE_KIND_MALLOC) {
        *p++ = (uint8_t)kind;
        if (kind >= TRACE_KIND_POSIX_MEMALIGN)
            *p++ = (uint8_t)log2_alignment;
    }
    p = trace_put_ticks(p, coding, ticks);
    p = trace_put_address(p, coding, address, &address_mode);
    p = trace_put_size(p, coding, size, &same_size);
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

/* Writes a REALLOC. `free_ticks` was read before the real call, `ticks` after it. */
static inline uint8_t *trace_put_realloc(uint8_t *p, struct trace_coding *coding,
                                         uint64_t free_ticks, uint64_t ticks, uint64_t old_address,
                                         uint64_t address, uint64_t size, uint32_t stack,
                                         enum trace_realloc_outcome outcome, bool array)
{
    uint8_t *head = p++, *attribute = p++;
    unsigned old_mode, new_mode = 0, stack_mode, same_size;
    p = trace_put_ticks(p, coding, free_ticks);
    p = trace_put_ticks(p, coding, ticks);
    p = trace_put_address(p, coding, old_address, &old_mode);
    if (outcome == TRACE_REALLOC_MOVED)
        p = trace_put_address(p, coding, address, &new_mode);
    p = trace_put_size(p, coding, size, &same_size);
    p = trace_put_stack(p, coding, stack, &stack_mode);
    *attribute = (uint8_t)((unsigned)outcome | new_mode << 2 | (unsigned)array << 4);
    *head = (uint8_t)(TRACE_REALLOC | stack_mode << 3 | same_size << 5 | old_mode << 6);
    return p;
}

/* Bits of a NODE's first byte. */
enum { TRACE_NODE_NEXT = 64, TRACE_NODE_SAME_MODULE = 128 };

/* Writes node `id` (> 0, unique in the trace) under `parent` (0: this is the outermost frame).
 * `module` 0 means that no module was mapped there: `value` is then the address itself. Otherwise
 * `value` is the address minus the module's load bias. */
static inline uint8_t *trace_put_node(uint8_t *p, struct trace_coding *coding, uint32_t id,
                                      uint32_t parent, enum trace_node_frame frame, uint32_t module,
                                      uint64_t value)
{
    const bool code = frame <= TRACE_FRAME_EXACT;
    const unsigned chained = parent == coding->node && parent != 0;
    const unsigned next = id == coding->node + 1, same = code && module == coding->module;
    *p++ = (uint8_t)(TRACE_NODE | chained << 3 | (unsigned)frame << 4 |
                     (next ? TRACE_NODE_NEXT : 0u) | (same ? TRACE_NODE_SAME_MODULE : 0u));
    if (!next)
        p = trace_put_varint(p, trace_zigzag((int64_t)id - (int64_t)coding->node));
    if (!chained)
        p = trace_put_varint(p, parent);
    coding->node = id;
    if (!code)
        return p;
    if (!same)
        p = trace_put_varint(p, module);
    coding->module = module;
    return trace_put_varint(p, value);
}

static inline uint8_t *trace_put_string(uint8_t *p, const char *text, size_t length)
{
    p = trace_put_varint(p, length);
    memcpy(p, text, length);
    return p + length;
}

/* Writes an EXTENDED record. `length` is at most TRACE_EXTENDED_MAX; needs length + 12 bytes. */
static inline uint8_t *trace_put_extended(uint8_t *p, enum trace_extended type,
                                          const uint8_t *payload, size_t length)
{
    *p++ = TRACE_EXTENDED;
    p = trace_put_varint(p, (uint64_t)type);
    p = trace_put_varint(p, length);
    memcpy(p, payload, length);
    return p + length;
}

/* Bits 3-4 of the first byte of an EXTENDED record, then bits of its attribute byte. */
enum {
    TRACE_FORM_EXTENDED = 0,
    TRACE_FORM_ARENA_ALLOC = 1,
    TRACE_FORM_ARENA_FREE = 2,
    TRACE_FORM_ARENA_COLLECTED = 3,
};
enum { TRACE_ARENA_OTHER = 4, TRACE_ARENA_COUNT = 8, TRACE_ARENA_KIND = 16 };

static inline uint8_t *trace_put_arena(uint8_t *p, struct trace_coding *coding, uint32_t arena,
                                       unsigned *other)
{
    *other = arena != coding->arena;
    coding->arena = arena;
    return *other ? trace_put_varint(p, arena) : p;
}

/* Writes the allocation of a block that holds `count` objects in an arena (> 0). `kind` is its
 * type's id in KIND; 0: not known. */
static inline uint8_t *trace_put_arena_alloc(uint8_t *p, struct trace_coding *coding,
                                             uint64_t ticks, uint32_t arena, uint64_t address,
                                             uint64_t size, uint64_t count, uint32_t stack,
                                             uint32_t kind)
{
    uint8_t *head = p++, *attribute = p++;
    unsigned address_mode, stack_mode, other, same_size;
    p = trace_put_arena(p, coding, arena, &other);
    p = trace_put_ticks(p, coding, ticks);
    p = trace_put_address(p, coding, address, &address_mode);
    p = trace_put_size(p, coding, size, &same_size);
    p = trace_put_stack(p, coding, stack, &stack_mode);
    if (count != 1)
        p = trace_put_varint(p, count);
    if (kind != 0)
        p = trace_put_varint(p, kind);
    *attribute =
        (uint8_t)(stack_mode | (other ? TRACE_ARENA_OTHER : 0u) |
                  (count != 1 ? TRACE_ARENA_COUNT : 0u) | (kind != 0 ? TRACE_ARENA_KIND : 0u));
    *head = (uint8_t)(TRACE_EXTENDED | TRACE_FORM_ARENA_ALLOC << 3 | same_size << 5 |
                      address_mode << 6);
    return p;
}

/* Writes the end of a block of an arena. `collected`: a garbage collector took it back. */
static inline uint8_t *trace_put_arena_free(uint8_t *p, struct trace_coding *coding, uint64_t ticks,
                                            uint32_t arena, uint64_t address, bool collected)
{
    const unsigned form = collected ? TRACE_FORM_ARENA_COLLECTED : TRACE_FORM_ARENA_FREE;
    uint8_t *head = p++;
    unsigned address_mode, other;
    p = trace_put_arena(p, coding, arena, &other);
    p = trace_put_ticks(p, coding, ticks);
    p = trace_put_address(p, coding, address, &address_mode);
    *head = (uint8_t)(TRACE_EXTENDED | form << 3 | other << 5 | address_mode << 6);
    return p;
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
        /* NULL in a short record: its fields are ticks, address, size, stack and `block` */
        const uint8_t *payload, *end;
    } extended;
    struct {
        uint32_t arena;
        uint64_t count;
        uint64_t kind;
        bool collected;
    } block;
};

/* Returns true if the record has a payload. A short one has none: its fields are in the record. */
static inline bool trace_record_has_payload(const struct trace_record *record)
{
    return record->kind == TRACE_EXTENDED && record->extended.payload;
}

/* Clears field by field: gcc turns a memset of this size, or an empty initialiser, into a string
 * instruction that takes longer than all the rest of a record. */
static inline void trace_record_clear(struct trace_record *record, enum trace_kind kind)
{
    record->kind = kind;
    record->alloc_kind = TRACE_KIND_MALLOC;
    record->ticks = record->free_ticks = 0;
    record->address = record->old_address = 0;
    record->size = record->alignment = 0;
    record->stack = 0;
    record->outcome = TRACE_REALLOC_MOVED;
    record->node.id = record->node.parent = record->node.module = 0;
    record->node.frame = TRACE_FRAME_RETURN;
    record->node.value = 0;
    record->extended.type = 0;
    record->extended.payload = record->extended.end = NULL;
    record->block.arena = 0;
    record->block.count = 0;
    record->block.kind = 0;
    record->block.collected = false;
}

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
    uint64_t value = trace_zigzag(1);
    if (!(head & TRACE_NODE_NEXT) && !trace_get_varint(p, end, &value))
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
        return !(head & TRACE_NODE_SAME_MODULE);
    value = coding->module;
    if (!(head & TRACE_NODE_SAME_MODULE) &&
        (!trace_get_varint(p, end, &value) || value > UINT32_MAX))
        return false;
    record->node.module = coding->module = (uint32_t)value;
    return trace_get_varint(p, end, &record->node.value);
}

static inline bool trace_get_arena(const uint8_t **p, const uint8_t *end,
                                   struct trace_coding *coding, unsigned other,
                                   struct trace_record *record)
{
    uint64_t arena = coding->arena;
    if (other && !trace_get_varint(p, end, &arena))
        return false;
    if (arena == 0 || arena > UINT32_MAX)
        return false;
    record->block.arena = coding->arena = (uint32_t)arena;
    return true;
}

static inline bool trace_get_arena_alloc(const uint8_t **p, const uint8_t *end,
                                         struct trace_coding *coding, unsigned head,
                                         struct trace_record *record)
{
    if (*p == end)
        return false;
    const unsigned attribute = *(*p)++;
    record->extended.type = TRACE_EXT_ARENA_ALLOC;
    record->block.count = 1;
    return attribute >> 5 == 0 &&
           trace_get_arena(p, end, coding, attribute & TRACE_ARENA_OTHER, record) &&
           trace_get_ticks(p, end, coding, &record->ticks) &&
           trace_get_address(p, end, coding, head >> 6, &record->address) &&
           trace_get_size(p, end, coding, head >> 5 & 1, &record->size) &&
           trace_get_stack(p, end, coding, attribute & 3, &record->stack) &&
           (!(attribute & TRACE_ARENA_COUNT) || trace_get_varint(p, end, &record->block.count)) &&
           (!(attribute & TRACE_ARENA_KIND) || trace_get_varint(p, end, &record->block.kind));
}

static inline bool trace_get_arena_free(const uint8_t **p, const uint8_t *end,
                                        struct trace_coding *coding, unsigned head,
                                        struct trace_record *record)
{
    record->extended.type = TRACE_EXT_ARENA_FREE;
    record->block.collected = (head >> 3 & 3) == TRACE_FORM_ARENA_COLLECTED;
    return trace_get_arena(p, end, coding, head >> 5 & 1, record) &&
           trace_get_ticks(p, end, coding, &record->ticks) &&
           trace_get_address(p, end, coding, head >> 6, &record->address);
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

/* Decodes the record at *p and moves *p past it. Returns TRACE_GET_END at `end`, and
 * TRACE_GET_DAMAGED if the bytes are not a record: *p is then unchanged and nothing after it in
 * this chunk can be trusted. Returns SWITCH records as extended ones: the caller resets the
 * coding. */
static inline enum trace_get trace_get(const uint8_t **p, const uint8_t *end,
                                       struct trace_coding *coding, struct trace_record *record)
{
    const uint8_t *at = *p;
    if (at >= end)
        return TRACE_GET_END;
    unsigned head = *at++;
    bool good = false;
    trace_record_clear(record, (enum trace_kind)(head & 7));
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
        if ((head >> 3 & 3) == TRACE_FORM_ARENA_ALLOC)
            good = trace_get_arena_alloc(&at, end, coding, head, record);
        else if ((head >> 3 & 3) != TRACE_FORM_EXTENDED)
            good = trace_get_arena_free(&at, end, coding, head, record);
        else
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
