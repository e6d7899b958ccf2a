/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder's own memory, kept out of what a program locks by mlockall(). Locked, all that the
 * recorder has reserved would take memory, and count against the program's limit.
 */
#pragma once

/* Makes the program's call of mlockall(). Returns the kernel's result. */
long own_memory_lock_all(int flags);
/* Makes the program's call of munlockall(). */
long own_memory_unlock_all(void);
