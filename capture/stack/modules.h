/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the loaded file that a code address belongs to.
 *
 * Call modules_init() once, then modules_find() from any thread. It takes no lock: it asks the
 * loader's lock-free _dl_find_object (glibc 2.35 and newer), otherwise /proc/self/maps. A module is
 * announced to the sink before a stack node may name it. Each load has its own id. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/stack/sink.h"
#include "capture/stack/unwind_table.h"

#define MODULE_BUILD_ID_MAX 32u

struct module_image {
    uint64_t load_bias; /* from the first loaded segment */
    uint64_t end;       /* after the last one */
    struct unwind_image unwind;
    uint8_t build_id[MODULE_BUILD_ID_MAX];
    size_t build_id_length;
    size_t segment_count;
    struct stack_segment segments[16]; /* addresses as in the file, without the bias */
};

struct module {
    uint32_t id;
    uint64_t start, end; /* from the first loaded segment to the end of the last */
    uint64_t load_bias;
    struct unwind_image image; /* header NULL: no call frame information */
};

/* Reads the executable's name. `by_maps`: works as if the loader had no _dl_find_object. */
void modules_init(bool by_maps);

/* Finds the module that holds `pc`. False if there is none or the table of modules is full. */
bool modules_find(uint64_t pc, struct module *module);

/* Hands the module to sink->module if that was not done yet. Waits if another thread is doing it.
 * False if it could not be written. */
bool modules_announce(const struct module *module, const struct stack_sink *sink, void *context);

/* Finds the modules that are gone, and calls gone(module, announced, argument) for each. After
 * that, another file in the same place is another module. */
void modules_sweep(void (*gone)(const struct module *module, bool announced, void *argument),
                   void *argument);

/* Has every module announced again. Called in a forked child. */
void modules_reset(void);

/* Does the same at the start of a new trace, in a process that goes on. */
void modules_announce_again(void);

/* Returns a new id, for a module without a file. */
uint32_t modules_take_id(void);

/* Returns how many modules were announced so far. */
uint64_t modules_announced(void);

/* Reads the headers of the ELF file whose first page is mapped at `start`, by reads that cannot
 * fault. False if there is no ELF header. */
bool module_image_read(uint64_t start, struct module_image *image);
