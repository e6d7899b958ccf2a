/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/trace/cursor.h"

#include <stdlib.h>
#include <string.h>

/* ---- extended ------------------------------------------------------------------------------ */

struct payload {
    const uint8_t *at, *end;
    bool good;
};

static uint64_t number(struct payload *payload)
{
    uint64_t value = 0;
    payload->good = payload->good && trace_get_varint(&payload->at, payload->end, &value);
    return value;
}

static struct trace_text text(struct payload *payload)
{
    struct trace_text value = {"", 0};
    payload->good =
        payload->good && trace_get_string(&payload->at, payload->end, &value.bytes, &value.length);
    return value;
}

static void get_process(struct payload *payload, struct trace_extension *extension)
{
    extension->pid = number(payload);
    extension->parent_pid = number(payload);
    extension->parent_trace = number(payload);
    extension->exe = text(payload);
    extension->directory = text(payload);
    extension->host = text(payload);
    extension->kernel = text(payload);
    extension->flags = number(payload);
    extension->argument_count = number(payload);
    extension->rest = payload->at;
    for (uint64_t i = 0; i < extension->argument_count && payload->good; i++)
        text(payload);
    extension->boot_id = (struct trace_text){"", 0};
    if (!payload->good || payload->at == payload->end)
        return;
    extension->rest_end = payload->at;
    extension->fork_before = number(payload);
    extension->fork_after = number(payload);
    extension->boot_id = text(payload);
}

static void get_module(struct payload *payload, struct trace_extension *extension)
{
    extension->module = number(payload);
    extension->load_bias = number(payload);
    extension->start = number(payload);
    extension->end = number(payload);
    extension->name = text(payload);
    extension->build_id = text(payload);
    extension->segment_count = number(payload);
    extension->rest = payload->at;
    for (uint64_t i = 0; i < extension->segment_count && payload->good; i++) {
        number(payload);
        number(payload);
        number(payload);
    }
}

/* Reads a collection. If it began before this trace, its age and its arena follow. */
static void get_collection(struct payload *payload, struct trace_extension *extension)
{
    extension->module = number(payload);
    extension->begins = number(payload);
    extension->earlier =
        extension->begins == TRACE_COLLECTION_BEFORE ||
        (extension->begins == TRACE_COLLECTION_BEGINS && payload->at < payload->end);
    if (extension->earlier) {
        extension->age = number(payload);
        extension->arena = number(payload);
    }
}

#define FIELD(how, name, label)                                                                    \
    {                                                                                              \
        how, offsetof(struct trace_extension, name), label                                         \
    }
#define NUMBER(name, label) FIELD(TRACE_FIELD_NUMBER, name, label)
#define HEX(name, label) FIELD(TRACE_FIELD_NUMBER | TRACE_FIELD_HEX, name, label)
#define LATER(name, label) FIELD(TRACE_FIELD_NUMBER | TRACE_FIELD_UNLESS_END, name, label)
#define OPTIONAL(name, label)                                                                      \
    FIELD(TRACE_FIELD_NUMBER | TRACE_FIELD_UNLESS_END | TRACE_FIELD_UNLESS_ZERO, name, label)
#define OPTIONAL_HEX(name, label)                                                                  \
    FIELD(TRACE_FIELD_HEX | TRACE_FIELD_UNLESS_END | TRACE_FIELD_UNLESS_ZERO, name, label)
#define TEXT(name, label) FIELD(TRACE_FIELD_TEXT, name, label)

enum { FIELDS_MOST = 15 }; /* with the end */

