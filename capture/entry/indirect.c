/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a symbol of a built library a local one of an indirect function, which no compiler does:
 * capture/entry/other_allocators.c has the reason. usage: indirect LIBRARY SYMBOL */
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LENGTH 128

static bool read_at(FILE *file, uint64_t offset, void *to, size_t size)
{
    return fseek(file, (long)offset, SEEK_SET) == 0 && fread(to, size, 1, file) == 1;
}

static bool name_is(FILE *file, uint64_t offset, const char *name)
{
    char found[NAME_MAX_LENGTH] = "";
    const size_t size = strlen(name) + 1;
    return size <= sizeof(found) && read_at(file, offset, found, size) &&
           memcmp(found, name, size) == 0;
}

static bool change(FILE *file, const Elf64_Shdr *table, const Elf64_Shdr *names, const char *name)
{
    Elf64_Sym symbol;
    for (uint64_t at = table->sh_offset; at < table->sh_offset + table->sh_size;
         at += sizeof(symbol)) {
        if (!read_at(file, at, &symbol, sizeof(symbol)))
            return false;
        if (!name_is(file, names->sh_offset + symbol.st_name, name))
            continue;
        symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_GNU_IFUNC);
        return fseek(file, (long)at, SEEK_SET) == 0 &&
               fwrite(&symbol, sizeof(symbol), 1, file) == 1;
    }
    return false;
}

/* Changes the symbol in the table that the loader reads and in the one for debuggers, if there is
 * one. Returns true if the former has it. */
static bool change_in_tables(FILE *file, const char *name)
{
    Elf64_Ehdr header;
    Elf64_Shdr table, names;
    bool changed = false;
    if (!read_at(file, 0, &header, sizeof(header)) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shentsize != sizeof(table))
        return false;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        if (!read_at(file, header.e_shoff + i * sizeof(table), &table, sizeof(table)))
            return false;
        if ((table.sh_type == SHT_DYNSYM || table.sh_type == SHT_SYMTAB) &&
            read_at(file, header.e_shoff + table.sh_link * sizeof(names), &names, sizeof(names)) &&
            change(file, &table, &names, name))
            changed = changed || table.sh_type == SHT_DYNSYM;
    }
    return changed;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 3 ? fopen(argv[1], "r+b") : NULL;
    const bool good = file && change_in_tables(file, argv[2]);
    if (!file || fclose(file) != 0 || !good) {
        fprintf(stderr, "indirect: %s has no symbol %s that can be changed\n",
                argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
        return 1;
    }
    return 0;
}
