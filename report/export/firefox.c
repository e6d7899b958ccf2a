/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The processed format of the Firefox Profiler, version 49, which newer readers upgrade. All events
 * are in one thread's nativeAllocations, with the thread of each. The format is made of columns:
 * the first pass over the events counts them and finds their stacks, then each column takes a pass.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/export/firefox_file.h"
#include "report/output/json.h"
#include "report/output/output.h"
#include "session/events.h"

enum { SLOTS = 400 };
/* JavaScript's numbers are exact up to here. */
#define ADDRESS_MASK ((UINT64_C(1) << 53) - 1)

struct writing;
/* Writes an event into its column. Returns false, and sets the export's error, if it cannot. */
typedef bool put_value(struct writing *writing, const struct session_event *event);

struct writing {
    const struct export *export;
    struct json *json;
    struct firefox_file *file; /* frames, functions and stacks */
    uint64_t count;            /* events of the first pass, or of the column so far */
    uint32_t first_stack, last_stack;
    put_value *put;  /* of the column */
    uint32_t thread; /* whose number `tid` is */
    int64_t tid;
    int64_t live, slots[SLOTS]; /* live bytes at the end of each slot of time */
    size_t slot;
};

static bool no_memory(const struct writing *writing)
{
    return report_fail_memory(writing->export->error, "the events");
}

static bool may_have_more(const struct writing *writing)
{
    return writing->count < writing->export->max_events ||
           report_fail(writing->export->error,
                       "there are more than %" PRIu64 " events, which the Firefox Profiler "
                       "would show slowly: choose some by --filter, or raise --max-events",
                       writing->export->max_events);
}

static int64_t weight_of(const struct session_event *event)
{
    const int64_t size = (int64_t)event->allocation->size;
    return event->kind == SESSION_EVENT_ALLOC ? size : -size;
}

/* Returns the end of a slot. */
static uint64_t slot_end(const struct writing *writing, size_t slot)
{
    const uint64_t length = session_duration_ns(writing->export->own.session);
    return (uint64_t)((unsigned __int128)length * (slot + 1) / SLOTS);
}

static bool take_event(void *context, const struct session_event *event)
{
    struct writing *writing = context;
    if (!may_have_more(writing) ||
        !firefox_add_stack(writing->file, event->allocation->stack, &writing->last_stack))
        return false;
    if (writing->count++ == 0)
        writing->first_stack = writing->last_stack;
    for (; writing->slot < SLOTS - 1 && event->ns > slot_end(writing, writing->slot);
         writing->slot++)
        writing->slots[writing->slot] = writing->live;
    writing->live += weight_of(event);
    return true;
}

/* ---- the file ---- */

static double milliseconds(uint64_t ns)
{
    return (double)ns / 1e6;
}

static int64_t thread_number(const struct session *session, uint32_t id)
{
    const struct session_thread *threads;
    const size_t count = session_threads(session, &threads);
    for (size_t i = 0; i < count; i++) {
        if (threads[i].id == id && threads[i].tid > 0)
            return threads[i].tid;
    }
    return id;
}

/* ---- columns ---- */

static bool put_time(struct writing *writing, const struct session_event *event)
{
    json_real(writing->json, milliseconds(event->ns));
    return true;
}

static bool put_weight(struct writing *writing, const struct session_event *event)
{
    json_signed(writing->json, weight_of(event));
    return true;
}

static bool put_stack(struct writing *writing, const struct session_event *event)
{
    uint32_t stack;
    if (!firefox_add_stack(writing->file, event->allocation->stack, &stack))
        return false;
    json_number(writing->json, stack);
    return true;
}

static bool put_address(struct writing *writing, const struct session_event *event)
{
    json_number(writing->json, event->allocation->address & ADDRESS_MASK);
    return true;
}

static bool put_thread_id(struct writing *writing, const struct session_event *event)
{
    const struct session_allocation *block = event->allocation;
    const bool own = event->kind == SESSION_EVENT_ALLOC || block->free_thread == 0;
    const uint32_t thread = own ? block->thread : block->free_thread;
    if (writing->count == 1 || thread != writing->thread) {
        writing->thread = thread;
        writing->tid = thread_number(writing->export->own.session, thread);
    }
    json_signed(writing->json, writing->tid);
    return true;
}

static bool visit_event(void *context, const struct session_event *event)
{
    struct writing *writing = context;
    writing->count++;
    return writing->put(writing, event);
}

static bool put_column(struct writing *writing, const char *name, put_value *put)
{
    const uint64_t count = writing->count;
    writing->put = put;
    json_key(writing->json, name);
    json_array(writing->json);
    writing->count = 0;
    if (!selection_events(writing->export->own.selection, visit_event, writing,
                          writing->export->error))
        return false;
    json_array_end(writing->json);
    return writing->count == count ||
           report_fail(writing->export->error, "the session changed while it was read: "
                                               "export it when its recording has ended");
}

