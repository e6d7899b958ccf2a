/* SPDX-License-Identifier: BSD-2-Clause */
/* schemas/columns.md: every width, random access, the worked example. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "schemas/column_codec.h"

static void worked_example(void **state)
{
    (void)state;
    const uint64_t sizes[] = {24, 24, 4096, 32};
    const uint8_t expected[] = {0, 0, 0, 0, 0xE8, 0x0F, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    uint8_t data[16];
    assert_int_equal(column_pack(data, sizes, 4, 24, 4096), 2);
    assert_int_equal(column_data_length(4, 2), sizeof(expected));
    assert_memory_equal(data, expected, sizeof(expected));
}

static void every_width_comes_back(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 64; bits++) {
        uint64_t range = bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
        uint64_t min = bits == 64 ? 0 : 1234567 % (UINT64_MAX - range);
        uint64_t values[100];
        for (size_t i = 0; i < 100; i++)
            values[i] =
                min + (range == UINT64_MAX ? i * UINT64_C(0x123456789ABCDEF)
                                           : i * UINT64_C(0x9E3779B97F4A7C15) % (range + 1));
        unsigned width = column_width(range);
        assert_int_equal(width, (bits + 7) / 8);
        size_t length = column_data_length(100, width);
        uint8_t *data = malloc(length + 1);
        assert_int_equal(column_pack(data, values, 100, min, min + range), width);
        for (size_t i = 100; i-- > 0;)
            assert_true(column_get(data, width, column_mask(width), min, i) == values[i]);
        free(data);
    }
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
    (void)state;
    FILE *file = fopen(GOLDEN_COLUMNS, "r");
    assert_non_null(file);
    char line[1024], name[64], list[512], hex[512];
    unsigned width, cases = 0;
    uint64_t min, max, values[32];
    while (fgets(line, sizeof(line), file)) {
        if (line[0] == '#')
            continue;
        assert_int_equal(
            sscanf(line, "%63s %u %lu %lu %511s %511s", name, &width, &min, &max, list, hex), 6);
        size_t rows = read_values(list, values), length = column_data_length(rows, width);
        uint8_t data[256], expected[256];
        assert_int_equal(column_pack(data, values, rows, min, max), width);
        if (width == 0)
            assert_string_equal(hex, "-");
        else
            assert_int_equal(strlen(hex), 2 * length);
        for (size_t i = 0; i < length; i++)
            assert_int_equal(sscanf(hex + 2 * i, "%2hhx", &expected[i]), 1);
        assert_memory_equal(data, expected, length);
        for (size_t i = 0; i < rows; i++)
            assert_true(column_get(expected, width, column_mask(width), min, i) == values[i]);
        cases++;
    }
    fclose(file);
    assert_int_equal(cases, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_file),
        cmocka_unit_test(worked_example),
        cmocka_unit_test(every_width_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
