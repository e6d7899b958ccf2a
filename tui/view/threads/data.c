/* SPDX-License-Identifier: BSD-2-Clause */
/* The question of the view of threads to the engine, and the order of its rows. */
#include <stdlib.h>
#include <string.h>

#include "tui/view/threads/threads.h"

/* ---- the question ----------------------------------------------------------------------- */

static struct thread_row *row_of_thread(struct threads_data *data, uint32_t thread)
{
    for (size_t i = 0; i < data->count; i++)
        if (!data->rows[i].is_process && data->rows[i].id == thread)
            return &data->rows[i];
    return NULL;
}

static bool occurs(const struct threads_data *data, uint32_t thread)
{
    for (size_t i = 0; i < data->handover_count; i++)
        if (data->handovers[i].thread == thread || data->handovers[i].free_thread == thread)
            return true;
    return false;
}

/* Adds a process with its threads that occur, then the processes that it started. Returns whether
 * any of these threads occurs: otherwise nothing is added. */
static bool add_process(const struct session *session, struct threads_data *data, uint32_t parent,
                        int depth)
{
    const struct session_process *processes;
    const struct session_thread *all;
    const size_t process_count = session_processes(session, &processes);
    const size_t thread_count = session_threads(session, &all);
    bool any = false;
    for (size_t p = 0; p < process_count; p++) {
        const struct session_process *process = &processes[p];
        const uint32_t above =
            process->executed_from != 0 ? process->executed_from : process->parent;
        if (above != parent)
            continue;
        const size_t here = data->count++;
        data->rows[here] = (struct thread_row){.is_process = true,
                                               .id = process->id,
                                               .depth = depth,
                                               .from_ns = process->start_ns,
                                               .to_ns = process->end_ns,
                                               .number = process->pid};
        bool used = false;
        for (size_t i = 0; i < thread_count; i++) {
            if (session_thread_process(session, all[i].id) != process->id ||
                !occurs(data, all[i].id))
                continue;
            used = true;
            data->rows[data->count++] = (struct thread_row){.id = all[i].id,
                                                            .depth = depth + 1,
                                                            .from_ns = all[i].start_ns,
                                                            .to_ns = all[i].end_ns,
                                                            .number = all[i].tid};
        }
        used |= add_process(session, data, process->id, depth + 1);
        if (!used)
            data->count = here;
        any |= used;
    }
    return any;
}

static void add_handover(struct threads_data *data, const struct session_handover *handover)
{
    struct thread_row *from = row_of_thread(data, handover->thread);
    struct thread_row *to = row_of_thread(data, handover->free_thread);
    if (from) {
        from->allocations += handover->allocations;
        from->bytes += handover->bytes;
        from->at_peak_bytes += handover->at_peak_bytes;
        if (handover->free_thread == SESSION_NO_THREAD)
            from->live_bytes += handover->bytes;
    }
    if (from && handover->free_thread != SESSION_NO_THREAD && from != to) {
        from->out_count += handover->allocations;
        from->out_bytes += handover->bytes;
    }
    if (to && from != to) {
        to->in_count += handover->allocations;
        to->in_bytes += handover->bytes;
    }
    data->bytes += handover->bytes;
}

/* Adds the sums of the threads to their process, which is the row above them. */
static void sum_processes(struct threads_data *data)
{
    struct thread_row *process = NULL;
    for (size_t i = 0; i < data->count; i++) {
        const struct thread_row *row = &data->rows[i];
        if (row->is_process) {
            process = &data->rows[i];
            continue;
        }
        if (!process)
            continue;
        process->allocations += row->allocations;
        process->bytes += row->bytes;
        process->live_bytes += row->live_bytes;
        process->at_peak_bytes += row->at_peak_bytes;
        process->out_count += row->out_count;
        process->out_bytes += row->out_bytes;
        process->in_count += row->in_count;
        process->in_bytes += row->in_bytes;
    }
}

static bool run(struct session *session, struct selection *selection, void *context,
                struct session_error *error)
{
    struct threads_data *data = context;
    const struct session_process *processes;
    const struct session_thread *threads;
    const size_t most =
        session_processes(session, &processes) + session_threads(session, &threads) + 1;
    if (!selection_handovers(selection, &data->handovers, &data->handover_count, error))
        return false;
    data->rows = calloc(most, sizeof(*data->rows));
    if (!data->rows) {
        snprintf(error->message, sizeof(error->message), SESSION_OUT_OF_MEMORY);
        return false;
    }
    add_process(session, data, 0, 0);
    for (size_t i = 0; i < data->handover_count; i++)
        add_handover(data, &data->handovers[i]);
    sum_processes(data);
    data->complete = true;
    return true;
}

static void clear(void *context)
{
    struct threads_data *data = context;
    free(data->handovers);
    free(data->rows);
}

/* ---- order ------------------------------------------------------------------------------ */

