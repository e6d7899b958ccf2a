/* SPDX-License-Identifier: BSD-2-Clause */
/* Explains why a program runs without the recorder (trace-format.md, "Unrecorded programs"). */
#pragma once

#include <stdint.h>

#include "schemas/trace_layout.h"

/* Returns words that follow "PROGRAM: ". */
static inline const char *trace_unrecorded_text(uint32_t reason)
{
    static const char *const texts[] = {
        [TRACE_UNRECORDED_NOT] = "recorded",
        [TRACE_UNRECORDED_STATIC] = "statically linked",
        [TRACE_UNRECORDED_FOREIGN] = "not a 64-bit x86 program",
        [TRACE_UNRECORDED_OTHER_LIBC] = "its C library is not glibc",
        [TRACE_UNRECORDED_SANITIZED] = "built with a sanitizer",
        [TRACE_UNRECORDED_CONFINED] = "a seccomp filter forbids what recording needs",
        [TRACE_UNRECORDED_UNREACHABLE] = "it cannot read the recorder's library",
        [TRACE_UNRECORDED_RIGHTS] = "it runs with more rights than its caller",
        [TRACE_UNRECORDED_OWN_ALLOCATOR] = "it has its own allocator",
        [TRACE_UNRECORDED_ESCAPED] = "it was executed without the recorder's variables",
    };
    return reason < sizeof(texts) / sizeof(*texts) ? texts[reason] : "for an unknown reason";
}
