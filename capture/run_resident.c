#include "capture/run_resident.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/clock.h"
#include "capture/trace_file.h"

/* How often the trace is looked for: a program that records has made it long before. */
#define ATTEMPTS_MAX 1000u
#define ATTEMPT_INTERVAL 2
#define FIRST_INTERVAL 10
#define LAST_INTERVAL 1000
/* After so many samples each interval is twice as long, so a long run stays a few thousand. */
#define SAMPLES_PER_INTERVAL 512u
#define SAMPLE_MAX 48u

void run_resident_begin(struct run_resident *resident, pid_t process, const char *trace)
{
    char path[64];
    *resident = (struct run_resident){.process = process, .trace = trace};
    snprintf(path, sizeof path, "/proc/%d/statm", (int)process);
    resident->statm = open(path, O_RDONLY | O_CLOEXEC);
    if (resident->statm < 0)
        resident->attempts = ATTEMPTS_MAX;
}

uint64_t run_resident_now(const struct run_resident *resident)
{
    char text[128], *end;
    if (resident->statm < 0)
        return 0;
    ssize_t length = pread(resident->statm, text, sizeof text - 1, 0);
    if (length <= 0)
        return 0;
    text[length] = 0;
    strtoull(text, &end, 10); /* the address space; what is resident comes second */
    return strtoull(end, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool resident_make_room(struct run_resident *resident)
{
    if (chunk_space(&resident->chunk) >= SAMPLE_MAX)
        return true;
    chunk_leave(&resident->chunk);
    return chunk_begin(&resident->chunk, TRACE_THREAD_OUTSIDE, resident->sequence++);
}

void run_resident_sample(struct run_resident *resident)
{
    uint8_t payload[SAMPLE_MAX], *p;
    struct chunk *chunk = &resident->chunk;
    if (!resident->attached) {
        resident->attempts++;
        resident->attached = trace_file_attach(resident->trace, (int)resident->process);
    }
    /* While another program runs in its place, its memory is not this trace's. */
    if (!resident->attached || !trace_file_is_recording())
        return;
    uint64_t bytes = run_resident_now(resident);
    if (bytes == 0)
        return;
    if (!resident_make_room(resident)) {
        resident->attempts = ATTEMPTS_MAX;
        resident->attached = false;
        return;
    }
    uint64_t now = clock_before(), base = chunk->coding.ticks;
    p = trace_put_varint(payload, now > base ? now - base : 0);
    p = trace_put_varint(p, bytes);
    chunk_commit(chunk,
                 trace_put_extended(chunk->cursor, TRACE_EXT_RSS, payload, (size_t)(p - payload)));
    resident->samples++;
}

int run_resident_interval(const struct run_resident *resident)
{
    if (!resident->attached)
        return resident->attempts < ATTEMPTS_MAX ? ATTEMPT_INTERVAL : -1;
    unsigned doublings = resident->samples / SAMPLES_PER_INTERVAL;
    return doublings > 6 ? LAST_INTERVAL : FIRST_INTERVAL << doublings;
}

void run_resident_end(struct run_resident *resident)
{
    chunk_leave(&resident->chunk);
    if (trace_file_is_open())
        trace_file_forget();
    if (resident->statm >= 0)
        close(resident->statm);
}
