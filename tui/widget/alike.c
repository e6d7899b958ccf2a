/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/widget/alike.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/short_name.h"

enum {
    DIFFERENCE = 12, /* columns of the part that differs, at least */
    NEAR = 4,
};

static bool is_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_';
}

static bool same_cells(const struct area *area, int x, const struct alike_field *a,
                       const struct alike_field *b)
{
    for (int i = 0; i < a->width || i < b->width; i++) {
        const int column = area->x + x + i;
        const uint32_t left =
            i < a->width ? grid_cell(area->grid, column, area->y + a->y)->glyph : ' ';
        const uint32_t right =
            i < b->width ? grid_cell(area->grid, column, area->y + b->y)->glyph : ' ';
        if (left != right)
            return false;
    }
    return true;
}

/* Names that look alike. */
struct group {
    const struct alike_field *fields[ALIKE_MOST];
    char *names[ALIKE_MOST]; /* whole, later longer forms */
    size_t count;
};

/* Returns where the names begin to differ from `name`, the furthest of these places. */
static size_t difference(const struct group *group, const char *name)
{
    size_t furthest = 0;
    for (size_t i = 0; i < group->count; i++) {
        size_t same = 0;
        while (name[same] && name[same] == group->names[i][same])
            same++;
        if (strcmp(name, group->names[i]) != 0 && same > furthest)
            furthest = same;
    }
    return furthest;
}

/* Writes a name so that its difference at the byte `at` is on the screen. */
static void write_name(const struct area *area, int x, const struct alike_field *field,
                       const char *name, size_t at)
{
    const struct cell_style style = grid_cell(area->grid, area->x + x, area->y + field->y)->style;
    const size_t shown = field->width > DIFFERENCE ? (size_t)(field->width - DIFFERENCE) : 0;
    size_t begin = at > shown ? at - shown : 0;
    /* From the beginning of a word on, if one is near. */
    for (size_t i = begin; begin > 0 && i <= begin + NEAR && i < at; i++) {
        if (!is_word(name[i - 1]) && is_word(name[i])) {
            begin = i;
            break;
        }
    }
    while (((unsigned char)name[begin] & 0xc0) == 0x80)
        begin++;
    if (begin == 0 || field->width < 2) {
        area_field(area, x, field->y, field->width, style, name);
        return;
    }
    area_put(area, x, field->y, 0x2026, style);
    area_field(area, x + 1, field->y, field->width - 1, style, name + begin);
}

static void rewrite_group(const struct area *area, int x, struct group *group)
{
    bool differ = false;
    for (size_t i = 1; i < group->count; i++)
        differ = differ || strcmp(group->names[0], group->names[i]) != 0;
    if (!differ)
        return;
    for (size_t i = 0; i < group->count; i++) {
        char longer[SHORT_NAME_SIZE];
        short_name_with_parameters(longer, sizeof(longer), group->names[i]);
        char *copy = strdup(longer);
        if (!copy)
            return;
        free(group->names[i]);
        group->names[i] = copy;
    }
    for (size_t i = 0; i < group->count; i++)
        write_name(area, x, group->fields[i], group->names[i], difference(group, group->names[i]));
}

void alike_rewrite(const struct area *area, int x, const struct alike_field *fields, size_t count,
                   const char *(*name)(void *context, size_t row), void *context)
{
    bool done[ALIKE_MOST] = {false};
    count = count < ALIKE_MOST ? count : ALIKE_MOST;
    for (size_t i = 0; i < count; i++) {
        struct group group = {.count = 0};
        for (size_t k = i; !done[i] && k < count; k++)
            if (!done[k] && same_cells(area, x, &fields[i], &fields[k]))
                group.fields[group.count++] = &fields[k];
        if (group.count < 2)
            continue;
        size_t copied = 0;
        for (; copied < group.count; copied++) {
            done[group.fields[copied] - fields] = true;
            group.names[copied] = strdup(name(context, group.fields[copied]->row));
            if (!group.names[copied])
                break;
        }
        group.count = copied;
        rewrite_group(area, x, &group);
        for (size_t k = 0; k < copied; k++)
            free(group.names[k]);
    }
}
