/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/dwarf/locals.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/symbols/walk.h"
#include "ingest/types/dwarf/registers.h"
#include "ingest/types/dwarf/site.h"

#define NESTING_MAX 128
#define LOCALS_MAX 20000

/* System V ABI, AMD64 supplement, figure 3.36. */
bool types_machine_register(uint64_t number, uint8_t *machine)
{
    static const uint8_t numbers[] = {REGISTER_RAX, REGISTER_RDX, REGISTER_RCX, REGISTER_RBX,
                                      REGISTER_RSI, REGISTER_RDI, REGISTER_RBP, REGISTER_RSP};
    if (number > 15)
        return false;
    *machine = number < 8 ? numbers[number] : (uint8_t)number;
    return true;
}

struct reader {
    struct types_locals *locals;
    Dwarf_Addr bias;
};

static bool append(struct types_locals *locals, const struct types_local *local)
{
    if (!ARRAY_RESERVE(locals->locals, locals->count, locals->capacity))
        return false;
    locals->locals[locals->count++] = *local;
    return true;
}

/* Reads one operation that gives a place. `*is_value`: DW_OP_stack_value may follow. */
static bool read_place(const struct reader *reader, const Dwarf_Op *operation,
                       struct types_local *local, bool *is_value)
{
    uint8_t atom = operation->atom;
    *is_value = false;
    local->offset = 0;
    if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
        local->on_stack = false;
        return types_machine_register(atom - DW_OP_reg0, &local->base);
    }
    if (atom == DW_OP_regx) {
        local->on_stack = false;
        return types_machine_register(operation->number, &local->base);
    }
    local->on_stack = true;
    if (atom == DW_OP_fbreg) {
        local->base = reader->locals->frame_base;
        local->offset = (int64_t)operation->number;
        return reader->locals->frame_base != REGISTER_NONE;
    }
    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
        *is_value = true;
        local->offset = (int64_t)operation->number;
        return types_machine_register(atom - DW_OP_breg0, &local->base);
    }
    return false;
}

/* Reads the places that an expression names: one, or one for each piece of the variable. */
static bool read_expression(const struct reader *reader, struct types_local local,
                            const Dwarf_Op *operations, size_t count)
{
    uint64_t offset = 0;
    for (size_t i = 0; i < count;) {
        bool is_value, known = false;
        if (operations[i].atom != DW_OP_piece) {
            known = read_place(reader, &operations[i], &local, &is_value);
            if (!known)
                return true;
            i++;
            if (i < count && operations[i].atom == DW_OP_stack_value && is_value) {
                local.on_stack = false;
                i++;
            } else if (is_value && local.base != REGISTER_RSP && local.base != REGISTER_RBP) {
                known = false; /* memory that a register points to */
            }
        }
        local.piece_offset = offset;
        local.piece_size = 0;
        if (i < count && operations[i].atom == DW_OP_piece) {
            local.piece_size = operations[i].number;
            offset += operations[i].number;
            i++;
        } else if (i < count) {
            return true; /* not just a place */
        }
        if (known && !append(reader->locals, &local))
            return false;
    }
    return true;
}

/* Reads a place without a list. It holds while the scope that declares the variable runs (DWARF 5,
 * 2.6.1). So the place of an inlined constructor's parameter does not hold in the rest of the
 * function, where the register or slot belongs to others. */
static bool read_in_scope(const struct reader *reader, struct types_local local,
                          const Dwarf_Die *scope, const Dwarf_Op *operations, size_t count)
{
    Dwarf_Addr base, start, end;
    Dwarf_Die die = *scope;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0;) {
        local.start = start + reader->bias;
        local.end = end + reader->bias;
        if (!read_expression(reader, local, operations, count))
            return false;
    }
    return true;
}

static bool read_variable(const struct reader *reader, Dwarf_Die *variable,
                          const Dwarf_Die *function, const Dwarf_Die *scope)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr base, start, end;
    Dwarf_Op *operations;
    size_t count;
    if (!dwarf_attr(variable, DW_AT_location, &attribute))
        return true;
    for (ptrdiff_t at = 0;
         (at = dwarf_getlocations(&attribute, at, &base, &start, &end, &operations, &count)) > 0;) {
        struct types_local local = {.variable = *variable, .function = *function};
        local.start = start + reader->bias;
        local.end = end + reader->bias;
        bool listed = start != 0 || end != (Dwarf_Addr)-1;
        if (listed ? !read_expression(reader, local, operations, count)
                   : !read_in_scope(reader, local, scope, operations, count))
            return false;
    }
    return true;
}

