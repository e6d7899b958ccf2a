/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/machines.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/trace/cursor.h"
#include "ingest/trace/extended.h"

/* The PROCESS record is at the beginning. A damaged trace is not searched any further. */
enum { CHUNKS_LOOKED_AT = 4 };

static const uint64_t latest_ns = UINT64_MAX / 8;

/* For traces without a boot id, which older recorders wrote: in one boot the offsets of the clocks
 * differ by less than this. */
static const int64_t same_boot_ns = 1000000000;

static void copy_text(char *to, size_t size, struct trace_text text)
{
    size_t length = text.length < size ? text.length : size - 1;
    memcpy(to, text.bytes, length);
    to[length] = '\0';
}

/* Reads the PROCESS record. True if the chunk has it. */
static bool read_chunk(struct trace_cursor *cursor, struct machine_start *start)
{
    struct trace_record record;
    struct trace_extension extension;
    while (trace_cursor_next(cursor, &record) == TRACE_GET_RECORD) {
        if (record.kind != TRACE_EXTENDED || record.extended.type != TRACE_EXT_PROCESS ||
            !trace_extension_get(&record, cursor->coding.ticks, &extension))
            continue;
        copy_text(start->host, sizeof(start->host), extension.host);
        copy_text(start->boot_id, sizeof(start->boot_id), extension.boot_id);
        return true;
    }
    return false;
}

bool machines_read(const struct trace_file *file, struct machine_start *start)
{
    const struct trace_file_header *header = trace_file_header(file);
    const struct trace_slot *slots;
    size_t count = trace_file_slots(file, &slots);
    bool found = false;
    *start = (struct machine_start){.monotonic_ns = header->start_monotonic_ns,
                                    .realtime_ns = header->start_realtime_ns};
    for (size_t i = 0; !found && i < count && i < CHUNKS_LOOKED_AT; i++) {
        struct trace_cursor cursor;
        if (slots[i].damage)
            continue;
        if (!trace_cursor_open(&cursor, file, &slots[i]))
            return false;
        found = read_chunk(&cursor, start);
        trace_cursor_close(&cursor);
    }
    return true;
}

/* Returns the real-time clock minus the monotonic one. */
static int64_t offset_of(const struct machine_start *start)
{
    return (int64_t)(start->realtime_ns - start->monotonic_ns);
}

static bool same_machine(const struct machine_start *a, const struct machine_start *b)
{
    if (a->boot_id[0] != '\0' && b->boot_id[0] != '\0')
        return strcmp(a->boot_id, b->boot_id) == 0;
    if (a->host[0] != '\0' && b->host[0] != '\0' && strcmp(a->host, b->host) != 0)
        return false;
    int64_t apart;
    return !__builtin_sub_overflow(offset_of(a), offset_of(b), &apart) && apart < same_boot_ns &&
           apart > -same_boot_ns;
}

static int compare_monotonic(const void *a, const void *b)
{
    const struct machine_start *x = *(struct machine_start *const *)a,
                               *y = *(struct machine_start *const *)b;
    return x->monotonic_ns < y->monotonic_ns ? -1 : x->monotonic_ns > y->monotonic_ns;
}

static int compare_start(const void *a, const void *b)
{
    const struct machine_start *x = *(struct machine_start *const *)a,
                               *y = *(struct machine_start *const *)b;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

/* Places each trace on the line of time by the real-time clock of its machine's first trace. */
static void place(struct machine_start **sorted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct machine_start *first = sorted[i];
        for (size_t k = 0; k < i; k++)
            if (same_machine(sorted[k], first)) {
                first = sorted[k];
                break;
            }
        sorted[i]->start_ns = sorted[i]->monotonic_ns + (uint64_t)offset_of(first);
        sorted[i]->machine = (uint32_t)(first == sorted[i] ? i + 1 : first->machine);
    }
}

/* Numbers machines by their first traces, and counts time from the first of all. */
static uint32_t number(struct machine_start **sorted, size_t count, uint32_t *numbers)
{
    uint32_t machines = 0;
    uint64_t begin = count > 0 ? sorted[0]->start_ns : 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t *known = &numbers[sorted[i]->machine];
        if (*known == 0)
            *known = ++machines;
        sorted[i]->machine = *known;
        sorted[i]->start_ns -= begin;
        if (sorted[i]->start_ns > latest_ns) /* a wrong clock: sums of times must not overflow */
            sorted[i]->start_ns = latest_ns;
    }
    return machines;
}

uint32_t machines_align(struct machine_start *const *starts, size_t count)
{
    struct machine_start **sorted = malloc((count + 1) * sizeof(struct machine_start *));
    uint32_t *numbers = calloc(count + 1, sizeof(*numbers)), machines = 0;
    if (sorted && numbers) {
        memcpy(sorted, starts, count * sizeof(struct machine_start *));
        qsort(sorted, count, sizeof(struct machine_start *), compare_monotonic);
        place(sorted, count);
        qsort(sorted, count, sizeof(struct machine_start *), compare_start);
        machines = number(sorted, count, numbers);
    }
    free(sorted);
    free(numbers);
    return machines;
}
