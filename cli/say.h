/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints messages for the user, in the same form from all our programs. */
#pragma once

/* Prints "PROGRAM: MESSAGE" as one line on standard error. Names in the message may come from
 * outside: the whole message appears in its printable form (schemas/printable.h). Cuts a message
 * that is longer than 4 KiB. Keeps errno. */
__attribute__((format(printf, 2, 3))) void say(const char *program, const char *format, ...);

/* Rights that a program gives up because it does not need them. */

/* Makes the process and what it starts from here on unable to gain rights by executing a program,
 * and takes back the ambient capabilities, which such a program would inherit. The rights of the
 * process itself stay. Failures change nothing and are not errors: old kernels lack the calls. */
void privileges_give_up(void);
