/* SPDX-License-Identifier: BSD-2-Clause */
/* Replays traces that are damaged on purpose, for tests under cmocka. */
#ifndef MPROF_TESTS_INGEST_REPLAY_BYTES_H
#define MPROF_TESTS_INGEST_REPLAY_BYTES_H

#include "tests/ingest/replay_fixture.h"

/* Replays `bytes` through a file in memory that is `size` bytes long (with a hole after them). */
struct replayed *replay_bytes(const uint8_t *bytes, size_t length, uint64_t size);

/* Fails unless the trace was refused with a message, or its sums agree with one another. */
void assert_sound(const struct replayed *replayed, const char *what, size_t where);

#endif
