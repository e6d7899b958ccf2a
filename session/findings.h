/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings that the shipped graphs make (docs/graphs.md): each graph looks for one fault, and each
 * of its largest groups, by the user's function and type, is a finding. They are ranked by their
 * bytes times how certain the fault is, the user's own code first. Bytes that only pass through
 * count less than those that are held.
 *
 * The rules of session.h hold: ranked_find() blocks. */
#pragma once

#include "session/session.h"

#define RANKED_KINDS 8
#define RANKED_UNREACHABLE                                                                         \
    0 /* the kind of what no reference reaches: found only if references were taken */
#define RANKED_LEAKS                                                                               \
    1 /* the kind of what leaked after the start: found only if the program has ended, and not if  \
         references without gaps, taken then, tell better */
#define RANKED_HOLES                                                                               \
    RANKED_KINDS         /* the kind of a finding that no graph makes: the holes between blocks */
#define RANKED_OF_KIND 3 /* groups of one graph */
#define RANKED_NAME 1000 /* bytes of a name with its end */
#define RANKED_MOST (RANKED_KINDS * RANKED_OF_KIND + 1)

struct ranked_finding {
    size_t kind;
    uint64_t bytes, count; /* what the kind measures, and the blocks */
    uint64_t first_ns, last_ns;
    char user[RANKED_NAME], type[RANKED_NAME]; /* "": none */
    char made_by[32]; /* the kind of the blocks, if it tells how certain the finding is; or "" */
};

/* Returns what a finding says, as a word or two: "later leaks", "kept capacity". It ends with `?`
 * if the graph infers it from sizes and times. */
const char *ranked_word(const struct ranked_finding *finding);
/* Returns the name of the graph of a kind, NULL for holes. */
const char *ranked_graph(size_t kind);
/* Runs the graph of a kind on what `filter` selects ("": everything). Stores at most RANKED_OF_KIND
 * findings. Blocks. Returns false with `error` set. */
bool ranked_find(struct session *session, size_t kind, const char *filter,
                 struct ranked_finding *findings, size_t *count, struct session_error *error);
/* Orders findings, and leaves out those of less than a thousandth of `peak_bytes` and those whose
 * function and type another kind has told already. Returns the number left. */
size_t ranked_order(struct ranked_finding *findings, size_t count, uint64_t peak_bytes);
/* Returns 2 for a finding that matters most, 1, or 0. */
int ranked_severity(const struct ranked_finding *finding, uint64_t peak_bytes);

/* Returns true if the filter of a finding also names the kind of its blocks, made_by. */
bool ranked_has_kind(const struct ranked_finding *finding);
/* Writes the graph of a kind, limited to what `filter` selects (as in ranked_find()), with more
 * steps. Returns false if it does not fit. */
bool ranked_text(size_t kind, const char *filter, const char *more, char *out, size_t size);
