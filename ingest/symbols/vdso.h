/* SPDX-License-Identifier: BSD-2-Clause */
/* The vdso: code that the kernel maps into each process and that lies in no file. */
#ifndef MPROF_INGEST_SYMBOLS_VDSO_H
#define MPROF_INGEST_SYMBOLS_VDSO_H

/*
 * Returns a descriptor of a file in memory that holds this process's own vdso, an ELF library. The
 * caller closes it. Returns -1 if there is no vdso.
 */
int symbols_vdso_copy(void);

#endif
