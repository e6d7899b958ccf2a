/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/store/session_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/store/error.h"
#include "session/store/scan.h"

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

const char *session_meta(const struct session *session, const char *key)
{
    const char *own = processes_meta(&session->processes, key);
    if (own)
        return own;
    for (size_t i = 0; i < session->names.meta_count; i++)
        if (strcmp(session->names.meta[i].key, key) == 0)
            return session->names.meta[i].value;
    return NULL;
}

bool session_label(const struct session *session, size_t index, const char **key, const char **text)
{
    static const char prefix[] = "label.";
    for (size_t i = 0; i < session->names.meta_count; i++) {
        const struct name_meta *meta = &session->names.meta[i];
        if (strncmp(meta->key, prefix, sizeof(prefix) - 1) != 0 || index-- > 0)
            continue;
        *key = meta->key + sizeof(prefix) - 1;
        *text = meta->value;
        return true;
    }
    return false;
}

char *session_labels(const struct session *session)
{
    const char *key, *text;
    char *labels = NULL;
    size_t size = 0;
    FILE *out = session_label(session, 0, &key, &text) ? open_memstream(&labels, &size) : NULL;
    for (size_t i = 0; out && session_label(session, i, &key, &text); i++)
        fprintf(out, "%s%s=%s", i > 0 ? ", " : "", key, text);
    if (out)
        fclose(out);
    return labels;
}

int64_t session_meta_number(const struct session *session, const char *key)
{
    const char *value = session_meta(session, key);
    return !value ? 0 : strtoll(value, NULL, 10);
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

struct session_allocation session_allocation_of(const struct session *session,
                                                const struct column_view views[COLUMN_TOTAL],
                                                uint64_t id)
{
    const size_t row = (size_t)((id - 1) % COLUMN_CHUNK_ROWS);
    uint64_t value[COLUMN_TOTAL];
    for (int column = 0; column < COLUMN_TOTAL; column++)
        value[column] = column_view_at(&views[column], row);
    const uint64_t life = value[COLUMN_LIFE_NS];
    return (struct session_allocation){
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
}

bool session_allocation(struct session *session, uint64_t id, struct session_allocation *allocation,
                        struct session_error *error)
{
    struct column_view views[COLUMN_TOTAL];
    if (id == 0 || id > column_store_rows(session->columns))
        return session_fail(error, 0, "no allocation has id %llu", (unsigned long long)id);
    for (int column = 0; column < COLUMN_TOTAL; column++)
        if (!column_reader_get(session->reader, (uint32_t)((id - 1) / COLUMN_CHUNK_ROWS),
                               (enum column)column, &views[column], error))
            return false;
    *allocation = session_allocation_of(session, views, id);
    return true;
}

/* ---- the sample of rows ---- */

void session_sample_close(struct session *session)
{
    struct session *sample = session->sample;
    session->sample = NULL;
    if (!sample)
        return;
    if (sample->scan)
        scan_close(sample);
    column_reader_free(sample->reader);
    column_store_close(sample->columns);
    free(sample);
}

/* Returns true if all ids of a column are in their table: programs use them as indexes. */
static bool ids_fit(const struct column_store *store, enum column column, uint64_t bound)
{
    for (uint32_t chunk = 0; chunk < column_store_chunks(store); chunk++)
        if (column_store_max(store, chunk, column) >= bound)
            return false;
    return true;
}

static bool all_fit(const struct column_store *store, const struct session *session)
{
    return ids_fit(store, COLUMN_STACK, session->stacks.count) &&
           ids_fit(store, COLUMN_FREE_STACK, session->stacks.count) &&
           ids_fit(store, COLUMN_THREAD, session->names.thread.count) &&
           ids_fit(store, COLUMN_FREE_THREAD, session->names.thread.count) &&
           ids_fit(store, COLUMN_KIND, session->names.kind.count) &&
           ids_fit(store, COLUMN_TYPE, session->names.type.count) &&
           ids_fit(store, COLUMN_ARENA, session->names.arena.count);
}

struct session *session_sample(struct session *session)
{
    if (session->sample || session->estimate)
        return session->sample;
    struct session *sample = session->sample = calloc(1, sizeof(*sample));
    if (!sample)
        return NULL;
    sample->columns = column_store_open_sample(session->database, NULL);
    if (sample->columns && column_store_rows(sample->columns) > 0 &&
        all_fit(sample->columns, session))
        sample->reader = column_reader_new(sample->columns, NULL);
    if (sample->reader && scan_open(sample, NULL))
        scan_obey(sample, session);
    else
        session_sample_close(session);
    return session->sample;
}
