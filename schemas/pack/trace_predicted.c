/* SPDX-License-Identifier: BSD-2-Clause */
#include "schemas/pack/trace_predicted.h"

#include "schemas/pack/trace_walk.h"

/* The ways to code the address of an allocation: bits 6-7 of its first byte. */
enum { PLACE_FREED_LAST, PLACE_FREED, PLACE_BEHIND, PLACE_ELSEWHERE };
/* The ways to code a freed block. */
enum { END_NEWEST, END_AFTER, END_BEFORE, END_RANKED, END_DISTANT, END_ELSEWHERE, END_WAYS };
/* The ways to code a stack: bits 3-4. */
enum { STACK_AFTER_TWO, STACK_AFTER_ONE, STACK_NEWEST_NODE, STACK_OTHER };

enum { SIZE_OTHER = 32 };

/* Compiles each direction separately, with `join` a constant. */
#define INLINE inline __attribute__((always_inline))

/*
 * The state of a split or a join. One code serves both directions, so they cannot differ: each
 * say_*() writes a field to its column or, if `join`, reads it from there. It tells the model in
 * the same place.
 */
struct predicted {
    struct trace_walk walk;
    struct trace_model *model;
    struct trace_coding coding; /* as the writer of the records had it */
};

/* Codes a varint: its first byte goes into `column` and byte n into column + n, up to `last`. */
static INLINE bool say(struct predicted *it, bool join, unsigned column, unsigned last,
                       uint64_t *value)
{
    uint64_t sum = 0, rest = *value;
    for (unsigned n = 0; n < 10; n++) {
        struct trace_span *at = &it->walk.columns[column + n < last ? column + n : last];
        if (at->at >= at->end)
            return false;
        if (!join)
            *at->at = (uint8_t)(rest < 0x80 ? rest : rest | 0x80);
        const uint8_t byte = *at->at++;
        rest >>= 7;
        sum |= (uint64_t)(byte & 0x7f) << (7 * n);
        if (byte < 0x80) {
            *value = sum;
            return true;
        }
    }
    return false;
}

static INLINE bool say_ticks(struct predicted *it, bool join, unsigned column, uint64_t base,
                             uint64_t *ticks)
{
    uint64_t delta = *ticks - base;
    if (!say(it, join, column, column + 1, &delta))
        return false;
    *ticks = base + delta;
    return true;
}

/* Codes an address that was not predicted by its distance from `last`, in steps of 16 if that is
 * exact. */
static inline bool say_delta(struct predicted *it, bool join, unsigned column, uint64_t last,
                             uint64_t *address)
{
    const uint64_t delta = *address - last;
    uint64_t value =
        delta & 15 ? trace_zigzag((int64_t)delta) << 1 | 1 : trace_zigzag((int64_t)delta >> 4) << 1;
    /* The highest bit of a delta may be lost: again_is_same() then finds another record. */
    if (!say(it, join, column, column + 2, &value))
        return false;
    const uint64_t distance = (uint64_t)trace_unzigzag(value >> 1);
    *address = last + (value & 1 ? distance : distance << 4);
    return true;
}

static inline uint32_t expected_stack(const struct predicted *it, unsigned how)
{
    return how == STACK_AFTER_TWO   ? trace_model_stack_after_two(it->model)
           : how == STACK_AFTER_ONE ? trace_model_stack_after_one(it->model)
                                    : it->coding.node;
}

static bool say_other_stack(struct predicted *it, bool join, uint32_t *stack)
{
    const uint32_t last = it->model->stack, slot = trace_stack_slot(*stack);
    uint64_t value = 0, index = slot;
    if (!join && it->coding.stack_cache[slot] != *stack)
        value = trace_zigzag((int64_t)*stack - (int64_t)last) + 1;
    if (!say(it, join, TRACE_COLUMN_STACK, TRACE_COLUMN_STACK, &value))
        return false;
    if (value != 0) {
        *stack = (uint32_t)((uint64_t)last + (uint64_t)trace_unzigzag(value - 1));
        return true;
    }
    if (!say(it, join, TRACE_COLUMN_STACK_INDEX, TRACE_COLUMN_STACK_INDEX, &index) ||
        index >= TRACE_CACHE_SIZE)
        return false;
    *stack = it->coding.stack_cache[index];
    return true;
}

