/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the type of a block from the frames around a typed allocator. It is needed if functions may
 * stand for others (folded.h), because then the allocator's own name is the least reliable
 * one. If `allocate<Token>` runs in `vector<Request>::reserve`, one function was kept for both, and
 * the vector is right.
 *
 * The rules read the frames of the standard library outward from the allocator to the first frame
 * of the program. Each allocator and each container tells what its blocks hold, and the outermost
 * one wins. The walk ends at a container whose element is a container read before. */
#pragma once

#include "ingest/types/dwarf/site.h"

/* Returns the site of the machine frame `number` (from 1) frames outside the first, or NULL. */
typedef const struct types_site *types_outer_frames_open(void *context, size_t number);

struct types_outer_frames {
    /* The name of the type by the outermost frame, in its one spelling; to be freed, or NULL. */
    char *name;
    struct types_type type; /* the same type, if `typed` */
    bool typed;
    bool certain; /* all agree, and no frame can belong to another function */
    bool sized;   /* the answer depends on the size */
    bool far;     /* it depends on frames outside the first machine frame */
};

/* Returns true if types_outer_frames_read() must be asked: a function may stand for others. */
bool types_outer_frames_doubted(const struct types_site *site);

/* Reads the frames. `inner` is the type that the site's innermost allocator names, NULL if there is
 * none. `size` is that of the block. */
void types_outer_frames_read(const struct types_site *site, types_outer_frames_open *open,
                             void *context, const char *inner, uint64_t size,
                             struct types_outer_frames *outer);

/* Returns true if objects of the type are only storage for those of another one: bytes, or a record
 * of nothing but bytes that a template made, such as std::aligned_storage. */
bool types_outer_frames_is_storage(struct types_index *index, const struct types_type *type);

/* Finds the elements for which such storage was made: those of the class template of the program
 * that called the allocator. `size` is that of the block, `storage` the type that was allocated.
 * Returns the site to which `element` belongs, or NULL. `*far` is true if it is not the first
 * machine frame. */
const struct types_site *types_outer_frames_element(const struct types_site *site,
                                                    types_outer_frames_open *open, void *context,
                                                    const struct types_type *storage, uint64_t size,
                                                    struct types_type *element, bool *far);

/* The block of a stack whose functions only symbols name. All bytes 0: none was read. */
struct types_symbol_block {
    struct types_symbol_walk *walk;
};

/* Reads a function, from the innermost outward. Returns false at the first that is not the standard
 * library's, or if no more need be read. */
bool types_symbol_block_read(struct types_symbol_block *block, const char *function);

/* Ends reading. Returns the name of what the outermost container or allocator makes, which the
 * caller frees, or NULL. */
char *types_symbol_block_end(struct types_symbol_block *block);

/* Returns true if the code at the site may be that of another function, which makes objects of
 * another class. Then constructors there are not certain evidence. */
bool types_outer_frames_constructs_doubted(const struct types_site *site,
                                           const struct types_type *class);
