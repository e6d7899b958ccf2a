/* SPDX-License-Identifier: BSD-2-Clause */
/* Packed chunks with any records come back byte for byte; damage is noticed or harmless. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "schemas/pack/trace_packed.h"
#include "schemas/trace_codec.h"
#include "tests/soak.h"

enum { CHUNK = 65536, CHUNKS = 5 };

static uint64_t seed = 88172645463325252u;
static uint64_t random_number(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* Writes one record of a random kind, with values of random length. */
static uint8_t *put_any(uint8_t *p, struct trace_coding *coding, uint64_t *ticks)
{
    uint8_t payload[300];
    uint64_t address = random_number() >> (random_number() % 60);
    uint64_t size = random_number() >> (random_number() % 64);
    uint32_t stack = (uint32_t)(random_number() % 300);
    *ticks += random_number() % 1000;
    switch (random_number() % 8) {
    case 0:
        return trace_put_alloc(p, coding, *ticks, address, size, stack,
                               (enum trace_alloc_kind)(random_number() % TRACE_KIND_COUNT),
                               (unsigned)(random_number() % 64));
    case 1:
        return trace_put_free_stack(p, coding, *ticks, address, stack);
    case 2:
        return trace_put_realloc(p, coding, *ticks, *ticks + 5, address, address + 32, size, stack,
                                 (enum trace_realloc_outcome)(random_number() % 3),
                                 random_number() & 1);
    case 3:
        return trace_put_node(p, coding, 1 + stack, stack / 2,
                              (enum trace_node_frame)(random_number() % 4), 3, address);
    case 4:
        memset(payload, (int)stack, sizeof(payload));
        return trace_put_extended(p, TRACE_EXT_MARK, payload, stack);
    case 5:
        return trace_put_free(p, coding, *ticks, address);
    default:
        return trace_put_alloc(p, coding, *ticks, 0x1000 + 32 * (stack % 50), 32, stack % 7,
                               TRACE_KIND_MALLOC, 0);
    }
}

static void make_chunk(uint8_t *chunk, uint32_t slot, bool records)
{
    static struct trace_coding coding;
    struct trace_chunk_header header = {.magic = TRACE_CHUNK_MAGIC, .slot = slot, .thread = 7};
    uint64_t ticks = 1000;
    uint8_t *p = chunk + sizeof(header);
    trace_coding_reset(&coding, ticks);
    while (p < chunk + CHUNK - 500) {
        if (records)
            p = put_any(p, &coding, &ticks);
        else
            *p++ = (uint8_t)random_number();
    }
    header.commit = (uint32_t)(p - chunk);
    memcpy(chunk, &header, sizeof(header));
}

static uint8_t chunks[CHUNKS][CHUNK], records[CHUNKS * CHUNK];

/* Packs `count` chunks. Returns a copy of the payload. */
static uint8_t *pack(unsigned count, enum trace_packing packing, size_t *length)
{
    struct trace_packer *packer = trace_packer_new(sizeof(records), packing);
    assert_non_null(packer);
    assert_null(trace_packer_end(packer, length));
    for (unsigned i = 0; i < count; i++)
        assert_true(trace_packer_add(packer, chunks[i], CHUNK));
    assert_int_equal(trace_packer_count(packer), count);
    const uint8_t *payload = trace_packer_end(packer, length);
    assert_non_null(payload);
    assert_int_equal(trace_packer_count(packer), 0);
    uint8_t *copy = malloc(*length);
    memcpy(copy, payload, *length);
    trace_packer_free(packer);
    return copy;
}

static void assert_packed_comes_back(unsigned count, enum trace_packing packing, uint64_t method)
{
    struct trace_packed packed;
    size_t length, at = 0;
    uint8_t *payload = pack(count, packing, &length);
    assert_true(trace_packed_open(&packed, payload, length));
    assert_int_equal(packed.method, method);
    assert_int_equal(packed.chunks, count);
    assert_true(trace_packed_size(&packed) <= sizeof(records));
    assert_true(trace_packed_records(&packed, records));
    for (unsigned i = 0; i < count; i++) {
        struct trace_chunk_header before, after;
        memcpy(&before, chunks[i], sizeof(before));
        trace_packed_header(&packed, i, &after);
        size_t bytes = before.commit - sizeof(before);
        assert_int_equal(after.commit, before.commit);
        assert_int_equal(after.slot, before.slot);
        assert_int_equal(after.flags, TRACE_CHUNK_SEALED);
        assert_int_equal(after.sum, trace_sum(chunks[i] + sizeof(before), bytes));
        assert_memory_equal(records + at, chunks[i] + sizeof(before), bytes);
        at += bytes;
    }
    assert_int_equal(at, trace_packed_size(&packed));
    free(payload);
}

