/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/owner.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/types/allocators.h"
#include "ingest/types/dwarf/entries.h"
#include "ingest/types/dwarf/locals.h"
#include "ingest/types/dwarf/registers.h"
#include "ingest/types/dwarf/site.h"
#include "ingest/types/flow/calls.h"
#include "ingest/types/flow/flow.h"
#include "ingest/types/outer_frames.h"
#include "ingest/types/rust.h"

/* The way from an object to the standard container inside it: CellBuffer, its member `substance` of
 * class SplitVector<char>, whose member `body` is a std::vector<char>. */

#define TYPES_MEMBER_PATH_MAX 16

/* One step: the class that declares the member, which may be a base class of the one before. */
struct types_member_step {
    struct types_type holder;
    const char *member; /* in libdw's memory */
};

struct types_member_path {
    struct types_member_step steps[TYPES_MEMBER_PATH_MAX]; /* outermost first */
    size_t count;
};

/* Returns true if the type is a class of the C++ standard library. */
static bool types_is_standard_class(struct types_index *index, const struct types_type *type)
{
    Dwarf_Die die = type->die, stripped;
    const char *outermost = NULL;
    if (type->shape != TYPES_RECORD || !types_strip(&die, &stripped))
        return false;
    const struct types_unit *unit = types_index_unit(index, &stripped);
    const struct types_entry *entry = !unit ? NULL : types_index_entry(unit, &stripped);
    for (uint32_t at = !entry ? TYPES_NO_PARENT : entry->parent; at != TYPES_NO_PARENT;
         at = unit->entries[at].parent)
        outermost = unit->entries[at].tag == DW_TAG_namespace ? unit->entries[at].name : NULL;
    return types_is_standard_space(outermost) ||
           (types_is_rust_type(&stripped) && types_is_rust_library(outermost));
}

/* Finds the member or base class that covers `*offset`, and makes it the offset inside. */
static bool covering(struct types_index *index, Dwarf_Die *record, uint64_t *offset,
                     Dwarf_Die *found, struct types_type *type)
{
    Dwarf_Die child;
    if (dwarf_tag(record) == DW_TAG_union_type || dwarf_child(record, &child) != 0)
        return false;
    do {
        Dwarf_Attribute attribute;
        Dwarf_Word start = 0;
        const int tag = dwarf_tag(&child);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
            dwarf_hasattr(&child, DW_AT_external) || dwarf_hasattr(&child, DW_AT_declaration) ||
            dwarf_hasattr(&child, DW_AT_data_bit_offset) || dwarf_hasattr(&child, DW_AT_bit_size))
            continue;
        if (dwarf_attr(&child, DW_AT_data_member_location, &attribute) &&
            dwarf_formudata(&attribute, &start) != 0)
            continue; /* a virtual base class: only the running program knows its place */
        if (start > *offset || !types_of(index, &child, type) || *offset - start >= type->size)
            continue;
        /* An empty base class shares the address of the first member. */
        if (tag == DW_TAG_inheritance && type->size == 1)
            continue;
        *offset -= start;
        *found = child;
        return true;
    } while (types_index_sibling(index, &child));
    return false;
}

/* Returns true if it is std::array. */
static bool is_array(Dwarf_Die *record)
{
    const char *name = dwarf_diename(record);
    return name && strncmp(name, "array<", 6) == 0;
}

/* Finds the members that cover `offset` in `object`, down to one of class `target` that begins
 * there. NULL: down to the first whose class belongs to the standard library, or if `any`, to one
 * that does not hold members of the program's own, or to a union; a record without a name then
 * counts as part of the one around it. An array, or std::array, counts as its elements. Without
 * steps the object itself is such. Returns false if there is none, or a union is on the way. */
