/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers and texts as bytes, and back. A reader trusts no byte: after the end, and from the first
 * text that does not end, it gives zeros and NULL, and sets `failed`.
 */
#ifndef MPROF_INGEST_CACHE_CODING_H
#define MPROF_INGEST_CACHE_CODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialized, it is empty. Release it with coding_free(). */
struct coding {
    uint8_t *bytes;
    size_t size, capacity;
    bool failed; /* memory is exhausted */
};

void coding_put(struct coding *coding, const void *bytes, size_t size);
void coding_put_number(struct coding *coding, uint64_t number);
/* NULL is another text than "". */
void coding_put_text(struct coding *coding, const char *text);
void coding_free(struct coding *coding);

struct decoding {
    const uint8_t *at, *end;
    bool failed;
};

/* Returns the next `size` bytes. NULL: there are fewer. */
const uint8_t *decoding_take(struct decoding *decoding, size_t size);
uint64_t decoding_number(struct decoding *decoding);
/* Returns a text in the bytes that are read, or NULL for the text NULL. */
const char *decoding_text(struct decoding *decoding);

#endif
