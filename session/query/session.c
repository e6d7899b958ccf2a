/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens and closes sessions, and answers questions about one as a whole. */
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/code_facts.h"
#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/graphs.h"
#include "session/graphs/names.h"
#include "session/query/kept_selections.h"
#include "session/query/live_list.h"
#include "session/query/other_sessions.h"
#include "session/query/sample_estimate.h"
#include "session/query/selection_state.h"
#include "session/run/recall.h"
#include "session/scan/estimate.h"
#include "session/scan/scan.h"
#include "session/user/user.h"

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
bool session_estimate_peak(struct session *session, struct session_error *error)
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
    if (!session) {
        session_fail_memory(error, "the session");
        return NULL;
    }
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

void session_close(struct session *session)
{
    if (!session)
        return;
    kept_selections_free(session);
    recall_free(session);
    sample_estimate_close(session);
    other_sessions_close(session);
    scan_close(session);
    live_list_free(session->live);
    live_list_free(session->passing);
    estimate_free(session->estimate);
    column_reader_free(session->reader);
    column_store_close(session->columns);
    code_facts_free(session->facts);
    user_free(session->user);
    stacks_close(&session->stacks);
    processes_free(&session->processes);
    names_free(&session->names);
    graph_names_free(session->graph_names);
    database_close(session->database);
    free(session);
}

bool session_recording(const struct session *session)
{
    return session_meta_number(session, "unfinished") != 0;
}

bool session_stopped(const struct session *session)
{
    static const char *const endings[] = {"stopped", "disk full", "size limit", "error"};
    const char *ending = session_meta(session, "ending");
    for (size_t i = 0; ending && i < sizeof(endings) / sizeof(*endings); i++)
        if (strcmp(ending, endings[i]) == 0)
            return true;
    return false;
}

bool session_program_ended(const struct session *session)
{
    return session_meta_number(session, "program_ended") != 0;
}

uint64_t session_lag_ns(const struct session *session)
{
    int64_t behind = session_meta_number(session, "behind_ns");
    return behind > 0 ? (uint64_t)behind : 0;
}

bool session_has_newer(struct session *session)
{
    return session_recording(session) && database_changed(session->database);
}

const char *session_path(const struct session *session)
{
    return database_path(session->database);
}

const char *session_meta(const struct session *session, const char *key)
{
    const char *own = processes_meta(&session->processes, key);
    if (own)
        return own;
    for (size_t i = 0; i < session->names.meta_count; i++) {
        if (strcmp(session->names.meta[i].key, key) == 0)
            return session->names.meta[i].value;
    }
    return NULL;
}

int64_t session_meta_number(const struct session *session, const char *key)
{
    const char *value = session_meta(session, key);
    return !value ? 0 : strtoll(value, NULL, 10);
}

uint64_t session_allocation_count(const struct session *session)
{
    return processes_rows(session);
}

uint64_t session_first_allocation(const struct session *session)
{
    return processes_first_id(session);
}

bool session_has_allocation(const struct session *session, uint64_t id)
{
    return id - session_first_allocation(session) < session_allocation_count(session);
}

uint64_t session_duration_ns(const struct session *session)
{
    return session->duration_ns;
}

bool session_sampled(const struct session *session)
{
    return session->estimate != NULL;
}

uint64_t session_peak_bytes(const struct session *session)
{
    return session->peak_bytes;
}

uint64_t session_peak_ns(const struct session *session)
{
    return session->peak_ns;
}

const char *session_function_name(const struct session *session, uint32_t function)
{
    return function < session->names.function_count ? session->names.function[function].name : "?";
}

const char *session_function_module(const struct session *session, uint32_t function)
{
    if (function >= session->names.function_count)
        return "?";
    return name_table_get(&session->names.module, session->names.function[function].module);
}

const char *session_function_place(const struct session *session, uint32_t function)
{
    return function < session->names.function_count ? session->names.function[function].place : "";
}

const char *session_function_file(const struct session *session, uint32_t function, uint32_t *line)
{
    const struct names *names = &session->names;
    *line = 0;
    if (function >= names->function_count || names->function[function].file == 0)
        return "";
    *line = names->function[function].line;
    return name_table_get(&names->file, names->function[function].file);
}

const char *session_thread_name(const struct session *session, uint32_t thread)
{
    return name_table_get(&session->names.thread, thread);
}

const char *session_thread_label(const struct session *session, uint32_t thread)
{
    const struct names *names = &session->names;
    return thread < names->thread.count && names->thread_label[thread] ? names->thread_label[thread]
                                                                       : "?";
}

const char *session_type_name(const struct session *session, uint32_t type)
{
    return type == 0 ? SESSION_UNKNOWN_TYPE : name_table_get(&session->names.type, type);
}

