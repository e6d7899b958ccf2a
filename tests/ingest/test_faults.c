/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Damaged traces: every truncation, every flipped bit of every byte that means something, lengths
 * that lie. Nothing crashes, hangs or allocates without bound (run this under a sanitizer for the
 * full meaning), and the loaded data adds up.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/ingest/replay_bytes.h"
#include "tests/soak.h"

static uint8_t worked[65536];
static size_t worked_length;

/* Checks that a message gives the place in the file of the data that a cut removed. */
static void assert_cut_is_told(const struct replayed *replayed, size_t length)
{
    const struct problems *problems = &replayed->problems;
    for (size_t i = 0; i < problems->kept_count; i++) {
        const struct problem *problem = &problems->kept[i];
        if ((problem->kind == PROBLEM_DAMAGE || problem->kind == PROBLEM_MISSING_CHUNK) &&
            problem->byte_offset >= TRACE_FILE_HEADER_SIZE &&
            problem->byte_offset <= (int64_t)length)
            return;
    }
    fail_msg("cut at %zu: no problem tells of it", length);
}

static void every_truncation(void **state)
{
    for (size_t length = 0; length <= worked_length; length += in_soak(1, 3)) {
        struct replayed *replayed = replay_bytes(worked, length, length);
        assert_sound(replayed, "cut at", length);
        assert_true(replayed->good == (length >= TRACE_FILE_HEADER_SIZE));
        if (replayed->good && length <= 8192 + 200)
            assert_cut_is_told(replayed, length);
        replayed_free(replayed);
        /* After the committed bytes of the last chunk there are only zeros. */
        if (length == 8192 + 200)
            length = worked_length - 2;
    }
}

static void sum_header(uint8_t *bytes)
{
    uint64_t sum = trace_sum(bytes, offsetof(struct trace_file_header, header_sum));
    memcpy(bytes + offsetof(struct trace_file_header, header_sum), &sum, 8);
}

static void sum_chunk(uint8_t *chunk)
{
    uint32_t sum = (uint32_t)trace_sum(chunk, offsetof(struct trace_chunk_header, header_sum));
    memcpy(chunk + offsetof(struct trace_chunk_header, header_sum), &sum, 4);
}

static void every_flipped_bit(void **state)
{
    static const struct {
        size_t begin, end;
    } parts[] = {{0, 128}, {4096, 4096 + 480}, {8192, 8192 + 150}};
    static uint8_t bytes[sizeof(worked)];
    for (size_t part = 0; part < sizeof(parts) / sizeof(*parts); part++)
        for (size_t at = parts[part].begin; at < parts[part].end; at += in_soak(1, 3))
            for (unsigned bit = 0; bit < 16; bit++) {
                memcpy(bytes, worked, worked_length);
                bytes[at] ^= (uint8_t)(1u << bit % 8);
                if (bit >= 8) { /* again, with sums that hide it */
                    if (at % 4096 >= 128)
                        break;
                    sum_header(bytes);
                    sum_chunk(bytes + 4096);
                    sum_chunk(bytes + 8192);
                }
                struct replayed *replayed = replay_bytes(bytes, worked_length, worked_length);
                assert_sound(replayed, "flipped at", at);
                replayed_free(replayed);
            }
}

/* Replays one chunk with the extended record `type` whose payload is `payload`. */
static void lie(unsigned type, const char *format, uint64_t a, uint64_t b, uint64_t c)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct lane lane;
    lane_begin(&lane, builder, 1, 1000);
    lane_extended(&lane, type, format, a, b, c, a, b, c, a, b, c, a, b, c);
    lane_alloc(&lane, 2000, 0x1000, 5, 0);
    struct replayed *replayed = replay_built(builder);
    assert_sound(replayed, "lying record of type", type);
    assert_true(replayed->good);
    assert_int_equal(replayed->totals.allocations, 1);
    replayed_free(replayed);
}

