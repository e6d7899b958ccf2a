/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/rust.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/types/flow/calls.h"
#include "ingest/types/flow/folded.h"
#include "schemas/code/function_name.h"

/* The limits for machine frames read, for a function's name without its arguments, and for blocks
 * in one another. */
enum { FRAMES_MAX = 24, PATH_MAX_BYTES = 256, NESTING_MAX = 64 };

bool types_is_rust_allocator(const struct types_site *site)
{
    return types_is_rust_allocator_at(site, site->frame_count - 1);
}

bool types_is_rust_allocator_at(const struct types_site *site, size_t frame)
{
    return rust_name_is_allocator(site->frames[frame].function, site->frames[frame].linkage_name);
}

bool types_is_rust_type(const Dwarf_Die *die)
{
    Dwarf_Die unit;
    return dwarf_cu_die(die->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) &&
           dwarf_srclang(&unit) == DW_LANG_Rust;
}

bool types_is_rust_library(const char *crate)
{
    static const char *const crates[] = {"alloc", "core", "std", "hashbrown"};
    for (size_t i = 0; crate && i < sizeof(crates) / sizeof(*crates); i++)
        if (strcmp(crate, crates[i]) == 0)
            return true;
    return false;
}

bool types_is_rust(const struct types_site *site)
{
    return rust_name_is(site->frames[site->frame_count - 1].linkage_name) ||
           types_is_rust_allocator(site);
}

/* The type of the bytes of a String. */
static const char string_buffer[] = "alloc::string::String buffer";

/* ---- functions of the library ----------------------------------------------------------- */

enum family {
    FAMILY_NONE,
    FAMILY_ELEMENTS, /* many T */
    FAMILY_OBJECT,   /* one T */
    FAMILY_COUNTED,  /* one T after two counts */
    FAMILY_TABLE,    /* hashbrown's */
};

/* The functions by the begin of their names, without arguments. */
static const struct library_function {
    const char *path;
    enum family family;
    bool slice;         /* the block holds [T] */
    const char *record; /* of FAMILY_COUNTED and FAMILY_TABLE: what holds T */
} library[] = {
    {"alloc::raw_vec::RawVec::", FAMILY_ELEMENTS, false, NULL},
    {"alloc::vec::Vec::", FAMILY_ELEMENTS, false, NULL},
    {"alloc::vec::from_elem", FAMILY_ELEMENTS, false, NULL},
    {"alloc::collections::vec_deque::VecDeque::", FAMILY_ELEMENTS, false, NULL},
    {"alloc::slice::merge_sort", FAMILY_ELEMENTS, false, NULL},
    {"alloc::boxed::Box::", FAMILY_OBJECT, false, NULL},
    {"alloc::rc::Rc::allocate_for_slice", FAMILY_COUNTED, true, "alloc::rc::RcInner"},
    {"alloc::rc::Rc::allocate_for_", FAMILY_COUNTED, false, "alloc::rc::RcInner"},
    {"alloc::rc::Rc::try_allocate_for_", FAMILY_COUNTED, false, "alloc::rc::RcInner"},
    {"alloc::sync::Arc::allocate_for_slice", FAMILY_COUNTED, true, "alloc::sync::ArcInner"},
    {"alloc::sync::Arc::allocate_for_", FAMILY_COUNTED, false, "alloc::sync::ArcInner"},
    {"alloc::sync::Arc::try_allocate_for_", FAMILY_COUNTED, false, "alloc::sync::ArcInner"},
    {"hashbrown::raw::RawTable::", FAMILY_TABLE, false, "hashbrown::raw::RawTable"},
    {"hashbrown::raw::inner::RawTable::", FAMILY_TABLE, false, "hashbrown::raw::RawTable"},
};

/* Returns the end of the brackets that open at `at`. */
static const char *skip_brackets(const char *at)
{
    int depth = 0;
    for (; *at != '\0'; at++)
        if (*at == '-' && at[1] == '>')
            at++;
        else if (*at == '<')
            depth++;
        else if (*at == '>' && --depth == 0)
            return at + 1;
    return at;
}

/* Writes "alloc::vec::Vec::push" for "<alloc::vec::Vec<T>>::push" and for
 * "<alloc::vec::Vec<T,A> as shop::Stack>::push". */
