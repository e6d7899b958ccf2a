/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * POSIX extended regular expressions with bounds: an expression that a user types must not use up
 * the time or the memory of the machine. Beyond POSIX's own rules these are refused: more than 512
 * bytes; more than 10000 atoms once repetitions are written out (1000 if some may be empty: with
 * any of * ? { | or ()); back references (which POSIX leaves out of extended expressions).
 */
#ifndef MPROF_SESSION_FILTER_REGEX_H
#define MPROF_SESSION_FILTER_REGEX_H

#include <regex.h>
#include <stdbool.h>

#include "session/session.h"

/* Compiles without the positions of subexpressions. Returns false with `error` at `column`.
 * Otherwise the caller regfree()s it. */
bool filter_regex_compile(regex_t *regex, const char *text, int column,
                          struct session_error *error);

#endif
