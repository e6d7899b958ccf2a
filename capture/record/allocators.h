/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions that other allocators have under names of their own, such as jemalloc's mallocx.
 *
 * libmprof.so does not define these names, because a program may ask whether it has them. So the
 * slots of the modules that import them are changed (got_patch.h) to entry points that are not
 * visible outside. They call the function that the slot led to.
 *
 * An allocator is known by the object that defines two of its functions. If several objects do, it
 * is the first one in the order in which the loader looks. The slots that lead to another one stay
 * as they are, and count as bound to another allocator. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/record/got_patch.h"
#include "capture/record/real.h"

#define ALLOCATOR_ARGUMENTS 6u

/* The effect of a function. */
enum allocator_action {
    ALLOCATOR_ASKS,      /* nothing that is recorded */
    ALLOCATOR_GIVES,     /* returns a block, or NULL */
    ALLOCATOR_STORES,    /* stores a block by the argument `block`, and returns 0, or an error */
    ALLOCATOR_COPIES,    /* returns a block that holds a text */
    ALLOCATOR_RESIZES,   /* as realloc */
    ALLOCATOR_STRETCHES, /* resizes in place: returns the new size, at most by `extra` larger than
                            asked for, or the old one */
    ALLOCATOR_EXPANDS,   /* resizes in place: returns the block, or NULL */
    ALLOCATOR_ENDS,      /* as free */
};

/* The arguments are numbered from 1; 0: it has no such argument. All of them are whole numbers or
 * pointers. */
struct allocator_function {
    struct got_function slot; /* comes first */
    struct got_function back; /* for allocators_find_back() */
    enum allocator_action action;
    uint8_t kind; /* enum trace_alloc_kind of ALLOCATOR_GIVES */
    uint8_t block, size, count, alignment, extra;
    uint8_t flags; /* jemalloc's MALLOCX_…, an int */
    uint8_t family;
};

/* Takes the table of functions, which must stay. Its entries need `slot.name` and `slot.own`; other
 * fields of `slot` are set here. */
void allocators_init(struct allocator_function *functions, unsigned count);

/* Finds the allocators among the loaded objects and their functions. Returns true if they are
 * others than before. Takes the loader's lock. One caller at a time. */
bool allocators_look(const struct got_object *self);

/* Returns true if any allocator is loaded. */
bool allocators_are_loaded(void);

/* Finds a function by its name, for got_patch_object(). NULL: it is not one of a loaded allocator.
 * One that the table does not have has no `own`. The second one leads back to the real ones. */
struct got_function *allocators_find(const char *name);
struct got_function *allocators_find_back(const char *name);

/* Returns the name's entry point if `address` is that function of a loaded allocator, or NULL. */
void *allocators_entry_of(const char *name, const void *address);

/* Reads the program's table of symbols, which also has names that are not visible outside. Returns
 * the name of a function that makes it such an allocator, or NULL. */
const char *allocators_in_program(void);

/* A request to resize a block by a function of the table: see allocators_resize() in real.h. */
struct allocator_resize {
    struct resize resize;                      /* comes first; `other` is set */
    const struct allocator_function *function; /* NULL: the block has been resized already */
    const uintptr_t *arguments;
};

/* Calls the real function and returns what it returns. */
uintptr_t allocators_call(const struct allocator_function *function,
                          const uintptr_t arguments[ALLOCATOR_ARGUMENTS]);
