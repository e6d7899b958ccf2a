/* SPDX-License-Identifier: BSD-2-Clause */
/* The 256 colours of xterm: 16 basic ones, a cube of six levels, and greys. */
#ifndef MPROF_TUI_SCREEN_XTERM_COLORS_H
#define MPROF_TUI_SCREEN_XTERM_COLORS_H

#include <stdint.h>

/* Returns a colour, 0 to 255, as 0xrrggbb. A user may have changed the first 16. */
uint32_t xterm_color(int color);
/* Returns the nearest of the first `count` colours. */
int xterm_nearest(int color, int count);

#endif
