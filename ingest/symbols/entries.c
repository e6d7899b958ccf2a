/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/entries.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

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

static int compare_slots(const void *left, const void *right)
{
    const struct slot *a = left, *b = right;
    return a->address < b->address ? -1 : a->address > b->address;
}

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
        qsort(found->slots, found->count, sizeof(*found->slots), compare_slots);
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
        return bsearch(&key, slots->slots, slots->count, sizeof(key), compare_slots);
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

bool symbols_entries_add_plt(struct symbols_table *table, const struct symbols_file *file)
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

/* Returns the bytes of code that the FDE at `fde` describes, or 0 if its encoding is not the usual
 * one. */
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

/*
 * The layout is that of Linux Standard Base Core 5.0, 10.6.2. Linkers write one form: version 1, a
 * pc-relative pointer, a 4-byte count, a table of 4-byte pairs relative to the section.
 */
bool symbols_entries_add_unwound(struct symbols_table *table, const struct symbols_file *file)
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
