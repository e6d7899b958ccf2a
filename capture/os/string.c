/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of <string.h> that the code inside the program calls, and those whose calls the
 * compiler makes of assignments and loops. A program may replace the C library's, and its own may
 * allocate, take locks or count. These have the same names, but are hidden: no other object sees
 * them, and no other object's are called.
 *
 * The file is compiled without knowledge of these functions, or the compiler would make a call of
 * memcpy of the loop in memcpy. */
#include <emmintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* From here on the processor's own copy is faster than a loop. */
#define LONG_COPY 512u

#if !defined(__clang__)
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

typedef uint64_t word8 __attribute__((aligned(1), may_alias));
typedef uint32_t word4 __attribute__((aligned(1), may_alias));
typedef uint16_t word2 __attribute__((aligned(1), may_alias));

/* Moves at most 32 bytes, which may overlap. It reads all of them before it writes. */
static inline void move_few(uint8_t *to, const uint8_t *from, size_t size)
{
    if (size >= 16) {
        const __m128i first = _mm_loadu_si128((const __m128i *)from);
        const __m128i last = _mm_loadu_si128((const __m128i *)(from + size - 16));
        _mm_storeu_si128((__m128i *)to, first);
        _mm_storeu_si128((__m128i *)(to + size - 16), last);
    } else if (size >= 8) {
        const uint64_t first = *(const word8 *)from, last = *(const word8 *)(from + size - 8);
        *(word8 *)to = first;
        *(word8 *)(to + size - 8) = last;
    } else if (size >= 4) {
        const uint32_t first = *(const word4 *)from, last = *(const word4 *)(from + size - 4);
        *(word4 *)to = first;
        *(word4 *)(to + size - 4) = last;
    } else if (size >= 2) {
        const uint16_t first = *(const word2 *)from, last = *(const word2 *)(from + size - 2);
        *(word2 *)to = first;
        *(word2 *)(to + size - 2) = last;
    } else if (size)
        *to = *from;
}

/* Moves more than 32 bytes that may overlap if `to` is below `from`. */
static inline void move_up(uint8_t *to, const uint8_t *from, size_t size)
{
    if (size >= LONG_COPY) {
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
        return;
    }
    for (; size > 32; size -= 16, to += 16, from += 16)
        _mm_storeu_si128((__m128i *)to, _mm_loadu_si128((const __m128i *)from));
    move_few(to, from, size);
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    if (size <= 32)
        move_few(to, from, size);
    else
        move_up(to, from, size);
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    if (size <= 32)
        move_few(to, from, size);
    else if ((uintptr_t)to - (uintptr_t)from >= size)
        move_up(to, from, size);
    else {
        for (; size > 32; size -= 16)
            _mm_storeu_si128((__m128i *)((uint8_t *)to + size - 16),
                             _mm_loadu_si128((const __m128i *)((const uint8_t *)from + size - 16)));
        move_few(to, from, size);
    }
    return to;
}

void *memset(void *memory, int value, size_t size)
{
    uint8_t *to = memory;
    const uint64_t eight = (uint8_t)value * UINT64_C(0x0101010101010101);
    if (size >= LONG_COPY) {
        __asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(value) : "memory");
        return memory;
    }
    if (size >= 8) {
        for (size_t i = 0; i < size - 8; i += 8)
            *(word8 *)(to + i) = eight;
        *(word8 *)(to + size - 8) = eight;
        return memory;
    }
    while (size)
        to[--size] = (uint8_t)value;
    return memory;
}

int memcmp(const void *left, const void *right, size_t size)
{
    const uint8_t *a = left, *b = right;
    for (; size >= 8 && *(const word8 *)a == *(const word8 *)b; size -= 8, a += 8, b += 8)
        ;
    for (; size; size--, a++, b++)
        if (*a != *b)
            return *a - *b;
    return 0;
}

/* Compilers make calls of bcmp of comparisons for equality. */
int bcmp(const void *left, const void *right, size_t size)
{
    return memcmp(left, right, size);
}

void *memchr(const void *memory, int value, size_t size)
{
    for (const uint8_t *at = memory; size; size--, at++)
        if (*at == (uint8_t)value)
            return (void *)(uintptr_t)at;
    return NULL;
}

size_t strnlen(const char *text, size_t size)
{
    size_t length = 0;
    while (length < size && text[length])
        length++;
    return length;
}

size_t strlen(const char *text)
{
    return strnlen(text, SIZE_MAX);
}

int strncmp(const char *left, const char *right, size_t size)
{
    for (; size; size--, left++, right++)
        if (*left != *right || !*left)
            return (uint8_t)*left - (uint8_t)*right;
    return 0;
}

int strcmp(const char *left, const char *right)
{
    return strncmp(left, right, SIZE_MAX);
}

char *strncpy(char *restrict to, const char *restrict from, size_t size)
{
    const size_t length = strnlen(from, size);
    memcpy(to, from, length);
    memset(to + length, 0, size - length);
    return to;
}

char *strchr(const char *text, int value)
{
    for (;; text++) {
        if (*text == (char)value)
            return (char *)(uintptr_t)text;
        if (!*text)
            return NULL;
    }
}

char *strrchr(const char *text, int value)
{
    const char *found = NULL;
    for (const char *at = text; (at = strchr(at, value)); at++) {
        found = at;
        if (!*at)
            break;
    }
    return (char *)(uintptr_t)found;
}

size_t strspn(const char *text, const char *accepted)
{
    size_t length = 0;
    while (text[length] && strchr(accepted, text[length]))
        length++;
    return length;
}

size_t strcspn(const char *text, const char *refused)
{
    size_t length = 0;
    while (text[length] && !strchr(refused, text[length]))
        length++;
    return length;
}

char *strstr(const char *text, const char *wanted)
{
    const size_t length = strlen(wanted);
    for (; *text || !length; text++)
        if (strncmp(text, wanted, length) == 0)
            return (char *)(uintptr_t)text;
    return NULL;
}
