/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/elf_symbols.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"

/* More than any file has: a larger number is damage. */
#define SECTIONS_MAX 100000u
#define NAMES_MAX (UINT64_C(1) << 30)
#define SYMBOLS_AT_A_TIME 512u

struct symbols_file {
    int descriptor;
    uint64_t sections; /* where the section headers begin */
    unsigned count;
    unsigned char type; /* of the wanted symbols */
    elf_symbols_each *each;
    void *context;
    Elf64_Sym read[SYMBOLS_AT_A_TIME];
};

static bool file_read(const struct symbols_file *file, uint64_t offset, void *to, uint64_t size)
{
    uint64_t done = 0;
    while (done < size) {
        long result = os_call(SYS_pread64, file->descriptor, (long)((uint8_t *)to + done),
                              (long)(size - done), (long)(offset + done), 0, 0);
        if (result <= 0)
            return false;
        done += (uint64_t)result;
    }
    return true;
}

static bool file_section(const struct symbols_file *file, unsigned index, Elf64_Shdr *section)
{
    return index < file->count &&
           file_read(file, file->sections + index * sizeof(*section), section, sizeof(*section));
}

static void file_each_of(struct symbols_file *file, const Elf64_Shdr *table, const char *names,
                         uint64_t names_size)
{
    const uint64_t count = table->sh_size / sizeof(*file->read);
    for (uint64_t first = 0; first < count; first += SYMBOLS_AT_A_TIME) {
        uint64_t some = count - first < SYMBOLS_AT_A_TIME ? count - first : SYMBOLS_AT_A_TIME;
        if (!file_read(file, table->sh_offset + first * sizeof(*file->read), file->read,
                       some * sizeof(*file->read)))
            return;
        for (uint64_t i = 0; i < some; i++) {
            const Elf64_Sym *symbol = &file->read[i];
            if (ELF64_ST_TYPE(symbol->st_info) == file->type && symbol->st_shndx != SHN_UNDEF &&
                symbol->st_size > 0 && symbol->st_name < names_size)
                file->each(file->context, names + symbol->st_name, symbol->st_value,
                           symbol->st_size);
        }
    }
}

static void file_table(struct symbols_file *file, const Elf64_Shdr *table)
{
    Elf64_Shdr strings;
    if (!file_section(file, table->sh_link, &strings) || strings.sh_type != SHT_STRTAB ||
        strings.sh_size == 0 || strings.sh_size > NAMES_MAX)
        return;
    /* With one byte more, the last name always ends. */
    char *names = os_map(strings.sh_size + 1);
    if (!names)
        return;
    if (file_read(file, strings.sh_offset, names, strings.sh_size))
        file_each_of(file, table, names, strings.sh_size);
    os_unmap(names, strings.sh_size + 1);
}

static void file_tables(struct symbols_file *file)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;
    if (!file_read(file, 0, &header, sizeof(header)) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_shentsize != sizeof(section))
        return;
    file->sections = header.e_shoff;
    file->count = header.e_shnum;
    /* If there are too many for the field, the first section header has the number. */
    if (file->count == 0 && header.e_shoff != 0) {
        file->count = 1;
        if (!file_section(file, 0, &section) || section.sh_size > SECTIONS_MAX)
            return;
        file->count = (unsigned)section.sh_size;
    }
    for (unsigned i = 0; i < file->count && file_section(file, i, &section); i++)
        if ((section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) &&
            section.sh_entsize == sizeof(Elf64_Sym))
            file_table(file, &section);
}

static void symbols_of(const char *path, unsigned char type, elf_symbols_each *each, void *context)
{
    /* Not on the stack, which may be the small one of a coroutine. */
    struct symbols_file *file = os_map(sizeof(*file));
    if (!file)
        return;
    file->type = type;
    file->each = each;
    file->context = context;
    file->descriptor = os_open_read(path);
    if (file->descriptor >= 0) {
        file_tables(file);
        os_close(file->descriptor);
    }
    os_unmap(file, sizeof(*file));
}

void elf_symbols_of(const char *path, elf_symbols_each *each, void *context)
{
    symbols_of(path, STT_FUNC, each, context);
}

void elf_symbols_of_data(const char *path, elf_symbols_each *each, void *context)
{
    symbols_of(path, STT_OBJECT, each, context);
}

/* ---- of a loaded object -------------------------------------------------------------------- */

#define VERSION_HIDDEN 0x8000u

/* Returns the table at `address`. The loader has added the bias, but not for every object (the
 * vdso). The object's tables lie near each other. */
static const void *table_at(uint64_t bias, const ElfW(Dyn) * dynamic, uint64_t address)
{
    const uint64_t near = (uint64_t)dynamic, added = address + bias;
    const uint64_t apart = address < near ? near - address : address - near;
    const uint64_t added_apart = added < near ? near - added : added - near;
    return (const void *)(added_apart < apart ? added : address);
}

/* Searches the hash table of "https://sourceware.org/legacy-ml/binutils/2006-10/msg00377.html". It
 * begins with the number of buckets, the first symbol in it, the words of the filter and its shift.
 * Then come filter, buckets and chains. The last hash of a chain has bit 0 set. */
void *loaded_symbol_sized(uint64_t bias, const ElfW(Dyn) * dynamic, const char *name,
                          uint64_t *size)
{
    const ElfW(Sym) *symbols = NULL;
    const char *strings = NULL;
    const uint32_t *table = NULL;
    const uint16_t *versions = NULL;
    for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; entry++) {
        const void *at = table_at(bias, dynamic, entry->d_un.d_ptr);
        if (entry->d_tag == DT_SYMTAB)
            symbols = at;
        else if (entry->d_tag == DT_STRTAB)
            strings = at;
        else if (entry->d_tag == DT_GNU_HASH)
            table = at;
        else if (entry->d_tag == DT_VERSYM)
            versions = at;
    }
    if (!table || !symbols || !strings || table[0] == 0)
        return NULL;
    uint32_t hash = 5381;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (uint8_t)*c;
    const uint32_t *buckets = table + 4 + (size_t)table[2] * 2;
    const uint32_t *chains = buckets + table[0];
    uint32_t index = buckets[hash % table[0]];
    void *old = NULL;
    if (index < table[1])
        return NULL;
    for (;; index++) {
        const uint32_t found = chains[index - table[1]];
        const ElfW(Sym) *symbol = &symbols[index];
        if ((found | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
            ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC &&
            strcmp(strings + symbol->st_name, name) == 0) {
            old = (void *)(bias + symbol->st_value);
            *size = symbol->st_size;
            if (!versions || !(versions[index] & VERSION_HIDDEN))
                return old;
        }
        if (found & 1)
            return old;
    }
}

void *loaded_symbol(uint64_t bias, const ElfW(Dyn) * dynamic, const char *name)
{
    uint64_t size;
    return loaded_symbol_sized(bias, dynamic, name, &size);
}
