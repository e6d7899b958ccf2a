/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/heap_snapshots.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "schemas/array.h"

/* Returns the snapshot, which must be the last one: they are taken one after another. */
static struct heap_snapshot *find(struct heap_snapshots *snapshots, uint64_t number)
{
    struct heap_snapshot *last = snapshots->count ? &snapshots->rows[snapshots->count - 1] : NULL;
    return last && last->begin.number == number ? last : NULL;
}

static bool begin(struct heap_snapshots *snapshots, const uint8_t *at, const uint8_t *end,
                  uint64_t ticks, bool *bad)
{
    struct trace_references read;
    *bad = !trace_get_references(at, end, &read) ||
           (snapshots->count != 0 &&
            read.number <= snapshots->rows[snapshots->count - 1].begin.number);
    if (*bad)
        return true;
    if (!ARRAY_RESERVE(snapshots->rows, snapshots->count, snapshots->capacity))
        return false;
    struct heap_snapshot *row = &snapshots->rows[snapshots->count++];
    row->begin = read;
    row->ticks = ticks;
    row->name = strndup(read.name, read.name_length);
    return row->name != NULL;
}

static bool add_mapping(struct heap_snapshots *snapshots, const uint8_t *at, const uint8_t *end,
                        bool *bad)
{
    struct trace_references_mapping read;
    struct heap_snapshot *row =
        trace_get_references_mapping(at, end, &read) ? find(snapshots, read.number) : NULL;
    *bad = !row || read.start >= read.end ||
           (row->mapping_count != 0 && row->mappings[row->mapping_count - 1].end > read.start);
    if (*bad)
        return true;
    if (!ARRAY_RESERVE(row->mappings, row->mapping_count, row->mapping_capacity))
        return false;
    struct heap_snapshot_mapping *mapping = &row->mappings[row->mapping_count++];
    *mapping = (struct heap_snapshot_mapping){.start = read.start,
                                              .end = read.end,
                                              .protection = read.protection,
                                              .kind = read.kind,
                                              .offset = read.offset,
                                              .path = strndup(read.path, read.path_length)};
    return mapping->path != NULL;
}

static bool add_thread(struct heap_snapshots *snapshots, const uint8_t *at, const uint8_t *end,
                       bool *bad)
{
    struct trace_references_thread read;
    struct heap_snapshot *row =
        trace_get_references_thread(at, end, &read) ? find(snapshots, read.number) : NULL;
    *bad = !row;
    if (*bad)
        return true;
    if (!ARRAY_RESERVE(row->threads, row->thread_count, row->thread_capacity))
        return false;
    row->threads[row->thread_count++] = read;
    return true;
}

static bool add_words(struct heap_snapshots *snapshots, const uint8_t *at, const uint8_t *end,
                      bool *bad)
{
    uint64_t when, number, count;
    struct heap_snapshot *row =
        trace_get_varint(&at, end, &when) && trace_get_varint(&at, end, &number)
            ? find(snapshots, number)
            : NULL;
    const uint8_t *pairs = at;
    *bad = !row || !trace_get_varint(&pairs, end, &count);
    if (*bad)
        return true;
    if (!ARRAY_RESERVE(row->pieces, row->piece_count, row->piece_capacity))
        return false;
    struct heap_snapshot_words *piece = &row->pieces[row->piece_count++];
    piece->length = (size_t)(end - at);
    piece->bytes = malloc(piece->length);
    if (!piece->bytes)
        return false;
    memcpy(piece->bytes, at, piece->length);
    row->words += count;
    return true;
}

bool heap_snapshots_add(struct heap_snapshots *snapshots, const struct trace_record *record,
                        uint64_t ticks, bool *bad)
{
    const uint8_t *at = record->extended.payload, *end = record->extended.end;
    struct trace_references_end last;
    struct heap_snapshot *row;
    switch (record->extended.type) {
    case TRACE_EXT_REFERENCES:
        return begin(snapshots, at, end, ticks, bad);
    case TRACE_EXT_REFERENCES_MAPPING:
        return add_mapping(snapshots, at, end, bad);
    case TRACE_EXT_REFERENCES_THREAD:
        return add_thread(snapshots, at, end, bad);
    case TRACE_EXT_REFERENCES_WORDS:
        return add_words(snapshots, at, end, bad);
    default:
        row = trace_get_references_end(at, end, &last) ? find(snapshots, last.number) : NULL;
        *bad = !row;
        if (row) {
            row->end = last;
            row->ended = true;
        }
        return true;
    }
}

const char *heap_snapshot_why(const struct heap_snapshot *snapshot)
{
    static const char *const reasons[] = {
        [TRACE_REFERENCES_ENDED] = "the process ended before all was read",
        [TRACE_REFERENCES_NO_ROOM] = "there was no room for the trace",
        [TRACE_REFERENCES_TOO_LONG] = "the stop took too long",
        [TRACE_REFERENCES_NO_MEMORY] = "mprof-run had no memory, or no room for temporary files",
        [TRACE_REFERENCES_UNREADABLE] = "the process could not be read",
    };
    const uint64_t outcome = snapshot->end.outcome;
    if (!snapshot->ended)
        return "the trace ends in the middle of it";
    if (outcome != TRACE_REFERENCES_COMPLETE)
        return outcome < sizeof(reasons) / sizeof(*reasons) && reasons[outcome]
                   ? reasons[outcome]
                   : "for a reason that this version does not know";
    return snapshot->words < snapshot->end.words ? "a part of the trace is lost" : NULL;
}

void heap_snapshots_free(struct heap_snapshots *snapshots)
{
    for (size_t i = 0; i < snapshots->count; i++) {
        struct heap_snapshot *row = &snapshots->rows[i];
        for (size_t j = 0; j < row->mapping_count; j++)
            free(row->mappings[j].path);
        for (size_t j = 0; j < row->piece_count; j++)
            free(row->pieces[j].bytes);
        FREE_ALL(row->mappings, row->threads, row->pieces, row->name);
    }
    free(snapshots->rows);
    *snapshots = (struct heap_snapshots){.rows = NULL};
}