static void write_path(const char *name, char path[PATH_MAX_BYTES])
{
    size_t length = 0;
    const char *at = name, *after = NULL;
    if (*at == '<') {
        after = skip_brackets(at);
        at++;
    }
    while (*at != '\0' && length + 1 < PATH_MAX_BYTES) {
        if (after && (at >= after - 1 || strncmp(at, " as ", 4) == 0)) {
            at = after;
            after = NULL;
        } else if (*at == '<') {
            at = skip_brackets(at);
            /* "Box::<T>::new" has one separator more than "Box<T>::new". */
            if (length >= 2 && path[length - 1] == ':' && strncmp(at, "::", 2) == 0)
                length -= 2;
        } else {
            path[length++] = *at++;
        }
    }
    path[length] = '\0';
}

static const struct library_function *function_of(const char *name)
{
    char path[PATH_MAX_BYTES];
    write_path(name, path);
    for (size_t i = 0; i < sizeof(library) / sizeof(*library); i++)
        if (strncmp(path, library[i].path, strlen(library[i].path)) == 0)
            return &library[i];
    return NULL;
}

/* Returns true if the function works for a String, whose bytes are a Vec<u8>. */
static bool is_of_string(const char *name)
{
    static const char *const paths[] = {
        "alloc::string::String::", "alloc::string::", "alloc::str::", "alloc::fmt::format"};
    char path[PATH_MAX_BYTES];
    write_path(name, path);
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        if (strncmp(path, paths[i], strlen(paths[i])) == 0)
            return true;
    return strncmp(name, "<str as alloc::", 15) == 0 ||
           strstr(name, " as alloc::string::ToString>::");
}

static bool is_method_of_string(const char *name)
{
    static const char string[] = "alloc::string::String::";
    char path[PATH_MAX_BYTES];
    write_path(name, path);
    return strncmp(path, string, sizeof(string) - 1) == 0;
}

/* ---- T ---------------------------------------------------------------------------------- */

/* Returns the name without the arguments that every program leaves out. The caller frees it. */
static char *shortened(char *name)
{
    static const char *const defaults[] = {
        ", alloc::alloc::Global", ", std::collections::hash::map::RandomState",
        ", std::hash::random::RandomState", ", hashbrown::raw::alloc::inner::Global"};
    for (size_t i = 0; name && i < sizeof(defaults) / sizeof(*defaults); i++) {
        const size_t length = strlen(defaults[i]);
        for (char *at = name; (at = strstr(at, defaults[i]));)
            if (at[length] == '>' || at[length] == ',')
                memmove(at, at + length, strlen(at + length) + 1);
            else
                at += length;
    }
    return name;
}

/* Finds the elements of an array or slice. Returns false if it is neither. */
static bool elements_of(struct types_index *index, const struct types_type *array,
                        struct types_type *element)
{
    Dwarf_Die die = array->die;
    return array->shape == TYPES_ARRAY && types_of(index, &die, element);
}

/* Returns the name of a type as Rust writes it. The caller frees it. */
static char *name_of(struct types_index *index, const struct types_type *type, int depth)
{
    Dwarf_Die die = type->die;
    struct types_type element;
    if (depth < NESTING_MAX && elements_of(index, type, &element)) {
        char *inner = name_of(index, &element, depth + 1), *name = NULL;
        const bool counted = type->size > 0 && element.size > 0;
        if (inner &&
            (counted ? asprintf(&name, "[%s; %zu]", inner, (size_t)(type->size / element.size))
                     : asprintf(&name, "[%s]", inner)) < 0)
            name = NULL;
        free(inner);
        return name;
    }
    /* Box<T>, &T and *mut T are pointers with names of their own. */
    if (die.addr && dwarf_tag(&die) == DW_TAG_pointer_type && dwarf_diename(&die))
        return shortened(strdup(dwarf_diename(&die)));
    return shortened(types_name(index, type));
}

static bool argument_at(const struct types_site *site, size_t level, struct types_type *type)
{
    Dwarf_Die function, child, argument;
    Dwarf_Attribute attribute;
    if (level >= site->entry_count)
        return false;
    Dwarf_Die entry = site->entries[level];
    types_declared_function(&entry, &function);
    const Dwarf_Die places[] = {function, entry};
    for (size_t i = 0; i < 2; i++) {
        Dwarf_Die place = places[i];
        if (dwarf_child(&place, &child) != 0)
            continue;
        do {
            const char *name =
                dwarf_tag(&child) == DW_TAG_template_type_parameter ? dwarf_diename(&child) : NULL;
            if (name && strcmp(name, "T") == 0)
                return dwarf_attr(&child, DW_AT_type, &attribute) &&
                       types_reference(&attribute, &argument) &&
                       types_from(site->index, &argument, type);
        } while (types_index_sibling(site->index, &child));
    }
    return false;
}