static const struct trace_extension_field fields[TRACE_EXT_LAST + 1][FIELDS_MOST] = {
    [TRACE_EXT_THREAD] = {NUMBER(thread, "number"), NUMBER(tid, "tid"), TEXT(name, "name"),
                          OPTIONAL_HEX(stack_low, "stack"), OPTIONAL_HEX(stack_high, "to")},
    [TRACE_EXT_THREAD_END] = {NUMBER(thread, "number")},
    [TRACE_EXT_MODULE_END] = {NUMBER(module, "id")},
    [TRACE_EXT_ARENA] = {NUMBER(arena, "id"), NUMBER(parent, "parent"), TEXT(name, "name")},
    [TRACE_EXT_ARENA_ALLOC] = {NUMBER(arena, "arena"), HEX(address, "address"),
                               NUMBER(size, "size"), NUMBER(count, "count"), NUMBER(stack, "stack"),
                               OPTIONAL(block_kind, "kind")},
    [TRACE_EXT_ARENA_FREE] = {NUMBER(arena, "arena"), HEX(address, "address"), LATER(reason, NULL)},
    [TRACE_EXT_ARENA_REALLOC] = {NUMBER(arena, "arena"), HEX(old_address, "old"),
                                 HEX(address, "address"), NUMBER(size, "size"),
                                 NUMBER(count, "count"), NUMBER(stack, "stack")},
    [TRACE_EXT_AUTOSAVE] = {NUMBER(count, "every")},
    [TRACE_EXT_ARENA_RESET] = {NUMBER(arena, "arena")},
    [TRACE_EXT_TYPE] = {NUMBER(arena, "arena"), HEX(address, "address"), NUMBER(module, "module"),
                        HEX(symbol, "symbol"), NUMBER(count, "count"), NUMBER(size, "of")},
    [TRACE_EXT_MARK] = {TEXT(name, "name")},
    [TRACE_EXT_SNAPSHOT] = {TEXT(name, "name")},
    [TRACE_EXT_BARE_CODE] = {NUMBER(module, "module"), HEX(address, "pc")},
    [TRACE_EXT_RSS] = {NUMBER(resident, "bytes")},
    [TRACE_EXT_DROPPED] = {NUMBER(count, "count"), NUMBER(reason, "reason")},
    [TRACE_EXT_RECORDING] = {NUMBER(resumed, NULL)},
    [TRACE_EXT_MAP] = {HEX(address, "address"), NUMBER(size, "length"),
                       NUMBER(protection, "protection"), HEX(flags, "flags"),
                       NUMBER(offset, "offset"), NUMBER(stack, "stack"), HEX(old_address, "from"),
                       TEXT(name, "file")},
    [TRACE_EXT_UNMAP] = {HEX(address, "address"), NUMBER(size, "length"), LATER(stack, "stack"),
                         NUMBER(resident, NULL)},
    [TRACE_EXT_PROTECT] = {HEX(address, "address"), NUMBER(size, "length"),
                           NUMBER(protection, "protection"), NUMBER(stack, "stack")},
    [TRACE_EXT_MAPPED] = {HEX(address, "address"), NUMBER(size, "length"), NUMBER(stack, "stack")},
    [TRACE_EXT_BYPASS] = {NUMBER(reason, "reason"), TEXT(name, "path"),
                          FIELD(TRACE_FIELD_TEXT | TRACE_FIELD_UNLESS_END, file, NULL)},
    [TRACE_EXT_SIZED_DELETE] = {HEX(address, "address"), NUMBER(size, "size"),
                                NUMBER(alignment, "alignment"), NUMBER(stack, "stack")},
    [TRACE_EXT_CONTINUED] = {NUMBER(sequence, "number"), HEX(trace, "trace"),
                             NUMBER(count, "blocks")},
    [TRACE_EXT_LIVE] = {HEX(address, "address"), NUMBER(size, "size"), NUMBER(stack, "stack"),
                        NUMBER(thread, "thread"), NUMBER(kind, "kind"),
                        NUMBER(alignment, "alignment"), NUMBER(age, "age"), NUMBER(arena, "arena"),
                        NUMBER(count, "count"), OPTIONAL(block_kind, "type")},
    [TRACE_EXT_RUNTIME] = {NUMBER(module, "module"), TEXT(name, "name")},
    [TRACE_EXT_RUNTIME_NAME] = {NUMBER(module, "module"), NUMBER(number, "number"),
                                TEXT(name, "function"), TEXT(file, "file"), NUMBER(line, "line")},
    [TRACE_EXT_KIND] = {NUMBER(block_kind, "id"), NUMBER(module, "module"), TEXT(name, "name")},
    [TRACE_EXT_SUPPRESSIONS] = {NUMBER(reason, "outcome"), NUMBER(size, "bytes"),
                                NUMBER(offset, "offset"), TEXT(name, "text")},
    [TRACE_EXT_BEFORE] = {NUMBER(size, "bytes")},
    [TRACE_EXT_RESIDENT] = {NUMBER(number, "number"), NUMBER(earlier_ticks, "began"),
                            NUMBER(later_ticks, "ended"), NUMBER(reason, "reason"),
                            NUMBER(flags, "flags"), NUMBER(resident, "rss"),
                            NUMBER(rss_after, "rss-after"), NUMBER(size, "runs"),
                            NUMBER(coarse, "coarse"),
                            NUMBER(pss, "pss"), NUMBER(lazy_free, "lazy-free"),
                            NUMBER(cgroup, "cgroup"), NUMBER(cgroup_limit, "limit")},
    [TRACE_EXT_PAGES] = {TEXT(name, NULL)},
    [TRACE_EXT_MAPPING] = {HEX(address, "address"), NUMBER(size, "length"), NUMBER(flags, "flags"),
                           NUMBER(offset, "offset"), TEXT(name, "name")},
    [TRACE_EXT_RECORDER_MEMORY] = {NUMBER(number, "number"), HEX(address, "address"),
                                   NUMBER(size, "length")},
    [TRACE_EXT_NO_RESIDENT] = {NUMBER(reason, "reason")},
    [TRACE_EXT_LABEL] = {TEXT(name, "text")},
    [TRACE_EXT_CLOCK] = {NUMBER(monotonic_ns, "monotonic")},
    [TRACE_EXT_FAILED] = {NUMBER(size, "size"), NUMBER(stack, "stack")},
    [TRACE_EXT_END] = {NUMBER(reason, "reason")},
};

