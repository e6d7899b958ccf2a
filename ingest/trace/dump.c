/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/trace/dump.h"

#include <inttypes.h>

#include "ingest/trace/cursor.h"
#include "ingest/trace/merge.h"

static const char *const kind_names[TRACE_KIND_COUNT] = {
    [TRACE_KIND_MALLOC] = "malloc",
    [TRACE_KIND_CALLOC] = "calloc",
    [TRACE_KIND_REALLOC] = "realloc",
    [TRACE_KIND_REALLOCARRAY] = "reallocarray",
    [TRACE_KIND_POSIX_MEMALIGN] = "posix_memalign",
    [TRACE_KIND_ALIGNED_ALLOC] = "aligned_alloc",
    [TRACE_KIND_MEMALIGN] = "memalign",
    [TRACE_KIND_VALLOC] = "valloc",
    [TRACE_KIND_PVALLOC] = "pvalloc",
};

static const char *const outcome_names[] = {
    [TRACE_REALLOC_MOVED] = "moved",
    [TRACE_REALLOC_IN_PLACE] = "in-place",
    [TRACE_REALLOC_FAILED] = "failed",
};

static const char *const frame_names[] = {
    [TRACE_FRAME_RETURN] = "return",
    [TRACE_FRAME_EXACT] = "exact",
    [TRACE_FRAME_DEPTH_LIMIT] = "depth-limit",
    [TRACE_FRAME_UNWIND_END] = "unwind-end",
};

static const char *const state_names[] = {
    [TRACE_STATE_RECORDING] = "recording", [TRACE_STATE_ENDED] = "ended",
    [TRACE_STATE_DISK_FULL] = "disk-full", [TRACE_STATE_LIMIT] = "limit",
    [TRACE_STATE_ERROR] = "error",         [TRACE_STATE_EXEC] = "exec",
};

static void put_text(FILE *out, const char *key, struct trace_text text)
{
    fprintf(out, " %s \"", key);
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.bytes[i];
        if (byte < 0x20 || byte > 0x7e || byte == '"' || byte == '\\')
            fprintf(out, "\\x%02x", byte);
        else
            fputc(byte, out);
    }
    fputc('"', out);
}

static void put_hex(FILE *out, const char *key, struct trace_text bytes)
{
    fprintf(out, " %s ", key);
    for (size_t i = 0; i < bytes.length; i++)
        fprintf(out, "%02x", (unsigned char)bytes.bytes[i]);
    if (bytes.length == 0)
        fputc('-', out);
}

static void put_process(FILE *out, const struct trace_extension *process)
{
    fprintf(out, "process pid %" PRIu64 " parent %" PRIu64 " parent-trace 0x%" PRIx64, process->pid,
            process->parent_pid, process->parent_trace);
    put_text(out, "exe", process->exe);
    put_text(out, "directory", process->directory);
    put_text(out, "host", process->host);
    put_text(out, "kernel", process->kernel);
    if (process->fork_after != 0)
        fprintf(out, " forked %" PRIu64 " to %" PRIu64, process->fork_before, process->fork_after);
    if (process->boot_id.length != 0)
        put_text(out, "boot", process->boot_id);
    fprintf(out, " flags %" PRIu64 " argc %" PRIu64, process->flags, process->argument_count);
    const uint8_t *at = process->rest;
    struct trace_text argument;
    for (uint64_t i = 0; i < process->argument_count; i++)
        if (trace_extension_argument(process, &at, &argument))
            put_text(out, "arg", argument);
}

static void put_module(FILE *out, const struct trace_extension *module)
{
    fprintf(out,
            "module id %" PRIu64 " bias 0x%" PRIx64 " start 0x%" PRIx64 " end 0x%" PRIx64
            " when %" PRIu64,
            module->module, module->load_bias, module->start, module->end, module->when);
    put_text(out, "path", module->name);
    put_hex(out, "build-id", module->build_id);
    const uint8_t *at = module->rest;
    for (uint64_t i = 0; i < module->segment_count; i++) {
        uint64_t address = 0, size = 0, flags = 0;
        trace_get_varint(&at, module->rest_end, &address);
        trace_get_varint(&at, module->rest_end, &size);
        trace_get_varint(&at, module->rest_end, &flags);
        fprintf(out, " segment 0x%" PRIx64 "+0x%" PRIx64 ":%" PRIu64, address, size, flags);
    }
}

