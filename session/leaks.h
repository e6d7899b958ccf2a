/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks that were never freed, grouped by their common path: the functions of the stack from the
 * call site outwards. A function that a recursion enters again counts once, at its innermost place,
 * so all depths of a recursion are one group. Blocks of one path but of two types are two groups;
 * types are equal if their names are. If the session has references between blocks, so are those
 * that nothing reaches and those that something does. Leaks that the program allocated at its start
 * are a group apart: those whose whole stack and type no later block has. The graph `leaks_by_user`
 * takes the other leaks.
 *
 * The session is open while these functions run, and one thread at a time uses it (session.h). */
#pragma once

#include "session/session.h"

struct suppressions; /* schemas/code/suppressions.h */

/* Why a group of blocks is alive at the end. The kinds up to SESSION_LEAKS_LAST are leaks: they are
 * the set `leaked` of the filter language. */
enum session_leak_kind {
    /* While the program is still being recorded, or if the recording stopped before the program,
     * all groups are of this kind, except for those of the runtime and the suppressed ones: nothing
     * is known of leaks then. */
    SESSION_LEAK_LATER,
    SESSION_LEAK_START_UP, /* the last of their stack and type came in the first tenth of the run */
    SESSION_LEAK_SUPPRESSED_HERE, /* a suppression of the caller names them */
    SESSION_LEAKS_LAST = SESSION_LEAK_SUPPRESSED_HERE,
    SESSION_LEAK_RUNTIME,    /* the language's runtime keeps them on purpose, or its collector */
    SESSION_LEAK_SUPPRESSED, /* a suppression of the session names them */
    SESSION_LEAK_KINDS,
};

/* Which references led to the blocks of a leak when the last snapshot was taken (retained.h). */
enum session_leak_reach {
    SESSION_LEAK_UNREACHABLE,
    SESSION_LEAK_POSSIBLY,      /* only references in doubt */
    SESSION_LEAK_REACH_UNKNOWN, /* nobody knows: there is no snapshot, or it has not these blocks */
    SESSION_LEAK_REACHABLE,
    SESSION_LEAK_REACHES,
};

#define SESSION_LEAK_TENTHS 10

struct session_leak {
    enum session_leak_kind kind;
    enum session_leak_reach reach; /* of LATER and START_UP */
    /* RUNTIME: its kind, as "stdio", or "garbage collector"; SUPPRESSED and SUPPRESSED_HERE: the
     * pattern. */
    const char *why;
    uint32_t type;  /* the smallest id of that name, 0: unknown */
    bool exact;     /* the type of all blocks is exact, otherwise that of some is inferred */
    uint32_t stack; /* that of most bytes */
    size_t first_stack, stack_count; /* in the list of stacks */
    uint64_t blocks, bytes;          /* estimates if the session is sampled */
    uint64_t least_size, most_size, first_ns, last_ns;
    uint64_t born[SESSION_LEAK_TENTHS]; /* blocks by the tenth of the run that allocated them */
    unsigned tenths;                    /* of the run in which some were allocated: 1 to 10 */
};

/* One stack of a group, with the blocks of the group's type. */
struct session_leak_stack {
    uint32_t stack;
    uint64_t blocks, bytes;
};

struct session_leak_sums {
    uint64_t groups, blocks, bytes;
};

struct session_leaks {
    /* LATER and START_UP by reach, then all by kind, then the most bytes first. */
    struct session_leak *leaks;
    size_t count;
    struct session_leak_stack *stacks; /* of a group: the most bytes first */
    size_t stack_count;
    uint64_t from_ns, to_ns; /* the run that the tenths divide */
    struct session_leak_sums of_kind[SESSION_LEAK_KINDS], leaked; /* leaked: of all leaks */
    struct session_leak_sums of_reach[SESSION_LEAK_REACHES];      /* of LATER and START_UP */
    bool has_reach; /* there is a snapshot of references */
    char *texts;    /* that `why` points to */
};

/* Groups the never freed blocks of the selection. `suppressions` names leaks that the caller knows
 * of, beside the stacks that ingest has suppressed, or NULL. It must outlive the result. Returns
 * false with `error` set; otherwise the caller calls session_leaks_free(). */
bool selection_leaks(struct selection *selection, const struct suppressions *suppressions,
                     struct session_leaks *leaks, struct session_error *error);
void session_leaks_free(struct session_leaks *leaks);

/* Returns the word of the filter language's field `reachability`. */
const char *session_leak_reach_word(enum session_leak_reach reach);

/* Writes the pattern of a suppression that names a function, or else the file of its module. False
 * if it has no name. */
bool session_leak_frame_pattern(const struct session *session, uint32_t function, char *pattern,
                                size_t size);
