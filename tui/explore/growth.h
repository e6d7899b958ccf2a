/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The growth between two moments, for views: rows with names, loaded in the background. The range
 * of the timeline and the diff show them.
 */
#ifndef MPROF_TUI_EXPLORE_GROWTH_H
#define MPROF_TUI_EXPLORE_GROWTH_H

#include "session/growth.h"
#include "tui/explore/explore.h"

struct growth_data {
    struct {
        uint64_t selections, from, to, by; /* enum session_growth_by */
    } request;
    struct session_growth *rows;
    size_t count;
    struct session_growth total;
};

/* Returns the growth of the selection, NULL while it is not known. Valid until the next call with
 * this load. */
const struct growth_data *growth_get(struct exploration *exploration, struct load *load,
                                     uint64_t from_ns, uint64_t to_ns, enum session_growth_by by);

/* Returns the name of a row's id: a type, or a function. */
const char *growth_name(const struct session *session, enum session_growth_by by, uint32_t id);

/* Writes "+2.34 MiB" or "−312 KiB", at most FORMAT_SIZE bytes. Returns `out`. */
char *growth_text(char *out, int64_t net);

/* Splits "2s 5s", "2s..5s" or "load, bgsave" into two times, of at most `size` bytes each. Returns
 * false if there are not two. */
bool split_times(const char *text, char *from, char *to, size_t size);

#endif
