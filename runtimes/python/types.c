/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells the recorder the types of live objects (objects.h). */
#include <string.h>

#include "capture/mprof.h"

#include "runtimes/common.h"
#include "runtimes/python/objects.h"
#include "runtimes/python/walk.h"

#define FIRST_CAPACITY ((size_t)4096)
#define LAST_CAPACITY ((size_t)1 << 31)

/* There are twice as many slots as items. */
static uint32_t *find(const struct address_set *set, const void *address)
{
    const uint64_t hash = (uint64_t)(uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15);
    const size_t mask = 2 * set->capacity - 1;
    size_t at = (size_t)(hash >> 32) & mask;
    while (set->slots[at] && set->items[set->slots[at] - 1] != address)
        at = (at + 1) & mask;
    return &set->slots[at];
}

static bool grow(struct address_set *set)
{
    struct address_set larger = {.count = set->count,
                                 .capacity = set->capacity ? 2 * set->capacity : FIRST_CAPACITY};
    if (larger.capacity > LAST_CAPACITY)
        return false;
    larger.items = common_take_pages(larger.capacity * sizeof(*larger.items));
    larger.slots = common_take_pages(2 * larger.capacity * sizeof(*larger.slots));
    if (!larger.items || !larger.slots) {
        address_set_free(&larger);
        return false;
    }
    if (set->count)
        memcpy(larger.items, set->items, set->count * sizeof(*set->items));
    for (size_t i = 0; i < set->count; i++)
        *find(&larger, larger.items[i]) = (uint32_t)i + 1;
    address_set_free(set);
    *set = larger;
    return true;
}

size_t address_set_add(struct address_set *set, const void *address)
{
    if (set->count == set->capacity && !grow(set))
        return SIZE_MAX;
    uint32_t *slot = find(set, address);
    if (!*slot) {
        set->items[set->count] = address;
        *slot = (uint32_t)++set->count;
    }
    return *slot - 1;
}

void address_set_free(struct address_set *set)
{
    common_give_pages(set->items, set->capacity * sizeof(*set->items));
    common_give_pages(set->slots, 2 * set->capacity * sizeof(*set->slots));
    *set = (struct address_set){0};
}

#define TYPES_MAX 65536u

struct telling {
    mprof_runtime runtime;
    struct address_set types;
};

static mprof_kind kinds[TYPES_MAX]; /* of each type of telling.types */

static void tell(void *context, void *block, const void *type, const char *name)
{
    struct telling *telling = context;
    const size_t known = telling->types.count;
    const size_t place = known < TYPES_MAX ? address_set_add(&telling->types, type) : TYPES_MAX;
    if (place >= TYPES_MAX)
        return;
    if (place == known)
        kinds[place] = mprof_kind_create(telling->runtime, name);
    if (kinds[place])
        mprof_type_kind(0, block, kinds[place]);
}

bool python_holds_lock(const struct python_interpreter *interpreter)
{
    const void *state = interpreter->own_state();
    return state && interpreter->current_state() == state;
}

void python_tell_types(const struct python_interpreter *interpreter, unsigned runtime)
{
    struct telling telling = {.runtime = runtime};
    const struct python_listener listener = {tell, &telling};
    if (MPROF_HAS(type_kind))
        interpreter->layout->objects(interpreter, interpreter->own_state(), &listener);
    address_set_free(&telling.types);
}
