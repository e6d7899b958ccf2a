/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the signal of --toggle as users name it. */
#ifndef MPROF_CAPTURE_RUN_SIGNAL_H
#define MPROF_CAPTURE_RUN_SIGNAL_H

/*
 * Returns the number of a signal: SIGUSR1, USR1, SIGRTMIN+3 or 10. Returns 0 if there is none of
 * that name, or a program cannot be sent it at any time (SIGKILL, SIGSTOP, SIGCHLD, faults).
 */
int run_signal_number(const char *text);

#endif
