/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes of each type that none of its members covers. */
#ifndef MPROF_SESSION_DATA_TYPE_PADDING_H
#define MPROF_SESSION_DATA_TYPE_PADDING_H

#include <stdint.h>

#include "session/session.h"

/* Reads the padding of one object of each type, by type id, from the tables `type` and
 * `type_member`. 0 for a type whose size or members are not known. The caller frees it. NULL with
 * `error` set. */
uint64_t *type_padding_read(struct session *session, struct session_error *error);

#endif