/* Checks small and quick packing. `method` is the expected one for small. */
static void assert_comes_back(unsigned count, uint64_t method)
{
    assert_packed_comes_back(count, TRACE_PACK_SMALL, method);
    assert_packed_comes_back(count, TRACE_PACK_QUICK, method < 1 ? method : 1);
}

static void records_of_all_kinds_come_back(void **state)
{
    for (unsigned i = 0; i < CHUNKS; i++)
        make_chunk(chunks[i], i, true);
    assert_comes_back(1, 1);
    assert_comes_back(CHUNKS, 1);
}

static void what_does_not_decode_comes_back(void **state)
{
    make_chunk(chunks[0], 0, true);
    make_chunk(chunks[1], 1, false);
    assert_comes_back(2, 0);
}

/* A program whose allocator reuses the block of a size that was freed last. Its chunks pass to
 * other threads, it has more addresses than the table, and it frees blocks of earlier chunks. */
struct program {
    uint64_t address[3000], size[3000], ticks, top;
    uint64_t freed[8][3000];
    unsigned live, freed_count[8];
    uint32_t node;
};

static uint64_t program_address(struct program *program, uint64_t size)
{
    unsigned class = (unsigned)(size / 32 % 8);
    if (program->freed_count[class] > 0)
        return program->freed[class][--program->freed_count[class]];
    program->top += (size + 23) & ~UINT64_C(15);
    return program->top - ((size + 23) & ~UINT64_C(15));
}

static void program_keep(struct program *program, uint64_t address, uint64_t size)
{
    program->address[program->live] = address;
    program->size[program->live++] = size;
}

/* Ends a block: mostly the last one, or one near it. */
static uint64_t program_end(struct program *program, bool forget)
{
    unsigned back = random_number() % 3 ? 0 : (unsigned)(random_number() % program->live);
    if (back != 0 && random_number() % 2)
        back = back % 5 % program->live;
    unsigned at = program->live - 1 - back;
    uint64_t address = program->address[at], size = program->size[at];
    if (forget) {
        unsigned class = (unsigned)(size / 32 % 8);
        program->freed[class][program->freed_count[class]++] = address;
        program->live--;
        memmove(&program->address[at], &program->address[at + 1], (program->live - at) * 8);
        memmove(&program->size[at], &program->size[at + 1], (program->live - at) * 8);
    }
    return address;
}

static uint8_t *program_step(struct program *program, uint8_t *p, struct trace_coding *coding)
{
    const uint32_t stack = 1 + (uint32_t)(random_number() % (program->node + 1));
    const uint64_t size = stack % 7 ? 32 * (stack % 9) + 24 : random_number() % 3000 + 1;
    const unsigned what = program->live < 20     ? 0
                          : program->live > 2900 ? 12
                                                 : (unsigned)(random_number() % 24);
    uint64_t address, old;
    uint8_t payload[40], *end;
    program->ticks += random_number() % 300;
    switch (what) {
    case 8:
        address = program_address(program, size);
        program_keep(program, address, size);
        return trace_put_alloc(p, coding, program->ticks, address, size, stack, TRACE_KIND_MEMALIGN,
                               6);
    case 9:
    case 10:
    case 11: {
        const enum trace_realloc_outcome outcome = (enum trace_realloc_outcome)(what - 9);
        old = program_end(program, outcome == TRACE_REALLOC_MOVED);
        address = old;
        if (outcome == TRACE_REALLOC_MOVED) {
            address = program_address(program, size);
            program_keep(program, address, size);
        }
        program->ticks += 30;
        return trace_put_realloc(p, coding, program->ticks - 30, program->ticks, old, address, size,
                                 stack, outcome, stack & 1);
    }
    case 12:
    case 13:
    case 14:
    case 15:
    case 16:
        return trace_put_free(p, coding, program->ticks, program_end(program, true));
    case 17:
        return trace_put_free_stack(p, coding, program->ticks, program_end(program, true), stack);
    case 18:
        program->node++;
        return trace_put_node(p, coding, program->node, program->node / 2, TRACE_FRAME_RETURN,
                              program->node % 3, 0x1000 + program->node * 8);
    case 19:
        return trace_put_arena_alloc(p, coding, program->ticks, 1 + stack % 2,
                                     0x900000 + program->ticks * 16, size, 1 + stack % 3, stack,
                                     stack % 5);
    case 20:
        return trace_put_arena_free(p, coding, program->ticks, 1, 0x900000 + program->ticks * 16,
                                    stack % 4 == 1);
    case 21:
        if (random_number() % 16)
            return trace_put_free(p, coding, program->ticks, 0x7f0000000000 + 8 * (stack % 64));
        end = trace_put_varint(trace_put_varint(payload, 9), 3);
        end = trace_put_varint(end, program->ticks);
        p = trace_put_extended(p, TRACE_EXT_SWITCH, payload, (size_t)(end - payload));
        trace_coding_reset(coding, program->ticks);
        return p;
    default:
        address = program_address(program, size);
        program_keep(program, address, size);
        return trace_put_alloc(p, coding, program->ticks, address, size, stack,
                               what == 7 ? TRACE_KIND_CALLOC : TRACE_KIND_MALLOC, 0);
    }
}

