/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/table.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "schemas/array.h"

/* From this rank on, an entry never takes part of a function that another entry covers. */
#define SYMBOLS_RANK_LABEL 8
#define SYMBOLS_RANK_PLT 7
#define SYMBOLS_RANK_BOUNDS 16

struct symbols_table {
    struct symbols_symbol *symbols; /* sorted by start, then end */
    uint64_t *reach;                /* largest end in symbols[0..i]; tells how far back to look */
    size_t count, capacity;
    const char *source;
    struct symbols_strings *strings;
};

/* Adds an entry before the table is sorted. Returns false if memory is exhausted. */
static bool symbols_table_add(struct symbols_table *table, const struct symbols_symbol *symbol)
{
    if (!ARRAY_GROW(table->symbols, table->count, table->capacity))
        return false;
    table->symbols[table->count++] = *symbol;
    return true;
}

/* Code without a symbol of its own: entries of the procedure linkage table, which are named after
 * the function they jump to ("malloc@plt"), and functions that only .eh_frame_hdr knows (bounds, no
 * name). */

/* ---- procedure linkage table ------------------------------------------------------------ */

/* A slot of the global offset table, and the symbol whose address the loader writes into it. */
struct slot {
    uint64_t address;
    const char *name; /* in the ELF's string table */
};

struct slots {
    struct slot *slots;
    size_t count;
};

static const char *dynamic_name(Elf *elf, const GElf_Shdr *relocations, const GElf_Rela *relocation)
{
    Elf_Scn *symbols = elf_getscn(elf, relocations->sh_link);
    GElf_Shdr header;
    GElf_Sym symbol;
    if (!symbols || !gelf_getshdr(symbols, &header) ||
        !gelf_getsym(elf_getdata(symbols, NULL), (int)GELF_R_SYM(relocation->r_info), &symbol))
        return NULL;
    return elf_strptr(elf, header.sh_link, symbol.st_name);
}

static bool read_slots(Elf *elf, struct slots *found)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        Elf_Data *data;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
            !(header.sh_flags & SHF_ALLOC) || !(data = elf_getdata(section, NULL)))
            continue;
        size_t count = data->d_size / sizeof(Elf64_Rela);
        struct slot *grown = realloc(found->slots, (found->count + count + 1) * sizeof(*grown));
        if (!grown)
            return false;
        found->slots = grown;
        for (size_t i = 0; i < count; i++) {
            GElf_Rela relocation;
            if (!gelf_getrela(data, (int)i, &relocation))
                break;
            uint64_t type = GELF_R_TYPE(relocation.r_info);
            if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
                continue;
            const char *name = dynamic_name(elf, &header, &relocation);
            if (name && *name != '\0')
                found->slots[found->count++] = (struct slot){relocation.r_offset, name};
        }
    }
    if (found->count > 1)
        qsort(found->slots, found->count, sizeof(*found->slots), compare_uint64);
    return true;
}

/* Finds the slot that the entry jumps through: `jmp *displacement(%rip)` is FF 25 and 32 bits. */
static const struct slot *entry_slot(const struct slots *slots, const uint8_t *bytes, size_t length,
                                     uint64_t address)
{
    for (size_t at = 0; at + 6 <= length; at++) {
        int32_t displacement;
        if (bytes[at] != 0xff || bytes[at + 1] != 0x25)
            continue;
        memcpy(&displacement, bytes + at + 2, sizeof(displacement));
        struct slot key = {address + at + 6 + (uint64_t)(int64_t)displacement, NULL};
        return bsearch(&key, slots->slots, slots->count, sizeof(key), compare_uint64);
    }
    return NULL;
}

static bool add_plt_section(struct symbols_table *table, const struct slots *slots,
                            const GElf_Shdr *header, const Elf_Data *data)
{
    size_t step = header->sh_entsize == 8 ? 8 : 16;
    for (size_t at = 0; at + step <= data->d_size; at += step) {
        uint64_t address = header->sh_addr + at;
        const struct slot *slot =
            entry_slot(slots, (const uint8_t *)data->d_buf + at, step, address);
        if (!slot)
            continue;
        struct symbols_symbol symbol = {address,          address + step, slot->name,
                                        SYMBOLS_RANK_PLT, true,           false};
        if (!symbols_table_add(table, &symbol))
            return false;
    }
    return true;
}

