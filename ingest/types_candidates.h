/*
 * Which records of a site's unit have a given size.
 */
#ifndef MPROF_INGEST_TYPES_CANDIDATES_H
#define MPROF_INGEST_TYPES_CANDIDATES_H

#include "ingest/types_site.h"

/*
 * Adds to the `count` names that are there already those of the records and typedefs of records
 * of `size` bytes, each once and at most up to `capacity`. Returns how many there are then.
 */
size_t types_candidates_at(const struct types_site *site, uint64_t size, const char **names,
                           size_t count, size_t capacity);

#endif
