/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/owner.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/types/allocators.h"
#include "ingest/types/dwarf/entries.h"
#include "ingest/types/dwarf/globals.h"
#include "ingest/types/dwarf/member_path.h"
#include "ingest/types/dwarf/registers.h"
#include "ingest/types/dwarf/site.h"
#include "ingest/types/flow/calls.h"
#include "ingest/types/flow/flow.h"
#include "ingest/types/library.h"
#include "ingest/types/outer_frames.h"

/* The classes and functions around a function, and objects around a container. */
#define SCOPES_MAX 32
#define HOLDERS_MAX 8

/* A function on the stack. */
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
    const char *variable; /* linkage name, or name, of a global variable; NULL: not one */
};

/* The call whose object is looked for, and where the object goes. */
struct looking {
    const struct types_site *site;
    const Dwarf_Die *inlined; /* the inlined call; NULL: the machine's own call */
    uint8_t number;           /* the register of the argument, without `inlined` */
    struct object *object;
};

static void take_value(const struct looking *looking, const struct types_value *value)
{
    struct object *object = looking->object;
    const struct types_site *site = looking->site;
    if (value->indexed || object->known)
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
        object->known = types_of(site->index, &variable, &object->type);
        if (dwarf_attr_integrate(&variable, DW_AT_linkage_name, &attribute))
            object->variable = dwarf_formstring(&attribute);
        if (!object->variable)
            object->variable = dwarf_diename(&variable);
    }
}

/* Finds the type to which the first parameter of the frame's own function points. It is in rdi when
 * the function begins. */
static bool first_pointee(const struct types_site *site, struct types_type *pointee)
{
    Dwarf_Die function = site->entries[site->entry_count - 1], child;
    struct types_type pointer;
    if (dwarf_child(&function, &child) != 0)
        return false;
    while (dwarf_tag(&child) != DW_TAG_formal_parameter)
        if (!types_index_sibling(site->index, &child))
            return false;
    return types_of(site->index, &child, &pointer) && types_pointee(site->index, &pointer, pointee);
}

/*
 * Takes the value of a parameter that the debug information derives from rdi as it was when the
 * function began: DW_OP_entry_value, DWARF 5, 2.5.1.7.
 */
static void take_entry_value(const struct looking *looking, Dwarf_Die *parameter)
{
    const struct types_site *site = looking->site;
    struct types_value value = {.kind = TYPES_VALUE_POINTER};
    Dwarf_Attribute location, inner;
    Dwarf_Op *operations, *entry;
    size_t count, entry_count;
    if (!dwarf_attr(parameter, DW_AT_location, &location) ||
        dwarf_getlocation_addr(&location, site->return_address - 1 - site->file->bias, &operations,
                               &count, 1) != 1 ||
        count < 2 || count > 3 || operations[count - 1].atom != DW_OP_stack_value ||
        (operations[0].atom != DW_OP_entry_value && operations[0].atom != DW_OP_GNU_entry_value) ||
        (count == 3 && operations[1].atom != DW_OP_plus_uconst) ||
        dwarf_getlocation_attr(&location, &operations[0], &inner) != 0 ||
        dwarf_getlocation(&inner, &entry, &entry_count) != 0 || entry_count != 1 ||
        entry[0].atom != DW_OP_reg5 || !first_pointee(site, &value.type))
        return;
    value.offset = count == 3 ? (int64_t)operations[1].number : 0;
    take_value(looking, &value);
}

/* Finds the parameter `this` of an inlined call. */
static bool find_this(const struct looking *looking, Dwarf_Die *parameter)
{
    Dwarf_Die call = *looking->inlined;
    if (dwarf_child(&call, parameter) != 0)
        return false;
    do {
        const char *name =
            dwarf_tag(parameter) == DW_TAG_formal_parameter ? dwarf_diename(parameter) : NULL;
        if (name && strcmp(name, "this") == 0)
            return true;
    } while (types_index_sibling(looking->site->index, parameter));
    return false;
}

/* Takes the value of the inlined call's `this`, which the debug information derives from a
 * register. */
