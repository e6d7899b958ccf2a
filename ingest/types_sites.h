/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call sites that the type rules looked at last, each with what was read about it: programs ask
 * for blocks of many sizes at each.
 */
#ifndef MPROF_INGEST_TYPES_SITES_H
#define MPROF_INGEST_TYPES_SITES_H

#include "ingest/types.h"
#include "ingest/types_site.h"

struct types_sites;

/* NULL where memory is exhausted. */
struct types_sites *types_sites_new(void);
void types_sites_free(struct types_sites *sites);

/* The site of a frame, NULL: it is not kept. It holds until the next call of types_sites_add(). */
struct types_site *types_sites_find(struct types_sites *sites, const struct types_frame *frame);

/*
 * Keeps a copy of a site, with its frames and entries, that is not there, without facts yet. NULL
 * where memory is exhausted.
 */
struct types_site *types_sites_add(struct types_sites *sites, const struct types_frame *frame,
                                   const struct types_site *site);

#endif
