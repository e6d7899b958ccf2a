/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/got_patch.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/elf_symbols.h"
#include "capture/os/os.h"
#include "capture/os/process_maps.h"

#define WANTED_MAX 64u
#define PAGE_MASK (~(uint64_t)(ARCH_PAGE_SIZE - 1))

/* The tables of the dynamic section. NULL and 0 for those that it does not have. */
struct tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *hash; /* DT_GNU_HASH */
    const ElfW(Rela) * rela, *jump;
    size_t rela_count, jump_count;
    size_t relative_count; /* relocations at the beginning that have no symbol */
};

/* A symbol of the object that has one of the names. */
struct wanted {
    uint32_t symbol;
    struct got_function *name;
};

struct work {
    const struct got_object *object;
    struct got_patch *look;
    struct tables tables;
    struct wanted wanted[WANTED_MAX]; /* by ascending symbol */
    unsigned wanted_count;
    bool wanted_known;           /* false: the name of each symbol has to be read */
    uint64_t closed, closed_end; /* pages that the loader makes read-only */
    enum { PAGES_UNKNOWN, PAGES_OPENED, PAGES_BUSY, PAGES_REFUSED } pages;
};

bool got_object_measure(struct got_object *object)
{
    object->start = UINT64_MAX;
    object->end = 0;
    object->dynamic = NULL;
    for (unsigned i = 0; i < object->header_count; i++) {
        const ElfW(Phdr) *header = &object->headers[i];
        const uint64_t at = object->bias + header->p_vaddr;
        if (header->p_type == PT_DYNAMIC)
            object->dynamic = (const ElfW(Dyn) *)at;
        if (header->p_type != PT_LOAD)
            continue;
        if (at < object->start)
            object->start = at;
        if (at + header->p_memsz > object->end)
            object->end = at + header->p_memsz;
    }
    return object->dynamic && object->start < object->end;
}

/* Returns the table at `address`. The loader has added the bias, but not for every object (the
 * vdso). NULL if the object has nothing there. */
static const void *table_at(const struct got_object *object, uint64_t address)
{
    if (address < object->start)
        address += object->bias;
    return address >= object->start && address < object->end ? (const void *)address : NULL;
}

static struct tables tables_read(const struct got_object *object)
{
    struct tables tables = {0};
    for (const ElfW(Dyn) *entry = object->dynamic; entry->d_tag != DT_NULL; entry++) {
        const void *at = table_at(object, entry->d_un.d_ptr);
        switch (entry->d_tag) {
        case DT_SYMTAB:
            tables.symbols = at;
            break;
        case DT_STRTAB:
            tables.strings = at;
            break;
        case DT_GNU_HASH:
            tables.hash = at;
            break;
        case DT_RELA:
            tables.rela = at;
            break;
        case DT_JMPREL:
            tables.jump = at;
            break;
        case DT_RELASZ:
            tables.rela_count = entry->d_un.d_val / sizeof(*tables.rela);
            break;
        case DT_RELACOUNT:
            tables.relative_count = entry->d_un.d_val;
            break;
        case DT_PLTRELSZ:
            tables.jump_count = entry->d_un.d_val / sizeof(*tables.jump);
            break;
        default:
            break;
        }
    }
    if (!tables.rela)
        tables.rela_count = 0;
    if (tables.relative_count > tables.rela_count)
        tables.relative_count = tables.rela_count;
    if (!tables.jump)
        tables.jump_count = 0;
    return tables;
}

void *got_object_defines(const struct got_object *object, const char *name)
{
    return loaded_symbol(object->bias, object->dynamic, name);
}

static struct got_function *name_find(const struct got_patch *look, const char *text)
{
    for (unsigned i = 0; i < look->name_count; i++)
        if (look->names[i].name[0] == text[0] && strcmp(look->names[i].name, text) == 0)
            return &look->names[i];
    return look->find ? look->find(text) : NULL;
}

/* Finds the symbols that have one of the names. Symbols that are defined elsewhere come first,
 * before those of the hash table. That table says how many they are, unless it is empty. */
static void wanted_find(struct work *work)
{
    const struct tables *tables = &work->tables;
    work->wanted_known = tables->hash && tables->hash[1] > 1 && !work->look->own_too;
    for (uint32_t i = 1; work->wanted_known && i < tables->hash[1]; i++) {
        const char *text = tables->strings + tables->symbols[i].st_name;
        struct got_function *name = name_find(work->look, text);
        if (name && work->wanted_count == WANTED_MAX)
            work->wanted_known = false;
        else if (name)
            work->wanted[work->wanted_count++] = (struct wanted){i, name};
    }
}

static struct got_function *wanted_name(const struct work *work, uint32_t symbol)
{
    const struct wanted *wanted = work->wanted;
    if (!work->wanted_known)
        return name_find(work->look, work->tables.strings + work->tables.symbols[symbol].st_name);
    if (work->wanted_count == 0 || symbol > wanted[work->wanted_count - 1].symbol)
        return NULL;
    while (wanted->symbol < symbol)
        wanted++;
    return wanted->symbol == symbol ? wanted->name : NULL;
}

static bool is_writable_by_headers(const struct got_object *object, uint64_t at)
{
    for (unsigned i = 0; i < object->header_count; i++) {
        const ElfW(Phdr) *header = &object->headers[i];
        if (header->p_type == PT_LOAD && (header->p_flags & PF_W) &&
            at - (object->bias + header->p_vaddr) < header->p_memsz)
            return true;
    }
    return false;
}

