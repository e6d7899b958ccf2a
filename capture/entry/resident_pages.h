/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts which pages of this process are resident, that is, present in its page table. The source
 * is /proc/self/pagemap. */
#ifndef MPROF_CAPTURE_ENTRY_RESIDENT_PAGES_H
#define MPROF_CAPTURE_ENTRY_RESIDENT_PAGES_H

#include <stdbool.h>
#include <stdint.h>

/* Larger ranges are not examined, because that would take longer than the program's call. */
#define RESIDENT_PAGES_MOST (UINT64_C(4) << 30)

/* Counts the bytes of the range that are resident. Returns false if that cannot be found out. */
bool resident_pages_count(uint64_t address, uint64_t length, uint64_t *bytes);

#endif