static INLINE bool say_stack(struct predicted *it, bool join, unsigned *how, uint32_t *stack)
{
    if (!join)
        for (*how = 0; *how < STACK_OTHER && expected_stack(it, *how) != *stack; (*how)++)
            ;
    if (*how != STACK_OTHER)
        *stack = expected_stack(it, *how);
    else if (!say_other_stack(it, join, stack))
        return false;
    trace_model_put_stack(it->model, *stack);
    return true;
}

static INLINE bool say_size(struct predicted *it, bool join, unsigned *how, uint32_t stack,
                            uint64_t *size)
{
    uint64_t *expected = trace_model_size(it->model, stack);
    if (!join)
        *how = *size == *expected ? 0 : SIZE_OTHER;
    if (*how == 0)
        *size = *expected;
    else if (!say(it, join, TRACE_COLUMN_SIZE, TRACE_COLUMN_SIZE, size))
        return false;
    *expected = *size;
    return true;
}

/* Chooses how to code the address of an allocation, for the packer. `place` is that of the address
 * in the table of blocks. */
static unsigned place_way(const struct predicted *it, unsigned class, uint64_t address,
                          const uint32_t *place, uint64_t *rank)
{
    /* Most addresses that are not in the list were never allocated before. */
    *rank = *place == 0 ? TRACE_MODEL_RANKS : trace_model_freed_rank(it->model, class, address);
    if (*rank < TRACE_MODEL_RANKS)
        return *rank == 0 ? PLACE_FREED_LAST : PLACE_FREED;
    return it->model->behind == address ? PLACE_BEHIND : PLACE_ELSEWHERE;
}

/* Codes the address of a new block of `size` bytes. */
static INLINE bool say_place(struct predicted *it, bool join, unsigned *how, uint64_t size,
                             uint64_t last, uint64_t *address)
{
    const unsigned class = trace_model_class(size), column = TRACE_COLUMN_ALLOC_ADDRESS;
    uint32_t *place = join ? NULL : trace_model_place(it->model, *address);
    uint64_t rank = 0;
    if (!join)
        *how = place_way(it, class, *address, place, &rank);
    if (*how <= PLACE_FREED) {
        if (*how == PLACE_FREED && !say(it, join, column, column, &rank))
            return false;
        if (rank >= TRACE_MODEL_RANKS ||
            !trace_model_freed_at(it->model, class, (unsigned)rank, address))
            return false;
        trace_model_take(it->model, class, (unsigned)rank);
    } else if (*how == PLACE_BEHIND) {
        *address = it->model->behind;
    } else if (!say_delta(it, join, column + 1, last, address)) {
        return false;
    }
    const uint32_t block = trace_model_begin(it->model, *address, size);
    if (!join && block == 1)
        place = trace_model_place(it->model, *address);
    if (!join)
        *place = block;
    return true;
}

static unsigned end_way(const struct predicted *it, uint32_t block, uint64_t *number)
{
    if (block == it->model->block[0].before)
        return END_NEWEST;
    if (block == trace_model_after(it->model))
        return END_AFTER;
    if (block == it->model->before)
        return END_BEFORE;
    *number = trace_model_rank(it->model, block);
    if (*number < TRACE_MODEL_RANKS)
        return END_RANKED;
    *number = trace_zigzag((int64_t)block - (int64_t)it->model->before);
    return END_DISTANT;
}

/* Chooses how to code a block that is freed, or that a failed realloc keeps, for the packer. */
static unsigned choose_end(const struct predicted *it, uint64_t address, uint64_t *number)
{
    const uint32_t block = trace_model_find(it->model, address);
    return trace_model_is_live(it->model, block) ? end_way(it, block, number) : END_ELSEWHERE;
}

