/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of the selected allocations by stack: state that passes share. A session may have hundreds
 * of thousands of stacks, and nearly every row changes the sum of another one. So each thread adds
 * to small tables: one number for each stack holds bytes and count, which stay in the cache of the
 * processor. Before such a number could overflow, the thread empties its tables into the sums.
 *
 * Order of calls: stack_summing_open(); for each thread stack_tables_place(); for each chunk
 * stack_rows_look(), for each of its batches stack_tables_add(); for each thread
 * stack_tables_empty(); stack_summing_close(). */
#pragma once

#include <pthread.h>

#include "session/store/kernels.h"
#include "session/table/selection_state.h"

/* The sums, shared by all threads. */
struct stack_summing {
    pthread_mutex_t lock;
    struct stack_sum *sums;
    uint32_t stacks;
    const struct row_set *set;
    const struct session *session;
    uint64_t peak_ns;
    uint32_t peak_machine; /* whose blocks count at the peak; 0: there is only one */
};

/* The sums of one thread since it emptied its tables. */
struct stack_tables {
    struct stack_summing *summing;
    uint64_t rows, bytes;
    uint64_t *all, *live, *at_peak; /* by stack: packed */
    uint32_t *short_lived;
};

/* The needs of one chunk, and the values of some of its rows. Columns that cannot matter need not
 * be there: few chunks have blocks that were live at the peak or at the end. */
struct stack_rows {
    bool peak;        /* some block may have been live at the peak: `began` and `life` matter */
    bool life;        /* some may be live or short-lived, others not: `life` matters */
    bool short_lived; /* all are, without `life` */
    bool huge;        /* too large for the tables */
    struct kernel_rows rows;
    uint64_t stack[KERNEL_ROWS], bytes[KERNEL_ROWS], counts[KERNEL_ROWS];
    uint64_t began[KERNEL_ROWS], life_ns[KERNEL_ROWS], thread[KERNEL_ROWS];
};

/* Makes sums of 0. Returns false with `error` set; otherwise stack_summing_close(). */
bool stack_summing_open(struct stack_summing *summing, const struct selection *selection,
                        struct session_error *error);
/* Gives the sums to the selection (`good`), or frees them. */
void stack_summing_close(struct stack_summing *summing, struct selection *selection, bool good);

/* Returns the bytes of the tables of one thread, which are 0 at first. */
size_t stack_tables_size(const struct stack_summing *summing);
/* Makes tables in that much memory. */
void stack_tables_place(struct stack_tables *tables, struct stack_summing *summing, void *memory);
/* Decides by the directory which columns of a chunk matter. */
void stack_rows_look(const struct stack_summing *summing, const struct column_store *store,
                     uint32_t chunk, struct stack_rows *rows);
/* Adds the rows of a batch. Not for samples. */
void stack_tables_add(struct stack_tables *tables, struct stack_rows *rows);
/* Adds what the thread has to the sums. A cancel ends it early, and the sums are wrong then: the
 * caller looks again. */
void stack_tables_empty(struct stack_tables *tables);

/* Finds selection->stack_sums by a pass of its own. Returns false with `error` set. */
bool selection_sum_stacks(struct selection *selection, struct session_error *error);
