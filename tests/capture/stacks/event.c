/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/capture/stacks/event.h"

#include "tests/capture/stacks/stack_oracle.h"

static unsigned long compare_every = 1;
static _Thread_local struct stack_thread *state;
static _Thread_local unsigned long turn;
static _Thread_local bool inside;
static _Thread_local uint32_t last;

void event_compare_every(unsigned long n)
{
    compare_every = n;
}

void event_left_by_jump(void)
{
    inside = false;
    state = NULL;
}

uint32_t event_last_node(void)
{
    return last;
}

/* Compiled with a frame pointer, like the entry points of libmprof. */
__attribute__((noinline)) void event(void)
{
    if (inside) /* a signal came while a stack was taken */
        return;
    inside = true;
    if (!state)
        state = stack_oracle_thread();
    last = stack_oracle_check(state, __builtin_frame_address(0), ++turn % compare_every == 0);
    inside = false;
}
