/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder's rare lines to the user of the program.
 *
 * A program may close standard error and get the number again for a file of its own, so a line
 * is only written while descriptor 2 is still what it was when recording began.
 */
#ifndef MPROF_CAPTURE_MESSAGE_H
#define MPROF_CAPTURE_MESSAGE_H

/* Remembers what standard error is. */
void message_init(void);

/* "mprof: ", the strings up to a NULL, and a newline, in one write; cut at 1000 bytes. */
void message_line(const char *first, ...) __attribute__((sentinel));

#endif