static bool member_path(struct types_index *index, const struct types_type *object, uint64_t offset,
                        const struct types_type *target, bool any, struct types_member_path *path)
{
    struct types_type type = *object;
    bool named = false; /* `type` is that of the last step */
    path->count = 0;
    for (int i = 0; i < TYPES_MEMBER_PATH_MAX; i++) {
        Dwarf_Die stripped, member;
        struct types_type inner;
        if (!type.die.addr || !types_strip(&type.die, &stripped))
            return false;
        if (type.shape == TYPES_ARRAY && types_of(index, &stripped, &inner) && inner.size > 0) {
            offset %= inner.size;
            type = inner;
            continue;
        }
        if (type.shape != TYPES_RECORD)
            return any && path->count > 0;
        if (target && offset == 0 && types_same(index, &type, target))
            return true;
        const bool standard = types_is_standard_class(index, &type);
        const bool array = standard && is_array(&stripped) && path->count > 0;
        if (standard && !array)
            return any ? path->count > 0 : !target;
        if (any && named && dwarf_tag(&stripped) == DW_TAG_union_type)
            return true;
        if (!covering(index, &stripped, &offset, &member, &inner))
            return false;
        const bool nameless = array || (any && !dwarf_diename(&stripped) && path->count > 0);
        if (dwarf_tag(&member) == DW_TAG_member && !nameless) {
            const char *name = dwarf_diename(&member);
            if (name)
                path->steps[path->count++] = (struct types_member_step){type, name};
            else if (!any)
                return false;
        }
        named = dwarf_tag(&member) == DW_TAG_member && !nameless && dwarf_diename(&member);
        type = inner;
    }
    return false;
}

/* ---- owner --------------------------------------------------------------------------------- */

/* The classes and functions around a function, and objects around a container. */
#define SCOPES_MAX 32
#define HOLDERS_MAX 8

struct place {
    size_t frame;
    size_t level; /* as in the question: 0 is the frame's own function */
};

/* ---- classes ---------------------------------------------------------------------------- */

/* The compilers' names for the class of a lambda. */
static bool is_closure(const char *name)
{
    return !name || name[0] == '<' || name[0] == '{' || strncmp(name, "._anon", 6) == 0 ||
           strncmp(name, "__lambda", 8) == 0;
}

static bool class_die(struct types_index *index, const struct types_unit *unit,
                      const struct types_entry *entry, struct types_type *class)
{
    Dwarf_Die die, definition;
    if (!types_index_die(unit, entry, &die))
        return false;
    if (entry->declaration && types_index_definition(index, &die, &definition))
        die = definition;
    return types_from(index, &die, class);
}

/* Finds the class around the declared function `entry` of `unit`, outside lambdas. */
static bool class_around(struct types_index *index, const struct types_unit *unit,
                         const struct types_entry *entry, struct types_type *class)
{
    uint32_t at = entry->parent;
    for (int i = 0; i < SCOPES_MAX && at != TYPES_NO_PARENT; i++) {
        const struct types_entry *scope = &unit->entries[at];
        if (types_is_class(scope) && !is_closure(scope->name))
            return class_die(index, unit, scope, class);
        if (scope->tag == DW_TAG_namespace)
            return false;
        at = scope->parent;
        if (scope->tag != DW_TAG_subprogram)
            continue;
        Dwarf_Die function, declared;
        if (!types_index_die(unit, scope, &function))
            return false;
        types_declared_function(&function, &declared);
        unit = types_index_unit(index, &declared);
        const struct types_entry *found = !unit ? NULL : types_index_entry(unit, &declared);
        if (!found)
            return false;
        at = found->parent;
    }
    return false;
}

/* Returns the number of a function in the lists of the site, innermost first. False: not known. */
static bool list_index(const struct types_site *site, size_t level, size_t *index)
{
    if (!site || site->entry_count == 0 || site->entry_count != site->frame_count ||
        level >= site->entry_count)
        return false;
    *index = site->entry_count - 1 - level;
    return true;
}

