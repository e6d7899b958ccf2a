/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/trace/dump.h"

#include <inttypes.h>

#include "ingest/trace/cursor.h"
#include "ingest/trace/merge.h"
#include "schemas/trace_references.h"

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

static void put_collection(FILE *out, const struct trace_extension *collection)
{
    fprintf(out, " %s module %" PRIu64,
            collection->begins == TRACE_COLLECTION_BEGINS   ? "begins"
            : collection->begins == TRACE_COLLECTION_BEFORE ? "before"
                                                            : "ended",
            collection->module);
    if (collection->earlier)
        fprintf(out, " age %" PRIu64 " arena %" PRIu64, collection->age, collection->arena);
}

/* Writes runs of pages: how many are left out before each, its pages, and the class. */
static void put_runs(FILE *out, struct trace_text runs)
{
    const uint8_t *at = (const uint8_t *)runs.bytes, *end = at + runs.length;
    uint64_t gap, pages;
    while (at < end && trace_get_varint(&at, end, &gap) && trace_get_varint(&at, end, &pages))
        fprintf(out, " +%" PRIu64 " %" PRIu64 ":%" PRIu64, gap, pages >> 3, pages & 7);
}

/* Writes what the fields that have labels do not tell. */
static void put_rest(FILE *out, const struct trace_extension *extension)
{
    if (extension->type == TRACE_EXT_ARENA_FREE && extension->reason != 0)
        fputs(" collected", out);
    if (extension->type == TRACE_EXT_TYPE)
        fputs(" bytes", out);
    if (extension->type == TRACE_EXT_UNMAP && extension->resident != 0)
        fprintf(out, " resident %" PRIu64, extension->resident - 1);
    if (extension->type == TRACE_EXT_BYPASS && extension->reason == TRACE_BYPASS_FUNCTION)
        put_text(out, "function", extension->file);
    if (extension->type == TRACE_EXT_PAGES)
        put_runs(out, extension->name);
    if (extension->type == TRACE_EXT_RECORDING)
        fputs(extension->resumed ? " resumed" : " paused", out);
}

/* Writes a record of a type that begins with a time. */
static void put_timed(FILE *out, const struct trace_extension *extension)
{
    static const char *const names[TRACE_EXT_LAST + 1] = {
        [TRACE_EXT_THREAD] = "thread",
        [TRACE_EXT_THREAD_END] = "thread-end",
        [TRACE_EXT_MODULE_END] = "module-end",
        [TRACE_EXT_ARENA] = "arena",
        [TRACE_EXT_ARENA_ALLOC] = "arena-alloc",
        [TRACE_EXT_ARENA_FREE] = "arena-free",
        [TRACE_EXT_ARENA_RESET] = "arena-reset",
        [TRACE_EXT_ARENA_REALLOC] = "arena-realloc",
        [TRACE_EXT_TYPE] = "type",
        [TRACE_EXT_MARK] = "mark",
        [TRACE_EXT_SNAPSHOT] = "snapshot",
        [TRACE_EXT_RSS] = "rss",
        [TRACE_EXT_DROPPED] = "dropped",
        [TRACE_EXT_RECORDING] = "recording",
        [TRACE_EXT_FAILED] = "failed",
        [TRACE_EXT_END] = "end",
        [TRACE_EXT_AUTOSAVE] = "autosave",
        [TRACE_EXT_CLOCK] = "clock",
        [TRACE_EXT_MAP] = "map",
        [TRACE_EXT_UNMAP] = "unmap",
        [TRACE_EXT_MAPPED] = "mapped",
        [TRACE_EXT_PROTECT] = "protect",
        [TRACE_EXT_BYPASS] = "bypass",
        [TRACE_EXT_BARE_CODE] = "bare-code",
        [TRACE_EXT_SUPPRESSIONS] = "suppressions",
        [TRACE_EXT_SIZED_DELETE] = "sized-delete",
        [TRACE_EXT_CONTINUED] = "continued",
        [TRACE_EXT_LIVE] = "live",
        [TRACE_EXT_BEFORE] = "before",
        [TRACE_EXT_RUNTIME] = "runtime",
        [TRACE_EXT_RUNTIME_NAME] = "runtime-name",
        [TRACE_EXT_KIND] = "kind",
        [TRACE_EXT_COLLECTION] = "collection",
        [TRACE_EXT_RESIDENT] = "resident",
        [TRACE_EXT_PAGES] = "pages",
        [TRACE_EXT_MAPPING] = "mapping",
        [TRACE_EXT_RECORDER_MEMORY] = "recorder-memory",
        [TRACE_EXT_NO_RESIDENT] = "no-resident",
        [TRACE_EXT_LABEL] = "label",
    };
    fputs(names[extension->type], out);
    if (extension->type == TRACE_EXT_COLLECTION)
        put_collection(out, extension);
    for (const struct trace_extension_field *field = trace_extension_fields(extension->type);
         field->how != 0; field++) {
        const void *place = (const char *)extension + field->place;
        if (!field->label ||
            (field->how & TRACE_FIELD_UNLESS_ZERO && *(const uint64_t *)place == 0))
            continue;
        if (field->how & TRACE_FIELD_TEXT)
            put_text(out, field->label, *(const struct trace_text *)place);
        else
            fprintf(out, field->how & TRACE_FIELD_HEX ? " %s 0x%" PRIx64 : " %s %" PRIu64,
                    field->label, *(const uint64_t *)place);
    }
    put_rest(out, extension);
    fprintf(out, " when %" PRIu64, extension->when);
}

