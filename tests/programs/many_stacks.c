/* SPDX-License-Identifier: BSD-2-Clause */
/* Loses blocks of two functions on 512 stacks each, in turn, and frees one block elsewhere. None is
 * lost in the first tenth of the time, which would be the start. */
#include <stdlib.h>
#include <unistd.h>

enum { DEPTH = 9 };

static void *volatile kept;

static void lose_left(void)
{
    kept = malloc(40);
}

static void lose_right(void)
{
    kept = malloc(80);
}

static void descend(unsigned path, int depth)
{
    if (depth == 0) {
        lose_left();
        lose_right();
    } else if (path & 1) {
        descend(path >> 1, depth - 1);
    } else {
        descend(path >> 1, depth - 1);
    }
}

static void *take(void)
{
    return malloc(1000);
}

static void give_back(void *block)
{
    free(block);
}

int main(void)
{
    void *block = take();
    usleep(50000);
    for (unsigned path = 0; path < 1u << DEPTH; path++)
        descend(path, DEPTH);
    give_back(block);
    return 0;
}
