/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens and closes sessions, selects a process, and answers what one SQL query tells. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/packed_array.h"
#include "schemas/process_choice.h"
#include "session/filter/graphs.h"
#include "session/graphs.h"
#include "session/session.h"
#include "session/store/error.h"
#include "session/store/estimate.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "session/store/user.h"
#include "session/table/recall.h"
#include "session/table/selection_state.h"
#include "worst_mismatch_sql.h"

/* Checks a column of ids: the largest must be below `bound`, the size of its table. */
static bool check_id_column(const struct session *session, enum column column, uint64_t bound,
                            const char *table, struct session_error *error)
{
    for (uint32_t chunk = 0; chunk < column_store_chunks(session->columns); chunk++) {
        if (column_store_max(session->columns, chunk, column) >= bound)
            return session_fail(error, 0,
                                "%s: column chunk %lld is damaged: an id is not in table %s; "
                                "ingest the trace again",
                                database_path(session->database),
                                (long long)chunk * COLUMN_ID_STRIDE + (long long)column, table);
    }
    return true;
}

/* Stores a number of `meta`, 0 if it is missing. */
static bool read_fact(const struct session *session, const char *key, uint64_t *number,
                      struct session_error *error)
{
    const char *value = session_meta(session, key);
    char *end = NULL;
    const long long read = value ? strtoll(value, &end, 10) : 0;
    *number = (uint64_t)read;
    return !value || (read >= 0 && end != value && *end == '\0') ||
           session_fail(error, 0, "%s: table meta is damaged: %s is %.40s; ingest the trace again",
                        database_path(session->database), key, value);
}

static bool load(struct session *session, struct session_error *error)
{
    if (!names_load(&session->names, session->database, error) ||
        !stacks_open(&session->stacks, session->database, &session->names, error))
        return false;
    session->columns = column_store_open(session->database, error);
    session->reader = session->columns ? column_reader_new(session->columns, error) : NULL;
    if (!session->reader)
        return false;
    if (!read_fact(session, "duration_ns", &session->duration_ns, error) ||
        !read_fact(session, "peak_ns", &session->peak_ns, error) ||
        !read_fact(session, "peak_bytes", &session->peak_bytes, error))
        return false;
    return check_id_column(session, COLUMN_STACK, session->stacks.count, "stack", error) &&
           check_id_column(session, COLUMN_FREE_STACK, session->stacks.count, "stack", error) &&
           check_id_column(session, COLUMN_THREAD, session->names.thread.count, "thread", error) &&
           check_id_column(session, COLUMN_FREE_THREAD, session->names.thread.count, "thread",
                           error) &&
           check_id_column(session, COLUMN_KIND, session->names.kind.count, "kind", error) &&
           check_id_column(session, COLUMN_TYPE, session->names.type.count, "type", error) &&
           check_id_column(session, COLUMN_ARENA, session->names.arena.count, "arena", error);
}

/* The largest estimate may be at another moment than the largest sum of recorded blocks. */
static bool session_estimate_peak(struct session *session, struct session_error *error)
{
    const int64_t mean = session_meta_number(session, "sample_interval");
    if (mean <= 0)
        return true;
    if (!session->estimate)
        session->estimate = estimate_new((uint64_t)mean);
    if (!session->estimate)
        return session_fail_memory(error, "the estimates");
    struct selection *all = selection_new(session, NULL, error);
    bool good = all && selection_find_peak(all, error);
    if (good) {
        session->peak_ns = all->peak_ns;
        session->peak_bytes = all->peak_bytes;
    }
    selection_free(all);
    return good;
}

/* Selects the process that ingest selected. */
static bool select_process(struct session *session, struct session_error *error)
{
    const int64_t selected = session_meta_number(session, "selected_process");
    return selected <= 0 || (uint64_t)selected > session->processes.count ||
           session_select_process(session, (uint32_t)selected, error);
}

static bool is_cancelled(const void *context)
{
    const struct session *session = context;
    return session->scan && scan_cancelled(session);
}

void session_obey(struct session *session, const struct session *other)
{
    scan_obey(session, other);
}

struct session *session_open(const char *path, struct session_error *error)
{
    struct session *session = calloc(1, sizeof(*session));
    if (!session)
        return session_fail_memory_null(error, "the session");
    session->open = session_open;
    session->graph_names = graph_names_new(session);
    if (!session->graph_names)
        session_fail_memory(error, "the session");
    else
        session->database = database_open(path, error);
    if (session->database)
        database_stop_when(session->database, is_cancelled, session);
    if (!session->database || !scan_open(session, error) || !load(session, error) ||
        !session_estimate_peak(session, error) || !processes_read(session, error) ||
        !select_process(session, error)) {
        session_close(session);
        return NULL;
    }
    session_settings_apply(session, NULL); /* without them the session is as it was recorded */
    return session;
}

