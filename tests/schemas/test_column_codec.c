/* SPDX-License-Identifier: BSD-2-Clause */
/* schemas/columns.md: every number of bits, short and long batches, exceptions, times, damage. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "schemas/column_codec.h"

enum { ROWS_MOST = 3000 };

static uint64_t random_number(void)
{
    static uint64_t state = 7;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Packs into memory of exactly the length, so that the sanitizer sees a load beyond it, and unpacks
 * again. Returns the length. */
static size_t check(const uint64_t *values, const uint64_t *life, size_t rows)
{
    static uint8_t room[3 * COLUMN_BATCH_MOST + COLUMN_PADDING];
    static uint64_t again[3 * COLUMN_BATCH_ROWS];
    static uint32_t low[COLUMN_BATCH_ROWS];
    struct column_places places;
    const size_t length = column_pack(room, values, life, rows);
    assert_true(column_length_possible(length, rows, 1));
    uint8_t *data = malloc(length);
    assert_non_null(data);
    memcpy(data, room, length);
    assert_true(column_unpack(data, length, life, rows, again));
    assert_memory_equal(again, values, rows * sizeof(*values));
    /* The same modulo 2^32. */
    assert_true(column_find_batches(data, length, rows, &places));
    for (size_t batch = 0; batch < column_batches(rows); batch++) {
        const size_t count = column_batch_rows(rows, batch), first = batch * COLUMN_BATCH_ROWS;
        assert_true(column_batch_get32(&places.batch[batch], places.body[batch], count, 5, low));
        for (size_t i = 0; !life && i < count; i++)
            assert_int_equal(low[i], (uint32_t)(values[first + i] + 5));
    }
    free(data);
    return length;
}

static void every_number_of_bits_comes_back(void **state)
{
    static const size_t lengths[] = {1, 2, 31, 32, 33, 100, 1023, 1024, 1025, ROWS_MOST};
    static uint64_t values[ROWS_MOST];
    for (unsigned bits = 0; bits <= 64; bits++) {
        for (size_t n = 0; n < sizeof(lengths) / sizeof(*lengths); n++) {
            const uint64_t most = bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
            const unsigned zeros = bits == 0 ? 0 : (unsigned)(random_number() % bits);
            const uint64_t base = most == UINT64_MAX ? 0 : random_number() % (UINT64_MAX - most);
            for (size_t i = 0; i < lengths[n]; i++)
                values[i] = base + ((random_number() & most) >> zeros << zeros);
            check(values, NULL, lengths[n]);
        }
    }
}

static void exceptions_come_back(void **state)
{
    static uint64_t values[ROWS_MOST];
    for (unsigned bits = 1; bits <= 64; bits++) {
        const size_t rows = 1 + random_number() % ROWS_MOST, every = 1 + random_number() % 60;
        const unsigned few = bits / 4;
        for (size_t i = 0; i < rows; i++)
            values[i] = 1000 + (random_number() >> (random_number() % every == 0 ? 64 - bits
                                                    : few == 0                   ? 63
                                                                                 : 64 - few));
        check(values, NULL, rows);
    }
}

/* Rows in the order of their ends, but for a few, need the bits of the steps. */
static void times_are_short(void **state)
{
    static uint64_t alloc[ROWS_MOST], life[ROWS_MOST];
    uint64_t now = UINT64_C(1) << 40;
    for (size_t i = 0; i < ROWS_MOST; i++) {
        now += random_number() % 256;
        const uint64_t end = i % 500 == 7 ? now - 70000 : now;
        life[i] = i > ROWS_MOST - 100 || i % 300 == 0 ? 0 : 1 + random_number() % (1 << 24);
        alloc[i] = life[i] == 0 ? end : end - (life[i] - 1);
    }
    const size_t plain = check(alloc, NULL, ROWS_MOST), ends = check(alloc, life, ROWS_MOST);
    assert_true(ends < ROWS_MOST * 3 / 2);
    assert_true(plain > ROWS_MOST * 2);
}

static size_t read_values(const char *text, uint64_t *values)
{
    size_t count = 0;
    for (char *end; *text; text = *end == ',' ? end + 1 : end)
        values[count++] = strtoull(text, &end, 10);
    return count;
}

/* Each line of the golden file packs to its bytes and comes back. */
static void golden_file(void **state)
{
    static char line[8192], list[4096], lives[1024], hex[4096];
    static uint64_t values[COLUMN_BATCH_ROWS], life[COLUMN_BATCH_ROWS], again[COLUMN_BATCH_ROWS];
    static uint8_t data[COLUMN_BATCH_MOST + COLUMN_PADDING];
    char name[64], byte[3];
    unsigned cases = 0;
    FILE *file = fopen(GOLDEN_COLUMNS, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%63s %4095s %1023s %4095s", name, list, lives, hex), 4);
        const size_t rows = read_values(list, values);
        const uint64_t *times = lives[0] == '-' ? NULL : life;
        assert_true(!times || read_values(lives, life) == rows);
        const size_t length = column_pack(data, values, times, rows);
        bool same = strlen(hex) == 2 * length;
        for (size_t i = 0; i < length; i++) {
            snprintf(byte, sizeof(byte), "%02x", data[i]);
            same = same && memcmp(hex + 2 * i, byte, 2) == 0;
        }
        if (!same) {
            print_error("%s packs to ", name);
            for (size_t i = 0; i < length; i++)
                print_error("%02x", data[i]);
            print_error("\n");
            fail_msg("%s differs", GOLDEN_COLUMNS);
        }
        assert_true(column_unpack(data, length, times, rows, again));
        assert_memory_equal(again, values, rows * sizeof(*values));
        cases++;
    }
    fclose(file);
    assert_int_equal(cases, 7);
}

static void width_is_that_of_the_range(void **state)
{
    for (unsigned bits = 0; bits <= 64; bits++)
        assert_int_equal(column_width(bits == 0 ? 0 : UINT64_MAX >> (64 - bits)), (bits + 7) / 8);
}

/* Damage is found, or gives other values; the sanitizer sees that nothing else is read. */
static void damage_is_harmless(void **state)
{
    static uint64_t values[ROWS_MOST], again[3 * COLUMN_BATCH_ROWS];
    static uint8_t room[3 * COLUMN_BATCH_MOST + COLUMN_PADDING];
    unsigned found = 0;
    for (size_t i = 0; i < ROWS_MOST; i++)
        values[i] = random_number() >> (i % 100 == 0 ? 10 : 50);
    const size_t length = column_pack(room, values, NULL, ROWS_MOST);
    uint8_t *data = malloc(length);
    assert_non_null(data);
    for (int round = 0; round < 3000; round++) {
        memcpy(data, room, length);
        const size_t places = round % 2 == 0 ? 3 * COLUMN_BATCH_HEAD : length;
        data[random_number() % places] ^= (uint8_t)(1 << random_number() % 8);
        found += !column_unpack(data, length, NULL, ROWS_MOST, again);
    }
    assert_true(found > 300);
    for (size_t cut = 0; cut < length; cut += 1 + cut / 40) {
        uint8_t *part = malloc(cut + 1);
        assert_non_null(part);
        memcpy(part, room, cut);
        assert_false(column_unpack(part, cut, NULL, ROWS_MOST, again));
        free(part);
    }
    assert_false(column_unpack(room, length, NULL, COLUMN_CHUNK_ROWS + 1, again));
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_file),
        cmocka_unit_test(width_is_that_of_the_range),
        cmocka_unit_test(every_number_of_bits_comes_back),
        cmocka_unit_test(exceptions_come_back),
        cmocka_unit_test(times_are_short),
        cmocka_unit_test(damage_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
