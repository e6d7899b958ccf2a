/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that the environment gives the recorder: MPROF_OUTPUT and MPROF_OPTIONS.
 *
 * MPROF_OPTIONS is a list key=value,key,…:
 *   unwind=auto|fp|eh|instrument|off  how stacks are taken (default auto)
 *   depth=N                 frames kept of a stack (default 4096)
 *   clock=exact|fast        one clock read for each event, or for a few (default exact)
 *   free-stacks             records stacks of frees too
 *   mmap                    records mmap, munmap, mremap and mprotect too (mmap=1 is the same)
 *   compress                mprof-run packs full chunks; without mprof-run this only marks the
 *                           trace
 *   follow=all|fork|exec|none  who records beside the program: forked children, executed programs
 *                           (in its place too), both (default) or neither
 *   min-free=SIZE|N%        keeps these bytes, or this part of the disk, free on it; 0: none
 *   max-size=SIZE           the largest size of each trace, with K, M or G after the number; later
 *                           events are only counted
 *   start=wait              records nothing before mprof_resume() or mprof-ctl's resume
 *   start=run               the same, but the trace that MPROF_OUTPUT names, if it exists, says
 *                           whether recording has begun: for programs that are executed later
 *   start=live>SIZE|allocs>N|mark:NAME|call:SYMBOL
 *                           the same, until more is live or was allocated, a mark is set, or an
 *                           allocation is made in that function or in its callees
 *   stop=live>SIZE|allocs>N|mark:NAME|call:SYMBOL
 *                           ends recording then, for the rest of the process
 *   sample=SIZE             records only a sample of the heap's blocks, one sample point in SIZE
 *                           bytes on average, with K, M or G after the number
 *   toggle=NUMBER           this signal switches recording off and on
 *   label=KEY=TEXT          a label of the trace; a comma in it is the byte 0x1F
 *   suppressions            asks the program's own __lsan_default_suppressions() once
 *   without=NUMBER:…        system calls, by number, that must not be made, since a sandbox would
 *                           end the program for them. mprof-run sets it.
 *   files=NAME              the socket on which mprof-run makes files for processes that may not.
 *                           mprof-run sets it.
 *   root=PID                the process that writes MPROF_OUTPUT itself; any other writes beside
 *                           it. mprof-run sets it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/os/trace_name.h"
#include "schemas/trace_layout.h"

/* Stands for the comma in a label, which has no control characters. */
#define OPTIONS_COMMA '\x1f'

enum stack_unwind {
    STACK_UNWIND_AUTO,
    STACK_UNWIND_FRAME_POINTERS,
    STACK_UNWIND_EH,
    /* The modes above unwind. */
    STACK_UNWIND_INSTRUMENT, /* see shadow_stack.h; if that knows nothing, like AUTO */
    STACK_UNWIND_OFF
};

struct stack_options {
    enum stack_unwind unwind;
    /* Frames; 0: the built-in limit of 4096; at most 65536. A deeper stack keeps its innermost
     * frames under a marker: between three quarters of the limit and all of it. */
    uint32_t depth_limit;
};

/* Bytes of a mark's name, the terminator included. The rest does not count. */
#define OPTIONS_MARK 64u
#define OPTIONS_FILES 17u /* 16 digits and a terminator */
/* How the name of mprof-run's socket begins, before the digits; see file.h. */
#define TRACE_FILES_SOCKET "mprof-run."
/* Bytes of the name of a function, the terminator included. */
#define OPTIONS_SYMBOL 256u
/* The most system calls that can be left out. */
#define OPTIONS_WITHOUT 64u

/* The most that --sample takes: mean bytes between sample points. */
#define OPTIONS_SAMPLE_MAX (UINT64_C(1) << 40)

/* A limit, which is passed when there are more. 0: none. */
struct options_limit {
    uint64_t live; /* bytes */
    uint64_t allocations;
};

struct options {
    struct stack_options stack;
    bool fast_clock;
    bool free_stacks;
    bool start_waits;
    bool start_of_run; /* the first trace says whether recording has begun */
    bool mmap;         /* mappings are recorded too */
    bool compress;     /* another process packs full chunks */
    struct options_limit start, stop;
    char start_mark[OPTIONS_MARK], stop_mark[OPTIONS_MARK]; /* "": none */
    char start_call[OPTIONS_SYMBOL], stop_call[OPTIONS_SYMBOL];
    bool follow_fork, follow_exec;
    uint64_t max_size; /* of a trace, in bytes; 0: no limit */
    struct disk_space_limit min_free;
    uint64_t sample;     /* mean bytes between sample points; 0: everything is recorded */
    bool suppressions;   /* the program is asked for those that it carries */
    uint32_t toggle;     /* number of a signal; 0: none */
    uint32_t references; /* process that takes references when asked; 0: none */
    bool references_end; /* it is asked at the end, also at that by a fault or abort() */
    char references_mark[OPTIONS_MARK]; /* at which it is asked; "": none */
    char files[OPTIONS_FILES];          /* "": none */
    uint32_t root;                      /* process id; 0: the first process that comes */
    uint32_t without[OPTIONS_WITHOUT];  /* numbers of system calls */
    uint32_t without_count;
    struct options_label {
        const char *text; /* in the text that was parsed, not terminated */
        size_t length;
    } labels[TRACE_LABELS_MOST];
    uint32_t label_count;
};

/* Fills `options` with the defaults and then from `text` (NULL: defaults only). False at an unknown
 * word, which goes to `bad` (`bad_size` bytes); the words before it are set. */
bool options_parse(const char *text, struct options *options, char *bad, unsigned bad_size);