/* Both return false only if memory is exhausted. A damaged section adds nothing. */
static bool symbols_entries_add_plt(struct symbols_table *table, const struct symbols_file *file)
{
    struct slots slots = {NULL, 0};
    GElf_Ehdr elf_header;
    size_t names;
    bool good = true;
    if (!gelf_getehdr(file->elf, &elf_header) || elf_header.e_machine != EM_X86_64 ||
        elf_getshdrstrndx(file->elf, &names) != 0)
        return true;
    good = read_slots(file->elf, &slots);
    for (Elf_Scn *section = NULL;
         good && slots.count > 0 && (section = elf_nextscn(file->elf, section));) {
        GElf_Shdr header;
        Elf_Data *data;
        const char *name;
        if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR) &&
            header.sh_type == SHT_PROGBITS &&
            (name = elf_strptr(file->elf, names, header.sh_name)) &&
            strncmp(name, ".plt", 4) == 0 && (data = elf_getdata(section, NULL)) && data->d_buf)
            good = add_plt_section(table, &slots, &header, data);
    }
    free(slots.slots);
    return good;
}

/* ---- .eh_frame_hdr ---------------------------------------------------------------------- */

static uint64_t relative(uint64_t base, const uint8_t *at)
{
    int32_t offset;
    memcpy(&offset, at, sizeof(offset));
    return base + (uint64_t)(int64_t)offset;
}

/* Returns the bytes of code that an FDE describes, or 0 if its encoding is unusual. */
static uint64_t unwound_size(const struct symbols_bytes *frames, uint64_t fde, uint64_t start)
{
    uint64_t at = fde - frames->address;
    uint32_t size;
    if (!frames->data || fde < frames->address || at + 16 > frames->size ||
        relative(fde + 8, frames->data + at + 8) != start)
        return 0;
    memcpy(&size, frames->data + at + 12, sizeof(size));
    return size;
}

/* The layout is that of Linux Standard Base Core 5.0, 10.6.2. Linkers write one form: version 1, a
 * pc-relative pointer, a 4-byte count, a table of 4-byte pairs relative to the section. */
static bool symbols_entries_add_unwound(struct symbols_table *table,
                                        const struct symbols_file *file)
{
    struct symbols_bytes index = symbols_file_section(file->elf, ".eh_frame_hdr");
    struct symbols_bytes frames = symbols_file_section(file->elf, ".eh_frame");
    static const uint8_t usual[] = {1, 0x1b, 0x03, 0x3b};
    uint32_t count;
    if (!index.data || index.size < 12 || memcmp(index.data, usual, sizeof(usual)) != 0)
        return true;
    memcpy(&count, index.data + 8, sizeof(count));
    for (size_t i = 0; i < count && 12 + 8 * i + 8 <= index.size; i++) {
        const uint8_t *pair = index.data + 12 + 8 * i;
        uint64_t start = relative(index.address, pair);
        const struct symbols_range *code = symbols_file_code(file, start);
        if (!code)
            continue;
        uint64_t size = unwound_size(&frames, relative(index.address, pair + 4), start);
        if (size > code->end - start)
            size = code->end - start;
        struct symbols_symbol symbol = {start, start + size, NULL, SYMBOLS_RANK_BOUNDS,
                                        false, false};
        if (!symbols_table_add(table, &symbol))
            return false;
    }
    return true;
}

/* ---- table --------------------------------------------------------------------------------- */

/* Ranks names at one address: sized function, label; global, weak, local. */
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
    return ORDER(length_a, length_b) ?: strcmp(a->name, b->name);
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

/* Sorts the symbols by compare_symbols(). A large library has a hundred thousand: they are sorted
 * by their starts first. */
static void sort_symbols(struct symbols_table *table)
{
    const size_t count = table->count;
    struct number_pair *pairs = malloc((count + 1) * sizeof(*pairs)); /* start, place */
    struct symbols_symbol *sorted = malloc((count + 1) * sizeof(*sorted));
    if (!pairs || !sorted) {
        qsort(table->symbols, count, sizeof(*sorted), compare_symbols);
        FREE_ALL(pairs, sorted);
        return;
    }
    for (size_t i = 0; i < count; i++)
        pairs[i] = (struct number_pair){table->symbols[i].start, i};
    sort_pairs(pairs, count);
    for (size_t i = 0, end; i < count; i = end) {
        const uint64_t start = pairs[i].key;
        /* Those with the same start are first in the order of the file again. */
        for (end = i; end < count && pairs[end].key == start; end++)
            ;
        for (size_t j = i; j < end; j++)
            pairs[j].key = pairs[j].value;
        sort_pairs(&pairs[i], end - i);
        for (size_t j = i; j < end; j++)
            sorted[j] = table->symbols[pairs[j].value];
        if (end - i > 1)
            qsort(&sorted[i], end - i, sizeof(*sorted), compare_symbols);
    }
    FREE_ALL(pairs, table->symbols);
    table->symbols = sorted;
}

