/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/trace/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ingest/base/array.h"
#include "ingest/base/output_file.h"
#include "schemas/printable.h"
#include "schemas/trace_codec.h"

enum { THREAD = 1, START_TICKS = 1, PAYLOAD_MAX = 4 * TRACE_WRITER_TEXT_MAX };

struct trace_writer {
    int descriptor;
    int error; /* errno of the first failed write; 0: none */
    char session[512];
    struct trace_file_header header;
    uint32_t slots;
    size_t used; /* bytes of `chunk`; 0: none is begun */
    struct trace_coding coding;
    uint8_t chunk[TRACE_CHUNK_SIZE_DEFAULT];
};

/* Makes a file without a name, or one whose name is removed at once. */
static int open_unnamed(const char *session)
{
    char *copy = strdup(session), *name = NULL;
    int descriptor = -1;
    if (copy) {
        const char *folder = dirname(copy);
        descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL) &&
            asprintf(&name, "%s/.mprof-import.XXXXXX", folder) >= 0) {
            descriptor = mkostemp(name, O_CLOEXEC);
            if (descriptor >= 0)
                unlink(name);
            free(name);
        }
    }
    free(copy);
    return descriptor;
}

struct trace_writer *trace_writer_new(const char *session, struct ingest_status *status)
{
    struct trace_writer *writer = calloc(1, sizeof(*writer));
    if (!writer) {
        ingest_fail_memory(status, "the imported trace");
        return NULL;
    }
    printable_copy(writer->session, sizeof(writer->session), session);
    writer->descriptor = open_unnamed(session);
    if (writer->descriptor < 0) {
        ingest_fail(status, INGEST_BAD_INPUT, "%s: no file can be made beside it: %s",
                    writer->session, strerror(errno));
        trace_writer_free(writer);
        return NULL;
    }
    memcpy(writer->header.magic, TRACE_MAGIC, 8);
    writer->header.version = TRACE_VERSION;
    writer->header.header_size = TRACE_FILE_HEADER_SIZE;
    writer->header.chunk_size = TRACE_CHUNK_SIZE_DEFAULT;
    writer->header.clock = TRACE_CLOCK_NANOSECONDS;
    writer->header.architecture = 62; /* EM_X86_64 */
    writer->header.trace_id = hash_seed() | 1;
    writer->header.start_ticks = writer->header.start_monotonic_ns = START_TICKS;
    return writer;
}

void trace_writer_free(struct trace_writer *writer)
{
    if (!writer)
        return;
    if (writer->descriptor >= 0)
        close(writer->descriptor);
    free(writer);
}

static bool put_bytes(struct trace_writer *writer, uint64_t offset, const void *bytes,
                      size_t length)
{
    if (writer->error == 0)
        writer->error = write_whole_at(writer->descriptor, bytes, length, offset);
    return writer->error == 0;
}

static void begin_chunk(struct trace_writer *writer)
{
    struct trace_chunk_header header = {.magic = TRACE_CHUNK_MAGIC,
                                        .slot = writer->slots,
                                        .thread = THREAD,
                                        .sequence = writer->slots,
                                        .trace_id = writer->header.trace_id,
                                        .base_ticks = writer->coding.ticks,
                                        .base_monotonic_ns = writer->coding.ticks};
    if (writer->slots == 0)
        header.base_ticks = header.base_monotonic_ns = START_TICKS;
    header.header_sum =
        (uint32_t)trace_sum(&header, offsetof(struct trace_chunk_header, header_sum));
    memset(writer->chunk, 0, sizeof(writer->chunk));
    memcpy(writer->chunk, &header, sizeof(header));
    writer->used = sizeof(header);
    trace_coding_reset(&writer->coding, header.base_ticks);
}

static bool end_chunk(struct trace_writer *writer)
{
    struct trace_chunk_header header;
    if (writer->used == 0)
        return true;
    memcpy(&header, writer->chunk, sizeof(header));
    header.commit = (uint32_t)writer->used;
    header.flags = TRACE_CHUNK_SEALED;
    header.sum = trace_sum(writer->chunk + sizeof(header), writer->used - sizeof(header));
    memcpy(writer->chunk, &header, sizeof(header));
    writer->used = 0;
    return put_bytes(writer,
                     TRACE_FILE_HEADER_SIZE + (uint64_t)writer->slots++ * sizeof(writer->chunk),
                     writer->chunk, sizeof(writer->chunk));
}

/* Returns the place of the next record, of at most `length` bytes. NULL: it cannot be written. */
static uint8_t *room(struct trace_writer *writer, size_t length)
{
    if (writer->used + length > sizeof(writer->chunk) && !end_chunk(writer))
        return NULL;
    if (writer->used == 0)
        begin_chunk(writer);
    return writer->chunk + writer->used;
}

static bool commit(struct trace_writer *writer, const uint8_t *end)
{
    writer->used = (size_t)(end - writer->chunk);
    return true;
}

bool trace_writer_node(struct trace_writer *writer, uint32_t id, uint32_t parent, uint32_t module,
                       uint64_t value)
{
    uint8_t *p = room(writer, TRACE_RECORD_MAX);
    return p && commit(writer, trace_put_node(p, &writer->coding, id, parent, TRACE_FRAME_RETURN,
                                              module, value));
}

