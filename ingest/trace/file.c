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

#include "ingest/base/array.h"
#include "ingest/base/output_file.h"
#include "schemas/array.h"
#include "schemas/pack/trace_packed.h"

/* ---- index --------------------------------------------------------------------------------- */

/* The records of chunks that are packed together: the ones that were unpacked last. */
struct trace_unpacked {
    uint8_t *records;
    size_t size;
    uint64_t offset; /* of their payload in the file; 0: none */
};

struct trace_file {
    int descriptor;
    char *path;
    uint64_t size;
    struct trace_file_header header;
    struct trace_slot *slots;
    size_t slot_count, slot_capacity;
    uint64_t containers;             /* in a dense file: the highest number of one, plus 1 */
    struct trace_unpacked *unpacked; /* NULL: nothing is packed */
};

/* Adds a zeroed slot to the end of the index. NULL if memory is exhausted. */
static struct trace_slot *trace_index_add(struct trace_file *file)
{
    if (!ARRAY_RESERVE(file->slots, file->slot_count, file->slot_capacity))
        return NULL;
    struct trace_slot *slot = &file->slots[file->slot_count++];
    memset(slot, 0, sizeof(*slot));
    return slot;
}

/* Returns why `header` is not a chunk header for its place, or NULL if it is one. */
static const char *trace_index_check(const struct trace_file *file,
                                     const struct trace_chunk_header *header, size_t length)
{
    if (length < sizeof(*header))
        return "the file ends within the chunk header";
    if (header->magic != TRACE_CHUNK_MAGIC)
        return "wrong chunk magic";
    if (header->header_sum !=
        (uint32_t)trace_sum(header, offsetof(struct trace_chunk_header, header_sum)))
        return "wrong sum of the chunk header";
    if (header->trace_id != file->header.trace_id)
        return "the chunk belongs to another trace";
    return NULL;
}

/* Fills a slot from its chunk header. `extent`: bytes of the slot that are in the file. */
static void trace_index_describe(const struct trace_file *file, struct trace_slot *slot,
                                 const struct trace_chunk_header *header, size_t length,
                                 uint32_t extent)
{
    uint32_t chunk_size = file->header.chunk_size;
    slot->thread = header->thread;
    slot->sequence = header->sequence;
    slot->base_ticks = header->base_ticks;
    slot->base_monotonic_ns = header->base_monotonic_ns;
    slot->sum = header->sum;
    slot->sealed = header->flags & TRACE_CHUNK_SEALED;
    slot->commit = header->commit;
    slot->available = extent < header->commit ? extent : header->commit;
    slot->damage = trace_index_check(file, header, length);
    if (!slot->damage && header->slot != slot->number)
        slot->damage = "the chunk belongs in another slot";
    if (!slot->damage && (header->commit < TRACE_CHUNK_HEADER_SIZE || header->commit > chunk_size))
        slot->damage = "impossible commit";
    if (!slot->damage && header->thread == 0)
        slot->damage = "thread number 0";
    if (slot->damage)
        slot->lost = extent;
}

/* Indexes and reads the chunks that are packed in containers (file.h). */

/* RECORD_HEAD_MAX: kind, type and length of a record, then method and count of its payload. */
enum { RECORD_HEAD_MAX = 64, SEARCH_BLOCK = 16384 };

/* Adds an entry for bytes that cannot be read as containers: all of it is damage. */
static bool add_damage(struct trace_file *file, uint64_t offset, uint64_t number, uint64_t lost,
                       const char *damage)
{
    struct trace_slot *slot = trace_index_add(file);
    if (!slot)
        return false;
    slot->offset = offset;
    slot->number = (uint32_t)number;
    slot->lost = lost < UINT32_MAX ? (uint32_t)lost : UINT32_MAX;
    slot->damage = damage;
    return true;
}

/* Adds the chunks of one payload, whose beginning is open as `packed`. */
static bool add_chunks(struct trace_file *file, const struct trace_packed *packed, uint64_t offset,
                       uint64_t length)
{
    uint64_t start = 0;
    for (uint64_t i = 0; i < packed->chunks; i++) {
        struct trace_chunk_header header;
        struct trace_slot *slot = trace_index_add(file);
        if (!slot)
            return false;
        trace_packed_header(packed, i, &header);
        slot->number = header.slot;
        slot->offset = TRACE_FILE_HEADER_SIZE + (uint64_t)header.slot * file->header.chunk_size;
        trace_index_describe(file, slot, &header, sizeof(header), file->header.chunk_size);
        if (!slot->damage && slot->thread == TRACE_THREAD_PACKED)
            slot->damage = "a container in a container";
        if (!slot->damage && start + header.commit > TRACE_PACKED_MAX)
            slot->damage = "more chunks in a container than it can hold";
        if (slot->damage) {
            slot->lost = file->header.chunk_size;
            slot->offset = offset;
        }
        slot->packed_start = (uint32_t)start;
        slot->packed_length = (uint32_t)length;
        slot->packed_offset = offset;
        if (start < TRACE_PACKED_MAX && header.commit >= TRACE_CHUNK_HEADER_SIZE)
            start += header.commit - TRACE_CHUNK_HEADER_SIZE;
    }
    return true;
}

