/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace that is still being recorded becomes a session that can be read meanwhile.
 *
 * Every second what was recorded since is replayed and written as one transaction (writer_live.h);
 * less often where one takes long. Blocks that are live have rows too, which the next transaction
 * replaces. What is shown is right for the moment that it shows, but for events of a thread that
 * was held up (live_trace.h), and but for the last digits of times, as the clock's rate is known
 * better the longer it runs. Each state says how far it is behind, and whether the program has
 * ended (live_lag.h). So the end of the program is no end of this: the caller then makes the
 * whole session again by ingest_run().
 */
#ifndef MPROF_INGEST_LIVE_H
#define MPROF_INGEST_LIVE_H

#include "ingest/ingest.h"

/*
 * Returns true when the program has ended, the trace has stopped growing without one, or
 * options->writer.interrupted is set: the session then exists, unfinished. False with `status` set
 * where there is no trace or the session cannot be written.
 */
bool ingest_live(const struct ingest_options *options, struct ingest_status *status);

#endif
