/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/program_types.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/symbols/file.h"
#include "ingest/types/dwarf/spelling.h"

struct tag {
    uint64_t address;
    const char *symbol; /* in the symbol table; kept by the symbolizer */
};

/* The variables of one module, sorted by address. */
struct tag_module {
    bool read;
    struct tag *tags;
    size_t count, capacity;
};

struct types_program_types {
    struct symbols *symbols;
    struct tag_module *modules; /* by id; all zero: not read yet */
    size_t module_count;
};

/* Ids of modules are dense in a trace. A made-up id must not make the table huge. */
enum { MODULE_ID_MAX = 1 << 20 };

struct types_program_types *types_program_types_new(struct symbols *symbols)
{
    struct types_program_types *tags = calloc(1, sizeof(*tags));
    if (tags)
        tags->symbols = symbols;
    return tags;
}

void types_program_types_free(struct types_program_types *tags)
{
    if (!tags)
        return;
    for (size_t i = 0; i < tags->module_count; i++)
        free(tags->modules[i].tags);
    free(tags->modules);
    free(tags);
}

static bool is_type_identifier(const char *symbol)
{
    return strncmp(symbol, "_ZN15TYPE_IDENTIFIER", 20) == 0;
}

/* Sorts by address. If an address has several names, that of a type comes first, then the
 * shortest. */
static int compare_tags(const void *left, const void *right)
{
    const struct tag *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    int type_a = is_type_identifier(a->symbol), type_b = is_type_identifier(b->symbol);
    if (type_a != type_b)
        return type_b - type_a;
    size_t length_a = strlen(a->symbol), length_b = strlen(b->symbol);
    if (length_a != length_b)
        return length_a < length_b ? -1 : 1;
    return strcmp(a->symbol, b->symbol);
}

static bool add_tag(struct tag_module *module, uint64_t address, const char *symbol)
{
    if (!array_reserve(&module->tags, &module->capacity, module->count + 1, sizeof(*module->tags)))
        return false;
    module->tags[module->count++] = (struct tag){address, symbol};
    return symbol != NULL;
}

static bool read_module(struct types_program_types *tags, uint32_t id, struct tag_module *module)
{
    const struct symbols_file *file = symbols_module_file(tags->symbols, id);
    int count = !file ? 0 : dwfl_module_getsymtab(file->module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        GElf_Word section;
        const char *name =
            dwfl_module_getsym_info(file->module, i, &symbol, &address, &section, NULL, NULL);
        if (!name || *name == '\0' || section == SHN_UNDEF || section == SHN_ABS ||
            GELF_ST_TYPE(symbol.st_info) != STT_OBJECT)
            continue;
        if (!add_tag(module, address, symbols_keep(tags->symbols, name)))
            return false;
    }
    if (module->count > 0)
        qsort(module->tags, module->count, sizeof(*module->tags), compare_tags);
    return true;
}

/* Returns the module, which the first call reads. NULL if there is none, or memory is exhausted. */
static struct tag_module *find_module(struct types_program_types *tags, uint32_t id)
{
    if (id == 0 || id >= MODULE_ID_MAX)
        return NULL;
    if (!array_reserve(&tags->modules, &tags->module_count, (size_t)id + 1, sizeof(*tags->modules)))
        return NULL;
    struct tag_module *module = &tags->modules[id];
    if (!module->read) {
        module->read = true;
        if (!read_module(tags, id, module))
            return NULL;
    }
    return module;
}

static const char *find_symbol(const struct tag_module *module, uint64_t address)
{
    size_t low = 0, high = module->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (module->tags[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < module->count && module->tags[low].address == address ? module->tags[low].symbol
                                                                       : NULL;
}

/* Removes the leading words that tell how the object may be used. Changes `name`. */
static const char *without_qualifiers(char *name)
{
    static const char *const qualifiers[] = {"const ", "volatile "};
    const size_t kinds = sizeof(qualifiers) / sizeof(*qualifiers);
    /* "const char *" is a pointer: there the word belongs to the type pointed to. */
    if (strpbrk(name, "*&(["))
        return name;
    for (size_t i = 0; i < kinds; i++)
        if (strncmp(name, qualifiers[i], strlen(qualifiers[i])) == 0) {
            name += strlen(qualifiers[i]);
            i = (size_t)-1;
        }
    return name;
}

/* Returns T for "TYPE_IDENTIFIER<T>::mDummy", otherwise NULL. The caller frees it. */
static char *type_of(const char *name)
{
    static const char before[] = "TYPE_IDENTIFIER<", after[] = ">::mDummy";
    size_t length = strlen(name), head = sizeof(before) - 1, tail = sizeof(after) - 1;
    if (length <= head + tail || strncmp(name, before, head) != 0 ||
        strcmp(name + length - tail, after) != 0)
        return NULL;
    char *type = strndup(name + head, length - head - tail);
    for (size_t end = type ? strlen(type) : 0; end > 0 && type[end - 1] == ' '; end--)
        type[end - 1] = '\0';
    return type;
}

const char *types_program_types_name(struct types_program_types *tags, uint32_t id,
                                     uint64_t address)
{
    const struct tag_module *module = find_module(tags, id);
    const char *symbol = !module ? NULL : find_symbol(module, address);
    if (!symbol)
        return NULL;
    /* Link-time optimization adds a number to the names of objects that it makes local. */
    char *plain = strndup(symbol, strcspn(symbol, "."));
    if (!plain)
        return NULL;
    const char *name = symbols_demangle(tags->symbols, plain), *kept = NULL;
    char *type = !name ? NULL : type_of(name);
    char *spelled = !type ? NULL : types_spelling(type);
    if (spelled)
        kept = symbols_keep(tags->symbols, without_qualifiers(spelled));
    else if (!type && name)
        kept = symbols_keep(tags->symbols, name);
    free(spelled);
    free(type);
    free(plain);
    return kept;
}
