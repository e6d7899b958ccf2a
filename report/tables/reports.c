/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/tables/reports.h"

#include <string.h>

static const struct report_kind kinds[] = {
    {.name = "summary", .write = report_summary},
    {.name = "peak", .write = report_peak, .by = BY_USER},
    {.name = "leaks", .write = report_leaks, .by = BY_STACK},
    {.name = "functions", .write = report_functions},
    {.name = "types", .write = report_types},
    {.name = "lines", .write = report_lines},
    {.name = "sizes", .write = report_sizes},
    {.name = "fragmentation", .write = report_fragmentation, .by = BY_USER},
    {.name = "diff", .write = report_diff, .by = BY_FUNCTION, .base = true},
    {.name = "short-lived", .write = report_short_lived, .by = BY_USER},
};

const struct report_kind *report_find(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}
