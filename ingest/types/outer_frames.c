/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/outer_frames.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/types/allocators.h"
#include "ingest/types/dwarf/spelling.h"
#include "ingest/types/flow/folded.h"
#include "schemas/array.h"

/* The types that the containers of libstdc++ allocate, as the class of a member function gives
 * them. outer_frames.h uses this for the frames around an allocator. */

enum types_container_kind {
    TYPES_CONTAINER_NONE,
    TYPES_CONTAINER_ELEMENTS, /* an array of its elements */
    TYPES_CONTAINER_NODES,    /* a node for each */
    TYPES_CONTAINER_HASH,     /* nodes, and an array of pointers to them */
    TYPES_CONTAINER_DEQUE,    /* arrays of elements, and an array of pointers to these arrays */
    TYPES_CONTAINER_STRING    /* characters */
};

/* The two kinds of blocks of a deque or a hash table. */
enum types_container_part {
    TYPES_PART_UNKNOWN,
    TYPES_PART_CONTENT, /* elements or nodes */
    TYPES_PART_TABLE    /* pointers to the content */
};

struct types_container {
    enum types_container_kind kind;
    const char *template;   /* name of the node, e.g. "std::_List_node" */
    char *class;            /* name of the container's class in its one spelling; to be freed */
    char *element;          /* name of its elements; to be freed */
    struct types_type type; /* of its elements, if `typed` */
    bool typed;
    bool cached; /* a hash table whose nodes keep the hash */
    bool cached_known;
};

/* The bytes of one array of libstdc++'s deque, __deque_buf_size(). */
#define DEQUE_BYTES 512
/* std::_Hashtable's argument with its traits: the first tells that hashes are kept. */
#define HASH_TRAITS 9

/* The type in which vector<bool> keeps its bits. */
#define BITS "unsigned long"

struct row {
    const char *class;
    int element; /* the template argument; -1: only the class's value_type tells */
    enum types_container_kind kind;
    const char *template;
};

static const struct row rows[] = {
    {"vector", 0, TYPES_CONTAINER_ELEMENTS, NULL},
    {"_Vector_base", 0, TYPES_CONTAINER_ELEMENTS, NULL},
    {"_Bvector_base", -1, TYPES_CONTAINER_ELEMENTS, NULL},
    {"deque", 0, TYPES_CONTAINER_DEQUE, NULL},
    {"_Deque_base", 0, TYPES_CONTAINER_DEQUE, NULL},
    {"list", 0, TYPES_CONTAINER_NODES, "std::_List_node"},
    {"_List_base", 0, TYPES_CONTAINER_NODES, "std::_List_node"},
    {"forward_list", 0, TYPES_CONTAINER_NODES, "std::_Fwd_list_node"},
    {"_Fwd_list_base", 0, TYPES_CONTAINER_NODES, "std::_Fwd_list_node"},
    {"map", -1, TYPES_CONTAINER_NODES, "std::_Rb_tree_node"},
    {"multimap", -1, TYPES_CONTAINER_NODES, "std::_Rb_tree_node"},
    {"set", 0, TYPES_CONTAINER_NODES, "std::_Rb_tree_node"},
    {"multiset", 0, TYPES_CONTAINER_NODES, "std::_Rb_tree_node"},
    {"_Rb_tree", 1, TYPES_CONTAINER_NODES, "std::_Rb_tree_node"},
    {"unordered_map", -1, TYPES_CONTAINER_HASH, "std::__detail::_Hash_node"},
    {"unordered_multimap", -1, TYPES_CONTAINER_HASH, "std::__detail::_Hash_node"},
    {"unordered_set", 0, TYPES_CONTAINER_HASH, "std::__detail::_Hash_node"},
    {"unordered_multiset", 0, TYPES_CONTAINER_HASH, "std::__detail::_Hash_node"},
    {"_Hashtable", 1, TYPES_CONTAINER_HASH, "std::__detail::_Hash_node"},
    {"basic_string", 0, TYPES_CONTAINER_STRING, NULL},
};

/* Functions that make such an object of their first template argument. */
static const struct row makers[] = {
    {"make_shared", 0, TYPES_CONTAINER_NODES, "std::_Sp_counted_ptr_inplace"},
    {"allocate_shared", 0, TYPES_CONTAINER_NODES, "std::_Sp_counted_ptr_inplace"},
};