static bool class_of(const struct types_site *site, size_t level, struct types_type *class)
{
    const struct types_unit *unit;
    Dwarf_Die function;
    size_t at;
    if (!list_index(site, level, &at))
        return false;
    const struct types_entry *entry = types_frame_function(site, at, &unit, &function);
    return entry && class_around(site->index, unit, entry, class);
}

/* ---- the address of an object ----------------------------------------------------------- */

/* An object that contains another one at an offset, or a variable. */
struct object {
    bool known;
    struct types_type type;
    uint64_t offset;
    bool inexact; /* through an index, or a function that left no frame: it may be another */
    const char *variable; /* linkage name, or name, of a global variable; NULL: not one */
};

/* The call whose object is looked for, and where the object goes. */
struct looking {
    const struct types_site *site;
    const Dwarf_Die *inlined; /* the inlined call; NULL: the machine's own call */
    uint8_t number;           /* the register of the argument, without `inlined` */
    struct object *object;
};

/* Returns true if the index selects an element of an array in the object, or an object among
 * others. Its number does not matter. */
static bool is_any_element(const struct types_site *site, const struct types_value *value)
{
    return value->kind == TYPES_VALUE_POINTER && value->offset >= 0 &&
           (value->scale <= 1 || value->type.size % value->scale == 0 ||
            types_is_array_at(site->index, &value->type, (uint64_t)value->offset));
}

static void take_value(const struct looking *looking, const struct types_value *value)
{
    struct object *object = looking->object;
    const struct types_site *site = looking->site;
    if (object->known)
        return;
    object->inexact = value->indexed;
    if (value->indexed && value->kind != TYPES_VALUE_ADDRESS && !is_any_element(site, value))
        return;
    if (value->kind == TYPES_VALUE_POINTER && value->offset >= 0 &&
        (uint64_t)value->offset < value->type.size) {
        object->known = true;
        object->type = value->type;
        object->offset = (uint64_t)value->offset;
    } else if (value->kind == TYPES_VALUE_ADDRESS) {
        Dwarf_Die variable;
        Dwarf_Attribute attribute;
        if (!site->globals ||
            !types_globals_find(site->globals, site->index, (uint64_t)value->offset, &variable,
                                &object->offset))
            return;
        object->known = types_of(site->index, &variable, &object->type) &&
                        (!value->indexed || object->type.shape == TYPES_ARRAY ||
                         types_is_array_at(site->index, &object->type, object->offset));
        if (!object->known)
            return;
        if (dwarf_attr_integrate(&variable, DW_AT_linkage_name, &attribute))
            object->variable = dwarf_formstring(&attribute);
        if (!object->variable)
            object->variable = dwarf_diename(&variable);
    }
}

/* Finds the parameter `this` of an inlined call, `self` in Rust. */
static bool find_this(const struct looking *looking, Dwarf_Die *parameter)
{
    Dwarf_Die call = *looking->inlined;
    if (dwarf_child(&call, parameter) != 0)
        return false;
    do {
        const char *name =
            dwarf_tag(parameter) == DW_TAG_formal_parameter ? dwarf_diename(parameter) : NULL;
        if (name && (strcmp(name, "this") == 0 || strcmp(name, "self") == 0))
            return true;
    } while (types_index_sibling(looking->site->index, parameter));
    return false;
}

/* Takes the inlined call's `this`, as the debug information computes it. */
static void take_inlined(const struct looking *looking, const struct types_flow_state *state,
                         const struct types_place_types *places)
{
    Dwarf_Die parameter;
    Dwarf_Attribute location;
    if (!find_this(looking, &parameter) || !dwarf_attr(&parameter, DW_AT_location, &location))
        return;
    const struct types_value value =
        types_flow_state_variable(state, places, looking->site->return_address - 1, &location);
    take_value(looking, &value);
}

