/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks that the C library makes for its caller, each from a function of its own, and the entry
 * points that are seldom called. Prints what malloc_usable_size() says of blocks of known sizes.
 */
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From C23. Not every C library has them, but the recorder does. */
void free_sized(void *address, size_t size) __attribute__((weak));
void free_aligned_sized(void *address, size_t alignment, size_t size) __attribute__((weak));

static bool good = true;

static __attribute__((noinline)) void by_strdup(void)
{
    char text[1101];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    char *copy = strdup(text);
    good = good && copy && strlen(copy) == 1100;
    free(copy);
}

static __attribute__((noinline)) void by_strndup(void)
{
    char text[2000];
    memset(text, 'x', sizeof text);
    char *copy = strndup(text, 1202);
    good = good && copy && strlen(copy) == 1202;
    free(copy);
}

static __attribute__((noinline)) void by_asprintf(void)
{
    char *text = NULL;
    good = asprintf(&text, "%1304d", 7) == 1304 && good;
    free(text);
}

static __attribute__((noinline)) void by_getline(void)
{
    char *line = NULL;
    size_t size = 0;
    FILE *file = tmpfile();
    good = good && file && fprintf(file, "%1405d\n", 7) == 1406;
    if (file) {
        rewind(file);
        good = getline(&line, &size, file) == 1406 && good;
        fclose(file);
    }
    free(line);
}

static __attribute__((noinline)) void by_reallocarray(void)
{
    char *block = reallocarray(NULL, 15, 101);           /* 1515 */
    block = block ? reallocarray(block, 16, 101) : NULL; /* 1616 */
    volatile size_t many = (size_t)-1;
    good = good && block && !reallocarray(block, many, 2);
    free(block);
}

static __attribute__((noinline)) void by_sized_frees(void)
{
    void *block = malloc(1717), *aligned = aligned_alloc(64, 1792);
    good = good && block && aligned;
    if (free_sized)
        free_sized(block, 1717);
    else
        free(block);
    if (free_aligned_sized)
        free_aligned_sized(aligned, 64, 1792);
    else
        free(aligned);
}

/* The program may use all of it. */
static __attribute__((noinline)) void by_usable_size(void)
{
    for (size_t size = 1; size < 200000; size = size * 3 + 1) {
        char *block = malloc(size);
        size_t usable = malloc_usable_size(block);
        if (block)
            memset(block, 'x', usable);
        printf("%zu %zu\n", size, usable);
        free(block);
    }
}

int main(void)
{
    by_strdup();
    by_strndup();
    by_asprintf();
    by_getline();
    by_reallocarray();
    by_sized_frees();
    by_usable_size();
    return good ? 0 : 1;
}
