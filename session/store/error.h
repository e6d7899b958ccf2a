/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills struct session_error: one line that says what, where and what to do. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "session/session.h"

/* Formats the message, keeps `column` (0: none) and returns false. `error` may be NULL. */
bool session_fail(struct session_error *error, int column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Does the same for exhausted memory. `what` names the data that needed it. */
bool session_fail_memory(struct session_error *error, const char *what);

/* clang's analyzer sees one file at a time: here it learns that these return false. */
#ifdef __clang_analyzer__
#define session_fail(...) (session_fail(__VA_ARGS__), false)
#define session_fail_memory(error, what) (session_fail_memory(error, what), false)
#endif

/* The same for functions that return a pointer. */
#define session_fail_null(...) (session_fail(__VA_ARGS__), NULL)
#define session_fail_memory_null(error, what) (session_fail_memory(error, what), NULL)
