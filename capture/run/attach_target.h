/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the facts that mprof-run --pid needs before it touches a process: its modules, the
 * functions that are called in it, and the reasons not to attach. It reads them from outside. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ATTACH_ALLOCATORS_MAX 8u
#define ATTACH_PROGRAM_MAX 1024u

/* A file that is mapped as code. Addresses are those in the process. 0: it has no such function. */
struct attach_module {
    uint64_t start, end;     /* of all its mappings */
    uint64_t first_end;      /* of the first one */
    uint64_t code, code_end; /* of those that are executable */
    uint64_t malloc, free, realloc, calloc;
    uint64_t dlopen, dlsym, dlerror, errno_location, memfd_create, close, dl_iterate_phdr;
    uint64_t mailbox;      /* of the recorder */
    uint64_t loader_state; /* a struct r_debug of the loader */
    bool is_loader, is_libc;
    char path[PATH_MAX];
};

struct attach_target {
    pid_t process;
    struct attach_module *modules;
    size_t count;
    /* Addresses in the C library. */
    uint64_t dlopen, dlsym, dlerror, errno_location, memfd_create, close, dl_iterate_phdr;
    uint64_t loader_state;                /* in the loader, a struct r_debug; 0: not found */
    uint64_t trap;                        /* a byte 0xcc in its code */
    uint64_t restorer;                    /* where signal handlers return to; 0: not found */
    const struct attach_module *recorder; /* libmprof.so, or NULL */
    const struct attach_module *allocators[ATTACH_ALLOCATORS_MAX];
    size_t allocator_count;
    bool incomplete;                     /* mprof-run has no memory to read all */
    bool loading;                        /* it has not mapped all of the C library yet */
    uint8_t program[ATTACH_PROGRAM_MAX]; /* what the kernel told the program at its start */
    size_t program_size;
};

/* Reads the process. `library` is the recorder's file: the process may have a copy of it in memory.
 * False: `why` (`size` bytes) holds one line with the reason not to attach and what to do.
 * attach_target_close() in both cases. */
bool attach_target_open(struct attach_target *target, pid_t process, const char *library, char *why,
                        size_t size);
void attach_target_close(struct attach_target *target);

/* Returns the module whose code holds the address, or NULL. */
const struct attach_module *attach_target_at(const struct attach_target *target, uint64_t address);

/* Returns true if this is the program's own code or that of a library of its own, outside of what
 * may hold a lock of the loader or an allocator. */
bool attach_target_is_program(const struct attach_target *target, uint64_t address);

/* Returns true if the process still runs the program that was read, and has executed no other one.
 */
bool attach_target_is_same(const struct attach_target *target);

/* Copies memory of the process. False if not all of it is there. */
bool attach_read(pid_t process, uint64_t address, void *to, size_t size);
bool attach_write(pid_t process, uint64_t address, const void *from, size_t size);

/* Returns how many threads the process has, or -1. */
long attach_thread_count(pid_t process);
/* Returns the state of a thread as /proc has it: 'R', 'S', 'T', 'Z' and others. 'X': it is gone.
 * '?': that cannot be read. */
char attach_thread_state(pid_t process, pid_t thread);

/* Returns the bytes below `address` that can be written as a stack, up to `wanted`. */
uint64_t attach_stack_room(pid_t process, uint64_t address, uint64_t wanted);
