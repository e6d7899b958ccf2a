/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces with packed chunks. They read the same as before they were packed, at every point at which
 * the packer can be stopped. Those that trace_compress() writes are cut and damaged everywhere.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ingest/trace/dump.h"
#include "schemas/pack/trace_packed.h"
#include "tests/ingest/replay_bytes.h"
#include "tests/soak.h"

enum { CHUNK = 4096 };

static uint8_t worked[65536], dense[65536];
static size_t worked_length, dense_length;

static void sum_file_header(uint8_t *bytes, uint32_t flags)
{
    struct trace_file_header header;
    memcpy(&header, bytes, sizeof(header));
    header.flags |= flags;
    header.header_sum = trace_sum(&header, offsetof(struct trace_file_header, header_sum));
    memcpy(bytes, &header, sizeof(header));
}

/* Puts a container with all `slots` into the slot after them. Returns the file's length. */
static size_t add_container(uint8_t *bytes, uint32_t slots)
{
    uint8_t *slot = bytes + TRACE_FILE_HEADER_SIZE + (size_t)slots * CHUNK;
    struct trace_packer *packer = trace_packer_new((size_t)slots * CHUNK, TRACE_PACK_SMALL);
    struct trace_file_header file;
    size_t length;
    memcpy(&file, bytes, sizeof(file));
    for (uint32_t i = 0; i < slots; i++) {
        const uint8_t *chunk = bytes + TRACE_FILE_HEADER_SIZE + (size_t)i * CHUNK;
        if (chunk[0] != 0)
            assert_true(trace_packer_add(packer, chunk, CHUNK));
    }
    const uint8_t *payload = trace_packer_end(packer, &length);
    struct trace_chunk_header header = {.magic = TRACE_CHUNK_MAGIC,
                                        .slot = slots,
                                        .thread = TRACE_THREAD_PACKED,
                                        .trace_id = file.trace_id};
    header.header_sum =
        (uint32_t)trace_sum(&header, offsetof(struct trace_chunk_header, header_sum));
    uint8_t *p = slot + sizeof(header);
    *p++ = TRACE_EXTENDED;
    p = trace_put_varint(p, TRACE_EXT_PACKED);
    p = trace_put_varint(p, length);
    assert_true(length < (size_t)(slot + CHUNK - p));
    memcpy(p, payload, length);
    header.commit = (uint32_t)(p + length - slot);
    memcpy(slot, &header, sizeof(header));
    trace_packer_free(packer);
    sum_file_header(bytes, TRACE_FILE_PACKED);
    return TRACE_FILE_HEADER_SIZE + ((size_t)slots + 1) * CHUNK;
}

static void assert_as_worked(const uint8_t *bytes, size_t length, const char *what)
{
    struct replayed *plain = replay_bytes(worked, worked_length, worked_length);
    struct replayed *packed = replay_bytes(bytes, length, length);
    if (!packed->good)
        fail_msg("%s: %s", what, packed->status.message);
    assert_sound(packed, what, 0);
    assert_int_equal(packed->row_count, plain->row_count);
    assert_memory_equal(&packed->totals.allocations, &plain->totals.allocations,
                        sizeof(plain->totals.allocations));
    assert_int_equal(packed->totals.bytes, plain->totals.bytes);
    assert_int_equal(packed->totals.frees, plain->totals.frees);
    assert_int_equal(packed->scan.damaged_bytes, plain->scan.damaged_bytes);
    assert_int_equal(packed->problems.counts[PROBLEM_MISSING_CHUNK],
                     plain->problems.counts[PROBLEM_MISSING_CHUNK]);
    for (size_t i = 0; i < packed->row_count; i++)
        assert_memory_equal(packed->rows[i], plain->rows[i], sizeof(packed->rows[i]));
    replayed_free(plain);
    replayed_free(packed);
}

