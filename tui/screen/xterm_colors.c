/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/xterm_colors.h"

uint32_t xterm_color(int color)
{
    static const uint32_t basic[16] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
                                       0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
                                       0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
    static const uint32_t levels[6] = {0, 95, 135, 175, 215, 255};
    if (color < 16)
        return basic[color < 0 ? 0 : color];
    if (color < 232) {
        color -= 16;
        return levels[color / 36] << 16 | levels[color / 6 % 6] << 8 | levels[color % 6];
    }
    const uint32_t grey = 8 + (uint32_t)((color < 256 ? color : 255) - 232) * 10;
    return grey << 16 | grey << 8 | grey;
}

int xterm_nearest(int color, int count)
{
    if (color < count)
        return color;
    const uint32_t wanted = xterm_color(color);
    int best = 7;
    long best_distance = -1;
    for (int i = 1; i < count; i++) {
        const uint32_t parts = xterm_color(i);
        long distance = 0;
        for (int shift = 0; shift < 24; shift += 8) {
            const long apart = (long)(parts >> shift & 255) - (long)(wanted >> shift & 255);
            distance += apart * apart;
        }
        if (best_distance < 0 || distance < best_distance) {
            best_distance = distance;
            best = i;
        }
    }
    return best;
}