static void lengths_that_lie(void **state)
{
    static const uint64_t numbers[] = {0,         1,         127, UINT32_MAX, UINT64_C(1) << 32,
                                       INT64_MAX, UINT64_MAX};
    const size_t count = sizeof(numbers) / sizeof(*numbers);
    for (unsigned type = 0; type <= TRACE_EXT_END + 2; type++)
        for (size_t i = 0; type != TRACE_EXT_SWITCH && i < count * count; i++)
            lie(type, "nnnnnnnnnnnn", numbers[i % count], numbers[i / count],
                numbers[(i * 5 + 3) % count]);
}

static void ids_and_sizes_that_lie(void **state)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct lane lane;
    lane_begin(&lane, builder, 1, 1000);
    lane_node(&lane, UINT32_MAX, UINT32_MAX, TRACE_FRAME_RETURN, UINT32_MAX, UINT64_MAX);
    lane_node(&lane, UINT32_MAX - 1, 5, TRACE_FRAME_RETURN, 1, 0);
    lane_alloc(&lane, 1001, UINT64_MAX, UINT64_MAX, UINT32_MAX);
    lane_alloc(&lane, 1002, 1, UINT64_MAX / 2, UINT32_MAX - 1);
    lane_alloc(&lane, 1003, 0, 0, 1);
    lane_free(&lane, UINT64_MAX, 0);
    lane_free(&lane, UINT64_MAX, UINT64_MAX);
    lane_switch(&lane, UINT32_MAX, UINT32_MAX, 0);
    lane_alloc(&lane, 1, 7, 7, 7);
    struct replayed *replayed = replay_built(builder);
    assert_sound(replayed, "lying ids", 0);
    assert_true(replayed->good);
    assert_int_equal(replayed->totals.allocations, 3);
    assert_int_equal(replayed->totals.frees, 2);
    assert_int_equal(replayed->totals.bytes, 0);
    assert_true(replayed->scan.damaged_bytes != 0);
    replayed_free(replayed);
}

/* No reader of the session could index an array by these numbers. They are refused with a
 * message. */
static void numbers_far_from_all_others(void **state)
{
    static const uint32_t numbers[] = {2000000, UINT32_C(1) << 31, UINT32_MAX - 1};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
        struct lane lane, other;
        const uint64_t number = numbers[i];
        lane_begin(&lane, builder, 1, 1000);
        lane_extended(&lane, TRACE_EXT_THREAD, "wnns", UINT64_C(1000), number, number, "x");
        lane_extended(&lane, TRACE_EXT_MODULE, "wnnnnssn", UINT64_C(1000), number, UINT64_C(0),
                      UINT64_C(0), UINT64_C(4096), "/lib/x.so", "", UINT64_C(0));
        lane_extended(&lane, TRACE_EXT_ARENA, "wnns", UINT64_C(1000), UINT64_C(1), number, "pool");
        lane_extended(&lane, TRACE_EXT_ARENA, "wnns", UINT64_C(1000), number, UINT64_C(0), "far");
        lane_node(&lane, 1, 0, TRACE_FRAME_RETURN, numbers[i], 0x1000);
        lane_alloc(&lane, 1001, 16, 3, 1);
        lane_arena_alloc(&lane, 1002, numbers[i], 32, 8, 1, 1);
        lane_arena_alloc(&lane, 1003, 1, 32, 8, 1, 1);
        lane_switch(&lane, numbers[i], 0, 1100);
        lane_alloc(&lane, 1101, 48, 5, 1);
        lane_free(&lane, 1102, 16);
        lane_begin(&other, builder, numbers[i], 1000);
        lane_alloc(&other, 1004, 64, 7, 1);
        struct replayed *replayed = replay_built(builder);
        assert_sound(replayed, "number", numbers[i]);
        assert_true(replayed->good);
        assert_int_equal(replayed->totals.allocations, 1);
        assert_int_equal(replayed->totals.frees, 0);
        assert_int_equal(replayed->scan.threads.count, 1);
        assert_int_equal(replayed->replay.arena_count, 1);
        assert_int_equal(replayed->problems.counts[PROBLEM_RECORD], 5);
        assert_int_equal(replayed->problems.counts[PROBLEM_DAMAGE], 2);
        replayed_free(replayed);
    }
}

