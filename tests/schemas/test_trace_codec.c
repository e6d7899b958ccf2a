/* SPDX-License-Identifier: BSD-2-Clause */
/* schemas/trace-format.md: the worked bytes, round trips, and damage that a reader must notice. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "schemas/trace_references.h"

static struct trace_coding writer, reader;

static void worked_bytes(void **state)
{
    static const uint8_t expected[] = {
        0x45, 0x00, 0x01, 0xA0, 0x22,                         /* NODE 1 */
        0xCD, 0xC3, 0x22,                                     /* NODE 2 */
        0x11, 0x64, 0xD4, 0x94, 0x20, 0x20, 0x02,             /* ALLOC */
        0x22, 0x04, 0x06, 0xC8, 0x01, 0x06,                   /* ALLOC_ATTR */
        0x83, 0x64, 0xF1,                                     /* FREE */
        0x94, 0x00, 0x64, 0x96, 0x01, 0xCC, 0x06, 0x64, 0x01, /* REALLOC */
        0x8E, 0x32, 0xA6, 0x3C,                               /* FREE_STACK */
        0x07, 0x0C, 0x06, 0x00, 0x04, 'l',  'o',  'a',  'd',  /* MARK */
        0x0F, 0x0C, 0x01, 0x0A, 0x14, 0x30, 0x03,             /* ARENA_ALLOC, short */
        0x97, 0x0A, 0xD4,                                     /* ARENA_FREE, short */
    };
    uint8_t bytes[256], payload[8], *p = bytes;
    trace_coding_reset(&writer, 1000);
    p = trace_put_node(p, &writer, 1, 0, TRACE_FRAME_RETURN, 1, 0x1120);
    p = trace_put_node(p, &writer, 2, 1, TRACE_FRAME_RETURN, 1, 0x1143);
    p = trace_put_alloc(p, &writer, 1100, 0x4052a0, 32, 2, TRACE_KIND_MALLOC, 0);
    p = trace_put_alloc(p, &writer, 1300, 0x4052d0, 32, 2, TRACE_KIND_POSIX_MEMALIGN, 6);
    p = trace_put_free(p, &writer, 1400, 0x4052a0);
    p = trace_put_realloc(p, &writer, 1500, 1650, 0x4052d0, 0x405300, 100, 1, TRACE_REALLOC_MOVED,
                          false);
    p = trace_put_free_stack(p, &writer, 1700, 0x405300, 2);
    uint8_t *e = trace_put_string(trace_put_varint(payload, 0), "load", 4);
    p = trace_put_extended(p, TRACE_EXT_MARK, payload, (size_t)(e - payload));
    p = trace_put_arena_alloc(p, &writer, 1710, 1, 0x4053a0, 48, 3, 2, 0);
    p = trace_put_arena_free(p, &writer, 1720, 1, 0x4053a0, false);
    assert_int_equal(p - bytes, sizeof(expected));
    assert_memory_equal(bytes, expected, sizeof(expected));
}

