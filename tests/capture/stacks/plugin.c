/* SPDX-License-Identifier: BSD-2-Clause */
/* A plug-in that is loaded, calls back from one of its frames and is unloaded. */

#ifndef PLUGIN_SPACE
#define PLUGIN_SPACE 24
#endif

static __attribute__((noinline)) void plugin_inner(void (*call)(void))
{
    volatile char space[PLUGIN_SPACE] = {1};
    (void)space;
    call();
    __asm__ volatile("" ::: "memory");
}

void plugin_run(void (*call)(void));

__attribute__((visibility("default"))) void plugin_run(void (*call)(void))
{
    volatile char space[PLUGIN_SPACE] = {1};
    (void)space;
    plugin_inner(call);
    __asm__ volatile("" ::: "memory");
}
