/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/alike.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "tui/screen/format.h"

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

/* Returns how many columns of a field are for the name. */
static int room_of(const struct alike_field *field)
{
    const int room = field->width - (field->end ? text_width(field->end) : 0);
    return room > 0 ? room : 0;
}

/* Draws a text in a field, with an ellipsis before it if it is not the beginning of a name. */
static void put_text(const struct area *area, const struct alike_field *field, bool later,
                     const char *text)
{
    const struct cell_style style =
        grid_cell(area->grid, area->x + field->x, area->y + field->y)->style;
    const int room = room_of(field) - later, width = text_width(text);
    const int x = field->x + later;
    area_field(area, field->x, field->y, field->width, style, later ? ELLIPSIS : "");
    area_field(area, x, field->y, width < room ? width : room, style, text);
    if (field->end)
        area_text(area, x + (width < room ? width : room), field->y, style, field->end);
}

/* Returns the text of a field in a column of its own, with a space after its end. */
static uint32_t glyph_at(const struct area *area, const struct alike_field *field, int column)
{
    if (column >= field->width)
        return ' ';
    return grid_cell(area->grid, area->x + field->x + column, area->y + field->y)->glyph;
}

static bool same_cells(const struct area *area, const struct alike_field *a,
                       const struct alike_field *b)
{
    for (int i = 0; i < a->width || i < b->width; i++)
        if (glyph_at(area, a, i) != glyph_at(area, b, i))
            return false;
    return true;
}

/* Names that look alike. */
struct group {
    const struct alike_field *fields[ALIKE_MOST];
    char *names[ALIKE_MOST];                        /* whole, later longer forms */
    char *places[ALIKE_MOST], *modules[ALIKE_MOST]; /* "": not known */
    char ids[ALIKE_MOST][ALIKE_ID_SIZE];
    size_t place_at[ALIKE_MOST]; /* byte of the name; 0: it has none */
    size_t count;
};

/* Puts a name of a row at the group's end. Returns false if memory is exhausted. */
static bool add_name(struct group *group, const struct alike_name *name)
{
    const size_t at = group->count;
    group->names[at] = strdup(name->name);
    group->places[at] = strdup(name->place ? name->place : "");
    group->modules[at] = strdup(name->module ? name->module : "");
    memcpy(group->ids[at], name->id, ALIKE_ID_SIZE);
    group->count++;
    return group->names[at] && group->places[at] && group->modules[at];
}

static void clear_names(struct group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        FREE_ALL(group->names[i], group->places[i], group->modules[i]);
    }
}

static bool same(char *const *texts, size_t i, size_t k)
{
    return strcmp(texts[i], texts[k]) == 0;
}

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
static void write_name(const struct area *area, const struct alike_field *field, const char *name,
                       size_t at)
{
    const int room = room_of(field);
    const size_t shown = room > DIFFERENCE ? (size_t)(room - DIFFERENCE) : 0;
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
    if (room < 2)
        begin = 0;
    put_text(area, field, begin > 0, name + begin);
}

/* Writes the end of a name, from a place on that is before the difference at the byte `at`. Returns
 * false if there is no room for it. */
static bool write_end(const struct area *area, const struct alike_field *field, const char *name,
                      size_t at)
{
    const char *from = name;
    while (*from && text_width(from) >= room_of(field))
        text_next(&from);
    if (from > name + at)
        return false;
    if (from == name) {
        put_text(area, field, false, name);
        return true;
    }
    for (const char *word = from; word <= from + NEAR && word <= name + at; word++)
        if (!is_word(word[-1]) && is_word(*word)) {
            from = word;
            break;
        }
    put_text(area, field, true, from);
    return true;
}

/* Writes what differs at the byte `at`, and then the function. Returns false as write_end(). */
static bool write_difference(const struct area *area, const struct alike_field *field,
                             const char *name, size_t at)
{
    struct name_part parts[PARTS];
    const struct name_part *last = &parts[short_name_split(name, parts, PARTS) - 1];
    char end[SHORT_NAME_SIZE + 8], text[2 * SHORT_NAME_SIZE];
    snprintf(end, sizeof(end), ELLIPSIS "::%s", last->begin);
    const int room = room_of(field) - text_width(end) - 1;
    if (room < DIFFERENCE_LEAST || name + at >= last->begin)
        return false;
    const char *from = name + at, *to = from;
    while (from > name && (is_word(from[-1]) || ((unsigned char)*from & 0xc0) == 0x80) &&
           from + NEAR > name + at)
        from--;
    for (int column = 0; column < room && to < last->begin - 2; column++)
        text_next(&to);
    snprintf(text, sizeof(text), ELLIPSIS "%.*s%s", (int)(to - from), from, end);
    put_text(area, field, false, text);
    return true;
}

/* Writes the name of a function, shortened to what the place after it leaves over, which begins at
 * the byte `place`. If that is not enough, the beginning of the place goes, up to the difference at
 * the byte `at`. Returns false if there is no room for both. */
