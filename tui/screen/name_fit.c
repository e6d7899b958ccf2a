/* SPDX-License-Identifier: BSD-2-Clause */
/* Fits the short names of functions and types (schemas/code/short_name.h) into columns. */
#include "tui/screen/format.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tui/screen/cells.h"

enum {
    PARTS_MOST = 16,
    ARGUMENTS_LEAST = 4, /* columns of cut arguments that tell something */
    CLASS_LEAST = 3,     /* columns of a cut class */
    MIDDLE_LEAST = 8,    /* columns of a word that loses its middle */
};

#define ELLIPSIS "\u2026"

/* A name, and where it goes. */
struct fitting {
    char *out;
    size_t size;
    int width;
    struct name_part parts[PARTS_MOST];
    size_t count;
};

/* Returns how many bytes of a text take at most so many columns. */
static int bytes_of(const char *text, size_t length, int columns)
{
    const char *at = text;
    while (at < text + length) {
        const char *next = at;
        columns -= glyph_width(text_next(&next));
        if (columns < 0 || next > text + length)
            break;
        at = next;
    }
    return (int)(at - text);
}

static int columns_of(const char *text, size_t length)
{
    int columns = 0;
    for (const char *at = text; at < text + length;)
        columns += glyph_width(text_next(&at));
    return columns;
}

static const struct name_part *last_of(const struct fitting *fitting)
{
    return &fitting->parts[fitting->count - 1];
}

/* Returns true if what was written fits. */
static bool fits(const struct fitting *fitting)
{
    return text_width(fitting->out) <= fitting->width;
}

/* Drops the first scopes, all but the class. */
static bool without_namespaces(struct fitting *fitting)
{
    for (size_t i = 1; i + 1 < fitting->count; i++) {
        snprintf(fitting->out, fitting->size, "%s", fitting->parts[i].begin);
        if (fits(fitting))
            return true;
    }
    return false;
}

/* Cuts the arguments of the class: "vector<unique_pt…>::push_back". */
static bool with_cut_arguments(struct fitting *fitting)
{
    const struct name_part *last = last_of(fitting), *class_ = last - 1;
    if (fitting->count < 2 || class_->bare == class_->length)
        return false;
    const char *arguments = class_->begin + class_->bare + 1;
    const int room = fitting->width - columns_of(class_->begin, class_->bare) -
                     columns_of(last->begin, last->length) - (int)strlen("<.>::");
    if (room < ARGUMENTS_LEAST)
        return false;
    snprintf(fitting->out, fitting->size, "%.*s<%.*s" ELLIPSIS ">::%.*s", (int)class_->bare,
             class_->begin, bytes_of(arguments, class_->length - class_->bare - 2, room), arguments,
             (int)last->length, last->begin);
    return fits(fitting);
}

/* Leaves the arguments of the scopes out, and then the first scopes, all but the class. */
static bool without_arguments(struct fitting *fitting)
{
    const struct name_part *last = last_of(fitting);
    for (size_t i = 0; i + 1 < fitting->count; i++) {
        size_t length = 0;
        for (const struct name_part *part = &fitting->parts[i]; part < last; part++) {
            const int wrote = snprintf(fitting->out + length, fitting->size - length,
                                       "%.*s::", (int)part->bare, part->begin);
            length += (size_t)wrote < fitting->size - length ? (size_t)wrote : 0;
        }
        snprintf(fitting->out + length, fitting->size - length, "%.*s", (int)last->length,
                 last->begin);
        if (fits(fitting))
            return true;
    }
    return false;
}

/* Cuts the arguments of the name itself: "make_unique<sh…". */
static bool with_cut_end(struct fitting *fitting)
{
    const struct name_part *last = last_of(fitting);
    const int bare = columns_of(last->begin, last->bare);
    if (last->bare == last->length || bare > fitting->width ||
        columns_of(last->begin, last->length) <= fitting->width)
        return false;
    const int room = fitting->width - bare - 1;
    snprintf(fitting->out, fitting->size, "%.*s%s",
             (int)last->bare +
                 bytes_of(last->begin + last->bare, last->length - last->bare, room > 1 ? room : 0),
             last->begin, room >= 0 ? ELLIPSIS : "");
    return fits(fitting);
}

/* Cuts the class: "Regi…::add". */
static bool with_cut_class(struct fitting *fitting)
{
    const struct name_part *last = last_of(fitting), *class_ = last - 1;
    const int room = fitting->width - columns_of(last->begin, last->length) - (int)strlen(".::");
    if (fitting->count < 2 || room < CLASS_LEAST)
        return false;
    snprintf(fitting->out, fitting->size, "%.*s" ELLIPSIS "::%.*s",
             bytes_of(class_->begin, class_->bare, room), class_->begin, (int)last->length,
             last->begin);
    return fits(fitting);
}

/* Leaves all scopes out. */
static bool alone(struct fitting *fitting)
{
    const struct name_part *last = last_of(fitting);
    if (fitting->count < 2)
        return false;
    snprintf(fitting->out, fitting->size, ELLIPSIS "%s", last->begin);
    if (!fits(fitting))
        snprintf(fitting->out, fitting->size, "%s", last->begin);
    return fits(fitting);
}

/* Returns how much of a word's end stays: two fifths, since words of one program often begin alike;
 * of "program+0x23ea0", where only the offset tells something, first of all that. */
static int tail_of(const struct name_part *last, int width)
{
    const char *offset = memmem(last->begin, last->bare, "+0x", 3);
    const int room = width - 1, digits = offset ? (int)(last->begin + last->bare - offset) : 0;
    if (offset && room > 0)
        return room < digits ? room : digits;
    return width < MIDDLE_LEAST || memchr(last->begin, ' ', last->bare) ? 0 : width * 2 / 5;
}

/* Cuts the word in its middle. */
static void cut_word(struct fitting *fitting)
{
    const struct name_part *last = last_of(fitting);
    const size_t length = last->bare;
    const int columns = columns_of(last->begin, length);
    const int tail = tail_of(last, fitting->width);
    const int head = fitting->width > 0 ? fitting->width - 1 - tail : 0;
    const char *end = last->begin + bytes_of(last->begin, length, columns - tail);
    snprintf(fitting->out, fitting->size, "%.*s" ELLIPSIS "%.*s",
             bytes_of(last->begin, length, head), last->begin,
             tail > 0 ? (int)(last->begin + length - end) : 0, end);
}

char *short_name_fit_again(char *out, size_t size, const char *name, int width)
{
    struct fitting fitting = {.out = out, .size = size, .width = width};
    snprintf(out, size, "%s", name);
    if (fits(&fitting))
        return out;
    fitting.count = short_name_split(name, fitting.parts, PARTS_MOST);
    if (!without_namespaces(&fitting) && !with_cut_arguments(&fitting) &&
        !without_arguments(&fitting) && !with_cut_end(&fitting) && !with_cut_class(&fitting) &&
        !alone(&fitting))
        cut_word(&fitting);
    return out;
}

char *short_name_fit(char *out, size_t size, const char *name, int width)
{
    char shorter[SHORT_NAME_SIZE];
    if (!strstr(name, "+0x"))
        name = short_name(shorter, sizeof(shorter), name);
    return short_name_fit_again(out, size, name, width);
}
