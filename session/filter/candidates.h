/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stacks and sizes for which ingest stored possible types (type_candidate). Their blocks have
 * an unknown type: a candidate is never an answer.
 */
#ifndef MPROF_SESSION_FILTER_CANDIDATES_H
#define MPROF_SESSION_FILTER_CANDIDATES_H

#include <stdbool.h>
#include <stdint.h>

struct candidates;
struct database;
struct session_error;

/* Reads the table. Returns NULL with `error` set. */
struct candidates *candidates_load(struct database *database, struct session_error *error);
void candidates_free(struct candidates *candidates);
/* Returns true if a block of unknown type with this stack and size has candidates. */
bool candidates_have(const struct candidates *candidates, uint64_t stack, uint64_t size);

#endif
