/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a trace again as a dense one, whose chunks are all packed (schemas/trace-format.md,
 * "Packed chunks"). */
#include "ingest/trace/dump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/base/output_file.h"
#include "schemas/pack/trace_packed.h"

/* Bytes of records in one container. Eight chunks in one take a tenth less than alone, and more of
 * them little less. But a reader unpacks a whole container. */
static const size_t container_raw = (size_t)1 << 20;

struct compress {
    const struct trace_file *file;
    struct ingest_status *status;
    struct output_file output;
    struct trace_packer *packer;
    uint8_t *chunk; /* room for one */
    uint64_t size;
    uint32_t containers;
};

static bool fail_write(const struct compress *compress, const char *what)
{
    return ingest_fail(compress->status, INGEST_BAD_INPUT, "%s: %s: %s; the trace is unchanged",
                       compress->output.target, what, strerror(errno));
}

static bool put(struct compress *compress, const void *bytes, size_t length)
{
    errno = write_whole_at(compress->output.descriptor, bytes, length, compress->size);
    compress->size += length;
    return errno == 0 || fail_write(compress, "cannot be written");
}

/* Writes the file header of the trace, changed into the header of a dense one. */
static bool put_header(struct compress *compress)
{
    uint8_t page[TRACE_FILE_HEADER_SIZE];
    struct trace_file_header header;
    if (trace_file_read(compress->file, 0, page, sizeof(page)) != sizeof(page))
        return ingest_fail(compress->status, INGEST_BAD_INPUT, "%s: cannot be read",
                           trace_file_path(compress->file));
    memcpy(&header, page, sizeof(header));
    header.flags |= TRACE_FILE_DENSE;
    header.header_sum = trace_sum(&header, offsetof(struct trace_file_header, header_sum));
    header.chunk_count = header.next_slot = compress->containers;
    header.freed_bytes = 0; /* there are no slots */
    memcpy(page, &header, sizeof(header));
    compress->size = 0;
    return put(compress, page, sizeof(page));
}

/* Writes a container with all chunks that were added to the packer. */
static bool put_container(struct compress *compress)
{
    struct trace_chunk_header header = {.magic = TRACE_CHUNK_MAGIC,
                                        .slot = compress->containers,
                                        .thread = TRACE_THREAD_PACKED,
                                        .sequence = compress->containers,
                                        .trace_id = trace_file_header(compress->file)->trace_id,
                                        .flags = TRACE_CHUNK_SEALED | TRACE_CHUNK_LEFT};
    uint8_t head[32], *p = head;
    size_t length;
    const uint8_t *payload = trace_packer_end(compress->packer, &length);
    if (!payload)
        return ingest_fail_memory(compress->status, "packed chunks");
    *p++ = TRACE_EXTENDED;
    p = trace_put_varint(p, TRACE_EXT_PACKED);
    p = trace_put_varint(p, length);
    header.header_sum =
        (uint32_t)trace_sum(&header, offsetof(struct trace_chunk_header, header_sum));
    header.commit = (uint32_t)(sizeof(header) + (size_t)(p - head) + length);
    uint8_t *records = malloc((size_t)(p - head) + length);
    if (!records)
        return ingest_fail_memory(compress->status, "packed chunks");
    memcpy(records, head, (size_t)(p - head));
    memcpy(records + (p - head), payload, length);
    header.sum = trace_sum(records, (size_t)(p - head) + length);
    compress->containers++;
    bool good = put(compress, &header, sizeof(header)) &&
                put(compress, records, (size_t)(p - head) + length);
    free(records);
    return good;
}

/* Reads the chunk with its header, as it was in its slot, into `compress->chunk`. */
static bool read_chunk(struct compress *compress, const struct trace_slot *slot)
{
    struct trace_chunk_header header = {.magic = TRACE_CHUNK_MAGIC,
                                        .slot = slot->number,
                                        .thread = slot->thread,
                                        .sequence = slot->sequence,
                                        .trace_id = trace_file_header(compress->file)->trace_id,
                                        .base_ticks = slot->base_ticks,
                                        .base_monotonic_ns = slot->base_monotonic_ns,
                                        .commit = slot->commit,
                                        .flags = slot->sealed ? TRACE_CHUNK_SEALED : 0,
                                        .sum = slot->sum};
    header.header_sum =
        (uint32_t)trace_sum(&header, offsetof(struct trace_chunk_header, header_sum));
    if (trace_file_read_chunk(compress->file, slot, compress->chunk) != slot->commit)
        return ingest_fail(compress->status, INGEST_BAD_INPUT,
                           "%s: chunk %" PRIu32 " at byte %" PRIu64 " is damaged or cut; the trace "
                           "stays as it is, and loads as far as it goes",
                           trace_file_path(compress->file), slot->number, slot->offset);
    memcpy(compress->chunk, &header, sizeof(header));
    return true;
}

