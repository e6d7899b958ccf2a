/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/trace/cursor.h"

#include <stdlib.h>
#include <string.h>

bool trace_cursor_open(struct trace_cursor *cursor, const struct trace_file *file,
                       const struct trace_slot *slot)
{
    size_t length = slot->available;
    cursor->slot = slot;
    cursor->bytes = malloc(length);
    if (!cursor->bytes)
        return false;
    length = trace_file_read_chunk(file, slot, cursor->bytes);
    cursor->unpacked = length != 0 || slot->packed_length == 0;
    cursor->end = cursor->bytes + length;
    cursor->at = cursor->bytes + TRACE_CHUNK_HEADER_SIZE;
    if (cursor->at > cursor->end)
        cursor->at = cursor->end;
    cursor->thread = slot->thread;
    cursor->sequence = slot->sequence;
    trace_coding_reset(&cursor->coding, slot->base_ticks);
    return true;
}

bool trace_cursor_extend(struct trace_cursor *cursor, const struct trace_file *file)
{
    size_t at = (size_t)(cursor->at - cursor->bytes), had = (size_t)(cursor->end - cursor->bytes);
    size_t length = cursor->slot->available;
    if (length <= had)
        return true;
    uint8_t *bytes = malloc(length);
    if (!bytes)
        return false;
    uint8_t *old = cursor->bytes;
    memcpy(bytes, old, had);
    cursor->bytes = bytes;
    cursor->at = bytes + at;
    if (cursor->slot->packed_length != 0)
        had = trace_file_read_chunk(file, cursor->slot, bytes) > had ? length : had;
    else
        had += trace_file_read(file, cursor->slot->offset + had, bytes + had, length - had);
    cursor->end = bytes + had;
    free(old);
    return true;
}

void trace_cursor_close(struct trace_cursor *cursor)
{
    free(cursor->bytes);
    cursor->bytes = NULL;
}

/* Enters the segment that a SWITCH record begins. False if the record is not usable. */
static bool enter_segment(struct trace_cursor *cursor, const struct trace_record *record)
{
    struct trace_extension extension;
    if (!trace_extension_get(record, cursor->coding.ticks, &extension) || extension.thread == 0 ||
        extension.thread > UINT32_MAX || extension.sequence > UINT32_MAX)
        return false;
    cursor->thread = (uint32_t)extension.thread;
    cursor->sequence = (uint32_t)extension.sequence;
    trace_coding_reset(&cursor->coding, extension.when);
    return true;
}

enum trace_get trace_cursor_next(struct trace_cursor *cursor, struct trace_record *record)
{
    const uint8_t *before = cursor->at;
    enum trace_get got = trace_get(&cursor->at, cursor->end, &cursor->coding, record);
    if (got == TRACE_GET_RECORD && record->kind == TRACE_EXTENDED &&
        record->extended.type == TRACE_EXT_SWITCH && !enter_segment(cursor, record)) {
        cursor->at = before;
        return TRACE_GET_DAMAGED;
    }
    /* A record that is split by the end of a cut file is not counted as damage too. */
    if (got == TRACE_GET_DAMAGED && cursor->end < cursor->bytes + cursor->slot->commit)
        return TRACE_GET_END;
    return got;
}

uint64_t trace_cursor_offset(const struct trace_cursor *cursor)
{
    return cursor->slot->offset + (uint64_t)(cursor->at - cursor->bytes);
}

uint64_t trace_cursor_lost(const struct trace_cursor *cursor)
{
    uint64_t decoded = (uint64_t)(cursor->at - cursor->bytes);
    return cursor->slot->commit > decoded ? cursor->slot->commit - decoded : 0;
}

const char *trace_cursor_explain(const struct trace_cursor *cursor, enum trace_get got)
{
    return !cursor->unpacked          ? "the packed chunk cannot be unpacked"
           : got == TRACE_GET_DAMAGED ? "there is no valid record here"
                                      : "the file is cut here";
}

bool trace_cursor_sum_good(const struct trace_cursor *cursor)
{
    const struct trace_slot *slot = cursor->slot;
    if (!slot->sealed || cursor->end < cursor->bytes + slot->commit)
        return true;
    return slot->sum == trace_sum(cursor->bytes + TRACE_CHUNK_HEADER_SIZE,
                                  slot->commit - TRACE_CHUNK_HEADER_SIZE);
}