/* Keeps one symbol for each address, and stretches labels without a size up to the next symbol. */
static void settle(struct symbols_table *table, const struct symbols_file *file)
{
    sort_symbols(table);
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
    size_t low = 0;
    ARRAY_BISECT(low, table->count, table->symbols[middle].start <= address);
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

/* ---- lisp ---------------------------------------------------------------------------------- */

static const char lambda[] = "__lambda";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool is_word(char c)
{
    return (lower(c) >= 'a' && lower(c) <= 'z') || is_digit(c);
}

/* Returns what follows the number, or NULL if the name has not this form. */
static const char *after_number(const char *name)
{
    if (*name++ != 'L')
        return NULL;
    if (*name == 'C')
        name++;
    const char *number = name;
    while (is_digit(*name))
        name++;
    return name == number || *name == '\0' ? NULL : name;
}

bool symbols_lisp_is_candidate(const char *name)
{
    const char *at = after_number(name);
    while (at && (is_word(*at) || *at == '_'))
        at++;
    return at && *at == '\0';
}

/* Returns true if the file is linked with ECL's library. */
static bool is_of_ecl(Elf *elf)
{
    static const char library[] = "libecl.so";
    const struct symbols_bytes names = symbols_file_section(elf, ".dynstr");
    return names.data && memmem(names.data, names.size, library, sizeof(library) - 1);
}

/* Returns true if a character can be part of a symbol as Lisp prints it. */
static bool is_of_symbol(char c)
{
    return c > ' ' && c != 127 && !strchr("()\"';`,|\\#", c);
}

/* A symbol as text, [start, end). */
struct token {
    const char *start, *name, *end; /* `name`: after the package */
};

/* Reads the symbol at `at`, which is empty if there is none. */
static struct token read_token(const char *at, const char *end)
{
    struct token token = {at, at, at};
    for (; token.end < end && is_of_symbol(*token.end); token.end++)
        if (*token.end == ':')
            token.name = token.end + 1;
    return token;
}

static bool is_meant(const struct token *token, const char *wanted, size_t length)
{
    if ((size_t)(token->end - token->name) != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        const char c = token->name[i];
        if ((is_word(c) ? lower(c) : '_') != wanted[i])
            return false;
    }
    return true;
}

static bool same_name(const struct token *a, const struct token *b)
{
    const size_t length = (size_t)(a->end - a->name);
    return length == (size_t)(b->end - b->name) && memcmp(a->name, b->name, length) == 0;
}

static bool same_package(const struct token *a, const struct token *b)
{
    const size_t length = (size_t)(a->name - a->start);
    return length == (size_t)(b->name - b->start) && memcmp(a->start, b->start, length) == 0;
}

/* Finds the one symbol that is meant. If there are several packages, the result has none. */
static bool find_symbol(const struct symbols_bytes *text, const char *wanted, struct token *found)
{
    const char *at = (const char *)text->data, *end = at + text->size;
    const size_t length = strlen(wanted);
    bool any = false;
    while (at < end) {
        struct token token = read_token(at, end);
        at = token.end > at ? token.end : at + 1;
        if (token.end == token.start || !is_meant(&token, wanted, length))
            continue;
        if (any && !same_name(&token, found))
            return false;
        if (any && !same_package(&token, found))
            found->start = found->name;
        if (!any)
            *found = token;
        any = true;
    }
    return any;
}

static void put_upper(const char *from, const char *to, char *lisp, size_t size, size_t *used)
{
    for (; from < to && *used + 1 < size; from++)
        lisp[(*used)++] = (char)(*from >= 'a' && *from <= 'z' ? *from - 'a' + 'A' : *from);
    lisp[*used] = '\0';
}

static bool package_is(const struct token *token, const char *package)
{
    const size_t length = strlen(package);
    return (size_t)(token->name - token->start) == length &&
           memcmp(token->start, package, length) == 0;
}

bool symbols_lisp_name(const struct symbols_file *file, const char *name, char *lisp, size_t size)
{
    const char *wanted = after_number(name);
    struct token token = {0};
    size_t used = 0;
    if (!wanted || !is_of_ecl(file->elf))
        return false;
    if (strncmp(wanted, lambda, sizeof(lambda) - 1) == 0) {
        snprintf(lisp, size, "LAMBDA");
        return true;
    }
    const struct symbols_bytes text = symbols_file_section(file->elf, ".rodata");
    if (!text.data || !find_symbol(&text, wanted, &token))
        return false;
    if (package_is(&token, "common-lisp-user::") || package_is(&token, "common-lisp::"))
        token.start = token.name;
    put_upper(token.start, token.end, lisp, size, &used);
    return true;
}