static bool put_chunks(struct compress *compress, const volatile sig_atomic_t *interrupted)
{
    const struct trace_slot *slots;
    size_t count = trace_file_slots(compress->file, &slots);
    for (size_t i = 0; i < count; i++) {
        if (ingest_is_interrupted(interrupted))
            return ingest_fail(compress->status, INGEST_INTERRUPTED, "interrupted");
        if (!read_chunk(compress, &slots[i]))
            return false;
        if (trace_packer_add(compress->packer, compress->chunk, slots[i].commit))
            continue;
        if (trace_packer_count(compress->packer) == 0 || !put_container(compress) ||
            !trace_packer_add(compress->packer, compress->chunk, slots[i].commit))
            return compress->status->code == INGEST_OK
                       ? ingest_fail_memory(compress->status, "packed chunks")
                       : false;
    }
    return trace_packer_count(compress->packer) == 0 || put_container(compress);
}

/* Returns true if the new file holds the same records as the old one, chunk by chunk. */
static bool check(struct compress *compress)
{
    struct trace_file *again = trace_file_open(compress->output.part, compress->status);
    const struct trace_slot *before, *after;
    if (!again)
        return false;
    size_t count = trace_file_slots(compress->file, &before);
    uint8_t *chunk = malloc(trace_file_header(again)->chunk_size);
    bool good = chunk && trace_file_slots(again, &after) == count;
    for (size_t i = 0; good && i < count; i++)
        good = before[i].number == after[i].number && !after[i].damage &&
               before[i].commit == after[i].commit &&
               trace_file_read_chunk(compress->file, &before[i], compress->chunk) ==
                   before[i].commit &&
               trace_file_read_chunk(again, &after[i], chunk) == after[i].commit &&
               memcmp(compress->chunk + TRACE_CHUNK_HEADER_SIZE, chunk + TRACE_CHUNK_HEADER_SIZE,
                      before[i].commit - TRACE_CHUNK_HEADER_SIZE) == 0;
    free(chunk);
    trace_file_close(again);
    return good || ingest_fail(compress->status, INGEST_BAD_INPUT,
                               "%s: does not read back as it was written (did the trace change "
                               "during compression?); the trace is unchanged",
                               compress->output.target);
}

static bool is_whole(const struct trace_file *file, struct ingest_status *status)
{
    const struct trace_slot *slots;
    size_t count = trace_file_slots(file, &slots);
    for (size_t i = 0; i < count; i++)
        if (slots[i].damage)
            return ingest_fail(status, INGEST_BAD_INPUT,
                               "%s: damaged at byte %" PRIu64
                               " (%s); the trace stays as it is, and "
                               "loads as far as it goes",
                               trace_file_path(file), slots[i].offset, slots[i].damage);
    if (trace_file_missing_slots(file) != 0)
        return ingest_fail(status, INGEST_BAD_INPUT,
                           "%s: the file is cut; the trace stays as it is, and loads as far as it "
                           "goes",
                           trace_file_path(file));
    return true;
}

/* Creates the output. A trace that is replaced keeps its mode. Only its user can read a new one. */
static bool begin_output(struct compress *compress, const char *target, bool force)
{
    struct stat before;
    if (!output_file_begin(&compress->output, target, force, compress->status))
        return false;
    if (lstat(target, &before) == 0 && S_ISREG(before.st_mode))
        fchmod(compress->output.descriptor, before.st_mode & 0777);
    return true;
}

bool trace_compress(const struct trace_file *file, const char *target, bool force,
                    const volatile sig_atomic_t *interrupted, struct trace_compress_result *result,
                    struct ingest_status *status)
{
    struct compress compress = {.file = file, .status = status, .output.descriptor = -1};
    if (!is_whole(file, status) || !begin_output(&compress, target, force)) {
        output_file_end(&compress.output);
        return false;
    }
    size_t chunk_size = trace_file_header(file)->chunk_size;
    compress.packer =
        trace_packer_new(container_raw > chunk_size ? container_raw : chunk_size, TRACE_PACK_SMALL);
    compress.chunk = malloc(chunk_size);
    bool good = compress.packer && compress.chunk;
    if (!good)
        ingest_fail_memory(status, "packed chunks");
    good = good && put_header(&compress) && put_chunks(&compress, interrupted);
    uint64_t size = compress.size;
    good = good && put_header(&compress) && check(&compress);
    good = good && output_file_finish(&compress.output, status);
    output_file_end(&compress.output);
    result->bytes = size;
    trace_packer_free(compress.packer);
    free(compress.chunk);
    return good;
}
