/* SPDX-License-Identifier: BSD-2-Clause */
/* Suppressions: the leaks that the user does not want to see, in the form of LeakSanitizer's
 * suppression files. A line `leak:PATTERN` names the stacks with a frame whose function, source
 * file or module matches. In a pattern `*` matches anything. `^` at its beginning and `$` at its
 * end are the beginning and the end of the name. Without them it matches anywhere in the name.
 *
 * The pattern that LeakSanitizer would choose for a stack is the first one, in the order of the
 * file, that matches the innermost frame with a match. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct suppressions;

/* Makes a list without patterns. NULL if memory is exhausted. Free it by suppressions_free(). */
struct suppressions *suppressions_new(void);
/* Copies the patterns. `suppressions` NULL has none. NULL if memory is exhausted. */
struct suppressions *suppressions_copy(const struct suppressions *suppressions);
void suppressions_free(struct suppressions *suppressions);

/* Adds a copy of a pattern. False if memory is exhausted. */
bool suppressions_add(struct suppressions *suppressions, const char *pattern);
/* Adds the pattern of a line, which need not end in a zero byte. *is_suppression is false if the
 * line is not a suppression of leaks, not empty and not a comment. False if memory is exhausted. */
bool suppressions_add_line(struct suppressions *suppressions, const char *line, size_t length,
                           bool *is_suppression);
/* Reads a line as getline() does, but at most SUPPRESSIONS_LINE_MOST + 1 bytes of it: a device has
 * lines without end. */
#define SUPPRESSIONS_LINE_MOST (64 << 10)
ssize_t suppressions_read_line(char **line, size_t *room, FILE *file);
/* Cuts blanks, also a carriage return, from both ends of a line of such a file. Returns its
 * beginning, in `line`. */
char *suppressions_trim(char *line, size_t length);

size_t suppressions_count(const struct suppressions *suppressions);
/* Returns a pattern by its place, NULL after the last. The list owns it. */
const char *suppressions_pattern(const struct suppressions *suppressions, size_t i);

/* Returns true if `pattern` matches `text`. An empty text matches nothing. */
bool suppression_matches(const char *pattern, const char *text);
/* Returns the place of the first pattern that matches, suppressions_count() if none does. */
size_t suppressions_first_match(const struct suppressions *suppressions, const char *text);
