/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * errno after each entry point is what the C library leaves: untouched by a call that succeeds,
 * ENOMEM after one that fails, the result for posix_memalign. Enough rounds for chunk changes.
 * usage: errno_kept ROUNDS
 */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MARK 4711

static int failed;

static void expect(const char *call, int round, int expected)
{
    if (errno != expected) {
        fprintf(stderr, "errno after %s in round %d: %d, expected %d\n", call, round, errno,
                expected);
        failed = 1;
    }
    errno = MARK;
}

static void good_calls(int round)
{
    void *block, *other = NULL;
    errno = MARK;
    block = malloc(10);
    expect("malloc", round, MARK);
    block = realloc(block, 100000);
    expect("realloc", round, MARK);
    block = reallocarray(block, 10, 10);
    expect("reallocarray", round, MARK);
    free(block);
    expect("free", round, MARK);
    free(NULL);
    expect("free(NULL)", round, MARK);
    block = calloc(3, 50);
    expect("calloc", round, MARK);
    block = realloc(block, 0);
    expect("realloc to 0", round, MARK);
    int result = posix_memalign(&other, 64, 100);
    expect("posix_memalign", round, MARK);
    if (result != 0)
        failed = 1;
    free(other);
    free(aligned_alloc(64, 128));
    expect("aligned_alloc", round, MARK);
    free(memalign(64, 100));
    expect("memalign", round, MARK);
    free(valloc(100));
    expect("valloc", round, MARK);
    free(pvalloc(100));
    expect("pvalloc", round, MARK);
}

/* Volatile, so that the compiler does not see that these sizes cannot be. */
static volatile size_t too_large = SIZE_MAX / 2 + 100;

static void bad_calls(int round)
{
    void *block = malloc(10), *other = NULL;
    errno = MARK;
    if (malloc(too_large))
        failed = 1;
    expect("malloc too large", round, ENOMEM);
    if (calloc(too_large, 16))
        failed = 1;
    expect("calloc too large", round, ENOMEM);
    if (realloc(block, too_large))
        failed = 1;
    expect("realloc too large", round, ENOMEM);
    if (reallocarray(block, too_large, 16))
        failed = 1;
    expect("reallocarray too large", round, ENOMEM);
    if (posix_memalign(&other, 64, too_large) != ENOMEM)
        failed = 1;
    if (aligned_alloc(64, too_large))
        failed = 1;
    expect("aligned_alloc too large", round, ENOMEM);
    free(block);
    expect("free", round, MARK);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < rounds; i++)
        good_calls(i);
    for (int i = 0; i < 10; i++)
        bad_calls(i);
    return failed;
}
