/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "report/export/export.h"

static const struct export_format formats[] = {
    {.name = "pprof-text", .write = export_pprof_text, .takes_at = true},
    {.name = "pprof", .write = export_pprof, .takes_base = true, .takes_at = true},
    {.name = "collapsed", .write = export_collapsed, .takes_base = true, .takes_at = true},
};

const struct export_format *export_find_format(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    return NULL;
}
