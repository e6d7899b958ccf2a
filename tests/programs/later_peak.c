/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peak of the program and the peak of what it leaks lie at different moments: a table of the
 * start, then a large block that is freed, then what leaks. Some blocks live a moment.
 */
#include <stdlib.h>
#include <time.h>

static void *volatile kept[64];

static __attribute__((noinline)) void *early(void)
{
    return malloc(1 << 20);
}

static __attribute__((noinline)) void *between(void)
{
    return malloc(8 << 20);
}

static __attribute__((noinline)) void *late(size_t size)
{
    return malloc(size);
}

static void pause_for(long milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

int main(void)
{
    kept[0] = early();
    pause_for(40);
    kept[1] = between();
    pause_for(10);
    free(kept[1]);
    for (size_t i = 2; i < 64; i++) {
        kept[i] = late(1000 + 1000 * i);
        free(late(50 * i));
    }
    pause_for(10);
    return 0;
}
