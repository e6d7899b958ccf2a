/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads heaptrack's files, version 3: the raw data of its library, and what heaptrack_interpret
 * makes of them. All numbers are hexadecimal. A line is a letter and its fields:
 *
 *     v  version of heaptrack, version of the file    X  command line
 *     x  executable (raw)                             I  page size, pages of the machine
 *     m  module: path, load address, ranges (raw); "-": the list begins again; "x": the executable
 *     s  string (interpreted)
 *     i  address, module, then function, file, line for each frame, innermost first (interpreted)
 *     t  address (interpreted: number of an i), parent: a stack, numbered from 1
 *     a  size, stack: numbered from 0 (interpreted)
 *     +  size, stack, pointer (raw); number of an a (interpreted)
 *     -  pointer (raw); number of an a (interpreted)
 *     c  milliseconds since the start    R  resident pages    A  attached    S  suppression
 *
 * Strings have their length before them. Addresses of stacks are return addresses minus 1.
 */
#ifndef MPROF_INGEST_IMPORT_HEAPTRACK_H
#define MPROF_INGEST_IMPORT_HEAPTRACK_H

#include "ingest/import/import.h"
#include "ingest/import/lines.h"

/* Returns true if a text begins like a file of heaptrack. */
bool heaptrack_is(const char *text, size_t length);

/* Reads the file; import_file() says the rest. */
bool heaptrack_read(struct lines *lines, const char *session,
                    const volatile sig_atomic_t *interrupted, struct imported *imported,
                    struct ingest_status *status);

#endif
