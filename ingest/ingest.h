/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns a trace into a session: the whole pipeline in one call. */
#pragma once

#include <stdbool.h>

#include "cli/labels.h"
#include "ingest/base/status.h"
#include "ingest/replay/suppressions.h"
#include "ingest/symbols/symbols.h"
#include "ingest/trace/file.h"
#include "ingest/trace/import.h"
#include "ingest/types/types.h"
#include "ingest/write/writer.h"

/* ---- symbol cache -------------------------------------------------------------------------- */

/* The symbolizer and the type rules for all traces of one call. So the files of a program are
 * opened, and their debug information is read, only once for all processes of a run. */

struct cache;

struct symbol_cache {
    struct symbols *symbols;
    struct types *types;
    struct cache *answers; /* of symbols and types, or NULL */
    int folder;            /* of `answers` */
    const char *path;      /* the folder of answers; NULL: the user's */
    bool persistent;       /* answers of earlier calls are used and kept */
};

/* Prepares the cache for a trace. At first it is zero except for `path` and `persistent`, and later
 * as the previous trace left it. Give the same `options`. False if memory is exhausted. */
bool symbol_cache_begin(struct symbol_cache *cache, const struct symbols_options *options);

/* Releases the names and types. If `persistent` is set, keeps the answers for later calls. */
void symbol_cache_free(struct symbol_cache *cache);

/* ---- ingest -------------------------------------------------------------------------------- */

/* The phases of the progress bar. In INGEST_FOLLOW (the program runs) and INGEST_FOLLOW_ENDED
 * `done` is the events and `total` the ns that the session is behind. */
enum ingest_phase {
    INGEST_SCAN,
    INGEST_REPLAY,
    INGEST_ROWS,  /* waits for the rows to be written; `done`: bytes of the session so far */
    INGEST_WRITE, /* writes the other tables after them */
    INGEST_FOLLOW,
    INGEST_FOLLOW_ENDED
};

struct ingest_options {
    const char *trace, *session;
    const char *debug_dir, *sysroot; /* for the symbolizer, or NULL */
    struct writer_options writer;
    struct symbol_cache *symbol_cache; /* of the traces of one call; NULL: this is the only one */
    bool cached;                       /* use answers of earlier calls, and keep them */
    const char *cache;                 /* their folder; NULL: the user's */
    const struct suppressions *suppressions; /* stacks that are not leaks, or NULL */
    bool program_suppressions;               /* those that the program carries, too */
    bool bundle;                             /* copy the files that the names come from */
    bool redact; /* leave out what redact.h lists; `source_root` may be NULL */
    const char *source_root;
    const struct imported *imported; /* what was made of `trace`; NULL: it is a trace */
    struct labels labels;            /* in place of those of the trace */
    const char *process;             /* the one to select (schemas/process_choice.h), NULL: any */
    /* Called from time to time: `done` of the phase's `total` bytes are done. NULL: not called. */
    void (*progress)(void *context, enum ingest_phase phase, uint64_t done, uint64_t total);
    void *progress_context;
};

/* The origin of the process of a trace, and the trace's own time. */
struct ingest_origin {
    uint64_t trace_id;
    uint64_t parent_trace;            /* trace_id of the process that forked it; 0: none */
    uint64_t fork_before, fork_after; /* ticks of the parent's trace; 0: not known */
    uint64_t start_ticks;
    struct trace_time time;
};

/* The numbers of the summary. */
struct ingest_summary {
    char *program; /* free() */
    uint64_t allocations, frees, reallocs, bytes;
    uint64_t peak_bytes, peak_count, peak_ns, live_bytes, live_count, duration_ns;
    uint64_t threads, stacks, events;
    uint64_t sample_interval; /* 0: not sampled */
    uint64_t dropped, unmatched_frees, double_frees, mismatched_frees, wrong_sizes, overlaps,
        orphaned_events, damaged_bytes, missing_chunks, unseen_modules, late_modules,
        lost_suppressions, unreadable_debug, unrecorded;
    bool ended;                       /* the recorder closed the trace */
    bool stopped;                     /* the recording ended before the program */
    uint32_t outcome, outcome_number; /* of the process, as in the header of the trace */
    bool unknown_clock;
    uint32_t state;      /* enum trace_state */
    uint64_t all_events; /* of the whole run if this is one of its processes, otherwise 0 */
    double seconds;
    uint64_t left_out; /* traces of the run that could not be used, or are missing */
    uint32_t machines; /* how many machines the session's processes ran on */
    uint64_t inherited_frees, presumed_inherited_frees;
    char why_suppressions[sizeof((struct problem *)NULL)->detail]; /* the first that was lost; "":
                                                                      none */
    char
        why_unrecorded[sizeof((struct problem *)NULL)->detail]; /* the first program that was not */
    char why_unseen[sizeof((struct problem *)NULL)->detail];    /* the first module that was not */
    char why_debug[sizeof((struct problem *)NULL)->detail];     /* the same of debug information */
    struct ingest_origin origin;
};

/* Returns seconds since some moment, for the time that a call takes. */
double ingest_seconds(void);

/* Makes the session. False with `status` set; the session is then missing, or the old one. */
bool ingest_run(const struct ingest_options *options, struct ingest_summary *summary,
                struct ingest_status *status);

/* The progress bar: one line with rate and remaining time, if the output is a terminal. */

struct progress {
    bool shown;         /* on a terminal, without --quiet */
    bool drawn;         /* there is a line to clear */
    double begin, last; /* seconds of a monotonic clock */
};

void progress_init(struct progress *progress, bool quiet);
/* Draws the bar. For ingest_options.progress, with a struct progress as its context. */
void progress_report(void *context, enum ingest_phase phase, uint64_t done, uint64_t total);
/* Clears the line. */
void progress_end(struct progress *progress);
