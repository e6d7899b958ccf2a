/*
 * Files that a killed run has left beside a session: TARGET.PID.all, TARGET.PID.one (one session of
 * several traces), TARGET.part.PID (a session that was to be written live).
 */
#ifndef MPROF_INGEST_LEFTOVERS_H
#define MPROF_INGEST_LEFTOVERS_H

/*
 * Removes those of `target` that are certainly of no use: the process PID runs no more, the file is
 * this user's and a database or the beginning of one, and nobody holds a lock on it. TARGET.part is
 * not among them: the next run takes it over.
 */
void leftovers_remove(const char *target);

#endif
