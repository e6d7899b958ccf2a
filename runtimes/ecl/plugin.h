/* SPDX-License-Identifier: BSD-2-Clause */
/* The beginning of libmprof_ecl.so (plugin.c). */
#ifndef MPROF_RUNTIMES_ECL_PLUGIN_H
#define MPROF_RUNTIMES_ECL_PLUGIN_H

/* Begins to record ECL, which is in the process. Later calls do nothing. */
void plugin_begin(void);

#endif
