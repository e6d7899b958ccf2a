/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/output/ids.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/hash.h"
#include "schemas/printable.h"

static const uint32_t ids_most = UINT32_MAX - 1;

/* ---- pairs ---- */

struct pair {
    uint64_t first, second;
};

struct pair_ids {
    struct index_map map;
    struct pair *pairs;
    size_t count, capacity;
};

struct pair_ids *pair_ids_new(void)
{
    return calloc(1, sizeof(struct pair_ids));
}

void pair_ids_free(struct pair_ids *ids)
{
    if (!ids)
        return;
    index_map_free(&ids->map);
    FREE_ALL(ids->pairs, ids);
}

bool pair_ids_find(struct pair_ids *ids, uint64_t first, uint64_t second, uint32_t *id,
                   bool *is_new)
{
    const uint64_t hash = hash_combine(hash_number(first), second);
    *is_new = false;
    for (size_t probe = index_map_begin(&ids->map, hash);
         (*id = index_map_next(&ids->map, hash, &probe)) != INDEX_NONE;)
        if (ids->pairs[*id].first == first && ids->pairs[*id].second == second)
            return true;
    *id = (uint32_t)ids->count;
    if (ids->count >= ids_most || !ARRAY_GROW(ids->pairs, ids->count, ids->capacity) ||
        !index_map_insert(&ids->map, hash, *id))
        return false;
    *is_new = true;
    ids->pairs[ids->count++] = (struct pair){first, second};
    return true;
}

size_t pair_ids_count(const struct pair_ids *ids)
{
    return ids->count;
}

uint64_t pair_ids_first(const struct pair_ids *ids, uint32_t id)
{
    return ids->pairs[id].first;
}

uint64_t pair_ids_second(const struct pair_ids *ids, uint32_t id)
{
    return ids->pairs[id].second;
}

/* ---- texts ---- */

struct text_ids {
    struct index_map map;
    const char **texts;
    size_t count, capacity;
};

struct text_ids *text_ids_new(void)
{
    return calloc(1, sizeof(struct text_ids));
}

void text_ids_free(struct text_ids *ids)
{
    if (!ids)
        return;
    index_map_free(&ids->map);
    FREE_ALL(ids->texts, ids);
}

bool text_ids_find(struct text_ids *ids, const char *text, uint32_t *id, bool *is_new)
{
    const uint64_t hash = text_hash(text);
    *is_new = false;
    for (size_t probe = index_map_begin(&ids->map, hash);
         (*id = index_map_next(&ids->map, hash, &probe)) != INDEX_NONE;)
        if (strcmp(ids->texts[*id], text) == 0)
            return true;
    *id = (uint32_t)ids->count;
    if (ids->count >= ids_most || !ARRAY_GROW(ids->texts, ids->count, ids->capacity) ||
        !index_map_insert(&ids->map, hash, *id))
        return false;
    *is_new = true;
    ids->texts[ids->count++] = text;
    return true;
}

size_t text_ids_count(const struct text_ids *ids)
{
    return ids->count;
}

const char *text_ids_text(const struct text_ids *ids, uint32_t id)
{
    return ids->texts[id];
}

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
    if (!ARRAY_GROW(clean->copies, clean->count, clean->capacity))
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
