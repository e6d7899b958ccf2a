/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/nineteen88/nineteen88.h"

#include "report/nineteen88/tables.h"

bool nineteen88_write(const struct report_request *request, const struct tables_options *options,
                      FILE *out, struct session_error *error)
{
    struct model model;
    const bool good =
        model_read(&model, request, error) && bins_write(&model, options, out, error) &&
        (options->no_leaks || leak_paths_write(&model, options, out, error)) &&
        direct_write(&model, options, out, error) && call_graph_write(&model, options, out, error);
    model_free(&model);
    return good;
}
