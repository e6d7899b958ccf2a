/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/color.h"

#include <string.h>

int filter_color_number(const char *name, size_t length)
{
    static const struct {
        const char *name;
        int number;
    } colors[] = {
        {"red", 1},    {"green", 2},   {"yellow", 3},  {"blue", 4}, {"magenta", 5},
        {"cyan", 6},   {"white", 7},   {"gray", 8},    {"grey", 8}, {"orange", 208},
        {"pink", 213}, {"brown", 130}, {"purple", 93},
    };
    for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++) {
        if (strlen(colors[i].name) == length && memcmp(colors[i].name, name, length) == 0)
            return colors[i].number;
    }
    return -1;
}
