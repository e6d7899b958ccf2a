/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call sites that the type rules examined last, each with the facts read about it. Programs ask
 * for blocks of many sizes at each site.
 */
#ifndef MPROF_INGEST_TYPES_SITES_H
#define MPROF_INGEST_TYPES_SITES_H

#include "ingest/types/dwarf/site.h"
#include "ingest/types/types.h"

struct types_sites;

/* Returns NULL if memory is exhausted. */
struct types_sites *types_sites_new(void);
void types_sites_free(struct types_sites *sites);

/* Returns the site of a frame. NULL: it is not kept. Valid until the next types_sites_add(). */
struct types_site *types_sites_find(struct types_sites *sites, const struct types_frame *frame);

/*
 * Keeps a copy of a new site, with its frames and entries but without facts. NULL if memory is
 * exhausted.
 */
struct types_site *types_sites_add(struct types_sites *sites, const struct types_frame *frame,
                                   const struct types_site *site);

#endif
