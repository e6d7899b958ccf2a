/* SPDX-License-Identifier: BSD-2-Clause */
/* The four tables, each in its file. */
#ifndef MPROF_REPORT_NINETEEN88_TABLES_H
#define MPROF_REPORT_NINETEEN88_TABLES_H

#include "report/nineteen88/model.h"
#include "report/nineteen88/nineteen88.h"

/* Each writes its table and returns false with `error` set. */
bool bins_write(const struct model *model, const struct tables_options *options, FILE *out,
                struct session_error *error);
bool leak_paths_write(struct model *model, const struct tables_options *options, FILE *out,
                      struct session_error *error);
bool direct_write(const struct model *model, const struct tables_options *options, FILE *out,
                  struct session_error *error);
bool call_graph_write(const struct model *model, const struct tables_options *options, FILE *out,
                      struct session_error *error);

#endif