static void look(void *context, const struct types_flow_state *state,
                 const struct types_place_types *places)
{
    const struct looking *looking = context;
    if (looking->inlined) {
        take_inlined(looking, state, places);
        return;
    }
    const struct types_value value = types_flow_state_register(
        state, places, looking->site->return_address - 1, looking->number);
    take_value(looking, &value);
}

/* Returns true if the first parameter of the function is Rust's `self`. */
static bool begins_with_self(const struct types_site *site, size_t at)
{
    Dwarf_Die function = site->entries[at], child;
    if (dwarf_child(&function, &child) != 0)
        return false;
    while (dwarf_tag(&child) != DW_TAG_formal_parameter)
        if (!types_index_sibling(site->index, &child))
            return false;
    const char *name = dwarf_diename(&child);
    return name && strcmp(name, "self") == 0;
}

/* Returns true if the function is a member function with an object, and which register has the
 * object's address: a result in memory takes the first. */
static bool takes_object(const struct types_site *site, size_t at, uint8_t *number)
{
    const struct types_unit *unit;
    Dwarf_Die function, child;
    struct types_type result;
    const struct types_entry *entry = types_frame_function(site, at, &unit, &function);
    if (!entry || dwarf_child(&function, &child) != 0)
        return false;
    while (dwarf_tag(&child) != DW_TAG_formal_parameter)
        if (!types_index_sibling(site->index, &child))
            return false;
    if (!dwarf_hasattr_integrate(&child, DW_AT_artificial) && !begins_with_self(site, at))
        return false;
    *number = REGISTER_RDI;
    if (types_of(site->index, &function, &result) &&
        (result.shape == TYPES_RECORD || result.shape == TYPES_ARRAY)) {
        if (result.size == 0)
            return false;
        /* A class that is not trivial is returned in memory at any size: this is not known here. */
        if (result.size > 16 || strstr(entry->name ? entry->name : "", "substr"))
            *number = REGISTER_RSI;
    }
    return true;
}

/* Returns true if it is a member function of std::string in a library without debug information,
 * except those whose first argument is not the string. */
static bool is_string_function(const struct types_site *site)
{
    if (site->entry_count != 0 || site->frame_count == 0)
        return false;
    const char *function = site->frames[site->frame_count - 1].function;
    return types_string_of_function(function) && !strstr(function, "::substr") &&
           !strstr(function, "::_S_");
}

/* Returns true if the machine's call at `site` goes to the function that `called` runs. A function
 * between them that ends in a jump leaves no frame, and has other arguments. */
static bool calls_directly(const struct types_site *site, const struct types_site *called)
{
    struct types_call call;
    const struct symbols_frame *function = &called->frames[called->frame_count - 1];
    types_called(site, &call);
    const char *name = function->linkage_name ? function->linkage_name : function->function;
    const size_t length = strcspn(name, "@"); /* a symbol's version */
    if (call.linkage && strncmp(call.linkage, name, length) == 0 &&
        (call.linkage[length] == '\0' || call.linkage[length] == '@'))
        return true;
    if (!call.described || called->entry_count == 0)
        return false;
    Dwarf_Die inner = called->entries[called->entry_count - 1];
    return call.function.addr == inner.addr;
}

/* Returns true if the machine's call at `site` goes to another member function of the class whose
 * function `called` runs. It then ended in a jump to that, most often for the same object. */
static bool calls_sibling(const struct types_site *site, const struct types_site *called)
{
    struct types_call call;
    Dwarf_Die inner, first, second;
    types_called(site, &call);
    if (is_string_function(called))
        return call.linkage &&
               types_string_of_function(symbols_demangle(site->symbols, call.linkage));
    if (!call.described || called->entry_count == 0 || site->index != called->index)
        return false;
    inner = called->entries[called->entry_count - 1];
    types_declared_function(&call.function, &first);
    types_declared_function(&inner, &second);
    const struct types_unit *unit = types_index_unit(site->index, &first);
    const struct types_unit *other = types_index_unit(site->index, &second);
    const struct types_entry *one = !unit ? NULL : types_index_entry(unit, &first);
    const struct types_entry *two = !other ? NULL : types_index_entry(other, &second);
    return one && two && one->parent != TYPES_NO_PARENT && two->parent != TYPES_NO_PARENT &&
           types_is_class(&unit->entries[one->parent]) &&
           types_is_class(&other->entries[two->parent]) && unit == other &&
           one->parent == two->parent;
}

