/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mapped_holes ALIGNMENT SIZE THRESHOLD: aligned blocks, every other one of which is freed. The
 * small blocks around them leave true holes in the heap. Prints the free bytes of the heap, by
 * mallinfo2().
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 40, SMALL = 64 };

int main(int argc, char **argv)
{
    void *blocks[BLOCKS], *small[SMALL];
    if (argc < 4)
        return 2;
    mallopt(M_MMAP_THRESHOLD, atoi(argv[3])); /* fixed, as if big blocks were seldom freed */
    for (int i = 0; i < SMALL; i++)
        small[i] = malloc(3000);
    for (int i = 0; i < BLOCKS; i++)
        if (posix_memalign(&blocks[i], strtoul(argv[1], NULL, 0), strtoul(argv[2], NULL, 0)) != 0)
            abort();
    for (int i = 0; i < BLOCKS; i += 2)
        free(blocks[i]);
    for (int i = 0; i < SMALL; i += 2)
        free(small[i]);
    printf("%zu\n", (size_t)mallinfo2().fordblks);
    return 0;
}
