/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the trace file, which only file.c and rotation.c know. */
#ifndef MPROF_CAPTURE_TRACE_FILE_PARTS_H
#define MPROF_CAPTURE_TRACE_FILE_PARTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/options/trace_name.h"
#include "capture/os/disk_space.h"
#include "schemas/trace_layout.h"

enum trace_file_ahead { AHEAD_NOT, AHEAD_UNDER_WAY, AHEAD_DONE };

struct trace_file_parts {
    _Atomic(struct trace_file_header *) header;
    int owner;
    uint64_t id;
    _Atomic bool stopped;
    uint64_t limit; /* bytes, 0: none */
    struct disk_space_limit min_free;
    _Atomic uint32_t disk_due; /* number of the slot before which the disk is checked */
    uint32_t root;             /* process of the run's first trace; 0: there is no run */
    uint64_t sample_interval;
    _Atomic uint32_t paused; /* several threads may set it at once */
    uint32_t run;
    struct {
        _Atomic uint32_t state; /* enum trace_file_ahead */
        _Atomic uint32_t count, taken;
        uint32_t first;
        uint8_t *memory;
    } ahead;
    char base[TRACE_NAME_SIZE];
    char path[TRACE_NAME_SIZE];
    char given_path[TRACE_NAME_SIZE]; /* of the file that mprof-run has made */
    bool maker_ended;                 /* mprof-run could not be asked: it has ended */
};
extern struct trace_file_parts trace_file_parts __attribute__((visibility("hidden")));

/* Fills the header of a trace that begins now and has the id trace_file_parts.id. */
void trace_file_fill_header(struct trace_file_header *header, uint32_t flags);
/* Makes this header that of the trace; NULL: there is no trace. */
void trace_file_set_header(struct trace_file_header *header);
/* Returns a random number that is not 0. */
uint64_t trace_file_new_id(void);
/* Gives up the reserved slots, which do not belong to another trace. */
void trace_file_leave_ahead(void);

#endif
