/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/dwarf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/symbols/intervals.h"
#include "ingest/symbols/walk.h"
#include "schemas/array.h"

/* The line table of one compilation unit, copied out of libdw into a sorted array. */

struct symbols_line {
    uint64_t start; /* address in the module; the line reaches up to the next start */
    uint32_t file;  /* index into `files`; UINT32_MAX: no code of this unit */
    uint32_t line;  /* 0: unknown */
};

/* An all-zero table is empty. */
struct symbols_lines {
    struct symbols_line *lines;
    size_t count;
    const char **files; /* kept by the strings; NULL: no name */
    size_t file_count;
};

/* Names of C++ functions without a linkage name: local ones, and lambdas that are only inlined. The
 * name is composed of the entries around the function. */

/* The names found so far. All-zero is empty. */
struct symbols_qualified {
    struct symbols_qualified_name *names;
    size_t count, capacity;
    struct index_map by_entry;
};

/* Functions and inlined calls of one compilation unit: a tree of scopes and a map from addresses to
 * the innermost scope. */

struct symbols_scope {
    uint64_t die;       /* offset in the unit's DWARF */
    uint64_t start;     /* address of its code */
    uint32_t parent;    /* the scope it is inlined into; SYMBOLS_NOWHERE: not inlined */
    uint32_t call_file; /* of the inlined call, as a number among the unit's files; UINT32_MAX:
                           unknown */
    uint32_t call_line; /* 0: unknown */
    uint32_t naming;    /* index into `namings` of the tree; SYMBOLS_NOWHERE: not read yet */
    bool by_origin;     /* its names are those of its abstract origin */
};

struct symbols_naming {
    /* The address in memory of the entry that names it. NULL: the names are one scope's. */
    const void *origin;
    const char *name; /* DW_AT_name, qualified if it has no linkage name, or NULL */
    const char *linkage_name, *decl_file;
    uint32_t decl_line;
    uint64_t alone; /* where its copy out of line begins, if it has no linkage name; 0: none */
};

/* A function that is inlined elsewhere and has code of its own as well. */
struct symbols_instance {
    const void *origin; /* address in memory of the entry that both name */
    uint64_t start;
};

/* An all-zero tree is empty. */
struct symbols_scopes {
    struct symbols_scope *scopes;
    size_t count, capacity;
    struct symbols_intervals addresses;
    struct symbols_qualified qualified;
    struct symbols_naming *namings;
    size_t naming_count, naming_capacity;
    struct index_map by_origin;
    struct symbols_instance *instances; /* sorted by origin; NULL: not looked for yet */
    size_t instance_count;
};

/* ---- lines --------------------------------------------------------------------------------- */

/* Returns the kept path of one of a unit's files as DWARF gives it. A relative path is put below
 * the folder in which the compiler ran. NULL: the file has no name. */
static const char *symbols_lines_path(struct symbols_strings *strings, Dwarf_Files *files,
                                      size_t index)
{
    const char *name = dwarf_filesrc(files, index, NULL, NULL);
    const char *const *folders;
    size_t count;
    char path[4096];
    /* libdw's name for the number that means "no file" */
    if (!name || strcmp(name, "???") == 0)
        return NULL;
    if (name[0] == '/' || dwarf_getsrcdirs(files, &folders, &count) != 0 || count == 0 ||
        !folders[0] || folders[0][0] != '/')
        return symbols_strings_keep(strings, name);
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    int length = snprintf(path, sizeof(path), "%s/%s", folders[0], name);
    return symbols_strings_keep(strings, length < (int)sizeof(path) ? path : name);
}

static bool keep_files(struct symbols_lines *lines, struct symbols_strings *strings,
                       Dwarf_Files *files, size_t count)
{
    lines->files = calloc(count + 1, sizeof(*lines->files));
    if (!lines->files)
        return false;
    lines->file_count = count;
    for (size_t i = 0; i < count; i++)
        lines->files[i] = symbols_lines_path(strings, files, i);
    return true;
}

/* Reads one row. Returns false if the row is of no use: unreadable, or a discarded function's. */
static bool read_line(const struct symbols_file *file, Dwarf_Line *row, struct symbols_line *line)
{
    Dwarf_Addr address;
    bool ends;
    int number = 0;
    size_t index = 0;
    Dwarf_Files *files;
    if (dwarf_lineaddr(row, &address) != 0 || dwarf_lineendsequence(row, &ends) != 0)
        return false;
    line->start = address + file->bias;
    line->file = UINT32_MAX;
    line->line = 0;
    if (ends)
        return true;
    if (!symbols_file_code(file, line->start))
        return false;
    if (dwarf_lineno(row, &number) == 0 && number > 0)
        line->line = (uint32_t)number;
    if (dwarf_line_file(row, &files, &index) == 0 && index < UINT32_MAX)
        line->file = (uint32_t)index;
    return true;
}

