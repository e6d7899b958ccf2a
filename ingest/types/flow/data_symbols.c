/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/flow/data_symbols.h"

#include <gelf.h>
#include <stdlib.h>

#include "ingest/base/array.h"

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
        if (!name || !array_reserve(&objects->list, &objects->capacity, objects->count + 1,
                                    sizeof(*objects->list)))
            continue;
        objects->list[objects->count] = (struct object){
            symbol.st_value, symbol.st_value + symbol.st_size, objects->count, name};
        objects->count++;
    }
}

static int compare_objects(const void *left, const void *right)
{
    const struct object *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->order > b->order ? -1 : a->order < b->order;
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
    size_t low = 0, high = objects->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (objects->list[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = 0; i < NESTING_MAX && low > 0; i++)
        if (address < objects->list[--low].end)
            return objects->list[low].name;
    return NULL;
}
