/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/export/clean.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/ids.h"
#include "schemas/array.h"
#include "schemas/printable.h"

struct clean {
    struct pair_ids *known; /* by the address of a text: its place in `copies` */
    char **copies;
    size_t count, capacity;
    bool failed;
};

struct clean *clean_new(void)
{
    struct clean *clean = calloc(1, sizeof(*clean));
    if (clean && !(clean->known = pair_ids_new())) {
        free(clean);
        return NULL;
    }
    return clean;
}

void clean_free(struct clean *clean)
{
    if (!clean)
        return;
    for (size_t i = 0; i < clean->count; i++)
        free(clean->copies[i]);
    free(clean->copies);
    pair_ids_free(clean->known);
    free(clean);
}

static bool is_clean(const char *text)
{
    while (*text) {
        const unsigned length = printable_glyph(text);
        if (length == 0)
            return false;
        text += length;
    }
    return true;
}

static char *copy_clean(const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd";
    char *copy = malloc(strlen(text) * 3 + 1);
    char *out = copy;
    while (copy && *text) {
        const unsigned length = printable_glyph(text);
        const unsigned size = length > 0 ? length : sizeof(replacement) - 1;
        memcpy(out, length > 0 ? text : replacement, size);
        out += size;
        text += length > 0 ? length : 1;
    }
    if (copy)
        *out = '\0';
    return copy;
}

/* Notes the copy of a text that is new. */
static bool keep(struct clean *clean, const char *text)
{
    if (!array_grow(&clean->copies, &clean->capacity, clean->count + 1, sizeof(*clean->copies)))
        return false;
    clean->copies[clean->count] = copy_clean(text);
    return clean->copies[clean->count] && ++clean->count;
}

const char *clean_text(struct clean *clean, const char *text)
{
    uint32_t id;
    bool is_new;
    if (is_clean(text))
        return text;
    if (!clean->failed && pair_ids_find(clean->known, (uintptr_t)text, 0, &id, &is_new) &&
        (!is_new || keep(clean, text)))
        return clean->copies[id];
    clean->failed = true;
    return "?";
}

bool clean_failed(const struct clean *clean)
{
    return clean->failed;
}