/* Returns false if memory is exhausted or the budget is spent. A damaged table counts as empty. */
static bool symbols_lines_build(struct symbols_lines *lines, const struct symbols_file *file,
                                struct symbols_strings *strings, Dwarf_Die *unit,
                                struct symbols_budget *budget)
{
    Dwarf_Lines *rows;
    Dwarf_Files *files;
    size_t count, file_count;
    if (dwarf_getsrclines(unit, &rows, &count) != 0 ||
        dwarf_getsrcfiles(unit, &files, &file_count) != 0)
        return true;
    lines->lines = calloc(count + 1, sizeof(*lines->lines));
    if (!lines->lines || !keep_files(lines, strings, files, file_count))
        return false;
    struct symbols_line last = {0, UINT32_MAX, 0};
    for (size_t i = 0; i < count; i++) {
        struct symbols_line line;
        if (!symbols_budget_take(budget))
            return false;
        Dwarf_Line *row = dwarf_onesrcline(rows, i);
        if (!row || !read_line(file, row, &line))
            continue;
        if (lines->count > 0 && last.start == line.start)
            lines->count--;
        else if (lines->count > 0 && last.file == line.file && last.line == line.line)
            continue;
        lines->lines[lines->count++] = last = line;
    }
    return true;
}

static void symbols_lines_free(struct symbols_lines *lines)
{
    FREE_ALL(lines->lines, lines->files);
    memset(lines, 0, sizeof(*lines));
}

/* Finds file and line of `address`; NULL and 0 if unknown. */
static void symbols_lines_find(const struct symbols_lines *lines, uint64_t address,
                               const char **file, uint32_t *line)
{
    size_t low = 0;
    *file = NULL;
    *line = 0;
    ARRAY_BISECT(low, lines->count, lines->lines[middle].start <= address);
    if (low == 0 || lines->lines[low - 1].file >= lines->file_count)
        return;
    *file = lines->files[lines->lines[low - 1].file];
    *line = lines->lines[low - 1].line;
}

/* ---- qualified ----------------------------------------------------------------------------- */

/* Deeper nesting than any compiler writes. */
#define NAME_NESTING_MAX 64
#define NAME_MAX_LENGTH 4096

struct symbols_qualified_name {
    const void *entry; /* address of the declaration in memory */
    const char *name;
};

/* Returns true if the unit (its entry) is C++. In other languages the bare name is the full name.
 */
static bool symbols_qualified_language(Dwarf_Die *unit)
{
    switch (dwarf_srclang(unit)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case 0x2b: /* DW_LANG_C_plus_plus_17 and _20, whose numbers were assigned after DWARF 5 */
    case 0x2c:
        return true;
    default:
        return false;
    }
}

/* Goes from an inlined call or a definition to the entry where the function was declared. */
static void find_declaration(Dwarf_Die *die)
{
    static const unsigned links[] = {DW_AT_abstract_origin, DW_AT_specification};
    for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
        Dwarf_Attribute attribute;
        Dwarf_Die target;
        if (dwarf_attr(die, links[i], &attribute) && dwarf_formref_die(&attribute, &target))
            *die = target;
    }
}

/* Writes the entries around `die` in its unit, outermost first, then `die` itself. Returns their
 * number. Entries lie in the file in the order of a tree walk, so the last sibling that does not
 * begin after `die` contains it. */
static size_t path_to(const Dwarf_Die *die, Dwarf_Die *path)
{
    Dwarf_Die unit, at;
    if (dwarf_cu_info(die->cu, NULL, NULL, &unit, NULL, NULL, NULL, NULL) != 0 ||
        dwarf_child(&unit, &at) != 0)
        return 0;
    size_t depth = 0;
    while (depth < NAME_NESTING_MAX) {
        Dwarf_Die next = at;
        while (next.addr < die->addr && dwarf_siblingof(&at, &next) == 0 && next.addr > at.addr &&
               next.addr <= die->addr)
            at = next;
        if (at.addr > die->addr)
            return 0;
        path[depth++] = at;
        if (at.addr == die->addr)
            return depth;
        Dwarf_Die parent = at;
        if (dwarf_child(&parent, &at) != 0)
            return 0;
    }
    return 0;
}

static const char *text_attribute(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return !dwarf_attr_integrate(die, name, &attribute) ? NULL : dwarf_formstring(&attribute);
}

/* Returns the text that the entry puts before `inner`, which lies inside it. NULL: nothing. *whole:
 * the text already includes all outer entries. */
