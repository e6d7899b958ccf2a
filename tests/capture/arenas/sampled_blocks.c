/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes and ends blocks of an arena. With the word "asks" it asks for each block if a sample leaves
 * it out, and says nothing more of such a block. Prints how many were left out.
 */
#include <mprof.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PLACES = 4096, BLOCKS = 200000, STEP = 16 };

static char pool[PLACES * STEP];
static unsigned char told[PLACES]; /* 1: there is a block, which the recorder was told of */

int main(int argc, char **argv)
{
    const int asks = argc > 1 && strcmp(argv[1], "asks") == 0;
    const mprof_arena arena = mprof_arena_create("pool", 0);
    unsigned skipped = 0;
    uint64_t random = 1;
    if (mprof_arena_skips(arena, NULL, 1) || mprof_arena_skips(0, pool, 1))
        return 1;
    for (unsigned i = 0; i < BLOCKS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const unsigned place = (unsigned)(random >> 40) % PLACES;
        const size_t size = 1 + (size_t)(random >> 33) % STEP;
        char *block = pool + place * STEP;
        if (told[place])
            i % 2 ? mprof_arena_free(arena, block) : mprof_collected(arena, block);
        told[place] = !asks || !mprof_arena_skips(arena, block, size);
        if (told[place])
            mprof_arena_alloc(arena, block, size, 1);
        skipped += !told[place];
    }
    printf("%u\n", skipped);
    return 0;
}
