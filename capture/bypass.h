/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modules whose calls go past the recorder, since the loader bound them to the C library.
 *
 * dlopen() with RTLD_DEEPBIND makes such modules. They are found and their slots changed
 * (bypass_slots.h): at the next dlsym, dlopen or dlclose, when a module is first seen in a stack,
 * and when the program ends. What their constructors allocate before is not recorded. A module of
 * another namespace (dlmopen), or one that uses another allocator, is left as it is: its blocks are
 * of another heap. Each of these modules is named in the trace, and in one line at the end.
 *
 * Where nobody asks for RTLD_DEEPBIND or another namespace, dlsym costs one comparison more.
 */
#ifndef MPROF_CAPTURE_BYPASS_H
#define MPROF_CAPTURE_BYPASS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct stack_module;
struct thread;

#ifdef MPROF_STATIC

/* A static program loads no modules. */
static inline void bypass_begin(void)
{
}
static inline void bypass_module_seen(struct thread *thread, const struct stack_module *module)
{
    (void)thread;
    (void)module;
}
static inline void bypass_put_known(struct thread *thread)
{
    (void)thread;
}
static inline void bypass_forked(void)
{
}
static inline void bypass_check(void)
{
}
static inline void bypass_end(void)
{
}

#else

/* Something may have been loaded past the recorder: bypass_check() is worth its time. */
extern _Atomic uint32_t bypass_expected;

/* At the start, once the real functions are known; asks the loader. */
void bypass_begin(void);

/* Before a dlopen with RTLD_DEEPBIND or a dlmopen: what is there already is bound as it should be.
 * Takes the loader's lock. */
void bypass_expect(void);

/* Looks at the modules that have come. Takes the loader's lock, so not from inside malloc. */
void bypass_check(void);

/* A stack leads through the module for the first time. For a thread that holds the guard, inside
 * malloc too: takes no lock. */
void bypass_module_seen(struct thread *thread, const struct stack_module *module);

/* At the beginning of a trace: modules that are known to go past the recorder still. */
void bypass_put_known(struct thread *thread);
/* In a forked child. */
void bypass_forked(void);

/* The last look, and the line that names all modules. */
void bypass_end(void);

#endif

#endif