static const char *part_of(struct symbols_strings *strings, Dwarf_Die *die, const char *inner,
                           bool *whole)
{
    const char *name = text_attribute(die, DW_AT_name);
    switch (dwarf_tag(die)) {
    case DW_TAG_namespace:
        return !name ? "(anonymous namespace)" : name;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        /* gcc gives the type of a lambda no name. */
        if (!name)
            return strcmp(inner, "operator()") == 0 ? "{lambda}" : "{unnamed}";
        return name;
    case DW_TAG_subprogram: {
        const char *linkage_name = text_attribute(die, DW_AT_linkage_name);
        *whole = linkage_name != NULL;
        return !linkage_name ? name : symbols_strings_demangle(strings, linkage_name);
    }
    default:
        return NULL;
    }
}

static const char *compose(struct symbols_strings *strings, const Dwarf_Die *die, const char *name)
{
    Dwarf_Die path[NAME_NESTING_MAX];
    char text[NAME_MAX_LENGTH] = "";
    size_t depth = path_to(die, path), length = 0;
    for (size_t i = 0; i + 1 < depth; i++) {
        bool whole = false;
        const char *part = part_of(strings, &path[i], name, &whole);
        if (!part)
            continue;
        if (whole)
            length = 0;
        if (length + strlen(part) + strlen(name) + 5 > sizeof(text))
            return name;
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s::", part);
    }
    if (length == 0)
        return name;
    snprintf(text + length, sizeof(text) - length, "%s", name);
    return symbols_strings_keep(strings, text);
}

/* Returns a name such as "shop::fill(int)::Local::grab" for the function or inlined call `die`,
 * whose own name is `name`. `strings` keeps it. Parameters are known only for the functions around
 * it. Returns `name` itself if nothing encloses it. */
static const char *symbols_qualified_find(struct symbols_qualified *memo,
                                          struct symbols_strings *strings, Dwarf_Die *die,
                                          const char *name)
{
    Dwarf_Die declaration = *die;
    find_declaration(&declaration);
    const uint64_t hash = hash_number((uintptr_t)declaration.addr);
    uint32_t index;
    for (size_t probe = index_map_begin(&memo->by_entry, hash);
         (index = index_map_next(&memo->by_entry, hash, &probe)) != INDEX_NONE;)
        if (memo->names[index].entry == declaration.addr)
            return memo->names[index].name;
    name = compose(strings, &declaration, name);
    if (memo->count < INDEX_NONE - 1 && ARRAY_GROW(memo->names, memo->count, memo->capacity) &&
        index_map_insert(&memo->by_entry, hash, (uint32_t)memo->count))
        memo->names[memo->count++] = (struct symbols_qualified_name){declaration.addr, name};
    return name;
}

static void symbols_qualified_free(struct symbols_qualified *memo)
{
    free(memo->names);
    index_map_free(&memo->by_entry);
    *memo = (struct symbols_qualified){0};
}

/* ---- scopes -------------------------------------------------------------------------------- */

/* Deeper nesting than any compiler writes. Reading the unit stops there. */
#define NESTING_MAX 256

/* Entries whose children never hold code. */
static bool holds_no_code(int tag)
{
    switch (tag) {
    case DW_TAG_array_type:
    case DW_TAG_call_site:
    case DW_TAG_enumeration_type:
    case DW_TAG_formal_parameter:
    case DW_TAG_GNU_call_site:
    case DW_TAG_GNU_formal_parameter_pack:
    case DW_TAG_GNU_template_parameter_pack:
    case DW_TAG_subroutine_type:
    case DW_TAG_variable:
    case DW_TAG_variant_part:
        return true;
    default:
        return false;
    }
}

static uint32_t number_attribute(Dwarf_Die *die, unsigned name, uint32_t missing)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) != 0 ||
        value > UINT32_MAX)
        return missing;
    return (uint32_t)value;
}

static bool append_scope(struct symbols_scopes *scopes, const struct symbols_scope *scope)
{
    if (scopes->count + 1 >= SYMBOLS_NOWHERE ||
        !ARRAY_RESERVE(scopes->scopes, scopes->count, scopes->capacity))
        return false;
    scopes->scopes[scopes->count++] = *scope;
    return true;
}

/* Adds the scope of a function or an inlined call, unless the linker discarded its code. `*inner`
 * becomes the scope that holds for its children. */