static void run_program(struct program *program, uint8_t *chunk, uint32_t slot)
{
    static struct trace_coding coding;
    struct trace_chunk_header header = {
        .magic = TRACE_CHUNK_MAGIC, .slot = slot, .thread = 7, .base_ticks = program->ticks};
    uint8_t *p = chunk + sizeof(header);
    trace_coding_reset(&coding, program->ticks);
    while (p < chunk + CHUNK - TRACE_RECORD_MAX)
        p = program_step(program, p, &coding);
    header.commit = (uint32_t)(p - chunk);
    memcpy(chunk, &header, sizeof(header));
}

static struct program program;

static void a_program_is_predicted(void **state)
{
    memset(&program, 0, sizeof(program));
    program.top = 0x55550000;
    program.ticks = 5000;
    for (unsigned i = 0; i < CHUNKS; i++)
        run_program(&program, chunks[i], i);
    assert_comes_back(1, 2);
    assert_comes_back(CHUNKS, 2);
}

/* More blocks than the model can know; half of them are live when it forgets them. */
static void many_blocks_come_back(void **state)
{
    enum { MANY = 16 };
    static struct trace_coding coding;
    static uint8_t chunk[MANY][CHUNK], again[MANY * CHUNK];
    struct trace_packer *packer = trace_packer_new(sizeof(again), TRACE_PACK_SMALL);
    struct trace_packed packed;
    size_t length, at = 0;
    uint64_t blocks = 0;
    for (unsigned i = 0; i < MANY; i++) {
        struct trace_chunk_header header = {.slot = i, .base_ticks = blocks};
        uint8_t *p = chunk[i] + sizeof(header);
        trace_coding_reset(&coding, blocks);
        while (p < chunk[i] + CHUNK - 2 * TRACE_RECORD_MAX) {
            p = trace_put_alloc(p, &coding, blocks, 0x10000 + 32 * blocks, 24, 1, TRACE_KIND_MALLOC,
                                0);
            blocks++;
            if (blocks % 2)
                p = trace_put_free(p, &coding, blocks, 0x10000 + 32 * (blocks / 2));
        }
        header.commit = (uint32_t)(p - chunk[i]);
        memcpy(chunk[i], &header, sizeof(header));
        assert_true(trace_packer_add(packer, chunk[i], CHUNK));
    }
    assert_true(blocks > 140000);
    const uint8_t *payload = trace_packer_end(packer, &length);
    assert_true(trace_packed_open(&packed, payload, length));
    assert_int_equal(packed.method, 2);
    assert_true(length < 40000);
    assert_true(trace_packed_records(&packed, again));
    for (unsigned i = 0; i < MANY; i++) {
        struct trace_chunk_header header;
        memcpy(&header, chunk[i], sizeof(header));
        assert_memory_equal(again + at, chunk[i] + sizeof(header), header.commit - sizeof(header));
        at += header.commit - sizeof(header);
    }
    trace_packer_free(packer);
}

/* Records that the codec would write in another way still come back byte for byte. */
static void other_spellings_come_back(void **state)
{
    static const uint8_t tail[][8] = {
        {0x03, 0x85, 0x00, 0x20},             /* a varint that is too long */
        {0x43, 0x05, 0x80, 0x02},             /* steps of 1 where 16 would do */
        {0x05, 0x02, 0x00, 0x01, 0xA0, 0x22}, /* NODE without its bits: moved as it is */
    };
    static const size_t length[] = {4, 4, 6};
    for (unsigned i = 0; i < 3; i++) {
        struct trace_chunk_header header;
        run_program(&program, chunks[0], 0);
        memcpy(&header, chunks[0], sizeof(header));
        memcpy(chunks[0] + header.commit, tail[i], length[i]);
        header.commit += (uint32_t)length[i];
        memcpy(chunks[0], &header, sizeof(header));
        assert_comes_back(1, i == 2 ? 2 : 1);
    }
}

