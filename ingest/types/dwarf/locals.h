/* SPDX-License-Identifier: BSD-2-Clause */
/* The places of the variables of one function, by address: in a register or on its stack. They
 * include those of the functions inlined into it.
 *
 * Places on the stack are counted from the canonical frame address (DWARF 5, section 6.4), which
 * does not move while the function runs. types_locals_frame() relates it to rsp and rbp. */
#pragma once

#include "ingest/types/dwarf/entries.h"

struct types_site;

struct types_local {
    uint64_t start, end;   /* addresses in the module at which the place holds */
    Dwarf_Die variable;    /* DW_TAG_variable or DW_TAG_formal_parameter */
    Dwarf_Die function;    /* the function that declares it */
    bool on_stack;         /* `base` + `offset` is its address; otherwise `base` holds its value */
    uint8_t base;          /* register as encoded in instructions, or TYPES_FRAME_ADDRESS */
    int64_t offset;        /* in a register: add this to get the value */
    uint64_t piece_offset; /* offset in the variable of the bytes at this place */
    uint64_t piece_size;   /* 0: the whole variable */
};

#define TYPES_FRAME_ADDRESS 17 /* as a base: the canonical frame address */

struct types_locals {
    struct types_local *locals;
    size_t count, capacity;
    uint8_t frame_base; /* a register, TYPES_FRAME_ADDRESS or REGISTER_NONE */
    const struct symbols_file *file;
    Dwarf_CFI *unwinding; /* or NULL */
    Dwarf_Addr unwinding_bias;
};

/* Translates DWARF's number of a general register. Returns false if it is another register. */
bool types_machine_register(uint64_t number, uint8_t *machine);

/* Reads the variables of the site's function, if it has DWARF. False if memory is exhausted. */
bool types_locals_read(struct types_locals *locals, const struct types_site *site);
void types_locals_free(struct types_locals *locals);

/* Finds the register `base` and the `offset` whose sum is the canonical frame address at `pc`.
 * Returns false if they are not known. */
bool types_locals_frame(const struct types_locals *locals, uint64_t pc, uint8_t *base,
                        int64_t *offset);

/* ---- globals ------------------------------------------------------------------------------- */

/* The variables of one module that have a fixed address, by that address. Those of threads have one
 * beyond the module's: TYPES_THREAD_BLOCK and their offset in the block that each thread has. */

#define TYPES_THREAD_BLOCK (UINT64_C(1) << 62)

struct types_site;
struct types_globals;

/* Returns NULL if memory is exhausted. The first types_globals_find() reads the variables. */
struct types_globals *types_globals_new(const struct symbols_file *file);
void types_globals_free(struct types_globals *globals);

/* Finds the variable that covers `address`, and the offset into it. Returns false if none does. */
bool types_globals_find(struct types_globals *globals, struct types_index *index, uint64_t address,
                        Dwarf_Die *variable, uint64_t *offset);

/* Returns the address to which fs points if the module is an executable. 0: it has no variables of
 * threads. */
uint64_t types_globals_thread_pointer(const struct types_globals *globals);

/* Returns the address of the variable to which the dynamic linker's entry at `slot` leads: by
 * itself, as an offset from fs, or as an argument of __tls_get_addr(). 0: there is none, or the
 * variable is another module's. */
uint64_t types_globals_slot(struct types_globals *globals, uint64_t slot);

/* Returns the address of the variable of threads that `wrapper`, a function by its linkage name,
 * initializes and returns: Itanium C++ ABI, 2.9. 0: it is another function, or not known. */
uint64_t types_globals_thread_wrapped(struct types_globals *globals, const char *wrapper);
