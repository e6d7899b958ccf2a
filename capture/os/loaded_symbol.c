/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/loaded_symbol.h"

#include <stddef.h>
#include <string.h>

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
void *loaded_symbol(uint64_t bias, const ElfW(Dyn) * dynamic, const char *name)
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
            if (!versions || !(versions[index] & VERSION_HIDDEN))
                return old;
        }
        if (found & 1)
            return old;
    }
}
