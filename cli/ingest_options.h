/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of mprof-ingest. */
#ifndef MPROF_CLI_INGEST_OPTIONS_H
#define MPROF_CLI_INGEST_OPTIONS_H

#include "cli/command_line.h"

/* Positions in the table. */
enum ingest_option {
    INGEST_OPTION_OUTPUT,
    INGEST_OPTION_FORCE,
    INGEST_OPTION_QUIET,
    INGEST_OPTION_PROCESS,
    INGEST_OPTION_LIVE,
    INGEST_OPTION_INDEX,
    INGEST_OPTION_BUNDLE,
    INGEST_OPTION_REDACT,
    INGEST_OPTION_SUPPRESSIONS,
    INGEST_OPTION_DEBUG_DIR,
    INGEST_OPTION_SYSROOT,
    INGEST_OPTION_CACHE,
    INGEST_OPTION_DUMP,
    INGEST_OPTION_COMPRESS,
    INGEST_OPTION_REBUILD,
    INGEST_OPTION_HELP,
    INGEST_OPTION_VERSION,
};

extern const struct command_line ingest_command_line;

#endif
