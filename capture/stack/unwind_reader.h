/* SPDX-License-Identifier: BSD-2-Clause */
/* A bounded reader of unwind tables. It never reads outside its range, even if the bytes are wrong.
 *
 * After the end every read gives 0 and `failed` is set, so a parser can check once. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct unwind_reader {
    const uint8_t *at, *end;
    bool failed;
};

/* The encodings of a pointer (Linux Standard Base, 10.5.1: DWARF exception header encoding). */
enum {
    UNWIND_ENCODING_ABSOLUTE = 0x00,
    UNWIND_ENCODING_ULEB128 = 0x01,
    UNWIND_ENCODING_UDATA2 = 0x02,
    UNWIND_ENCODING_UDATA4 = 0x03,
    UNWIND_ENCODING_UDATA8 = 0x04,
    UNWIND_ENCODING_SLEB128 = 0x09,
    UNWIND_ENCODING_SDATA2 = 0x0a,
    UNWIND_ENCODING_SDATA4 = 0x0b,
    UNWIND_ENCODING_SDATA8 = 0x0c,
    UNWIND_ENCODING_PC_RELATIVE = 0x10,
    UNWIND_ENCODING_DATA_RELATIVE = 0x30,
    UNWIND_ENCODING_INDIRECT = 0x80,
    UNWIND_ENCODING_OMIT = 0xff
};

/* Reads `count` bytes, little-endian, 1 to 8. */
static inline uint64_t unwind_read(struct unwind_reader *reader, unsigned count)
{
    uint64_t value = 0;
    if (reader->failed || (uint64_t)(reader->end - reader->at) < count) {
        reader->failed = true;
        return 0;
    }
    memcpy(&value, reader->at, count);
    reader->at += count;
    return value;
}

static inline int64_t unwind_read_signed(struct unwind_reader *reader, unsigned count)
{
    unsigned unused = 64 - 8 * count;
    return (int64_t)(unwind_read(reader, count) << unused) >> unused;
}

static inline uint64_t unwind_read_uleb(struct unwind_reader *reader)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint64_t byte = unwind_read(reader, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

static inline int64_t unwind_read_sleb(struct unwind_reader *reader)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = unwind_read(reader, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (shift < 64 && (byte & 0x40))
        value |= UINT64_MAX << shift;
    return (int64_t)value;
}

static inline void unwind_skip(struct unwind_reader *reader, uint64_t count)
{
    if (reader->failed || (uint64_t)(reader->end - reader->at) < count)
        reader->failed = true;
    else
        reader->at += count;
}

/* Reads a pointer. `data` is the base of data-relative ones. Indirect ones are not followed. */
static inline uint64_t unwind_read_encoded(struct unwind_reader *reader, uint8_t encoding,
                                           uint64_t data)
{
    uint64_t base = 0, value;
    switch (encoding & 0x70) {
    case 0:
        break;
    case UNWIND_ENCODING_PC_RELATIVE:
        base = (uint64_t)reader->at;
        break;
    case UNWIND_ENCODING_DATA_RELATIVE:
        base = data;
        break;
    default:
        reader->failed = true;
    }
    switch (encoding & 0x0f) {
    case UNWIND_ENCODING_ABSOLUTE:
    case UNWIND_ENCODING_UDATA8:
    case UNWIND_ENCODING_SDATA8:
        value = unwind_read(reader, 8);
        break;
    case UNWIND_ENCODING_ULEB128:
        value = unwind_read_uleb(reader);
        break;
    case UNWIND_ENCODING_SLEB128:
        value = (uint64_t)unwind_read_sleb(reader);
        break;
    case UNWIND_ENCODING_UDATA2:
        value = unwind_read(reader, 2);
        break;
    case UNWIND_ENCODING_SDATA2:
        value = (uint64_t)unwind_read_signed(reader, 2);
        break;
    case UNWIND_ENCODING_UDATA4:
        value = unwind_read(reader, 4);
        break;
    case UNWIND_ENCODING_SDATA4:
        value = (uint64_t)unwind_read_signed(reader, 4);
        break;
    default:
        reader->failed = true;
        return 0;
    }
    return base + value;
}
