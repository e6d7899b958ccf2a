/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work of the type rules' questions (types.h), for which a transcript may have the answers.
 * Each function does what the question in its comment says, without a transcript.
 */
#ifndef MPROF_INGEST_TYPES_ASKED_H
#define MPROF_INGEST_TYPES_ASKED_H

#include "ingest/types/types.h"

/* types_infer() */
void types_find(struct types *types, const struct types_frame *frames, size_t count, uint64_t size,
                uint8_t kind, struct types_answer *answer);
/* types_candidates() */
size_t types_find_candidates(struct types *types, const struct types_frame *frames, size_t count,
                             uint64_t size, const char **names, size_t capacity);
/* types_declare() */
void types_find_declared(struct types *types, uint32_t module, const char *name, uint64_t size);
/* types_members() */
bool types_find_members(struct types *types, const char *name, uint64_t size,
                        types_member_function *each, void *context);
/* types_owner_of() */
void types_find_owner(struct types *types, const struct types_frame *frames, size_t count,
                      size_t user, size_t level, struct types_owner *owner);
/* types_frame_call_form() */
unsigned types_find_form(struct types *types, const struct types_frame *frame,
                         unsigned (*form_of)(const char *linkage));
/* types_call_linkage() */
const char *types_find_linkage(struct types *types, const struct types_frame *frame);

struct symbols *types_symbols(const struct types *types);

/* Says that the rules repeat their questions, if the symbolizer has a transcript. */
void types_begin_transcript(struct types *types);

#endif
