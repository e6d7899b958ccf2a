/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that goes on when it is told. usage: stages
 * For each line of its input it allocates 1000 blocks, frees those of the step before but every
 * tenth, and answers with the number of the step.
 */
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 1000 };

int main(void)
{
    static void *blocks[BLOCKS];
    char line[16];
    for (int step = 1; fgets(line, sizeof line, stdin) != NULL; step++) {
        for (int i = 0; i < BLOCKS; i++) {
            if (i % 10 != 0)
                free(blocks[i]);
            blocks[i] = malloc((size_t)(16 + step + i % 50));
        }
        printf("%d\n", step);
        fflush(stdout);
    }
    return 0;
}
