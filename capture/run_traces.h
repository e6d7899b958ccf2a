/* The traces that other processes of a run leave beside that of the program, as TRACE.PID. */
#ifndef MPROF_CAPTURE_RUN_TRACES_H
#define MPROF_CAPTURE_RUN_TRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "capture/trace_name.h"

/* Whether `name` is that of a trace beside one that is called `base` (both without a folder). */
bool run_traces_is_beside(const char *base, const char *name);

/* Calls `each` with the path of each trace beside `trace` that was written since `since`: older
 * ones are of other runs. The order is that of the names. Returns how many names, of traces or not,
 * are in the folder. */
size_t run_traces_beside(const char *trace, time_t since,
                         void (*each)(void *context, const char *trace), void *context);

/*
 * The trace of what the process of `trace` was in the end: a script or a wrapper that became
 * another program by exec has left several, written since `since`. `trace` where it became none.
 */
void run_traces_last(const char *trace, time_t since, char last[TRACE_NAME_SIZE]);

#endif
