/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/outer_frames.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/types/allocators.h"
#include "ingest/types/containers.h"
#include "ingest/types/flow/folded.h"
#include "ingest/types/library.h"

/* Limits for the machine frames examined, and for template arguments inside one another. */
#define FRAMES_MAX 16
#define NESTING_MAX 6

/* ---- code that another function may share ---------------------------------------------- */

static enum types_folding folding_at(const struct types_site *site)
{
    Dwarf_Die function = site->entries[site->entry_count - 1];
    return types_folding_of(&function);
}

/* Returns true if the function that the machine frame runs has other names too. */
static bool is_shared(const struct types_site *site)
{
    return types_folded_at(site->folded, site->frames[site->frame_count - 1].start);
}

bool types_outer_frames_doubted(const struct types_site *site)
{
    return site->entry_count > 0 && (folding_at(site) != TYPES_FOLDING_NONE || is_shared(site));
}

/* Returns true if only one unit can name the type: it, or an argument of it, belongs to a function
 * or an unnamed namespace. */
static bool is_local(struct types_index *index, Dwarf_Die *type, int depth)
{
    Dwarf_Die stripped, argument, child;
    Dwarf_Attribute attribute;
    if (depth == NESTING_MAX || !types_strip(type, &stripped))
        return depth == NESTING_MAX;
    int tag = dwarf_tag(&stripped);
    if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_array_type)
        return dwarf_attr(&stripped, DW_AT_type, &attribute) &&
               types_reference(&attribute, &argument) && is_local(index, &argument, depth + 1);
    const struct types_unit *unit = types_index_unit(index, &stripped);
    const struct types_entry *entry = !unit ? NULL : types_index_entry(unit, &stripped);
    for (uint32_t at = !entry ? TYPES_NO_PARENT : entry->parent; at != TYPES_NO_PARENT;
         at = unit->entries[at].parent)
        if (unit->entries[at].tag == DW_TAG_subprogram ||
            (unit->entries[at].tag == DW_TAG_namespace && !unit->entries[at].name))
            return true;
    if (dwarf_child(&stripped, &child) != 0)
        return false;
    do {
        if (dwarf_tag(&child) == DW_TAG_template_type_parameter &&
            dwarf_attr(&child, DW_AT_type, &attribute) && types_reference(&attribute, &argument) &&
            is_local(index, &argument, depth + 1))
            return true;
    } while (types_index_sibling(index, &child));
    return false;
}

/*
 * Returns true if a function of the program, from `first` on, may have been folded before it was
 * inlined. gcc does not fold a function that was declared inline, because it belongs to every unit.
 */
static bool is_inlined_own(const struct types_site *site, size_t first)
{
    for (size_t i = first; i + 1 < site->entry_count; i++) {
        Dwarf_Die entry = site->entries[i];
        Dwarf_Attribute attribute;
        Dwarf_Word how = 0;
        if (types_is_standard(site, i))
            continue;
        if (!dwarf_attr_integrate(&entry, DW_AT_inline, &attribute) ||
            dwarf_formudata(&attribute, &how) != 0 || how != DW_INL_declared_inlined)
            return true;
    }
    return false;
}

bool types_outer_frames_constructs_doubted(const struct types_site *site,
                                           const struct types_type *class)
{
    Dwarf_Die die = class->die;
    if (site->entry_count == 0 || is_shared(site))
        return true;
    switch (folding_at(site)) {
    case TYPES_FOLDING_NONE:
        return false;
    case TYPES_FOLDING_UNIT:
        return is_inlined_own(site, 0) || is_local(site->index, &die, 0);
    default:
        return true;
    }
}

/* ---- the walk --------------------------------------------------------------------------- */

struct walk {
    struct types_container container; /* the outermost so far */
    enum types_container_part part;
    char *allocator; /* the type that the outermost allocator names, or NULL */
    struct types_type allocated;
    struct types_index *index; /* of the outermost frame that decided */
    bool differs, local;
    bool cached, cached_known;
    bool anchored;       /* one frame's function has its code for itself */
    size_t frame, level; /* of the frame that decided last */
    bool done;
};

/* Returns true if it is a function that lies between an allocator and its user: a member of one of
 * these classes, or one of these functions. */
static bool is_between(const struct types_unit *unit, const struct types_entry *function)
{
    static const char *const classes[] = {"allocator_traits", "__alloc_traits", "__shared_count",
                                          "shared_ptr",       "__shared_ptr",   "allocator",
                                          "__new_allocator",  "new_allocator"};
    if (types_is_template(function->name, "construct"))
        return false;
    if (types_is_template(function->name, "__allocate_guarded"))
        return true;
    for (uint32_t at = function->parent; at != TYPES_NO_PARENT; at = unit->entries[at].parent) {
        const struct types_entry *scope = &unit->entries[at];
        if (scope->tag == DW_TAG_namespace && scope->name && strcmp(scope->name, "__detail") == 0)
            return true;
        for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
            if (types_is_class(scope) && types_is_template(scope->name, classes[i]))
                return true;
    }
    return false;
}

