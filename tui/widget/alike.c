/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/widget/alike.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/short_name.h"

enum {
    DIFFERENCE = 12,      /* columns of the part that differs, at least */
    DIFFERENCE_LEAST = 6, /* before a function */
    NEAR = 4,
    PARTS = 16, /* of a name, the last ones */
};

#define ELLIPSIS "\u2026"

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

/* Writes the end of a name, from a place on that is before the difference at the byte `at`. Returns
 * false if there is no room for it. */
static bool write_end(const struct area *area, int x, const struct alike_field *field,
                      const char *name, size_t at)
{
    const struct cell_style style = grid_cell(area->grid, area->x + x, area->y + field->y)->style;
    const char *from = name;
    while (*from && text_width(from) >= field->width)
        text_next(&from);
    if (from > name + at)
        return false;
    if (from == name) {
        area_field(area, x, field->y, field->width, style, name);
        return true;
    }
    for (const char *word = from; word <= from + NEAR && word <= name + at; word++)
        if (!is_word(word[-1]) && is_word(*word)) {
            from = word;
            break;
        }
    area_put(area, x, field->y, 0x2026, style);
    area_field(area, x + 1, field->y, field->width - 1, style, from);
    return true;
}

/* Writes what differs at the byte `at`, and then the function. Returns false as write_end(). */
static bool write_difference(const struct area *area, int x, const struct alike_field *field,
                             const char *name, size_t at)
{
    const struct cell_style style = grid_cell(area->grid, area->x + x, area->y + field->y)->style;
    struct name_part parts[PARTS];
    const struct name_part *last = &parts[short_name_split(name, parts, PARTS) - 1];
    char end[SHORT_NAME_SIZE + 8], text[2 * SHORT_NAME_SIZE];
    snprintf(end, sizeof(end), ELLIPSIS "::%s", last->begin);
    const int room = field->width - text_width(end) - 1;
    if (room < DIFFERENCE_LEAST || name + at >= last->begin)
        return false;
    const char *from = name + at, *to = from;
    while (from > name && (is_word(from[-1]) || ((unsigned char)*from & 0xc0) == 0x80) &&
           from + NEAR > name + at)
        from--;
    for (int column = 0; column < room && to < last->begin - 2; column++)
        text_next(&to);
    snprintf(text, sizeof(text), ELLIPSIS "%.*s%s", (int)(to - from), from, end);
    area_field(area, x, field->y, field->width, style, text);
    return true;
}

/* Makes another form of each name. Returns how many there are; less if memory is exhausted. */
static size_t make_forms(const struct group *group, char **forms,
                         char *(*form)(char *, size_t, const char *))
{
    size_t made = 0;
    for (; made < group->count; made++) {
        char text[SHORT_NAME_SIZE];
        forms[made] = strdup(form(text, sizeof(text), group->names[made]));
        if (!forms[made])
            break;
    }
    return made;
}

/* Tells whether names that differ have short forms that differ, so that they need no parameters. */
static bool differ_when_short(const struct group *group, char *const *forms)
{
    for (size_t i = 0; i < group->count; i++)
        for (size_t k = i + 1; k < group->count; k++)
            if (strcmp(forms[i], forms[k]) == 0 && strcmp(group->names[i], group->names[k]) != 0)
                return false;
    return true;
}

/* Puts their shortest forms that differ in place of the names. Returns false if memory is
 * exhausted. Stores if these are without parameters. */
static bool shorten_names(struct group *group, bool *briefly)
{
    char *forms[ALIKE_MOST];
    size_t made = make_forms(group, forms, short_name);
    *briefly = made == group->count && differ_when_short(group, forms);
    if (made == group->count && !*briefly) {
        for (size_t i = 0; i < made; i++)
            free(forms[i]);
        made = make_forms(group, forms, short_name_with_parameters);
    }
    const bool good = made == group->count;
    for (size_t i = 0; i < made; i++) {
        char *unused = good ? group->names[i] : forms[i];
        if (good)
            group->names[i] = forms[i];
        free(unused);
    }
    return good;
}

static void rewrite_group(const struct area *area, int x, struct group *group)
{
    bool differ = false;
    for (size_t i = 1; i < group->count; i++)
        differ = differ || strcmp(group->names[0], group->names[i]) != 0;
    if (!differ)
        return;
    bool briefly;
    if (!shorten_names(group, &briefly))
        return;
    for (size_t i = 0; i < group->count; i++) {
        const char *name = group->names[i];
        const size_t at = difference(group, name);
        if (!briefly || (!write_end(area, x, group->fields[i], name, at) &&
                         !write_difference(area, x, group->fields[i], name, at)))
            write_name(area, x, group->fields[i], name, at);
    }
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
