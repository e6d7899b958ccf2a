/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks a recorder in another process, through its trace file; trace-format.md says how.
 *
 * Legal order: client_open(); then, any number of times, client_ask(), client_look() until it
 * does not return CLIENT_WAITING, or client_withdraw(); then client_close(). client_ask() locks
 * the file until the answer is taken or the request withdrawn, so that two processes do not ask at
 * once. For the project's own programs: errno changes, and stdio is used. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "capture/os/clock.h"
#include "schemas/trace_layout.h"

/* Milliseconds between two turns. */
#define RUN_STEER_INTERVAL 10

/* The state that is wanted of all processes of a run. */
enum run_wanted {
    RUN_WANTED_NOTHING, /* each is left alone */
    RUN_WANTED_RECORD,  /* those that have not begun begin */
    RUN_WANTED_STOP,    /* those that record stop for the rest of the run */
};

/* The requests to one trace's recorder. All zero at first. */
struct run_steer {
    bool asked;
    enum run_wanted asked_for;
    double asked_at, rest_until; /* monotonic seconds */
    double stop_at;              /* time from which a stop is wanted; 0: none is */
};

struct client_chunk {
    uint8_t *base; /* mapped; NULL: no chunk */
    uint32_t slot, used;
    uint32_t reserved; /* bytes from its beginning; the last page is always reserved */
    uint64_t ticks;    /* stamp of its beginning, to which each *when* is relative */
};

struct client {
    int descriptor;
    struct trace_file_header *header; /* mapped, changes while the program runs */
    bool writable;
    dev_t device;
    ino_t inode;
    unsigned looks; /* since the last request */
    pid_t process;  /* that records, as this pid namespace numbers it; at first as the trace says */
};

enum client_status {
    CLIENT_GOOD,
    CLIENT_WAITING,   /* not answered yet */
    CLIENT_BUSY,      /* another process is asking just now */
    CLIENT_FINISHED,  /* the trace is complete: nothing is recorded into it any more */
    CLIENT_GONE,      /* the process that recorded it has ended */
    CLIENT_ERROR,     /* see errno */
    CLIENT_NOT_TRACE, /* no trace, or not of this version */
};

/* Opens the trace, for writing if it may be written. CLIENT_GOOD, _ERROR or _NOT_TRACE. */
enum client_status client_open(struct client *client, const char *path);
void client_close(struct client *client);

/* Returns true if a process records into the trace: CLIENT_GOOD, _FINISHED or _GONE. A process that
 * has the same id now but does not map the file does not count, if its mappings may be read. */
enum client_status client_recorder(const struct client *client);
/* After CLIENT_GONE: returns the process that records into the trace under another number, as this
 * pid namespace numbers it. 0: none is seen. */
pid_t client_recorder_elsewhere(const struct client *client);

/* Does what client_recorder() does. If the process is not one of this pid namespace's numbers, as
 * in a container, finds its number here. */
enum client_status client_find_recorder(struct client *client);

/* Asks. `name` (NULL: "") is for marks and snapshots, and at most TRACE_REQUEST_NAME - 1 bytes of
 * it count. CLIENT_WAITING if it was asked, CLIENT_BUSY, or the result of client_recorder(). */
enum client_status client_ask(struct client *client, enum trace_request request, const char *name);

/* Looks for the answer: CLIENT_GOOD with *answer, or CLIENT_WAITING, _FINISHED, _GONE. */
enum client_status client_look(struct client *client, enum trace_answer *answer);

/* Ends the recording if the recorder does not do so, with the clock pair of the end: nothing more
 * is recorded from here on. First takes back a request of our own for it. False if the recorder is
 * doing what was asked; true also if nothing is recorded any more. */
bool client_seal(struct client *client, uint64_t end_ticks, uint64_t end_monotonic_ns);

/* Notes in the trace how its process ended: `status` is as waitpid gives it, -1 if nobody saw it.
 * Does nothing if the process went on in another trace, or the trace may not be written. */
void client_note_outcome(struct client *client, int status);

/* Takes the request back. False if the recorder has taken it: it will be done if the program goes
 * on. Unlocks the file in either case. */
bool client_withdraw(struct client *client);

/* Finds the trace that `process` records into by its mappings, and writes its path into `path`
 * (PATH_MAX bytes). CLIENT_GOOD; CLIENT_FINISHED if it does not record any more; CLIENT_NOT_TRACE
 * if it has none; CLIENT_GONE if there is no such process; CLIENT_ERROR if its mappings may not be
 * read. */
enum client_status client_find(pid_t process, char *path);

/* A chunk that another process writes into a trace while the program is recorded (trace-format.md,
 * "Observers outside").
 *
 * Legal order: client_chunk_begin(); client_chunk_put(), each after client_chunk_reserve() has
 * returned true; client_chunk_leave(). Then another chunk may begin. For the project's own
 * programs.
 *
 * The first and the last page of a slot are reserved when it is taken, the pages between when they
 * are needed. A file system can take milliseconds to get unused pages back, and during that time
 * the end of the program would not be passed on. */

/* Takes the next slot of the trace. False if there is no room. */
bool client_chunk_begin(struct client_chunk *chunk, const struct client *client, uint32_t thread,
                        uint32_t sequence);
/* Does the same for a chunk whose clock pair is that of an earlier moment. */
bool client_chunk_begin_at(struct client_chunk *chunk, const struct client *client, uint32_t thread,
                           uint32_t sequence, struct clock_pair moment);

/* Returns true if a record with a payload of `length` bytes may be put. False if there is no chunk,
 * or no room in it or on the disk. */
bool client_chunk_reserve(struct client_chunk *chunk, const struct client *client, size_t length);

/* Writes and commits one extended record. */
void client_chunk_put(struct client_chunk *chunk, enum trace_extended type, const uint8_t *payload,
                      size_t length);

/* Seals and unmaps the chunk. */
void client_chunk_leave(struct client_chunk *chunk);

/* Frees the disk space of these bytes, which then read as zeros, and tells the recorder how much is
 * free now. False if the file system cannot do so. */
bool client_free_space(const struct client *client, uint64_t offset, uint64_t size);

/* Returns the offset of slot `number` in the file. */
uint64_t client_slot_offset(const struct client *client, uint32_t number);

/* Asks one trace's recorder to begin, or to stop for the rest of the run, and repeats the request
 * until it is done. The recorder acts in one of the program's heap calls. Until then others
 * (mprof-ctl) must get their turn too. If no heap call comes, a stop is carried out from here. */

/* Takes one turn, at the time `now`. */
void run_steer_step(struct run_steer *steer, struct client *client, enum run_wanted wanted,
                    double now);

/* Withdraws the request. */
void run_steer_end(struct run_steer *steer, struct client *client);

/* Returns monotonic seconds. */
double run_steer_now(void);

/* process_read() reads a short file of the process's folder in /proc, cut to `size` - 1 bytes,
 * without memory of the heap, and returns its length: 0 with errno. process_status_number() returns
 * the number after `name` in such a file, "status" or one of a thread: -1 with errno. */
size_t process_read(pid_t process, const char *file, char *text, size_t size);
long process_status_number(pid_t process, const char *file, const char *name);

/* Returns true if both names lead to one file or folder. */
bool client_is_same_file(const char *one, const char *other);
