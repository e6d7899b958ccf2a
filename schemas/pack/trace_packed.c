/* SPDX-License-Identifier: BSD-2-Clause */
#include "schemas/pack/trace_packed.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "schemas/array.h"
#include "schemas/pack/trace_columns.h"
#include "schemas/pack/trace_model.h"
#include "schemas/pack/trace_walk.h"
#include "schemas/trace_codec.h"

/* ---- prediction ------------------------------------------------------------------------- */

/* Splits the records of chunks into columns that hold only what the model did not predict, and
 * joins them again (schemas/trace-format.md, "Predicted records"). The columns are those of
 * trace_columns.h. */

/* The ways to code the address of an allocation: bits 6-7 of its first byte. */
enum { PLACE_FREED_LAST, PLACE_FREED, PLACE_NEXT, PLACE_ELSEWHERE };
/* The ways to code a freed block. */
enum { END_NEWEST, END_AFTER, END_BEFORE, END_RANKED, END_DISTANT, END_ELSEWHERE };
/* The ways to code a stack: bits 3-4. */
enum { STACK_AFTER_TWO, STACK_AFTER_ONE, STACK_NEWEST_NODE, STACK_OTHER };

enum { SIZE_OTHER = 32 };

/* Compiles each direction separately, with `join` a constant. */
#define INLINE inline __attribute__((always_inline))

/* The state of a split or a join. One code serves both directions, so they cannot differ: each
 * code_*() writes a field to its column or, if `join`, reads it from there. It tells the model in
 * the same place. */
struct predictor {
    struct trace_walk walk;
    struct trace_model *model;
    struct trace_coding coding; /* as the writer of the records had it */
};