const char *session_kind_name(const struct session *session, uint32_t kind)
{
    return name_table_get(&session->names.kind, kind);
}

size_t session_threads(const struct session *session, const struct session_thread **threads)
{
    *threads = session->names.threads;
    return session->names.thread_count;
}

size_t session_marks(const struct session *session, const struct session_mark **marks)
{
    *marks = session->names.marks;
    return session->names.mark_count;
}

size_t session_rss(const struct session *session, const struct session_rss **samples)
{
    *samples = session->names.rss;
    return session->names.rss_count;
}

size_t session_stack(struct session *session, uint32_t stack, struct session_frame *frames,
                     size_t capacity)
{
    struct stacks *stacks = &session->stacks;
    const uint32_t *ids = NULL;
    /* If all frames are loaded, only those that the caller wants are read. */
    uint32_t node = stacks->loaded && stack < stacks->count ? stacks_node(stacks, stack) : 0;
    const size_t count =
        stacks->loaded ? stacks_depth(stacks, node) : stacks_frames_of(stacks, stack, &ids, NULL);
    bool guessed = false;
    for (size_t i = 0; i < count && i < capacity;
         i++, node = ids ? 0 : stacks_caller(stacks, node)) {
        const struct stack_frame *place =
            &stacks->frame_table[ids ? ids[i] : stacks_frame(stacks, node)];
        frames[i] = (struct session_frame){
            .function = place->function,
            .file = place->file == 0 ? "" : session->names.file.name[place->file],
            .line = place->line,
            .inlined = place->inlined,
            .guessed = guessed,
            .pc = place->pc,
        };
        /* All functions inlined into one call were found as one frame. */
        guessed = place->bare || (guessed && place->inlined);
    }
    return count;
}

size_t session_stack_call_site(struct session *session, uint32_t stack)
{
    struct stacks *stacks = &session->stacks;
    const uint32_t *ids;
    if (stack >= stacks->count || stacks->call_site[stack] == 0)
        return 0;
    if (stacks->loaded) {
        const uint32_t node = stacks_node(stacks, stack);
        const uint32_t site = stacks_find_frame(stacks, node, stacks->call_site[stack]);
        return site == 0 ? 0 : stacks_depth(stacks, node) - stacks_depth(stacks, site);
    }
    const size_t count = stacks_frames_of(stacks, stack, &ids, NULL);
    for (size_t i = 0; i < count; i++)
        if (ids[i] == stacks->call_site[stack])
            return i;
    return 0;
}

bool session_stack_by_collector(const struct session *session, uint32_t stack)
{
    return stacks_by_collector(&session->stacks, stack);
}

const char *session_stack_state(const struct session *session, uint32_t stack)
{
    return stacks_state(&session->stacks, stack);
}

bool session_allocation(struct session *session, uint64_t id, struct session_allocation *allocation,
                        struct session_error *error)
{
    if (id == 0 || id > column_store_rows(session->columns))
        return session_fail(error, 0, "no allocation has id %llu", (unsigned long long)id);
    uint32_t chunk = (uint32_t)((id - 1) / COLUMN_CHUNK_ROWS);
    size_t row = (size_t)((id - 1) % COLUMN_CHUNK_ROWS);
    uint64_t value[COLUMN_TOTAL];
    for (int column = 0; column < COLUMN_TOTAL; column++) {
        struct column_view view;
        if (!column_reader_get(session->reader, chunk, (enum column)column, &view, error))
            return false;
        value[column] = column_view_at(&view, row);
    }
    uint64_t life = value[COLUMN_LIFE_NS];
    *allocation = (struct session_allocation){
        .id = id,
        .address = value[COLUMN_ADDRESS],
        .size = value[COLUMN_SIZE],
        .count = value[COLUMN_COUNT_OF_OBJECTS],
        .alloc_ns = value[COLUMN_ALLOC_NS],
        .free_ns = life == 0 ? SESSION_LIVE : value[COLUMN_ALLOC_NS] + life - 1,
        .realloc_of = value[COLUMN_REALLOC_OF],
        .alignment = value[COLUMN_ALIGNMENT],
        .stack = (uint32_t)value[COLUMN_STACK],
        .thread = (uint32_t)value[COLUMN_THREAD],
        .free_thread = (uint32_t)value[COLUMN_FREE_THREAD],
        .free_stack = (uint32_t)value[COLUMN_FREE_STACK],
        .kind = (uint32_t)value[COLUMN_KIND],
        .type = (uint32_t)value[COLUMN_TYPE],
        .arena = (uint32_t)value[COLUMN_ARENA],
        .function = session->stacks.function[value[COLUMN_STACK]],
    };
    return true;
}
