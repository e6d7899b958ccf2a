/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows a click on a legend: the filter is narrowed to what has the colour. */
#ifndef MPROF_TUI_VIEW_COMMON_LEGEND_H
#define MPROF_TUI_VIEW_COMMON_LEGEND_H

#include "tui/explore/explore.h"

/* Narrows the filter to an entry of a legend of `field`, a field of the filter language or the name
 * of a colouring. Says why if there is no such filter. */
void legend_follow(struct exploration *exploration, const struct session_legend *legend,
                   const char *field, size_t entry);

#endif
