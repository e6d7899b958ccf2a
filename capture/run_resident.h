/*
 * Samples the resident set of the recorded program from outside, into its trace.
 *
 * Legal order: run_resident_begin(); run_resident_sample() as often as it asks for; and
 * run_resident_end() when the program has ended. Neither a thread nor a timer runs in the program.
 */
#ifndef MPROF_CAPTURE_RUN_RESIDENT_H
#define MPROF_CAPTURE_RUN_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/chunk.h"

struct run_resident {
    pid_t process;
    const char *trace; /* its path, "" until the child has named it */
    int statm;         /* descriptor of /proc/PID/statm, -1: none */
    unsigned attempts; /* to find the trace */
    unsigned samples;
    uint32_t sequence;
    bool attached;
    struct chunk chunk;
};

/* `trace` is read at each sample until the trace is there, and must live until the end. */
void run_resident_begin(struct run_resident *resident, pid_t process, const char *trace);

/* Writes one sample where the trace is being recorded. */
void run_resident_sample(struct run_resident *resident);

/* What is resident now, in bytes; 0: not known. */
uint64_t run_resident_now(const struct run_resident *resident);

/* Milliseconds until the next sample; -1: there is nothing to sample any more. */
int run_resident_interval(const struct run_resident *resident);

void run_resident_end(struct run_resident *resident);

#endif
