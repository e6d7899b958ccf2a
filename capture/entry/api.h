/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control from inside the program: the functions of mprof.h, and the way that programs find them.
 */
#ifndef MPROF_CAPTURE_ENTRY_API_H
#define MPROF_CAPTURE_ENTRY_API_H

/* Sets the pointer of every loaded program and library that includes mprof.h. Called by the
 * constructor, when everything that the program starts with is loaded. */
void api_bind(void);

#endif