/* A payload of method 2 with changed bytes gives some records of the right length, or none. */
static void damaged_predictions_are_harmless(void **state)
{
    struct trace_packed packed;
    struct trace_chunk_header header;
    size_t length, refused = 0, changed = 0;
    run_program(&program, chunks[0], 0);
    memcpy(&header, chunks[0], sizeof(header));
    uint8_t *payload = pack(1, TRACE_PACK_SMALL, &length);
    for (size_t at = 0; at < length; at += in_soak(1, 3) * (at < 300 ? 1 : 29)) {
        payload[at] ^= (uint8_t)(1u << at % 8);
        uint8_t *room = malloc(CHUNK); /* exact size: a sanitizer checks its end */
        if (!trace_packed_open(&packed, payload, length) || trace_packed_size(&packed) > CHUNK ||
            !trace_packed_records(&packed, room))
            refused++;
        else
            changed +=
                memcmp(room, chunks[0] + sizeof(header), header.commit - sizeof(header)) != 0;
        free(room);
        payload[at] ^= (uint8_t)(1u << at % 8);
    }
    assert_true(refused > in_soak(50, 16) && changed > in_soak(10, 3));
    free(payload);
}

static void empty_chunks_come_back(void **state)
{
    struct trace_chunk_header header = {.commit = TRACE_CHUNK_HEADER_SIZE};
    memcpy(chunks[0], &header, sizeof(header));
    assert_comes_back(1, 2);
}

static void a_full_packer_takes_no_more(void **state)
{
    struct trace_packer *packer = trace_packer_new(CHUNK, TRACE_PACK_SMALL);
    size_t length;
    make_chunk(chunks[0], 0, true);
    assert_true(trace_packer_add(packer, chunks[0], CHUNK));
    assert_false(trace_packer_add(packer, chunks[0], CHUNK));
    assert_int_equal(trace_packer_count(packer), 1);
    assert_non_null(trace_packer_end(packer, &length));
    assert_true(trace_packer_add(packer, chunks[0], CHUNK));
    trace_packer_free(packer);
}

static void regular_events_become_small(void **state)
{
    static struct trace_coding coding;
    struct trace_chunk_header header = {.slot = 1};
    uint8_t *p = chunks[0] + sizeof(header);
    size_t length, events = 0;
    trace_coding_reset(&coding, 0);
    for (; p < chunks[0] + CHUNK - 200; events += 2) {
        p = trace_put_alloc(p, &coding, events * 100, 0x1000 + 64 * (events % 100), 40 + events % 3,
                            1, TRACE_KIND_MALLOC, 0);
        p = trace_put_free(p, &coding, events * 100 + 50, 0x1000 + 64 * (events % 100));
    }
    header.commit = (uint32_t)(p - chunks[0]);
    memcpy(chunks[0], &header, sizeof(header));
    free(pack(1, TRACE_PACK_SMALL, &length));
    assert_true(length * 8 < events);
}

/* Each payload is refused, or gives some records; a sanitizer finds other faults. */
static void damaged_payloads_are_harmless(void **state)
{
    struct trace_packed packed;
    size_t length, same = 0, refused = 0;
    make_chunk(chunks[0], 0, true);
    uint8_t *payload = pack(1, TRACE_PACK_SMALL, &length);
    for (size_t at = 0; at < length; at += in_soak(1, 3) * (at < 300 ? 1 : 97)) {
        payload[at] ^= (uint8_t)(1u << at % 8);
        if (!trace_packed_open(&packed, payload, length) || trace_packed_size(&packed) > CHUNK ||
            !trace_packed_records(&packed, records))
            refused++;
        else
            same++;
        payload[at] ^= (uint8_t)(1u << at % 8);
    }
    assert_true(refused > in_soak(50, 16) && same > in_soak(50, 16));
    for (size_t cut = 0; cut < length; cut += in_soak(1, 3) * (cut < 300 ? 1 : 97)) {
        uint8_t *copy = malloc(cut + 1); /* exact size: a sanitizer checks its end */
        memcpy(copy, payload, cut);
        bool good = trace_packed_open(&packed, copy, cut) && trace_packed_size(&packed) <= CHUNK &&
                    trace_packed_records(&packed, records);
        assert_false(good);
        free(copy);
    }
    free(payload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_all_kinds_come_back),
        cmocka_unit_test(a_program_is_predicted),
        cmocka_unit_test(many_blocks_come_back),
        cmocka_unit_test(other_spellings_come_back),
        cmocka_unit_test(damaged_predictions_are_harmless),
        cmocka_unit_test(what_does_not_decode_comes_back),
        cmocka_unit_test(empty_chunks_come_back),
        cmocka_unit_test(a_full_packer_takes_no_more),
        cmocka_unit_test(regular_events_become_small),
        cmocka_unit_test(damaged_payloads_are_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