static void other_sessions_close(struct session *session)
{
    while (session->others) {
        struct other_session *other = session->others;
        session->others = other->next;
        session_close(other->session);
        free(other->path);
        free(other);
    }
}

void session_close(struct session *session)
{
    if (!session)
        return;
    kept_selections_free(session);
    recall_free(session);
    if (session->sample)
        recall_free(session->sample);
    session_sample_close(session);
    other_sessions_close(session);
    scan_close(session);
    if (session->forget_live)
        session->forget_live(session);
    estimate_free(session->estimate);
    column_reader_free(session->reader);
    column_store_close(session->columns);
    code_facts_free(session->facts);
    residencies_free(session->residencies);
    user_free(session->user);
    stacks_close(&session->stacks);
    processes_free(&session->processes);
    names_free(&session->names);
    graph_names_free(session->graph_names);
    database_close(session->database);
    free(session);
}

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

bool session_select_process(struct session *session, uint32_t id, struct session_error *error)
{
    struct processes *processes = &session->processes;
    const struct session_process *process = id > 0 ? &processes->rows[id - 1] : NULL;
    processes->selected = id;
    processes_forget_meta(processes);
    if (session->forget_live)
        session->forget_live(session);
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

struct collecting {
    struct session_member *members;
    size_t count, capacity;
};

static bool read_member(void *context, const struct database_row *row, struct session_error *error)
{
    struct collecting *collecting = context;
    if (collecting->count < collecting->capacity) {
        struct session_member *member = &collecting->members[collecting->count];
        const char *name = database_text(row, 0), *type = database_text(row, 1);
        snprintf(member->name, sizeof(member->name), "%s", !name ? "" : name);
        snprintf(member->type, sizeof(member->type), "%s", !type ? "?" : type);
        member->offset = (uint64_t)database_number(row, 2);
        member->size = (uint64_t)database_number(row, 3);
    }
    collecting->count++;
    return true;
}

static bool read_number(void *context, const struct database_row *row, struct session_error *error)
{
    *(uint64_t *)context = (uint64_t)database_number(row, 0);
    return true;
}

bool session_type_members(struct session *session, uint32_t type, struct session_member *members,
                          size_t capacity, size_t *count, uint64_t *size,
                          struct session_error *error)
{
    struct collecting collecting = {.members = members, .capacity = capacity};
    char sql[128];
    *size = 0;
    snprintf(sql, sizeof(sql), "SELECT COALESCE(size, 0) FROM type WHERE id = %" PRIu32, type);
    bool good = database_each(session->database, sql, read_number, size, error);
    snprintf(sql, sizeof(sql),
             "SELECT name, type, offset, size FROM type_member WHERE type_id = %" PRIu32
             " ORDER BY position",
             type);
    good = good && database_each(session->database, sql, read_member, &collecting, error);
    *count = collecting.count;
    return good;
}

static bool read_worst(void *context, const struct database_row *row, struct session_error *error)
{
    struct session_mismatch *worst = context;
    const char *kind = database_text(row, 0), *freed_by = database_text(row, 1);
    const char *function = database_text(row, 2);
    snprintf(worst->kind, sizeof(worst->kind), "%s", kind ? kind : "?");
    snprintf(worst->freed_by, sizeof(worst->freed_by), "%s", freed_by ? freed_by : "?");
    snprintf(worst->function, sizeof(worst->function), "%s", function ? function : "?");
    worst->allocations = (uint64_t)database_number(row, 3);
    return true;
}

bool session_worst_mismatch(const struct session *session, struct session_mismatch *worst,
                            struct session_error *error)
{
    worst->allocations = 0;
    if (session_meta_number(session, "mismatched_frees") <= 0)
        return true;
    return database_each(session->database, worst_mismatch_sql, read_worst, worst, error);
}

bool session_problems_kept(const struct session *session, const char *kind, uint64_t *count,
                           struct session_error *error)
{
    char sql[128];
    *count = 0;
    snprintf(sql, sizeof(sql), "SELECT count(*) FROM problem WHERE kind = '%.40s'", kind);
    return database_each(session->database, sql, read_number, count, error);
}