static bool add_scope(struct symbols_scopes *scopes, const struct symbols_file *file,
                      struct symbols_budget *budget, struct symbols_walk_entry *found, bool inlined,
                      uint32_t parent, uint32_t *inner)
{
    Dwarf_Die *die = &found->die;
    Dwarf_Addr base, start, end, entry;
    uint32_t index = (uint32_t)scopes->count;
    struct symbols_scope scope = {.die = dwarf_dieoffset(die),
                                  .start = UINT64_MAX,
                                  .by_origin = found->by_origin,
                                  .naming = SYMBOLS_NOWHERE,
                                  .parent = inlined ? parent : SYMBOLS_NOWHERE};
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;) {
        if (!symbols_budget_take(budget))
            return false;
        const struct symbols_range *code = symbols_file_code(file, start + file->bias);
        if (!code || end <= start)
            continue;
        start += file->bias;
        end += file->bias;
        if (end > code->end)
            end = code->end;
        if (!symbols_intervals_add(&scopes->addresses, start, end, index))
            return false;
        if (scope.start == UINT64_MAX)
            scope.start = start;
    }
    if (scope.start == UINT64_MAX)
        return true;
    /* A split function's hot part comes first, unless this attribute says otherwise. */
    if (dwarf_entrypc(die, &entry) == 0 && symbols_file_code(file, entry + file->bias))
        scope.start = entry + file->bias;
    if (inlined) {
        scope.call_file = number_attribute(die, DW_AT_call_file, UINT32_MAX);
        scope.call_line = number_attribute(die, DW_AT_call_line, 0);
    }
    *inner = index;
    return append_scope(scopes, &scope);
}

/* Adds an entry. `outer` gives the scope that holds at each depth. */
static bool add_entry(struct symbols_scopes *scopes, const struct symbols_file *file,
                      struct symbols_budget *budget, struct symbols_walk_entry *entry,
                      uint32_t *outer)
{
    uint32_t inner = entry->tag == DW_TAG_subprogram ? SYMBOLS_NOWHERE : outer[entry->depth];
    bool inlined = entry->tag == DW_TAG_inlined_subroutine;
    if (entry->code && (entry->tag == DW_TAG_subprogram || inlined) &&
        !add_scope(scopes, file, budget, entry, inlined, outer[entry->depth], &inner))
        return false;
    if (entry->depth + 1 < NESTING_MAX)
        outer[entry->depth + 1] = inner;
    return true;
}

/* Walks the unit. False if memory is exhausted or the budget is spent. Skips damaged entries. */
static bool symbols_scopes_build(struct symbols_scopes *scopes, const struct symbols_file *file,
                                 Dwarf_Die *unit, struct symbols_budget *budget)
{
    uint32_t outer[NESTING_MAX] = {SYMBOLS_NOWHERE};
    struct symbols_walk_entry entry;
    size_t shut = SIZE_MAX; /* deeper entries lie inside one that holds no code */
    bool good = true;
    struct symbols_walk *walk = symbols_walk_begin(unit);
    while (good && walk && symbols_walk_next(walk, &entry) && entry.depth < NESTING_MAX) {
        good = symbols_budget_take(budget);
        if (entry.depth > shut)
            continue;
        shut = entry.children && holds_no_code(entry.tag) ? entry.depth : SIZE_MAX;
        good = good && add_entry(scopes, file, budget, &entry, outer);
    }
    good = good && (!walk || !symbols_walk_failed(walk));
    symbols_walk_end(walk);
    return good && symbols_intervals_settle(&scopes->addresses);
}

static void symbols_scopes_free(struct symbols_scopes *scopes)
{
    free(scopes->scopes);
    symbols_intervals_free(&scopes->addresses);
    symbols_qualified_free(&scopes->qualified);
    index_map_free(&scopes->by_origin);
    FREE_ALL(scopes->namings, scopes->instances);
    memset(scopes, 0, sizeof(*scopes));
}

/* Returns a kept string. Follows abstract origins and specifications (libdw limits the chain). */
static const char *string_attribute(struct symbols_strings *strings, Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    if (!dwarf_attr_integrate(die, name, &attribute))
        return NULL;
    const char *text = dwarf_formstring(&attribute);
    return !text || *text == '\0' ? NULL : symbols_strings_keep(strings, text);
}

/* dwarf_decl_file() would end the process if a split unit has no files of its own. */
static const char *symbols_scopes_file(const struct symbols_lines *lines,
                                       struct symbols_strings *strings, Dwarf_CU *unit,
                                       uint64_t index)
{
    /* Asks the copy first: libdw would read and keep all lines of the unit again. */
    if (lines && lines->files)
        return index < lines->file_count ? lines->files[index] : NULL;
    Dwarf_Die entry;
    Dwarf_Files *files;
    size_t count;
    if (dwarf_cu_info(unit, NULL, NULL, &entry, NULL, NULL, NULL, NULL) != 0 ||
        dwarf_getsrcfiles(&entry, &files, &count) != 0 || index >= count)
        return NULL;
    return symbols_lines_path(strings, files, index);
}

/* Returns the address in memory of the entry that `die` is an instance of, or NULL. */
static const void *origin_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    return !dwarf_attr(die, DW_AT_abstract_origin, &attribute) ||
                   !dwarf_formref_die(&attribute, &origin)
               ? NULL
               : origin.addr;
}