static const struct row *row_of(const struct types_unit *unit, const struct types_entry *class)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (types_is_template(class->name, rows[i].class) &&
            types_in_space(unit, class->parent, "std"))
            return &rows[i];
    return NULL;
}

/* Reads a template's elements: its value_type, or the row's template argument. */
static bool read_element(const struct types_site *site, Dwarf_Die *template, const char *name,
                         const struct row *row, struct types_container *container)
{
    Dwarf_Die value;
    struct types_type type;
    if (strcmp(row->class, "_Bvector_base") == 0) {
        container->element = strdup(BITS);
        return container->element != NULL;
    }
    bool declared = types_declared_value(site->index, template, &value) ||
                    (row->element == 0 && types_first_argument(site->index, template, &value));
    if (declared && types_from(site->index, &value, &type)) {
        container->element = types_name(site->index, &type);
        container->type = type;
        container->typed = true;
    } else if (row->element >= 0) {
        container->element = types_spelling_argument(name, (unsigned)row->element);
    }
    return container->element != NULL;
}

static void read_traits(const char *name, struct types_container *container)
{
    char *traits = types_spelling_argument(name, HASH_TRAITS);
    char *cached = !traits ? NULL : types_spelling_argument(traits, 0);
    container->cached_known =
        cached && (strcmp(cached, "true") == 0 || strcmp(cached, "false") == 0);
    container->cached = container->cached_known && strcmp(cached, "true") == 0;
    FREE_ALL(cached, traits);
}

static bool read_class(const struct types_site *site, const struct types_unit *unit,
                       const struct types_entry *class, const struct row *row,
                       struct types_container *container)
{
    Dwarf_Die die;
    if (!types_index_die(unit, class, &die) ||
        !read_element(site, &die, class->name, row, container))
        return false;
    if (row->kind == TYPES_CONTAINER_ELEMENTS && strcmp(container->element, "bool") == 0) {
        free(container->element);
        container->typed = false;
        container->element = strdup(BITS);
        if (!container->element)
            return false;
    }
    if (strcmp(row->class, "_Hashtable") == 0)
        read_traits(class->name, container);
    char *name = NULL;
    if (asprintf(&name, "std::%s", class->name) < 0)
        return false;
    container->class = types_spelling(name);
    free(name);
    return container->class != NULL;
}

static bool read_maker(const struct types_site *site, const struct types_unit *unit,
                       const struct types_entry *function, Dwarf_Die *die,
                       struct types_container *container)
{
    for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++) {
        if (!types_is_template(function->name, makers[i].class) ||
            !types_in_space(unit, function->parent, "std"))
            continue;
        container->kind = makers[i].kind;
        container->template = makers[i].template;
        container->class = strdup("");
        /* An array has another kind of control block. */
        return container->class && read_element(site, die, function->name, &makers[i], container) &&
               !strchr(container->element, '[');
    }
    return false;
}

static void types_container_free(struct types_container *container)
{
    FREE_ALL(container->class, container->element);
    memset(container, 0, sizeof(*container));
}

/* Finds the container of which that frame's function is a member, or a member of a class in it, or
 * which the function makes as a whole (make_shared). Returns false if there is none or its elements
 * are not known. */
static bool types_container_at(const struct types_site *site, size_t frame,
                               struct types_container *container)
{
    const struct types_unit *unit;
    Dwarf_Die function;
    const struct types_entry *entry = types_frame_function(site, frame, &unit, &function);
    memset(container, 0, sizeof(*container));
    if (!entry)
        return false;
    if (read_maker(site, unit, entry, &function, container))
        return true;
    types_container_free(container);
    for (uint32_t at = entry->parent; at != TYPES_NO_PARENT; at = unit->entries[at].parent) {
        const struct types_entry *class = &unit->entries[at];
        const struct row *row = types_is_class(class) ? row_of(unit, class) : NULL;
        if (!row)
            continue;
        container->kind = row->kind;
        container->template = row->template;
        if (read_class(site, unit, class, row, container))
            return true;
        types_container_free(container);
        return false;
    }
    return false;
}