static bool write_place(const struct area *area, const struct alike_field *field, const char *name,
                        size_t place, size_t at)
{
    char bare[SHORT_NAME_SIZE], text[2 * SHORT_NAME_SIZE];
    if (place == 0 || at < place)
        return false;
    snprintf(bare, sizeof(bare), "%.*s", (int)(place - 2), name); /* without " (" */
    int room = room_of(field) - text_width(name + place) - 2;
    if (room >= DIFFERENCE_LEAST || room >= text_width(bare)) {
        short_name_fit_again(text, sizeof(text), bare, room);
        const size_t length = strlen(text);
        snprintf(text + length, sizeof(text) - length, " (%s", name + place);
    } else {
        const char *from = name + place;
        room = room_of(field) - text_width(bare) - 3;
        while (*from && text_width(from) > room)
            text_next(&from);
        if (room < DIFFERENCE_LEAST || from > name + at)
            return false;
        snprintf(text, sizeof(text), "%s (" ELLIPSIS "%s", bare, from);
    }
    put_text(area, field, false, text);
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

/* Returns true if names that differ have short forms that differ, so that they need no parameters.
 */
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

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

char *alike_difference(const struct alike_name *names, size_t count, size_t at,
                       char out[ALIKE_DIFFERENCE_SIZE])
{
    const struct alike_name *name = &names[at];
    bool elsewhere = false, in_other_module = false, with_other_id = false;
    for (size_t i = 0; i < count; i++) {
        if (!same_text(names[i].name, name->name))
            continue;
        if (!same_text(names[i].place, name->place))
            elsewhere = true;
        else if (!same_text(names[i].module, name->module))
            in_other_module = true;
        else if (strcmp(names[i].id, name->id) != 0)
            with_other_id = true;
    }
    const char *place = elsewhere && name->place ? name->place : "";
    const bool in_module = in_other_module || (elsewhere && !*place);
    const char *module = in_module && name->module ? name->module : "";
    const char *id = with_other_id ? name->id : "";
    *out = '\0';
    if (*place || *module || *id)
        snprintf(out, ALIKE_DIFFERENCE_SIZE, " (%s%s%s%s%s)", place, *place && *module ? " " : "",
                 module, (*place || *module) && *id ? " " : "", id);
    return out;
}

/* Adds to names that are still equal what tells them apart. False if memory is exhausted. */
static bool add_differences(struct group *group)
{
    struct alike_name names[ALIKE_MOST];
    char *longer[ALIKE_MOST];
    bool good = true;
    for (size_t i = 0; i < group->count; i++) {
        names[i] = (struct alike_name){group->names[i], group->places[i], group->modules[i], ""};
        memcpy(names[i].id, group->ids[i], ALIKE_ID_SIZE);
    }
    for (size_t i = 0; i < group->count; i++) {
        char difference[ALIKE_DIFFERENCE_SIZE];
        alike_difference(names, group->count, i, difference);
        if (asprintf(&longer[i], "%s%s", group->names[i], difference) < 0) {
            longer[i] = NULL;
            good = false;
        }
    }
    for (size_t i = 0; i < group->count; i++) {
        char *unused = good ? group->names[i] : longer[i];
        const size_t length = strlen(group->names[i]);
        if (good) {
            group->place_at[i] = longer[i][length] ? length + sizeof(" (") - 1 : 0;
            group->names[i] = longer[i];
        }
        free(unused);
    }
    return good;
}

static void rewrite_group(const struct area *area, struct group *group)
{
    bool differ = false;
    for (size_t i = 1; i < group->count; i++)
        differ = differ || !same(group->names, 0, i) || !same(group->places, 0, i) ||
                 !same(group->modules, 0, i) || strcmp(group->ids[0], group->ids[i]) != 0;
    if (!differ)
        return;
    bool briefly;
    if (!shorten_names(group, &briefly) || !add_differences(group))
        return;
    for (size_t i = 0; i < group->count; i++) {
        const char *name = group->names[i];
        const size_t at = difference(group, name);
        if (write_place(area, group->fields[i], name, group->place_at[i], at))
            continue;
        if (!briefly || (!write_end(area, group->fields[i], name, at) &&
                         !write_difference(area, group->fields[i], name, at)))
            write_name(area, group->fields[i], name, at);
    }
}

void alike_rewrite(const struct area *area, const struct alike_field *fields, size_t count,
                   struct alike_name (*name)(void *context, size_t row), void *context)
{
    bool done[ALIKE_MOST] = {false};
    count = count < ALIKE_MOST ? count : ALIKE_MOST;
    for (size_t i = 0; i < count; i++) {
        struct group group = {.count = 0};
        size_t found = 0;
        for (size_t k = i; !done[i] && k < count; k++)
            if (!done[k] && same_cells(area, &fields[i], &fields[k]))
                group.fields[found++] = &fields[k];
        bool good = found > 1;
        for (size_t k = 0; good && k < found; k++) {
            const struct alike_name of = name(context, group.fields[k]->row);
            done[group.fields[k] - fields] = true;
            good = add_name(&group, &of);
        }
        if (good)
            rewrite_group(area, &group);
        clear_names(&group);
    }
}
