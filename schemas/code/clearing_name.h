/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells by its name if a function clears: schemas/filter-language.md, "Outlived". */
#pragma once

#include <stdbool.h>

/*
 * Returns true if a function's own name has one of the words clear, empty and reset: the name
 * without parameters, classes and template arguments. A word is a part as in clear_all, ClearAll,
 * doClear or CLEAR, and neither of "cleared" nor of "unclear".
 */
bool function_name_clears(const char *name);
