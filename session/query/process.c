/* SPDX-License-Identifier: BSD-2-Clause */
/* Selects a process: its blocks, peak and values of `meta` are then those of the session. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/packed_array.h"
#include "schemas/process_choice.h"
#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/live_list.h"
#include "session/query/selection_state.h"

static void set_meta(struct session *session, const struct session_process *process)
{
    struct processes *processes = &session->processes;
    processes_set_text(processes, "program", process->program);
    processes_set_text(processes, "argv", process->argv);
    processes_set_text(processes, "executable", process->executable);
    processes_set_number(processes, "pid", (uint64_t)process->pid);
    processes_set_number(processes, "events", process->allocations + process->frees);
    processes_set_number(processes, "allocations", process->allocations);
    processes_set_number(processes, "frees", process->frees);
    processes_set_number(processes, "bytes_allocated", process->bytes);
    processes_set_number(processes, "live_count_end", process->live_count);
    processes_set_number(processes, "live_bytes_end", process->live_bytes);
    processes_set_number(processes, "peak_bytes", process->peak_bytes);
    processes_set_number(processes, "peak_ns", process->peak_ns);
}

/* Sets the values of a sample's estimates, and the number of stacks, by a look at the blocks. */
static bool count_blocks(struct session *session, struct session_error *error)
{
    struct processes *processes = &session->processes;
    struct selection *all = selection_new(session, NULL, error);
    const struct stack_sum *sums = all ? selection_stack_sums(all, error) : NULL;
    uint64_t stacks = 0;
    for (uint32_t i = 1; sums && i < session->stacks.count; i++)
        stacks += sums[i].count > 0;
    if (sums) {
        processes_set_number(processes, "stacks", stacks);
        processes_set_number(processes, "estimated_allocations", selection_allocations(all));
        processes_set_number(processes, "estimated_bytes", selection_bytes(all));
        processes_set_number(processes, "estimated_live_count_end", selection_live_count(all));
        processes_set_number(processes, "estimated_live_bytes_end", selection_live_bytes(all));
    }
    selection_free(all);
    return sums != NULL;
}

/* Stores the number of stacks that ingest has counted for the selected process. */
static bool counted_stacks(struct session *session, bool *found, uint64_t *stacks,
                           struct session_error *error)
{
    const struct processes *processes = &session->processes;
    uint8_t *data;
    size_t length;
    if (!database_packed_array(session->database, PACKED_PROCESS_STACKS, &data, &length, error))
        return false;
    *found = data && length == processes->count * 4;
    if (*found)
        *stacks = packed_get32(data + (size_t)(processes->selected - 1) * 4);
    free(data);
    return true;
}

/* Sets the numbers of threads and stacks, and the estimates if the session is a sample. */
static bool count_meta(struct session *session, const struct session_process *process,
                       struct session_error *error)
{
    struct processes *processes = &session->processes;
    uint64_t threads = 0, stacks = 0;
    bool found = false;
    for (uint32_t i = 0; i < session->names.thread.count; i++)
        threads += session->names.thread_process[i] == processes->selected;
    processes_set_number(processes, "threads", threads);
    if (!session_sampled(session) && !counted_stacks(session, &found, &stacks, error))
        return false;
    if (!found)
        return count_blocks(session, error);
    processes_set_number(processes, "stacks", stacks);
    processes_set_number(processes, "estimated_allocations", process->allocations);
    processes_set_number(processes, "estimated_bytes", process->bytes);
    processes_set_number(processes, "estimated_live_count_end", process->live_count);
    processes_set_number(processes, "estimated_live_bytes_end", process->live_bytes);
    return true;
}

size_t session_processes(const struct session *session, const struct session_process **processes)
{
    *processes = session->processes.rows;
    return session->processes.count;
}

uint32_t session_selected_process(const struct session *session)
{
    return session->processes.selected;
}

bool session_select_process(struct session *session, uint32_t id, struct session_error *error)
{
    struct processes *processes = &session->processes;
    const struct session_process *process = id > 0 ? &processes->rows[id - 1] : NULL;
    processes->selected = id;
    processes_forget_meta(processes);
    live_list_free(session->live);
    live_list_free(session->passing);
    session->live = session->passing = NULL;
    if (process)
        set_meta(session, process);
    session->duration_ns =
        process ? process->end_ns : (uint64_t)session_meta_number(session, "duration_ns");
    session->peak_ns = (uint64_t)session_meta_number(session, "peak_ns");
    session->peak_bytes = (uint64_t)session_meta_number(session, "peak_bytes");
    /* RSS samples of several processes do not form one line. */
    return (processes->count < 2 ||
            names_load_samples(&session->names, session->database, id, error)) &&
           session_estimate_peak(session, error) &&
           (!process || count_meta(session, process, error));
}

bool session_find_process(const struct session *session, const char *word, uint32_t *id,
                          struct session_error *error)
{
    const struct processes *processes = &session->processes;
    struct process_choice *rows = calloc(processes->count + 1, sizeof(*rows));
    size_t matches = 0, found;
    *id = 0;
    if (!rows)
        return session_fail_memory(error, "the session's processes");
    for (size_t i = 0; i < processes->count; i++)
        rows[i] = (struct process_choice){processes->rows[i].pid, processes->rows[i].place,
                                          processes->rows[i].program, processes->rows[i].bytes,
                                          processes->rows[i].resident_bytes};
    found = process_choose(rows, processes->count, word, &matches);
    free(rows);
    if (strcmp(word, PROCESS_CHOICE_ALL) == 0)
        return true;
    if (matches == 0)
        return session_fail(error, 0,
                            "no process of the session is called \"%s\" or has that "
                            "number; its table process lists them",
                            word);
    *id = (uint32_t)found + 1;
    return true;
}