/* Returns true if the loader has closed all pages of the range and nobody has opened them since. */
static bool pages_are_closed(uint64_t start, uint64_t end)
{
    struct process_maps *maps = process_maps_open();
    struct process_map map;
    bool closed = maps != NULL;
    while (closed && process_maps_next(maps, &map) && map.start < end)
        closed = map.end <= start || !map.writable;
    if (maps)
        process_maps_close(maps);
    return closed;
}

static void pages_open(struct work *work)
{
    const uint64_t size = work->closed_end - work->closed;
    if (!pages_are_closed(work->closed, work->closed_end))
        work->pages = PAGES_BUSY;
    else if (os_call(SYS_mprotect, (long)work->closed, (long)size, PROT_READ | PROT_WRITE, 0, 0,
                     0) != 0)
        work->pages = PAGES_REFUSED;
    else
        work->pages = PAGES_OPENED;
}

static void pages_close(const struct work *work)
{
    const uint64_t size = work->closed_end - work->closed;
    if (work->pages == PAGES_OPENED)
        os_call(SYS_mprotect, (long)work->closed, (long)size, PROT_READ, 0, 0, 0);
}

/* Writes the slot. False if it must not be written now. */
static bool slot_put(struct work *work, uint64_t at, void *function)
{
    if (at - work->closed < work->closed_end - work->closed) {
        if (work->pages == PAGES_UNKNOWN)
            pages_open(work);
        work->look->open += work->pages == PAGES_BUSY;
        work->look->refused += work->pages == PAGES_REFUSED;
        if (work->pages != PAGES_OPENED)
            return false;
    }
    atomic_store_explicit((_Atomic(void *) *)at, function, memory_order_release);
    work->look->patched++;
    return true;
}

static void missing_note(struct got_patch *look, const char *text)
{
    for (unsigned i = 0; i < look->missing_count; i++)
        if (strcmp(look->missing[i], text) == 0)
            return;
    if (look->missing_count < GOT_MISSING_MAX)
        look->missing[look->missing_count++] = text;
}

static void slot_look(struct work *work, const ElfW(Rela) * rela, struct got_function *name,
                      const ElfW(Sym) * symbol)
{
    const struct got_object *object = work->object;
    struct got_patch *look = work->look;
    const uint64_t at = object->bias + rela->r_offset;
    const unsigned type = (unsigned)ELF64_R_TYPE(rela->r_info);
    if (at % sizeof(void *) != 0 || !is_writable_by_headers(object, at))
        return;
    void *holds = atomic_load_explicit((_Atomic(void *) *)at, memory_order_acquire);
    const bool weak = ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
    look->heap += name->heap;
    if (name->foreign && symbol->st_value) /* other objects call it by way of this jump table */
        name->global = (void *)(object->bias + symbol->st_value);
    if ((!holds && weak) || (holds && (holds == name->own || holds == name->global)))
        return;
    if (!name->own) {
        missing_note(look, work->tables.strings + symbol->st_name);
        return;
    }
    if (holds == name->real || (name->also && holds == name->also)) {
        if (slot_put(work, at, name->own))
            look->late += name->heap;
    } else if (type == R_X86_64_JUMP_SLOT && got_object_holds(object, holds)) {
        if (look->lazy || name->foreign)
            look->unbound += slot_put(work, at, name->own);
    } else if (object->bias != 0 && (uint64_t)holds < object->end - object->start) {
        look->open++;
    } else if (type != R_X86_64_64) { /* a pointer in data may be set by the program */
        look->left += name->heap;
    }
}

static void relocations_look(struct work *work, const ElfW(Rela) * rela, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const unsigned type = (unsigned)ELF64_R_TYPE(rela[i].r_info);
        if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT &&
             (type != R_X86_64_64 || rela[i].r_addend != 0)) ||
            ELF64_R_SYM(rela[i].r_info) == 0)
            continue;
        const uint32_t index = (uint32_t)ELF64_R_SYM(rela[i].r_info);
        struct got_function *name = wanted_name(work, index);
        const ElfW(Sym) *symbol = &work->tables.symbols[index];
        if (name && (symbol->st_shndx == SHN_UNDEF || (work->look->own_too && !name->foreign)))
            slot_look(work, &rela[i], name, symbol);
    }
}

void got_patch_object(const struct got_object *object, struct got_patch *look)
{
    struct work work = {.object = object, .look = look, .tables = tables_read(object)};
    if (!work.tables.symbols || !work.tables.strings)
        return;
    for (unsigned i = 0; i < object->header_count; i++) {
        const ElfW(Phdr) *header = &object->headers[i];
        if (header->p_type != PT_GNU_RELRO)
            continue;
        work.closed = (object->bias + header->p_vaddr) & PAGE_MASK;
        work.closed_end = (object->bias + header->p_vaddr + header->p_memsz) & PAGE_MASK;
    }
    wanted_find(&work);
    relocations_look(&work, work.tables.rela + work.tables.relative_count,
                     work.tables.rela_count - work.tables.relative_count);
    relocations_look(&work, work.tables.jump, work.tables.jump_count);
    if (look->lazy_alike && look->left == 0) {
        struct got_patch unbound = *look;
        unbound.lazy = true;
        work.look = &unbound;
        relocations_look(&work, work.tables.jump, work.tables.jump_count);
        look->patched = unbound.patched;
        look->unbound = unbound.unbound;
        look->refused = unbound.refused;
    }
    pages_close(&work);
}
