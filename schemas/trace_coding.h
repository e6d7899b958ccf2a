/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace format 1: codes numbers, addresses, stacks and stamps, and holds the state that writer and
 * reader both keep (trace-format.md, "Numbers" and "Coding state"). trace_codec.h builds records
 * from them; its rules hold here, too. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bits 3-4 of records that carry a stack. */
enum { TRACE_STACK_SAME = 0, TRACE_STACK_CACHED = 1, TRACE_STACK_EXPLICIT = 2 };
/* The two bits that every coded address has in its record. */
enum { TRACE_ADDRESS_DELTA16 = 0, TRACE_ADDRESS_DELTA = 1, TRACE_ADDRESS_CACHED = 2 };

#define TRACE_CACHE_SIZE 256u

/* The state that writer and reader keep within one chunk (or since the last SWITCH). */
struct trace_coding {
    uint64_t ticks;
    uint64_t address;
    uint64_t size;
    uint32_t stack;
    uint32_t node, module; /* of NODE records */
    uint32_t arena;        /* of short records */
    uint64_t address_cache[TRACE_CACHE_SIZE];
    uint32_t stack_cache[TRACE_CACHE_SIZE];
};

static inline void trace_coding_reset(struct trace_coding *coding, uint64_t base_ticks)
{
    memset(coding, 0, sizeof(*coding));
    coding->ticks = base_ticks;
}

static inline uint32_t trace_address_slot(uint64_t address)
{
    return (uint32_t)(((address >> 4) * UINT64_C(0x9E3779B97F4A7C15)) >> 56);
}

static inline uint32_t trace_stack_slot(uint32_t stack)
{
    return (stack * UINT32_C(0x9E3779B1)) >> 24;
}

/* Returns the 64-bit sum of `length` bytes: four lanes of multiply and xor-shift over little-endian
 * words, the last partial word padded with zeros, the length mixed in. Detects damage, not
 * malice. */
static inline uint64_t trace_sum(const void *data, size_t length)
{
    const uint8_t *bytes = (const uint8_t *)data;
    const uint64_t prime = UINT64_C(0x9E3779B185EBCA87);
    uint64_t lane[4] = {1, 2, 3, 4};
    size_t i = 0;
    for (; i + 32 <= length; i += 32)
        for (size_t k = 0; k < 4; k++) {
            uint64_t word;
            memcpy(&word, bytes + i + 8 * k, 8);
            lane[k] = (lane[k] ^ word) * prime;
            lane[k] ^= lane[k] >> 29;
        }
    for (; i < length; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, length - i < 8 ? length - i : 8);
        lane[0] = (lane[0] ^ word) * prime;
        lane[0] ^= lane[0] >> 29;
    }
    uint64_t sum = length;
    for (unsigned k = 0; k < 4; k++) {
        sum = (sum ^ lane[k]) * prime;
        sum ^= sum >> 32;
    }
    return sum;
}

static inline uint64_t trace_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t trace_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* Writes one varint: LEB128, at most 10 bytes. */
static inline uint8_t *trace_put_varint(uint8_t *p, uint64_t value)
{
    while (value >= 0x80) {
        *p++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *p++ = (uint8_t)value;
    return p;
}

/* Reads one varint. Returns false if it does not end before `end` or exceeds 64 bits. */
static inline bool trace_get_varint(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
    uint64_t result = 0;
    const uint8_t *at = *p;
    for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
        uint8_t byte = *at++;
        if (shift == 63 && byte > 1)
            return false;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *p = at;
            *value = result;
            return true;
        }
    }
    return false;
}

static inline uint8_t *trace_put_address(uint8_t *p, struct trace_coding *coding, uint64_t address,
                                         unsigned *mode)
{
    uint32_t slot = trace_address_slot(address);
    if (coding->address_cache[slot] == address && address != 0) {
        *mode = TRACE_ADDRESS_CACHED;
        *p++ = (uint8_t)slot;
    } else {
        uint64_t delta = address - coding->address;
        coding->address_cache[slot] = address;
        if ((delta & 15) == 0) {
            *mode = TRACE_ADDRESS_DELTA16;
            p = trace_put_varint(p, trace_zigzag((int64_t)delta >> 4));
        } else {
            *mode = TRACE_ADDRESS_DELTA;
            p = trace_put_varint(p, trace_zigzag((int64_t)delta));
        }
    }
    coding->address = address;
    return p;
}

static inline bool trace_get_address(const uint8_t **p, const uint8_t *end,
                                     struct trace_coding *coding, unsigned mode, uint64_t *address)
{
    uint64_t value;
    if (mode == TRACE_ADDRESS_CACHED) {
        if (*p == end)
            return false;
        *address = coding->address_cache[*(*p)++];
        if (*address == 0)
            return false;
    } else {
        if (mode > TRACE_ADDRESS_CACHED || !trace_get_varint(p, end, &value))
            return false;
        int64_t delta = trace_unzigzag(value);
        if (mode == TRACE_ADDRESS_DELTA16)
            delta = (int64_t)((uint64_t)delta << 4);
        *address = coding->address + (uint64_t)delta;
        coding->address_cache[trace_address_slot(*address)] = *address;
    }
    coding->address = *address;
    return true;
}

static inline uint8_t *trace_put_stack(uint8_t *p, struct trace_coding *coding, uint32_t stack,
                                       unsigned *mode)
{
    if (stack == coding->stack) {
        *mode = TRACE_STACK_SAME;
        return p;
    }
    coding->stack = stack;
    uint32_t slot = trace_stack_slot(stack);
    if (coding->stack_cache[slot] == stack && stack != 0) {
        *mode = TRACE_STACK_CACHED;
        *p++ = (uint8_t)slot;
        return p;
    }
    coding->stack_cache[slot] = stack;
    *mode = TRACE_STACK_EXPLICIT;
    return trace_put_varint(p, stack);
}

static inline bool trace_get_stack(const uint8_t **p, const uint8_t *end,
                                   struct trace_coding *coding, unsigned mode, uint32_t *stack)
{
    uint64_t value;
    switch (mode) {
    case TRACE_STACK_SAME:
        *stack = coding->stack;
        return true;
    case TRACE_STACK_CACHED:
        if (*p == end)
            return false;
        *stack = coding->stack_cache[*(*p)++];
        if (*stack == 0)
            return false;
        break;
    case TRACE_STACK_EXPLICIT:
        if (!trace_get_varint(p, end, &value) || value > UINT32_MAX)
            return false;
        *stack = (uint32_t)value;
        coding->stack_cache[trace_stack_slot(*stack)] = *stack;
        break;
    default:
        return false;
    }
    coding->stack = *stack;
    return true;
}

/* Writes a stamp. If the clock runs backwards within a chunk, the last stamp is repeated. */
static inline uint8_t *trace_put_ticks(uint8_t *p, struct trace_coding *coding, uint64_t ticks)
{
    uint64_t delta = ticks > coding->ticks ? ticks - coding->ticks : 0;
    coding->ticks += delta;
    return trace_put_varint(p, delta);
}