/* Observers outside the process report no allocations. */
static void allocations_from_outside(void **state)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct lane lane, outside;
    lane_begin(&lane, builder, 1, 1000);
    lane_alloc(&lane, 1001, 16, 3, 0);
    lane_begin(&outside, builder, TRACE_THREAD_OUTSIDE, 1000);
    lane_extended(&outside, TRACE_EXT_RSS, "wn", UINT64_C(1001), UINT64_C(4096));
    lane_alloc(&outside, 1002, 32, 3, 0);
    lane_free(&outside, 1003, 16);
    struct replayed *replayed = replay_built(builder);
    assert_sound(replayed, "outside", 0);
    assert_int_equal(replayed->totals.allocations, 1);
    assert_int_equal(replayed->totals.frees, 0);
    assert_int_equal(replayed->replay.sample_count, 1);
    assert_int_equal(replayed->problems.counts[PROBLEM_DAMAGE], 1);
    replayed_free(replayed);
}

/* The file claims to be a tebibyte long and is a hole. It is skipped, not read. */
static void a_file_of_holes(void **state)
{
    struct replayed *replayed = replay_bytes(worked, worked_length, UINT64_C(1) << 40);
    assert_true(replayed->good);
    assert_sound(replayed, "hole", 0);
    assert_int_equal(replayed->totals.allocations, 13); /* two of them came from the trace before */
    replayed_free(replayed);
}

/* Ten thousand stacks on one chain of ten thousand frames stay within the limits of stacks.c. */
static void deep_stacks(void **state)
{
    enum { DEEP = 10000 };
    struct trace_builder *builder = trace_builder_new(65536, TRACE_CLOCK_NANOSECONDS);
    struct lane lane;
    lane_begin(&lane, builder, 1, 1000);
    for (uint32_t id = 1; id <= DEEP; id++)
        lane_node(&lane, id, id - 1, TRACE_FRAME_RETURN, 0, 16 * (id % 100));
    for (uint32_t id = 1; id <= DEEP; id++)
        lane_alloc(&lane, 1000 + id, 16 * id, 1, id);
    struct replayed *replayed = replay_built(builder);
    assert_true(replayed->good);
    assert_int_equal(replayed->stacks.count, DEEP + 1);
    assert_int_equal(replayed->stacks.rows[DEEP].depth, DEEP);
    replayed_free(replayed);
}

/* The same place in two modules whose records are lost is two functions, one in each module. */
static void modules_that_are_lost(void **state)
{
    struct trace_builder *builder = trace_builder_new(4096, TRACE_CLOCK_NANOSECONDS);
    struct lane lane;
    lane_begin(&lane, builder, 1, 1000);
    lane_node(&lane, 1, 0, TRACE_FRAME_RETURN, 3, 0x1000);
    lane_node(&lane, 2, 0, TRACE_FRAME_RETURN, 4, 0x1000);
    lane_alloc(&lane, 1001, 16, 1, 1);
    lane_alloc(&lane, 1002, 32, 1, 2);
    struct replayed *replayed = replay_built(builder);
    assert_true(replayed->good);
    assert_int_equal(replayed->scan.module_count, 2);
    const struct frames *frames = &replayed->stacks.frames;
    assert_int_equal(frames->function_count, 2);
    assert_string_equal(frames->functions[0].name, "(lost module 3)+0xfff");
    assert_string_equal(frames->functions[1].name, "(lost module 4)+0xfff");
    assert_int_equal(frames->functions[1].module, 4);
    replayed_free(replayed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncation),         cmocka_unit_test(every_flipped_bit),
        cmocka_unit_test(lengths_that_lie),         cmocka_unit_test(ids_and_sizes_that_lie),
        cmocka_unit_test(a_file_of_holes),          cmocka_unit_test(deep_stacks),
        cmocka_unit_test(modules_that_are_lost),    cmocka_unit_test(numbers_far_from_all_others),
        cmocka_unit_test(allocations_from_outside),
    };
    FILE *file = fopen(WORKED_TRACE, "rb");
    if (!file || (worked_length = fread(worked, 1, sizeof(worked), file)) == 0) {
        perror(WORKED_TRACE);
        return 1;
    }
    fclose(file);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