/* ---- the walk --------------------------------------------------------------------------- */

static const struct types_site *open_at(const struct types_owner_question *question, size_t frame)
{
    return frame < question->count ? question->open(question->context, frame) : NULL;
}

/* Finds the function that `place` called. Returns false if it is the innermost. */
static bool inner_of(const struct types_owner_question *question, const struct place *place,
                     struct place *inner)
{
    const struct types_site *site = open_at(question, place->frame);
    size_t at;
    if (!list_index(site, place->level, &at))
        return false;
    if (at > 0) {
        *inner = (struct place){place->frame, place->level + 1};
        return true;
    }
    if (place->frame == 0)
        return false;
    *inner = (struct place){place->frame - 1, 0};
    return true;
}

/* Finds the function that called `place`. */
static bool outer_of(const struct types_owner_question *question, const struct place *place,
                     struct place *outer)
{
    if (place->level > 0) {
        *outer = (struct place){place->frame, place->level - 1};
        return true;
    }
    const struct types_site *site = open_at(question, place->frame + 1);
    if (!site || site->entry_count == 0)
        return false;
    *outer = (struct place){place->frame + 1, site->entry_count - 1};
    return true;
}

/* Finds the object that contains the one whose member function `place` called. */
static void find_object(const struct types_owner_question *question, const struct place *place,
                        const struct place *inner, struct object *object)
{
    struct looking looking = {.object = object};
    size_t at;
    bool sibling = false;
    *object = (struct object){.known = false};
    Dwarf_Die entry = {.addr = NULL};
    const struct types_site *called = open_at(question, inner->frame);
    if (list_index(called, inner->level, &at)) {
        if (!takes_object(called, at, &looking.number))
            return;
        entry = called->entries[at];
    } else if (called && is_string_function(called)) {
        looking.number = REGISTER_RDI;
    } else {
        return;
    }
    looking.site = open_at(question, place->frame);
    if (inner->frame == place->frame)
        looking.inlined = &entry;
    else if (!looking.site || (!calls_directly(looking.site, called) &&
                               !(sibling = calls_sibling(looking.site, called))))
        return;
    if (looking.site)
        types_flow_before_call(looking.site, look, &looking);
    object->inexact = object->inexact || sibling;
}

struct owner {
    struct types_index *index; /* of the holder */
    struct types_type holder;
    const char *member;   /* NULL: the class alone */
    const char *variable; /* NULL: not a variable */
    bool inexact;         /* as that of its object */
};

static bool is_template(const struct types_type *class)
{
    Dwarf_Die die = class->die;
    const char *name = !die.addr ? NULL : dwarf_diename(&die);
    return name && strchr(name, '<');
}

/* Returns true if the record has no name, not even that of a typedef. */
static bool is_nameless(const struct types_type *record)
{
    Dwarf_Die die = record->die;
    return die.addr && !dwarf_diename(&die);
}

/* Takes the innermost holder that is not a template, or the outermost one. If that has no name, but
 * is a variable, the variable tells more. */
static void take_path(struct types_index *index, const struct types_member_path *path,
                      const struct object *object, struct owner *owner)
{
    size_t i = path->count - 1;
    while (i > 0 && is_template(&path->steps[i].holder))
        i--;
    *owner = (struct owner){.index = index, .inexact = object->inexact};
    if (object->variable && is_nameless(&path->steps[i].holder)) {
        owner->variable = object->variable;
    } else {
        owner->holder = path->steps[i].holder;
        owner->member = path->steps[i].member;
    }
}

