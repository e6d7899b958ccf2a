/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/cache/coding.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"

/* Most questions and answers take less. */
#define CAPACITY_LEAST 128u

void coding_put(struct coding *coding, const void *bytes, size_t size)
{
    if (size == 0 || coding->failed)
        return;
    const size_t needed = coding->size + size;
    if (!array_grow(&coding->bytes, &coding->capacity,
                    needed < CAPACITY_LEAST ? CAPACITY_LEAST : needed, 1)) {
        coding->failed = true;
        return;
    }
    memcpy(coding->bytes + coding->size, bytes, size);
    coding->size += size;
}

/* Seven bits a byte, the least significant first. */
void coding_put_number(struct coding *coding, uint64_t number)
{
    uint8_t bytes[10];
    size_t size = 0;
    for (; number >= 0x80; number >>= 7)
        bytes[size++] = (uint8_t)(number | 0x80);
    bytes[size++] = (uint8_t)number;
    coding_put(coding, bytes, size);
}

void coding_put_text(struct coding *coding, const char *text)
{
    const size_t size = !text ? 0 : strlen(text) + 1;
    coding_put_number(coding, size);
    coding_put(coding, text, size);
}

void coding_free(struct coding *coding)
{
    free(coding->bytes);
    *coding = (struct coding){0};
}

const uint8_t *decoding_take(struct decoding *decoding, size_t size)
{
    const uint8_t *bytes = decoding->at;
    if (decoding->failed || size > (size_t)(decoding->end - decoding->at)) {
        decoding->failed = true;
        return NULL;
    }
    decoding->at += size;
    return bytes;
}

uint64_t decoding_number(struct decoding *decoding)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t *byte = decoding_take(decoding, 1);
        if (!byte)
            return 0;
        number |= (uint64_t)(*byte & 0x7f) << shift;
        if (*byte < 0x80)
            return number;
    }
    decoding->failed = true;
    return 0;
}

const char *decoding_text(struct decoding *decoding)
{
    const uint64_t size = decoding_number(decoding);
    if (decoding->failed || size == 0)
        return NULL;
    const uint8_t *bytes = decoding_take(decoding, size);
    if (!bytes || memchr(bytes, '\0', size) != bytes + size - 1) {
        decoding->failed = true;
        return NULL;
    }
    return (const char *)bytes;
}