/* The container is there. More and more of the slots, which are then freed, read as zero. */
static void stopped_while_it_frees_the_slots(void **state)
{
    static uint8_t bytes[sizeof(worked)];
    uint32_t slots = (uint32_t)((worked_length - TRACE_FILE_HEADER_SIZE + CHUNK - 1) / CHUNK);
    memcpy(bytes, worked, worked_length);
    size_t length = add_container(bytes, slots);
    assert_as_worked(bytes, length, "nothing freed");
    for (uint32_t i = 0; i < slots; i++) {
        uint8_t *slot = bytes + TRACE_FILE_HEADER_SIZE + (size_t)i * CHUNK;
        memset(slot + CHUNK / 64, 0, CHUNK - CHUNK / 64);
        assert_as_worked(bytes, length, "all but the header of a slot freed");
        memset(slot, 0, CHUNK);
        assert_as_worked(bytes, length, "a slot freed");
    }
    /* Kept as tests/golden/trace/packed/slots.bin. */
    FILE *file = fopen("worked-slots.bin", "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static void read_file(const char *path, uint8_t *bytes, size_t room, size_t *length)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    *length = fread(bytes, 1, room, file);
    fclose(file);
}

static int compress_worked(void **state)
{
    struct ingest_status status = {INGEST_OK, ""};
    struct trace_compress_result result;
    struct trace_file *file = trace_file_open(WORKED_TRACE, &status);
    assert_non_null(file);
    if (!trace_compress(file, "worked-dense.bin", true, NULL, &result, &status))
        fail_msg("%s", status.message);
    trace_file_close(file);
    read_file("worked-dense.bin", dense, sizeof(dense), &dense_length);
    assert_int_equal(dense_length, result.bytes);
    return 0;
}

static void a_dense_trace_is_the_same(void **state)
{
    assert_as_worked(dense, dense_length, "dense");
    assert_true(dense_length < worked_length / 2);
}

static void every_truncation(void **state)
{
    for (size_t length = TRACE_FILE_HEADER_SIZE; length < dense_length; length += in_soak(1, 5)) {
        struct replayed *replayed = replay_bytes(dense, length, length);
        assert_true(replayed->good);
        assert_sound(replayed, "cut at", length);
        /* A message tells the loss. */
        assert_true(
            replayed->scan.damaged_bytes + replayed->problems.counts[PROBLEM_MISSING_CHUNK] > 0);
        replayed_free(replayed);
    }
}

static void every_flipped_bit(void **state)
{
    static uint8_t bytes[sizeof(dense)];
    struct replayed *plain = replay_bytes(dense, dense_length, dense_length);
    for (size_t at = TRACE_FILE_HEADER_SIZE; at < dense_length; at += in_soak(1, 5))
        for (unsigned bit = 0; bit < 8; bit += at < TRACE_FILE_HEADER_SIZE + 400 ? 1 : 3) {
            memcpy(bytes, dense, dense_length);
            bytes[at] ^= (uint8_t)(1u << bit);
            struct replayed *replayed = replay_bytes(bytes, dense_length, dense_length);
            assert_sound(replayed, "flipped at", at);
            /* Either it is noticed, or it has no effect. */
            if (replayed->good && replayed->scan.damaged_bytes == plain->scan.damaged_bytes &&
                replayed->problems.counts[PROBLEM_MISSING_CHUNK] == 0 &&
                replayed->totals.bytes != plain->totals.bytes)
                fail_msg("flipped at %zu: other sums, and no damage", at);
            replayed_free(replayed);
        }
    replayed_free(plain);
}

/* The container after damage is found. */
static void containers_behind_damage_are_read(void **state)
{
    static uint8_t bytes[2 * sizeof(dense)];
    const size_t gap = 777;
    memcpy(bytes, dense, TRACE_FILE_HEADER_SIZE);
    memset(bytes + TRACE_FILE_HEADER_SIZE, 'M', gap);
    memcpy(bytes + TRACE_FILE_HEADER_SIZE + gap, dense + TRACE_FILE_HEADER_SIZE,
           dense_length - TRACE_FILE_HEADER_SIZE);
    struct replayed *plain = replay_bytes(dense, dense_length, dense_length);
    struct replayed *replayed = replay_bytes(bytes, dense_length + gap, dense_length + gap);
    assert_true(replayed->good);
    assert_int_equal(replayed->scan.damaged_bytes, plain->scan.damaged_bytes + gap);
    assert_int_equal(replayed->totals.allocations, plain->totals.allocations);
    replayed_free(plain);
    replayed_free(replayed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped_while_it_frees_the_slots),
        cmocka_unit_test(a_dense_trace_is_the_same),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(every_flipped_bit),
        cmocka_unit_test(containers_behind_damage_are_read),
    };
    read_file(WORKED_TRACE, worked, sizeof(worked), &worked_length);
    return cmocka_run_group_tests(tests, compress_worked, NULL);
}
