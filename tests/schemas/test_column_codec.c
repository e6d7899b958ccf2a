/* schemas/columns.md: every width, random access, the worked example. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
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
    assert_int_equal(column_data_length(4, 2), sizeof expected);
    assert_memory_equal(data, expected, sizeof expected);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example),
        cmocka_unit_test(every_width_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