/* Adds the chunks of the record at `offset`, which may have up to `length` bytes. *next: its length
 * in bytes; 0: there is no record here. False if memory is exhausted. */
static bool add_record(struct trace_file *file, uint64_t offset, uint64_t length, uint64_t *next)
{
    uint8_t head[RECORD_HEAD_MAX];
    struct trace_packed packed;
    uint64_t type, payload, method, chunks;
    size_t there =
        trace_file_read(file, offset, head, length < sizeof(head) ? length : sizeof(head));
    const uint8_t *at = head, *end = head + there;
    *next = 0;
    if (there == 0 || *at++ != TRACE_EXTENDED || !trace_get_varint(&at, end, &type) ||
        !trace_get_varint(&at, end, &payload))
        return true;
    uint64_t before = (uint64_t)(at - head);
    if (payload > length - before)
        return true;
    /* A container holds nothing else, so an unknown type is damage here. */
    if (type != TRACE_EXT_PACKED)
        return true;
    if (!trace_get_varint(&at, end, &method) || !trace_get_varint(&at, end, &chunks) ||
        chunks > payload / TRACE_CHUNK_HEADER_SIZE)
        return true;
    size_t size = (size_t)(at - head) - before + chunks * TRACE_CHUNK_HEADER_SIZE;
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return false;
    bool good = true;
    if (trace_file_read(file, offset + before, bytes, size) == size &&
        trace_packed_open(&packed, bytes, size)) {
        *next = before + payload;
        good = add_chunks(file, &packed, offset + before, payload);
    }
    free(bytes);
    return good;
}

/* Adds the packed chunks of the container of `length` bytes at `offset`. */
static bool trace_containers_add(struct trace_file *file, uint64_t offset, uint64_t length)
{
    uint64_t at = offset + TRACE_CHUNK_HEADER_SIZE, end = offset + length, next;
    while (at < end) {
        if (!add_record(file, at, end - at, &next))
            return false;
        if (next == 0)
            return add_damage(file, at, (offset - TRACE_FILE_HEADER_SIZE) / file->header.chunk_size,
                              end - at, "there are no packed chunks here");
        at += next;
    }
    return true;
}

static bool container_stands_at(const struct trace_file *file, uint64_t offset,
                                struct trace_chunk_header *header)
{
    memset(header, 0, sizeof(*header));
    size_t length = trace_file_read(file, offset, header, sizeof(*header));
    return !trace_index_check(file, header, length) && header->thread == TRACE_THREAD_PACKED &&
           header->commit > TRACE_CHUNK_HEADER_SIZE && header->commit <= TRACE_PACKED_MAX;
}

/* Returns where the next container after `offset` begins, or the file's size if there is none. */
static uint64_t next_container(const struct trace_file *file, uint64_t offset)
{
    static const uint8_t magic[4] = {'M', 'P', 'C', 'K'};
    uint8_t block[SEARCH_BLOCK];
    struct trace_chunk_header header;
    size_t length;
    for (offset++; (length = trace_file_read(file, offset, block, sizeof(block))) >= sizeof(magic);
         offset += length - sizeof(magic) + 1)
        for (const uint8_t *at = block;
             (at = memmem(at, (size_t)(block + length - at), magic, sizeof(magic))); at++)
            if (container_stands_at(file, offset + (uint64_t)(at - block), &header))
                return offset + (uint64_t)(at - block);
    return file->size;
}

/* Marks those chunks from index `first` on as damaged that reach past the end of the file. */
static void mark_cut(struct trace_file *file, size_t first)
{
    for (size_t i = first; i < file->slot_count; i++) {
        struct trace_slot *slot = &file->slots[i];
        if (slot->damage || slot->packed_offset + slot->packed_length <= file->size)
            continue;
        slot->damage = "the file ends within its container";
        slot->lost = slot->commit;
        slot->offset = slot->packed_offset;
    }
}

/* Makes the index of a dense file, which is one container after another. */
static bool trace_containers_index(struct trace_file *file)
{
    uint64_t offset = TRACE_FILE_HEADER_SIZE;
    while (offset < file->size) {
        struct trace_chunk_header header;
        if (container_stands_at(file, offset, &header)) {
            size_t first = file->slot_count;
            if (!trace_containers_add(file, offset, header.commit))
                return false;
            mark_cut(file, first);
            if (header.slot >= file->containers)
                file->containers = (uint64_t)header.slot + 1;
            offset += header.commit;
            continue;
        }
        uint64_t next = next_container(file, offset);
        if (!add_damage(file, offset, file->containers, next - offset,
                        "there is no container of packed chunks here"))
            return false;
        offset = next;
    }
    return true;
}

