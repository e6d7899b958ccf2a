/* SPDX-License-Identifier: BSD-2-Clause */
/* All tables of a session as files that other databases load. */
#ifndef MPROF_REPORT_EXPORT_TABLES_H
#define MPROF_REPORT_EXPORT_TABLES_H

#include "report/export/export.h"

/* Writes TABLE.csv or TABLE.ndjson for each table into the folder of --tables, which is made if it
 * does not exist, and the scripts that load them. Returns false with the error set. */
bool export_tables(const struct export *export, bool ndjson);

#endif
