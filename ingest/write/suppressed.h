/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads how much each suppression removed from the leaks of a session: its view v_suppression. */
#ifndef MPROF_INGEST_WRITE_SUPPRESSED_H
#define MPROF_INGEST_WRITE_SUPPRESSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/base/status.h"

struct suppressed {
    char *pattern;
    uint64_t live_count, live_bytes; /* at the end, of all processes */
};

struct suppressed_list {
    struct suppressed *rows; /* most bytes first */
    size_t count;
};

/* Reads the list. False with `status` set; the list is then empty. */
bool suppressed_list_read(struct suppressed_list *list, const char *session,
                          struct ingest_status *status);
void suppressed_list_free(struct suppressed_list *list);

#endif