/* Writes the fields of types that concern an arena or a type tag. */
static void put_arena(FILE *out, const struct trace_extension *extension)
{
    switch (extension->type) {
    case TRACE_EXT_ARENA:
        fprintf(out, "arena id %" PRIu64 " parent %" PRIu64, extension->arena, extension->parent);
        put_text(out, "name", extension->name);
        break;
    case TRACE_EXT_ARENA_ALLOC:
        fprintf(out,
                "arena-alloc arena %" PRIu64 " address 0x%" PRIx64 " size %" PRIu64
                " count %" PRIu64 " stack %" PRIu64,
                extension->arena, extension->address, extension->size, extension->count,
                extension->stack);
        if (extension->block_kind != 0)
            fprintf(out, " kind %" PRIu64, extension->block_kind);
        break;
    case TRACE_EXT_ARENA_REALLOC:
        fprintf(out,
                "arena-realloc arena %" PRIu64 " old 0x%" PRIx64 " address 0x%" PRIx64
                " size %" PRIu64 " count %" PRIu64 " stack %" PRIu64,
                extension->arena, extension->old_address, extension->address, extension->size,
                extension->count, extension->stack);
        break;
    case TRACE_EXT_ARENA_FREE:
        fprintf(out, "arena-free arena %" PRIu64 " address 0x%" PRIx64, extension->arena,
                extension->address);
        if (extension->reason != 0)
            fputs(" collected", out);
        break;
    case TRACE_EXT_ARENA_RESET:
        fprintf(out, "arena-reset arena %" PRIu64, extension->arena);
        break;
    default:
        fprintf(out,
                "type arena %" PRIu64 " address 0x%" PRIx64 " module %" PRIu64 " symbol 0x%" PRIx64
                " count %" PRIu64 " of %" PRIu64 " bytes",
                extension->arena, extension->address, extension->module, extension->symbol,
                extension->count, extension->size);
        break;
    }
    fprintf(out, " when %" PRIu64, extension->when);
}

/* Writes the fields of types that concern a runtime. */
static void put_runtime(FILE *out, const struct trace_extension *extension)
{
    switch (extension->type) {
    case TRACE_EXT_RUNTIME:
        fprintf(out, "runtime module %" PRIu64, extension->module);
        put_text(out, "name", extension->name);
        break;
    case TRACE_EXT_RUNTIME_NAME:
        fprintf(out, "runtime-name module %" PRIu64 " number %" PRIu64, extension->module,
                extension->number);
        put_text(out, "function", extension->name);
        put_text(out, "file", extension->file);
        fprintf(out, " line %" PRIu64, extension->line);
        break;
    case TRACE_EXT_KIND:
        fprintf(out, "kind id %" PRIu64 " module %" PRIu64, extension->block_kind,
                extension->module);
        put_text(out, "name", extension->name);
        break;
    default:
        fprintf(out, "collection %s module %" PRIu64,
                extension->begins == TRACE_COLLECTION_BEGINS   ? "begins"
                : extension->begins == TRACE_COLLECTION_BEFORE ? "before"
                                                               : "ended",
                extension->module);
        if (extension->earlier)
            fprintf(out, " age %" PRIu64 " arena %" PRIu64, extension->age, extension->arena);
        break;
    }
    fprintf(out, " when %" PRIu64, extension->when);
}

/* Writes the fields of types that concern the program's mappings. */
static void put_mapping(FILE *out, const struct trace_extension *extension)
{
    switch (extension->type) {
    case TRACE_EXT_MAP:
        fprintf(out,
                "map address 0x%" PRIx64 " length %" PRIu64 " protection %" PRIu64
                " flags 0x%" PRIx64 " offset %" PRIu64 " stack %" PRIu64 " from 0x%" PRIx64,
                extension->address, extension->size, extension->protection, extension->flags,
                extension->offset, extension->stack, extension->old_address);
        put_text(out, "file", extension->name);
        break;
    case TRACE_EXT_UNMAP:
        fprintf(out, "unmap address 0x%" PRIx64 " length %" PRIu64 " stack %" PRIu64,
                extension->address, extension->size, extension->stack);
        if (extension->resident != 0)
            fprintf(out, " resident %" PRIu64, extension->resident - 1);
        break;
    default:
        fprintf(out,
                "protect address 0x%" PRIx64 " length %" PRIu64 " protection %" PRIu64
                " stack %" PRIu64,
                extension->address, extension->size, extension->protection, extension->stack);
        break;
    }
    fprintf(out, " when %" PRIu64, extension->when);
}