/* Returns the first of the arguments between the brackets that open at `open`. The caller frees it.
 * NULL: the text is damaged. */
static char *argument_after(const char *open)
{
    int depth = 0;
    const char *at = ++open;
    for (; *at != '\0'; at++) {
        if (*at == '-' && at[1] == '>') {
            at++;
            continue;
        }
        if (depth == 0 && (*at == ',' || *at == '>'))
            break;
        depth +=
            (*at == '<' || *at == '(' || *at == '[') - (*at == '>' || *at == ')' || *at == ']');
    }
    return *at == '\0' ? NULL : shortened(strndup(open, (size_t)(at - open)));
}

/* Returns the ';' before the length of an array "[T; N]". NULL: it is a slice, or no array. */
static const char *length_in(const char *name)
{
    /* Lengths of other arrays in it come before. */
    const char *length = *name != '[' ? NULL : strrchr(name, ';');
    const size_t digits = !length ? 0 : strcspn(length, ")>]");
    return length && length[digits] == ']' && length[digits + 1] == '\0' ? length : NULL;
}

/* Makes "T" of "[T]" and "[T; N]". */
static bool take_elements(char *name)
{
    const size_t end = strlen(name);
    if (end < 2 || *name != '[' || name[end - 1] != ']')
        return false;
    const char *length = length_in(name);
    const size_t kept = (length ? (size_t)(length - name) : end - 1) - 1;
    memmove(name, name + 1, kept);
    name[kept] = '\0';
    return true;
}

/* Returns the size of a type of the language itself by its name, 0: it is another type. */
static uint64_t primitive_size(const char *name)
{
    static const struct {
        const char *name;
        uint64_t size;
    } primitives[] = {
        {"u8", 1},
        {"i8", 1},
        {"bool", 1},
        {"str", 1},
        {"u16", 2},
        {"i16", 2},
        {"u32", 4},
        {"i32", 4},
        {"f32", 4},
        {"char", 4},
        {"u64", 8},
        {"i64", 8},
        {"f64", 8},
        {"usize", sizeof(void *)},
        {"isize", sizeof(void *)},
    };
    for (size_t i = 0; i < sizeof(primitives) / sizeof(*primitives); i++)
        if (strcmp(name, primitives[i].name) == 0)
            return primitives[i].size;
    return 0;
}

/* Returns T of the frame's function if it is a slice, text or trait, which have no size. rustc then
 * describes the type of an element, and only the name of the function, "new<[T]>", tells. The
 * caller frees it. NULL: T has a size. */
static char *unsized_at(const struct types_site *site, size_t level)
{
    Dwarf_Die function, entry = site->entries[level];
    types_declared_function(&entry, &function);
    const char *name = dwarf_diename(&function), *open = !name ? NULL : strchr(name, '<');
    char *argument = !open ? NULL : argument_after(open);
    if (argument && (strcmp(argument, "str") == 0 || strncmp(argument, "dyn ", 4) == 0))
        return argument;
    if (argument && *argument == '[' && !length_in(argument))
        return argument;
    free(argument);
    return NULL;
}

/* Returns "X" for "<alloc::vec::Vec<X>>::push", a name of the v0 form. The caller frees it. NULL:
 * it does not tell. */
static char *argument_in_name(const struct symbols_frame *frame)
{
    const char *linkage = frame->linkage_name, *name = frame->function;
    if (!linkage || strncmp(linkage, "_R", 2) != 0 || *name != '<')
        return NULL;
    const char *open = strchr(name + 1, '<');
    const char *as = strstr(name, " as "), *end = skip_brackets(name);
    if (!open || open > end || (as && as < open))
        return NULL;
    return argument_after(open);
}

/* ---- functions that stand for others ---------------------------------------------------- */

static bool is_on_stack(Dwarf_Die *variable)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;
    return dwarf_attr(variable, DW_AT_location, &attribute) &&
           dwarf_whatform(&attribute) == DW_FORM_exprloc &&
           dwarf_getlocation(&attribute, &operations, &count) == 0 && count > 0 &&
           operations[0].atom == DW_OP_fbreg;
}

