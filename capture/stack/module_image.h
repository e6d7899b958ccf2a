/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the headers of a loaded ELF file in memory: its segments, build-id and unwind tables. */
#ifndef MPROF_CAPTURE_STACK_MODULE_IMAGE_H
#define MPROF_CAPTURE_STACK_MODULE_IMAGE_H

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

/*
 * Reads the headers of the ELF file whose first page is mapped at `start`, by reads that cannot
 * fault. False if there is no ELF header.
 */
bool module_image_read(uint64_t start, struct module_image *image);

#endif
