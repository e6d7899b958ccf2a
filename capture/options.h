/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the environment asks of the recorder: MPROF_OUTPUT and MPROF_OPTIONS.
 *
 * MPROF_OPTIONS is a list key=value,key,…:
 *   unwind=auto|fp|eh|instrument|off  how stacks are taken (default auto)
 *   depth=N                 frames kept of a stack (default: no limit but 4096)
 *   clock=exact|fast        a clock read for every event, or for every few (default exact)
 *   free-stacks             frees carry stacks too
 *   mmap                    mmap, munmap, mremap and mprotect are recorded too (mmap=1 is the same)
 *   compress                mprof-run packs the chunks that are full; alone it only says so in the
 *                           trace
 *   follow=all|fork|exec|none  who records beside the program: forked children, programs that are
 *                           executed (in its place too), both (default) or neither
 *   min-free=SIZE|N%        bytes, or that part of the disk, that are left free on it; 0: none
 *   max-size=SIZE           bytes that each trace may have, K, M or G behind the number; what comes
 *                           then is only counted
 *   start=wait              record nothing before mprof_resume() or mprof-ctl's resume
 *   start=run               likewise, but whether it has begun stands in the trace that
 * MPROF_OUTPUT names, where that is there: for programs executed later
 *   start=live>SIZE|allocs>N|mark:NAME|call:SYMBOL
 *                           likewise, before more is live or was allocated, a mark is set, or an
 *                           allocation is made in that function or what it calls
 *   stop=live>SIZE|allocs>N|mark:NAME|call:SYMBOL
 *                           recording ends for good then, in the same process
 *   sample=SIZE             record only a sample of the heap's blocks, one sample point in SIZE
 *                           bytes on average, K, M or G behind the number
 *   toggle=NUMBER           this signal switches recording off and on
 *   without=NUMBER:…        system calls, by number, that are not to be made, since a sandbox would
 *                           end the program for them. mprof-run sets it.
 *   root=PID                the process that MPROF_OUTPUT itself is meant for; any other writes
 *                           beside it. mprof-run sets it.
 */
#ifndef MPROF_CAPTURE_OPTIONS_H
#define MPROF_CAPTURE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/disk_space.h"
#include "capture/stack.h"
#include "capture/threshold.h"

/* Bytes of a mark's name that counts, the terminator included. */
#define OPTIONS_MARK 64u
/* And of a function's. */
#define OPTIONS_SYMBOL 256u
/* System calls that can be left out. */
#define OPTIONS_WITHOUT 64u

struct options {
    struct stack_options stack;
    bool fast_clock;
    bool free_stacks;
    bool start_waits;
    bool start_of_run; /* which has begun, or not, for all its processes */
    bool mmap;         /* mappings are recorded too */
    bool compress;     /* another process packs the chunks that are full */
    struct threshold_limit start, stop;
    char start_mark[OPTIONS_MARK], stop_mark[OPTIONS_MARK]; /* "": none */
    char start_call[OPTIONS_SYMBOL], stop_call[OPTIONS_SYMBOL];
    bool follow_fork, follow_exec;
    uint64_t max_size; /* of a trace, in bytes; 0: no limit */
    struct disk_space_limit min_free;
    uint64_t sample; /* mean bytes between sample points; 0: everything is recorded */
    uint32_t toggle; /* number of a signal; 0: none */
    uint32_t root;   /* process id; 0: whoever comes first */
    uint32_t without[OPTIONS_WITHOUT]; /* numbers of system calls */
    uint32_t without_count;
};

/*
 * Fills `options` with the defaults and then from `text` (NULL: defaults only). False where a
 * word is not understood; `bad` then names it, cut to `bad_size` bytes, and the words before
 * it hold.
 */
bool options_parse(const char *text, struct options *options, char *bad, unsigned bad_size);

#endif