/* Returns true if the function has variables and keeps all of them on its stack all the time, as
 * only a compiler does that does not optimize. */
static bool is_unoptimized(const struct types_site *site)
{
    Dwarf_Die path[NESTING_MAX];
    size_t variables = 0;
    if (site->entry_count == 0)
        return false;
    Dwarf_Die function = site->entries[site->entry_count - 1];
    if (dwarf_child(&function, &path[0]) != 0)
        return false;
    for (size_t depth = 1; depth > 0;) {
        Dwarf_Die *die = &path[depth - 1];
        const int tag = dwarf_tag(die);
        if (tag == DW_TAG_formal_parameter || tag == DW_TAG_variable) {
            if (!is_on_stack(die))
                return false;
            variables++;
        }
        if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
            depth < NESTING_MAX && dwarf_child(die, &path[depth]) == 0) {
            depth++;
            continue;
        }
        while (depth > 0 && !types_index_sibling(site->index, &path[depth - 1]))
            depth--;
    }
    return variables > 0;
}

bool types_is_rust_certain(const struct types_site *site)
{
    return !types_folded_at(site->folded, site->frames[site->frame_count - 1].start) &&
           is_unoptimized(site);
}

/* ---- the walk --------------------------------------------------------------------------- */

struct walk {
    struct types_rust *found;
    const struct library_function *function; /* that decided, or NULL */
    struct types_index *index;               /* of the frame that decided, or NULL */
    uint64_t block, object;                  /* bytes, and those of T; 0: unknown */
    bool string, string_certain;             /* a function of texts is among the functions */
    bool done;
    bool shared; /* the function that decided has other names, too */
    bool buffer; /* a method of String is among the functions: it has no other memory */
    bool beside; /* no other function came after those that decided */
};

/* Takes the T of the frame. A function further out that works on the same elements has its own code
 * more often than one that all such containers call: its T wins, but then no T is certain. */
static void take(struct walk *walk, const struct types_site *site, size_t level,
                 const struct library_function *function)
{
    struct types_rust *found = walk->found;
    struct types_type type, element;
    const bool typed = argument_at(site, level, &type);
    char *name = typed ? unsized_at(site, level) : NULL;
    bool many = name != NULL;
    /* An array or slice in a box is so many elements. */
    if (many && function->family == FAMILY_OBJECT) {
        free(name);
        name = NULL;
    }
    if (typed && function->family == FAMILY_OBJECT)
        for (int i = 0; i < NESTING_MAX && elements_of(site->index, &type, &element); i++) {
            type = element;
            many = true;
        }
    if (!name)
        name = typed ? name_of(site->index, &type, 0) : argument_in_name(&site->frames[level]);
    if (!name)
        return;
    const bool shared = types_folded_at(site->folded, site->frames[site->frame_count - 1].start);
    if (walk->function) {
        const bool same = name && found->name && strcmp(name, found->name) == 0;
        walk->shared = walk->shared && !(same && typed && !shared);
        if (same || !typed || shared || (found->defined && type.size != found->size) ||
            (found->defined && strstr(name, found->name))) {
            free(name);
            return;
        }
    }
    walk->shared = shared;
    const bool certain = !walk->function && typed && types_is_rust_certain(site);
    free(found->name);
    *found = (struct types_rust){.name = name, .far = found->far, .exact = certain};
    walk->function = function;
    walk->index = site->index;
    if (!typed) {
        struct types_type named;
        while (function->family == FAMILY_OBJECT && take_elements(name))
            many = true;
        many = many || strcmp(name, "str") == 0;
        found->size = primitive_size(name);
        if (found->size == 0 && site->index && types_named(site->index, name, &named))
            found->size = named.size;
        walk->object = many ? 0 : found->size;
        return;
    }
    walk->object = many ? 0 : type.size;
    found->size = type.size;
    found->type = type;
    found->defined = true;
    found->file = site->file;
    found->module = site->module;
}

/* Rc::new(T) and Arc::new(T) make a box for a record with T. If the box is for another one, LLVM
 * has merged its function, and T is right. */
