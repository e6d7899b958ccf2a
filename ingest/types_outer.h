/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the frames around a typed allocator say of it, where functions may stand for others
 * (types_folded.h): the allocator's own name is then the least reliable. `allocate<Token>` in
 * `vector<Request>::reserve` is a function that was kept for both, and the vector is right.
 *
 * How: the frames of the standard library are read outward from the allocator to the first of the
 * program's own. Each allocator says what it allocates, each container what its blocks are; the
 * outermost is believed. A container in another one, whose element it is, ends the walk.
 */
#ifndef MPROF_INGEST_TYPES_OUTER_H
#define MPROF_INGEST_TYPES_OUTER_H

#include "ingest/types_site.h"

/* The site of the machine frame that lies `number` (from 1) outside the first; NULL: none. */
typedef const struct types_site *types_outer_open(void *context, size_t number);

struct types_outer {
    char *
        name; /* of the type by the outermost frame, in its one spelling; to be freed; NULL: none */
    struct types_type type; /* the same, where `typed` */
    bool typed;
    bool certain; /* all agree, and no frame can be another's */
    bool sized;   /* the size had a say */
    bool far;     /* frames outside the first machine frame had a say */
};

/* True where a function at the site may stand for others, so that types_outer_read() is to be
 * asked. */
bool types_outer_doubted(const struct types_site *site);

/*
 * `inner` is what the site's innermost allocator names, NULL: there is none. `size` is the block's.
 */
void types_outer_read(const struct types_site *site, types_outer_open *open, void *context,
                      const char *inner, uint64_t size, struct types_outer *outer);

/*
 * True where the code at the site can be that of another function which makes objects of another
 * class: what constructors say there is not certain.
 */
bool types_outer_constructs_doubted(const struct types_site *site, const struct types_type *class);

#endif
