/* SPDX-License-Identifier: BSD-2-Clause */
/* The suppressions of leaks that the program carries: what its function
 * __lsan_default_suppressions() returns, which LeakSanitizer calls before the program's
 * constructors.
 *
 * The function is the program's: it may crash, allocate or never return. So a child process calls
 * it. The child has a copy of the program's memory and records nothing. If anything goes wrong
 * there, the program still goes on as it would alone.
 *
 * Order of calls: program_suppressions_ask() once, from the library's constructor;
 * program_suppressions_put() at the beginning of each trace. */
#pragma once

#include <stdbool.h>

struct thread;

/* Sets whether program_suppressions_ask() does anything. At first it does nothing. */
void program_suppressions_want(bool wanted);

/* Calls the function and writes its text, or why there is none, into the trace. Waits at most two
 * seconds for it. The calling thread must not hold the guard. */
void program_suppressions_ask(void);

/* Writes what is known by now into a trace that begins. The thread holds the guard. */
void program_suppressions_put(struct thread *thread);