const char *threads_name(const struct threads *threads, const struct thread_row *row)
{
    const struct session_process *processes;
    const size_t count = session_processes(threads->session, &processes);
    if (!row->is_process)
        return session_thread_label(threads->session, row->id);
    for (size_t i = 0; i < count; i++)
        if (processes[i].id == row->id)
            return strrchr(processes[i].program, '/') ? strrchr(processes[i].program, '/') + 1
                                                      : processes[i].program;
    return "?";
}

uint64_t threads_value(const struct thread_row *row, size_t column)
{
    const uint64_t values[THREAD_COLUMNS] = {[THREAD_NUMBER] = (uint64_t)row->number,
                                             [THREAD_COUNT] = row->allocations,
                                             [THREAD_BYTES] = row->bytes,
                                             [THREAD_LIVE] = row->live_bytes,
                                             [THREAD_AT_PEAK] = row->at_peak_bytes,
                                             [THREAD_OUT] = row->out_count,
                                             [THREAD_IN] = row->in_count,
                                             [THREAD_FROM] = row->from_ns,
                                             [THREAD_TO] = row->to_ns};
    return values[column];
}

static int compare(const void *left, const void *right, void *context)
{
    const struct thread_row *a = left, *b = right;
    const struct threads *threads = context;
    const struct table *table = &threads->pair.main;
    const uint64_t x = threads_value(a, table->sort), y = threads_value(b, table->sort);
    int order = x < y ? -1 : x > y;
    if (table->sort == THREAD_NAME)
        order = strcmp(threads_name(threads, a), threads_name(threads, b));
    if (order != 0)
        return table->descending ? -order : order;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* Orders the threads of each process; the tree of processes stays. */
void threads_sort(struct threads *threads)
{
    struct thread_row *rows = threads->data ? threads->data->rows : NULL;
    const size_t count = threads->data ? threads->data->count : 0;
    for (size_t i = 0, last; i < count; i = last) {
        for (last = i + 1; last < count && !rows[last].is_process;)
            last++;
        if (last - i > 2)
            qsort_r(&rows[i + 1], last - i - 1, sizeof(*rows), compare, threads);
    }
}

/* ---- the pane --------------------------------------------------------------------------- */

const struct thread_row *threads_selected(const struct threads *threads)
{
    return threads->data && threads->pair.main.selected < threads->data->count
               ? &threads->data->rows[threads->pair.main.selected]
               : NULL;
}

uint64_t threads_part_value(const struct threads *threads, const struct handover_row *part,
                            size_t column)
{
    const struct session_handover *handover = &threads->data->handovers[part->handover];
    return column == PART_COUNT   ? handover->allocations
           : column == PART_BYTES ? handover->bytes
                                  : handover->at_peak_bytes;
}

static int compare_parts(const void *left, const void *right, void *context)
{
    const struct handover_row *a = left, *b = right;
    const struct threads *threads = context;
    const struct table *table = &threads->pair.side;
    const uint64_t x = threads_part_value(threads, a, table->sort),
                   y = threads_part_value(threads, b, table->sort);
    if (x != y)
        return (x < y) == table->descending ? 1 : -1;
    return a->handover < b->handover ? -1 : a->handover > b->handover;
}

void threads_sort_parts(struct threads *threads)
{
    if (threads->part_count > 1)
        qsort_r(threads->parts, threads->part_count, sizeof(*threads->parts), compare_parts,
                threads);
}

/* Finds the pairs that the pane shows. In a process, those of different threads. */
void threads_find_parts(struct threads *threads, struct exploration *exploration)
{
    const struct thread_row *row = threads_selected(threads);
    threads->part_count = 0;
    if (!row)
        return;
    struct handover_row *parts =
        realloc(threads->parts, (threads->data->handover_count + 1) * sizeof(*parts));
    if (!parts) {
        exploration_complain(exploration, SESSION_OUT_OF_MEMORY);
        return;
    }
    threads->parts = parts;
    for (size_t i = 0; i < threads->data->handover_count; i++) {
        const struct session_handover *handover = &threads->data->handovers[i];
        const bool of_process =
            row->is_process && handover->thread != handover->free_thread &&
            handover->free_thread != SESSION_NO_THREAD &&
            (session_thread_process(threads->session, handover->thread) == row->id ||
             session_thread_process(threads->session, handover->free_thread) == row->id);
        const bool outwards = !row->is_process && handover->thread == row->id;
        const bool inwards = !row->is_process && !outwards && handover->free_thread == row->id;
        if (of_process || outwards || inwards)
            parts[threads->part_count++] = (struct handover_row){i, inwards};
    }
    threads_sort_parts(threads);
}

/* ---- loading ---------------------------------------------------------------------------- */

void threads_load(struct threads *threads, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(uint64_t), sizeof(struct threads_data), run,
                                          clear};
    threads->session = exploration->session;
    threads->estimated = session_sampled(exploration->session);
    threads->data = exploration_get(exploration, &threads->load, &kind, &exploration->selections);
    if (threads->data && !threads->data->complete)
        threads->data = NULL;
    if (threads->data && threads->ordered != exploration->selections) {
        threads->ordered = exploration->selections;
        threads_sort(threads);
    }
    if (!threads->data)
        threads->part_count = 0;
}
