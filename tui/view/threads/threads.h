/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the view of threads: a tree of processes and their threads with what they allocated,
 * and a pane that tells who freed the blocks of the selected one, and whose blocks it freed.
 * threads.c changes and draws it, data.c asks the engine and orders the rows.
 */
#ifndef MPROF_TUI_VIEW_THREADS_THREADS_H
#define MPROF_TUI_VIEW_THREADS_THREADS_H

#include "session/spread.h"
#include "tui/explore/explore.h"
#include "tui/view/common/pair.h"

/* A process, or a thread of the process above it. */
struct thread_row {
    bool is_process;
    uint32_t id;
    int depth;
    uint64_t allocations, bytes, live_bytes, at_peak_bytes;
    uint64_t out_count, out_bytes; /* its blocks that another thread freed */
    uint64_t in_count, in_bytes;   /* blocks of another thread that it freed */
    uint64_t from_ns, to_ns;
    int64_t number; /* pid or tid */
};

struct threads_data {
    uint64_t selections; /* the request */
    struct session_handover *handovers;
    size_t handover_count;
    struct thread_row *rows; /* as a tree */
    size_t count;
    uint64_t bytes;
    bool complete;
};

/* A row of the pane. */
struct handover_row {
    size_t handover;
    bool inwards; /* the selected thread freed the blocks */
};

struct threads {
    struct load load;
    struct threads_data *data; /* NULL: not there yet */
    uint64_t ordered;          /* selections whose rows are in order; 0: none */
    struct handover_row *parts;
    size_t part_count;
    const struct session *session;
    bool estimated;
    struct pair pair;
};

/* The columns of the table, and of the pane. */
enum thread_column {
    THREAD_NAME,
    THREAD_NUMBER,
    THREAD_COUNT,
    THREAD_BYTES,
    THREAD_LIVE,
    THREAD_AT_PEAK,
    THREAD_OUT,
    THREAD_IN,
    THREAD_FROM,
    THREAD_TO,
    THREAD_COLUMNS
};

enum part_column { PART_COUNT, PART_BYTES, PART_AT_PEAK, PART_WHO, PART_COLUMNS };

/* Asks for the rows, and orders them. */
void threads_load(struct threads *threads, struct exploration *exploration);
/* Orders the threads of each process; the tree of processes stays. */
void threads_sort(struct threads *threads);
/* Finds the pairs of threads that the pane shows of the selected row: of a process those of
 * different threads. */
void threads_find_parts(struct threads *threads, struct exploration *exploration);
void threads_sort_parts(struct threads *threads);
/* Returns the selected row, NULL if there is none. */
const struct thread_row *threads_selected(const struct threads *threads);
const char *threads_name(const struct threads *threads, const struct thread_row *row);
/* Returns the number that a column shows and sorts by. */
uint64_t threads_value(const struct thread_row *row, size_t column);
uint64_t threads_part_value(const struct threads *threads, const struct handover_row *part,
                            size_t column);

#endif
