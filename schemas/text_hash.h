/* SPDX-License-Identifier: BSD-2-Clause */
/* FNV-1a with 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
#ifndef MPROF_SCHEMAS_TEXT_HASH_H
#define MPROF_SCHEMAS_TEXT_HASH_H

#include <stdint.h>

/* The hash of no text. */
#define TEXT_HASH_EMPTY UINT64_C(0xcbf29ce484222325)

/* Returns the hash of a text that goes on with a byte, or with `text`. */
static inline uint64_t text_hash_byte(uint64_t hash, unsigned char byte)
{
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t text_hash_add(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = text_hash_byte(hash, (unsigned char)*text);
    return hash;
}

/* Returns the hash of a text. */
static inline uint64_t text_hash(const char *text)
{
    return text_hash_add(TEXT_HASH_EMPTY, text);
}

#endif
