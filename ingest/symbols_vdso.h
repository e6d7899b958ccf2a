/* SPDX-License-Identifier: BSD-2-Clause */
/* The code that the kernel maps into each process: it is in no file. */
#ifndef MPROF_INGEST_SYMBOLS_VDSO_H
#define MPROF_INGEST_SYMBOLS_VDSO_H

/*
 * A descriptor of a file in memory that holds this process's own vdso, an ELF library; the caller
 * closes it. -1 where there is none.
 */
int symbols_vdso_copy(void);

#endif