/* Codes a block that is freed. Stores its number in *known, 0 if the model does not know it. */
static INLINE bool say_end(struct predicted *it, bool join, unsigned how, uint64_t number,
                           uint64_t *address, uint32_t *known)
{
    const struct trace_model *model = it->model;
    const unsigned column = TRACE_COLUMN_FREE_ADDRESS;
    uint64_t block = 0;
    *known = 0;
    switch (how) {
    case END_NEWEST:
        block = model->block[0].before;
        break;
    case END_AFTER:
        block = trace_model_after(model);
        break;
    case END_BEFORE:
        block = model->before;
        break;
    case END_RANKED:
        if (!say(it, join, column, column, &number) || number >= TRACE_MODEL_RANKS)
            return false;
        block = trace_model_ranked(model, (unsigned)number);
        break;
    case END_DISTANT:
        if (!say(it, join, column + 1, column + 3, &number))
            return false;
        block = (uint64_t)model->before + (uint64_t)trace_unzigzag(number);
        break;
    case END_ELSEWHERE:
        return say_delta(it, join, column + 1, it->coding.address, address);
    default:
        return false;
    }
    if (!trace_model_is_live(model, block))
        return false;
    *known = (uint32_t)block;
    *address = model->block[block].address;
    return true;
}

/* ---- records ---------------------------------------------------------------------------- */
/* Each function has the five upper bits of the first byte in *bits and the record in `record`. */

static INLINE bool say_attribute(struct predicted *it, bool join, uint64_t *byte)
{
    return say(it, join, TRACE_COLUMN_ATTRIBUTE, TRACE_COLUMN_ATTRIBUTE, byte);
}

/* Codes stack, size and, if `placed`, the new address. */
static INLINE bool say_block(struct predicted *it, bool join, unsigned *bits, uint64_t last,
                             bool placed, struct trace_record *record)
{
    unsigned stack = *bits >> 3 & 3, size = *bits & SIZE_OTHER, place = *bits >> 6;
    if (!say_stack(it, join, &stack, &record->stack) ||
        !say_size(it, join, &size, record->stack, &record->size) ||
        (placed && !say_place(it, join, &place, record->size, last, &record->address)))
        return false;
    *bits = stack << 3 | size | place << 6;
    return true;
}

static bool say_kind(struct predicted *it, bool join, struct trace_record *record)
{
    uint64_t kind = (uint64_t)record->alloc_kind, log2 = 0;
    if (!say_attribute(it, join, &kind) || kind == TRACE_KIND_MALLOC || kind >= TRACE_KIND_COUNT)
        return false;
    record->alloc_kind = (enum trace_alloc_kind)kind;
    if (kind < TRACE_KIND_POSIX_MEMALIGN)
        return true;
    if (!join)
        log2 = (uint64_t)__builtin_ctzll(record->alignment);
    if (!say_attribute(it, join, &log2) || log2 > 63)
        return false;
    record->alignment = UINT64_C(1) << log2;
    return true;
}

static INLINE bool say_alloc(struct predicted *it, bool join, unsigned *bits,
                             struct trace_record *record)
{
    return (record->kind == TRACE_ALLOC || say_kind(it, join, record)) &&
           say_ticks(it, join, TRACE_COLUMN_ALLOC_STAMP, it->coding.ticks, &record->ticks) &&
           say_block(it, join, bits, it->coding.address, true, record);
}

static INLINE bool say_free(struct predicted *it, bool join, unsigned *bits,
                            struct trace_record *record)
{
    unsigned end = *bits >> 5, stack = *bits >> 3 & 3;
    uint64_t number = 0;
    uint32_t block;
    if (!join)
        end = choose_end(it, record->address, &number);
    else if (record->kind == TRACE_FREE && stack != 0)
        return false;
    if (!say_ticks(it, join, TRACE_COLUMN_FREE_STAMP, it->coding.ticks, &record->ticks) ||
        !say_end(it, join, end, number, &record->address, &block))
        return false;
    if (block != 0)
        trace_model_end(it->model, block);
    if (record->kind == TRACE_FREE_STACK && !say_stack(it, join, &stack, &record->stack))
        return false;
    *bits = end << 5 | (record->kind == TRACE_FREE_STACK ? stack << 3 : 0u);
    return true;
}

