/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code of many shapes, compiled without frame pointers. Each shape calls event() from somewhere
 * inside. `random` is a state that each thread has for itself.
 */
#ifndef MPROF_TESTS_SHAPES_H
#define MPROF_TESTS_SHAPES_H

#ifdef __cplusplus
extern "C" {
#endif

unsigned shapes_random(unsigned *random, unsigned below);
/* Goes down through `depth` random shapes. */
void shapes_descend(unsigned *random, unsigned depth);
/* Two callers of one function. Their frames have the same size, and event() is in that function. */
void shapes_twin_left(void);
void shapes_twin_right(void);
/* One event under one of two outer and one of two inner callers. All leave equal frames. */
void shapes_branch(unsigned outer, unsigned inner);
/*
 * One event, or two, in a frame that is called from one of two places and lies at one of two
 * places. All functions that it calls lie at the same addresses. The words that it left at the one
 * place are still there when it lies at the other.
 */
void shapes_moved(unsigned caller, unsigned lower, unsigned both);
/* An event that does not touch the words that shapes_moved() left. */
void shapes_below(void);
/* Recursion `depth` deep, with an event at each `every`-th level on the way down. */
void shapes_recurse(unsigned depth, unsigned every);

/* C++: throws through frames, catches, rethrows; with events before, in and after the handlers. */
void shapes_exceptions(unsigned *random, unsigned depth);

#ifdef __cplusplus
}
#endif

#endif