bool trace_writer_alloc(struct trace_writer *writer, uint64_t ns, uint64_t address, uint64_t size,
                        uint32_t stack)
{
    uint8_t *p = room(writer, TRACE_RECORD_MAX);
    return p && commit(writer, trace_put_alloc(p, &writer->coding, ns + START_TICKS, address, size,
                                               stack, TRACE_KIND_MALLOC, 0));
}

bool trace_writer_free_block(struct trace_writer *writer, uint64_t ns, uint64_t address)
{
    uint8_t *p = room(writer, TRACE_RECORD_MAX);
    return p && commit(writer, trace_put_free(p, &writer->coding, ns + START_TICKS, address));
}

static bool put_extended(struct trace_writer *writer, enum trace_extended type,
                         const uint8_t *payload, const uint8_t *end)
{
    const size_t length = (size_t)(end - payload);
    uint8_t *p = room(writer, length + 12);
    return p && commit(writer, trace_put_extended(p, type, payload, length));
}

bool trace_writer_module(struct trace_writer *writer, uint32_t id, const char *path, uint64_t bias,
                         uint64_t start, uint64_t end)
{
    uint8_t payload[PAYLOAD_MAX], *p = payload;
    p = trace_put_varint(p, 0);
    p = trace_put_varint(p, id);
    p = trace_put_varint(p, bias);
    p = trace_put_varint(p, start);
    p = trace_put_varint(p, end);
    p = trace_put_string(p, path, strnlen(path, TRACE_WRITER_TEXT_MAX));
    p = trace_put_string(p, "", 0); /* build-id */
    p = trace_put_varint(p, 0);     /* segments */
    return put_extended(writer, TRACE_EXT_MODULE, payload, p);
}

bool trace_writer_module_end(struct trace_writer *writer, uint32_t id)
{
    uint8_t payload[32], *p = trace_put_varint(payload, 0);
    return put_extended(writer, TRACE_EXT_MODULE_END, payload, trace_put_varint(p, id));
}

/* Puts `ns` as the time of an extended record of at most 64 bytes. NULL: it cannot be written. */
static uint8_t *put_when(struct trace_writer *writer, uint8_t *payload, uint64_t ns)
{
    /* It is relative to the chunk's last event, so the chunk must not change after this. */
    return room(writer, 64) ? trace_put_varint(payload, ns + START_TICKS - writer->coding.ticks)
                            : NULL;
}

bool trace_writer_resident(struct trace_writer *writer, uint64_t ns, uint64_t bytes)
{
    uint8_t payload[32], *p = put_when(writer, payload, ns);
    return p && put_extended(writer, TRACE_EXT_RSS, payload, trace_put_varint(p, bytes));
}

static bool put_end(struct trace_writer *writer, uint64_t ns)
{
    uint8_t payload[32], *p = put_when(writer, payload, ns);
    return p && put_extended(writer, TRACE_EXT_END, payload, trace_put_varint(p, 0));
}

bool trace_writer_process(struct trace_writer *writer, const char *command, const char *executable)
{
    uint8_t payload[PAYLOAD_MAX], *p = payload;
    const size_t length = strnlen(command, TRACE_WRITER_TEXT_MAX);
    uint64_t arguments = 0;
    for (size_t i = 0; i < length; i++)
        arguments += command[i] != ' ' && (i == 0 || command[i - 1] == ' ');
    for (int number = 0; number < 3; number++) /* process, parent and the parent's trace */
        p = trace_put_varint(p, 0);
    p = trace_put_string(p, executable, strnlen(executable, TRACE_WRITER_TEXT_MAX));
    for (int text = 0; text < 3; text++) /* working directory, host and kernel */
        p = trace_put_string(p, "", 0);
    p = trace_put_varint(p, command[length] != '\0'); /* it was cut */
    p = trace_put_varint(p, arguments);
    for (size_t i = 0; i < length;) {
        const size_t word = strcspn(command + i, " ");
        const size_t rest = word < length - i ? word : length - i;
        if (rest > 0)
            p = trace_put_string(p, command + i, rest);
        i += rest + 1;
    }
    return put_extended(writer, TRACE_EXT_PROCESS, payload, p);
}

int trace_writer_finish(struct trace_writer *writer, uint64_t ns, uint32_t page_size,
                        struct ingest_status *status)
{
    uint8_t page[TRACE_FILE_HEADER_SIZE] = {0};
    struct trace_file_header *header = &writer->header;
    const int descriptor = writer->descriptor;
    if (put_end(writer, ns))
        end_chunk(writer);
    header->page_size = page_size;
    header->state = TRACE_STATE_ENDED;
    header->chunk_count = header->next_slot = writer->slots;
    header->end_ticks = header->end_monotonic_ns = ns + START_TICKS;
    header->header_sum = trace_sum(header, offsetof(struct trace_file_header, header_sum));
    memcpy(page, header, sizeof(*header));
    if (!put_bytes(writer, 0, page, sizeof(page))) {
        ingest_fail(status, INGEST_BAD_INPUT,
                    "%s: the imported events cannot be written beside it: %s", writer->session,
                    strerror(writer->error));
        return -1;
    }
    writer->descriptor = -1;
    return descriptor;
}
