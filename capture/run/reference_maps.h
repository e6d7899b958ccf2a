/* SPDX-License-Identifier: BSD-2-Clause */
/* The mappings of a process in which references are looked for, and those to which they lead
 * (trace-format.md, "References"): reads /proc/PID/maps, and tells the heap, the data of modules
 * and stacks apart.
 *
 * Legal order: set `process` and `trace`, and all else to zero; reference_maps_read() any number of
 * times, first while the process runs; reference_maps_free(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "schemas/trace_layout.h"

#define REFERENCE_SPANS 4u

/* A part of a mapping that is read (from `from` on), or to which references lead, or both. */
struct reference_mapping {
    uint64_t start, end, from;
    uint64_t offset;
    uint32_t protection; /* PROT_* */
    enum trace_references_kind kind;
    const char *path; /* "" if there is none */
};

struct reference_range {
    uint64_t start, end;
};

/* The registers of a thread that tell where its stack lies. */
struct reference_stack {
    uint64_t stack_pointer, thread_pointer;
};

struct reference_region; /* see the .c */
struct reference_module;
struct reference_known;

struct reference_maps {
    pid_t process;
    ino_t trace; /* its mappings do not count */
    char *text;
    size_t text_capacity;
    struct reference_region *regions;
    size_t region_count, region_capacity;
    struct reference_module *modules;
    size_t module_count, module_capacity;
    struct reference_known *known;
    size_t known_count, known_capacity;
    struct reference_mapping *mappings;
    size_t mapping_count, mapping_capacity;
    struct reference_range *targets; /* merged, in ascending order */
    size_t target_count, target_capacity;
    struct reference_range spans[REFERENCE_SPANS]; /* that hold all targets */
    size_t span_count;
    struct reference_range *own; /* memory of the recorder, in ascending order */
    size_t own_count, own_capacity;
    uint64_t shared;
};

/* Reads the mappings, without those of the recorder: `own` is its list in the process
 * (trace-format.md), of `own_count` pairs. The stacks are those of all threads; none if they run,
 * and then the files of new modules are read, too. The mappings ascend. False with errno. */
bool reference_maps_read(struct reference_maps *maps, const struct reference_stack *stacks,
                         size_t count, uint64_t own, uint32_t own_count);

/* Returns the target that the address is in, target_count if there is none. `hint`: the last one.
 */
size_t reference_maps_target(const struct reference_maps *maps, uint64_t address, size_t hint);
/* Returns true if the address lies in a heap mapping. */
bool reference_maps_leads(const struct reference_maps *maps, uint64_t address);

void reference_maps_free(struct reference_maps *maps);
