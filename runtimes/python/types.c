/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells the recorder the types of live objects (objects.h). */
#include "capture/mprof.h"

#include "runtimes/python/objects.h"
#include "runtimes/python/walk.h"

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
