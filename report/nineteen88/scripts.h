/* SPDX-License-Identifier: BSD-2-Clause */
/* Chains in the words of the script that an interpreter runs. */
#ifndef MPROF_REPORT_NINETEEN88_SCRIPTS_H
#define MPROF_REPORT_NINETEEN88_SCRIPTS_H

#include "report/nineteen88/model.h"

/*
 * Leaves the native functions of interpreters and libraries out of each chain that has functions of
 * a runtime. These and the user's own native code stay. Call it before starts_cut(). Returns false
 * with `error` set.
 */
bool scripts_cut(struct model *model, struct session_error *error);

#endif
