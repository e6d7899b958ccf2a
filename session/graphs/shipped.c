/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/graphs/shipped.h"

/* Made by the build: one array for each file, and SHIPPED_GRAPHS with an entry for each. */
#include "shipped_texts.h"

const struct shipped_graph *shipped_graphs(size_t *count)
{
    static const struct shipped_graph graphs[] = {SHIPPED_GRAPHS};
    *count = sizeof(graphs) / sizeof(*graphs);
    return graphs;
}
