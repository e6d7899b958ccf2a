/*
 * Follows the traces of one run while they are recorded: that of the program, and those that its
 * children and the programs executed in its place write beside it. Each gets samples of the
 * resident set, and is packed if that was asked for.
 *
 * Legal order: run_follow_new(); then, each time one of `descriptor` (readable) and `wait`
 * milliseconds comes first, run_follow_step(); run_follow_free() when the program has ended.
 */
#ifndef MPROF_CAPTURE_RUN_FOLLOW_H
#define MPROF_CAPTURE_RUN_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>

struct run_follow;

/* `trace`: absolute path of the program's trace, which need not be there yet; it must stay. NULL
 * where memory is exhausted. */
struct run_follow *run_follow_new(const char *trace, bool compress);
void run_follow_free(struct run_follow *follow);

/* Becomes readable when a trace has appeared; -1: none. */
int run_follow_descriptor(const struct run_follow *follow);

/* Does what is due, and returns in how many milliseconds something is again; -1: nothing is. */
int run_follow_step(struct run_follow *follow);

#endif
