/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of the theme's colours each category of a legend has: a category keeps the colour in which
 * it was seen first, whatever the filter leaves of the others and in whatever order they then
 * stand.
 */
#ifndef MPROF_TUI_CATEGORY_COLORS_H
#define MPROF_TUI_CATEGORY_COLORS_H

#include <stddef.h>
#include <stdint.h>

#define CATEGORY_COLORS_KNOWN 512

/* Zero-initialised is empty. What was seen longest ago is forgotten where more are seen. */
struct category_colors {
    struct {
        uint64_t label; /* hash of colouring and label, 0: empty */
        uint8_t slot;
    } known[CATEGORY_COLORS_KNOWN];
    size_t next;
};

/*
 * Colours, 0 to `slots` - 1, of the first `count` labels of a legend, written to `assigned`; no two
 * the same while `count` <= `slots` <= 64. Of two that had the same colour before, the one that
 * stands first keeps it. `kind` tells colourings apart.
 */
void category_colors_assign(struct category_colors *colors, unsigned kind,
                            const char *const labels[], size_t count, size_t slots,
                            uint8_t assigned[]);

#endif