/* Sorts by origin, then by address: a search always finds the same of several. */
static int compare_instances(const void *left, const void *right)
{
    const struct symbols_instance *a = left, *b = right;
    uintptr_t of_a = (uintptr_t)a->origin, of_b = (uintptr_t)b->origin;
    return ORDER(of_a, of_b) ?: ORDER(a->start, b->start);
}

static void find_instances(struct symbols_scopes *scopes, Dwarf *dwarf)
{
    scopes->instances = calloc(scopes->count + 1, sizeof(*scopes->instances));
    for (size_t i = 0; scopes->instances && i < scopes->count; i++) {
        const struct symbols_scope *scope = &scopes->scopes[i];
        Dwarf_Die die;
        const void *origin;
        if (scope->parent == SYMBOLS_NOWHERE && scope->by_origin &&
            dwarf_offdie(dwarf, scope->die, &die) && (origin = origin_of(&die)))
            scopes->instances[scopes->instance_count++] =
                (struct symbols_instance){origin, scope->start};
    }
    if (scopes->instances && scopes->instance_count > 1)
        qsort(scopes->instances, scopes->instance_count, sizeof(*scopes->instances),
              compare_instances);
}

/* Returns the start of the code of a function with that origin, 0 if this unit has none. */
static uint64_t find_alone(struct symbols_scopes *scopes, Dwarf *dwarf, const void *origin)
{
    if (!scopes->instances)
        find_instances(scopes, dwarf);
    size_t low = 0;
    ARRAY_BISECT(low, scopes->instance_count,
                 (uintptr_t)scopes->instances[middle].origin < (uintptr_t)origin);
    return low < scopes->instance_count && scopes->instances[low].origin == origin
               ? scopes->instances[low].start
               : 0;
}

/* Names a function of Ada as its source does: "shop.stock.add" for "shop__stock__add__2". */
static void name_of_ada(struct symbols_strings *strings, Dwarf_Die *unit,
                        struct symbols_naming *naming)
{
    const int language = dwarf_srclang(unit);
    if ((language != DW_LANG_Ada83 && language != DW_LANG_Ada95) || !naming->name)
        return;
    const char *source = symbols_strings_ada(strings, naming->name);
    if (source != naming->name && !naming->linkage_name)
        naming->linkage_name = naming->name;
    naming->name = source;
}

/* Reads the names that the entry gives its function. */
static struct symbols_naming read_naming(struct symbols_scopes *scopes,
                                         const struct symbols_lines *lines,
                                         struct symbols_strings *strings, Dwarf_Die *unit,
                                         Dwarf_Die *die)
{
    struct symbols_naming naming = {.name = NULL};
    naming.name = string_attribute(strings, die, DW_AT_name);
    naming.linkage_name = string_attribute(strings, die, DW_AT_linkage_name);
    if (!naming.linkage_name)
        naming.linkage_name = string_attribute(strings, die, DW_AT_MIPS_linkage_name);
    if (naming.name && !naming.linkage_name && symbols_qualified_language(unit))
        naming.name = symbols_qualified_find(&scopes->qualified, strings, die, naming.name);
    name_of_ada(strings, unit, &naming);
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    if (dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) &&
        dwarf_formudata(&attribute, &number) == 0)
        naming.decl_file = symbols_scopes_file(attribute.cu == unit->cu ? lines : NULL, strings,
                                               attribute.cu, number);
    if (dwarf_attr_integrate(die, DW_AT_decl_line, &attribute) &&
        dwarf_formudata(&attribute, &number) == 0 && number <= UINT32_MAX)
        naming.decl_line = (uint32_t)number;
    return naming;
}

/* Finds the names of an origin, which all its inlined calls share. INDEX_NONE: not read yet. */
static uint32_t find_origin(const struct symbols_scopes *scopes, const void *origin, uint64_t hash)
{
    uint32_t index;
    size_t probe = index_map_begin(&scopes->by_origin, hash);
    while ((index = index_map_next(&scopes->by_origin, hash, &probe)) != INDEX_NONE)
        if (scopes->namings[index].origin == origin)
            break;
    return index;
}

static uint32_t add_naming(struct symbols_scopes *scopes, const struct symbols_naming *naming)
{
    if (scopes->naming_count + 1 >= SYMBOLS_NOWHERE ||
        !ARRAY_RESERVE(scopes->namings, scopes->naming_count, scopes->naming_capacity))
        return SYMBOLS_NOWHERE;
    scopes->namings[scopes->naming_count] = *naming;
    return (uint32_t)scopes->naming_count++;
}

/* Returns the names of a scope, which the first call for it reads. `unit` is the unit that was
 * built, `lines` is of the same unit or NULL. The result is valid until the next call. */