const struct trace_extension_field *trace_extension_fields(uint64_t type)
{
    return fields[type];
}

static void get_fields(struct payload *payload, struct trace_extension *extension)
{
    for (const struct trace_extension_field *field = fields[extension->type]; field->how; field++) {
        void *place = (char *)extension + field->place;
        if (field->how & TRACE_FIELD_UNLESS_END && payload->at >= payload->end)
            return;
        if (field->how & TRACE_FIELD_TEXT)
            *(struct trace_text *)place = text(payload);
        else
            *(uint64_t *)place = number(payload);
    }
}

/* Reads the other fields of a type that begins with a time. */
static void get_timed(struct payload *payload, struct trace_extension *extension)
{
    if (extension->type == TRACE_EXT_MODULE)
        get_module(payload, extension);
    else if (extension->type == TRACE_EXT_COLLECTION)
        get_collection(payload, extension);
    else
        get_fields(payload, extension);
}

/* Copies the fields of a short record, which the decoder has read already. */
static void get_short(const struct trace_record *record, struct trace_extension *extension)
{
    extension->when = record->ticks;
    extension->arena = record->block.arena;
    extension->address = record->address;
    extension->size = record->size;
    extension->count = record->block.count;
    extension->stack = record->stack;
    extension->block_kind = record->block.kind;
    extension->reason = record->block.collected;
}

bool trace_extension_get(const struct trace_record *record, uint64_t ticks,
                         struct trace_extension *extension)
{
    struct payload payload = {record->extended.payload, record->extended.end, true};
    memset(extension, 0, sizeof(*extension));
    extension->type = record->extended.type;
    extension->when = ticks;
    extension->rest_end = payload.end;
    if (!payload.at) {
        get_short(record, extension);
    } else if (extension->type == TRACE_EXT_PROCESS) {
        get_process(&payload, extension);
    } else if (extension->type == TRACE_EXT_SWITCH) {
        extension->thread = number(&payload);
        extension->sequence = number(&payload);
        extension->when = number(&payload);
    } else if (trace_extended_is_known(extension->type)) {
        uint64_t later = number(&payload);
        /* A time that overflows is not valid: the last stamp is kept. */
        extension->when = ticks + later < ticks ? ticks : ticks + later;
        get_timed(&payload, extension);
    }
    return payload.good;
}

bool trace_extension_argument(const struct trace_extension *extension, const uint8_t **at,
                              struct trace_text *argument)
{
    return *at < extension->rest_end &&
           trace_get_string(at, extension->rest_end, &argument->bytes, &argument->length);
}

/* ---- cursor -------------------------------------------------------------------------------- */

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
