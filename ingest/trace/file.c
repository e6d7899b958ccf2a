/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/trace/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/trace/index.h"

static const uint32_t known_flags = TRACE_FILE_CLOCK_FAST | TRACE_FILE_SAMPLED |
                                    TRACE_FILE_FREE_STACKS | TRACE_FILE_PACKED | TRACE_FILE_DENSE;

size_t trace_file_read(const struct trace_file *file, uint64_t offset, void *buffer, size_t length)
{
    size_t done = 0;
    while (done < length && offset + done <= INT64_MAX) {
        ssize_t n =
            pread(file->descriptor, (char *)buffer + done, length - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

/* Fails with a message that names the type of a wrong file, or shows its first bytes. */
static bool fail_magic(const struct trace_file *file, const uint8_t *bytes,
                       struct ingest_status *status)
{
    static const struct {
        const char *magic, *name;
    } others[] = {
        {"\x89PNG", "a PNG image"},
        {"SQLite format 3",
         "an SQLite database: perhaps already a session, open it with mprof-tui"},
        {"\x7f"
         "ELF",
         "a program: record it with mprof-run"},
        {"\x28\xb5\x2f\xfd", "a zstd file: unpack it first"},
        {"\x1f\x8b", "a gzip file: unpack it first"},
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (memcmp(bytes, others[i].magic, strlen(others[i].magic)) == 0)
            return ingest_fail(status, INGEST_BAD_INPUT, "%s: not an mprof trace but %s",
                               file->path, others[i].name);
    return ingest_fail(status, INGEST_BAD_INPUT,
                       "%s: not an mprof trace (it begins with the bytes %02X %02X %02X %02X, not "
                       "89 4D 50 52); give the file that mprof-run wrote",
                       file->path, bytes[0], bytes[1], bytes[2], bytes[3]);
}

static bool check_header(const struct trace_file *file, struct ingest_status *status)
{
    const struct trace_file_header *header = &file->header;
    const char *path = file->path;
    if (header->version != TRACE_VERSION)
        return ingest_fail(status, INGEST_BAD_INPUT,
                           "%s: trace format version %" PRIu32 " (at byte 8), but this program "
                           "reads version %u; use the mprof-ingest of the version that recorded it",
                           path, header->version, TRACE_VERSION);
    if (header->header_sum != trace_sum(header, offsetof(struct trace_file_header, header_sum)))
        return ingest_fail(status, INGEST_BAD_INPUT,
                           "%s: the file header is damaged (wrong sum at byte 80); the trace "
                           "cannot be read, record it again",
                           path);
    if (header->flags & ~known_flags)
        return ingest_fail(status, INGEST_BAD_INPUT,
                           "%s: unknown header flag 0x%" PRIX32 " (at byte 20); a newer "
                           "mprof-ingest is needed",
                           path, header->flags & ~known_flags);
    if (header->clock > TRACE_CLOCK_TSC)
        return ingest_fail(status, INGEST_BAD_INPUT,
                           "%s: unknown clock %" PRIu32 " (at byte 24); a newer mprof-ingest is "
                           "needed",
                           path, header->clock);
    if (header->header_size != TRACE_FILE_HEADER_SIZE ||
        header->chunk_size < TRACE_CHUNK_SIZE_MIN || header->chunk_size > TRACE_CHUNK_SIZE_MAX ||
        (header->chunk_size & (header->chunk_size - 1)) != 0)
        return ingest_fail(status, INGEST_BAD_INPUT,
                           "%s: impossible layout (header size %" PRIu32 " at byte 12, chunk size "
                           "%" PRIu32 " at byte 16); record it again",
                           path, header->header_size, header->chunk_size);
    return true;
}

static bool read_header(struct trace_file *file, struct ingest_status *status)
{
    size_t length = trace_file_read(file, 0, &file->header, sizeof(file->header));
    if (length == 0)
        return ingest_fail(status, INGEST_BAD_INPUT,
                           "%s: the file is empty; the recorder never began (was the program "
                           "started by mprof-run?)",
                           file->path);
    static const struct trace_file_header nothing;
    if (length == sizeof(file->header) && file->size == TRACE_FILE_HEADER_SIZE &&
        memcmp(&file->header, &nothing, sizeof(nothing)) == 0)
        return ingest_fail(status, INGEST_BAD_INPUT,
                           "%s: the file holds only zeros; its process ended before the recorder "
                           "had begun",
                           file->path);
    uint8_t begin[16] = {0};
    memcpy(begin, &file->header, length < sizeof(begin) ? length : sizeof(begin));
    if (memcmp(begin, TRACE_MAGIC, 8) != 0)
        return fail_magic(file, begin, status);
    if (length < sizeof(file->header) || file->size < TRACE_FILE_HEADER_SIZE)
        return ingest_fail(status, INGEST_BAD_INPUT,
                           "%s: the file ends at byte %" PRIu64 " within its header of %u bytes; "
                           "record it again",
                           file->path, file->size, TRACE_FILE_HEADER_SIZE);
    return check_header(file, status);
}

/* Takes the descriptor. It may be -1: the file could not be opened. */
static struct trace_file *begin(int descriptor, const char *path, struct ingest_status *status)
{
    const int error = errno;
    struct trace_file *file = calloc(1, sizeof(*file));
    struct stat about;
    if (!file || !(file->path = strdup(path))) {
        free(file);
        if (descriptor >= 0)
            close(descriptor);
        ingest_fail_memory(status, "the trace");
        return NULL;
    }
    file->descriptor = descriptor;
    if (file->descriptor < 0 || fstat(file->descriptor, &about) != 0) {
        ingest_fail(status, INGEST_BAD_INPUT,
                    "%s: cannot be opened: %s; name the file that mprof-run wrote", path,
                    strerror(descriptor < 0 ? error : errno));
        trace_file_close(file);
        return NULL;
    }
    if (!S_ISREG(about.st_mode)) {
        ingest_fail(status, INGEST_BAD_INPUT, "%s: not a regular file; give a trace file", path);
        trace_file_close(file);
        return NULL;
    }
    file->size = (uint64_t)about.st_size;
    if (!read_header(file, status) || !trace_index(file, status)) {
        trace_file_close(file);
        return NULL;
    }
    return file;
}

struct trace_file *trace_file_open(const char *path, struct ingest_status *status)
{
    /* O_NONBLOCK: the open of a FIFO given by mistake must not wait for a writer. */
    return begin(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), path, status);
}

struct trace_file *trace_file_adopt(int descriptor, const char *path, struct ingest_status *status)
{
    return begin(fcntl(descriptor, F_DUPFD_CLOEXEC, 0), path, status);
}

bool trace_file_refresh(struct trace_file *file, struct ingest_status *status)
{
    struct trace_file_header header;
    struct stat about;
    if (fstat(file->descriptor, &about) == 0)
        file->size = (uint64_t)about.st_size;
    /* The summed part never changes. If the file was cut, the old header is kept. */
    if (trace_file_read(file, 0, &header, sizeof(header)) == sizeof(header) &&
        header.trace_id == file->header.trace_id)
        file->header = header;
    file->slot_count = 0;
    file->containers = 0;
    trace_containers_free(file);
    file->unpacked = NULL;
    return trace_index(file, status);
}

void trace_file_close(struct trace_file *file)
{
    if (!file)
        return;
    if (file->descriptor >= 0)
        close(file->descriptor);
    free(file->slots);
    trace_containers_free(file);
    free(file->path);
    free(file);
}

const char *trace_file_path(const struct trace_file *file)
{
    return file->path;
}

const struct trace_file_header *trace_file_header(const struct trace_file *file)
{
    return &file->header;
}

uint64_t trace_file_size(const struct trace_file *file)
{
    return file->size;
}

size_t trace_file_slots(const struct trace_file *file, const struct trace_slot **slots)
{
    *slots = file->slots;
    return file->slot_count;
}

uint64_t trace_file_missing_slots(const struct trace_file *file)
{
    if (file->header.flags & TRACE_FILE_DENSE)
        return file->header.chunk_count > file->containers
                   ? file->header.chunk_count - file->containers
                   : 0;
    uint64_t chunk_size = file->header.chunk_size;
    uint64_t there = (file->size - TRACE_FILE_HEADER_SIZE + chunk_size - 1) / chunk_size;
    return file->header.chunk_count > there ? file->header.chunk_count - there : 0;
}

size_t trace_file_read_chunk(const struct trace_file *file, const struct trace_slot *slot,
                             uint8_t *buffer)
{
    return slot->packed_length ? trace_containers_read(file, slot, buffer)
                               : trace_file_read(file, slot->offset, buffer, slot->available);
}

void trace_file_last_clock(const struct trace_file *file, uint64_t *ticks, uint64_t *monotonic_ns)
{
    *ticks = file->header.end_ticks;
    *monotonic_ns = file->header.end_monotonic_ns;
    if (*ticks != 0)
        return;
    *ticks = file->header.start_ticks;
    *monotonic_ns = file->header.start_monotonic_ns;
    for (size_t i = 0; i < file->slot_count; i++) {
        const struct trace_slot *slot = &file->slots[i];
        if (!slot->damage && slot->base_ticks > *ticks) {
            *ticks = slot->base_ticks;
            *monotonic_ns = slot->base_monotonic_ns;
        }
    }
}
