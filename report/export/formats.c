/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of formats. */
#include <string.h>

#include "report/export/export.h"

static const struct export_format formats[] = {
    {.name = "pprof",
     .write = export_pprof,
     .takes_base = true,
     .takes_at = true,
     .is_binary = true},
    {.name = "pprof-text", .write = export_pprof_text, .takes_at = true},
    {.name = "collapsed",
     .write = export_collapsed,
     .takes_base = true,
     .takes_at = true,
     .takes_value = true},
    {.name = "speedscope", .write = export_speedscope, .takes_at = true},
    {.name = "callgrind", .write = export_callgrind, .takes_at = true},
    {.name = "massif", .write = export_massif},
    {.name = "dhat", .write = export_dhat},
    {.name = "heaptrack", .write = export_heaptrack},
    {.name = "firefox", .write = export_firefox},
    {.name = "chrome", .write = export_chrome, .has_no_stacks = true},
    {.name = "csv",
     .write = export_csv,
     .takes_base = true,
     .runs_graph = true,
     .has_no_stacks = true},
    {.name = "ndjson",
     .write = export_ndjson,
     .takes_base = true,
     .runs_graph = true,
     .has_no_stacks = true},
    {.name = "svg", .write = export_svg, .takes_at = true, .takes_value = true},
};

const struct export_format *export_find_format(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    return NULL;
}