/* The payloads of a snapshot of references. */
static void worked_references(void **state)
{
    static const uint8_t words[] = {0x00, 0x01, 0x03, 0xAA, 0xA9, 0x40, 0xB4,
                                    0xA9, 0x40, 0x0C, 0x0C, 0x03, 0xFB, 0x02};
    static const uint8_t thread[] = {0x00, 0x01, 0x92, 0x21, 0x80, 0xE0, 0xFF, 0x07,
                                     0xC0, 0xA1, 0x85, 0x02, 0xA0, 0xA2, 0x80, 0x02,
                                     0x01, 0x03, 0xA0, 0xA5, 0x81, 0x02};
    static const struct trace_references_word expected[] = {
        {0x4052a8, 0x4052d0, false}, {0x4052d8, 0x405300, false}, {0x4052e0, 0x4052a1, true}};
    struct trace_references_words piece = {0};
    struct trace_references_word word;
    struct trace_references_thread got;
    uint8_t bytes[TRACE_EXTENDED_MAX];
    const uint8_t *at = words, *const end = words + sizeof(words);
    uint64_t number, count;
    for (size_t i = 0; i < 3; i++)
        assert_true(trace_references_add(&piece, expected[i]));
    assert_ptr_equal(trace_put_references_words(bytes, 1, &piece), bytes + sizeof(words));
    assert_memory_equal(bytes, words, sizeof(words));
    assert_true(trace_get_references_words(&at, end, &number, &count, &word));
    assert_int_equal(number, 1);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(trace_references_next(&at, end, &word));
        assert_int_equal(word.where, expected[i].where);
        assert_int_equal(word.to, expected[i].to);
        assert_int_equal(word.tagged, expected[i].tagged);
    }
    assert_false(trace_references_next(&at, end, &word));
    assert_true(trace_get_references_thread(thread, thread + sizeof(thread), &got));
    assert_int_equal(got.stack_pointer, 0xfff000);
    assert_int_equal(got.registers[0].value, 0x4052a0);
    assert_ptr_equal(trace_put_references_thread(bytes, &got), bytes + sizeof(thread));
    assert_memory_equal(bytes, thread, sizeof(thread));
    assert_false(trace_get_references_thread(thread, thread + sizeof(thread) - 1, &got));
}

struct put {
    enum trace_kind kind;
    uint64_t ticks, free_ticks, address, old_address, size;
    uint32_t stack;
    unsigned extra;
};

