/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the types of names and simple expressions in source text, at a site of a program. */
#pragma once

#include "ingest/types/dwarf/site.h"

/*
 * Finds the type that `text` (`length` bytes) names: "struct point", "unsigned long",
 * "ns::Box<int>". Among types with that last name, those of the site's unit come first. Returns
 * false if there is none, or if several of different sizes could be meant.
 */
bool types_expression_name(const struct types_site *site, const char *text, size_t length,
                           struct types_type *type);

/* Finds the type of "*p", "p[0]", "*table->items", "object.member", where `p` is a variable of the
 * site. */
bool types_expression_value(const struct types_site *site, const char *text, size_t length,
                            struct types_type *type);
