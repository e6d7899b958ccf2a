/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/trace/extended.h"

#include <string.h>

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
    struct trace_text argument;
    for (uint64_t i = 0; i < extension->argument_count && payload->good; i++)
        argument = text(payload);
    (void)argument;
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

/* The way to read a field. Older records may end before a field that says so. */
enum { READ_NUMBER = 1, READ_TEXT, READ_NUMBER_UNLESS_END, READ_TEXT_UNLESS_END };

struct field {
    uint16_t how; /* 0: there are no more fields */
    uint16_t place;
};

#define NUMBER(name)                                                                               \
    {                                                                                              \
        READ_NUMBER, offsetof(struct trace_extension, name)                                        \
    }
#define NUMBER_UNLESS_END(name)                                                                    \
    {                                                                                              \
        READ_NUMBER_UNLESS_END, offsetof(struct trace_extension, name)                             \
    }
#define TEXT(name)                                                                                 \
    {                                                                                              \
        READ_TEXT, offsetof(struct trace_extension, name)                                          \
    }
#define TEXT_UNLESS_END(name)                                                                      \
    {                                                                                              \
        READ_TEXT_UNLESS_END, offsetof(struct trace_extension, name)                               \
    }

enum { FIELDS_MOST = 11 }; /* with the end */

/* The fields of each type after its time, in the order of the record. */
static const struct field fields[TRACE_EXT_LAST + 1][FIELDS_MOST] = {
    [TRACE_EXT_THREAD] = {NUMBER(thread), NUMBER(tid), TEXT(name)},
    [TRACE_EXT_THREAD_END] = {NUMBER(thread)},
    [TRACE_EXT_MODULE_END] = {NUMBER(module)},
    [TRACE_EXT_ARENA] = {NUMBER(arena), NUMBER(parent), TEXT(name)},
    [TRACE_EXT_ARENA_ALLOC] = {NUMBER(arena), NUMBER(address), NUMBER(size), NUMBER(count),
                               NUMBER(stack), NUMBER_UNLESS_END(block_kind)},
    [TRACE_EXT_ARENA_FREE] = {NUMBER(arena), NUMBER(address), NUMBER_UNLESS_END(reason)},
    [TRACE_EXT_ARENA_REALLOC] = {NUMBER(arena), NUMBER(old_address), NUMBER(address), NUMBER(size),
                                 NUMBER(count), NUMBER(stack)},
    [TRACE_EXT_AUTOSAVE] = {NUMBER(count)},
    [TRACE_EXT_ARENA_RESET] = {NUMBER(arena)},
    [TRACE_EXT_TYPE] = {NUMBER(arena), NUMBER(address), NUMBER(module), NUMBER(symbol),
                        NUMBER(count), NUMBER(size)},
    [TRACE_EXT_MARK] = {TEXT(name)},
    [TRACE_EXT_SNAPSHOT] = {TEXT(name)},
    [TRACE_EXT_BARE_CODE] = {NUMBER(module), NUMBER(address)},
    [TRACE_EXT_RSS] = {NUMBER(resident)},
    [TRACE_EXT_DROPPED] = {NUMBER(count), NUMBER(reason)},
    [TRACE_EXT_RECORDING] = {NUMBER(resumed)},
    [TRACE_EXT_MAP] = {NUMBER(address), NUMBER(size), NUMBER(protection), NUMBER(flags),
                       NUMBER(offset), NUMBER(stack), NUMBER(old_address), TEXT(name)},
    [TRACE_EXT_UNMAP] = {NUMBER(address), NUMBER(size), NUMBER_UNLESS_END(stack), NUMBER(resident)},
    [TRACE_EXT_PROTECT] = {NUMBER(address), NUMBER(size), NUMBER(protection), NUMBER(stack)},
    [TRACE_EXT_BYPASS] = {NUMBER(reason), TEXT(name), TEXT_UNLESS_END(file)},
    [TRACE_EXT_SIZED_DELETE] = {NUMBER(address), NUMBER(size), NUMBER(alignment), NUMBER(stack)},
    [TRACE_EXT_CONTINUED] = {NUMBER(sequence), NUMBER(trace), NUMBER(count)},
    [TRACE_EXT_LIVE] = {NUMBER(address), NUMBER(size), NUMBER(stack), NUMBER(thread), NUMBER(kind),
                        NUMBER(alignment), NUMBER(age), NUMBER(arena), NUMBER(count),
                        NUMBER_UNLESS_END(block_kind)},
    [TRACE_EXT_RUNTIME] = {NUMBER(module), TEXT(name)},
    [TRACE_EXT_RUNTIME_NAME] = {NUMBER(module), NUMBER(number), TEXT(name), TEXT(file),
                                NUMBER(line)},
    [TRACE_EXT_KIND] = {NUMBER(block_kind), NUMBER(module), TEXT(name)},
    [TRACE_EXT_SUPPRESSIONS] = {NUMBER(reason), NUMBER(size), NUMBER(offset), TEXT(name)},
    [TRACE_EXT_BEFORE] = {NUMBER(size)},
    [TRACE_EXT_CLOCK] = {NUMBER(monotonic_ns)},
    [TRACE_EXT_FAILED] = {NUMBER(size), NUMBER(stack)},
    [TRACE_EXT_END] = {NUMBER(reason)},
};

/* Reads the fields of a type that the table describes. */
static void get_fields(struct payload *payload, struct trace_extension *extension)
{
    for (const struct field *field = fields[extension->type]; field->how != 0; field++) {
        void *place = (char *)extension + field->place;
        if (field->how >= READ_NUMBER_UNLESS_END && payload->at >= payload->end)
            return;
        if (field->how == READ_TEXT || field->how == READ_TEXT_UNLESS_END)
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
    } else if (extension->type >= TRACE_EXT_THREAD && extension->type <= TRACE_EXT_LAST) {
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