/* Writes a part of a snapshot of references, which follows its name. */
static bool put_references(FILE *out, uint64_t type, const uint8_t *at, const uint8_t *end)
{
    struct trace_references snapshot;
    struct trace_references_mapping mapping;
    struct trace_references_thread thread;
    struct trace_references_end last;
    struct trace_references_word word;
    uint64_t number, count;
    bool good = true;
    if (type == TRACE_EXT_REFERENCES) {
        if (!trace_get_references(at, end, &snapshot))
            return false;
        fprintf(out,
                "references number %" PRIu64 " reason %" PRIu64 " flags %" PRIu64 " read %" PRIu64
                " swapped %" PRIu64 " shared %" PRIu64 " unreadable %" PRIu64,
                snapshot.number, snapshot.reason, snapshot.flags, snapshot.read, snapshot.swapped,
                snapshot.shared, snapshot.unreadable);
        put_text(out, "name", (struct trace_text){snapshot.name, snapshot.name_length});
    } else if (type == TRACE_EXT_REFERENCES_MAPPING) {
        if (!trace_get_references_mapping(at, end, &mapping))
            return false;
        fprintf(out,
                "references-mapping number %" PRIu64 " start 0x%" PRIx64 " end 0x%" PRIx64
                " protection %" PRIu64 " kind %" PRIu64 " offset %" PRIu64,
                mapping.number, mapping.start, mapping.end, mapping.protection, mapping.kind,
                mapping.offset);
        put_text(out, "path", (struct trace_text){mapping.path, mapping.path_length});
    } else if (type == TRACE_EXT_REFERENCES_THREAD) {
        if (!trace_get_references_thread(at, end, &thread))
            return false;
        fprintf(out,
                "references-thread number %" PRIu64 " tid %" PRIu64 " stack-pointer 0x%" PRIx64
                " thread-pointer 0x%" PRIx64 " instruction 0x%" PRIx64,
                thread.number, thread.tid, thread.stack_pointer, thread.thread_pointer,
                thread.instruction);
        for (uint64_t i = 0; i < thread.count; i++)
            fprintf(out, " r%" PRIu64 "=0x%" PRIx64, thread.registers[i].number,
                    thread.registers[i].value);
    } else if (type == TRACE_EXT_REFERENCES_WORDS) {
        if (!trace_get_references_words(&at, end, &number, &count, &word))
            return false;
        fprintf(out, "references-words number %" PRIu64, number);
        while (count-- > 0 && (good = trace_references_next(&at, end, &word)))
            fprintf(out, " 0x%" PRIx64 "=0x%" PRIx64 "%s", word.where, word.to,
                    word.tagged ? "+tag" : "");
    } else {
        if (!trace_get_references_end(at, end, &last))
            return false;
        fprintf(out,
                "references-end number %" PRIu64 " words %" PRIu64 " bytes %" PRIu64
                " stopped %" PRIu64 " outcome %" PRIu64 " threads %" PRIu64,
                last.number, last.words, last.bytes, last.stopped_ns, last.outcome, last.threads);
    }
    return good;
}

static void put_extended(FILE *out, uint64_t ticks, const struct trace_record *record)
{
    struct trace_extension extension;
    size_t length = (size_t)(record->extended.end - record->extended.payload);
    if (!trace_extension_get(record, ticks, &extension))
        fprintf(out, "damaged-extended type %" PRIu64 " length %zu", extension.type, length);
    else if (extension.type == TRACE_EXT_PROCESS)
        put_process(out, &extension);
    else if (extension.type == TRACE_EXT_SWITCH)
        fprintf(out, "switch thread %" PRIu64 " sequence %" PRIu64, extension.thread,
                extension.sequence);
    else if (extension.type == TRACE_EXT_MODULE)
        put_module(out, &extension);
    else if (extension.type >= TRACE_EXT_REFERENCES && extension.type <= TRACE_EXT_REFERENCES_END) {
        if (!put_references(out, extension.type, record->extended.payload, record->extended.end))
            fprintf(out, "damaged-extended type %" PRIu64 " length %zu", extension.type, length);
    } else if (trace_extended_is_known(extension.type))
        put_timed(out, &extension);
    else
        fprintf(out, "unknown-extended type %" PRIu64 " length %zu", extension.type, length);
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

static void trace_dump_header(FILE *out, const struct trace_file *file)
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