static bool say_realloc(struct predicted *it, bool join, unsigned *bits,
                        struct trace_record *record)
{
    const bool array = record->alloc_kind == TRACE_KIND_REALLOCARRAY;
    uint64_t number = 0;
    uint32_t block;
    unsigned end = join ? 0 : choose_end(it, record->old_address, &number);
    uint64_t attribute = (unsigned)record->outcome | (array ? 4u : 0u) | end << 3;
    if (!say_attribute(it, join, &attribute) || (attribute & 3) > TRACE_REALLOC_FAILED ||
        attribute >> 6)
        return false;
    end = (unsigned)(attribute >> 3);
    record->outcome = (enum trace_realloc_outcome)(attribute & 3);
    record->alloc_kind = attribute & 4 ? TRACE_KIND_REALLOCARRAY : TRACE_KIND_REALLOC;
    if (!say_ticks(it, join, TRACE_COLUMN_FREE_STAMP, it->coding.ticks, &record->free_ticks) ||
        !say_ticks(it, join, TRACE_COLUMN_ALLOC_STAMP, record->free_ticks, &record->ticks) ||
        !say_end(it, join, end, number, &record->old_address, &block))
        return false;
    const bool moved = record->outcome == TRACE_REALLOC_MOVED;
    if (moved && block != 0)
        trace_model_end(it->model, block);
    if (!say_block(it, join, bits, record->old_address, moved, record))
        return false;
    if (record->outcome == TRACE_REALLOC_IN_PLACE && block != 0)
        it->model->block[block].class = (uint8_t)trace_model_class(record->size);
    return true;
}

static INLINE bool say_event(struct predicted *it, bool join, unsigned *bits,
                             struct trace_record *record)
{
    switch (record->kind) {
    case TRACE_ALLOC:
    case TRACE_ALLOC_ATTR:
        return say_alloc(it, join, bits, record);
    case TRACE_FREE:
    case TRACE_FREE_STACK:
        return say_free(it, join, bits, record);
    default:
        return say_realloc(it, join, bits, record);
    }
}

/* Writes the record with trace_codec.h. */
static uint8_t *put_event(uint8_t *p, struct trace_coding *coding,
                          const struct trace_record *record)
{
    switch (record->kind) {
    case TRACE_ALLOC:
    case TRACE_ALLOC_ATTR:
        return trace_put_alloc(p, coding, record->ticks, record->address, record->size,
                               record->stack, record->alloc_kind,
                               record->alignment ? (unsigned)__builtin_ctzll(record->alignment)
                                                 : 0u);
    case TRACE_FREE:
        return trace_put_free(p, coding, record->ticks, record->address);
    case TRACE_FREE_STACK:
        return trace_put_free_stack(p, coding, record->ticks, record->address, record->stack);
    default:
        return trace_put_realloc(p, coding, record->free_ticks, record->ticks, record->old_address,
                                 record->address, record->size, record->stack, record->outcome,
                                 record->alloc_kind == TRACE_KIND_REALLOCARRAY);
    }
}

/* Brings the coding state to where it was after the writer wrote `record`. */
static bool follow(struct trace_coding *coding, const uint8_t *record, const uint8_t *end)
{
    struct trace_record got;
    uint64_t thread, sequence, ticks;
    const uint8_t *at = record;
    if (trace_get(&at, end, coding, &got) != TRACE_GET_RECORD || at != end)
        return false;
    if (got.kind != TRACE_EXTENDED || got.extended.type != TRACE_EXT_SWITCH)
        return true;
    at = got.extended.payload;
    if (trace_get_varint(&at, got.extended.end, &thread) &&
        trace_get_varint(&at, got.extended.end, &sequence) &&
        trace_get_varint(&at, got.extended.end, &ticks))
        trace_coding_reset(coding, ticks);
    return true;
}

