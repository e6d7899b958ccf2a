/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds and changes the slots by which a loaded object calls functions of other objects, if they
 * lead past this library.
 *
 * A slot is a word that the loader fills in for a relocation with a symbol. It lies in the jump
 * table (R_X86_64_JUMP_SLOT) or in the table of addresses (R_X86_64_GLOB_DAT), or it is a pointer
 * in data (R_X86_64_64). An object that was loaded with RTLD_DEEPBIND finds malloc in the C library
 * before it finds it here. So its slots hold the C library's function, and can be changed to this
 * library's.
 *
 * Nothing here asks the loader or allocates, so all of it may be called inside malloc. */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* A loaded object. Its headers and tables stay mapped while it is looked at. */
struct got_object {
    uint64_t bias;
    const ElfW(Phdr) * headers;
    unsigned header_count;
    uint64_t start, end; /* set by got_object_measure() */
    const ElfW(Dyn) * dynamic;
};

/* Returns the object that dl_iterate_phdr() shows, not measured yet. */
static inline struct got_object got_object_of(const struct dl_phdr_info *info)
{
    return (struct got_object){
        .bias = info->dlpi_addr, .headers = info->dlpi_phdr, .header_count = info->dlpi_phnum};
}

/* Finds the bounds and the dynamic section by the headers. False if there is no dynamic section. */
bool got_object_measure(struct got_object *object);

/* Returns true if the address lies in the object, which has been measured. */
static inline bool got_object_holds(const struct got_object *object, const void *address)
{
    return (uint64_t)address - object->start < object->end - object->start;
}

/* Returns the address of the function that the object itself defines under this name, or NULL. */
void *got_object_defines(const struct got_object *object, const char *name);

/* A function of this library. An unknown address is NULL. */
struct got_function {
    const char *name;
    void *own;    /* NULL: there is none, so that calls of a `foreign` function are not recorded */
    void *real;   /* the next definition, which `own` calls */
    void *global; /* the first definition of all, or a program's jump table */
    void *also;   /* another address that leads to the real one; NULL: there is none */
    bool heap;    /* its calls are events */
    bool foreign; /* of another allocator, see allocators.h: only modules that import it are
                     changed, also slots that the loader has not bound yet */
};

/* The most names of functions that a look reports as not recorded. */
#define GOT_MISSING_MAX 8u

struct got_patch {
    struct got_function *names;
    unsigned name_count;
    /* Finds more functions by the name that an object has for them. NULL: there are none. */
    struct got_function *(*find)(const char *name);
    bool lazy;       /* slots that the loader has not bound yet are changed as well */
    bool lazy_alike; /* the same, unless the object calls the heap of somebody else */
    bool own_too;    /* also slots of functions that the object defines itself */
    /* The result of the look. */
    uint32_t patched; /* slots that lead to this library now */
    uint32_t late;    /* of these, slots of the heap that could be called before */
    uint32_t unbound; /* of these, slots that the loader had not bound */
    uint32_t left;    /* slots of the heap that lead elsewhere and must stay as they are */
    uint32_t refused; /* slots that had to be changed but could not be */
    uint32_t open;    /* slots that the loader has not, or may not have, filled in yet */
    uint32_t heap;    /* all slots of the heap */
    const char *missing[GOT_MISSING_MAX]; /* in the object's memory: imported and not recorded */
    unsigned missing_count;
};

/* Looks at all slots of the object and changes those that hold a `real` function to `own`. If the
 * loader has made the pages read-only, it opens them and closes them again. If they are still
 * writable, the loader may be at work there, and their slots count as open. One caller at a
 * time. */
void got_patch_object(const struct got_object *object, struct got_patch *look);
