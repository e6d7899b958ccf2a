/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/table.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/symbols/entries.h"

struct symbols_table {
    struct symbols_symbol *symbols; /* sorted by start, then end */
    uint64_t *reach;                /* largest end in symbols[0..i]; tells how far back to look */
    size_t count, capacity;
    const char *source;
    struct symbols_strings *strings;
};

/* Ranks the names at one address: a sized function before a label, global before weak before
 * local. */
static uint8_t symbol_rank(const GElf_Sym *symbol)
{
    static const uint8_t of_binding[] = {
        [STB_LOCAL] = 3,
        [STB_GLOBAL] = 0,
        [STB_WEAK] = 1,
        [3] = 3,
        [4] = 3,
        [5] = 3,
        [6] = 3,
        [7] = 3,
        [8] = 3,
        [9] = 3,
        [STB_GNU_UNIQUE] = 2,
    };
    unsigned binding = GELF_ST_BIND(symbol->st_info), type = GELF_ST_TYPE(symbol->st_info);
    uint8_t rank = binding < sizeof(of_binding) ? of_binding[binding] : 3;
    if (symbol->st_size == 0)
        rank = (uint8_t)(rank + SYMBOLS_RANK_LABEL);
    if (type == STT_NOTYPE)
        rank = (uint8_t)(rank + 4);
    return rank;
}

static size_t leading_underscores(const char *name)
{
    return strspn(name, "_");
}

/* Sorts by address and puts the best name of several aliases first, so that the choice never
 * depends on the order in the file. */
static int compare_symbols(const void *left, const void *right)
{
    const struct symbols_symbol *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (!a->name || !b->name)
        return (!a->name) - (!b->name);
    size_t of_a = leading_underscores(a->name), of_b = leading_underscores(b->name);
    if (of_a != of_b)
        return of_a < of_b ? -1 : 1;
    size_t length_a = strlen(a->name), length_b = strlen(b->name);
    if (length_a != length_b)
        return length_a < length_b ? -1 : 1;
    return strcmp(a->name, b->name);
}

bool symbols_table_add(struct symbols_table *table, const struct symbols_symbol *symbol)
{
    if (!array_grow(&table->symbols, &table->capacity, table->count + 1, sizeof(*table->symbols)))
        return false;
    table->symbols[table->count++] = *symbol;
    return true;
}

static bool add_elf_symbols(struct symbols_table *table, const struct symbols_file *file)
{
    int count = dwfl_module_getsymtab(file->module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        GElf_Word section;
        const char *name =
            dwfl_module_getsym_info(file->module, i, &symbol, &address, &section, NULL, NULL);
        if (!name || *name == '\0' || section == SHN_UNDEF || section == SHN_ABS)
            continue;
        unsigned type = GELF_ST_TYPE(symbol.st_info);
        if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
            continue;
        const struct symbols_range *code = symbols_file_code(file, address);
        if (!code)
            continue;
        uint64_t end = symbol.st_size > code->end - address ? code->end : address + symbol.st_size;
        struct symbols_symbol entry = {address, end, name, symbol_rank(&symbol), false, false};
        if (!symbols_table_add(table, &entry))
            return false;
    }
    return true;
}

static const char *source_of(const struct symbols_file *file)
{
    const char *source = "none";
    int count = dwfl_module_getsymtab(file->module);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        GElf_Word section;
        Elf *elf = NULL;
        if (!dwfl_module_getsym_info(file->module, i, &symbol, &address, &section, &elf, NULL) ||
            !elf)
            continue;
        source = "dynsym";
        for (Elf_Scn *scan = NULL; (scan = elf_nextscn(elf, scan));) {
            GElf_Shdr header;
            if (gelf_getshdr(scan, &header) && header.sh_type == SHT_SYMTAB)
                return "symtab";
        }
        break;
    }
    return source;
}

/* Keeps one symbol for each address, and stretches labels without a size up to the next symbol. */
static void settle(struct symbols_table *table, const struct symbols_file *file)
{
    qsort(table->symbols, table->count, sizeof(*table->symbols), compare_symbols);
    size_t kept = 0;
    uint64_t reach = 0;
    for (size_t i = 0; i < table->count; i++) {
        struct symbols_symbol symbol = table->symbols[i];
        bool alias = kept > 0 && table->symbols[kept - 1].start == symbol.start;
        bool inner_label = symbol.rank >= SYMBOLS_RANK_LABEL && symbol.start < reach;
        if (alias || inner_label)
            continue;
        if (symbol.end > reach)
            reach = symbol.end;
        table->symbols[kept++] = symbol;
    }
    table->count = table->capacity = kept;
    void *shrunk = realloc(table->symbols, kept * sizeof(*table->symbols));
    table->symbols = shrunk ? shrunk : table->symbols;
    reach = 0;
    for (size_t i = 0; i < kept; i++) {
        struct symbols_symbol *symbol = &table->symbols[i];
        if (symbol->end == symbol->start) {
            const struct symbols_range *code = symbols_file_code(file, symbol->start);
            symbol->end = !code ? symbol->start : code->end;
            if (i + 1 < kept && symbol[1].start < symbol->end)
                symbol->end = symbol[1].start;
        }
        if (symbol->end > reach)
            reach = symbol->end;
        table->reach[i] = reach;
    }
}

struct symbols_table *symbols_table_new(const struct symbols_file *file,
                                        struct symbols_strings *strings)
{
    struct symbols_table *table = calloc(1, sizeof(*table));
    if (!table)
        return NULL;
    table->source = source_of(file);
    table->strings = strings;
    if (!add_elf_symbols(table, file) || !symbols_entries_add_plt(table, file) ||
        !symbols_entries_add_unwound(table, file) ||
        !(table->reach = malloc((table->count + 1) * sizeof(*table->reach)))) {
        symbols_table_free(table);
        return NULL;
    }
    if (table->count > 0)
        settle(table, file);
    return table;
}

void symbols_table_free(struct symbols_table *table)
{
    if (!table)
        return;
    free(table->symbols);
    free(table->reach);
    free(table);
}

/* Most names are never asked for, so they stay in the file until then. */
static const struct symbols_symbol *keep_name(struct symbols_table *table,
                                              struct symbols_symbol *symbol)
{
    char plt[512];
    if (symbol->name && !symbol->kept) {
        if (symbol->is_plt)
            snprintf(plt, sizeof(plt), "%s@plt", symbol->name);
        symbol->name = symbols_strings_keep(table->strings, symbol->is_plt ? plt : symbol->name);
        symbol->kept = true;
    }
    return symbol;
}

const struct symbols_symbol *symbols_table_find(struct symbols_table *table, uint64_t address)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->symbols[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 0 && table->reach[low - 1] > address) {
        low--;
        if (table->symbols[low].end > address)
            return keep_name(table, &table->symbols[low]);
    }
    return NULL;
}

const char *symbols_table_source(const struct symbols_table *table)
{
    return table->source;
}
