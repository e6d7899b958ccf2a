/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the trace of a program that runs without the recorder (trace-format.md, "Unrecorded
 * programs").
 *
 * All system calls are raw. It allocates nothing and writes only the caller's memory, so a child
 * that vfork made may call it, too. */
#pragma once

#include <stdbool.h>

#include "capture/os/trace_name.h"
#include "schemas/trace_layout.h"

struct unrecorded {
    const char *base; /* absolute path of the run's first trace */
    bool first; /* this is the run's first program: its trace takes that name, if it is free */
    int process, parent;
    const char *path;         /* of the program */
    const char *const *words; /* its arguments, NULL at the end; NULL: not known */
    enum trace_unrecorded reason;
};

/* Writes the trace, and its path into `name` (TRACE_NAME_SIZE bytes). Returns false if it cannot be
 * made; then no file is left. */
bool unrecorded_make(const struct unrecorded *program, char *name);