/* Writes the fields of types that concern the trace before a rotation. */
static void put_earlier(FILE *out, const struct trace_extension *extension)
{
    switch (extension->type) {
    case TRACE_EXT_CONTINUED:
        fprintf(out, "continued number %" PRIu64 " trace 0x%" PRIx64 " blocks %" PRIu64,
                extension->sequence, extension->trace, extension->count);
        break;
    default:
        fprintf(out,
                "live address 0x%" PRIx64 " size %" PRIu64 " stack %" PRIu64 " thread %" PRIu64
                " kind %" PRIu64 " alignment %" PRIu64 " age %" PRIu64 " arena %" PRIu64
                " count %" PRIu64,
                extension->address, extension->size, extension->stack, extension->thread,
                extension->kind, extension->alignment, extension->age, extension->arena,
                extension->count);
        if (extension->block_kind != 0)
            fprintf(out, " type %" PRIu64, extension->block_kind);
        break;
    }
    fprintf(out, " when %" PRIu64, extension->when);
}

/* Writes the fields of types that concern one call of the program. */
static void put_call(FILE *out, const struct trace_extension *extension)
{
    switch (extension->type) {
    case TRACE_EXT_SIZED_DELETE:
        fprintf(out,
                "sized-delete address 0x%" PRIx64 " size %" PRIu64 " alignment %" PRIu64
                " stack %" PRIu64,
                extension->address, extension->size, extension->alignment, extension->stack);
        break;
    default:
        fprintf(out, "failed size %" PRIu64 " stack %" PRIu64, extension->size, extension->stack);
        break;
    }
    fprintf(out, " when %" PRIu64, extension->when);
}

static void put_timed(FILE *out, const struct trace_extension *extension)
{
    switch (extension->type) {
    case TRACE_EXT_THREAD:
        fprintf(out, "thread number %" PRIu64 " tid %" PRIu64, extension->thread, extension->tid);
        put_text(out, "name", extension->name);
        break;
    case TRACE_EXT_THREAD_END:
        fprintf(out, "thread-end number %" PRIu64, extension->thread);
        break;
    case TRACE_EXT_MODULE_END:
        fprintf(out, "module-end id %" PRIu64, extension->module);
        break;
    case TRACE_EXT_MARK:
    case TRACE_EXT_SNAPSHOT:
        fputs(extension->type == TRACE_EXT_MARK ? "mark" : "snapshot", out);
        put_text(out, "name", extension->name);
        break;
    case TRACE_EXT_BARE_CODE:
        fprintf(out, "bare-code module %" PRIu64 " pc 0x%" PRIx64, extension->module,
                extension->address);
        break;
    case TRACE_EXT_AUTOSAVE:
        fprintf(out, "autosave every %" PRIu64, extension->count);
        break;
    case TRACE_EXT_BEFORE:
        fprintf(out, "before bytes %" PRIu64, extension->size);
        break;
    case TRACE_EXT_CLOCK:
        fprintf(out, "clock monotonic %" PRIu64, extension->monotonic_ns);
        break;
    case TRACE_EXT_BYPASS:
        fprintf(out, "bypass reason %" PRIu64, extension->reason);
        put_text(out, "path", extension->name);
        if (extension->reason == TRACE_BYPASS_FUNCTION)
            put_text(out, "function", extension->file);
        break;
    case TRACE_EXT_SUPPRESSIONS:
        fprintf(out, "suppressions outcome %" PRIu64 " bytes %" PRIu64 " offset %" PRIu64,
                extension->reason, extension->size, extension->offset);
        put_text(out, "text", extension->name);
        break;
    case TRACE_EXT_RSS:
        fprintf(out, "rss bytes %" PRIu64, extension->resident);
        break;
    case TRACE_EXT_DROPPED:
        fprintf(out, "dropped count %" PRIu64 " reason %" PRIu64, extension->count,
                extension->reason);
        break;
    case TRACE_EXT_RECORDING:
        fprintf(out, "recording %s", extension->resumed ? "resumed" : "paused");
        break;
    default:
        fprintf(out, "end reason %" PRIu64, extension->reason);
        break;
    }
    fprintf(out, " when %" PRIu64, extension->when);
}

