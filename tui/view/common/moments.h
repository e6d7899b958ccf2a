/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts about moments, found in the background: what grew, and where most holes are. */
#pragma once

#include "session/holes.h"
#include "session/time.h"
#include "tui/view/common/browse.h"

/* ---- growth ------------------------------------------------------------------------------ */

/* The growth between two moments, for views: rows with names, loaded in the background. The range
 * of the timeline and the diff show them. */

struct growth_data {
    struct {
        uint64_t selections, from, to, by; /* enum session_growth_by */
    } request;
    struct session_growth *rows;
    size_t count;
    struct session_growth total;
};

/* Returns the selection's growth, NULL while unknown. Valid until the next call with this load. */
const struct growth_data *growth_get(struct browse *browse, struct load *load, uint64_t from_ns,
                                     uint64_t to_ns, enum session_growth_by by);

/* Sorts the rows by what is live at the second moment, the largest first. */
void growth_sort_live(const struct growth_data *growth);

/* Returns what is live at a moment by type or, where hardly any type is known, by size: `*by`
 * tells. NULL while unknown. */
const struct growth_data *live_by_type_get(struct browse *browse, struct load loads[2], uint64_t ns,
                                           enum session_growth_by *by);

/* Returns the name of a row's id: a type, a function or sizes. */
const char *growth_name(const struct session *session, enum session_growth_by by, uint32_t id);

/* Writes "+2.34 MiB" or "−312 KiB", at most FORMAT_SIZE bytes. Returns `out`. */
char *growth_text(char *out, int64_t net);

/* Splits "2s 5s", "2s..5s" or "load, bgsave" into two times, of at most `size` bytes each. Returns
 * false if there are not two. */
bool split_times(const char *text, char *from, char *to, size_t size);

/* ---- the worst holes --------------------------------------------------------------------- */

/* The moment at which memory is most fragmented, found in the background. The overview names it and
 * the list of holes opens at it, so both tell the same numbers.
 *
 * WORST_HOLES_STEPS moments at equal distances are looked at, and the peak of the session. Moments
 * with more bytes in holes than in blocks go before others; among these the one with the most bytes
 * in holes is the worst. Holes belong to no filter. */

#define WORST_HOLES_STEPS 12

/* Looks on for the moment. Returns false while it is not known. Sets `*use` to the use of all
 * memory at `*ns`, or to NULL if there is no hole at any of the moments, or none can be known: the
 * blocks that a sample lacks would look like holes. */
bool worst_holes_get(struct browse *browse, uint64_t *ns, const struct session_use **use);
/* Returns true if more bytes lie in holes than in blocks. */
bool worst_holes_prevail(const struct session_use *use);
/* Gives up the question that is being answered. The next call asks it again. */
void worst_holes_leave(struct browse *browse);