/* Notes which frame decided. */
static void note(struct walk *walk, const struct types_site *site, size_t frame, size_t level)
{
    walk->anchored = walk->anchored || (level + 1 == site->entry_count && !is_shared(site));
    walk->frame = frame;
    walk->level = level;
    walk->index = site->index;
}

static bool take_allocator(struct walk *walk, const struct types_site *site, size_t frame,
                           size_t level)
{
    struct types_type type;
    if (walk->container.kind != TYPES_CONTAINER_NONE || !types_allocator_at(site, level, &type))
        return false;
    char *name = types_name(site->index, &type);
    if (!name)
        return false;
    walk->differs = walk->differs || (walk->allocator && strcmp(walk->allocator, name) != 0);
    walk->local = walk->local || is_local(site->index, &type.die, 0);
    free(walk->allocator);
    walk->allocator = name;
    walk->allocated = type;
    note(walk, site, frame, level);
    return true;
}

/* Returns true if `outer` is the container around `inner`, not the same one seen further out. */
static bool holds_inner(const struct types_container *outer, const struct types_container *inner)
{
    return inner->kind != TYPES_CONTAINER_NONE &&
           (outer->kind != inner->kind || outer->template != inner->template ||
            (*inner->class != '\0' && strstr(outer->element, inner->class)));
}

static void take_container(struct walk *walk, const struct types_site *site, size_t frame,
                           size_t level, struct types_container *container)
{
    if (holds_inner(container, &walk->container)) {
        types_container_free(container);
        walk->done = true;
        return;
    }
    if (container->cached_known)
        walk->cached = container->cached;
    walk->cached_known = walk->cached_known || container->cached_known;
    container->cached = walk->cached;
    walk->differs = walk->differs || (walk->container.element &&
                                      strcmp(walk->container.element, container->element) != 0);
    types_container_free(&walk->container);
    walk->container = *container;
    note(walk, site, frame, level);
}

/* Reads the site's frames. The walk ends at the first frame of the program. */
static void walk_site(struct walk *walk, const struct types_site *site, size_t frame)
{
    for (size_t level = 0; level < site->entry_count && !walk->done; level++) {
        const struct types_unit *unit;
        Dwarf_Die function;
        struct types_container container;
        const struct types_entry *entry = types_frame_function(site, level, &unit, &function);
        if (!entry || !types_is_standard(site, level)) {
            walk->done = true;
            return;
        }
        if (walk->part == TYPES_PART_UNKNOWN)
            walk->part = types_container_part_of(site, level);
        if (take_allocator(walk, site, frame, level))
            continue;
        if (types_container_at(site, level, &container))
            take_container(walk, site, frame, level, &container);
        else if (!is_between(unit, entry))
            walk->done = true;
    }
    walk->done = walk->done || site->entry_count == 0;
}

/* Returns true if no frame that decided can belong to another function. */
static bool is_certain(const struct walk *walk, const struct types_site *site, size_t frame)
{
    if (walk->differs || walk->anchored || site->entry_count == 0)
        return !walk->differs && walk->anchored;
    /* Everything was inlined into a function of the program. */
    return walk->frame == frame && !is_shared(site) && folding_at(site) != TYPES_FOLDING_PROGRAM &&
           !walk->local && !is_inlined_own(site, walk->level + 1);
}

/* Names the block by the outermost container, or else by the outermost allocator. */
static void name_block(const struct walk *walk, const struct types_site *site, uint64_t size,
                       struct types_outer_frames *outer)
{
    bool elements = true;
    if (walk->container.kind != TYPES_CONTAINER_NONE) {
        outer->name = types_container_block(&walk->container, walk->part, site->index, size,
                                            &outer->sized, &elements);
        outer->type = walk->container.type;
        outer->typed = elements && walk->container.typed && walk->index == site->index;
    } else if (walk->allocator) {
        outer->name = strdup(walk->allocator);
        outer->type = walk->allocated;
        outer->typed = walk->index == site->index;
    }
}

void types_outer_frames_read(const struct types_site *site, types_outer_frames_open *open,
                             void *context, const char *inner, uint64_t size,
                             struct types_outer_frames *outer)
{
    struct walk walk = {.done = false};
    memset(outer, 0, sizeof(*outer));
    size_t frame = 0;
    const struct types_site *at = site;
    walk_site(&walk, site, 0);
    while (!walk.done && frame + 1 < FRAMES_MAX && (at = open(context, frame + 1)))
        walk_site(&walk, at, ++frame);
    outer->far = frame > 0;
    name_block(&walk, site, size, outer);
    bool same = outer->name && inner && strcmp(outer->name, inner) == 0;
    outer->certain = same && at && is_certain(&walk, at, frame);
    types_container_free(&walk.container);
    free(walk.allocator);
}
