/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/category_colors.h"

#include <stdbool.h>

/* Returns the FNV-1a hash of the label, never 0. */
static uint64_t label_of(unsigned kind, const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ kind;
    for (; *text != 0; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
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

/* Returns the slot of the position if it is free, otherwise the first free one. */
static uint8_t free_slot(uint64_t used, size_t position, size_t slots)
{
    size_t slot = position % slots;
    for (size_t i = 0; i < slots && (used >> slot & 1) != 0; i++)
        slot = i;
    return (uint8_t)slot;
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
    for (size_t i = 0; i < count; i++) {
        if ((done >> i & 1) != 0)
            continue;
        uint64_t label = label_of(kind, labels[i]);
        assigned[i] = free_slot(used, i, slots);
        used |= UINT64_C(1) << assigned[i];
        if (find(colors, label) == CATEGORY_COLORS_KNOWN)
            remember(colors, label, assigned[i]);
    }
}
