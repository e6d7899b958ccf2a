/* SPDX-License-Identifier: BSD-2-Clause */
/* The labels of a session, such as service=shop, as options give them: one parser for all programs.
 */
#pragma once

#include "cli/command_line.h"
#include "schemas/trace_layout.h"

struct labels {
    const char *text[TRACE_LABELS_MOST]; /* KEY=TEXT, as on the command line */
    size_t count;
};

/* Adds a label. Its key has letters, digits and . _ - / alone, its text at least one byte and no
 * control characters. The keys that mprof itself gives the samples of a profile are refused, and so
 * is a key that came before. Returns -1, or after a message 2, the exit status. */
int labels_take(struct labels *labels, const struct command_line *line, const char *text);

/* Returns the length of a label's key. */
size_t label_key_length(const char *label);
/* Returns true if a text is keys with commas between them, none twice, at most `most`. */
bool label_keys_good(const char *text, size_t most);
