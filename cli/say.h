/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints messages for the user, in the same form from all our programs. */
#ifndef MPROF_CLI_SAY_H
#define MPROF_CLI_SAY_H

/*
 * Prints "PROGRAM: MESSAGE" as one line on standard error. Names in the message may come from
 * outside: the whole message appears in its printable form (schemas/printable.h). Cuts a message
 * that is longer than 4 KiB. Keeps errno.
 */
__attribute__((format(printf, 2, 3))) void say(const char *program, const char *format, ...);

#endif
