/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of a grid, for tests. */
#ifndef MPROF_TESTS_TUI_GRID_TEXT_H
#define MPROF_TESTS_TUI_GRID_TEXT_H

#include <stdio.h>
#include <stdlib.h>

#include "tui/screen/cells.h"

/* Returns what a grid shows, a line for each row; the caller frees it. Ends the test program if
 * memory is exhausted. */
static inline char *grid_text(const struct grid *grid)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        abort();
    grid_dump_text(grid, out);
    if (fclose(out) != 0)
        abort();
    return text;
}

#endif
