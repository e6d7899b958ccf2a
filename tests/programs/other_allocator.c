/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every call of the heap, so that a block of one allocator that comes to another would show: for
 * the tests with tcmalloc, jemalloc and mimalloc in all places. Prints the number of its calls.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 500

static void check(void *block, size_t size)
{
    if (!block || malloc_usable_size(block) < size)
        abort();
    memset(block, 0xa5, size);
}

static void *calls(void *unused)
{
    (void)unused;
    for (size_t i = 0; i < ROUNDS; i++) {
        const size_t size = 7000 + i;
        void *block = malloc(size), *other = NULL;
        check(block, size);
        block = realloc(block, 3 * size);
        check(block, 3 * size);
        block = reallocarray(block, 2, size);
        check(block, 2 * size);
        free(block);
        check(block = calloc(2, size), 2 * size);
        free(block);
        check(block = reallocarray(NULL, 3, size), 3 * size);
        free(block);
        if (posix_memalign(&other, 64, size) != 0 || (uintptr_t)other % 64)
            abort();
        check(other, size);
        free(other);
        check(block = aligned_alloc(128, 7040), 7040);
        free(block);
        check(block = memalign(256, size), size);
        free(block);
        char *copy = strdup("a block of the C library's own making");
        check(copy, strlen(copy));
        free(copy);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, calls, NULL) != 0)
            return 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", 3 * ROUNDS);
    return 0;
}
