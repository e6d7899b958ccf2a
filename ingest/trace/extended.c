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

/* Reads a number that older records do not have: then it is 0. */
static uint64_t more(struct payload *payload)
{
    return payload->good && payload->at < payload->end ? number(payload) : 0;
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

/* Reads the other fields of a type that begins with a time. */
static void get_timed(struct payload *payload, struct trace_extension *extension)
{
    switch (extension->type) {
    case TRACE_EXT_THREAD:
        extension->thread = number(payload);
        extension->tid = number(payload);
        extension->name = text(payload);
        break;
    case TRACE_EXT_THREAD_END:
        extension->thread = number(payload);
        break;
    case TRACE_EXT_MODULE:
        get_module(payload, extension);
        break;
    case TRACE_EXT_MODULE_END:
        extension->module = number(payload);
        break;
    case TRACE_EXT_ARENA:
        extension->arena = number(payload);
        extension->parent = number(payload);
        extension->name = text(payload);
        break;
    case TRACE_EXT_ARENA_ALLOC:
        extension->arena = number(payload);
        extension->address = number(payload);
        extension->size = number(payload);
        extension->count = number(payload);
        extension->stack = number(payload);
        extension->block_kind = more(payload);
        break;
    case TRACE_EXT_ARENA_FREE:
        extension->arena = number(payload);
        extension->address = number(payload);
        extension->reason = more(payload);
        break;
    case TRACE_EXT_ARENA_REALLOC:
        extension->arena = number(payload);
        extension->old_address = number(payload);
        extension->address = number(payload);
        extension->size = number(payload);
        extension->count = number(payload);
        extension->stack = number(payload);
        break;
    case TRACE_EXT_AUTOSAVE:
        extension->count = number(payload);
        break;
    case TRACE_EXT_ARENA_RESET:
        extension->arena = number(payload);
        break;
    case TRACE_EXT_TYPE:
        extension->arena = number(payload);
        extension->address = number(payload);
        extension->module = number(payload);
        extension->symbol = number(payload);
        extension->count = number(payload);
        extension->size = number(payload);
        break;
    case TRACE_EXT_MARK:
    case TRACE_EXT_SNAPSHOT:
        extension->name = text(payload);
        break;
    case TRACE_EXT_BARE_CODE:
        extension->module = number(payload);
        extension->address = number(payload);
        break;
    case TRACE_EXT_RSS:
        extension->resident = number(payload);
        break;
    case TRACE_EXT_DROPPED:
        extension->count = number(payload);
        extension->reason = number(payload);
        break;
    case TRACE_EXT_RECORDING:
        extension->resumed = number(payload);
        break;
    case TRACE_EXT_MAP:
        extension->address = number(payload);
        extension->size = number(payload);
        extension->protection = number(payload);
        extension->flags = number(payload);
        extension->offset = number(payload);
        extension->stack = number(payload);
        extension->old_address = number(payload);
        extension->name = text(payload);
        break;
    case TRACE_EXT_UNMAP:
        extension->address = number(payload);
        extension->size = number(payload);
        if (payload->good && payload->at < payload->end) { /* older traces end here */
            extension->stack = number(payload);
            extension->resident = number(payload);
        }
        break;
    case TRACE_EXT_PROTECT:
        extension->address = number(payload);
        extension->size = number(payload);
        extension->protection = number(payload);
        extension->stack = number(payload);
        break;
    case TRACE_EXT_BYPASS:
        extension->reason = number(payload);
        extension->name = text(payload);
        break;
    case TRACE_EXT_SIZED_DELETE:
        extension->address = number(payload);
        extension->size = number(payload);
        extension->alignment = number(payload);
        extension->stack = number(payload);
        break;
    case TRACE_EXT_CONTINUED:
        extension->sequence = number(payload);
        extension->trace = number(payload);
        extension->count = number(payload);
        break;
    case TRACE_EXT_LIVE:
        extension->address = number(payload);
        extension->size = number(payload);
        extension->stack = number(payload);
        extension->thread = number(payload);
        extension->kind = number(payload);
        extension->alignment = number(payload);
        extension->age = number(payload);
        extension->arena = number(payload);
        extension->count = number(payload);
        extension->block_kind = more(payload);
        break;
    case TRACE_EXT_RUNTIME:
        extension->module = number(payload);
        extension->name = text(payload);
        break;
    case TRACE_EXT_RUNTIME_NAME:
        extension->module = number(payload);
        extension->number = number(payload);
        extension->name = text(payload);
        extension->file = text(payload);
        extension->line = number(payload);
        break;
    case TRACE_EXT_KIND:
        extension->block_kind = number(payload);
        extension->module = number(payload);
        extension->name = text(payload);
        break;
    case TRACE_EXT_COLLECTION:
        extension->module = number(payload);
        extension->begins = number(payload);
        extension->earlier =
            extension->begins == TRACE_COLLECTION_BEFORE ||
            (extension->begins == TRACE_COLLECTION_BEGINS && payload->at < payload->end);
        if (extension->earlier) {
            extension->age = number(payload);
            extension->arena = number(payload);
        }
        break;
    case TRACE_EXT_SUPPRESSIONS:
        extension->reason = number(payload);
        extension->size = number(payload);
        extension->offset = number(payload);
        extension->name = text(payload);
        break;
    case TRACE_EXT_BEFORE:
        extension->size = number(payload);
        break;
    case TRACE_EXT_CLOCK:
        extension->monotonic_ns = number(payload);
        break;
    case TRACE_EXT_FAILED:
        extension->size = number(payload);
        extension->stack = number(payload);
        break;
    case TRACE_EXT_END:
        extension->reason = number(payload);
        break;
    default:
        break;
    }
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