/* A packed chunk comes before the chunk in its slot. */
ARRAY_ORDER(compare_numbers, struct trace_slot,
            ORDER(a->number, b->number) ?: (a->packed_length == 0) - (b->packed_length == 0))

/* Drops from the index the slots whose chunks are also there as packed ones: the process that
 * packed them was stopped before it had freed their space. Sorts the index by slot number. */
static bool trace_containers_drop_duplicates(struct trace_file *file)
{
    size_t kept = 0;
    if (file->slot_count == 0)
        return true;
    file->unpacked = calloc(1, sizeof(*file->unpacked));
    if (!file->unpacked)
        return false;
    qsort(file->slots, file->slot_count, sizeof(*file->slots), compare_numbers);
    for (size_t i = 0; i < file->slot_count; i++) {
        const struct trace_slot *slot = &file->slots[i],
                                *before = kept ? &file->slots[kept - 1] : NULL;
        bool twice = before && before->number == slot->number && !before->damage && !slot->damage &&
                     before->packed_length != 0;
        if (!twice)
            file->slots[kept++] = *slot;
    }
    file->slot_count = kept;
    return true;
}

/* Unpacks the payload that holds the slot's chunk, unless it was the last one unpacked. */
static bool unpack(const struct trace_file *file, const struct trace_slot *slot)
{
    struct trace_unpacked *unpacked = file->unpacked;
    struct trace_packed packed;
    if (unpacked->offset == slot->packed_offset)
        return true;
    unpacked->offset = 0;
    uint8_t *payload = malloc(slot->packed_length), *records = NULL;
    size_t size = SIZE_MAX;
    if (payload &&
        trace_file_read(file, slot->packed_offset, payload, slot->packed_length) ==
            slot->packed_length &&
        trace_packed_open(&packed, payload, slot->packed_length))
        size = trace_packed_size(&packed);
    if (size != SIZE_MAX)
        records = realloc(unpacked->records, size + 1);
    bool good = records != NULL;
    if (good) {
        unpacked->records = records;
        unpacked->size = size;
        good = trace_packed_records(&packed, records);
    }
    if (good)
        unpacked->offset = slot->packed_offset;
    free(payload);
    return good;
}

/* Does the same as trace_file_read_chunk() for a packed chunk. */
static size_t trace_containers_read(const struct trace_file *file, const struct trace_slot *slot,
                                    uint8_t *buffer)
{
    size_t length = slot->available - TRACE_CHUNK_HEADER_SIZE;
    if (!unpack(file, slot) || slot->packed_start > file->unpacked->size ||
        length > file->unpacked->size - slot->packed_start)
        return 0;
    memset(buffer, 0, TRACE_CHUNK_HEADER_SIZE);
    memcpy(buffer + TRACE_CHUNK_HEADER_SIZE, file->unpacked->records + slot->packed_start, length);
    return slot->available;
}

static void trace_containers_free(struct trace_file *file)
{
    if (file->unpacked)
        free(file->unpacked->records);
    free(file->unpacked);
}

/* ---- slots ------------------------------------------------------------------------------ */

/* Returns the offset of the first byte at or after `offset` that is not in a hole of the file. */
static uint64_t next_data(const struct trace_file *file, uint64_t offset)
{
    off_t at = lseek(file->descriptor, (off_t)offset, SEEK_DATA);
    if (at >= 0)
        return (uint64_t)at;
    return errno == ENXIO ? file->size : offset;
}

/* Indexes the slots with one read each. After a slot that was never begun, the rest of the file may
 * be one hole (reserved space, or a hostile length). Holes are skipped, not read. */
static bool index_slots(struct trace_file *file)
{
    static const uint8_t zeros[TRACE_CHUNK_HEADER_SIZE];
    uint64_t chunk_size = file->header.chunk_size, offset = TRACE_FILE_HEADER_SIZE;
    while (offset < file->size) {
        struct trace_chunk_header header = {0};
        size_t length = trace_file_read(file, offset, &header, sizeof(header));
        header.look = 0; /* another process may have set it when the chunk had just been packed */
        if (memcmp(&header, zeros, sizeof(header)) == 0) {
            uint64_t data = next_data(file, offset);
            uint64_t slots = (data > offset ? data - offset : 0) / chunk_size;
            offset += (slots ? slots : 1) * chunk_size;
            continue;
        }
        struct trace_slot *slot = trace_index_add(file);
        if (!slot)
            return false;
        uint64_t extent = file->size - offset < chunk_size ? file->size - offset : chunk_size;
        slot->offset = offset;
        slot->number = (uint32_t)((offset - TRACE_FILE_HEADER_SIZE) / chunk_size);
        trace_index_describe(file, slot, &header, length, (uint32_t)extent);
        if (!slot->damage && slot->thread == TRACE_THREAD_PACKED) {
            file->slot_count--; /* the index has the chunks in a container, not the container */
            if (!trace_containers_add(file, offset, slot->available))
                return false;
        }
        offset += chunk_size;
    }
    return true;
}

