/* SPDX-License-Identifier: BSD-2-Clause */
/* speedscope's file format: four profiles of samples over one list of frames. The list comes last
 * in the file, when it is known. */
#include <stdlib.h>

#include "report/export/export.h"
#include "report/output/ids.h"
#include "report/output/json.h"
#include "report/output/output.h"
#include "schemas/array.h"

struct writing {
    const struct export *export;
    struct json *json;
    struct pair_ids *places; /* by function and line */
    struct place {
        uint32_t function, line;
        const char *file;
    } * list;
    size_t capacity;
    struct export_frames frames;
};

static bool find_place(struct writing *writing, const struct session_code_frame *frame,
                       uint32_t *id)
{
    bool is_new;
    if (!pair_ids_find(writing->places, frame->function, frame->line, id, &is_new) ||
        !array_grow(&writing->list, &writing->capacity, (size_t)*id + 1, sizeof(*writing->list)))
        return report_fail_memory(writing->export->error, "the frames");
    if (is_new)
        writing->list[*id] = (struct place){frame->function, frame->line, frame->file};
    return true;
}

static bool put_stack(struct writing *writing, uint32_t stack)
{
    if (!export_frames(writing->export, &writing->export->own, writing->export->own.starts[stack],
                       &writing->frames))
        return false;
    json_put(writing->json, "[");
    for (size_t i = writing->frames.count; i-- > 0;) {
        uint32_t id;
        if (!find_place(writing, &writing->frames.frame[i], &id))
            return false;
        json_number(writing->json, id);
    }
    json_put(writing->json, "]");
    return true;
}

static bool put_profile(struct writing *writing, const char *name, enum export_value value,
                        const struct session_stack_sums *rows, size_t count)
{
    struct json *json = writing->json;
    uint64_t sum = 0;
    bool good = true;
    for (size_t i = 0; i < count; i++)
        sum += export_value_of(value, &rows[i]);
    json_put(json, "{type: sampled, name: %s, unit: %s, startValue: 0, endValue: %lu, samples: [",
             name, export_value_is_bytes(value) ? "bytes" : "none", sum);
    for (size_t i = 0; good && i < count; i++)
        good = export_value_of(value, &rows[i]) == 0 || put_stack(writing, rows[i].stack);
    json_put(json, "], weights: [");
    for (size_t i = 0; i < count; i++)
        if (export_value_of(value, &rows[i]) != 0)
            json_number(json, export_value_of(value, &rows[i]));
    json_put(json, "]}");
    return good;
}

static void put_frames(const struct writing *writing)
{
    const struct export_side *side = &writing->export->own;
    struct json *json = writing->json;
    json_put(json, "shared: {frames: [");
    for (size_t i = 0; writing->list && i < pair_ids_count(writing->places); i++) {
        const struct place *place = &writing->list[i];
        json_put(json, "{name: %s", export_function_name(side, place->function));
        if (place->file[0])
            json_put(json, "file: %s", export_clean(side, place->file));
        if (place->line != 0)
            json_put(json, "line: %u", place->line);
        json_put(json, "}");
    }
    json_put(json, "]}");
}

static bool put_file(struct writing *writing, const struct session_stack_sums *rows, size_t count)
{
    const struct export *export = writing->export;
    const char *program = session_meta(export->own.session, "program");
    struct json *json = writing->json;
    json_put(json,
             "{$schema: %s, exporter: mprof-export, name: %s, activeProfileIndex: 0, profiles: [",
             "https://www.speedscope.app/file-format-schema.json",
             export_clean(&export->own, program ? program : "?"));
    const bool good =
        put_profile(writing, "allocated bytes", EXPORT_BYTES, rows, count) &&
        put_profile(writing, "allocations", EXPORT_ALLOCATIONS, rows, count) &&
        put_profile(writing, export->at ? "live at the time" : "live at the end", EXPORT_LIVE_BYTES,
                    rows, count) &&
        put_profile(writing, "live at the program's peak", EXPORT_AT_PEAK_BYTES, rows, count);
    json_put(json, "]");
    put_frames(writing);
    json_put(json, "}");
    return good;
}

bool export_speedscope(struct export *export)
{
    struct writing writing = {
        .export = export, .json = json_begin(export->out, false), .places = pair_ids_new()};
    struct session_stack_sums *rows = NULL;
    size_t count = 0;
    bool good = writing.json && writing.places
                    ? export_sums(export, &export->own, 0, false, &rows, &count) &&
                          put_file(&writing, rows, count)
                    : report_fail_memory(export->error, "an export");
    if (!json_end(writing.json) && good)
        good = report_fail_memory(export->error, "an export");
    FREE_ALL(rows, writing.list);
    export_frames_free(&writing.frames);
    pair_ids_free(writing.places);
    return good;
}