static void put_extended(FILE *out, uint64_t ticks, const struct trace_record *record)
{
    struct trace_extension extension;
    size_t length = (size_t)(record->extended.end - record->extended.payload);
    if (!trace_extension_get(record, ticks, &extension)) {
        fprintf(out, "damaged-extended type %" PRIu64 " length %zu", extension.type, length);
        return;
    }
    switch (extension.type) {
    case TRACE_EXT_PROCESS:
        put_process(out, &extension);
        break;
    case TRACE_EXT_SWITCH:
        fprintf(out, "switch thread %" PRIu64 " sequence %" PRIu64, extension.thread,
                extension.sequence);
        break;
    case TRACE_EXT_MODULE:
        put_module(out, &extension);
        break;
    case TRACE_EXT_ARENA:
    case TRACE_EXT_ARENA_ALLOC:
    case TRACE_EXT_ARENA_REALLOC:
    case TRACE_EXT_ARENA_FREE:
    case TRACE_EXT_ARENA_RESET:
    case TRACE_EXT_TYPE:
        put_arena(out, &extension);
        break;
    case TRACE_EXT_RUNTIME:
    case TRACE_EXT_RUNTIME_NAME:
    case TRACE_EXT_KIND:
    case TRACE_EXT_COLLECTION:
        put_runtime(out, &extension);
        break;
    case TRACE_EXT_MAP:
    case TRACE_EXT_UNMAP:
    case TRACE_EXT_PROTECT:
        put_mapping(out, &extension);
        break;
    case TRACE_EXT_SIZED_DELETE:
    case TRACE_EXT_FAILED:
        put_call(out, &extension);
        break;
    case TRACE_EXT_CONTINUED:
    case TRACE_EXT_LIVE:
        put_earlier(out, &extension);
        break;
    default:
        if (extension.type >= TRACE_EXT_THREAD && extension.type <= TRACE_EXT_LAST)
            put_timed(out, &extension);
        else
            fprintf(out, "unknown-extended type %" PRIu64 " length %zu", extension.type, length);
        break;
    }
}

static void put_node(FILE *out, const struct trace_record *record)
{
    fprintf(out, "node id %" PRIu32 " parent %" PRIu32 " frame %s", record->node.id,
            record->node.parent, frame_names[record->node.frame]);
    if (record->node.frame <= TRACE_FRAME_EXACT)
        fprintf(out, " module %" PRIu32 " value 0x%" PRIx64, record->node.module,
                record->node.value);
}

/* Writes the record, after its place and time. `ticks` is the coding state's. */
static void put_record(FILE *out, uint64_t ticks, const struct trace_record *record)
{
    switch (record->kind) {
    case TRACE_ALLOC:
    case TRACE_ALLOC_ATTR:
        fprintf(out, "alloc kind %s address 0x%" PRIx64 " size %" PRIu64 " stack %" PRIu32,
                kind_names[record->alloc_kind], record->address, record->size, record->stack);
        if (record->alignment != 0)
            fprintf(out, " alignment %" PRIu64, record->alignment);
        break;
    case TRACE_FREE:
        fprintf(out, "free address 0x%" PRIx64, record->address);
        break;
    case TRACE_FREE_STACK:
        fprintf(out, "free address 0x%" PRIx64 " stack %" PRIu32, record->address, record->stack);
        break;
    case TRACE_REALLOC:
        fprintf(out,
                "realloc kind %s outcome %s before %" PRIu64 " old 0x%" PRIx64 " address 0x%" PRIx64
                " size %" PRIu64 " stack %" PRIu32,
                kind_names[record->alloc_kind], outcome_names[record->outcome], record->free_ticks,
                record->old_address, record->address, record->size, record->stack);
        break;
    case TRACE_NODE:
        put_node(out, record);
        break;
    case TRACE_EXTENDED:
        put_extended(out, ticks, record);
        break;
    }
    fputc('\n', out);
}

static void put_place(FILE *out, uint64_t offset, uint32_t thread, uint64_t ticks)
{
    fprintf(out, "@%" PRIu64 " thread %" PRIu32 " %" PRIu64 " ", offset, thread, ticks);
}

