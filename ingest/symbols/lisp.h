/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Lisp names of functions that ECL's compiler has made. It calls the function MAKE-NODES
 * L6make_nodes, or LC6make_nodes if it is a method or a closure: a number, and the name with _ for
 * each character that C does not allow. The compiled file has the symbols that it uses as text, and
 * these tell the name.
 */
#ifndef MPROF_INGEST_SYMBOLS_LISP_H
#define MPROF_INGEST_SYMBOLS_LISP_H

#include <stdbool.h>
#include <stddef.h>

#include "ingest/symbols/file.h"

/* Returns true if a name could be one of these. */
bool symbols_lisp_is_candidate(const char *name);

/*
 * Writes the Lisp name of the function `name` of a file. Symbols have their package, but for those
 * of COMMON-LISP and COMMON-LISP-USER. Returns false if the file was not made by ECL, or if none or
 * several of its symbols could be meant.
 */
bool symbols_lisp_name(const struct symbols_file *file, const char *name, char *lisp, size_t size);

#endif
