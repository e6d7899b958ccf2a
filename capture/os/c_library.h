/* SPDX-License-Identifier: BSD-2-Clause */
/* The C library's own functions for code that runs inside the program. A program, or a library
 * before the C library, may replace any of them: then a call by name leads to the replacement,
 * which may allocate, wait for a lock that its caller holds, or lie.
 *
 * c_library.c and string.c define the functions that such code calls by name, hidden from all other
 * objects: clock.h and os.h have those that are system calls, string.c those that need nothing, and
 * c_library.c those that only the C library or the loader can do. It finds these by the loader's
 * list of objects. tests/capture/recorder/imports.py has the
 * names that the libraries still import, with the reasons. */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* As the functions that POSIX names so, which others define, too. */
int c_library_key_create(pthread_key_t *key, void (*destroy)(void *));
int c_library_set_specific(pthread_key_t key, const void *value);
int c_library_sigaction(int number, const struct sigaction *action, struct sigaction *old);

#ifndef MPROF_STATIC

/* Returns the definition of `name` in the C library or its loader. NULL: there is none. Asks nobody
 * and allocates nothing. */
void *c_library_find(const char *name);

/* Returns true if `caller` lies in a function of the C library that the recorder calls and that
 * allocates by the public name of another one, as musl's do. */
bool c_library_calls_heap(const void *caller);

/* Returns true if the code at `pc` gives what a function has just returned to the C library's
 * exit() or pthread_exit(): no frame is further out. musl has no unwind tables that say so. */
bool c_library_ends_thread_at(uint64_t pc);

/* Returns the first definition of `name` in the loader's list of objects, or with `next` the first
 * one behind the library that the caller is linked into. *base becomes its object's load address.
 * NULL: there is none. For the time before that library is relocated, when nobody else can be
 * asked. */
void *c_library_definition(const char *name, bool next, const void **base);

/* The loader's functions. The recorder has entry points of these names for the program. dlsym
 * takes RTLD_NEXT for the library that the caller is linked into. */
void *c_library_dlopen(const char *file, int mode);
int c_library_dlclose(void *handle);
void *c_library_dlsym(void *handle, const char *name);

#endif
