/* SPDX-License-Identifier: BSD-2-Clause */
/* Chrome's trace events: counters of the live heap and the resident set, the lives of the largest
 * blocks as asynchronous events, marks, and the names of process and threads. Times are in µs. */
#include <stdlib.h>

#include "report/export/export.h"
#include "report/output/json.h"
#include "report/output/output.h"
#include "session/rows.h"

enum { SLOTS = 1000, AT_ONCE = 4096 };

struct writing {
    const struct export *export;
    struct json *json;
    int64_t pid;
};

/* Begins an event. The caller adds members and ends the object. */
static void begin_event(const struct writing *writing, const char *phase, const char *category,
                        const char *name, int64_t thread, uint64_t ns)
{
    struct json *json = writing->json;
    json_put(json, "{ph: %s, cat: %s, name: %s, pid: %ld, tid: %ld, ts:", phase, category, name,
             writing->pid, thread);
    json_precise(json, (double)ns / 1e3);
}

static int64_t thread_number(const struct writing *writing, uint32_t id)
{
    const struct session_thread *threads;
    const size_t count = session_threads(writing->export->own.session, &threads);
    for (size_t i = 0; i < count; i++)
        if (threads[i].id == id && threads[i].tid > 0)
            return threads[i].tid;
    return id;
}

static void put_name(const struct writing *writing, const char *what, int64_t thread,
                     const char *name)
{
    begin_event(writing, "M", "__metadata", what, thread, 0);
    json_put(writing->json, "args: {name: %s}}", export_clean(&writing->export->own, name));
}

static void put_names(const struct writing *writing)
{
    const struct session *session = writing->export->own.session;
    const char *program = session_meta(session, "program");
    const struct session_thread *threads;
    const size_t count = session_threads(session, &threads);
    put_name(writing, "process_name", 0, program ? program : "?");
    for (size_t i = 0; i < count; i++)
        put_name(writing, "thread_name", thread_number(writing, threads[i].id),
                 threads[i].name && threads[i].name[0] ? threads[i].name : "?");
}

static void put_counter(const struct writing *writing, const char *name, uint64_t ns,
                        const char *key, uint64_t value)
{
    begin_event(writing, "C", "memory", name, 0, ns);
    json_put(writing->json, "args: {%s: %lu}}", key, value);
}

static bool put_counters(const struct writing *writing)
{
    const struct export *export = writing->export;
    const struct session *session = export->own.session;
    struct session_slot *slots = calloc(SLOTS, sizeof(*slots));
    const uint64_t end = session_duration_ns(session) + 1;
    const struct session_rss *rss;
    if (!slots)
        return report_fail_memory(export->error, "the counters");
    const bool good = selection_timeline(export->own.selection, 0, end, SLOTS, SESSION_COLOR_NONE,
                                         slots, export->error);
    put_counter(writing, "heap", 0, "live", 0);
    for (size_t i = 0; good && i < SLOTS; i++)
        put_counter(writing, "heap", (uint64_t)((unsigned __int128)end * (i + 1) / SLOTS), "live",
                    slots[i].live_bytes);
    const size_t count = session_rss(session, &rss);
    for (size_t i = 0; good && i < count; i++)
        put_counter(writing, "resident set", rss[i].ns, "bytes", rss[i].bytes);
    free(slots);
    return good;
}

static void put_marks(const struct writing *writing)
{
    const struct session_mark *marks;
    const size_t count = session_marks(writing->export->own.session, &marks);
    for (size_t i = 0; i < count; i++) {
        const bool named = marks[i].name && marks[i].name[0];
        begin_event(writing, "i", "mark",
                    export_clean(&writing->export->own, named ? marks[i].name : marks[i].kind), 0,
                    marks[i].ns);
        json_put(writing->json, "s: g}");
    }
}

static void put_end(const struct writing *writing, const struct session_allocation *block,
                    const char *phase, uint64_t ns, uint32_t thread)
{
    const struct export_side *side = &writing->export->own;
    begin_event(writing, phase, "allocation", export_function_name(side, block->function),
                thread_number(writing, thread), ns);
    json_put(writing->json, "id: %lu, args: {bytes: %lu", block->id, block->size);
    if (block->free_ns == SESSION_LIVE)
        json_put(writing->json, "freed: %s", "never");
    if (block->type != 0)
        json_put(writing->json, "type: %s",
                 export_clean(side, session_type_name(side->session, block->type)));
    json_put(writing->json, "}}");
}

/* Writes the lives of the largest blocks. Those that were never freed end with the recording: not
 * all readers show a life without an end. */
static bool put_blocks(const struct writing *writing)
{
    static const struct session_row_order largest = {.field = ROWS_BY_SIZE, .descending = true};
    const struct export *export = writing->export;
    uint64_t *ids = malloc(AT_ONCE * sizeof(*ids));
    bool good = ids || report_fail_memory(export->error, "the largest blocks");
    for (uint64_t first = 0; good && first < export->events;) {
        const uint64_t left = export->events - first;
        struct session_allocation block;
        size_t count = 0;
        good = selection_rows(export->own.selection, &largest, first,
                              left < AT_ONCE ? (size_t)left : AT_ONCE, ids, &count, export->error);
        for (size_t i = 0; good && i < count; i++) {
            good = session_allocation(export->own.session, ids[i], &block, export->error);
            if (!good)
                break;
            put_end(writing, &block, "b", block.alloc_ns, block.thread);
            put_end(writing, &block, "e",
                    block.free_ns != SESSION_LIVE ? block.free_ns
                                                  : session_duration_ns(export->own.session),
                    block.thread);
        }
        if (count == 0)
            break;
        first += count;
    }
    free(ids);
    return good;
}

static bool put_file(const struct writing *writing)
{
    struct json *json = writing->json;
    json_put(json, "{displayTimeUnit: ns, traceEvents: [");
    put_names(writing);
    const bool good = put_counters(writing) && put_blocks(writing);
    put_marks(writing);
    json_put(json, "]}");
    return good;
}

bool export_chrome(struct export *export)
{
    struct writing writing = {.export = export,
                              .json = json_begin(export->out, false),
                              .pid = session_meta_number(export->own.session, "pid")};
    bool good = writing.json ? put_file(&writing) : report_fail_memory(export->error, "an export");
    if (!json_end(writing.json) && good)
        good = report_fail_memory(export->error, "an export");
    return good;
}
