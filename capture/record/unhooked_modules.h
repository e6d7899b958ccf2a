/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds modules whose calls bypass the recorder because the loader bound them to the C library.
 *
 * dlopen() with RTLD_DEEPBIND makes such modules. The recorder finds them and changes their slots
 * (got_patch.h) at the next dlsym, dlopen or dlclose, when a module is first seen in a stack,
 * and when the program ends. It does not record what their constructors allocate before that. A
 * module of another namespace (dlmopen), or one that uses another allocator, stays as it is, since
 * its blocks belong to another heap. The trace and one line at the end name each of these modules.
 *
 * In the same places it finds modules that call other allocators (allocators.h), among those that
 * the program begins with and those that any dlopen loads.
 *
 * If the program never loads a library, dlsym costs one comparison more. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

struct allocator_function;
struct stack_module;
struct thread;

#ifdef MPROF_STATIC

/* A static program loads no modules. */
static inline void unhooked_modules_init(void)
{
}
static inline void unhooked_modules_look_at(struct thread *thread,
                                            const struct stack_module *module)
{
}
static inline void unhooked_modules_put_known(struct thread *thread)
{
}
static inline void unhooked_modules_after_fork(void)
{
}
static inline void unhooked_modules_check(void)
{
}
static inline void unhooked_modules_end(void)
{
}

#else

/* Not 0 if a module that bypasses the recorder, or calls another allocator, may be loaded:
 * unhooked_modules_check() is worth its time. */
extern _Atomic uint32_t unhooked_modules_expected;

/* Takes the functions of other allocators (allocators_init()) and looks at the modules that call
 * them. Called when the loader has relocated the libraries, before it calls their constructors. */
void unhooked_modules_begin(struct allocator_function *functions, unsigned count);

/* Finds this library and the heap functions. Called at the start, once the real functions are
 * known. Asks the loader. */
void unhooked_modules_init(void);

/* Notes the modules that are loaded now, which are bound as they should be. Called before a dlopen
 * with RTLD_DEEPBIND and before a dlmopen. Takes the loader's lock. */
void unhooked_modules_expect(void);

/* Notes that modules may come that call other allocators. Called before any other dlopen. */
void unhooked_modules_expect_library(void);

/* Looks at the modules that were loaded since. Takes the loader's lock: not inside malloc. */
void unhooked_modules_check(void);

/* Looks at a module that is in a stack for the first time. Needs the guard held. Takes no lock, so
 * it may be called inside malloc. */
void unhooked_modules_look_at(struct thread *thread, const struct stack_module *module);

/* Writes the modules that still bypass the recorder, as far as known, at a trace's beginning. */
void unhooked_modules_put_known(struct thread *thread);
/* Puts the state right in a forked child. */
void unhooked_modules_after_fork(void);

/* Takes the last look and prints the line that names all modules. */
void unhooked_modules_end(void);

/* For a recorder that was loaded into a process that runs already (real_is_apart()): the first
 * changes the slots of all modules, also those that the loader has not bound yet, so that the
 * program's calls come here. It returns how many lead to another allocator and stay as
 * they are. The second changes the others back. Modules that come later are found as
 * those of RTLD_DEEPBIND. Both take the loader's lock. */
uint32_t unhooked_modules_take(void);
void unhooked_modules_give_back(void);

#endif
