/* SPDX-License-Identifier: BSD-2-Clause */
/* The types of a selection. Types of one name are one row, as in a `join type`. The blocks of a row
 * may be known with different confidence: `exact_bytes` tells how many bytes have an exact type.
 *
 * The rules of session.h hold. Sums are estimates if the session is sampled. */
#pragma once

#include "session/session.h"

#define SESSION_TYPE_UNKNOWN 0 /* the type of blocks that no rule names */
#define SESSION_PEAK_UNKNOWN UINT64_MAX

struct session_type_sums {
    uint32_t type; /* the smallest id of that name; 0: unknown */
    uint64_t allocations, bytes, exact_bytes;
    uint64_t live_count, live_bytes;       /* at the end */
    uint64_t at_peak_count, at_peak_bytes; /* at the program's peak */
    uint64_t peak_bytes;                   /* its own largest; SESSION_PEAK_UNKNOWN: not asked */
};

/* Stores a row for each type that occurs: the caller frees them. The most bytes come first. For all
 * allocations of a session the rows come from the sums of ingest, with peak_bytes where these have
 * it; otherwise from one pass, without. Returns false with `error` set. */
bool selection_types(struct selection *selection, struct session_type_sums **rows, size_t *count,
                     struct session_error *error);

/* The parts of the run in whose middle the live bytes are taken. */
#define SESSION_TYPE_POINTS 10

/* The facts that take passes over the rows. */
struct session_type_course {
    uint32_t type;
    uint64_t objects;                   /* `count` of the blocks */
    uint64_t wasted;                    /* bytes of these objects that no member covers */
    uint64_t live[SESSION_TYPE_POINTS]; /* bytes */
    uint64_t at_from, at_to;            /* bytes live at the asked times */
    uint64_t resident;                  /* of those live at `resident_ns`, bytes in memory */
    uint64_t peak_bytes;
};

/* Stores the rows of types that have objects, by type: the caller frees them. `peaks`: find
 * peak_bytes, by some more passes; otherwise it is SESSION_PEAK_UNKNOWN. False with `error` set. */
bool selection_type_courses(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                            uint64_t resident_ns, bool peaks, struct session_type_course **rows,
                            size_t *count, struct session_error *error);

/* Returns "exact", "inferred" or "unknown". */
const char *session_type_confidence(const struct session *session, uint32_t type);

/* Blocks of one size that have no known type and that one function allocates, with the names that
 * would fit. None of the names may be right. */
struct session_type_candidates {
    uint32_t function; /* of the call site; 0: none known */
    uint64_t size;
    char *stacks; /* a test of the filter language for their stacks: "stack in (2..4, 7)" */
    uint64_t allocations, bytes, live_bytes, at_peak_bytes;
    char names[240]; /* in order of their position, ", " between them, "…" at the end if cut */
    size_t name_count;
};
/* Stores them, most bytes first, for selection_candidates_free(). False with `error` set. */
bool selection_candidates(struct selection *selection, struct session_type_candidates **rows,
                          size_t *count, struct session_error *error);
/* Frees them; NULL is allowed. */
void selection_candidates_free(struct session_type_candidates *rows, size_t count);

/* Returns the bytes of an object of `size` that no member covers, 0 if there are no members. If
 * `gaps` is not NULL, stores the bytes before each member that nothing covers. */
uint64_t session_members_padding(const struct session_member *members, size_t count, uint64_t size,
                                 uint64_t *gaps);