static bool has_addresses(Dwarf_Die *scope)
{
    Dwarf_Addr base, start, end;
    return dwarf_ranges(scope, 0, &base, &start, &end) > 0;
}

/* Reads a function. By depth, `owners` has functions, `scopes` the innermost with addresses. */
static bool read_function(const struct reader *reader, Dwarf_Die *function)
{
    Dwarf_Die path[NESTING_MAX], owners[NESTING_MAX], scopes[NESTING_MAX];
    if (dwarf_child(function, &path[0]) != 0)
        return true;
    size_t depth = 1;
    owners[0] = scopes[0] = *function;
    while (depth > 0 && reader->locals->count < LOCALS_MAX) {
        Dwarf_Die *die = &path[depth - 1];
        int tag = dwarf_tag(die);
        if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) &&
            !read_variable(reader, die, &owners[depth - 1], &scopes[depth - 1]))
            return false;
        if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
            depth < NESTING_MAX && dwarf_child(die, &path[depth]) == 0) {
            owners[depth] = tag == DW_TAG_inlined_subroutine ? *die : owners[depth - 1];
            scopes[depth] = has_addresses(die) ? *die : scopes[depth - 1];
            depth++;
            continue;
        }
        while (depth > 0 && !types_next_sibling(&path[depth - 1]))
            depth--;
    }
    return true;
}

static uint8_t frame_base(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;
    uint8_t machine;
    if (!dwarf_attr(function, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1)
        return REGISTER_NONE;
    uint8_t atom = operations[0].atom;
    if (atom == DW_OP_call_frame_cfa)
        return TYPES_FRAME_ADDRESS;
    if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31 &&
        types_machine_register(atom - DW_OP_reg0, &machine))
        return machine;
    return REGISTER_NONE;
}

bool types_locals_read(struct types_locals *locals, const struct types_site *site)
{
    memset(locals, 0, sizeof(*locals));
    locals->file = site->file;
    locals->frame_base = REGISTER_NONE;
    if (!site->file)
        return true;
    locals->unwinding = dwfl_module_eh_cfi(site->file->module, &locals->unwinding_bias);
    if (site->entry_count == 0)
        return true;
    Dwarf_Die function = site->entries[site->entry_count - 1];
    struct reader reader = {locals, site->file->bias};
    locals->frame_base = frame_base(&function);
    return read_function(&reader, &function);
}

void types_locals_free(struct types_locals *locals)
{
    free(locals->locals);
    memset(locals, 0, sizeof(*locals));
}

bool types_locals_frame(const struct types_locals *locals, uint64_t pc, uint8_t *base,
                        int64_t *offset)
{
    Dwarf_Frame *frame;
    Dwarf_Op *operations;
    size_t count;
    bool known = false;
    if (!locals->unwinding ||
        dwarf_cfi_addrframe(locals->unwinding, pc - locals->unwinding_bias, &frame) != 0)
        return false;
    if (dwarf_frame_cfa(frame, &operations, &count) == 0 && count == 1) {
        if (operations[0].atom == DW_OP_bregx) {
            *offset = (int64_t)operations[0].number2;
            known = types_machine_register(operations[0].number, base);
        } else if (operations[0].atom >= DW_OP_breg0 && operations[0].atom <= DW_OP_breg31) {
            *offset = (int64_t)operations[0].number;
            known = types_machine_register(operations[0].atom - DW_OP_breg0, base);
        }
    }
    free(frame);
    return known;
}

/* ---- globals ------------------------------------------------------------------------------- */

#define GLOBALS_MAX (1U << 22)

struct global {
    uint64_t address;
    uint64_t offset, size; /* of the piece at this address; size 0: the whole variable */
    Dwarf_Die variable;
};

/* A place that the dynamic linker fills with what leads to a variable. */
struct linked_slot {
    uint64_t slot, variable; /* an address; 0: in another module */
};

struct types_globals {
    const struct symbols_file *file;
    struct global *globals; /* sorted by address */
    size_t count, capacity;
    struct linked_slot *slots;
    size_t slot_count, slot_capacity;
    bool read, slots_read;
};

struct types_globals *types_globals_new(const struct symbols_file *file)
{
    struct types_globals *globals = calloc(1, sizeof(*globals));
    if (globals)
        globals->file = file;
    return globals;
}

void types_globals_free(struct types_globals *globals)
{
    if (globals)
        FREE_ALL(globals->globals, globals->slots);
    free(globals);
}

/* Reads the address with which an expression of `count` operations begins. Returns how many gave
 * it. 0: it is not known. */
