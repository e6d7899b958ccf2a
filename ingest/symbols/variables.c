/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/variables.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/symbols/file.h"
#include "schemas/array.h"

/* Module ids of a trace are dense. A damaged id must not make the table huge. */
#define MODULE_ID_MAX (1U << 20)

struct variable {
    uint64_t start, size;
    const char *name;
};

struct variable_module {
    struct variable *rows; /* sorted */
    size_t count, capacity;
    struct variable *locals; /* each thread has its own, at these offsets in the TLS segment */
    size_t local_count, local_capacity;
    uint64_t local_size; /* from the segment's start to the thread pointer, in the program itself */
    bool read;
};

struct symbols_variables {
    struct symbols *symbols;
    struct variable_module *modules; /* by id */
    size_t module_count;
};

struct symbols_variables *symbols_variables_new(struct symbols *symbols)
{
    struct symbols_variables *variables = calloc(1, sizeof(*variables));
    if (variables)
        variables->symbols = symbols;
    return variables;
}

void symbols_variables_free(struct symbols_variables *variables)
{
    for (size_t i = 0; variables && i < variables->module_count; i++) {
        free(variables->modules[i].rows);
        free(variables->modules[i].locals);
    }
    if (variables)
        free(variables->modules);
    free(variables);
}

/* Orders by address. The shortest alias first: others have versions or prefixes. */
static int compare_variables(const void *left, const void *right)
{
    const struct variable *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    const size_t length_a = strlen(a->name), length_b = strlen(b->name);
    return ORDER(length_a, length_b) ?: strcmp(a->name, b->name);
}

/* Returns the bytes from the beginning of the program's own thread-local storage to the thread
 * pointer (glibc, _dl_determine_tlsoffset(): the program is the first module). 0: it has none. */
static uint64_t size_of_locals(Elf *elf)
{
    GElf_Phdr segment;
    size_t count = 0;
    if (!elf || elf_getphdrnum(elf, &count) != 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_TLS)
            continue;
        const uint64_t align = segment.p_align ? segment.p_align : 1;
        const uint64_t first = -(segment.p_vaddr & (align - 1)) & (align - 1);
        return segment.p_memsz < first
                   ? 0
                   : (segment.p_memsz - first + align - 1) / align * align + first;
    }
    return 0;
}

static bool read_module(struct symbols *symbols, uint32_t id, struct variable_module *module)
{
    const struct symbols_file *file = symbols_module_file(symbols, id);
    const int count = !file ? 0 : dwfl_module_getsymtab(file->module);
    module->local_size = file ? size_of_locals(file->elf) : 0;
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        GElf_Word section;
        const char *name =
            dwfl_module_getsym_info(file->module, i, &symbol, &address, &section, NULL, NULL);
        if (!name || *name == '\0' || section == SHN_UNDEF || section == SHN_ABS ||
            (GELF_ST_TYPE(symbol.st_info) != STT_OBJECT && GELF_ST_TYPE(symbol.st_info) != STT_TLS))
            continue;
        const bool local = GELF_ST_TYPE(symbol.st_info) == STT_TLS;
        if (!ARRAY_RESERVE(module->rows, module->count, module->capacity) ||
            !ARRAY_RESERVE(module->locals, module->local_count, module->local_capacity))
            return false;
        const char *kept = symbols_keep(symbols, name);
        if (!kept)
            return false;
        if (local)
            module->locals[module->local_count++] =
                (struct variable){symbol.st_value, symbol.st_size, kept};
        else
            module->rows[module->count++] = (struct variable){address, symbol.st_size, kept};
    }
    if (module->count > 0)
        qsort(module->rows, module->count, sizeof(*module->rows), compare_variables);
    if (module->local_count > 0)
        qsort(module->locals, module->local_count, sizeof(*module->locals), compare_variables);
    return true;
}

/* Returns the module, which the first call reads. NULL if there is none, or memory is exhausted. */
static const struct variable_module *find_module(struct symbols_variables *variables, uint32_t id)
{
    if (id == 0 || id >= MODULE_ID_MAX ||
        !ARRAY_RESERVE(variables->modules, id, variables->module_count))
        return NULL;
    struct variable_module *module = &variables->modules[id];
    if (!module->read) {
        module->read = true;
        if (!read_module(variables->symbols, id, module))
            return NULL;
    }
    return module;
}

const char *symbols_variables_name(struct symbols_variables *variables, uint32_t id,
                                   uint64_t address, bool (*prefer)(const char *name))
{
    const struct variable_module *module = find_module(variables, id);
    size_t first = 0;
    if (!module)
        return NULL;
    ARRAY_BISECT(first, module->count, module->rows[middle].start < address);
    for (size_t i = first; i < module->count && module->rows[i].start == address; i++)
        if (prefer(module->rows[i].name))
            return module->rows[i].name;
    return first < module->count && module->rows[first].start == address ? module->rows[first].name
                                                                         : NULL;
}

bool symbols_variables_local(struct symbols_variables *variables, uint32_t id, size_t *at,
                             struct symbols_place *place)
{
    const struct variable_module *module = find_module(variables, id);
    while (module && module->local_size != 0 && *at < module->local_count) {
        const struct variable *variable = &module->locals[(*at)++];
        if (variable->size == 0 || variable->start >= module->local_size ||
            (*at >= 2 && variable[-1].start == variable->start))
            continue;
        const uint64_t start = variable->start - module->local_size;
        *place = (struct symbols_place){symbols_demangle(variables->symbols, variable->name), start,
                                        start + variable->size};
        return place->name != NULL;
    }
    return false;
}

bool symbols_variables_find(struct symbols_variables *variables, uint32_t id, uint64_t address,
                            struct symbols_place *place)
{
    const struct variable_module *module = find_module(variables, id);
    size_t next = 0;
    if (!module)
        return false;
    ARRAY_BISECT(next, module->count, module->rows[middle].start <= address);
    /* Those of no size only name a place. */
    while (next > 0 && module->rows[next - 1].size == 0)
        next--;
    if (next == 0)
        return false;
    /* The first of those at that address. */
    size_t found = next - 1;
    while (found > 0 && module->rows[found - 1].start == module->rows[next - 1].start &&
           module->rows[found - 1].size != 0)
        found--;
    const struct variable *variable = &module->rows[found];
    if (address - variable->start >= variable->size)
        return false;
    *place = (struct symbols_place){symbols_demangle(variables->symbols, variable->name),
                                    variable->start, variable->start + variable->size};
    return place->name != NULL;
}
