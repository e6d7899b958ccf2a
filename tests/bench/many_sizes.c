/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * many_sizes [ROUNDS]: one recursive function, 24 deep, that asks at two places for blocks of 800
 * sizes, by an allocator of its own. 72 events a round.
 */
#include <stdlib.h>

struct head {
    struct head *next;
    unsigned length;
};
struct item {
    struct head head;
    char text[];
};

static void *volatile sink;

static __attribute__((noinline)) void *checked(size_t size)
{
    void *block = malloc(size);
    if (!block)
        abort();
    return block;
}

static __attribute__((noinline)) unsigned descend(int depth, unsigned number)
{
    unsigned count = (number * 2654435761u >> 8) % 800;
    char *text = checked(sizeof(struct item) + count * 4);
    void *other = depth % 2 ? NULL : checked(count + 3);
    text[0] = (char)depth;
    sink = text;
    sink = other;
    unsigned sum = depth > 0 ? descend(depth - 1, number * 1664525u + 1013904223u) : 0;
    sum += (unsigned)text[0];
    free(text);
    free(other);
    return sum;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 140000, sum = 0;
    for (unsigned i = 0; i < rounds; i++)
        sum += descend(23, i);
    return sum == 1;
}
