/* SPDX-License-Identifier: BSD-2-Clause */
/* The resident set of a process, explained. At some moments mprof-run has read which pages are in
 * memory. Ingest has put each of their bytes into one class (docs/session-schema.md, residency):
 * the classes in RSS add up to the pages that were counted. Others lie beside it: live blocks that
 * were never touched, swapped pages.
 *
 * The rules of session.h hold: these functions block, and one thread at a time uses a session. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

/* ---- moments ---------------------------------------------------------------------------- */

enum session_residency_class {
    RESIDENCY_LIVE_RESIDENT,
    RESIDENCY_HEADERS,
    RESIDENCY_HOLES,      /* free memory on pages that live blocks pin */
    RESIDENCY_FREE_PAGES, /* whole pages */
    RESIDENCY_STACKS,
    RESIDENCY_FILES,
    RESIDENCY_ARENAS,
    RESIDENCY_OTHER_ANONYMOUS,
    RESIDENCY_RECORDER,
    RESIDENCY_INHERITED,
    RESIDENCY_UNATTRIBUTED,
    RESIDENCY_IN_RSS, /* the number of those before; the others lie beside RSS */
    RESIDENCY_LIVE_UNTOUCHED = RESIDENCY_IN_RSS,
    RESIDENCY_LIVE_SWAPPED,
    RESIDENCY_ZERO_PAGE,
    RESIDENCY_HUGETLB,
    RESIDENCY_CLASSES
};
/* Return the name in the session ("holes_resident"), and the words for people. */
const char *session_residency_class_name(enum session_residency_class class);
const char *session_residency_class_title(enum session_residency_class class);

/* One reading of the pages of a process. Texts live as long as the session. */
struct session_residency {
    uint32_t id, process;
    uint64_t ns, end_ns;   /* the moment whose live blocks it counts; when the reading ended */
    const char *reason;    /* "start", "mark", "maximum", … */
    const char *mark;      /* its name, or "" */
    const char *allocator; /* "glibc", …, or "": not known */
    uint64_t rss_before, rss_after; /* by the kernel's counter */
    uint64_t present;               /* the pages that were counted: the sum of the classes in RSS */
    uint64_t swapped;
    bool zero_known;    /* false: zero and huge pages could not be told apart; classes are bounds */
    uint64_t coarse;    /* bytes between joined runs of pages: they may be in no memory */
    uint64_t live_huge; /* of live_resident, in huge pages: nobody knows which were touched */
    bool has_pss, has_lazy_free, has_cgroup, has_limit;
    uint64_t pss, lazy_free;
    uint64_t cgroup_bytes, cgroup_limit; /* of the cgroup's memory */
    uint64_t bytes[RESIDENCY_CLASSES];
};

/* Stores the readings of the selected process in the order of time, or those of all, process by
 * process. They belong to the session. A session may have none: session_residency_why() then says
 * why. Returns false with `error` set. */
bool session_residencies(struct session *session, const struct session_residency **moments,
                         size_t *count, struct session_error *error);
/* Stores whether the bytes of blocks in memory are known. Returns false with `error` set. */
bool session_reads_residency(struct session *session, bool *known, struct session_error *error);
/* Returns one line that says why the selected process has no reading, and how to get some. */
const char *session_residency_why(struct session *session);
/* Return the place of the reading nearest to a time (of two equally near ones the later), and of
 * the one with most pages in memory. There must be one. */
size_t session_residency_nearest(const struct session_residency *moments, size_t count,
                                 uint64_t ns);
size_t session_residency_largest(const struct session_residency *moments, size_t count);

/* Returns the class with a name, RESIDENCY_CLASSES: there is none. */
enum session_residency_class session_residency_find_class(const char *name);
/* Writes one line that says what may bring the resident set down, with the name of the allocator
 * and of its switch: where free pages, holes or huge pages are a tenth of it. "" if nothing stands
 * out. Returns `out`. */
#define SESSION_RESIDENCY_ADVICE 96
const char *session_residency_advice(const struct session *session,
                                     const struct session_residency *moment,
                                     char out[SESSION_RESIDENCY_ADVICE]);

/* ---- one moment ------------------------------------------------------------------------- */

/* A part of a class: a thread's stack, a file. */
struct session_residency_part {
    enum session_residency_class class;
    char *detail; /* "" if the class has no parts */
    uint64_t bytes, blocks;
};
/* Stores the parts of a reading, by class and then the largest first. Returns false with `error`
 * set. The caller calls session_residency_parts_free(). */
bool session_residency_parts(struct session *session, const struct session_residency *moment,
                             struct session_residency_part **parts, size_t *count,
                             struct session_error *error);
void session_residency_parts_free(struct session_residency_part *parts, size_t count);

/* The subject of groups, and so the meaning of their `id`. */
enum session_residency_by {
    SESSION_RESIDENCY_TYPE, /* the first type of those with the same name; 0: unknown */
    /* The function of the call site, and that of the user's own code; 0: none. The first one of
     * those with the same name that occur. */
    SESSION_RESIDENCY_SITE,
    SESSION_RESIDENCY_USER,
};
struct session_residency_group {
    uint32_t id;
    uint64_t live_bytes, live_count;
    uint64_t resident, untouched, swapped; /* of the live bytes */
    uint64_t headers;
    uint64_t pinned; /* resident holes on pages that its blocks pin */
    uint64_t pinned_pages;
    uint64_t last_owned; /* resident holes and free pages where its blocks lived last */
};
/* Stores the groups of a reading, those with most live bytes first, equal ones by id. The caller
 * frees them. `total` is their sum, its id 0. Returns false with `error` set. */
bool session_residency_groups(struct session *session, const struct session_residency *moment,
                              enum session_residency_by by, struct session_residency_group **rows,
                              size_t *count, struct session_residency_group *total,
                              struct session_error *error);

/* Pages of one state. */
enum session_page_state {
    SESSION_PAGE_PRESENT,
    SESSION_PAGE_HUGE, /* present, transparent */
    SESSION_PAGE_ZERO,
    SESSION_PAGE_SWAPPED,
    SESSION_PAGE_HUGETLB,
};
struct session_page_run {
    uint64_t start, end; /* addresses */
    enum session_page_state state;
};
/* Stores the pages of a reading by address; no other page was in memory. The caller frees them.
 * Returns false with `error` set. */
bool session_residency_pages(struct session *session, const struct session_residency *moment,
                             struct session_page_run **runs, size_t *count,
                             struct session_error *error);
/* Returns the bytes of [start, end) that were in memory, as RSS counts them. */
uint64_t session_pages_resident(const struct session_page_run *runs, size_t count, uint64_t start,
                                uint64_t end);
