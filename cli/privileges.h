/* SPDX-License-Identifier: BSD-2-Clause */
/* Rights that a program gives up because it does not need them. */
#ifndef MPROF_CLI_PRIVILEGES_H
#define MPROF_CLI_PRIVILEGES_H

/*
 * Makes the process and what it starts from here on unable to gain rights by executing a program,
 * and takes back the ambient capabilities, which such a program would inherit. The rights of the
 * process itself stay. Failures change nothing and are not errors: old kernels lack the calls.
 */
void privileges_give_up(void);

#endif
