/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code of many shapes, compiled without frame pointers, each of which calls event() from
 * somewhere inside. `random` is a state of its own for each thread.
 */
#ifndef MPROF_TESTS_SHAPES_H
#define MPROF_TESTS_SHAPES_H

#ifdef __cplusplus
extern "C" {
#endif

unsigned shapes_random(unsigned *random, unsigned below);
/* Goes down through `depth` random shapes. */
void shapes_descend(unsigned *random, unsigned depth);
/* Two callers of one function whose frames have the same size; event() in the same function. */
void shapes_twin_left(void);
void shapes_twin_right(void);
/* One event under one of two outer and one of two inner callers; all leave equal frames. */
void shapes_branch(unsigned outer, unsigned inner);
/*
 * One event, or two, of a frame that is called from one of two places and lies at one of two; all
 * it calls lies at the same addresses, and what it left at the one place is there when it lies at
 * the other.
 */
void shapes_moved(unsigned caller, unsigned lower, unsigned both);
/* An event that leaves alone what shapes_moved() left. */
void shapes_below(void);
/* Recursion `depth` deep, with an event at each `every`-th level downward. */
void shapes_recurse(unsigned depth, unsigned every);

/* C++: throws through frames, catches, rethrows; events before, in and after the handlers. */
void shapes_exceptions(unsigned *random, unsigned depth);

#ifdef __cplusplus
}
#endif

#endif
