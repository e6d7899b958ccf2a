/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds oddities and faults of a session, as lines for the overview. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/findings.h"
#include "session/session.h"
#include "tui/view/common/browse.h"

/* ---- facts ------------------------------------------------------------------------------ */

#define FINDINGS_MOST 8

enum finding_gravity {
    FINDING_GOOD, /* looked for, and not found */
    FINDING_NOTE, /* it changes no number much */
    FINDING_ODD,
    FINDING_BAD, /* the session does not show the whole truth */
};

struct finding {
    enum finding_gravity gravity;
    char text[256];
    char filter[64]; /* step that selects the blocks that it counts, "" for none */
    bool leaked;     /* it counts only those of the set `leaked` */
    const char *sql; /* gives the rows that it counts, if it counts other things than blocks */
    uint64_t kept;   /* only so many of these, the first ones, are in the session; 0: all */
    enum view_number view; /* the view that shows it best, */
    uint64_t ns;           /* at this moment; 0: at any */
};

/* Writes up to `capacity` findings about the selection, the gravest first. Returns their number, at
 * least one unless the user has `filtered` them. `rows` are the selection's functions;
 * `unread` tells why they could not be read, NULL: they are all there. */
size_t findings_collect(struct session *session, struct selection *selection, bool filtered,
                        const struct session_function_row *rows, size_t row_count,
                        const struct session_error *unread, struct finding *findings,
                        size_t capacity);

/* ---- ranked (session/findings.h) ------------------------------------------------------- */

/* Makes a finding of the holes at a moment, its first_ns. Returns false if they are no more than
 * what is in use. */
bool ranked_holes(const struct session_use *use, uint64_t ns, struct ranked_finding *finding);
/* Writes the filter that selects what a finding counts; `filter` is that of ranked_find(). Returns
 * false if it does not fit, or for holes, which have no blocks. */
bool ranked_filter(const struct ranked_finding *finding, const char *filter, char *out,
                   size_t size);

/* ---- packages --------------------------------------------------------------------------- */

/* Names the package that has the debug information of a library, on Debian and what is made of it.
 */
#define DEBUG_PACKAGE_FOLDER "/var/lib/dpkg/info" /* the files of each installed package */
#define DEBUG_PACKAGE_SIZE 120

/* Writes the name of the package to `out`. Names follow Debian's rule: libfoo.so.2 lies in libfoo2,
 * and its debug information in libfoo2-dbgsym. A package counts only if it is installed and the
 * lists of files in `folder` say that it has the library. Returns false if there is none. */
bool debug_package(const char *module, const char *folder, char out[DEBUG_PACKAGE_SIZE]);
