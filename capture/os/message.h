/* SPDX-License-Identifier: BSD-2-Clause */
/* The recorder's rare lines to the user of the program.
 *
 * A program may close standard error and get its number again for a file of its own. So a line is
 * written only while descriptor 2 is still the file that it was when recording began. */
#pragma once

/* Remembers which file standard error is. */
void message_init(void);

/* Writes "mprof: ", the strings up to a NULL, and a newline, in one write. At most 1000 bytes. */
void message_line(const char *first, ...) __attribute__((sentinel));

/* Puts the following lines into `buffer`, without "mprof: " and newline, instead of writing them;
 * the last one stays. `buffer` NULL: writes them again. For a line that somebody else prints. */
void message_divert(char *buffer, unsigned size);
