/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks the entries of one unit in the order of the file, several times faster than libdw. It
 * decodes only the shape of an entry, which the abbreviation gives once. libdw then answers what an
 * entry says.
 *
 * Order of calls: symbols_walk_begin(), symbols_walk_next() until it is false,
 * symbols_walk_end(). */
#pragma once

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols_walk;

struct symbols_walk_entry {
    Dwarf_Die die;
    int tag;
    size_t depth;   /* 0: directly inside the unit's own entry */
    bool children;  /* entries of depth + 1 come next */
    bool code;      /* it says at which addresses it has code */
    bool by_origin; /* its name and declaration are those of its abstract origin */
};

/* Finds the entry at an offset of the section in which the unit lies: .debug_types for a type of
 * DWARF 4, otherwise .debug_info. Returns false if there is none. */
bool symbols_die_at(Dwarf_CU *unit, Dwarf_Off offset, Dwarf_Die *die);

/* Begins a walk; `unit` is the unit's entry. NULL if it is unreadable or memory exhausted. */
struct symbols_walk *symbols_walk_begin(const Dwarf_Die *unit);

/* Reads the next entry. False at the unit's end and at an entry that cannot be read. */
bool symbols_walk_next(struct symbols_walk *walk, struct symbols_walk_entry *entry);

/* Returns true if symbols_walk_next() ended because memory ran out. */
bool symbols_walk_failed(const struct symbols_walk *walk);

void symbols_walk_end(struct symbols_walk *walk);

/* The work that a module's debug information may ask for. Each step for which an honest compiler
 * writes bytes (an entry, a range, a row) takes one unit. Without this limit, a small file whose
 * entries share long lists would take hours. */

struct symbols_budget {
    uint64_t left;
    bool spent; /* a step was refused */
};

static inline bool symbols_budget_take(struct symbols_budget *budget)
{
    if (budget->left == 0) {
        budget->spent = true;
        return false;
    }
    budget->left--;
    return true;
}
