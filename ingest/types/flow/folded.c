/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/flow/folded.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/types/flow/decode.h"
#include "schemas/array.h"

/* Enough for a function that is only a jump, with endbr64 before it. */
#define JUMP_BYTES_MAX 16

struct named_start {
    uint64_t start;
    const char *name; /* owned by libdwfl */
};

struct types_folded {
    uint64_t *starts; /* sorted */
    size_t count, capacity;
};

/* ---- the compiler ----------------------------------------------------------------------- */

/* Returns true if gcc folds: from -O2 on, and for size. The last -O on the command line counts. */
static bool optimizes(const char *producer)
{
    bool folds = false, named = false;
    for (const char *at = producer; (at = strstr(at, " -O")); at += 3) {
        char level = at[3];
        folds = level == '2' || level == '3' || level == 's' || level == 'z' || level == 'f';
        named = true;
    }
    /* A producer without options tells nothing, so folding is assumed. */
    return folds || (!named && !strstr(producer, " -m"));
}

enum types_folding types_folding_of(Dwarf_Die *entry)
{
    Dwarf_Die unit;
    Dwarf_Attribute attribute;
    if (!dwarf_diecu(entry, &unit, NULL, NULL) || !dwarf_attr(&unit, DW_AT_producer, &attribute))
        return TYPES_FOLDING_NONE;
    const char *producer = dwarf_formstring(&attribute);
    if (!producer || strncmp(producer, "GNU ", 4) != 0 || strstr(producer, " -fno-ipa-icf") ||
        !optimizes(producer))
        return TYPES_FOLDING_NONE;
    return strncmp(producer, "GNU GIMPLE", 10) == 0 || strstr(producer, " -flto")
               ? TYPES_FOLDING_PROGRAM
               : TYPES_FOLDING_UNIT;
}

/* ---- the symbols ------------------------------------------------------------------------ */

/* Returns true if these are names of one function: its clones (".part.0"), and the variants of a
 * constructor or destructor, which differ by one digit after C or D (Itanium C++ ABI, 5.1.4.3). */
static bool same_function(const char *left, const char *right)
{
    size_t length = strcspn(left, ".@"), at = 0;
    if (strcspn(right, ".@") != length)
        return false;
    while (at < length && left[at] == right[at])
        at++;
    if (at == length)
        return true;
    return at > 0 && (left[at - 1] == 'C' || left[at - 1] == 'D') && left[at] >= '0' &&
           left[at] <= '5' && right[at] >= '0' && right[at] <= '5' &&
           memcmp(left + at + 1, right + at + 1, length - at - 1) == 0;
}

static bool add_start(struct types_folded *folded, uint64_t start)
{
    if (!ARRAY_RESERVE(folded->starts, folded->count, folded->capacity))
        return false;
    folded->starts[folded->count++] = start;
    return true;
}

/* Returns the address to which a function of `size` bytes only jumps, or 0. */
static uint64_t jump_target(const struct symbols_file *file, uint64_t start, uint64_t size)
{
    size_t held;
    const uint8_t *code = types_code(file, start, &held);
    if (!code || size > held)
        return 0;
    for (size_t at = 0; at < size;) {
        struct decode_instruction in;
        if (!types_decode(code + at, size - at, start + at, &in))
            return 0;
        if (in.operation == DECODE_JUMP)
            return in.target;
        if (in.operation != DECODE_OTHER || in.writes != 0) /* endbr64 */
            return 0;
        at += in.length;
    }
    return 0;
}

static bool read_symbol(struct types_folded *folded, const struct symbols_file *file, int number,
                        struct named_start *named)
{
    GElf_Sym symbol;
    GElf_Addr address;
    GElf_Word section;
    const char *name =
        dwfl_module_getsym_info(file->module, number, &symbol, &address, &section, NULL, NULL);
    if (!name || *name == '\0' || section == SHN_UNDEF || section == SHN_ABS ||
        GELF_ST_TYPE(symbol.st_info) != STT_FUNC || !symbols_file_code(file, address))
        return false;
    *named = (struct named_start){address, name};
    if (symbol.st_size > 0 && symbol.st_size <= JUMP_BYTES_MAX) {
        uint64_t target = jump_target(file, address, symbol.st_size);
        if (target != 0)
            add_start(folded, target);
    }
    return true;
}

