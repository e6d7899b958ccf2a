/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/disk_space.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "ingest/trace/cursor.h"
#include "schemas/printable.h"

/* Bytes of a session for each allocation: its row, its index entry by stack and its columns. */
#define SESSION_PER_ALLOCATION 62u
/* Bytes for each node of the tree of stacks, with the stack that ends there and its sums. */
#define SESSION_PER_NODE 160u
/* Bytes of an empty session. */
#define SESSION_LEAST (UINT64_C(400) << 10)
/* The number of chunks that are read, from all parts of the trace. */
#define CHUNKS_READ 32u
/* A smaller session is not worth a line. */
#define LEAST_PRINTED (UINT64_C(16) << 20)

static bool is_allocation(const struct trace_record *record)
{
    return record->kind == TRACE_ALLOC || record->kind == TRACE_ALLOC_ATTR ||
           record->kind == TRACE_REALLOC ||
           (record->kind == TRACE_EXTENDED && (record->extended.type == TRACE_EXT_ARENA_ALLOC ||
                                               record->extended.type == TRACE_EXT_ARENA_REALLOC));
}

/* The causes of a large session. */
struct volume {
    uint64_t allocations, nodes;
};

static struct volume volume_of_chunk(const struct trace_file *file, const struct trace_slot *slot)
{
    struct trace_cursor cursor;
    struct trace_record record;
    struct volume volume = {0, 0};
    if (!trace_cursor_open(&cursor, file, slot))
        return volume;
    while (trace_cursor_next(&cursor, &record) == TRACE_GET_RECORD) {
        volume.allocations += is_allocation(&record);
        volume.nodes += record.kind == TRACE_NODE;
    }
    trace_cursor_close(&cursor);
    return volume;
}

/* Estimates the bytes that a trace takes in a session: as much is in each byte of it as in some of
 * its chunks. */
static uint64_t bytes_of(const char *path)
{
    struct ingest_status status = {INGEST_OK, ""};
    struct trace_file *file = trace_file_open(path, &status);
    const struct trace_slot *slots;
    uint64_t bytes = 0, bytes_read = 0, needed = 0;
    if (!file)
        return 0;
    const size_t count = trace_file_slots(file, &slots), step = 1 + count / CHUNKS_READ;
    for (size_t i = 0; i < count; i++) {
        if (slots[i].damage)
            continue;
        bytes += slots[i].commit;
        if (i % step == 0) {
            const struct volume volume = volume_of_chunk(file, &slots[i]);
            bytes_read += slots[i].commit;
            needed += SESSION_PER_ALLOCATION * volume.allocations;
            needed += SESSION_PER_NODE * volume.nodes;
        }
    }
    trace_file_close(file);
    return bytes_read ? (uint64_t)((double)needed * (double)bytes / (double)bytes_read) : 0;
}

static uint64_t available_beside(const char *session)
{
    struct statvfs about;
    char *copy = strdup(session);
    uint64_t bytes = 0;
    if (copy && statvfs(dirname(copy), &about) == 0)
        bytes = (uint64_t)about.f_bavail * about.f_frsize;
    free(copy);
    return bytes;
}

struct disk_space disk_space_estimate(const struct trace_list *traces, const char *session)
{
    struct disk_space space = {SESSION_LEAST, available_beside(session)};
    for (size_t i = 0; i < traces->count; i++)
        space.needed += bytes_of(traces->paths[i]);
    return space;
}

static void put_bytes(FILE *out, uint64_t bytes)
{
    const double mebibytes = (double)bytes / (1 << 20);
    if (mebibytes < 1024)
        fprintf(out, "%.0f MiB", mebibytes);
    else
        fprintf(out, "%.1f GiB", mebibytes / 1024);
}

void disk_space_print(FILE *out, const struct disk_space *space, const char *session,
                      bool only_short)
{
    char name[512];
    const bool fits = space->available == 0 || space->needed <= space->available;
    if (space->needed < LEAST_PRINTED || (only_short && fits))
        return;
    printable_copy(name, sizeof(name), session);
    fprintf(out, "mprof-ingest: %s will take about ", name);
    put_bytes(out, space->needed);
    if (space->available != 0) {
        fputs(fits ? "; " : ", and may not fit: ", out);
        put_bytes(out, space->available);
        fputs(" are free on its disk", out);
    }
    fputc('\n', out);
}
