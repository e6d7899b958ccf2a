/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entry points that close descriptors, see close.c. They are not in libmprof.a.
 */
#ifndef MPROF_CAPTURE_ENTRY_CLOSE_H
#define MPROF_CAPTURE_ENTRY_CLOSE_H

/* Looks up the real functions, since these entry points also run in signal handlers and forked
 * children. */
void entry_close_resolve(void);

#endif
