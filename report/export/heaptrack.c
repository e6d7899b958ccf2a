/* SPDX-License-Identifier: BSD-2-Clause */
/* heaptrack's data, version 3, as heaptrack_interpret writes it: one line for each allocation and
 * free in the order of time, and lines for strings, places, stacks and kinds of allocations before
 * their first use. All numbers are hexadecimal. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/output/ids.h"
#include "report/output/output.h"
#include "session/time.h"

/* So many kinds of allocations are known at a time. Then their numbers begin again after those
 * given: a kind may have several. */
enum { PAGE_SIZE = 4096, NS_A_MS = 1000000, KINDS_MOST = 1 << 20 };

struct writing {
    const struct export *export;
    struct text_ids *strings;
    struct pair_ids *places;   /* by the first frame's id and the number of frames */
    struct pair_ids *traces;   /* by place and the trace around it */
    struct export_nodes nodes; /* their traces: that of a stack that begins there */
    struct pair_ids *kinds;    /* by size and trace */
    uint64_t kinds_before;     /* numbers given before those */
    uint64_t ms;
    const struct session_rss *rss;
    size_t rss_count, rss_next;
    struct export_frames frames;
};

static bool no_memory(const struct writing *writing)
{
    return report_fail_memory(writing->export->error, "the stacks");
}

/* Stores the number of a text, from 1; 0 for none. */
static bool find_string(struct writing *writing, const char *text, uint32_t *number)
{
    uint32_t id;
    bool is_new;
    *number = 0;
    if (!*text)
        return true;
    if (!text_ids_find(writing->strings, text, &id, &is_new))
        return no_memory(writing);
    *number = id + 1;
    if (is_new)
        fprintf(writing->export->out, "s %zx %s\n", strlen(text), text);
    return true;
}

struct place_part {
    uint32_t function, file, line;
};

static bool find_part(struct writing *writing, const struct session_code_frame *frame,
                      struct place_part *part)
{
    const struct export_side *side = &writing->export->own;
    part->line = frame->line;
    return find_string(writing, export_function_name(side, frame->function), &part->function) &&
           find_string(writing, export_clean(side, frame->file), &part->file);
}

static bool put_place(struct writing *writing)
{
    const struct export_side *side = &writing->export->own;
    const struct session_code_frame *frames = writing->frames.frame;
    const size_t count = writing->frames.count;
    struct session_module module = {.path = ""};
    struct place_part *parts = calloc(count, sizeof(*parts));
    uint32_t module_name = 0;
    uint64_t address = 0;
    bool good = parts || no_memory(writing);
    good = good &&
           (frames[count - 1].module == 0 || session_module(side->session, frames[count - 1].module,
                                                            &module, writing->export->error)) &&
           find_string(writing, export_clean(side, module.path), &module_name) &&
           export_address(writing->export, side, &frames[count - 1], &address);
    for (size_t i = 0; good && i < count; i++)
        good = find_part(writing, &frames[i], &parts[i]);
    if (good) {
        fprintf(writing->export->out, "i %" PRIx64 " %" PRIx32, address, module_name);
        for (size_t i = 0; i < count; i++)
            fprintf(writing->export->out, " %" PRIx32 " %" PRIx32 " %" PRIx32, parts[i].function,
                    parts[i].file, parts[i].line);
        fputc('\n', writing->export->out);
    }
    free(parts);
    return good;
}

/* Stores the trace of a stack that begins at a node. Frames that share a place are one of it. */
static bool find_trace(void *context, uint32_t node, uint32_t outward, uint32_t *trace)
{
    struct writing *writing = context;
    uint32_t place, id;
    bool is_new;
    if (!export_group(writing->export, &writing->export->own, node, &writing->frames))
        return false;
    if (!pair_ids_find(writing->places, writing->frames.frame[0].id, writing->frames.count, &place,
                       &is_new))
        return no_memory(writing);
    if (is_new && !put_place(writing))
        return false;
    if (!pair_ids_find(writing->traces, place, outward, &id, &is_new))
        return no_memory(writing);
    if (is_new)
        fprintf(writing->export->out, "t %" PRIx32 " %" PRIx32 "\n", place + 1, outward);
    *trace = id + 1;
    return true;
}

/* Writes the time and the resident set up to an event. */
static void put_time(struct writing *writing, uint64_t ns)
{
    FILE *out = writing->export->out;
    for (; writing->rss_next < writing->rss_count && writing->rss[writing->rss_next].ns <= ns;
         writing->rss_next++)
        fprintf(out, "R %" PRIx64 "\n", writing->rss[writing->rss_next].bytes / PAGE_SIZE);
    if (ns / NS_A_MS == writing->ms)
        return;
    writing->ms = ns / NS_A_MS;
    fprintf(out, "c %" PRIx64 "\n", writing->ms);
}

static bool put_event(void *context, const struct session_event *event)
{
    struct writing *writing = context;
    uint32_t trace = 0, kind;
    bool is_new;
    put_time(writing, event->ns);
    if (!export_nodes_find(&writing->nodes, writing->export->own.starts[event->allocation->stack],
                           find_trace, writing, &trace))
        return false;
    if (pair_ids_count(writing->kinds) >= KINDS_MOST) {
        writing->kinds_before += KINDS_MOST;
        pair_ids_free(writing->kinds);
        writing->kinds = pair_ids_new();
    }
    if (!writing->kinds ||
        !pair_ids_find(writing->kinds, event->allocation->size, trace, &kind, &is_new))
        return no_memory(writing);
    if (is_new)
        fprintf(writing->export->out, "a %" PRIx64 " %" PRIx32 "\n", event->allocation->size,
                trace);
    fprintf(writing->export->out, "%c %" PRIx64 "\n",
            event->kind == SESSION_EVENT_ALLOC ? '+' : '-', writing->kinds_before + kind);
    return true;
}

static bool put_file(struct writing *writing)
{
    const struct export *export = writing->export;
    const struct session *session = export->own.session;
    const char *command = session_meta(session, "argv");
    writing->rss_count = session_rss(session, &writing->rss);
    fprintf(export->out, "v 10400 3\nX %s\nI %x 0\n",
            export_clean(&export->own, command ? command : ""), PAGE_SIZE);
    if (!selection_events(export->own.selection, put_event, writing, export->error))
        return false;
    put_time(writing, session_duration_ns(session));
    return true;
}

bool export_heaptrack(struct export *export)
{
    struct writing writing = {.export = export,
                              .strings = text_ids_new(),
                              .places = pair_ids_new(),
                              .traces = pair_ids_new(),
                              .kinds = pair_ids_new(),
                              .ms = UINT64_MAX};
    bool good = (writing.strings && writing.places && writing.traces && writing.kinds) ||
                no_memory(&writing);
    good = good && export_nodes_begin(&writing.nodes, export, &export->own, true) &&
           put_file(&writing);
    export_nodes_free(&writing.nodes);
    export_frames_free(&writing.frames);
    text_ids_free(writing.strings);
    pair_ids_free(writing.places);
    pair_ids_free(writing.traces);
    pair_ids_free(writing.kinds);
    return good;
}
