/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells names apart that look alike on the screen: functions with one short name, and names that
 * differ only where they are cut.
 */
#ifndef MPROF_TUI_WIDGET_ALIKE_H
#define MPROF_TUI_WIDGET_ALIKE_H

#include <stddef.h>

#include "tui/screen/cells.h"

#define ALIKE_MOST 256 /* names that are looked at */

/* A name on the screen. */
struct alike_field {
    int y, width; /* in the area */
    size_t row;   /* for name() */
};

/*
 * Writes the names again that look like another one, from column `x` on: with their parameters or,
 * if they still look alike, from the place on where they differ. name() returns the name of a row,
 * valid until the next call.
 */
void alike_rewrite(const struct area *area, int x, const struct alike_field *fields, size_t count,
                   const char *(*name)(void *context, size_t row), void *context);

#endif