void trace_dump_header(FILE *out, const struct trace_file *file)
{
    const struct trace_file_header *header = trace_file_header(file);
    fprintf(out,
            "file version %" PRIu32 " chunk-size %" PRIu32 " flags %" PRIu32 " clock %s"
            " architecture %" PRIu32 " trace 0x%" PRIx64 " start-ticks %" PRIu64
            " start-monotonic %" PRIu64 " start-realtime %" PRIu64 " sample-interval %" PRIu64
            " pid %" PRIu32 " page-size %" PRIu32,
            header->version, header->chunk_size, header->flags,
            header->clock == TRACE_CLOCK_TSC ? "tsc" : "nanoseconds", header->architecture,
            header->trace_id, header->start_ticks, header->start_monotonic_ns,
            header->start_realtime_ns, header->sample_interval, header->pid, header->page_size);
    size_t states = sizeof(state_names) / sizeof(*state_names);
    fprintf(out,
            " state %s errno %" PRId32 " chunks %" PRIu32 " dropped %" PRIu64 " end-ticks %" PRIu64
            " end-monotonic %" PRIu64,
            header->state < states ? state_names[header->state] : "unknown", header->stop_errno,
            header->chunk_count, header->dropped_events, header->end_ticks,
            header->end_monotonic_ns);
    if (header->outcome)
        fprintf(out, " outcome %" PRIu32 " outcome-number %" PRIu32, header->outcome,
                header->outcome_number);
    putc('\n', out);
}

static bool dump_chunk(FILE *out, const struct trace_file *file, const struct trace_slot *slot,
                       struct ingest_status *status)
{
    struct trace_cursor cursor;
    struct trace_record record;
    enum trace_get got;
    if (slot->damage) {
        fprintf(out, "damage @%" PRIu64 " chunk %" PRIu32 " lost %" PRIu32 ": %s\n", slot->offset,
                slot->number, slot->lost, slot->damage);
        return true;
    }
    fprintf(out,
            "chunk %" PRIu32 " @%" PRIu64 " thread %" PRIu32 " sequence %" PRIu32
            " base-ticks %" PRIu64 " base-monotonic %" PRIu64 " commit %" PRIu32 " %s\n",
            slot->number, slot->offset, slot->thread, slot->sequence, slot->base_ticks,
            slot->base_monotonic_ns, slot->commit, slot->sealed ? "sealed" : "open");
    if (!trace_cursor_open(&cursor, file, slot))
        return ingest_fail_memory(status, "a chunk");
    bool sum_good = trace_cursor_sum_good(&cursor);
    for (;;) {
        uint64_t offset = trace_cursor_offset(&cursor);
        got = trace_cursor_next(&cursor, &record);
        if (got != TRACE_GET_RECORD)
            break;
        put_place(out, offset, cursor.thread, cursor.coding.ticks);
        put_record(out, cursor.coding.ticks, &record);
    }
    uint64_t lost = trace_cursor_lost(&cursor);
    if (!sum_good)
        fprintf(out, "damage @%" PRIu64 " chunk %" PRIu32 " lost %" PRIu32 ": wrong sum\n",
                slot->offset, slot->number, slot->commit);
    else if (lost != 0)
        fprintf(out, "damage @%" PRIu64 " chunk %" PRIu32 " lost %" PRIu64 ": %s\n",
                trace_cursor_offset(&cursor), slot->number, lost,
                trace_cursor_explain(&cursor, got));
    trace_cursor_close(&cursor);
    return true;
}

bool trace_dump_file(FILE *out, const struct trace_file *file, struct ingest_status *status)
{
    const struct trace_slot *slots;
    size_t count = trace_file_slots(file, &slots);
    trace_dump_header(out, file);
    for (size_t i = 0; i < count && !ferror(out); i++)
        if (!dump_chunk(out, file, &slots[i], status))
            return false;
    if (trace_file_missing_slots(file) != 0)
        fprintf(out, "damage @%" PRIu64 " the file is cut: %" PRIu64 " chunk slots are missing\n",
                trace_file_size(file), trace_file_missing_slots(file));
    return true;
}

bool trace_dump_by_time(FILE *out, const struct trace_file *file, struct ingest_status *status)
{
    struct trace_event event;
    struct merge *merge = merge_new(file, status);
    if (!merge)
        return false;
    while (!ferror(out) && merge_next(merge, &event, status)) {
        if (event.of_realloc)
            fputs(event.kind == EVENT_FREE ? "first half  " : "second half ", out);
        put_place(out, event.offset, event.thread, event.ticks);
        put_record(out, event.coding_ticks, event.record);
    }
    merge_free(merge);
    return status->code == INGEST_OK;
}
