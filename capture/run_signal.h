/* SPDX-License-Identifier: BSD-2-Clause */
/* The signal of --toggle, as users name it. */
#ifndef MPROF_CAPTURE_RUN_SIGNAL_H
#define MPROF_CAPTURE_RUN_SIGNAL_H

/*
 * The number of a signal: SIGUSR1, USR1, SIGRTMIN+3 or 10. 0: there is none of that name, or none
 * that a program can be sent at any time (SIGKILL, SIGSTOP, SIGCHLD, those of faults).
 */
int run_signal_number(const char *text);

#endif
