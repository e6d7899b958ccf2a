/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entry points that close descriptors, see entry_close.c. Not in libmprof.a.
 */
#ifndef MPROF_CAPTURE_ENTRY_CLOSE_H
#define MPROF_CAPTURE_ENTRY_CLOSE_H

/* Looks up the functions behind them: they are called in handlers and in forked children, too. */
void entry_close_resolve(void);

#endif
