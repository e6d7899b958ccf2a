/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * POSIX extended regular expressions, bounded: an expression that a person types must not take
 * the time or the memory of the machine. Refused beyond POSIX's own rules: more than 512 bytes,
 * more than 10000 atoms once repetitions are written out (1000 where some may be
 * empty: with any of * ? { | in it), back references (which POSIX leaves
 * out of extended expressions).
 */
#ifndef MPROF_SESSION_FILTER_REGEX_H
#define MPROF_SESSION_FILTER_REGEX_H

#include <regex.h>
#include <stdbool.h>

#include "session/session.h"

/* Without subexpressions' places. False with `error` at `column`; else regfree() it. */
bool filter_regex_compile(regex_t *regex, const char *text, int column,
                          struct session_error *error);

#endif