static const struct symbols_naming *symbols_scopes_naming(struct symbols_scopes *scopes,
                                                          const struct symbols_lines *lines,
                                                          struct symbols_strings *strings,
                                                          Dwarf_Die *unit, uint32_t index)
{
    static const struct symbols_naming nameless;
    struct symbols_scope *scope = &scopes->scopes[index];
    Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
    Dwarf_Die die;
    if (scope->naming != SYMBOLS_NOWHERE)
        return &scopes->namings[scope->naming];
    if (!dwarf_offdie(dwarf, scope->die, &die))
        return &nameless;
    const void *origin = scope->by_origin ? origin_of(&die) : NULL;
    uint64_t hash = hash_number((uintptr_t)origin ^ hash_seed());
    if (origin)
        scope->naming = find_origin(scopes, origin, hash);
    if (scope->naming == SYMBOLS_NOWHERE) {
        struct symbols_naming naming = read_naming(scopes, lines, strings, unit, &die);
        naming.origin = origin;
        if (!naming.linkage_name && origin)
            naming.alone = find_alone(scopes, dwarf, origin);
        scope->naming = add_naming(scopes, &naming);
        if (scope->naming != SYMBOLS_NOWHERE && origin)
            index_map_insert(&scopes->by_origin, hash, scope->naming);
    }
    return scope->naming == SYMBOLS_NOWHERE ? &nameless : &scopes->namings[scope->naming];
}

/* ---- dwarf --------------------------------------------------------------------------------- */

/* More bytes than the split units of any program have together. */
#define SPLIT_MAX (UINT64_C(4) << 30)

/* The number of units whose line tables libdw holds at a time. The tables are copied, but libdw can
 * drop one only together with everything else that it has read. */
#define LINE_UNITS_MAX 32

struct unit {
    Dwarf_Off die; /* offset of the unit's entry */
    bool built;
    struct symbols_scopes scopes;
    struct symbols_lines lines;
};

struct symbols_dwarf {
    const struct symbols_file *file;
    struct symbols_strings *strings;
    struct unit *units;
    size_t count, capacity;
    struct symbols_intervals addresses;
    struct symbols_budget budget;
    uint64_t split_left;   /* bytes by which split units may still raise `budget` */
    const Elf_Data *lines; /* .debug_line; NULL: there is none */
    Dwarf *line_reader;    /* the same file, opened again from time to time; NULL: not open */
    bool split;            /* some unit's functions lie in a file of their own */
    const char *missing;   /* such a file that cannot be read; NULL: none was needed */
    size_t line_units;     /* whose lines `line_reader` has read */
};

/* Several units may hold a COMDAT function, but it is linked once, and the debug information of
 * each unit names that copy. The first unit of equal intervals wins, because the linker kept its
 * code. The map prefers greater values, so the number is reversed. */
static uint32_t unit_value(size_t unit)
{
    return SYMBOLS_NOWHERE - 1 - (uint32_t)unit;
}

static bool append_unit(struct symbols_dwarf *dwarf, Dwarf_Die *die)
{
    if (dwarf->count + 1 >= SYMBOLS_NOWHERE ||
        !ARRAY_RESERVE(dwarf->units, dwarf->count, dwarf->capacity))
        return false;
    dwarf->units[dwarf->count++] = (struct unit){.die = dwarf_dieoffset(die)};
    return true;
}

static bool add_unit(struct symbols_dwarf *dwarf, Dwarf_Die *die)
{
    const struct symbols_file *file = dwarf->file;
    Dwarf_Addr base, start, end;
    bool added = false;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;) {
        if (!symbols_budget_take(&dwarf->budget))
            return true; /* the ranges found so far are used */
        const struct symbols_range *code = symbols_file_code(file, start + file->bias);
        if (!code || end <= start)
            continue;
        start += file->bias;
        end += file->bias;
        if (!added && !append_unit(dwarf, die))
            return false;
        added = true;
        /* A unit may span sections that the linker laid side by side. */
        if (!symbols_intervals_add(&dwarf->addresses, start, end, unit_value(dwarf->count - 1)))
            return false;
    }
    return true;
}

/* Returns .debug_line. NULL: there is none. */
static const Elf_Data *find_lines(Elf *elf)
{
    Elf_Scn *section = NULL;
    const Elf_Data *data;
    const char *name;
    while ((data = symbols_file_debug_section(elf, &section, &name)))
        if (strcmp(name, "line") == 0 && data->d_buf)
            break;
    return data;
}

static bool index_units(struct symbols_dwarf *dwarf)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    while (dwarf_get_units(dwarf->file->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
        int tag = dwarf_tag(&die);
        dwarf->split = dwarf->split || type == DW_UT_skeleton || type == DW_UT_split_compile;
        if ((tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit) && !add_unit(dwarf, &die))
            return false;
        if (dwarf->budget.spent)
            break;
    }
    return symbols_intervals_settle(&dwarf->addresses);
}

