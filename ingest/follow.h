/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns a trace that is still being recorded into a session that can be read at the same time.
 *
 * Every 0.4 seconds, or less often if it takes long, it replays the newly recorded events and
 * writes them as one transaction (write/follow.h). Live blocks have rows too, which the next
 * transaction replaces. The session is right for the moment that it shows, with two exceptions:
 * events of a thread that was held up come late (trace/follow.h), and the last digits of times
 * change, because the clock's rate gets more exact with time. Each state tells how far it is
 * behind, and whether the program has ended (follow_lag.h). The session is not finished when the
 * program has ended: the caller then makes the whole session again by ingest_run().
 */
#ifndef MPROF_INGEST_FOLLOW_H
#define MPROF_INGEST_FOLLOW_H

#include "ingest/ingest.h"

/*
 * Makes the live session. If the program executes another, or ends while other processes of its run
 * are still recorded, the session becomes that of the other trace. Returns true when
 * no process of the run is recorded any more, when the trace of a process that cannot be seen has
 * stopped growing, or when options->writer.interrupted is set. The session then exists,
 * unfinished. False with `status` set if there is no trace or the session cannot be
 * written.
 */
bool ingest_follow(const struct ingest_options *options, struct ingest_status *status);

#endif