/* A pointer to sort. clang-tidy takes the sizeof of a bare one for a mistake. */
struct part {
    struct trace_slot *slot;
};

/* Sorts by thread, its sequence and slot. */
static int compare_parts(const void *a, const void *b)
{
    const struct trace_slot *x = ((const struct part *)a)->slot,
                            *y = ((const struct part *)b)->slot;
    return ORDER(x->thread, y->thread) ?: ORDER(x->sequence, y->sequence) ?:
           ORDER(x->number, y->number);
}

/* Marks chunks as damaged that repeat a part of a thread. No recorder writes a part twice. */
static bool refuse_copies(struct trace_file *file)
{
    struct part *parts = malloc((file->slot_count + 1) * sizeof(*parts));
    size_t count = 0;
    if (!parts)
        return false;
    for (size_t i = 0; i < file->slot_count; i++)
        if (!file->slots[i].damage)
            parts[count++].slot = &file->slots[i];
    qsort(parts, count, sizeof(*parts), compare_parts);
    for (size_t i = 1; i < count; i++) {
        struct trace_slot *slot = parts[i].slot, *before = parts[i - 1].slot;
        if (slot->thread != before->thread || slot->sequence != before->sequence)
            continue;
        slot->damage = "an earlier slot has the same part of its thread";
        slot->lost = slot->commit;
    }
    free(parts);
    return true;
}

/* Fills the index. False with `status` set if memory is exhausted. */
static bool trace_index(struct trace_file *file, struct ingest_status *status)
{
    bool dense = file->header.flags & TRACE_FILE_DENSE;
    bool packed = dense || (file->header.flags & TRACE_FILE_PACKED);
    if (!(dense ? trace_containers_index(file) : index_slots(file)) ||
        (packed && !trace_containers_drop_duplicates(file)) || !refuse_copies(file))
        return ingest_fail_memory(status, "the index of chunks");
    return true;
}

/* Gives the clock pair that ends the straight line of time: the end pair of the header if it has
 * one, otherwise the latest base of a chunk. */
static void trace_file_last_clock(const struct trace_file *file, uint64_t *ticks,
                                  uint64_t *monotonic_ns)
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

/* ---- clock --------------------------------------------------------------------------------- */

void trace_time_init(struct trace_time *time, const struct trace_file *file, uint64_t record_ticks,
                     uint64_t record_ns)
{
    const struct trace_file_header *header = trace_file_header(file);
    uint64_t ticks, ns;
    *time = (struct trace_time){.start_ticks = header->start_ticks};
    if (header->clock == TRACE_CLOCK_NANOSECONDS)
        return;
    trace_file_last_clock(file, &ticks, &ns);
    if (header->end_ticks == 0 && record_ticks > ticks) {
        ticks = record_ticks;
        ns = record_ns;
    }
    /* Damaged pairs must not overflow the products; a line of 2^62 ns is 146 years. */
    if (ticks <= header->start_ticks || ns <= header->start_monotonic_ns ||
        ticks - header->start_ticks > INT64_MAX / 2 ||
        ns - header->start_monotonic_ns > INT64_MAX / 2) {
        time->unknown = true;
        return;
    }
    time->ticks = ticks - header->start_ticks;
    time->ns = ns - header->start_monotonic_ns;
    time->scaled = true;
    time->shift = 64;
    unsigned __int128 factor;
    do {
        time->shift--;
        factor = ((unsigned __int128)time->ns << time->shift) / time->ticks;
    } while (factor > UINT64_MAX && time->shift > 0);
    time->factor = factor > UINT64_MAX ? UINT64_MAX : (uint64_t)factor;
}

/* ---- file ---------------------------------------------------------------------------------- */

static const uint32_t known_flags = TRACE_FILE_CLOCK_FAST | TRACE_FILE_SAMPLED |
                                    TRACE_FILE_FREE_STACKS | TRACE_FILE_PACKED | TRACE_FILE_DENSE;

size_t trace_file_read(const struct trace_file *file, uint64_t offset, void *buffer, size_t length)
{
    return read_whole(file->descriptor, buffer, length, offset);
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
    FREE_ALL(file->path, file);
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