/* Tells by its name which part the frame's function allocates. */
static enum types_container_part types_container_part_of(const struct types_site *site,
                                                         size_t frame)
{
    static const struct {
        const char *function;
        enum types_container_part part;
    } parts[] = {
        {"_M_allocate_buckets", TYPES_PART_TABLE},
        {"_M_allocate_map", TYPES_PART_TABLE},
        {"_M_allocate_node", TYPES_PART_CONTENT},
    };
    const struct types_unit *unit;
    Dwarf_Die function;
    const struct types_entry *entry = types_frame_function(site, frame, &unit, &function);
    for (size_t i = 0; entry && i < sizeof(parts) / sizeof(*parts); i++)
        if (types_is_template(entry->name, parts[i].function))
            return parts[i].part;
    return TYPES_PART_UNKNOWN;
}

/* ---- the block -------------------------------------------------------------------------- */

static char *spelled(char *name)
{
    char *spelling = !name ? NULL : types_spelling(name);
    free(name);
    return spelling;
}

static char *hash_node(const struct types_container *container)
{
    char *name = NULL;
    return asprintf(&name, "%s<%s, %s>", container->template, container->element,
                    container->cached ? "true" : "false") < 0
               ? NULL
               : spelled(name);
}

static char *hash_block(const struct types_container *container, enum types_container_part part,
                        struct types_index *index, uint64_t size, bool *sized)
{
    struct types_type type;
    char *node = hash_node(container);
    if (part == TYPES_PART_UNKNOWN && node) {
        *sized = true;
        part = types_named(index, node, &type) && type.size == size ? TYPES_PART_CONTENT
                                                                    : TYPES_PART_TABLE;
    }
    if (part == TYPES_PART_CONTENT)
        return node;
    free(node);
    return strdup("std::__detail::_Hash_node_base *");
}

static char *deque_block(const struct types_container *container, enum types_container_part part,
                         uint64_t size, bool *sized, bool *elements)
{
    char *name = NULL;
    if (part == TYPES_PART_UNKNOWN) {
        uint64_t one = container->typed ? container->type.size : 0;
        *sized = true;
        part = one > 0 && size == (one < DEQUE_BYTES ? DEQUE_BYTES / one * one : one)
                   ? TYPES_PART_CONTENT
                   : TYPES_PART_TABLE;
    }
    *elements = part == TYPES_PART_CONTENT;
    if (*elements)
        return strdup(container->element);
    return asprintf(&name, "%s *", container->element) < 0 ? NULL : spelled(name);
}

/* Returns the type that the container allocates in a block of `size` bytes, in its one spelling.
 * The caller frees it. NULL if memory is exhausted. Sets `*sized` to true if the answer depends on
 * the size, and `*elements` to whether it is the type of the elements. */
static char *types_container_block(const struct types_container *container,
                                   enum types_container_part part, struct types_index *index,
                                   uint64_t size, bool *sized, bool *elements)
{
    char *name = NULL;
    const struct types_string *string;
    *elements = false;
    switch (container->kind) {
    case TYPES_CONTAINER_NODES:
        if (asprintf(&name, "%s<%s>", container->template, container->element) < 0)
            return NULL;
        return spelled(name);
    case TYPES_CONTAINER_HASH:
        return hash_block(container, part, index, size, sized);
    case TYPES_CONTAINER_DEQUE:
        return deque_block(container, part, size, sized, elements);
    case TYPES_CONTAINER_STRING:
        string = types_string_of_character(container->element);
        if (string)
            return strdup(string->name);
        break;
    default:
        break;
    }
    *elements = true;
    return strdup(container->element);
}

/* ---- outer frames -------------------------------------------------------------------------- */

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

/* Returns true if a function of the program, from `first` on, may have been folded before it was
 * inlined. gcc does not fold inline functions: they belong to every unit. */
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
    bool differs, local, cached, cached_known;
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

/* ---- storage ---------------------------------------------------------------------------- */

/* The class templates of the program that are asked for their elements. */
#define CLASSES_MAX 8

