/* SPDX-License-Identifier: BSD-2-Clause */
/* make_session OUTPUT [ALLOCATIONS [STACKS [FUNCTIONS [THREADS [SEED]]]]] */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

int main(int argc, char **argv)
{
    struct fixture_options options = FIXTURE_DEFAULTS;
    if (argc < 2 || argc > 7) {
        fprintf(stderr,
                "usage: make_session OUTPUT [ALLOCATIONS [STACKS [FUNCTIONS [THREADS [SEED]]]]]\n");
        return 2;
    }
    size_t *const numbers[] = {&options.allocations, &options.stacks, &options.functions,
                               &options.threads};
    for (int i = 2; i < argc && i < 6; i++)
        *numbers[i - 2] = strtoull(argv[i], NULL, 10);
    if (argc == 7)
        options.seed = strtoull(argv[6], NULL, 10);
    return fixture_write(argv[1], &options) ? 0 : 1;
}
