/* SPDX-License-Identifier: BSD-2-Clause */
/* Recognizes C++'s operator new by the demangled name of a function. */
#ifndef MPROF_INGEST_TYPES_FLOW_OPERATOR_NEW_H
#define MPROF_INGEST_TYPES_FLOW_OPERATOR_NEW_H

#include <stdbool.h>

/* Returns true if it is a global operator new. The rules then look at its caller. */
bool types_is_operator_new(const char *function);
/* Returns true if it is an operator new that a class defines for itself. */
bool types_is_class_operator_new(const char *function);
/* Returns true if it is an operator for arrays, global or of a class. */
bool types_is_operator_new_array(const char *function);

#endif
