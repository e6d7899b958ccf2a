#include "schemas/trace_predicted.h"

#include "schemas/trace_walk.h"

/* How an allocation's address is said: bits 6-7 of its first byte. */
enum { PLACE_FREED_LAST, PLACE_FREED, PLACE_BEHIND, PLACE_ELSEWHERE };
/* How a freed block is said. */
enum { END_NEWEST, END_AFTER, END_BEFORE, END_RANKED, END_DISTANT, END_ELSEWHERE, END_WAYS };
/* How a stack is said: bits 3-4. */
enum { STACK_AFTER_TWO, STACK_AFTER_ONE, STACK_NEWEST_NODE, STACK_OTHER };

enum { SIZE_OTHER = 32 };

/*
 * Both ways are one code, so that they cannot differ: each field is either looked at and said, or
 * heard and made, and told to the model in the same place.
 */
struct predicted {
    struct trace_walk walk;
    struct trace_model *model;
    struct trace_coding coding; /* as the writer of the records had it */
};

/* A varint whose first byte stands in `column` and byte n in column + n, up to `last`. */
static inline bool say(struct predicted *it, unsigned column, unsigned last, uint64_t *value)
{
    uint64_t sum = 0, rest = *value;
    for (unsigned n = 0; n < 10; n++) {
        struct trace_span *at = &it->walk.columns[column + n < last ? column + n : last];
        if (at->at >= at->end)
            return false;
        if (!it->walk.join)
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

static inline bool say_ticks(struct predicted *it, unsigned column, uint64_t base, uint64_t *ticks)
{
    uint64_t delta = *ticks - base;
    if (!say(it, column, column + 1, &delta))
        return false;
    *ticks = base + delta;
    return true;
}

/* An address that is not expected: how far it is from `last`, in steps of 16 where that goes. */
static inline bool say_delta(struct predicted *it, unsigned column, uint64_t last,
                             uint64_t *address)
{
    const uint64_t delta = *address - last;
    uint64_t value =
        delta & 15 ? trace_zigzag((int64_t)delta) << 1 | 1 : trace_zigzag((int64_t)delta >> 4) << 1;
    /* The highest bit of a delta may be lost: the record does then not come back. */
    if (!say(it, column, column + 2, &value))
        return false;
    const uint64_t distance = (uint64_t)trace_unzigzag(value >> 1);
    *address = last + (value & 1 ? distance : distance << 4);
    return true;
}

static bool say_stack(struct predicted *it, unsigned *how, uint32_t *stack)
{
    struct trace_model *model = it->model;
    const uint32_t expected[] = {trace_model_stack(model), trace_model_stack_after_one(model),
                                 it->coding.node};
    if (!it->walk.join)
        for (*how = 0; *how < STACK_OTHER && expected[*how] != *stack; (*how)++)
            ;
    if (*how != STACK_OTHER) {
        *stack = expected[*how];
    } else {
        const uint32_t last = trace_model_last_stack(model);
        const uint32_t slot = trace_stack_slot(*stack);
        uint64_t value = 0, index = slot;
        if (!it->walk.join && it->coding.stack_cache[slot] != *stack)
            value = trace_zigzag((int64_t)*stack - (int64_t)last) + 1;
        if (!say(it, TRACE_COLUMN_STACK, TRACE_COLUMN_STACK, &value))
            return false;
        if (value != 0)
            *stack = (uint32_t)((uint64_t)last + (uint64_t)trace_unzigzag(value - 1));
        else if (say(it, TRACE_COLUMN_STACK_INDEX, TRACE_COLUMN_STACK_INDEX, &index) &&
                 index < TRACE_CACHE_SIZE)
            *stack = it->coding.stack_cache[index];
        else
            return false;
    }
    trace_model_put_stack(model, *stack);
    return true;
}

static bool say_size(struct predicted *it, unsigned *how, uint32_t stack, uint64_t *size)
{
    const uint64_t expected = trace_model_size(it->model, stack);
    if (!it->walk.join)
        *how = *size == expected ? 0 : SIZE_OTHER;
    if (*how == 0)
        *size = expected;
    else if (!say(it, TRACE_COLUMN_SIZE, TRACE_COLUMN_SIZE, size))
        return false;
    trace_model_put_size(it->model, stack, *size);
    return true;
}

static unsigned place_way(const struct predicted *it, unsigned class, uint64_t address,
                          uint64_t *rank)
{
    *rank = trace_model_freed_rank(it->model, class, address);
    if (*rank < TRACE_MODEL_RANKS)
        return *rank == 0 ? PLACE_FREED_LAST : PLACE_FREED;
    return trace_model_behind(it->model) == address ? PLACE_BEHIND : PLACE_ELSEWHERE;
}

/* The address of a new block of `size` bytes. */
static bool say_place(struct predicted *it, unsigned *how, uint64_t size, uint64_t last,
                      uint64_t *address)
{
    const unsigned class = trace_model_class(size), column = TRACE_COLUMN_ALLOC_ADDRESS;
    uint64_t rank = TRACE_MODEL_RANKS;
    bool good = true;
    if (!it->walk.join)
        *how = place_way(it, class, *address, &rank);
    switch (*how) {
    case PLACE_FREED_LAST:
        rank = 0;
        good = trace_model_freed(it->model, class, 0, address);
        break;
    case PLACE_FREED:
        good = say(it, column, column, &rank) && rank < TRACE_MODEL_RANKS &&
               trace_model_freed(it->model, class, (unsigned)rank, address);
        break;
    case PLACE_BEHIND:
        *address = trace_model_behind(it->model);
        break;
    default:
        good = say_delta(it, column + 1, last, address);
        break;
    }
    if (good)
        trace_model_allocate(it->model, *address, size, (unsigned)rank);
    return good;
}

static unsigned end_way(const struct predicted *it, uint64_t address, uint64_t *number)
{
    const uint32_t block = trace_model_block(it->model, address);
    if (block == 0)
        return END_ELSEWHERE;
    if (block == trace_model_ranked(it->model, 0))
        return END_NEWEST;
    if (block == trace_model_after(it->model))
        return END_AFTER;
    if (block == trace_model_before(it->model))
        return END_BEFORE;
    *number = trace_model_rank(it->model, block);
    if (*number < TRACE_MODEL_RANKS)
        return END_RANKED;
    *number = trace_zigzag((int64_t)block - (int64_t)trace_model_before(it->model));
    return END_DISTANT;
}

/* The address of a block that ends, or would have. */
static bool say_end(struct predicted *it, unsigned *how, uint64_t *address)
{
    const struct trace_model *model = it->model;
    const unsigned column = TRACE_COLUMN_FREE_ADDRESS;
    uint64_t number = 0, block = 0;
    if (!it->walk.join)
        *how = end_way(it, *address, &number);
    switch (*how) {
    case END_NEWEST:
        block = trace_model_ranked(model, 0);
        break;
    case END_AFTER:
        block = trace_model_after(model);
        break;
    case END_BEFORE:
        block = trace_model_before(model);
        break;
    case END_RANKED:
        if (!say(it, column, column, &number) || number >= TRACE_MODEL_RANKS)
            return false;
        block = trace_model_ranked(model, (unsigned)number);
        break;
    case END_DISTANT:
        if (!say(it, column + 1, column + 3, &number))
            return false;
        block = (uint64_t)trace_model_before(model) + (uint64_t)trace_unzigzag(number);
        break;
    case END_ELSEWHERE:
        return say_delta(it, column + 1, it->coding.address, address);
    default:
        return false;
    }
    return trace_model_address(model, block, address);
}

/* ---- records ---------------------------------------------------------------------------- */
/* Each: the five upper bits of the first byte in *bits, the record in `record`. */

static bool say_attribute(struct predicted *it, uint64_t *byte)
{
    return say(it, TRACE_COLUMN_ATTRIBUTE, TRACE_COLUMN_ATTRIBUTE, byte);
}

/* Stack, size and, where it has a new one, address. */
static inline bool say_block(struct predicted *it, unsigned *bits, uint64_t last, bool placed,
                             struct trace_record *record)
{
    unsigned stack = *bits >> 3 & 3, size = *bits & SIZE_OTHER, place = *bits >> 6;
    if (!say_stack(it, &stack, &record->stack) ||
        !say_size(it, &size, record->stack, &record->size) ||
        (placed && !say_place(it, &place, record->size, last, &record->address)))
        return false;
    *bits = stack << 3 | size | place << 6;
    return true;
}

static bool say_alloc(struct predicted *it, unsigned *bits, struct trace_record *record)
{
    uint64_t kind = (uint64_t)record->alloc_kind, log2 = 0;
    if (record->kind == TRACE_ALLOC_ATTR) {
        if (!say_attribute(it, &kind) || kind == TRACE_KIND_MALLOC || kind >= TRACE_KIND_COUNT)
            return false;
        record->alloc_kind = (enum trace_alloc_kind)kind;
        if (kind >= TRACE_KIND_POSIX_MEMALIGN) {
            if (!it->walk.join)
                log2 = (uint64_t)__builtin_ctzll(record->alignment);
            if (!say_attribute(it, &log2) || log2 > 63)
                return false;
            record->alignment = UINT64_C(1) << log2;
        }
    }
    return say_ticks(it, TRACE_COLUMN_ALLOC_STAMP, it->coding.ticks, &record->ticks) &&
           say_block(it, bits, it->coding.address, true, record);
}

static bool say_free(struct predicted *it, unsigned *bits, struct trace_record *record)
{
    unsigned end = *bits >> 5, stack = *bits >> 3 & 3;
    if (!say_ticks(it, TRACE_COLUMN_FREE_STAMP, it->coding.ticks, &record->ticks) ||
        !say_end(it, &end, &record->address))
        return false;
    trace_model_free_block(it->model, record->address);
    if (record->kind == TRACE_FREE_STACK && !say_stack(it, &stack, &record->stack))
        return false;
    *bits = end << 5 | (record->kind == TRACE_FREE_STACK ? stack << 3 : 0u);
    return true;
}

static bool say_realloc(struct predicted *it, unsigned *bits, struct trace_record *record)
{
    const bool array = record->alloc_kind == TRACE_KIND_REALLOCARRAY;
    unsigned end = END_WAYS;
    uint64_t old = record->old_address, number = 0;
    if (!it->walk.join)
        end = end_way(it, old, &number);
    uint64_t attribute = (unsigned)record->outcome | (array ? 4u : 0u) | end << 3;
    if (!say_attribute(it, &attribute) || (attribute & 3) > TRACE_REALLOC_FAILED)
        return false;
    end = (unsigned)(attribute >> 3);
    record->outcome = (enum trace_realloc_outcome)(attribute & 3);
    record->alloc_kind = attribute & 4 ? TRACE_KIND_REALLOCARRAY : TRACE_KIND_REALLOC;
    if (!say_ticks(it, TRACE_COLUMN_FREE_STAMP, it->coding.ticks, &record->free_ticks) ||
        !say_ticks(it, TRACE_COLUMN_ALLOC_STAMP, record->free_ticks, &record->ticks) ||
        !say_end(it, &end, &record->old_address))
        return false;
    const bool moved = record->outcome == TRACE_REALLOC_MOVED;
    if (moved)
        trace_model_free_block(it->model, record->old_address);
    if (!say_block(it, bits, record->old_address, moved, record))
        return false;
    if (record->outcome == TRACE_REALLOC_IN_PLACE)
        trace_model_resize(it->model, record->old_address, record->size);
    return true;
}

static bool say_event(struct predicted *it, unsigned *bits, struct trace_record *record)
{
    switch (record->kind) {
    case TRACE_ALLOC:
    case TRACE_ALLOC_ATTR:
        return say_alloc(it, bits, record);
    case TRACE_FREE:
    case TRACE_FREE_STACK:
        return say_free(it, bits, record);
    default:
        return say_realloc(it, bits, record);
    }
}

/* The record as trace_codec.h writes it. */
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

/* What stands in `record` moves the coding state as it did when it was written. */
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

/* NODE and extended records: byte by byte, as in the method of columns. */
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

/* Records as the codec writes them, to be compared with what they were. */
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
        !say_event(it, &bits, &record))
        return false;
    uint8_t *put = again->bytes + again->length;
    const size_t length = (size_t)(put_event(put, &it->coding, &record) - put);
    struct trace_span *heads = &it->walk.columns[TRACE_COLUMN_HEAD];
    if (length != (size_t)(end - begin) || heads->at >= heads->end)
        return false;
    *heads->at++ = (uint8_t)((unsigned)record.kind | bits);
    records->at += length;
    again->length += length;
    return again->length <= sizeof again->bytes - TRACE_RECORD_MAX ||
           again_is_same(again, records->at);
}

static bool join_event(struct predicted *it, unsigned head)
{
    struct trace_span *records = it->walk.records;
    const size_t room = (size_t)(records->end - records->at);
    uint8_t bytes[TRACE_RECORD_MAX], *put = room < sizeof bytes ? bytes : records->at;
    struct trace_record record;
    unsigned bits = head & ~7u;
    memset(&record, 0, sizeof record);
    record.kind = (enum trace_kind)(head & 7);
    it->walk.columns[TRACE_COLUMN_HEAD].at++;
    if (!say_event(it, &bits, &record))
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