/* The object at an address, as far as the address tells. */
enum holding {
    HOLDING_UNKNOWN,
    HOLDING_SELF, /* the address is that of an object of the target's class, and no more is known */
    HOLDING_FOUND
};

/* Finds the holder of the object of class `target` (NULL: of the standard library) at the address.
 */
static enum holding take_object(struct types_index *index, const struct object *object,
                                const struct types_type *target, struct owner *owner)
{
    struct types_member_path path;
    if (!object->known || !member_path(index, &object->type, object->offset, target, false, &path))
        return HOLDING_UNKNOWN;
    if (path.count > 0) {
        take_path(index, &path, object, owner);
        return HOLDING_FOUND;
    }
    if (!object->variable)
        return HOLDING_SELF;
    *owner =
        (struct owner){.index = index, .variable = object->variable, .inexact = object->inexact};
    return HOLDING_FOUND;
}

/* Goes outward from `place`, a member function of the template `class`, to what holds its object.
 * Returns false if it went through another function of the class, which may have had another object
 * of that class. */
static bool find_holder(const struct types_owner_question *question, struct place place,
                        struct types_type class, struct owner *owner)
{
    bool direct = true;
    for (int i = 0; i < HOLDERS_MAX; i++) {
        struct place outer;
        struct object object;
        struct types_type around;
        if (!outer_of(question, &place, &outer))
            break;
        find_object(question, &outer, &place, &object);
        const struct types_site *site = open_at(question, outer.frame);
        if (!site || !site->index)
            break;
        const enum holding holding = take_object(site->index, &object, &class, owner);
        const bool inside = class_of(site, outer.level, &around);
        if (holding == HOLDING_FOUND) {
            if (owner->variable || !is_template(&owner->holder) || !inside ||
                !types_same(site->index, &around, &owner->holder))
                break;
            class = around; /* a template holds the template's object */
        } else if (holding == HOLDING_SELF && inside && types_same(site->index, &around, &class)) {
            direct = false;
        } else {
            break;
        }
        place = outer;
    }
    return direct;
}

static char *join(char *class, const char *member)
{
    if (!class || !member)
        return class;
    char *joined = malloc(strlen(class) + strlen(member) + 3);
    if (joined)
        stpcpy(stpcpy(stpcpy(joined, class), "::"), member);
    free(class);
    return joined;
}

/* Returns the owner's name in its one spelling. */
static char *name_of(struct symbols *symbols, const struct owner *owner)
{
    if (owner->variable) {
        /* Without "[abi:cxx11]", which is part of the symbol alone. */
        const char *name = symbols_demangle(symbols, owner->variable), *tag = strstr(name, "[abi:");
        return tag ? strndup(name, (size_t)(tag - name)) : strdup(name);
    }
    return join(types_tag_name(owner->index, &owner->holder), owner->member);
}

/* Returns true if the function belongs to the standard library. */
static bool is_library(const struct types_site *site, size_t level)
{
    size_t at;
    return list_index(site, level, &at)
               ? types_is_standard(site, at) || types_is_rust_allocator_at(site, at)
               : site && is_string_function(site);
}

/* Finds the holder of the container that `place` called, if it called one. Returns false if it
 * called one whose holder is not known. */
static bool find_container(const struct types_owner_question *question, const struct place *place,
                           struct owner *owner)
{
    struct place inner;
    struct object object;
    if (!inner_of(question, place, &inner) ||
        !is_library(open_at(question, inner.frame), inner.level))
        return true;
    find_object(question, place, &inner, &object);
    const struct types_site *site = open_at(question, place->frame);
    if (site && take_object(site->index, &object, NULL, owner) == HOLDING_FOUND)
        return true;
    /* Functions between were inlined. The machine's call may be of the container, too. */
    if (inner.frame != place->frame || inner.frame == 0 ||
        !is_library(open_at(question, inner.frame - 1), 0))
        return false;
    find_object(question, place, &(struct place){inner.frame - 1, 0}, &object);
    site = open_at(question, place->frame);
    return site && take_object(site->index, &object, NULL, owner) == HOLDING_FOUND;
}