static bool put_allocations(struct writing *writing)
{
    struct json *json = writing->json;
    json_key(json, "nativeAllocations");
    json_object(json);
    json_member_number(json, "length", writing->count);
    json_member_text(json, "weightType", "bytes");
    if (!put_column(writing, "time", put_time) || !put_column(writing, "weight", put_weight) ||
        !put_column(writing, "stack", put_stack) ||
        !put_column(writing, "memoryAddress", put_address) ||
        !put_column(writing, "threadId", put_thread_id))
        return false;
    json_object_end(json);
    return true;
}

/* A thread without samples is not shown, so there are two, without meaning. */
static void put_samples(const struct writing *writing)
{
    struct json *json = writing->json;
    json_key(json, "samples");
    json_object(json);
    json_member_number(json, "length", 2);
    json_member_text(json, "weightType", "samples");
    json_key(json, "stack");
    json_array(json);
    for (int i = 0; i < 2; i++) {
        if (writing->count > 0)
            json_number(json, i == 0 ? writing->first_stack : writing->last_stack);
        else
            json_null(json);
    }
    json_array_end(json);
    json_key(json, "time");
    json_array(json);
    json_number(json, 0);
    json_real(json, milliseconds(session_duration_ns(writing->export->own.session)));
    json_array_end(json);
    json_key(json, "weight");
    json_array(json);
    json_number(json, 1);
    json_number(json, 1);
    json_array_end(json);
    json_object_end(json);
}

static void put_marks(const struct writing *writing)
{
    const struct session_mark *marks;
    const size_t count = session_marks(writing->export->own.session, &marks);
    firefox_put_marks(writing->file, writing->json, marks, count);
}

static void put_counter(const struct writing *writing, const char *pid)
{
    struct json *json = writing->json;
    int64_t last = 0;
    json_key(json, "counters");
    json_array(json);
    json_object(json);
    json_member_text(json, "name", "malloc");
    json_member_text(json, "category", "Memory");
    json_member_text(json, "description", "Live heap bytes");
    json_member_text(json, "pid", pid);
    json_member_number(json, "mainThreadIndex", 0);
    json_key(json, "samples");
    json_object(json);
    json_member_number(json, "length", SLOTS);
    json_key(json, "time");
    json_array(json);
    for (size_t i = 0; i < SLOTS; i++)
        json_real(json, milliseconds(slot_end(writing, i)));
    json_array_end(json);
    json_key(json, "count");
    json_array(json);
    for (size_t i = 0; i < SLOTS; i++) {
        json_signed(json, writing->slots[i] - last);
        last = writing->slots[i];
    }
    json_array_end(json);
    json_key(json, "number");
    json_array(json);
    for (size_t i = 0; i < SLOTS; i++)
        json_number(json, 0);
    json_array_end(json);
    json_object_end(json);
    json_object_end(json);
    json_array_end(json);
}

static bool put_thread(struct writing *writing, const char *program, const char *pid)
{
    const struct session *session = writing->export->own.session;
    const double end = milliseconds(session_duration_ns(session));
    struct json *json = writing->json;
    json_key(json, "threads");
    json_array(json);
    json_object(json);
    json_member_text(json, "name", "GeckoMain");
    json_key(json, "isMainThread");
    json_truth(json, true);
    json_member_text(json, "processType", "default");
    json_member_text(json, "processName", program);
    json_member_number(json, "processStartupTime", 0);
    json_key(json, "processShutdownTime");
    json_real(json, end);
    json_member_number(json, "registerTime", 0);
    json_key(json, "unregisterTime");
    json_real(json, end);
    json_key(json, "pausedRanges");
    json_array(json);
    json_array_end(json);
    json_member_text(json, "pid", pid);
    json_key(json, "tid");
    json_signed(json, session_meta_number(session, "pid"));
    json_key(json, "showMarkersInTimeline");
    json_truth(json, true);
    put_samples(writing);
    if (!put_allocations(writing))
        return false;
    put_marks(writing);
    const bool good = firefox_put_code(writing->file, json);
    json_object_end(json);
    json_array_end(json);
    return good;
}

static bool put_file(struct writing *writing)
{
    const struct export *export = writing->export;
    const char *path = session_meta(export->own.session, "program");
    const char *program = export_clean(&export->own, path ? path : "?");
    struct json *json = writing->json;
    char pid[32];
    snprintf(pid, sizeof(pid), "%" PRId64, session_meta_number(export->own.session, "pid"));
    if (!selection_events(export->own.selection, take_event, writing, export->error))
        return false;
    for (; writing->slot < SLOTS; writing->slot++)
        writing->slots[writing->slot] = writing->live;
    json_object(json);
    firefox_put_meta(json, program, export_start_ns(export->own.session));
    if (!firefox_put_libraries(writing->file, json))
        return false;
    json_key(json, "pages");
    json_array(json);
    json_array_end(json);
    put_counter(writing, pid);
    const bool good = put_thread(writing, program, pid);
    json_object_end(json);
    return good;
}

bool export_firefox(struct export *export)
{
    struct writing writing = {
        .export = export, .json = json_begin(export->out, false), .file = firefox_file_new(export)};
    bool good = writing.json && writing.file ? put_file(&writing) : no_memory(&writing);
    if (!json_end(writing.json) && good)
        good = no_memory(&writing);
    firefox_file_free(writing.file);
    return good;
}
