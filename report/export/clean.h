/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names from outside for formats that cannot hold any byte: valid UTF-8 without control characters.
 * Each byte that is neither becomes U+FFFD.
 */
#ifndef MPROF_REPORT_EXPORT_CLEAN_H
#define MPROF_REPORT_EXPORT_CLEAN_H

#include <stdbool.h>

struct clean;

/* Returns NULL if memory is exhausted. */
struct clean *clean_new(void);
void clean_free(struct clean *clean);

/*
 * Returns `text` itself if nothing is wrong with it, otherwise a copy that lives as long as
 * `clean`. `text` must live as long, too. Returns "?" if memory is exhausted; clean_failed() then
 * tells so.
 */
const char *clean_text(struct clean *clean, const char *text);
bool clean_failed(const struct clean *clean);

#endif