static size_t read_address(uint64_t bias, Dwarf_Attribute *location, const Dwarf_Op *operations,
                           size_t count, uint64_t *address)
{
    Dwarf_Attribute indexed;
    Dwarf_Addr found;
    switch (operations[0].atom) {
    case DW_OP_addr:
        *address = operations[0].number + bias;
        return 1;
    case DW_OP_addrx:
        if (dwarf_getlocation_attr(location, operations, &indexed) != 0 ||
            dwarf_formaddr(&indexed, &found) != 0)
            return 0;
        *address = found + bias;
        return 1;
    case DW_OP_const4u:
    case DW_OP_const8u:
        *address = TYPES_THREAD_BLOCK + operations[0].number;
        return count > 1 && operations[0].number < TYPES_THREAD_BLOCK &&
                       (operations[1].atom == DW_OP_form_tls_address ||
                        operations[1].atom == DW_OP_GNU_push_tls_address)
                   ? 2
                   : 0;
    default:
        return 0;
    }
}

/* Adds the variable, or the pieces of it that the compiler kept. */
static void add(struct types_globals *globals, Dwarf_Die *variable)
{
    Dwarf_Attribute location;
    Dwarf_Op *operations;
    size_t count;
    uint64_t offset = 0;
    if (!dwarf_attr(variable, DW_AT_location, &location) ||
        dwarf_getlocation(&location, &operations, &count) != 0)
        return;
    for (size_t i = 0; i < count && globals->count < GLOBALS_MAX;) {
        struct global global = {.offset = offset, .variable = *variable};
        const size_t taken = read_address(globals->file->bias, &location, &operations[i], count - i,
                                          &global.address);
        i += taken;
        if (i < count) {
            if (operations[i].atom != DW_OP_piece)
                return;
            global.size = operations[i++].number;
            offset += global.size;
        }
        if (taken == 0)
            continue;
        if (!ARRAY_RESERVE(globals->globals, globals->count, globals->capacity))
            return;
        globals->globals[globals->count++] = global;
    }
}

/* Reads the unit's variables, including the static ones of functions. */
static void read_unit(struct types_globals *globals, const Dwarf_Die *unit)
{
    struct symbols_walk_entry entry;
    size_t shut = SIZE_MAX; /* deeper entries lie inside one that declares no globals */
    struct symbols_walk *walk = symbols_walk_begin(unit);
    while (walk && symbols_walk_next(walk, &entry)) {
        if (entry.depth > shut)
            continue;
        bool scope = entry.tag == DW_TAG_namespace || entry.tag == DW_TAG_subprogram ||
                     entry.tag == DW_TAG_lexical_block;
        shut = entry.children && !scope ? entry.depth : SIZE_MAX;
        if (entry.tag == DW_TAG_variable)
            add(globals, &entry.die);
    }
    symbols_walk_end(walk);
}

static void read_all(struct types_globals *globals)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t type;
    globals->read = true;
    while (dwarf_get_units(globals->file->dwarf, unit, &unit, NULL, &type, &die, &split) == 0)
        read_unit(globals, type == DW_UT_skeleton && split.addr ? &split : &die);
    if (globals->count > 1)
        qsort(globals->globals, globals->count, sizeof(*globals->globals), compare_uint64);
}

bool types_globals_find(struct types_globals *globals, struct types_index *index, uint64_t address,
                        Dwarf_Die *variable, uint64_t *offset)
{
    if (!globals->read)
        read_all(globals);
    size_t low = 0;
    ARRAY_BISECT(low, globals->count, globals->globals[middle].address <= address);
    if (low == 0)
        return false;
    struct types_type type;
    const struct global *global = &globals->globals[low - 1];
    *variable = global->variable;
    *offset = address - global->address + global->offset;
    return (global->size == 0 || address - global->address < global->size) &&
           types_of(index, variable, &type) && *offset < type.size;
}

/* ---- what the dynamic linker fills --------------------------------------------------------------
 */

uint64_t types_globals_thread_pointer(const struct types_globals *globals)
{
    size_t count;
    GElf_Phdr header;
    if (elf_getphdrnum(globals->file->elf, &count) != 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(globals->file->elf, (int)i, &header) && header.p_type == PT_TLS &&
            header.p_memsz < TYPES_THREAD_BLOCK && header.p_align < TYPES_THREAD_BLOCK)
            return TYPES_THREAD_BLOCK +
                   (header.p_align < 2
                        ? header.p_memsz
                        : (header.p_memsz + header.p_align - 1) / header.p_align * header.p_align);
    return 0;
}

