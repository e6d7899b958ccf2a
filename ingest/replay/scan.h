/* SPDX-License-Identifier: BSD-2-Clause */
/* The first pass over a trace: everything that is not an event.
 *
 * An event may name a stack node that is in another thread's chunk and, by the stamps, a little
 * later. Therefore nodes, modules and threads are collected before any event is replayed. The pass
 * also finds the damage, the last stamp (the length of the session) and the number of events. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/base/array.h"
#include "ingest/base/status.h"
#include "ingest/replay/allocator_rules.h"
#include "ingest/replay/context_tree.h"
#include "ingest/replay/heap_snapshots.h"
#include "ingest/replay/suppressions.h"
#include "ingest/trace/cursor.h"
#include "ingest/trace/file.h"
#include "ingest/trace/merge.h"

/* The facts that runtimes of the program have told about themselves: the names of their functions,
 * and the kinds of their blocks (schemas/trace-format.md, "Runtimes"). */

struct runtime_name {
    uint64_t module, number;
    char *function, *file; /* file NULL: not known */
    uint32_t line;         /* where the function begins; 0: not known */
};

struct runtime_kind {
    uint64_t id;
    char *name;
};

/* All-zero is empty. */
struct runtimes {
    struct runtime_name *names;
    size_t name_count, name_capacity;
    struct index_map by_number;
    struct runtime_kind *kinds;
    size_t kind_count, kind_capacity;
    struct index_map by_id;
};

/* Returns the name of a function by the value of its node, or NULL if it is not known. */
const struct runtime_name *runtimes_name(const struct runtimes *runtimes, uint32_t module,
                                         uint64_t value);

/* Returns the name of a kind, or NULL if it is not known. */
const char *runtimes_kind(const struct runtimes *runtimes, uint64_t id);

/* The modules of which the recorder did not see all calls, as the trace names them. */

/* A set of lines. Zero-initialized: none. */
struct module_lines {
    char *text; /* or NULL */
    size_t length, capacity, count;
    size_t *starts; /* of each line in the text */
    size_t start_capacity;
    struct index_map by_line;
};

/* One module in each line. */
struct unrecorded_modules {
    struct module_lines late;   /* paths: only recorded from some moment on */
    struct module_lines unseen; /* "PATH (WHY)": not recorded */
};

/* The threads of a trace, by the recorder's number. */

#define THREAD_TIME_NONE UINT64_MAX

struct thread_row {
    uint32_t number;
    bool named; /* a THREAD record gave its tid and name */
    uint64_t tid;
    char name[64]; /* the kernel's (up to 15 bytes), or a longer one by pthread_setname */
    uint64_t start_ticks, end_ticks;  /* THREAD_TIME_NONE: not known */
    uint64_t stack_low, stack_high;   /* equal: not known */
    uint32_t segments, last_sequence; /* chunk segments found, and their highest number */
};

struct threads {
    struct thread_row *rows;
    size_t count, capacity;
    struct index_map by_number;
};

/* Returns the index of the thread's row, or INDEX_NONE if there is none. */
uint32_t threads_known(const struct threads *threads, uint32_t number);

/* ---- scan ---------------------------------------------------------------------------------- */

struct module_row {
    uint32_t id;
    char *path;
    uint8_t *build_id;
    size_t build_id_length;
    uint64_t load_bias, start, end;
    uint64_t loaded_ticks, unloaded_ticks; /* THREAD_TIME_NONE: still loaded */
    bool runtime;                          /* it has no file: its path is "[NAME]" */
};

struct trace_process {
    char *program; /* as it was called: the first argument */
    char *exe, *directory, *host, *kernel;
    char *boot_id;   /* "": not known */
    char *arguments; /* argv in one line, quoted if needed */
    uint64_t pid, parent_pid;
    uint64_t parent_trace;            /* id of the trace in which it was forked, 0: not forked */
    uint64_t fork_before, fork_after; /* ticks of the parent's trace, 0: not known */
    bool found;
    char *labels[TRACE_LABELS_MOST]; /* KEY=TEXT */
    size_t label_count;
};

/* Code without an unwinding rule: the walk found a frame's caller by the frame pointer. */
struct bare_code {
    uint64_t module, pc;
};

/* Memory that the recorder has mapped for itself, until a moment in ticks (UINT64_MAX: to the end).
 * It is told some time after it was mapped. */
struct own_memory {
    uint64_t number, start, size, until;
};

struct trace_scan {
    struct context_tree tree;
    struct module_row *modules;
    size_t module_count, module_capacity;
    struct index_map module_by_id;
    struct bare_code *bare_codes;
    size_t bare_count, bare_capacity;
    struct index_map bare_by_pc;
    struct threads threads;
    struct runtimes runtimes;
    struct trace_process process;
    struct problems problems;
    struct unrecorded_modules unrecorded;
    struct program_suppressions program_suppressions; /* suppressions */
    struct heap_snapshots snapshots;
    uint64_t events;     /* alloc, free and realloc records, arena ones included */
    uint64_t last_ticks; /* the highest stamp */
    uint64_t clock_ticks, clock_monotonic_ns; /* of the latest CLOCK record, 0: none */
    uint64_t damaged_bytes;
    uint64_t unknown_records;
    uint64_t dropped_events; /* of DROPPED records */
    uint64_t continued;      /* number of this trace in a rotated recording, 0: it is the first */
    struct own_memory *own;
    size_t own_count, own_capacity;
    enum heap_allocator library; /* that the process has mapped, as far as mappings were read */
    const char *linked;   /* the allocator that seems to be linked into the program, NULL: none */
    bool preloaded;       /* the recorder is a library that the process has mapped */
    uint64_t moments;     /* at which the pages in memory were read */
    uint64_t no_resident; /* enum trace_no_resident, 0: none was told */
    uint64_t live, promised_live; /* blocks that were live when the trace began */
    bool ended;                   /* an END record was found */
    uint64_t end_reason;          /* of the latest END record: enum trace_end_reason */
    uint64_t end_ticks;           /* its time */
    size_t polled_nodes;          /* of a growing trace: those that the previous poll has seen */
    const volatile sig_atomic_t *interrupted; /* not 0: stop; may be NULL */
};

/* Reads the whole trace into `scan`, which is zero-initialized but for `interrupted`. False with
 * `status` set. Call trace_scan_free() in any case. */
bool trace_scan(struct trace_scan *scan, const struct trace_file *file,
                struct ingest_status *status);
void trace_scan_free(struct trace_scan *scan);

/* Returns true if the recording was stopped or went on in another trace, while the program ran on.
 */
bool trace_scan_stopped(const struct trace_scan *scan, const struct trace_file_header *header);

/* Returns a scanner that fills `scan`, zero-initialized, from a trace that is still being recorded.
 * It does not note damage. */
struct trace_scanner trace_scan_growing(struct trace_scan *scan);

/* Returns true if no unwinding rule covers the module's code at `pc`, the pc as it is symbolized.
 */
bool trace_scan_is_bare(const struct trace_scan *scan, uint32_t module, uint64_t pc);

/* Returns the row of the module with the trace's `id`, or NULL if it is not known. */
const struct module_row *trace_scan_module(const struct trace_scan *scan, uint32_t id);
