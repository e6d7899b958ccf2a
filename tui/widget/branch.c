/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/widget/branch.h"

#include <stdio.h>
#include <string.h>

#include "tui/screen/short_name.h"

#define CYCLE " \u21c4 "
#define RECURSION " \u21ba"

/* Returns where the name begins. */
static const char *name_in(const char *text)
{
    const char *at = text;
    while (*at >= '0' && *at <= '9')
        at++;
    if (*at != ' ')
        at = text; /* a name that begins with digits */
    for (const char *next = at;; at = next) {
        const uint32_t glyph = text_next(&next);
        if (glyph != ' ' && glyph != 0x25be && glyph != 0x25b8 && glyph != 0x2192)
            return at;
    }
}

bool branch_field(const char *text, struct alike_field *field)
{
    char before[SHORT_NAME_SIZE];
    const char *name = name_in(text);
    snprintf(before, sizeof(before), "%.*s", (int)(name - text), text);
    field->x += text_width(before);
    field->width -= text_width(before);
    field->end = strstr(name, RECURSION) ? RECURSION : "";
    return field->width > 0;
}

/* Fits both names of a cycle. A side that is short leaves its room to the other. */
static void fit_cycle(char *out, size_t size, const char *text, const char *cycle, int width)
{
    char left[SHORT_NAME_SIZE], right[SHORT_NAME_SIZE];
    const char *second = cycle + strlen(CYCLE);
    const int room = width - text_width(CYCLE);
    const bool counts = *second >= '0' && *second <= '9'; /* "3 more" */
    snprintf(left, sizeof(left), "%.*s", (int)(cycle - text), text);
    const int first_width = text_width(left), second_width = text_width(second);
    int half = room / 2;
    if (first_width < half)
        half = first_width;
    else if (counts || second_width < room - half)
        half = room - second_width;
    if (half < 0)
        half = 0;
    short_name_fit_again(right, sizeof(right), second, room - half);
    char first[SHORT_NAME_SIZE];
    short_name_fit_again(first, sizeof(first), left, half);
    snprintf(out, size, "%s" CYCLE "%s", first, right);
}

void branch_render(const struct area *area, int x, int y, int width, struct cell_style style,
                   const char *text)
{
    char fitted[2 * SHORT_NAME_SIZE + 8], name[SHORT_NAME_SIZE], all[3 * SHORT_NAME_SIZE];
    const char *begin = name_in(text);
    const char *cycle = strstr(begin, CYCLE), *recursion = strstr(begin, RECURSION);
    snprintf(name, sizeof(name), "%.*s", (int)(begin - text), text);
    const int room = width - text_width(name);
    if (text_width(text) <= width || room < 2 || strstr(begin, "+0x")) {
        area_field(area, x, y, width, style, text);
        return;
    }
    const int length = snprintf(all, sizeof(all), "%s", name);
    if (cycle) {
        fit_cycle(fitted, sizeof(fitted), begin, cycle, room);
    } else if (recursion && room > 4) {
        snprintf(name, sizeof(name), "%.*s", (int)(recursion - begin), begin);
        char *end = short_name_fit_again(fitted, SHORT_NAME_SIZE, name, room - 2);
        snprintf(end + strlen(end), SHORT_NAME_SIZE, "%s", RECURSION);
    } else {
        short_name_fit_again(fitted, sizeof(fitted), begin, room);
    }
    snprintf(all + length, sizeof(all) - (size_t)length, "%s", fitted);
    area_field(area, x, y, width, style, all);
}
