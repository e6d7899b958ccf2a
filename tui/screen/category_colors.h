/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assigns the theme's colours to the categories of a legend. A name has a colour of its own, the
 * same in every session. If two names of a legend have the same one, one of them gets another. A
 * category keeps its first colour, even if a filter removes others or changes their order.
 */
#ifndef MPROF_TUI_SCREEN_CATEGORY_COLORS_H
#define MPROF_TUI_SCREEN_CATEGORY_COLORS_H

#include <stddef.h>
#include <stdint.h>

#define CATEGORY_COLORS_KNOWN 512

/* The colours assigned so far; all zeros: none. When it is full, it forgets the oldest. */
struct category_colors {
    struct {
        uint64_t label; /* hash of colouring and label, 0: empty */
        uint8_t slot;
    } known[CATEGORY_COLORS_KNOWN];
    size_t next;
};

/*
 * Writes the colours, 0 to `slots` - 1, of the first `count` labels of a legend to `assigned`. All
 * differ while `count` <= `slots` <= 64. If two labels had the same colour before, the first one
 * keeps it. `kind` tells colourings apart.
 */
void category_colors_assign(struct category_colors *colors, unsigned kind,
                            const char *const labels[], size_t count, size_t slots,
                            uint8_t assigned[]);

/* Returns the colour of one name: the one that it has in a legend of this colouring, otherwise its
 * own. */
size_t category_colors_slot(const struct category_colors *colors, unsigned kind, const char *label,
                            size_t slots);

#endif
