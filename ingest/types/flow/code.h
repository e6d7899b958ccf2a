/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine code of a module's file.
 */
#ifndef MPROF_INGEST_TYPES_FLOW_CODE_H
#define MPROF_INGEST_TYPES_FLOW_CODE_H

#include "ingest/symbols/file.h"

/*
 * Returns the bytes from `address` to the end of the section of code that holds it. NULL: none
 * does.
 */
const uint8_t *types_code(const struct symbols_file *file, uint64_t address, size_t *size);

#endif
