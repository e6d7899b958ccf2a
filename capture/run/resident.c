/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/resident.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/os/clock.h"
#include "schemas/trace_codec.h"

#define FIRST_INTERVAL 10
#define LAST_INTERVAL 1000
/* After this many samples the interval doubles, so that a long run gets only a few thousand. */
#define SAMPLES_PER_INTERVAL 512u
#define SAMPLE_MAX 48u

static int resident_open(pid_t process)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)process);
    return open(path, O_RDONLY | O_CLOEXEC);
}

void run_resident_begin(struct run_resident *resident, const struct outside *outside)
{
    *resident = (struct run_resident){.statm = resident_open((pid_t)outside->header->pid)};
}

/* Returns the resident set in bytes, or 0 if the program has ended. */
static uint64_t resident_read(int statm)
{
    char text[128], *end;
    ssize_t length = pread(statm, text, sizeof(text) - 1, 0);
    if (length <= 0)
        return 0;
    text[length] = 0;
    strtoull(text, &end, 10); /* skips the address space; the resident set comes second */
    return strtoull(end, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t run_resident_now(pid_t process)
{
    int statm = resident_open(process);
    uint64_t bytes = statm >= 0 ? resident_read(statm) : 0;
    if (statm >= 0)
        close(statm);
    return bytes;
}

static bool resident_make_room(struct run_resident *resident, const struct outside *outside)
{
    if (outside_chunk_reserve(&resident->chunk, outside, SAMPLE_MAX))
        return true;
    outside_chunk_leave(&resident->chunk);
    return outside_chunk_begin(&resident->chunk, outside, TRACE_THREAD_OUTSIDE,
                               resident->sequence++);
}

bool run_resident_sample(struct run_resident *resident, const struct outside *outside)
{
    uint8_t payload[SAMPLE_MAX], *p;
    if (resident->statm < 0)
        return false;
    uint64_t bytes = resident_read(resident->statm);
    if (bytes == 0)
        return false;
    /* While the process runs another program, its memory does not belong to this trace. */
    if (atomic_load((_Atomic uint32_t *)&outside->header->state) != TRACE_STATE_RECORDING)
        return true;
    if (!resident_make_room(resident, outside))
        return false;
    clock_is_tsc = outside->header->clock == TRACE_CLOCK_TSC;
    uint64_t now = clock_before(), base = resident->chunk.ticks;
    p = trace_put_varint(payload, now > base ? now - base : 0);
    p = trace_put_varint(p, bytes);
    outside_chunk_put(&resident->chunk, TRACE_EXT_RSS, payload, (size_t)(p - payload));
    resident->samples++;
    return true;
}

int run_resident_interval(const struct run_resident *resident)
{
    unsigned doublings = resident->samples / SAMPLES_PER_INTERVAL;
    return doublings > 6 ? LAST_INTERVAL : FIRST_INTERVAL << doublings;
}

void run_resident_end(struct run_resident *resident)
{
    outside_chunk_leave(&resident->chunk);
    if (resident->statm >= 0)
        close(resident->statm);
    resident->statm = -1;
}