static bool is_byte(struct types_index *index, Dwarf_Die *type)
{
    Dwarf_Die stripped;
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = 0, size = 0;
    if (!types_strip(type, &stripped))
        return false;
    if (dwarf_tag(&stripped) == DW_TAG_array_type)
        return types_type_of(&stripped, &stripped) && is_byte(index, &stripped);
    if (dwarf_aggregate_size(&stripped, &size) != 0 || size != 1)
        return false;
    const char *name = dwarf_diename(&stripped);
    if (dwarf_tag(&stripped) == DW_TAG_enumeration_type)
        return name && strcmp(name, "byte") == 0;
    return dwarf_tag(&stripped) == DW_TAG_base_type &&
           dwarf_attr(&stripped, DW_AT_encoding, &attribute) &&
           dwarf_formudata(&attribute, &encoding) == 0 &&
           (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char);
}

/* Returns true if the record has only arrays of bytes, or nothing. `*bytes` tells which. */
static bool has_only_bytes(struct types_index *index, Dwarf_Die *record, int depth, bool *bytes)
{
    Dwarf_Die child, stripped;
    if (depth == NESTING_MAX)
        return false;
    if (!dwarf_haschildren(record) || dwarf_child(record, &child) != 0)
        return true;
    do {
        const int tag = dwarf_tag(&child);
        Dwarf_Die type;
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
            dwarf_hasattr(&child, DW_AT_external) || dwarf_hasattr(&child, DW_AT_declaration))
            continue;
        if (!types_type_of(&child, &type) || !types_strip(&type, &stripped))
            return false;
        const int inner = dwarf_tag(&stripped);
        if (inner == DW_TAG_array_type && is_byte(index, &stripped)) {
            *bytes = true;
            continue;
        }
        if ((inner != DW_TAG_structure_type && inner != DW_TAG_class_type &&
             inner != DW_TAG_union_type) ||
            !has_only_bytes(index, &stripped, depth + 1, bytes))
            return false;
    } while (types_index_sibling(index, &child));
    return true;
}

/* Returns true if the record, or a class around it, is an instance of a template. */
static bool is_instance(struct types_index *index, Dwarf_Die *record)
{
    const struct types_unit *unit = types_index_unit(index, record);
    const struct types_entry *entry = !unit ? NULL : types_index_entry(unit, record);
    for (; entry; entry = entry->parent == TYPES_NO_PARENT ? NULL : &unit->entries[entry->parent])
        if (entry->tag != DW_TAG_namespace && entry->name && strchr(entry->name, '<'))
            return true;
    return false;
}

bool types_outer_frames_is_storage(struct types_index *index, const struct types_type *type)
{
    Dwarf_Die die = type->die, stripped;
    bool bytes = false;
    if (!die.addr || !types_strip(&die, &stripped))
        return type->shape == TYPES_VOID;
    if (type->shape != TYPES_RECORD)
        return is_byte(index, &stripped);
    /* An empty class of one byte is a tag, not storage. */
    return is_instance(index, &stripped) && type->size > 0 &&
           has_only_bytes(index, &stripped, 0, &bytes) && (bytes || type->size > 1);
}

static bool is_element(struct types_index *index, const struct types_type *type,
                       const struct types_type *storage, bool contained, uint64_t size)
{
    bool bytes = false;
    Dwarf_Die die = type->die, stripped;
    if (type->size == 0 || type->size > size || !die.addr || !types_strip(&die, &stripped) ||
        (contained && type->size != storage->size))
        return false;
    if (type->shape == TYPES_SCALAR || type->shape == TYPES_CHARACTER)
        return true;
    return type->shape == TYPES_RECORD && !has_only_bytes(index, &stripped, 0, &bytes);
}

/* Finds a class template's first argument that is an allocator, and its value_type. */
static bool allocated_by_argument(struct types_index *index, Dwarf_Die *class,
                                  struct types_type *type)
{
    Dwarf_Die child, argument, value, stripped;
    Dwarf_Attribute attribute;
    if (!dwarf_haschildren(class) || dwarf_child(class, &child) != 0)
        return false;
    do {
        if (dwarf_tag(&child) != DW_TAG_template_type_parameter ||
            !dwarf_attr(&child, DW_AT_type, &attribute) ||
            !types_reference(&attribute, &argument) || !types_strip(&argument, &stripped))
            continue;
        const char *name = dwarf_diename(&stripped);
        if (name && strstr(name, "llocator<") &&
            (types_declared_value(index, &stripped, &value) ||
             types_first_argument(index, &stripped, &value)) &&
            types_from(index, &value, type))
            return true;
    } while (types_index_sibling(index, &child));
    return false;
}

