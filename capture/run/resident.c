/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/resident.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/os/clock.h"
#include "capture/run/unrecorded_program.h"
#include "schemas/trace_codec.h"

#define FIRST_INTERVAL 10
#define LAST_INTERVAL 1000
/* After this many samples the interval doubles, so that a long run gets only a few thousand. */
#define SAMPLES_PER_INTERVAL 512u
#define SAMPLE_MAX 48u
/* A sample that is the same as the last one is written after so many milliseconds. */
#define SAME_INTERVAL 100

static int open_statm(pid_t process)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)process);
    return open(path, O_RDONLY | O_CLOEXEC);
}

void run_resident_begin(struct run_resident *resident, const struct client *client)
{
    *resident = (struct run_resident){.statm = open_statm((pid_t)client->header->pid)};
}

/* Returns the resident set in bytes, or 0 if the program has ended. */
static uint64_t read_resident(int statm)
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
    int statm = open_statm(process);
    uint64_t bytes = statm >= 0 ? read_resident(statm) : 0;
    if (statm >= 0)
        close(statm);
    return bytes;
}

static bool make_room(struct run_resident *resident, const struct client *client)
{
    if (client_chunk_reserve(&resident->chunk, client, SAMPLE_MAX))
        return true;
    client_chunk_leave(&resident->chunk);
    return client_chunk_begin(&resident->chunk, client, TRACE_THREAD_OUTSIDE, resident->sequence++);
}

bool run_resident_sample(struct run_resident *resident, const struct client *client)
{
    uint8_t payload[SAMPLE_MAX], *p;
    if (resident->statm < 0)
        return false;
    uint64_t bytes = read_resident(resident->statm);
    if (bytes == 0)
        return false;
    /* While the process runs another program, its memory does not belong to this trace. The trace
     * of an unrecorded program is made before that is executed. */
    if (client->header->unrecorded) {
        if (!unrecorded_program_runs(client->descriptor, (pid_t)client->header->pid))
            return resident->samples == 0;
    } else if (atomic_load((_Atomic uint32_t *)&client->header->state) != TRACE_STATE_RECORDING)
        return true;
    resident->unwritten += run_resident_interval(resident);
    resident->samples++;
    if (bytes == resident->bytes && resident->unwritten < SAME_INTERVAL)
        return true;
    if (!make_room(resident, client))
        return false;
    resident->bytes = bytes;
    resident->unwritten = 0;
    clock_is_tsc = client->header->clock == TRACE_CLOCK_TSC;
    uint64_t now = clock_before(), base = resident->chunk.ticks;
    p = trace_put_varint(payload, now > base ? now - base : 0);
    p = trace_put_varint(p, bytes);
    client_chunk_put(&resident->chunk, TRACE_EXT_RSS, payload, (size_t)(p - payload));
    if (client->header->unrecorded) /* its clock is CLOCK_MONOTONIC */
        client->header->end_ticks = client->header->end_monotonic_ns = now;
    return true;
}

int run_resident_interval(const struct run_resident *resident)
{
    unsigned doublings = resident->samples / SAMPLES_PER_INTERVAL;
    return doublings > 6 ? LAST_INTERVAL : FIRST_INTERVAL << doublings;
}

void run_resident_end(struct run_resident *resident)
{
    client_chunk_leave(&resident->chunk);
    if (resident->statm >= 0)
        close(resident->statm);
    resident->statm = -1;
}