static void check_counted(struct walk *walk, const struct types_site *site, size_t level)
{
    static const struct library_function counted[] = {
        {"alloc::rc::Rc::new", FAMILY_COUNTED, false, "alloc::rc::RcInner"},
        {"alloc::sync::Arc::new", FAMILY_COUNTED, false, "alloc::sync::ArcInner"},
    };
    struct types_type type;
    char path[PATH_MAX_BYTES];
    write_path(site->frames[level].function, path);
    for (size_t i = 0; i < sizeof(counted) / sizeof(*counted); i++) {
        if (strcmp(path, counted[i].path) != 0 || !argument_at(site, level, &type))
            continue;
        char *argument = name_of(site->index, &type, 0);
        if (argument && !strstr(walk->found->name, argument)) {
            free(walk->found->name);
            *walk->found = (struct types_rust){.name = argument, .far = walk->found->far};
            walk->function = &counted[i];
            return;
        }
        free(argument);
    }
}

static void walk_site(struct walk *walk, const struct types_site *site)
{
    const bool shared = types_folded_at(site->folded, site->frames[site->frame_count - 1].start);
    for (size_t level = 0; level < site->frame_count && !walk->done; level++) {
        const struct symbols_frame *frame = &site->frames[level];
        if (!rust_name_is_allocator(frame->function, frame->linkage_name)) {
            walk->done = true;
            return;
        }
        if (!shared) {
            if (!walk->string && is_of_string(frame->function)) {
                walk->string = true;
                walk->string_certain = types_is_rust_certain(site);
            }
            walk->buffer = walk->buffer || is_method_of_string(frame->function);
        }
        const struct library_function *function = function_of(frame->function);
        const bool first = !walk->function, next = walk->function && !walk->beside;
        if (function && (first || (next && walk->function->family == FAMILY_ELEMENTS &&
                                   function->family == FAMILY_ELEMENTS)))
            take(walk, site, level, function);
        else if (next && walk->function->family == FAMILY_OBJECT)
            check_counted(walk, site, level);
        if (walk->function && !function)
            walk->beside = true;
    }
}

/* Returns "RECORD<T>" or "RECORD<[T]>". The caller frees it. */
static char *composed(const struct walk *walk, const char *argument)
{
    static const char older[] = "RcBox"; /* the name of RcInner until Rust 1.83 */
    const struct library_function *function = walk->function;
    const char *record = function->record;
    char *name = NULL;
    size_t at = 0;
    Dwarf_Die die;
    if (walk->index && strcmp(record, "alloc::rc::RcInner") == 0 &&
        types_index_next(walk->index, older, sizeof(older) - 1, &at, &die))
        record = "alloc::rc::RcBox";
    return asprintf(&name, function->slice ? "%s<[%s]>" : "%s<%s>", record, argument) < 0 ? NULL
                                                                                          : name;
}

/* Makes the block's type from T, and forgets it if the block cannot have it. */
static void finish(struct walk *walk)
{
    struct types_rust *found = walk->found;
    const enum family family = walk->function->family;
    char *argument = found->name;
    if (family == FAMILY_ELEMENTS && walk->string && strcmp(argument, "u8") == 0) {
        free(argument);
        found->name = strdup(string_buffer);
        found->defined = false;
        found->exact = found->exact && walk->string_certain;
        return;
    }
    if (walk->shared) {
        free(argument);
        *found = (struct types_rust){.far = found->far};
        return;
    }
    if (family == FAMILY_COUNTED || family == FAMILY_TABLE) {
        found->name = composed(walk, argument);
        if (family == FAMILY_TABLE)
            found->element = argument;
        else
            free(argument);
        found->size = 0;
        found->defined = false;
        return;
    }
    const uint64_t size = found->size;
    bool fits = size == 0 ? !found->defined : walk->block % size == 0;
    if (family == FAMILY_OBJECT && walk->object > 0)
        fits = walk->block == walk->object;
    if (!fits) {
        free(argument);
        *found = (struct types_rust){.far = found->far};
    }
}

void types_rust_read(const struct types_site *site, types_rust_open *open, void *context,
                     uint64_t size, struct types_rust *found)
{
    struct walk walk = {.found = found, .block = size};
    const struct types_site *at = site;
    *found = (struct types_rust){.name = NULL};
    walk_site(&walk, site);
    for (size_t frame = 1; !walk.done && frame < FRAMES_MAX && (at = open(context, frame));
         frame++) {
        found->far = true;
        walk_site(&walk, at);
    }
    if (walk.function)
        finish(&walk);
    else if (walk.buffer)
        found->name = strdup(string_buffer);
}