/* ---- the store of the block ---------------------------------------------------------------- */

/* The functions outside the user's that are asked, if each returns the block to the next. */
#define CALLERS_MAX 2

/* Finds the owner by the place that a piece of evidence names. */
static bool take_place(const struct types_site *site, const struct types_evidence *evidence,
                       struct owner *owner)
{
    struct object object = {.known = false};
    struct types_member_path path;
    struct types_value to = {.kind = evidence->stored,
                             .type = evidence->holder,
                             .offset = evidence->stored_into,
                             .indexed = evidence->stored_indexed};
    if (to.kind == TYPES_VALUE_POINTER && to.type.size > 0) {
        const int64_t size = (int64_t)to.type.size; /* another element of an array */
        to.offset = ((to.offset % size) + size) % size;
    }
    take_value(&(struct looking){.site = site, .object = &object}, &to);
    if (!object.known)
        return false;
    if (member_path(site->index, &object.type, object.offset, NULL, true, &path)) {
        take_path(site->index, &path, &object, owner);
        return true;
    }
    if (!object.variable ||
        (object.type.shape == TYPES_RECORD && !types_is_standard_class(site->index, &object.type)))
        return false;
    *owner = (struct owner){.index = site->index, .variable = object.variable};
    return true;
}

/* Returns true if the frames inside `frame` return the block unchanged, so `frame` gets it. */
static bool gets_block(const struct types_owner_question *question, size_t frame)
{
    if (!question->whole)
        return false;
    for (size_t i = 0; i < frame; i++) {
        const struct types_site *site = open_at(question, i);
        if (!site || site->frame_count == 0)
            return false;
        const char *function = site->frames[site->frame_count - 1].function;
        if (types_is_operator_new(function) || types_is_text_function(function))
            continue;
        const struct types_flow *flow = question->flow(question->context, i);
        if (!flow || !flow->returned || flow->returned_offset != 0)
            return false;
    }
    return true;
}

/* Returns true if the place is for a pointer to a pointer, such as the end of a list, and another
 * one tells that the block is a record. It then points to the record's first member. */
static bool is_inside(const struct types_site *site, const struct types_flow *flow,
                      const struct types_evidence *place)
{
    struct types_type pointee;
    if (!types_pointee(site->index, &place->type, &pointee))
        return false;
    for (size_t i = 0; i < flow->count; i++)
        if (flow->evidence[i].kind == TYPES_EVIDENCE_PLACE && flow->evidence[i].offset == 0 &&
            flow->evidence[i].type.shape == TYPES_RECORD)
            return true;
    return false;
}

/* Finds the owner by the place into which the user's function stores the block, or a caller to
 * which it returns it. `*only` is true if it is the only such place. Returns false if there is
 * none; *farther: callers that are not part of the question may have one. */
static bool find_store(const struct types_owner_question *question, size_t user,
                       struct owner *owner, bool *only, bool *farther)
{
    for (size_t frame = user; frame <= user + CALLERS_MAX; frame++) {
        if (frame >= question->count) {
            *farther = true;
            return false;
        }
        if (frame == user && !gets_block(question, frame))
            return false;
        const struct types_flow *flow = question->flow(question->context, frame);
        const struct types_site *site = open_at(question, frame);
        size_t places = 0;
        if (!flow || !site || !site->index)
            return false;
        for (size_t i = 0; i < flow->count; i++) {
            const struct types_evidence *evidence = &flow->evidence[i];
            struct owner found;
            if (evidence->stored == TYPES_VALUE_UNKNOWN || evidence->offset != 0 ||
                evidence->indexed || is_inside(site, flow, evidence) ||
                !take_place(site, evidence, &found))
                continue;
            if (places++ == 0)
                *owner = found;
            *only = places == 1 && !evidence->stored_twice && frame == user;
        }
        if (places > 0)
            return true;
        if (!flow->returned || flow->returned_offset != 0)
            return false;
    }
    return false;
}

