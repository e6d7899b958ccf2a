/* SPDX-License-Identifier: BSD-2-Clause */
/* Growing and sorted arrays, for all programs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `needed` items of `item_size` bytes in an array. `items` is the address of the
 * pointer to it, which is NULL or from malloc. The capacity doubles. Nobody has written the new
 * items yet. Returns false if memory is exhausted; then nothing has changed. */
static inline bool array_grow(void *items, size_t *capacity, size_t needed, size_t item_size)
{
    void *old, *grown;
    size_t wanted = *capacity ? *capacity : 16;
    if (needed <= *capacity)
        return true;
    while (wanted < needed)
        wanted *= 2;
    memcpy(&old, items, sizeof(old)); /* `items` is the address of a pointer of any type */
    grown = reallocarray(old, wanted, item_size);
    if (!grown)
        return false;
    memcpy(items, &grown, sizeof(grown));
    *capacity = wanted;
    return true;
}

/* Makes room for one more item behind the first `count`, as array_grow() does. */
#define ARRAY_GROW(items, count, capacity)                                                         \
    array_grow(&(items), &(capacity), (size_t)(count) + 1, sizeof(*(items)))

/* Frees some pointers. */
#define FREE_ALL(...)                                                                              \
    free_all((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
#ifdef __clang_analyzer__ /* would follow the loop for a few turns only */
void free_all(void **items, size_t count);
#else
static inline void free_all(void **items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(items[i]);
}
#endif

/* Compares two numbers as qsort() wants it; `ORDER(…) ?: ORDER(…)` goes on with the next key. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Defines the function `name` for qsort() and bsearch(): `order` compares *a with *b, two items. */
#define ARRAY_ORDER(name, type, order)                                                             \
    static int name(const void *left, const void *right)                                           \
    {                                                                                              \
        const type *a = left;                                                                      \
        const type *b = right;                                                                     \
        return order;                                                                              \
    }

static inline int array_order32(const void *left, const void *right)
{
    return ORDER(*(const uint32_t *)left, *(const uint32_t *)right);
}

/* Moves `at`, an index, up to `count`: to the first of the sorted items from there on for which
 * `before`, an expression of the index `middle`, is false. */
#define ARRAY_BISECT(at, count, before)                                                            \
    for (size_t high_ = (count), middle; (at) < high_;) {                                          \
        middle = (at) + (high_ - (at)) / 2;                                                        \
        if (before)                                                                                \
            (at) = middle + 1;                                                                     \
        else                                                                                       \
            high_ = middle;                                                                        \
    }