/* Returns the word at `address` in the global offset table. */
static uint64_t table_word(const struct symbols_bytes *table, uint64_t address)
{
    uint64_t word = 0;
    if (table->data && address >= table->address && table->size >= sizeof(word) &&
        address - table->address <= table->size - sizeof(word))
        memcpy(&word, table->data + (address - table->address), sizeof(word));
    return word;
}

/* The relocations of the System V ABI, AMD64 supplement, 4.4.1, and Drepper, "ELF Handling For
 * Thread-Local Storage", 4.1.6: the number of the module with the offset in its block after it, or
 * the offset from fs. */
static void add_slot(struct types_globals *globals, const GElf_Rela *relocation, Elf_Data *symbols,
                     const struct symbols_bytes *table)
{
    const uint64_t type = GELF_R_TYPE(relocation->r_info), number = GELF_R_SYM(relocation->r_info);
    struct linked_slot slot = {relocation->r_offset, 0};
    GElf_Sym symbol = {.st_value = 0};
    /* A DTPOFF64 for the same symbol follows. */
    if ((type == R_X86_64_DTPMOD64 && number != 0) ||
        (number != 0 && (!symbols || !gelf_getsym(symbols, (int)number, &symbol))))
        return;
    if (type == R_X86_64_DTPOFF64)
        slot.slot -= sizeof(uint64_t);
    else if (type == R_X86_64_DTPMOD64)
        symbol.st_value = table_word(table, slot.slot + sizeof(uint64_t));
    else if (type != R_X86_64_TPOFF64 && type != R_X86_64_GLOB_DAT)
        return;
    if (number == 0 || symbol.st_shndx != SHN_UNDEF)
        slot.variable = (type == R_X86_64_GLOB_DAT ? 0 : TYPES_THREAD_BLOCK) + symbol.st_value +
                        (uint64_t)relocation->r_addend;
    if (ARRAY_RESERVE(globals->slots, globals->slot_count, globals->slot_capacity))
        globals->slots[globals->slot_count++] = slot;
}

static void read_slots(struct types_globals *globals)
{
    const struct symbols_bytes table = symbols_file_section(globals->file->elf, ".got");
    size_t read = 0; /* sections may lie one over the other in a hostile file */
    globals->slots_read = true;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(globals->file->elf, section));) {
        GElf_Shdr header;
        GElf_Rela relocation;
        Elf_Data *data;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
            !(header.sh_flags & SHF_ALLOC) || !(data = elf_getdata(section, NULL)))
            continue;
        Elf_Data *symbols = elf_getdata(elf_getscn(globals->file->elf, header.sh_link), NULL);
        for (int i = 0; read < GLOBALS_MAX && gelf_getrela(data, i, &relocation); i++, read++)
            add_slot(globals, &relocation, symbols, &table);
    }
    if (globals->slot_count > 1)
        qsort(globals->slots, globals->slot_count, sizeof(*globals->slots), compare_uint64);
}

uint64_t types_globals_slot(struct types_globals *globals, uint64_t slot)
{
    if (!globals->slots_read)
        read_slots(globals);
    if (globals->slot_count == 0)
        return 0;
    const struct linked_slot *found = bsearch(&slot, globals->slots, globals->slot_count,
                                              sizeof(*globals->slots), compare_uint64);
    return !found ? 0 : found->variable;
}

/* Returns true if the wrapper, after its "_ZTW", names the variable. A variable in C's manner has
 * no linkage name: "count" for "5count" and, if it is static, "L5count". */
static bool is_wrapped(Dwarf_Die *variable, const char *wrapped)
{
    Dwarf_Attribute attribute;
    char *end;
    if (dwarf_attr_integrate(variable, DW_AT_linkage_name, &attribute)) {
        const char *linkage = dwarf_formstring(&attribute);
        return linkage && strncmp(linkage, "_Z", 2) == 0 && strcmp(linkage + 2, wrapped) == 0;
    }
    const char *name = dwarf_diename(variable);
    const unsigned long length = strtoul(wrapped + (*wrapped == 'L'), &end, 10);
    return name && length > 0 && length == strlen(end) && strcmp(name, end) == 0;
}

uint64_t types_globals_thread_wrapped(struct types_globals *globals, const char *wrapper)
{
    uint64_t found = 0;
    if (strncmp(wrapper, "_ZTW", 4) != 0)
        return 0;
    if (!globals->read)
        read_all(globals);
    for (size_t i = globals->count; i > 0 && globals->globals[i - 1].address >= TYPES_THREAD_BLOCK;
         i--) {
        struct global *global = &globals->globals[i - 1];
        if (!is_wrapped(&global->variable, wrapper + 4))
            continue;
        if (found != 0)
            return 0; /* those of several units have one name */
        found = global->address;
    }
    return found;
}