/* Returns true if the function returns an object of the standard library, in memory to which its
 * first argument points. */
static bool returns_object(const struct types_site *site, size_t at)
{
    const struct types_unit *unit;
    Dwarf_Die function;
    struct types_type result;
    return types_frame_function(site, at, &unit, &function) &&
           types_of(site->index, &function, &result) &&
           types_is_standard_class(site->index, &result);
}

/* Finds the owner of a block that an object on the stack holds after `place` called a function of
 * the standard library: that into which it is then moved. Returns false if unknown. */
static bool find_moved(const struct types_owner_question *question, const struct place *place,
                       struct owner *owner)
{
    struct place inner;
    size_t at;
    if (!inner_of(question, place, &inner) || inner.frame == place->frame)
        return false;
    const struct types_site *called = open_at(question, inner.frame);
    uint8_t number = REGISTER_RDI;
    bool returned = false;
    if (!called || !is_library(called, inner.level))
        return false;
    if (list_index(called, inner.level, &at)) {
        returned = returns_object(called, at);
        if (!returned && !takes_object(called, at, &number))
            return false;
    }
    const struct types_flow *flow =
        question->object_flow(question->context, place->frame, number, returned);
    const struct types_site *site = open_at(question, place->frame);
    for (size_t i = 0; flow && site && site->index && i < flow->count; i++)
        if (flow->evidence[i].kind == TYPES_EVIDENCE_HANDED &&
            take_place(site, &flow->evidence[i], owner))
            return true;
    return false;
}

char *types_owner_find(const struct types_owner_question *question,
                       enum types_confidence *confidence, bool *farther)
{
    const struct place place = {question->user, question->level};
    const struct types_site *site = open_at(question, place.frame);
    struct types_type class = {.shape = TYPES_UNUSABLE};
    *farther = false;
    if (!site || !site->index)
        return NULL;
    struct types_index *const index = site->index;
    struct owner owner = {.index = index};
    struct symbols *symbols = site->symbols;
    const bool has_class = class_of(site, place.level, &class);
    const bool doubted = types_is_rust(site) ? !types_is_rust_certain(site)
                                             : types_outer_frames_constructs_doubted(site, &class);
    owner.holder = class;
    bool known = find_container(question, &place, &owner);
    bool stored = false, beyond = false;
    if (!owner.member && !owner.variable) {
        stored = find_store(question, place.frame, &owner, &known, &beyond);
        if (!stored && find_moved(question, &place, &owner)) {
            stored = true;
            known = false;
        }
        *farther = beyond;
    }
    if (!has_class && !owner.member && !owner.variable)
        return NULL;
    bool direct = true;
    if (stored && !(has_class && owner.member && is_template(&class) &&
                    types_same(index, &owner.holder, &class))) {
        *confidence = known && !doubted && !owner.inexact ? TYPES_EXACT : TYPES_INFERRED;
        return name_of(symbols, &owner);
    }
    const bool held = has_class && is_template(&class) && !owner.variable &&
                      (!owner.member || is_template(&owner.holder));
    *farther = held || beyond;
    if (held)
        direct = find_holder(question, place, class, &owner);
    /* The member of a container of the program's own says no more than its class. */
    if (has_class && owner.member && is_template(&class) && !owner.variable &&
        types_same(index, &owner.holder, &class))
        owner.member = NULL;
    *confidence = known && direct && !doubted && !owner.inexact ? TYPES_EXACT : TYPES_INFERRED;
    return name_of(symbols, &owner);
}
