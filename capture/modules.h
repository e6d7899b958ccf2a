/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which loaded file a code address belongs to.
 *
 * modules_init() once; modules_find() from any thread, without a lock: it asks the loader's
 * lock-free _dl_find_object (glibc 2.35 and newer), elsewhere /proc/self/maps. A module is
 * announced to the sink before a stack node may name it. Each load has an id of its own.
 */
#ifndef MPROF_CAPTURE_MODULES_H
#define MPROF_CAPTURE_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack.h"
#include "capture/unwind_table.h"

struct module {
    uint32_t id;
    uint64_t start, end; /* from the first to behind the last loaded segment */
    uint64_t load_bias;
    struct unwind_image image; /* header NULL: no call frame information */
};

/* Reads the executable's name. `by_maps`: as if the loader had no _dl_find_object. */
void modules_init(bool by_maps);

/* The module that holds `pc`. False where none does, or the table of modules is full. */
bool modules_find(uint64_t pc, struct module *module);

/*
 * Hands the module to sink->module if that has not happened yet, and waits where another thread
 * is at it. False where it could not be written.
 */
bool modules_announce(const struct module *module, const struct stack_sink *sink, void *context);

/*
 * Looks which modules have gone. For each calls gone(module, announced, argument); afterwards
 * another file at the same place is another module.
 */
void modules_sweep(void (*gone)(const struct module *module, bool announced, void *argument),
                   void *argument);

/* In a forked child: every module has to be announced again. */
void modules_reset(void);

/* At the start of a new trace: the same, in a process that goes on. */
void modules_announce_again(void);

/* Modules that were announced so far. */
uint64_t modules_announced(void);

#endif
