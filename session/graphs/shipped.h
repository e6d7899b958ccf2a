/* SPDX-License-Identifier: BSD-2-Clause */
/* The graphs that ship with the program: the files NAME.graph of this folder. */
#ifndef MPROF_SESSION_GRAPHS_SHIPPED_H
#define MPROF_SESSION_GRAPHS_SHIPPED_H

#include <stddef.h>

struct shipped_graph {
    const char *name, *text;
};

/* Returns them in the order of their names. */
const struct shipped_graph *shipped_graphs(size_t *count);

#endif