/* Finds what a class template keeps: its value_type, else what its allocator allocates, else its
 * first argument. */
static bool kept_by_class(struct types_index *index, Dwarf_Die *class,
                          const struct types_type *storage, bool contained, uint64_t size,
                          struct types_type *element)
{
    Dwarf_Die value, stripped;
    /* A table may have pointers to its elements in its slots. */
    if (types_declared_type(index, class, "slot_type", &value) &&
        types_from(index, &value, element) && element->shape == TYPES_SCALAR)
        return true;
    if (types_declared_value(index, class, &value) && types_from(index, &value, element) &&
        is_element(index, element, storage, contained, size))
        return true;
    if (allocated_by_argument(index, class, element) &&
        is_element(index, element, storage, contained, size))
        return true;
    if (!types_first_argument(index, class, &value) || !types_from(index, &value, element))
        return false;
    if (is_element(index, element, storage, contained, size))
        return true;
    /* A class of parameters may have them: absl::btree's map_params<K, V, …>. */
    return types_strip(&value, &stripped) &&
           ((types_declared_value(index, &stripped, &value) &&
             types_from(index, &value, element)) ||
            allocated_by_argument(index, &stripped, element)) &&
           is_element(index, element, storage, contained, size);
}

const struct types_site *types_outer_frames_element(const struct types_site *site,
                                                    types_outer_frames_open *open, void *context,
                                                    const struct types_type *storage, uint64_t size,
                                                    struct types_type *element, bool *far)
{
    const struct types_site *at = site;
    bool contained = false;
    size_t classes = 0;
    for (size_t frame = 0; at && frame < FRAMES_MAX; at = open(context, ++frame)) {
        *far = frame > 0;
        for (size_t level = 0; level < at->entry_count; level++) {
            const struct types_unit *unit;
            Dwarf_Die function, class;
            const struct types_entry *entry = types_frame_function(at, level, &unit, &function);
            if (!entry || !entry->name)
                return NULL;
            const struct types_entry *scope =
                entry->parent == TYPES_NO_PARENT ? NULL : &unit->entries[entry->parent];
            if (types_is_standard(at, level)) {
                const bool member = scope && types_is_class(scope);
                contained = contained || (member ? !is_between(unit, entry)
                                                 : strncmp(entry->name, "make_", 5) == 0);
                /* The bytes of a string, or of a vector of bytes, are what they are. */
                if (contained && storage->size <= 1)
                    return NULL;
                continue;
            }
            /* A function template lies between. */
            if ((!scope || !types_is_class(scope)) && entry->name && strchr(entry->name, '<'))
                continue;
            if (!scope || !types_is_class(scope) || !scope->name || !strchr(scope->name, '<') ||
                ++classes > CLASSES_MAX)
                return NULL;
            if (types_index_die(unit, scope, &class) &&
                kept_by_class(at->index, &class, storage, contained, size, element))
                return at;
        }
        if (at->entry_count == 0)
            return NULL;
    }
    return NULL;
}

/* ---- functions known by their symbols ---------------------------------------------------------
 */

/* More names than a function has around it. */
#define PARTS_MAX 16

struct types_symbol_walk {
    struct types_container container;
    enum types_container_part part;
    char *allocator;
    bool copies; /* the innermost function copies an element */
};

/* The names of a function and of what is around it: "std", "vector<int, std::allocator<int> >",
 * "push_back". */
struct parts {
    char *text;
    const char *names[PARTS_MAX];
    size_t count;
};

/* Returns the end of a function's qualified name, where its parameters begin. */
static const char *end_of_name(const char *function)
{
    int depth = 0;
    for (const char *at = function; *at != '\0'; at++) {
        depth += *at == '<' || *at == '{';
        depth -= *at == '>' || *at == '}';
        if (*at == '(' && strncmp(at, "(anonymous namespace)", 21) == 0)
            at += 20;
        else if (depth == 0 && *at == '(' && (at == function || at[-1] != 'r'))
            return at; /* but "operator()" */
    }
    return function + strlen(function);
}

