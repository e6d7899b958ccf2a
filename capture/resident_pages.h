/* SPDX-License-Identifier: BSD-2-Clause */
/* Which pages of this process are resident, by /proc/self/pagemap: present in its page table. */
#ifndef MPROF_CAPTURE_RESIDENT_PAGES_H
#define MPROF_CAPTURE_RESIDENT_PAGES_H

#include <stdbool.h>
#include <stdint.h>

/* What is larger is not looked at: it would take longer than the program's call. */
#define RESIDENT_PAGES_MOST (UINT64_C(4) << 30)

/* Bytes of the range that are resident. False where that cannot be known. */
bool resident_pages_count(uint64_t address, uint64_t length, uint64_t *bytes);

#endif