struct types_folded *types_folded_new(const struct symbols_file *file)
{
    int count = dwfl_module_getsymtab(file->module);
    struct types_folded *folded = calloc(1, sizeof(*folded));
    struct named_start *named = calloc(count > 0 ? (size_t)count : 1, sizeof(*named));
    if (!folded || !named) {
        FREE_ALL(named, folded);
        return NULL;
    }
    size_t kept = 0;
    for (int i = 1; i < count; i++)
        kept += read_symbol(folded, file, i, &named[kept]);
    if (kept > 1)
        qsort(named, kept, sizeof(*named), compare_uint64);
    for (size_t i = 1; i < kept; i++)
        if (named[i].start == named[i - 1].start &&
            !same_function(named[i].name, named[i - 1].name))
            add_start(folded, named[i].start);
    free(named);
    if (folded->count > 1)
        qsort(folded->starts, folded->count, sizeof(*folded->starts), compare_uint64);
    return folded;
}

void types_folded_free(struct types_folded *folded)
{
    if (!folded)
        return;
    FREE_ALL(folded->starts, folded);
}

bool types_folded_at(const struct types_folded *folded, uint64_t start)
{
    return folded && folded->count > 0 &&
           bsearch(&start, folded->starts, folded->count, sizeof(start), compare_uint64);
}

/* ---- data symbols -------------------------------------------------------------------------- */

/* The number of objects inside one another that are searched. */
#define NESTING_MAX 16

struct object {
    uint64_t start, end;
    size_t order; /* position in the tables */
    const char *name;
};

struct types_data_symbols {
    const struct symbols_file *file;
    struct object *list; /* sorted by start; of those with the same start, the first in the tables
                            comes last */
    size_t count, capacity;
    bool read;
};

struct types_data_symbols *types_data_symbols_new(const struct symbols_file *file)
{
    struct types_data_symbols *objects = calloc(1, sizeof(*objects));
    if (objects)
        objects->file = file;
    return objects;
}

void types_data_symbols_free(struct types_data_symbols *objects)
{
    if (objects)
        free(objects->list);
    free(objects);
}

static void read_table(struct types_data_symbols *objects, Elf_Scn *section,
                       const GElf_Shdr *header)
{
    Elf *elf = objects->file->elf;
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || header->sh_entsize == 0)
        return;
    for (size_t i = 0; i < data->d_size / header->sh_entsize; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            return;
        if (GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF ||
            symbol.st_size == 0 || symbol.st_value + symbol.st_size < symbol.st_value)
            continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (!name || !ARRAY_RESERVE(objects->list, objects->count, objects->capacity))
            continue;
        objects->list[objects->count] = (struct object){
            symbol.st_value, symbol.st_value + symbol.st_size, objects->count, name};
        objects->count++;
    }
}

static int compare_objects(const void *left, const void *right)
{
    const struct object *a = left, *b = right;
    return ORDER(a->start, b->start) ?: ORDER(b->order, a->order);
}

static void read_all(struct types_data_symbols *objects)
{
    objects->read = true;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(objects->file->elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            read_table(objects, section, &header);
    }
    if (objects->count > 1)
        qsort(objects->list, objects->count, sizeof(*objects->list), compare_objects);
}

const char *types_data_symbols_find(struct types_data_symbols *objects, uint64_t address)
{
    if (!objects)
        return NULL;
    if (!objects->read)
        read_all(objects);
    size_t low = 0;
    ARRAY_BISECT(low, objects->count, objects->list[middle].start <= address);
    for (size_t i = 0; i < NESTING_MAX && low > 0; i++)
        if (address < objects->list[--low].end)
            return objects->list[low].name;
    return NULL;
}