/* Splits the name. The caller frees its text. Returns false without memory, or for an operator
 * whose name has brackets. */
static bool split(const char *function, struct parts *parts)
{
    const char *end = end_of_name(function), *start = function;
    int depth = 0;
    *parts = (struct parts){.count = 0};
    if (strstr(function, "operator<") || strstr(function, "operator>") ||
        strstr(function, "operator-"))
        return false;
    for (const char *at = function; at < end; at++) {
        depth += *at == '<' || *at == '(' || *at == '{';
        depth -= *at == '>' || *at == ')' || *at == '}';
        if (depth == 0 && *at == ' ')
            start = at + 1; /* after the type that a template returns */
    }
    parts->text = strndup(start, (size_t)(end - start));
    if (!parts->text)
        return false;
    char *name = parts->text;
    depth = 0;
    for (char *at = parts->text; parts->count < PARTS_MAX; at++) {
        depth += *at == '<' || *at == '(' || *at == '{';
        depth -= *at == '>' || *at == ')' || *at == '}';
        if (*at != '\0' && (depth != 0 || at[0] != ':' || at[1] != ':'))
            continue;
        const bool last = *at == '\0';
        *at = '\0';
        parts->names[parts->count++] = name;
        if (last)
            return true;
        name = at + 2;
        at++;
    }
    return false;
}

/* Tells by a function's name which part of a hash table or deque it allocates. */
static enum types_container_part part_of_symbol(const char *function)
{
    static const char *const content[] = {"operator[]", "_M_allocate_node", "_M_push_back_aux",
                                          "_M_push_front_aux", "_M_create_nodes"};
    static const char *const table[] = {"_M_rehash", "_M_allocate_buckets", "_M_insert_unique_node",
                                        "_M_allocate_map", "_M_reallocate_map"};
    for (size_t i = 0; i < sizeof(content) / sizeof(*content); i++)
        if (types_is_template(function, content[i]))
            return TYPES_PART_CONTENT;
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
        if (strncmp(function, table[i], strlen(table[i])) == 0)
            return TYPES_PART_TABLE;
    return TYPES_PART_UNKNOWN;
}

/* Returns the elements of a map by its arguments. */
static char *pair_of_map(const char *class)
{
    char *key = types_spelling_argument(class, 0), *value = types_spelling_argument(class, 1);
    char *pair = NULL;
    if (key && value && asprintf(&pair, "std::pair<%s const, %s>", key, value) < 0)
        pair = NULL;
    FREE_ALL(key, value);
    return spelled(pair);
}

/* Reads the container of which the function is a member. */
static bool container_of_symbol(const struct parts *parts, struct types_container *container)
{
    memset(container, 0, sizeof(*container));
    const char *function = parts->names[parts->count - 1];
    for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++)
        if (types_is_template(function, makers[i].class) &&
            (container->element = types_spelling_argument(function, 0))) {
            container->kind = makers[i].kind;
            container->template = makers[i].template;
            container->class = strdup("");
            return container->class != NULL;
        }
    for (size_t k = parts->count - 1; k-- > 1;)
        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
            const bool base = types_is_template(parts->names[k], "_Map_base") &&
                              strcmp(rows[i].class, "_Hashtable") == 0;
            if (!base && !types_is_template(parts->names[k], rows[i].class))
                continue;
            container->kind = rows[i].kind;
            container->template = rows[i].template;
            container->element =
                rows[i].element >= 0
                    ? types_spelling_argument(parts->names[k], (unsigned)rows[i].element)
                    : pair_of_map(parts->names[k]);
            if (strcmp(rows[i].class, "_Bvector_base") == 0 ||
                (container->element && rows[i].kind == TYPES_CONTAINER_ELEMENTS &&
                 strcmp(container->element, "bool") == 0)) {
                free(container->element);
                container->element = strdup(BITS);
            }
            if (strcmp(rows[i].class, "_Hashtable") == 0)
                read_traits(parts->names[k], container);
            container->class = types_spelling(parts->names[k]);
            return container->element && container->class;
        }
    return false;
}

