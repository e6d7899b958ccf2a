/* SPDX-License-Identifier: BSD-2-Clause */
/* DHAT's output, version 2, which Valgrind's dh_view.html shows. */
#include <stdlib.h>

#include "report/export/export.h"
#include "report/output/ids.h"
#include "report/output/json.h"
#include "report/output/output.h"
#include "schemas/array.h"

struct writing {
    const struct export *export;
    struct json *json;
    struct pair_ids *known;          /* frames by their id */
    struct session_code_frame *list; /* by that number */
    size_t capacity;
    struct pair_ids *lists; /* lists of frames: the list of those outward, + 1, and the frame */
    struct pair_ids *used;  /* those that a stack has: the number of the list, + 1, and of roots */
    struct export_nodes nodes; /* their lists, + 1 */
};

/* Stores the position of a frame in the list of frames, whose first entry is "[root]". */
static bool find_frame(struct writing *writing, const struct session_code_frame *frame,
                       uint32_t *position)
{
    uint32_t id;
    bool is_new;
    if (!pair_ids_find(writing->known, frame->id, 0, &id, &is_new) ||
        !ARRAY_GROW(writing->list, id, writing->capacity))
        return report_fail_memory(writing->export->error, "the frames");
    if (is_new)
        writing->list[id] = *frame;
    *position = id + 1;
    return true;
}

static bool find_list(void *context, uint32_t node, uint32_t outward, uint32_t *number)
{
    const struct writing *writing = context;
    struct session_code_frame frame;
    uint32_t id = 0;
    bool is_new;
    if (!export_frame(writing->export, &writing->export->own, node, &frame))
        return false;
    if (!pair_ids_find(writing->lists, outward, frame.id, &id, &is_new))
        return report_fail_memory(writing->export->error, "the frames");
    *number = id + 1;
    return true;
}

/* Tells in `*is_new` whether no stack before had these frames, with so many roots after them. */
static bool find_use(struct writing *writing, uint32_t node, size_t roots, bool *is_new)
{
    uint32_t list, id;
    if (!export_nodes_find(&writing->nodes, node, find_list, writing, &list))
        return false;
    return pair_ids_find(writing->used, list, roots, &id, is_new) ||
           report_fail_memory(writing->export->error, "the frames");
}

/* Finds the node at which a stack begins. The page refuses two stacks with the same frames, and
 * their peaks cannot be added. So a stack that differs from another only inside the call site keeps
 * all its frames. If even these are alike, `*roots` tells how many roots to write after them. */
static bool find_start(struct writing *writing, uint32_t stack, uint32_t *node, size_t *roots)
{
    const struct export_side *side = &writing->export->own;
    bool is_new = false;
    *roots = 0;
    *node = side->starts[stack];
    if (!find_use(writing, *node, 0, &is_new))
        return false;
    if (is_new)
        return true;
    *node = session_stack_innermost(side->session, stack);
    for (; !is_new; ++*roots)
        if (!find_use(writing, *node, *roots, &is_new))
            return false;
    --*roots;
    return true;
}

static bool put_stack(struct writing *writing, const struct session_stack_sums *row)
{
    struct json *json = writing->json;
    const struct export_side *side = &writing->export->own;
    struct session_code_frame frame;
    uint32_t node, position = 0;
    size_t roots;
    if (!find_start(writing, row->stack, &node, &roots))
        return false;
    json_put(json,
             "{tb: %lu, tbk: %lu, tl: %lu, mb: %lu, mbk: %lu, gb: %lu, gbk: %lu, eb: %lu, ebk: "
             "%lu, fs: [",
             row->bytes, row->allocations, row->lifetime_ns, row->own_peak_bytes,
             row->own_peak_count, row->at_peak_bytes, row->at_peak_count, row->live_bytes,
             row->live_count);
    do {
        if (!export_frame(writing->export, side, node, &frame) ||
            !find_frame(writing, &frame, &position))
            return false;
        json_number(json, position);
        node = export_nodes_outward(&writing->nodes, node);
    } while (node != 0);
    for (size_t i = 0; i < roots; i++)
        json_number(json, 0);
    json_put(json, "]}");
    return true;
}

static bool put_frames(const struct writing *writing)
{
    bool good = true;
    json_put(writing->json, "ftbl: [%s", "[root]");
    for (size_t i = 0; good && i < pair_ids_count(writing->known); i++) {
        char *place = export_place(writing->export, &writing->export->own, &writing->list[i]);
        if (place)
            json_text(writing->json, place);
        good = place;
        free(place);
    }
    json_put(writing->json, "]");
    return good;
}

static void put_head(const struct writing *writing)
{
    const struct session *session = writing->export->own.session;
    const char *command = session_meta(session, "argv");
    struct json *json = writing->json;
    json_put(json,
             "dhatFileVersion: 2, mode: heap, verb: Allocated, bklt: true, bkacc: false, tu: ns, "
             "Mtu: ms, tuth: 1000000, cmd: %s, pid: %lu, te: %lu, tg: %lu",
             export_clean(&writing->export->own, command ? command : ""),
             (uint64_t)session_meta_number(session, "pid"), session_duration_ns(session),
             session_peak_ns(session));
}

static bool put_file(struct writing *writing)
{
    struct session_stack_sums *rows = NULL;
    size_t count = 0;
    bool good = export_sums(writing->export, &writing->export->own, 0, true, &rows, &count);
    json_put(writing->json, "{");
    put_head(writing);
    json_put(writing->json, "pps: [");
    for (size_t i = 0; good && i < count; i++)
        good = put_stack(writing, &rows[i]);
    json_put(writing->json, "]");
    good = good && put_frames(writing);
    json_put(writing->json, "}");
    free(rows);
    return good;
}

bool export_dhat(struct export *export)
{
    struct writing writing = {.export = export,
                              .json = json_begin(export->out, false),
                              .known = pair_ids_new(),
                              .lists = pair_ids_new(),
                              .used = pair_ids_new()};
    bool good = (writing.json && writing.known && writing.lists && writing.used) ||
                report_fail_memory(export->error, "an export");
    good = good && export_nodes_begin(&writing.nodes, export, &export->own, false) &&
           put_file(&writing);
    if (!json_end(writing.json) && good)
        good = report_fail_memory(export->error, "an export");
    free(writing.list);
    export_nodes_free(&writing.nodes);
    pair_ids_free(writing.known);
    pair_ids_free(writing.lists);
    pair_ids_free(writing.used);
    return good;
}
