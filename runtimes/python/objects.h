/* SPDX-License-Identifier: BSD-2-Clause */
/* The objects that are live, with their types. objects.c is compiled once for each version.
 *
 * The search reads what a garbage collection of the interpreter reads, by the same calls, and
 * changes nothing. It finds the objects that the collector knows, those that they refer to, and the
 * variables of the functions that the calling thread runs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct python_interpreter;

/* The receiver of the objects. */
struct python_listener {
    /* `block` is where the object's memory begins. `name` is that of the type. */
    void (*tell)(void *context, void *block, const void *type, const char *name);
    void *context;
};

/* Tells of each object of the interpreter to which the thread belongs, once. `state` is the calling
 * thread's state, which holds the lock. While a collection goes on, it tells of none. */
typedef void python_objects(const struct python_interpreter *interpreter, void *state,
                            const struct python_listener *listener);

extern python_objects python_objects_3_11, python_objects_3_12, python_objects_3_13;

/* Returns true if the calling thread holds the interpreter's lock with its first state. */
bool python_holds_lock(const struct python_interpreter *interpreter);

/* Tells the recorder the types of the objects that are live, as kinds of the runtime. The calling
 * thread holds the interpreter's lock. */
void python_tell_types(const struct python_interpreter *interpreter, unsigned runtime);

/* A set of addresses in memory of its own, for use while the program's heap must not change.
 * All-zero is empty. */
struct address_set {
    const void **items; /* in the order in which they were added */
    uint32_t *slots;    /* place in `items` plus 1; 0: free */
    size_t count, capacity;
};

/* Returns the place of the address, which is added if it is not there. SIZE_MAX: there is no
 * memory, or the set has 2^31 addresses. */
size_t address_set_add(struct address_set *set, const void *address);
void address_set_free(struct address_set *set);