/* Moves a NODE or an extended record byte by byte, as trace_columns.c does. */
static bool move_other(struct predicted *it)
{
    const uint8_t *record = it->walk.records->at;
    uint8_t head = 0;
    return move_byte(&it->walk, TRACE_COLUMN_HEAD, &head) &&
           ((head & 7) == TRACE_NODE ? move_node(&it->walk, head)
                                     : move_extended(&it->walk, head)) &&
           follow(&it->coding, record, it->walk.records->at);
}

static bool is_event(unsigned head)
{
    return (head & 7) >= TRACE_ALLOC && (head & 7) != TRACE_NODE && (head & 7) != TRACE_EXTENDED;
}

/* Records as the codec writes them again, to compare with the original bytes. */
struct again {
    const uint8_t *from;
    size_t length;
    uint8_t bytes[4096];
};

static bool again_is_same(struct again *again, const uint8_t *next)
{
    const bool same = memcmp(again->from, again->bytes, again->length) == 0;
    again->from = next;
    again->length = 0;
    return same;
}

static inline bool split_event(struct predicted *it, struct trace_coding *reading,
                               struct again *again)
{
    struct trace_span *records = it->walk.records;
    const uint8_t *begin = records->at, *end = begin;
    struct trace_record record;
    unsigned bits = 0;
    if (trace_get(&end, records->end, reading, &record) != TRACE_GET_RECORD ||
        !say_event(it, false, &bits, &record))
        return false;
    uint8_t *put = again->bytes + again->length;
    const size_t length = (size_t)(put_event(put, &it->coding, &record) - put);
    struct trace_span *heads = &it->walk.columns[TRACE_COLUMN_HEAD];
    if (length != (size_t)(end - begin) || heads->at >= heads->end)
        return false;
    *heads->at++ = (uint8_t)((unsigned)record.kind | bits);
    records->at += length;
    again->length += length;
    return again->length <= sizeof(again->bytes) - TRACE_RECORD_MAX ||
           again_is_same(again, records->at);
}

static bool join_event(struct predicted *it, unsigned head)
{
    struct trace_span *records = it->walk.records;
    const size_t room = (size_t)(records->end - records->at);
    uint8_t bytes[TRACE_RECORD_MAX], *put = room < sizeof(bytes) ? bytes : records->at;
    struct trace_record record;
    unsigned bits = head & ~7u;
    trace_record_clear(&record, (enum trace_kind)(head & 7));
    it->walk.columns[TRACE_COLUMN_HEAD].at++;
    if (!say_event(it, true, &bits, &record))
        return false;
    const size_t length = (size_t)(put_event(put, &it->coding, &record) - put);
    if (length > room)
        return false;
    if (put == bytes)
        memcpy(records->at, bytes, length);
    records->at += length;
    return true;
}

bool trace_predicted_split(struct trace_model *model, uint64_t base_ticks,
                           struct trace_span *records,
                           struct trace_span columns[TRACE_COLUMN_COUNT])
{
    struct predicted it = {.walk = {records, columns, false}, .model = model};
    struct trace_coding reading;
    struct again again = {.from = records->at};
    trace_coding_reset(&it.coding, base_ticks);
    trace_coding_reset(&reading, base_ticks);
    while (records->at < records->end) {
        if (is_event(*records->at)) {
            if (!split_event(&it, &reading, &again))
                return false;
            continue;
        }
        const uint8_t *record = records->at;
        if (!again_is_same(&again, record) || !move_other(&it) ||
            !follow(&reading, record, records->at))
            return false;
        again.from = records->at;
    }
    return again_is_same(&again, records->at);
}

bool trace_predicted_join(struct trace_model *model, uint64_t base_ticks,
                          struct trace_span *records, struct trace_span columns[TRACE_COLUMN_COUNT])
{
    struct predicted it = {.walk = {records, columns, true}, .model = model};
    const struct trace_span *heads = &columns[TRACE_COLUMN_HEAD];
    trace_coding_reset(&it.coding, base_ticks);
    while (records->at < records->end)
        if (heads->at >= heads->end ||
            !(is_event(*heads->at) ? join_event(&it, *heads->at) : move_other(&it)))
            return false;
    return true;
}