struct symbols_dwarf *symbols_dwarf_new(const struct symbols_file *file,
                                        struct symbols_strings *strings)
{
    errno = 0;
    if (!file->dwarf)
        return NULL;
    struct symbols_dwarf *dwarf = calloc(1, sizeof(*dwarf));
    if (!dwarf)
        return NULL;
    dwarf->file = file;
    dwarf->strings = strings;
    /* Twice the bytes of the debug information, because the ranges of units are read as well. */
    dwarf->budget.left = (1 << 20) + 2 * symbols_file_debug_size(file->dwarf);
    dwarf->split_left = SPLIT_MAX;
    dwarf->lines = find_lines(dwarf_getelf(file->dwarf));
    bool good = index_units(dwarf);
    if (good && dwarf->count > 0)
        return dwarf;
    symbols_dwarf_free(dwarf);
    errno = good ? 0 : ENOMEM;
    return NULL;
}

bool symbols_dwarf_spent(const struct symbols_dwarf *dwarf)
{
    return dwarf->budget.spent;
}

const char *symbols_dwarf_missing(const struct symbols_dwarf *dwarf)
{
    return dwarf->missing;
}

bool symbols_dwarf_is_split(const struct symbols_dwarf *dwarf)
{
    return dwarf->split;
}

void symbols_dwarf_free(struct symbols_dwarf *dwarf)
{
    if (!dwarf)
        return;
    for (size_t i = 0; i < dwarf->count; i++) {
        symbols_scopes_free(&dwarf->units[i].scopes);
        symbols_lines_free(&dwarf->units[i].lines);
    }
    if (dwarf->line_reader)
        dwarf_end(dwarf->line_reader);
    free(dwarf->units);
    symbols_intervals_free(&dwarf->addresses);
    free(dwarf);
}

/* Finds the entry that has the functions. For a split unit it lies in a file of its own. */
static bool unit_entry(const struct symbols_dwarf *dwarf, const struct unit *unit,
                       Dwarf_Die *skeleton, Dwarf_Die *entry)
{
    uint8_t type;
    Dwarf_Die split;
    if (!dwarf_offdie(dwarf->file->dwarf, unit->die, skeleton))
        return false;
    *entry = *skeleton;
    if (dwarf_cu_info(skeleton->cu, NULL, &type, NULL, &split, NULL, NULL, NULL) == 0 &&
        type == DW_UT_skeleton && split.addr)
        *entry = split;
    return true;
}

/* Returns the unit's entry in the line reader, or `skeleton` if the file cannot be opened twice. */
static Dwarf_Die line_entry(struct symbols_dwarf *dwarf, const struct unit *unit,
                            const Dwarf_Die *skeleton)
{
    Dwarf *whole = dwarf->file->dwarf;
    Dwarf_Die entry;
    if (dwarf->line_reader && dwarf->line_units >= LINE_UNITS_MAX) {
        dwarf_end(dwarf->line_reader);
        dwarf->line_reader = NULL;
    }
    if (!dwarf->line_reader) {
        dwarf->line_units = 0;
        dwarf->line_reader = dwarf_begin_elf(dwarf_getelf(whole), DWARF_C_READ, NULL);
        if (!dwarf->line_reader)
            return *skeleton;
        /* The unit's directory may be a string of the common file of dwz. */
        Dwarf *common = dwarf_getalt(whole);
        if (common)
            dwarf_setalt(dwarf->line_reader, common);
    }
    dwarf->line_units++;
    return !dwarf_offdie(dwarf->line_reader, unit->die, &entry) ? *skeleton : entry;
}

/* No real line program is so long, and libdw needs a hundred bytes for each byte. */
static bool lines_are_too_long(const struct symbols_dwarf *dwarf, Dwarf_Die *entry)
{
    static const uint64_t most = 16 << 20;
    Dwarf_Attribute attribute;
    Dwarf_Word offset;
    uint32_t length = 0;
    if (!dwarf_attr(entry, DW_AT_stmt_list, &attribute) ||
        dwarf_formudata(&attribute, &offset) != 0 || !dwarf->lines ||
        offset > dwarf->lines->d_size || dwarf->lines->d_size - offset < sizeof(length))
        return false;
    memcpy(&length, (const char *)dwarf->lines->d_buf + offset, sizeof(length));
    return (length == UINT32_MAX ? dwarf->lines->d_size - offset : length) > most;
}

/* Raises the budget by the split unit's bytes, up to a total: many units may name one file. */
static void allow_split(struct symbols_dwarf *dwarf, const Dwarf_Die *entry)
{
    uint64_t size = 2 * symbols_file_debug_size(dwarf_cu_getdwarf(entry->cu));
    if (size > dwarf->split_left)
        size = dwarf->split_left;
    dwarf->split_left -= size;
    dwarf->budget.left += size;
}

