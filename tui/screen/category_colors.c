/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/category_colors.h"

#include <stdbool.h>

#include "schemas/text_hash.h"

/* Returns the hash of the label, never 0. */
static uint64_t label_of(unsigned kind, const char *text)
{
    const uint64_t hash = text_hash_add(TEXT_HASH_EMPTY ^ kind, text);
    return hash == 0 ? 1 : hash;
}

static size_t find(const struct category_colors *colors, uint64_t label)
{
    size_t at = 0;
    while (at < CATEGORY_COLORS_KNOWN && colors->known[at].label != label)
        at++;
    return at;
}

static void remember(struct category_colors *colors, uint64_t label, uint8_t slot)
{
    colors->known[colors->next].label = label;
    colors->known[colors->next].slot = slot;
    colors->next = (colors->next + 1) % CATEGORY_COLORS_KNOWN;
}

/* Returns the slot of a name, the same in every colouring and session. */
static size_t own_slot(const char *text, size_t slots)
{
    const uint64_t hash = label_of(0, text);
    return (size_t)((hash ^ hash >> 32) % slots);
}

/* Returns the name's own slot if it is free, otherwise the next free one. */
static uint8_t free_slot(uint64_t used, const char *text, size_t slots)
{
    size_t slot = own_slot(text, slots);
    for (size_t i = 0; i < slots && (used >> slot & 1) != 0; i++)
        slot = (slot + 1) % slots;
    return (uint8_t)slot;
}

/* Returns the first name by its hash of those that are not done, so that the legend's order plays
 * no part; `count` if all are done. */
static size_t next_new(const char *const labels[], size_t count, uint64_t done)
{
    size_t first = count;
    for (size_t i = 0; i < count; i++)
        if ((done >> i & 1) == 0 &&
            (first == count || label_of(0, labels[i]) < label_of(0, labels[first])))
            first = i;
    return first;
}

size_t category_colors_slot(const struct category_colors *colors, unsigned kind, const char *label,
                            size_t slots)
{
    const size_t at = find(colors, label_of(kind, label));
    return at < CATEGORY_COLORS_KNOWN && colors->known[at].slot < slots ? colors->known[at].slot
                                                                        : own_slot(label, slots);
}

void category_colors_assign(struct category_colors *colors, unsigned kind,
                            const char *const labels[], size_t count, size_t slots,
                            uint8_t assigned[])
{
    uint64_t used = 0, done = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = find(colors, label_of(kind, labels[i]));
        if (at == CATEGORY_COLORS_KNOWN || (used >> colors->known[at].slot & 1) != 0)
            continue;
        assigned[i] = colors->known[at].slot;
        used |= UINT64_C(1) << assigned[i];
        done |= UINT64_C(1) << i;
    }
    for (size_t i; (i = next_new(labels, count, done)) < count; done |= UINT64_C(1) << i) {
        const uint64_t label = label_of(kind, labels[i]);
        assigned[i] = free_slot(used, labels[i], slots);
        used |= UINT64_C(1) << assigned[i];
        if (find(colors, label) == CATEGORY_COLORS_KNOWN)
            remember(colors, label, assigned[i]);
    }
}
