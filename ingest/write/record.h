/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQLite's record format: a header with the serial type of each value, then the values.
 */
#ifndef MPROF_INGEST_WRITE_RECORD_H
#define MPROF_INGEST_WRITE_RECORD_H

#include <stdint.h>
#include <string.h>

enum { SERIAL_NULL = 0, SERIAL_ZERO = 8, SERIAL_ONE = 9 };

/* Returns the serial type of a blob of `length` bytes. */
static inline uint64_t writer_serial_blob(uint64_t length)
{
    return 12 + 2 * length;
}

/*
 * Puts a number as SQLite stores it, in the fewest bytes: its serial type to *type, its bytes to
 * `data`, which must have room for 8. Returns the place after the number's bytes.
 */
static inline uint8_t *writer_put_number(uint8_t *type, uint8_t *data, int64_t number)
{
    /* By the number of bits, without the sign. */
    static const uint8_t serials[65] = {
        1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3,
        3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5,
        5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
    };
    static const uint8_t lengths[7] = {0, 1, 2, 3, 4, 6, 8};
    uint64_t value = (uint64_t)number;
    if (value <= 1) {
        *type = (uint8_t)(SERIAL_ZERO + value);
        return data;
    }
    uint64_t magnitude = number < 0 ? ~value : value;
    *type = serials[magnitude == 0 ? 0 : 64 - __builtin_clzll(magnitude)];
    unsigned length = lengths[*type];
    uint64_t bytes = __builtin_bswap64(value << (64 - 8 * length));
    memcpy(data, &bytes, sizeof(bytes));
    return data + length;
}

#endif