/* Returns the name of the file that has the unit's functions, NULL: they are in this file. */
static const char *missing_split(struct symbols_dwarf *dwarf, Dwarf_Die *skeleton)
{
    static const unsigned names[] = {DW_AT_dwo_name, DW_AT_GNU_dwo_name};
    Dwarf_Attribute attribute;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *name =
            dwarf_attr(skeleton, names[i], &attribute) ? dwarf_formstring(&attribute) : NULL;
        if (name)
            return symbols_strings_keep(dwarf->strings, name);
    }
    return NULL;
}

static bool build_unit(struct symbols_dwarf *dwarf, struct unit *unit)
{
    Dwarf_Die skeleton, entry;
    unit->built = true;
    if (!unit_entry(dwarf, unit, &skeleton, &entry))
        return false;
    if (entry.cu != skeleton.cu)
        allow_split(dwarf, &entry);
    else if (!dwarf->missing)
        dwarf->missing = missing_split(dwarf, &skeleton);
    /* Half a table would give wrong frames. If memory or the budget runs out, there is no table. */
    if (!symbols_scopes_build(&unit->scopes, dwarf->file, &entry, &dwarf->budget))
        symbols_scopes_free(&unit->scopes);
    if (lines_are_too_long(dwarf, &skeleton)) {
        dwarf->budget.spent = true;
        return true;
    }
    Dwarf_Die lines = line_entry(dwarf, unit, &skeleton);
    if (!symbols_lines_build(&unit->lines, dwarf->file, dwarf->strings, &lines, &dwarf->budget))
        symbols_lines_free(&unit->lines);
    return true;
}

/* Finds the unit that has the code at `pc` and reads it. NULL: there is none. */
static struct unit *find_unit(struct symbols_dwarf *dwarf, uint64_t pc)
{
    uint32_t value = symbols_intervals_find(&dwarf->addresses, pc);
    if (value == SYMBOLS_NOWHERE)
        return NULL;
    struct unit *unit = &dwarf->units[SYMBOLS_NOWHERE - 1 - value];
    return unit->built || build_unit(dwarf, unit) ? unit : NULL;
}

size_t symbols_dwarf_lookup(struct symbols_dwarf *dwarf, uint64_t pc, struct symbols_frame *frames)
{
    struct unit *unit = find_unit(dwarf, pc);
    if (!unit)
        return 0;
    const char *file;
    uint32_t line;
    symbols_lines_find(&unit->lines, pc, &file, &line);
    uint32_t scope = symbols_intervals_find(&unit->scopes.addresses, pc);
    frames->file = file;
    frames->line = line;
    Dwarf_Die skeleton, entry;
    if (scope == SYMBOLS_NOWHERE || !unit_entry(dwarf, unit, &skeleton, &entry))
        return 0;
    /* A split unit has files of its own. */
    const struct symbols_lines *lines = entry.cu == skeleton.cu ? &unit->lines : NULL;
    size_t count = 0;
    while (scope != SYMBOLS_NOWHERE && count < SYMBOLS_FRAMES_MAX) {
        const struct symbols_scope *found = &unit->scopes.scopes[scope];
        const struct symbols_naming *names =
            symbols_scopes_naming(&unit->scopes, lines, dwarf->strings, &entry, scope);
        frames[count] = (struct symbols_frame){
            .function = names->name,
            .linkage_name = names->linkage_name,
            .file = file,
            .line = line,
            .decl_file = names->decl_file,
            .decl_line = names->decl_line,
            .start = found->start,
            .alone = names->alone,
            .inlined = found->parent != SYMBOLS_NOWHERE && count + 1 < SYMBOLS_FRAMES_MAX,
        };
        count++;
        if (found->parent != SYMBOLS_NOWHERE) {
            file = symbols_scopes_file(lines, dwarf->strings, entry.cu, found->call_file);
            line = found->call_line;
        }
        scope = found->parent;
    }
    return count;
}

size_t symbols_dwarf_entries(struct symbols_dwarf *dwarf, uint64_t pc, Dwarf_Die *entries)
{
    struct unit *unit = find_unit(dwarf, pc);
    Dwarf_Die skeleton, entry;
    size_t count = 0;
    if (!unit || !unit_entry(dwarf, unit, &skeleton, &entry))
        return 0;
    uint32_t scope = symbols_intervals_find(&unit->scopes.addresses, pc);
    for (; scope != SYMBOLS_NOWHERE && count < SYMBOLS_FRAMES_MAX; count++) {
        const struct symbols_scope *found = &unit->scopes.scopes[scope];
        if (!dwarf_offdie(dwarf_cu_getdwarf(entry.cu), found->die, &entries[count]))
            break;
        scope = found->parent;
    }
    return count;
}