static void take_symbol_container(struct types_symbol_walk *walk, struct types_container *container)
{
    if (!container->cached_known && walk->container.cached_known) {
        container->cached = walk->container.cached;
        container->cached_known = true;
    }
    types_container_free(&walk->container);
    walk->container = *container;
}

/* Returns true if the text ends in the name of a type of numbers, or in that of a pointer. */
static bool ends_in_number(const char *text, size_t length)
{
    static const char *const numbers[] = {"bool",  "char",           "signed char", "unsigned char",
                                          "short", "unsigned short", "int",         "unsigned int",
                                          "long",  "unsigned long",  "float",       "double"};
    if (length > 0 && text[length - 1] == '*')
        return true;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        const size_t end = strlen(numbers[i]);
        if (length >= end && memcmp(text + length - end, numbers[i], end) == 0 &&
            (length == end || strchr("<( ,", text[length - end - 1])))
            return true;
    }
    return false;
}

/* Returns true if the function copies something else: "T const&". */
static bool copies_object(const char *function)
{
    for (const char *at = function; (at = strstr(at, " const&")); at++)
        if (!ends_in_number(function, (size_t)(at - function)))
            return true;
    return strstr(function, "_M_fill") != NULL;
}

bool types_symbol_block_read(struct types_symbol_block *block, const char *function)
{
    struct parts parts;
    struct types_container container;
    if (!strstr(function, "std::") && !strstr(function, "__gnu_cxx::"))
        return false;
    bool more =
        split(function, &parts) && parts.count > 1 && types_is_standard_space(parts.names[0]);
    if (more && !block->walk && (block->walk = calloc(1, sizeof(*block->walk))))
        block->walk->copies = copies_object(function);
    struct types_symbol_walk *walk = block->walk;
    more = more && walk;
    if (more) {
        if (walk->part == TYPES_PART_UNKNOWN)
            walk->part = part_of_symbol(parts.names[parts.count - 1]);
        char *allocated = walk->container.kind == TYPES_CONTAINER_NONE
                              ? types_allocator_of_symbol(parts.names, parts.count)
                              : NULL;
        if (allocated) {
            free(walk->allocator);
            walk->allocator = allocated;
        } else if (container_of_symbol(&parts, &container)) {
            more = !holds_inner(&container, &walk->container);
            if (more)
                take_symbol_container(walk, &container);
            else
                types_container_free(&container);
        } else {
            types_container_free(&container);
        }
    }
    free(parts.text);
    return more;
}

/* Returns true if making an element may allocate in the container's function too, where everything
 * is inlined: strings, containers, and what is copied. */
static bool may_be_inner(const struct types_symbol_walk *walk)
{
    static const char *const classes[] = {"std::string",   "std::basic_string", "std::vector",
                                          "std::map",      "std::multimap",     "std::set",
                                          "std::list",     "std::deque",        "std::unordered_",
                                          "std::function", "std::any",          "std::shared_ptr"};
    const char *element = walk->container.element;
    if (walk->allocator || !element)
        return false; /* its own function called the operator */
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
        if (strstr(element, classes[i]))
            return true;
    return walk->copies && !ends_in_number(element, strlen(element));
}

char *types_symbol_block_end(struct types_symbol_block *block)
{
    struct types_symbol_walk *walk = block->walk;
    bool sized, elements;
    char *name = NULL;
    if (!walk)
        return NULL;
    const struct types_container *container = &walk->container;
    /* Without debug information no sizes tell the two kinds of blocks apart. */
    const bool open =
        (container->kind == TYPES_CONTAINER_HASH || container->kind == TYPES_CONTAINER_DEQUE) &&
        (walk->part == TYPES_PART_UNKNOWN ||
         (container->kind == TYPES_CONTAINER_HASH && walk->part == TYPES_PART_CONTENT &&
          !container->cached_known));
    if (container->kind != TYPES_CONTAINER_NONE && !open && !may_be_inner(walk))
        name = types_container_block(container, walk->part, NULL, 0, &sized, &elements);
    else if (walk->allocator)
        name = strdup(walk->allocator);
    types_container_free(&walk->container);
    FREE_ALL(walk->allocator, walk);
    block->walk = NULL;
    return name;
}
