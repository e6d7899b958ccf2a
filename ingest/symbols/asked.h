/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work of the symbolizer's questions (symbols.h), for which a transcript may have the answers,
 * and the facts that the symbolizer tells the transcript.
 */
#ifndef MPROF_INGEST_SYMBOLS_ASKED_H
#define MPROF_INGEST_SYMBOLS_ASKED_H

#include "ingest/symbols/symbols.h"

/* Do what symbols_lookup() and symbols_status() say, without a transcript. */
size_t symbols_find(struct symbols *symbols, uint32_t id, uint64_t pc,
                    struct symbols_frame *frames);
const char *symbols_find_status(struct symbols *symbols, uint32_t id);

/* Returns true if there is a module for the id or the file's number. */
bool symbols_is_known(const struct symbols *symbols, uint32_t id);

/* Begins the transcript with the options and the machine. */
void symbols_begin_transcript(struct symbols *symbols, const char *debug_dir, const char *sysroot);
void symbols_tell_module(struct symbols *symbols, uint32_t id, const char *path,
                         const uint8_t *build_id, size_t build_id_length);
void symbols_tell_trace(struct symbols *symbols);

#endif
