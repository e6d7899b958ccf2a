/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How stacks are taken, as the options say it.
 */
#ifndef MPROF_CAPTURE_OPTIONS_STACK_OPTIONS_H
#define MPROF_CAPTURE_OPTIONS_STACK_OPTIONS_H

#include <stdint.h>

enum stack_unwind {
    STACK_UNWIND_AUTO,
    STACK_UNWIND_FRAME_POINTERS,
    STACK_UNWIND_EH,
    /* The modes above unwind. */
    STACK_UNWIND_INSTRUMENT, /* see shadow_stack.h; if that knows nothing, like AUTO */
    STACK_UNWIND_OFF
};

struct stack_options {
    enum stack_unwind unwind;
    /*
     * Frames; 0: the built-in limit of 4096; at most 65536. A deeper stack keeps its innermost
     * frames under a marker: between three quarters of the limit and all of it.
     */
    uint32_t depth_limit;
};

#endif
