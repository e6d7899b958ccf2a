/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An allocator below the recorder, preloaded after it: at the next call of the kind that was asked
 * for it calls a function of the program, which so runs inside a record, as a signal handler may.
 * It takes the clock over as well, for the test of a clock that is set.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *block);
void *malloc(size_t size);
void *realloc(void *old, size_t size);
void free(void *block);
void below_ask(char call, void (*function)(void));

_Atomic long below_clock_step; /* seconds, added to what the clocks say */

static void (*wanted)(void);
static volatile char wanted_call;

/* Calls `function` once, inside the next malloc ('m'), realloc ('r') or free ('f'). */
void below_ask(char call, void (*function)(void))
{
    wanted = function;
    wanted_call = call;
}

static void below_act(char call)
{
    if (wanted_call != call)
        return;
    wanted_call = 0;
    wanted();
}

void *malloc(size_t size)
{
    void *block = __libc_malloc(size);
    below_act('m');
    return block;
}

void *realloc(void *old, size_t size)
{
    void *block = __libc_realloc(old, size);
    below_act('r');
    return block;
}

void free(void *block)
{
    below_act('f');
    __libc_free(block);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    now->tv_sec += atomic_load(&below_clock_step);
    return result;
}