/* Codes a varint: its first byte goes into `column` and byte n into column + n, up to `last`. */
static INLINE bool code_varint(struct predictor *predictor, bool join, unsigned column,
                               unsigned last, uint64_t *value)
{
    uint64_t sum = 0, rest = *value;
    for (unsigned n = 0; n < 10; n++) {
        struct trace_span *at = &predictor->walk.columns[column + n < last ? column + n : last];
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

static INLINE bool code_ticks(struct predictor *predictor, bool join, unsigned column,
                              uint64_t base, uint64_t *ticks)
{
    uint64_t delta = *ticks - base;
    if (!code_varint(predictor, join, column, column + 1, &delta))
        return false;
    *ticks = base + delta;
    return true;
}

/* Codes an unpredicted address by its distance from `last`, in exact steps of 16. */
static inline bool code_delta(struct predictor *predictor, bool join, unsigned column,
                              uint64_t last, uint64_t *address)
{
    const uint64_t delta = *address - last;
    uint64_t value =
        delta & 15 ? trace_zigzag((int64_t)delta) << 1 | 1 : trace_zigzag((int64_t)delta >> 4) << 1;
    /* The highest bit of a delta may be lost: reencoded_is_same() then finds another record. */
    if (!code_varint(predictor, join, column, column + 2, &value))
        return false;
    const uint64_t distance = (uint64_t)trace_unzigzag(value >> 1);
    *address = last + (value & 1 ? distance : distance << 4);
    return true;
}

static inline uint32_t expected_stack(const struct predictor *predictor, unsigned how)
{
    return how == STACK_AFTER_TWO   ? trace_model_stack_after_two(predictor->model)
           : how == STACK_AFTER_ONE ? trace_model_stack_after_one(predictor->model)
                                    : predictor->coding.node;
}

static bool code_other_stack(struct predictor *predictor, bool join, uint32_t *stack)
{
    const uint32_t last = predictor->model->stack, slot = trace_stack_slot(*stack);
    uint64_t value = 0, index = slot;
    if (!join && predictor->coding.stack_cache[slot] != *stack)
        value = trace_zigzag((int64_t)*stack - (int64_t)last) + 1;
    if (!code_varint(predictor, join, TRACE_COLUMN_STACK, TRACE_COLUMN_STACK, &value))
        return false;
    if (value != 0) {
        *stack = (uint32_t)((uint64_t)last + (uint64_t)trace_unzigzag(value - 1));
        return true;
    }
    if (!code_varint(predictor, join, TRACE_COLUMN_STACK_INDEX, TRACE_COLUMN_STACK_INDEX, &index) ||
        index >= TRACE_CACHE_SIZE)
        return false;
    *stack = predictor->coding.stack_cache[index];
    return true;
}

static INLINE bool code_stack(struct predictor *predictor, bool join, unsigned *how,
                              uint32_t *stack)
{
    if (!join)
        for (*how = 0; *how < STACK_OTHER && expected_stack(predictor, *how) != *stack; (*how)++)
            ;
    if (*how != STACK_OTHER)
        *stack = expected_stack(predictor, *how);
    else if (!code_other_stack(predictor, join, stack))
        return false;
    trace_model_put_stack(predictor->model, *stack);
    return true;
}

static INLINE bool code_size(struct predictor *predictor, bool join, unsigned *how, uint32_t stack,
                             uint64_t *size)
{
    uint64_t *expected = trace_model_size(predictor->model, stack);
    if (!join)
        *how = *size == *expected ? 0 : SIZE_OTHER;
    if (*how == 0)
        *size = *expected;
    else if (!code_varint(predictor, join, TRACE_COLUMN_SIZE, TRACE_COLUMN_SIZE, size))
        return false;
    *expected = *size;
    return true;
}

/* Chooses how to code the address of an allocation, for the packer. `place` is that of the address
 * in the table of blocks. */
static unsigned choose_place(const struct predictor *predictor, unsigned class, uint64_t address,
                             const uint32_t *place, uint64_t *rank)
{
    /* Most addresses that are not in the list were never allocated before. */
    *rank =
        *place == 0 ? TRACE_MODEL_RANKS : trace_model_freed_rank(predictor->model, class, address);
    if (*rank < TRACE_MODEL_RANKS)
        return *rank == 0 ? PLACE_FREED_LAST : PLACE_FREED;
    return predictor->model->next_address == address ? PLACE_NEXT : PLACE_ELSEWHERE;
}

/* Codes the address of a new block of `size` bytes. */
static INLINE bool code_place(struct predictor *predictor, bool join, unsigned *how, uint64_t size,
                              uint64_t last, uint64_t *address)
{
    const unsigned class = trace_model_class(size), column = TRACE_COLUMN_ALLOC_ADDRESS;
    uint32_t *place = join ? NULL : trace_model_place(predictor->model, *address);
    uint64_t rank = 0;
    if (!join)
        *how = choose_place(predictor, class, *address, place, &rank);
    if (*how <= PLACE_FREED) {
        if (*how == PLACE_FREED && !code_varint(predictor, join, column, column, &rank))
            return false;
        if (rank >= TRACE_MODEL_RANKS ||
            !trace_model_freed_at(predictor->model, class, (unsigned)rank, address))
            return false;
        trace_model_reuse(predictor->model, class, (unsigned)rank);
    } else if (*how == PLACE_NEXT) {
        *address = predictor->model->next_address;
    } else if (!code_delta(predictor, join, column + 1, last, address)) {
        return false;
    }
    const uint32_t block = trace_model_begin(predictor->model, *address, size);
    if (!join && block == 1)
        place = trace_model_place(predictor->model, *address);
    if (!join)
        *place = block;
    return true;
}

static unsigned classify_end(const struct predictor *predictor, uint32_t block, uint64_t *number)
{
    if (block == predictor->model->block[0].before)
        return END_NEWEST;
    if (block == trace_model_after(predictor->model))
        return END_AFTER;
    if (block == predictor->model->gap)
        return END_BEFORE;
    *number = trace_model_rank(predictor->model, block);
    if (*number < TRACE_MODEL_RANKS)
        return END_RANKED;
    *number = trace_zigzag((int64_t)block - (int64_t)predictor->model->gap);
    return END_DISTANT;
}

/* Chooses how to code a block that is freed, or that a failed realloc keeps, for the packer. */
static unsigned choose_end(const struct predictor *predictor, uint64_t address, uint64_t *number)
{
    const uint32_t block = trace_model_find(predictor->model, address);
    return trace_model_is_live(predictor->model, block) ? classify_end(predictor, block, number)
                                                        : END_ELSEWHERE;
}

/* Codes a block that is freed. Stores its number in *known, 0 if the model does not know it. */
static INLINE bool code_end(struct predictor *predictor, bool join, unsigned how, uint64_t number,
                            uint64_t *address, uint32_t *known)
{
    const struct trace_model *model = predictor->model;
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
        block = model->gap;
        break;
    case END_RANKED:
        if (!code_varint(predictor, join, column, column, &number) || number >= TRACE_MODEL_RANKS)
            return false;
        block = trace_model_ranked(model, (unsigned)number);
        break;
    case END_DISTANT:
        if (!code_varint(predictor, join, column + 1, column + 3, &number))
            return false;
        block = (uint64_t)model->gap + (uint64_t)trace_unzigzag(number);
        break;
    case END_ELSEWHERE:
        return code_delta(predictor, join, column + 1, predictor->coding.address, address);
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

static INLINE bool code_attribute(struct predictor *predictor, bool join, uint64_t *byte)
{
    return code_varint(predictor, join, TRACE_COLUMN_ATTRIBUTE, TRACE_COLUMN_ATTRIBUTE, byte);
}

/* Codes stack, size and, if `placed`, the new address. */
static INLINE bool code_block(struct predictor *predictor, bool join, unsigned *bits, uint64_t last,
                              bool placed, struct trace_record *record)
{
    unsigned stack = *bits >> 3 & 3, size = *bits & SIZE_OTHER, place = *bits >> 6;
    if (!code_stack(predictor, join, &stack, &record->stack) ||
        !code_size(predictor, join, &size, record->stack, &record->size) ||
        (placed && !code_place(predictor, join, &place, record->size, last, &record->address)))
        return false;
    *bits = stack << 3 | size | place << 6;
    return true;
}

static bool code_kind(struct predictor *predictor, bool join, struct trace_record *record)
{
    uint64_t kind = (uint64_t)record->alloc_kind, log2 = 0;
    if (!code_attribute(predictor, join, &kind) || kind == TRACE_KIND_MALLOC ||
        kind >= TRACE_KIND_COUNT)
        return false;
    record->alloc_kind = (enum trace_alloc_kind)kind;
    if (kind < TRACE_KIND_POSIX_MEMALIGN)
        return true;
    if (!join)
        log2 = (uint64_t)__builtin_ctzll(record->alignment);
    if (!code_attribute(predictor, join, &log2) || log2 > 63)
        return false;
    record->alignment = UINT64_C(1) << log2;
    return true;
}

static INLINE bool code_alloc(struct predictor *predictor, bool join, unsigned *bits,
                              struct trace_record *record)
{
    return (record->kind == TRACE_ALLOC || code_kind(predictor, join, record)) &&
           code_ticks(predictor, join, TRACE_COLUMN_ALLOC_STAMP, predictor->coding.ticks,
                      &record->ticks) &&
           code_block(predictor, join, bits, predictor->coding.address, true, record);
}

static INLINE bool code_free(struct predictor *predictor, bool join, unsigned *bits,
                             struct trace_record *record)
{
    unsigned end = *bits >> 5, stack = *bits >> 3 & 3;
    uint64_t number = 0;
    uint32_t block;
    if (!join)
        end = choose_end(predictor, record->address, &number);
    else if (record->kind == TRACE_FREE && stack != 0)
        return false;
    if (!code_ticks(predictor, join, TRACE_COLUMN_FREE_STAMP, predictor->coding.ticks,
                    &record->ticks) ||
        !code_end(predictor, join, end, number, &record->address, &block))
        return false;
    if (block != 0)
        trace_model_end(predictor->model, block);
    if (record->kind == TRACE_FREE_STACK && !code_stack(predictor, join, &stack, &record->stack))
        return false;
    *bits = end << 5 | (record->kind == TRACE_FREE_STACK ? stack << 3 : 0u);
    return true;
}

static bool code_realloc(struct predictor *predictor, bool join, unsigned *bits,
                         struct trace_record *record)
{
    const bool array = record->alloc_kind == TRACE_KIND_REALLOCARRAY;
    uint64_t number = 0;
    uint32_t block;
    unsigned end = join ? 0 : choose_end(predictor, record->old_address, &number);
    uint64_t attribute = (unsigned)record->outcome | (array ? 4u : 0u) | end << 3;
    if (!code_attribute(predictor, join, &attribute) || (attribute & 3) > TRACE_REALLOC_FAILED ||
        attribute >> 6)
        return false;
    end = (unsigned)(attribute >> 3);
    record->outcome = (enum trace_realloc_outcome)(attribute & 3);
    record->alloc_kind = attribute & 4 ? TRACE_KIND_REALLOCARRAY : TRACE_KIND_REALLOC;
    if (!code_ticks(predictor, join, TRACE_COLUMN_FREE_STAMP, predictor->coding.ticks,
                    &record->free_ticks) ||
        !code_ticks(predictor, join, TRACE_COLUMN_ALLOC_STAMP, record->free_ticks,
                    &record->ticks) ||
        !code_end(predictor, join, end, number, &record->old_address, &block))
        return false;
    const bool moved = record->outcome == TRACE_REALLOC_MOVED;
    if (moved && block != 0)
        trace_model_end(predictor->model, block);
    if (!code_block(predictor, join, bits, record->old_address, moved, record))
        return false;
    if (record->outcome == TRACE_REALLOC_IN_PLACE && block != 0)
        predictor->model->block[block].class = (uint8_t)trace_model_class(record->size);
    return true;
}

static INLINE bool code_event(struct predictor *predictor, bool join, unsigned *bits,
                              struct trace_record *record)
{
    switch (record->kind) {
    case TRACE_ALLOC:
    case TRACE_ALLOC_ATTR:
        return code_alloc(predictor, join, bits, record);
    case TRACE_FREE:
    case TRACE_FREE_STACK:
        return code_free(predictor, join, bits, record);
    default:
        return code_realloc(predictor, join, bits, record);
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
static bool advance_coding(struct trace_coding *coding, const uint8_t *record, const uint8_t *end)
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
static bool move_other(struct predictor *predictor)
{
    const uint8_t *record = predictor->walk.records->at;
    uint8_t head = 0;
    return move_byte(&predictor->walk, TRACE_COLUMN_HEAD, &head) &&
           ((head & 7) == TRACE_NODE ? move_node(&predictor->walk, head)
                                     : move_extended(&predictor->walk, head)) &&
           advance_coding(&predictor->coding, record, predictor->walk.records->at);
}

static bool is_event(unsigned head)
{
    return (head & 7) >= TRACE_ALLOC && (head & 7) != TRACE_NODE && (head & 7) != TRACE_EXTENDED;
}

/* Records as the codec writes them again, to compare with the original bytes. */
struct reencoded {
    const uint8_t *from;
    size_t length;
    uint8_t bytes[4096];
};

static bool reencoded_is_same(struct reencoded *reencoded, const uint8_t *next)
{
    const bool same = memcmp(reencoded->from, reencoded->bytes, reencoded->length) == 0;
    reencoded->from = next;
    reencoded->length = 0;
    return same;
}

static inline bool split_event(struct predictor *predictor, struct trace_coding *reading,
                               struct reencoded *reencoded)
{
    struct trace_span *records = predictor->walk.records;
    const uint8_t *begin = records->at, *end = begin;
    struct trace_record record;
    unsigned bits = 0;
    if (trace_get(&end, records->end, reading, &record) != TRACE_GET_RECORD ||
        !code_event(predictor, false, &bits, &record))
        return false;
    uint8_t *put = reencoded->bytes + reencoded->length;
    const size_t length = (size_t)(put_event(put, &predictor->coding, &record) - put);
    struct trace_span *heads = &predictor->walk.columns[TRACE_COLUMN_HEAD];
    if (length != (size_t)(end - begin) || heads->at >= heads->end)
        return false;
    *heads->at++ = (uint8_t)((unsigned)record.kind | bits);
    records->at += length;
    reencoded->length += length;
    return reencoded->length <= sizeof(reencoded->bytes) - TRACE_RECORD_MAX ||
           reencoded_is_same(reencoded, records->at);
}

static bool join_event(struct predictor *predictor, unsigned head)
{
    struct trace_span *records = predictor->walk.records;
    const size_t room = (size_t)(records->end - records->at);
    uint8_t bytes[TRACE_RECORD_MAX], *put = room < sizeof(bytes) ? bytes : records->at;
    struct trace_record record;
    unsigned bits = head & ~7u;
    trace_record_clear(&record, (enum trace_kind)(head & 7));
    predictor->walk.columns[TRACE_COLUMN_HEAD].at++;
    if (!code_event(predictor, true, &bits, &record))
        return false;
    const size_t length = (size_t)(put_event(put, &predictor->coding, &record) - put);
    if (length > room)
        return false;
    if (put == bytes)
        memcpy(records->at, bytes, length);
    records->at += length;
    return true;
}

/* Each call takes one chunk of a payload, in order, with one model that was reset before the first.
 * `base_ticks` is that of the chunk.
 *
 * trace_predicted_split() moves the records of a chunk into the columns until they are used up. It
 * returns false if they do not decode, are not as trace_codec.h writes them, or a column is full;
 * the moved bytes are then useless. trace_predicted_join() moves records from the columns until
 * `records` is full, which is exactly as large as they are. It returns false if the columns do not
 * give that. */
static bool trace_predicted_split(struct trace_model *model, uint64_t base_ticks,
                                  struct trace_span *records,
                                  struct trace_span columns[TRACE_COLUMN_COUNT])
{
    struct predictor predictor = {.walk = {records, columns, false}, .model = model};
    struct trace_coding reading;
    struct reencoded reencoded = {.from = records->at};
    trace_coding_reset(&predictor.coding, base_ticks);
    trace_coding_reset(&reading, base_ticks);
    while (records->at < records->end) {
        if (is_event(*records->at)) {
            if (!split_event(&predictor, &reading, &reencoded))
                return false;
            continue;
        }
        const uint8_t *record = records->at;
        if (!reencoded_is_same(&reencoded, record) || !move_other(&predictor) ||
            !advance_coding(&reading, record, records->at))
            return false;
        reencoded.from = records->at;
    }
    return reencoded_is_same(&reencoded, records->at);
}

static bool trace_predicted_join(struct trace_model *model, uint64_t base_ticks,
                                 struct trace_span *records,
                                 struct trace_span columns[TRACE_COLUMN_COUNT])
{
    struct predictor predictor = {.walk = {records, columns, true}, .model = model};
    const struct trace_span *heads = &columns[TRACE_COLUMN_HEAD];
    trace_coding_reset(&predictor.coding, base_ticks);
    while (records->at < records->end)
        if (heads->at >= heads->end ||
            !(is_event(*heads->at) ? join_event(&predictor, *heads->at) : move_other(&predictor)))
            return false;
    return true;
}

enum packed_method { PACKED_PLAIN = 0, PACKED_COLUMNS = 1, PACKED_PREDICTED = 2 };

/* Higher levels save one percent and take three times as long. */
#define ZSTD_LEVEL 1
/* Method and number of chunks; number of columns; two lengths for each column. */
#define HEAD_MAX (20 + 10 + TRACE_COLUMN_COUNT * 20)

/* The most bytes of columns for `records` bytes of records. */
#define COLUMNS_MAX(records) (2 * (records))

struct trace_packer {
    size_t raw_max, raw; /* bytes of records */
    size_t count, headers_capacity;
    struct trace_chunk_header *headers;
    uint8_t *records;
    uint8_t *columns; /* raw_max bytes for each column: most pages are never touched */
    uint8_t *payload;
    size_t payload_size;
    ZSTD_CCtx *zstd;
    struct trace_model *model; /* NULL if quick */
};

struct trace_packer *trace_packer_new(size_t raw_max, enum trace_packing packing)
{
    struct trace_packer *packer = calloc(1, sizeof(*packer));
    if (!packer)
        return NULL;
    packer->raw_max = raw_max;
    packer->records = malloc(raw_max);
    packer->columns = malloc(raw_max * TRACE_COLUMN_COUNT);
    packer->zstd = ZSTD_createCCtx();
    if (packing == TRACE_PACK_SMALL)
        packer->model = trace_model_new();
    if (packer->records && packer->columns && packer->zstd &&
        (packer->model || packing == TRACE_PACK_QUICK))
        return packer;
    trace_packer_free(packer);
    return NULL;
}

void trace_packer_free(struct trace_packer *packer)
{
    if (!packer)
        return;
    ZSTD_freeCCtx(packer->zstd);
    trace_model_free(packer->model);
    FREE_ALL(packer->headers, packer->records, packer->columns, packer->payload, packer);
}

bool trace_packer_add(struct trace_packer *packer, const uint8_t *chunk, size_t available)
{
    struct trace_chunk_header header;
    memcpy(&header, chunk, sizeof(header));
    if (header.commit > available)
        header.commit = (uint32_t)available;
    size_t length = header.commit - TRACE_CHUNK_HEADER_SIZE;
    if (length > packer->raw_max - packer->raw ||
        !ARRAY_GROW(packer->headers, packer->count, packer->headers_capacity))
        return false;
    uint8_t *records = packer->records + packer->raw;
    memcpy(records, chunk + TRACE_CHUNK_HEADER_SIZE, length);
    /* A wrong sum stays wrong, so readers still find damage from before. */
    if (!(header.flags & TRACE_CHUNK_SEALED))
        header.sum = trace_sum(records, length);
    header.flags |= TRACE_CHUNK_SEALED;
    packer->headers[packer->count++] = header;
    packer->raw += length;
    return true;
}

size_t trace_packer_count(const struct trace_packer *packer)
{
    return packer->count;
}

/* Stores one column at `at`. Returns its stored length. */
static size_t packer_store(struct trace_packer *packer, uint8_t *at, const uint8_t *column,
                           size_t length)
{
    /* One byte less than the column: a column that does not get smaller is stored as it is. */
    size_t stored =
        length > 1 ? ZSTD_compressCCtx(packer->zstd, at, length - 1, column, length, ZSTD_LEVEL)
                   : length;
    if (length > 1 && !ZSTD_isError(stored))
        return stored;
    memcpy(at, column, length);
    return length;
}

static void packer_empty(struct trace_packer *packer, struct trace_span *columns)
{
    for (unsigned i = 0; i < TRACE_COLUMN_COUNT; i++) {
        columns[i].at = packer->columns + i * packer->raw_max;
        columns[i].end = columns[i].at + packer->raw_max;
    }
}

static bool packer_predict(struct trace_packer *packer, struct trace_span *columns)
{
    struct trace_span records = {packer->records, packer->records};
    trace_model_reset(packer->model, true);
    for (size_t i = 0; i < packer->count; i++) {
        records.end = records.at + (packer->headers[i].commit - TRACE_CHUNK_HEADER_SIZE);
        if (!trace_predicted_split(packer->model, packer->headers[i].base_ticks, &records, columns))
            return false;
    }
    size_t length = 0;
    for (unsigned i = 0; i < TRACE_COLUMN_COUNT; i++)
        length += (size_t)(columns[i].at - (packer->columns + i * packer->raw_max));
    return length <= COLUMNS_MAX(packer->raw);
}

/* Splits the records into columns and returns the method. Records that trace_codec.h would write in
 * another way are split by their bytes only, and so are records that are hard to predict. Records
 * that do not decode stay as they are. */
static enum packed_method packer_split(struct trace_packer *packer, struct trace_span *columns,
                                       unsigned *count)
{
    struct trace_span records = {packer->records, packer->records + packer->raw};
    enum packed_method method = PACKED_PREDICTED;
    packer_empty(packer, columns);
    if (!packer->model || !packer_predict(packer, columns)) {
        method = PACKED_COLUMNS;
        packer_empty(packer, columns);
        if (!trace_columns_split(&records, columns)) {
            *count = 1;
            columns[0] = (struct trace_span){packer->records, packer->records + packer->raw};
            return PACKED_PLAIN;
        }
    }
    *count = TRACE_COLUMN_COUNT;
    for (unsigned i = 0; i < TRACE_COLUMN_COUNT; i++) {
        columns[i].end = columns[i].at;
        columns[i].at = packer->columns + i * packer->raw_max;
    }
    return method;
}

const uint8_t *trace_packer_end(struct trace_packer *packer, size_t *length)
{
    struct trace_span columns[TRACE_COLUMN_COUNT];
    size_t stored[TRACE_COLUMN_COUNT];
    unsigned count;
    size_t headers = packer->count * TRACE_CHUNK_HEADER_SIZE;
    size_t need = HEAD_MAX + headers + COLUMNS_MAX(packer->raw);
    if (packer->count == 0)
        return NULL;
    if (packer->payload_size < need) {
        free(packer->payload);
        packer->payload = malloc(need);
        packer->payload_size = packer->payload ? need : 0;
        if (!packer->payload)
            return NULL;
    }
    enum packed_method method = packer_split(packer, columns, &count);
    /* Stores the columns behind room for any head, then moves them after their lengths. */
    uint8_t *store = packer->payload + HEAD_MAX + headers, *at = store;
    for (unsigned i = 0; i < count; i++) {
        stored[i] =
            packer_store(packer, at, columns[i].at, (size_t)(columns[i].end - columns[i].at));
        at += stored[i];
    }
    uint8_t *p = trace_put_varint(packer->payload, (uint64_t)method);
    p = trace_put_varint(p, packer->count);
    memcpy(p, packer->headers, headers);
    p = trace_put_varint(p + headers, count);
    for (unsigned i = 0; i < count; i++) {
        p = trace_put_varint(p, (uint64_t)(columns[i].end - columns[i].at));
        p = trace_put_varint(p, stored[i]);
    }
    memmove(p, store, (size_t)(at - store));
    *length = (size_t)(p - packer->payload) + (size_t)(at - store);
    packer->count = packer->raw = 0;
    return packer->payload;
}

bool trace_packed_open(struct trace_packed *packed, const uint8_t *payload, size_t length)
{
    const uint8_t *at = payload;
    packed->end = payload + length;
    if (!trace_get_varint(&at, packed->end, &packed->method) ||
        !trace_get_varint(&at, packed->end, &packed->chunks) || packed->method > PACKED_PREDICTED ||
        packed->chunks == 0 ||
        packed->chunks > (uint64_t)(packed->end - at) / TRACE_CHUNK_HEADER_SIZE)
        return false;
    packed->headers = at;
    packed->columns = at + packed->chunks * TRACE_CHUNK_HEADER_SIZE;
    return true;
}

void trace_packed_header(const struct trace_packed *packed, uint64_t index,
                         struct trace_chunk_header *header)
{
    memcpy(header, packed->headers + index * TRACE_CHUNK_HEADER_SIZE, sizeof(*header));
}

size_t trace_packed_size(const struct trace_packed *packed)
{
    uint64_t size = 0;
    for (uint64_t i = 0; i < packed->chunks; i++) {
        struct trace_chunk_header header;
        trace_packed_header(packed, i, &header);
        if (header.commit < TRACE_CHUNK_HEADER_SIZE)
            return SIZE_MAX;
        size += header.commit - TRACE_CHUNK_HEADER_SIZE;
        if (size > TRACE_PACKED_MAX)
            return SIZE_MAX;
    }
    return (size_t)size;
}

/* Reads the columns' lengths and unpacks one after another into `raw`, `size` bytes at most. */
static bool packed_columns(const struct trace_packed *packed, uint8_t *raw, size_t size,
                           struct trace_span columns[TRACE_COLUMN_COUNT])
{
    const uint64_t wanted = packed->method != PACKED_PLAIN ? TRACE_COLUMN_COUNT : 1;
    uint64_t count, length[TRACE_COLUMN_COUNT], stored[TRACE_COLUMN_COUNT];
    const uint8_t *at = packed->columns;
    if (!trace_get_varint(&at, packed->end, &count) || count != wanted)
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (!trace_get_varint(&at, packed->end, &length[i]) ||
            !trace_get_varint(&at, packed->end, &stored[i]))
            return false;
    for (uint64_t i = 0; i < count; i++) {
        if (stored[i] > (uint64_t)(packed->end - at) || length[i] > size)
            return false;
        if (stored[i] == length[i])
            memcpy(raw, at, length[i]);
        else if (ZSTD_decompress(raw, length[i], at, stored[i]) != length[i])
            return false;
        columns[i] = (struct trace_span){raw, raw + length[i]};
        raw += length[i];
        size -= length[i];
        at += stored[i];
    }
    return true;
}

static bool packed_predicted(const struct trace_packed *packed, struct trace_span *records,
                             struct trace_span columns[TRACE_COLUMN_COUNT])
{
    struct trace_model *model = trace_model_new();
    struct trace_chunk_header header;
    bool good = model != NULL;
    if (good)
        trace_model_reset(model, false);
    for (uint64_t i = 0; good && i < packed->chunks; i++) {
        trace_packed_header(packed, i, &header);
        struct trace_span chunk = {records->at,
                                   records->at + (header.commit - TRACE_CHUNK_HEADER_SIZE)};
        good = trace_predicted_join(model, header.base_ticks, &chunk, columns);
        records->at = chunk.at;
    }
    trace_model_free(model);
    return good;
}

bool trace_packed_records(const struct trace_packed *packed, uint8_t *records)
{
    struct trace_span columns[TRACE_COLUMN_COUNT];
    size_t size = trace_packed_size(packed);
    if (size == SIZE_MAX)
        return false;
    if (packed->method == PACKED_PLAIN)
        return packed_columns(packed, records, size, columns) && columns[0].end == records + size;
    const size_t most = packed->method == PACKED_COLUMNS ? size : COLUMNS_MAX(size);
    uint8_t *raw = malloc(most + 1);
    struct trace_span room = {records, records + size};
    bool good = raw && packed_columns(packed, raw, most, columns);
    if (good && packed->method == PACKED_COLUMNS)
        good = trace_columns_join(&room, columns);
    else if (good)
        good = packed_predicted(packed, &room, columns);
    for (unsigned i = 0; i < TRACE_COLUMN_COUNT; i++)
        good = good && columns[i].at == columns[i].end;
    good = good && room.at == room.end;
    free(raw);
    return good;
}