static uint64_t seed = 88172645463325252u;
static uint64_t random_number(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static void random_records_come_back(void **state)
{
    enum { N = 20000 };
    static struct put put[N];
    static uint8_t bytes[N * TRACE_RECORD_MAX];
    uint8_t *p = bytes;
    uint64_t ticks = 5000;
    trace_coding_reset(&writer, ticks);
    for (int i = 0; i < N; i++) {
        struct put *r = &put[i];
        static const enum trace_kind kinds[] = {TRACE_ALLOC,   TRACE_ALLOC_ATTR, TRACE_FREE,
                                                TRACE_REALLOC, TRACE_FREE_STACK, TRACE_EXTENDED};
        r->kind = kinds[random_number() % 6];
        r->ticks = r->free_ticks = ticks += random_number() % 30000;
        r->address = random_number() % 3 ? (random_number() % 500 + 1) * 16 : random_number() | 1;
        r->old_address = (random_number() % 500 + 1) * 16;
        r->size = random_number() >> (random_number() % 64);
        r->stack = (uint32_t)(random_number() >> (32 + random_number() % 32));
        r->extra = (unsigned)(random_number() % 3);
        if (r->kind == TRACE_ALLOC)
            p = trace_put_alloc(p, &writer, ticks, r->address, r->size, r->stack, 0, 0);
        else if (r->kind == TRACE_EXTENDED && r->extra)
            p = trace_put_arena_alloc(p, &writer, ticks, r->stack % 3 + 1, r->address, r->size,
                                      r->extra == 2 ? r->old_address : 1, r->stack, r->stack % 5);
        else if (r->kind == TRACE_EXTENDED)
            p = trace_put_arena_free(p, &writer, ticks, r->stack % 3 + 1, r->address, r->stack % 2);
        else if (r->kind == TRACE_ALLOC_ATTR)
            p = trace_put_alloc(p, &writer, ticks, r->address, r->size, r->stack,
                                r->extra ? TRACE_KIND_MEMALIGN : TRACE_KIND_CALLOC, 12);
        else if (r->kind == TRACE_FREE)
            p = trace_put_free(p, &writer, ticks, r->address);
        else if (r->kind == TRACE_FREE_STACK)
            p = trace_put_free_stack(p, &writer, ticks, r->address, r->stack);
        else {
            r->ticks = ticks += random_number() % 300;
            p = trace_put_realloc(p, &writer, r->free_ticks, ticks, r->old_address, r->address,
                                  r->size, r->stack, (enum trace_realloc_outcome)r->extra, false);
        }
    }
    const uint8_t *at = bytes;
    trace_coding_reset(&reader, 5000);
    for (int i = 0; i < N; i++) {
        const struct put *r = &put[i];
        struct trace_record record;
        assert_int_equal(trace_get(&at, p, &reader, &record), TRACE_GET_RECORD);
        assert_int_equal(record.kind, r->kind);
        assert_true(record.ticks == r->ticks);
        if (r->kind == TRACE_REALLOC) {
            assert_true(record.free_ticks == r->free_ticks);
            assert_true(record.old_address == r->old_address);
            assert_int_equal(record.outcome, r->extra);
            assert_true(record.address ==
                        (r->extra == TRACE_REALLOC_MOVED ? r->address : r->old_address));
        } else
            assert_true(record.address == r->address);
        if (r->kind == TRACE_EXTENDED) {
            assert_null(record.extended.payload);
            assert_int_equal(record.block.arena, r->stack % 3 + 1);
            assert_int_equal(record.extended.type,
                             r->extra ? TRACE_EXT_ARENA_ALLOC : TRACE_EXT_ARENA_FREE);
            assert_true(record.block.count == (r->extra == 2   ? r->old_address
                                               : r->extra == 1 ? 1
                                                               : 0));
            assert_true(record.block.kind == (r->extra ? r->stack % 5 : 0));
            assert_int_equal(record.block.collected, r->extra ? 0 : r->stack % 2);
            if (!r->extra)
                continue;
        }
        if (r->kind != TRACE_FREE)
            assert_int_equal(record.stack, r->stack);
        if (r->kind != TRACE_FREE && r->kind != TRACE_FREE_STACK)
            assert_true(record.size == r->size);
    }
    struct trace_record record;
    assert_int_equal(trace_get(&at, p, &reader, &record), TRACE_GET_END);
}

/* Ids in any order, parents that are the last node or not, markers, changing modules. */
static void random_nodes_come_back(void **state)
{
    enum { N = 5000 };
    static struct {
        uint32_t id, parent, module;
        enum trace_node_frame frame;
        uint64_t value;
    } put[N];
    static uint8_t bytes[N * TRACE_RECORD_MAX];
    /* The older form without the bits for next id and same module: the first id and module 1. */
    static const uint8_t old[] = {0x05, 0x02, 0x00, 0x01, 0xA0, 0x22};
    uint8_t *p = bytes;
    uint32_t id = 1;
    trace_coding_reset(&writer, 0);
    for (int i = 0; i < N; i++) {
        id = random_number() % 8 ? id + 1 : (uint32_t)(random_number() >> 32) % 100000 + 1;
        put[i].id = id;
        put[i].parent = random_number() % 2 ? id - 1 : (uint32_t)random_number() % 50;
        put[i].frame = (enum trace_node_frame)(random_number() % 4);
        bool code = put[i].frame <= TRACE_FRAME_EXACT;
        put[i].module = code ? (uint32_t)(random_number() % 3) : 0;
        put[i].value = code ? random_number() >> random_number() % 64 : 0;
        p = trace_put_node(p, &writer, id, put[i].parent, put[i].frame, put[i].module,
                           put[i].value);
    }
    const uint8_t *at = bytes;
    struct trace_record record;
    trace_coding_reset(&reader, 0);
    for (int i = 0; i < N; i++) {
        assert_int_equal(trace_get(&at, p, &reader, &record), TRACE_GET_RECORD);
        assert_int_equal(record.kind, TRACE_NODE);
        assert_int_equal(record.node.id, put[i].id);
        assert_int_equal(record.node.parent, put[i].parent);
        assert_int_equal(record.node.frame, put[i].frame);
        assert_int_equal(record.node.module, put[i].module);
        assert_true(record.node.value == put[i].value);
    }
    assert_int_equal(trace_get(&at, p, &reader, &record), TRACE_GET_END);
    at = old;
    trace_coding_reset(&reader, 0);
    assert_int_equal(trace_get(&at, old + sizeof(old), &reader, &record), TRACE_GET_RECORD);
    assert_int_equal(record.node.id, 1);
    assert_int_equal(record.node.module, 1);
    assert_int_equal(record.node.value, 0x1120);
}

/* Words at any distance come back, and no piece is longer than a record may be. */
static void random_references_come_back(void **state)
{
    static struct trace_references_words piece;
    static struct trace_references_word put[2048];
    uint8_t bytes[TRACE_EXTENDED_MAX];
    for (unsigned round = 0; round < 200; round++) {
        struct trace_references_word word = {0};
        size_t count = 0;
        uint64_t number, left;
        memset(&piece, 0, sizeof(piece));
        do {
            word.where += 8 + (random_number() >> (16 + random_number() % 48) << 3) % (1u << 30);
            word.to = random_number() >> (16 + random_number() % 48);
            word.tagged = random_number() & 1;
            put[count] = word;
        } while (trace_references_add(&piece, word) && ++count);
        const uint8_t *at = bytes, *end = trace_put_references_words(bytes, 7, &piece);
        assert_true(end <= bytes + sizeof(bytes));
        assert_true(trace_get_references_words(&at, end, &number, &left, &word));
        assert_int_equal(left, count);
        for (size_t i = 0; i < count; i++) {
            assert_true(trace_references_next(&at, end, &word));
            assert_int_equal(word.where, put[i].where);
            assert_int_equal(word.to, put[i].to);
            assert_int_equal(word.tagged, put[i].tagged);
        }
        assert_ptr_equal(at, end);
    }
}

static void damage_is_noticed(void **state)
{
    static const struct {
        const char *what;
        uint8_t bytes[16];
        size_t length;
    } bad[] = {
        {"kind 0", {0x00}, 1},
        {"alloc cut", {0x11, 0x64, 0xD4}, 3},
        {"cached address never seen", {0x83, 0x64, 0xF1}, 3},
        {"cached stack never seen", {0x09, 0x64, 0x02, 0x20, 0x55}, 5},
        {"address mode 3", {0xC3, 0x64, 0x01}, 3},
        {"reserved bit of free", {0x0B, 0x64, 0x02}, 3},
        {"unknown allocation kind", {0x22, 0x09, 0x06, 0x64, 0x02}, 5},
        {"varint over 64 bits",
         {0x03, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0x02},
         12},
        {"extended longer than the chunk", {0x07, 0x0C, 0x7F, 0x00}, 4},
        {"node without last node, chained", {0x0D, 0x02, 0x01, 0x20}, 4},
        {"form 3 of an extended record", {0x1F, 0x00, 0x00, 0x00}, 4},
        {"short record without an arena", {0x17, 0x64, 0x02}, 3},
        {"reserved bit of a short record", {0x0F, 0x1C, 0x01, 0x0A, 0x14, 0x30, 0x03}, 7},
        {"node id 0", {0x05, 0x00, 0x00, 0x01, 0x20}, 5},
        {"node that is not code, same module", {0xE5, 0x00}, 2},
        {"next node without its value", {0xC5, 0x00}, 2},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        const uint8_t *at = bad[i].bytes;
        struct trace_record record;
        trace_coding_reset(&reader, 0);
        print_message("  %s\n", bad[i].what);
        assert_int_equal(trace_get(&at, at + bad[i].length, &reader, &record), TRACE_GET_DAMAGED);
        assert_ptr_equal(at, bad[i].bytes);
    }
}

static void sum_sees_every_bit(void **state)
{
    uint8_t data[100];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)random_number();
    for (size_t length = 1; length <= sizeof(data); length++) {
        uint64_t sum = trace_sum(data, length);
        for (size_t bit = 0; bit < length * 8; bit++) {
            data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_true(trace_sum(data, length) != sum);
            data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_bytes),
        cmocka_unit_test(random_records_come_back),
        cmocka_unit_test(random_nodes_come_back),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(sum_sees_every_bit),
        cmocka_unit_test(worked_references),
        cmocka_unit_test(random_references_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