static void take_inlined(const struct looking *looking, const struct types_flow_state *state,
                         const struct types_place_types *places)
{
    const uint64_t pc = looking->site->return_address - 1;
    Dwarf_Die parameter;
    if (!find_this(looking, &parameter))
        return;
    for (size_t i = 0; i < places->locals.count; i++) {
        const struct types_local *local = &places->locals.locals[i];
        if (local->on_stack || local->piece_size != 0 || pc < local->start || pc >= local->end ||
            local->variable.addr != parameter.addr)
            continue;
        struct types_value value = types_flow_state_register(state, places, pc, local->base);
        value.offset = types_offset_sum(value.offset, local->offset);
        take_value(looking, &value);
    }
    take_entry_value(looking, &parameter);
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
    if (!dwarf_hasattr_integrate(&child, DW_AT_artificial))
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

/*
 * Returns true if the machine's call at `site` goes to the function that `called` runs. A function
 * between them that ends in a jump leaves no frame, and has other arguments.
 */
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
    else if (!looking.site || !calls_directly(looking.site, called))
        return;
    if (looking.site)
        types_flow_before_call(looking.site, look, &looking);
}

struct owner {
    struct types_index *index; /* of the holder */
    struct types_type holder;
    const char *member;   /* NULL: the class alone */
    const char *variable; /* NULL: not a variable */
};

static bool is_template(const struct types_type *class)
{
    Dwarf_Die die = class->die;
    const char *name = !die.addr ? NULL : dwarf_diename(&die);
    return name && strchr(name, '<');
}

/* Takes the innermost holder that is not a template, or the outermost one. */
static void take_path(struct types_index *index, const struct types_member_path *path,
                      struct owner *owner)
{
    size_t i = path->count - 1;
    while (i > 0 && is_template(&path->steps[i].holder))
        i--;
    *owner = (struct owner){index, path->steps[i].holder, path->steps[i].member, NULL};
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
    if (!object->known || !types_member_path(index, &object->type, object->offset, target, &path))
        return HOLDING_UNKNOWN;
    if (path.count > 0) {
        take_path(index, &path, owner);
        return HOLDING_FOUND;
    }
    if (!object->variable)
        return HOLDING_SELF;
    *owner = (struct owner){.index = index, .variable = object->variable};
    return HOLDING_FOUND;
}

/*
 * Goes outward from `place`, a member function of the template `class`, to what holds its object.
 * Returns false if it went through another function of the class, which may have had another object
 * of that class.
 */
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
    if (owner->variable)
        return strdup(symbols_demangle(symbols, owner->variable));
    return join(types_tag_name(owner->index, &owner->holder), owner->member);
}

/* Returns true if the function belongs to the standard library. */
static bool is_library(const struct types_site *site, size_t level)
{
    size_t at;
    return list_index(site, level, &at) ? types_is_standard(site, at)
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
    /* The functions between were inlined. The machine's own call may go to another function of the
     * container. */
    if (inner.frame != place->frame || inner.frame == 0 ||
        !is_library(open_at(question, inner.frame - 1), 0))
        return false;
    find_object(question, place, &(struct place){inner.frame - 1, 0}, &object);
    site = open_at(question, place->frame);
    return site && take_object(site->index, &object, NULL, owner) == HOLDING_FOUND;
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
    const bool doubted = types_outer_frames_constructs_doubted(site, &class);
    owner.holder = class;
    const bool known = find_container(question, &place, &owner);
    if (!has_class && !owner.member && !owner.variable)
        return NULL;
    bool direct = true;
    *farther = has_class && is_template(&class) && !owner.variable &&
               (!owner.member || is_template(&owner.holder));
    if (*farther)
        direct = find_holder(question, place, class, &owner);
    /* The member of a container of the program's own says no more than its class. */
    if (has_class && owner.member && is_template(&class) && !owner.variable &&
        types_same(index, &owner.holder, &class))
        owner.member = NULL;
    *confidence = known && direct && !doubted ? TYPES_EXACT : TYPES_INFERRED;
    return name_of(symbols, &owner);
}
