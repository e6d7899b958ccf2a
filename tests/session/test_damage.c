/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Damaged sessions: for any bytes in a file, opening and queries end in an answer or in an error
 * that names the file, never in a crash (the sanitizers watch the same program).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "session/session.h"
#include "tests/soak.h"

#define GOOD "damage_good.db"
#define BAD "damage_bad.db"

static uint64_t random_state = 12345;

static uint64_t random_below(uint64_t bound)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (random_state >> 16) % bound;
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void ask(struct session *session, const char *filter)
{
    struct session_error error = {.column = 0};
    struct selection *selection = selection_new(session, filter, &error);
    if (!selection) {
        assert_true(error.message[0] != '\0');
        return;
    }
    struct session_slot slots[20];
    struct session_cell cells[50];
    struct session_function_row *rows;
    struct session_region *regions;
    struct session_edge *callers;
    struct session_edge *callees;
    struct session_allocation allocation;
    size_t count;
    size_t other;
    selection_timeline(selection, 0, session_duration_ns(session) | 1, 20, SESSION_COLOR_FUNCTION,
                       slots, &error);
    if (selection_functions(selection, &rows, &count, &error))
        free(rows);
    if (selection_edges(selection, 3, &callers, &count, &callees, &other, &error)) {
        free(callers);
        free(callees);
    }
    if (session_regions(session, session_peak_ns(session), &regions, &count, &error)) {
        uint64_t start = count > 0 ? regions[0].start : 0;
        selection_grid(selection, session_peak_ns(session), start, 64, 50, SESSION_COLOR_MODULE,
                       cells, &error);
        free(regions);
    }
    if (selection_row(selection, selection_count(selection) / 2, &allocation)) {
        struct session_frame frames[64];
        session_stack(session, allocation.stack, frames, 64);
        session_stack_call_site(session, allocation.stack);
        session_function_place(session, allocation.function);
    }
    selection_free(selection);
}

static bool try_session(void)
{
    struct session_error error = {.column = 0};
    struct session *session = session_open(BAD, &error);
    if (!session) {
        assert_non_null(strstr(error.message, BAD));
        return false;
    }
    ask(session, "all | sort function | top 100");
    ask(session, "live at peak | where stack has \"main\" or type ~ \"o\" or caller ~ \"e\"");
    session_close(session);
    return true;
}

static void flip_bytes(void)
{
    size_t size;
    uint8_t *good = read_file(GOOD, &size);
    uint8_t *bad = malloc(size);
    assert_non_null(bad);
    size_t opened = 0;
    const size_t rounds = in_soak(400, 100);
    for (size_t round = 0; round < rounds; round++) {
        memcpy(bad, good, size);
        uint64_t flips = 1 + random_below(20);
        for (uint64_t i = 0; i < flips; i++)
            bad[100 + random_below(size - 100)] = (uint8_t)random_below(256);
        write_file(BAD, bad, size);
        opened += try_session();
    }
    /* Both outcomes must occur, otherwise the test checks little. */
    assert_true(opened > rounds / 20);
    assert_true(opened < rounds);
    free(bad);
    free(good);
}

static void test_flipped_bytes(void **state)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    options.allocations = 300;
    options.stacks = 40;
    options.functions = 30;
    assert_true(fixture_write(GOOD, &options));
    flip_bytes();
}

/* The same with packed arrays, which are read instead of the tables, and then only their bytes. */
static void test_flipped_arrays(void **state)
{
    static const char *const changes[] = {
        "UPDATE packed_array SET data = substr(data, 1, length(data) - 1)",
        "UPDATE packed_array SET data = data || x'00'",
        "UPDATE packed_array SET data = x''",
        "UPDATE packed_array SET data = zeroblob(length(data))",
        "UPDATE packed_array SET data = CAST(printf('%.*c', length(data), 'z') AS BLOB)",
        "UPDATE packed_array SET data = CAST(replace(hex(data), '0', 'F') AS BLOB)",
        "UPDATE packed_array SET data = 7",
        "UPDATE packed_array SET id = id + 10; UPDATE packed_array SET id = 16 - id",
        "DELETE FROM packed_array WHERE id = 3",
        "DELETE FROM frame WHERE id > 5",
        "DELETE FROM stack WHERE id > 5",
        "DELETE FROM allocation",
        "DELETE FROM column_chunk WHERE id < 5",
        "UPDATE column_chunk SET data = x'00' WHERE id = 1",
        "UPDATE column_chunk SET id = id + 32",
    };
    assert_true(fixture_pack(GOOD));
    flip_bytes();
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        size_t size;
        uint8_t *good = read_file(GOOD, &size);
        write_file(BAD, good, size);
        free(good);
        if (fixture_sql(BAD, changes[i]))
            try_session();
    }
}

static void test_cut_files(void **state)
{
    size_t size;
    uint8_t *good = read_file(GOOD, &size);
    for (size_t cut = 0; cut < size; cut += size / in_soak(40, 15) + 1) {
        write_file(BAD, good, cut);
        try_session();
    }
    free(good);
}

/* Tables with contents that the schema forbids, or with no rows. */
static void test_odd_tables(void **state)
{
    static const char *const damages[] = {
        "DELETE FROM stack_node",
        "DELETE FROM stack_node WHERE id = 3",
        "DELETE FROM stack_node WHERE parent_id = 0",
        "DELETE FROM stack_run",
        "UPDATE stack_node SET parent_id = 1000000 WHERE id = 4",
        "UPDATE stack_node SET parent_id = id",
        "UPDATE stack_node SET id = -id",
        "UPDATE stack SET node_id = -1",
        "UPDATE stack SET node_id = 1 << 40 WHERE id = 4",
        "UPDATE stack_run SET depth = -depth - 1, frames = 1 << 62",
        "DELETE FROM frame",
        "DELETE FROM function",
        "DELETE FROM kind WHERE id > 0",
        "DELETE FROM meta",
        "DELETE FROM column_chunk",
        "UPDATE stack SET call_site_frame_id = 999999, function_id = -4",
        "UPDATE stack_node SET frame_id = -1",
        "UPDATE frame SET function_id = 88888, module_id = -9, source_file_id = 1 << 40",
        "UPDATE function SET name = NULL WHERE 0; UPDATE function SET name = ''",
        "UPDATE meta SET value = 'much' WHERE key IN ('duration_ns', 'peak_ns')",
        "UPDATE meta SET value = -1 WHERE key IN ('duration_ns', 'peak_ns')",
        "UPDATE thread SET id = 3000000000 WHERE id = 2",
        "UPDATE stack SET state = ''",
    };
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        size_t size;
        uint8_t *good = read_file(GOOD, &size);
        write_file(BAD, good, size);
        free(good);
        assert_true(fixture_sql(BAD, damages[i]));
        try_session();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flipped_bytes),
        cmocka_unit_test(test_cut_files),
        cmocka_unit_test(test_odd_tables),
        cmocka_unit_test(test_flipped_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
