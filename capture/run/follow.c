/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <search.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/os/clock.h"
#include "capture/os/seccomp/seccomp.h"
#include "capture/run/sibling_traces.h"
#include "cli/say.h"
#include "schemas/array.h"
#include "schemas/pack/trace_packed.h"
#include "schemas/trace_codec.h"

/* A folder that the kernel does not watch is read every LOOK_INTERVAL ms, which must not be less
 * than the step of the clock that dates files. */
#define LOOK_INTERVAL 10u

void trace_watcher_begin(struct trace_watcher *watcher, const char *trace, uint64_t now)
{
    *watcher = (struct trace_watcher){.trace = trace,
                                      .started = time(NULL),
                                      .watch = -1,
                                      .changed = true,
                                      .looked_at = now - LOOK_INTERVAL};
    trace_name_folder(trace, watcher->folder);
}

void trace_watcher_end(struct trace_watcher *watcher)
{
    tdestroy(watcher->known, free);
    if (watcher->watch >= 0)
        close(watcher->watch);
}

static int compare(const void *one, const void *other)
{
    return strcmp(one, other);
}

/* Returns true if the path is new. If memory is exhausted, the path will seem new again. */
static bool learn(struct trace_watcher *watcher, const char *path)
{
    if (tfind(path, &watcher->known, compare))
        return false;
    char *copy = strdup(path);
    if (copy && !tsearch(copy, &watcher->known, compare))
        free(copy);
    return true;
}

static bool path_of(const struct trace_watcher *watcher, const char *name, char path[PATH_MAX])
{
    return sibling_traces_is_name(name) &&
           snprintf(path, PATH_MAX, "%s/%s", watcher->folder, name) < PATH_MAX;
}

/* The parameters for each trace that a search finds. */
struct trace_search {
    struct trace_watcher *watcher;
    uint64_t since;
    trace_watcher_each *each;
    void *context;
};

static void found_one(void *context, const char *path)
{
    const struct trace_search *found = context;
    if (learn(found->watcher, path))
        found->each(found->context, path, found->since);
}

static void read_folder(struct trace_watcher *watcher, uint64_t since, trace_watcher_each *each,
                        void *context)
{
    struct trace_search found = {watcher, since, each, context};
    sibling_traces_each(watcher->trace, watcher->started, found_one, &found);
}

/* Returns true if it is time to read the folder. After a change it is read twice, because a name
 * that appears in the same moment as one that was found does not change the date again. */
static bool has_changed(struct trace_watcher *watcher)
{
    struct stat status;
    if (stat(watcher->folder, &status) != 0)
        return false;
    const bool before = watcher->changed;
    watcher->changed = status.st_mtim.tv_sec != watcher->modified.tv_sec ||
                       status.st_mtim.tv_nsec != watcher->modified.tv_nsec;
    watcher->modified = status.st_mtim;
    return before || watcher->changed;
}

static void begin_watch(struct trace_watcher *watcher)
{
    watcher->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watcher->watch >= 0 && inotify_add_watch(watcher->watch, watcher->folder, IN_CREATE) < 0) {
        close(watcher->watch);
        watcher->watch = -1;
    }
}

static void read_notices(const struct trace_watcher *watcher, uint64_t now,
                         trace_watcher_each *each, void *context)
{
    char buffer[4096] __attribute__((aligned(8))), path[PATH_MAX];
    ssize_t length;
    while ((length = read(watcher->watch, buffer, sizeof(buffer))) > 0)
        for (const char *at = buffer; at < buffer + length;) {
            const struct inotify_event *event = (const struct inotify_event *)at;
            at += sizeof(*event) + event->len;
            if (event->len > 0 && path_of(watcher, event->name, path))
                each(context, path, now);
        }
}

int trace_watcher_step(struct trace_watcher *watcher, uint64_t now, trace_watcher_each *each,
                       void *context)
{
    const uint64_t since = watcher->looked_at;
    if (watcher->watch >= 0) {
        read_notices(watcher, now, each, context);
        return -1;
    }
    if (now - since < LOOK_INTERVAL)
        return (int)(since + LOOK_INTERVAL - now);
    watcher->looked_at = now;
    if (!watcher->tried)
        begin_watch(watcher);
    watcher->tried = true;
    /* Finds what came before the watch. */
    if (has_changed(watcher))
        read_folder(watcher, since, each, context);
    return watcher->watch >= 0 ? -1 : (int)LOOK_INTERVAL;
}

struct run_resident {
    int statm;        /* descriptor of /proc/PID/statm, -1: there is nothing more to sample */
    unsigned samples; /* read, written or not */
    uint64_t bytes;   /* of the last one that was written */
    uint64_t latest;  /* of the last one, written or not; 0: the process has ended */
    int unwritten;    /* milliseconds since then */
};

#define FIRST_INTERVAL 10
#define LAST_INTERVAL 1000
/* After this many samples the interval doubles, so that a long run gets only a few thousand. */
#define SAMPLES_PER_INTERVAL 512u
#define SAMPLE_MAX 48u
/* A sample that is the same as the last one is written after so many milliseconds. */
#define SAME_INTERVAL 100

/* Samples the resident set of a recorded process from outside, into its trace.
 *
 * Legal order: run_resident_begin(); run_resident_sample() after each run_resident_interval();
 * run_resident_end(). The program itself runs neither a thread nor a timer for this. */

static int open_statm(pid_t process)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)process);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Begins with the process that records. */
static void run_resident_begin(struct run_resident *resident, const struct client *client)
{
    *resident = (struct run_resident){.statm = open_statm(client->process)};
}

/* Returns the resident set in bytes, or 0 if the program has ended. */
static uint64_t read_resident(int statm)
{
    char text[128], *end;
    ssize_t length = pread(statm, text, sizeof(text) - 1, 0);
    if (length <= 0)
        return 0;
    text[length] = 0;
    strtoull(text, &end, 10); /* skips the address space; the resident set comes second */
    return strtoull(end, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t run_resident_now(pid_t process)
{
    int statm = open_statm(process);
    uint64_t bytes = statm >= 0 ? read_resident(statm) : 0;
    if (statm >= 0)
        close(statm);
    return bytes;
}

/* Returns the milliseconds until the next sample. */
static int run_resident_interval(const struct run_resident *resident)
{
    unsigned doublings = resident->samples / SAMPLES_PER_INTERVAL;
    return doublings > 6 ? LAST_INTERVAL : FIRST_INTERVAL << doublings;
}

/* Takes one sample if the trace is being recorded. One that is the same as the last is written only
 * ten times a second, because a program at rest should need no disk. Returns false if no more will
 * come, because the process has ended or there is no room. */
static bool run_resident_sample(struct run_resident *resident, struct run_observer *observer,
                                const struct client *client)
{
    uint8_t payload[SAMPLE_MAX], *p;
    if (resident->statm < 0)
        return false;
    const uint64_t bytes = resident->latest = read_resident(resident->statm);
    if (bytes == 0)
        return false;
    /* While the process runs another program, its memory does not belong to this trace. The trace
     * of an unrecorded program is made before that is executed. */
    if (client->header->unrecorded) {
        if (!unrecorded_program_runs(client->descriptor, (pid_t)client->header->pid))
            return resident->samples == 0;
    } else if (atomic_load((_Atomic uint32_t *)&client->header->state) != TRACE_STATE_RECORDING)
        return true;
    resident->unwritten += run_resident_interval(resident);
    resident->samples++;
    if (bytes == resident->bytes && resident->unwritten < SAME_INTERVAL)
        return true;
    if (!run_observer_room(observer, client, SAMPLE_MAX))
        return false;
    resident->bytes = bytes;
    resident->unwritten = 0;
    clock_is_tsc = client->header->clock == TRACE_CLOCK_TSC;
    uint64_t now = clock_before(), base = observer->chunk.ticks;
    p = trace_put_varint(payload, now > base ? now - base : 0);
    p = trace_put_varint(p, bytes);
    client_chunk_put(&observer->chunk, TRACE_EXT_RSS, payload, (size_t)(p - payload));
    if (client->header->unrecorded) /* its clock is CLOCK_MONOTONIC */
        client->header->end_ticks = client->header->end_monotonic_ns = now;
    return true;
}

static void run_resident_end(struct run_resident *resident)
{
    if (resident->statm >= 0)
        close(resident->statm);
    resident->statm = -1;
}

/* ---- packing ---------------------------------------------------------------------------- */

/* Packs the chunks of a trace while it is recorded and frees the space of their slots. The disk
 * then holds little more than the compressed trace (trace-format.md, "Packed chunks").
 *
 * Legal order: run_pack_begin() on a trace whose header has the flag *packed*; run_pack_step() now
 * and then; run_pack_end(). The trace is complete whenever this stops. */

/* Chunks that are packed together. Packed, they must fit into one slot. */
#define GROUP_MAX 4u
/* Groups per step, which take some milliseconds. */
#define STEP_GROUPS 8u

struct run_pack {
    const struct client *client;
    struct trace_packer *packer;
    struct client_chunk container;
    uint32_t sequence; /* of the next container */
    unsigned group;    /* chunks per group: less than GROUP_MAX if that many did not fit */
    bool stopped;      /* no room, or the file system makes no holes */
    uint32_t known;    /* slots below are packed or in `waiting` */
    uint32_t *waiting; /* slots that are not packed yet */
    size_t waiting_count, waiting_capacity;
    uint8_t *chunk;
};

static void run_pack_end(struct run_pack *pack)
{
    if (!pack)
        return;
    client_chunk_leave(&pack->container);
    trace_packer_free(pack->packer);
    FREE_ALL(pack->waiting, pack->chunk, pack);
}

static struct run_pack *run_pack_begin(const struct client *client)
{
    struct run_pack *pack = calloc(1, sizeof(*pack));
    if (!pack)
        return NULL;
    pack->client = client;
    pack->group = GROUP_MAX;
    pack->packer = trace_packer_new((size_t)GROUP_MAX * TRACE_CHUNK_SIZE_DEFAULT, TRACE_PACK_QUICK);
    pack->chunk = malloc(TRACE_CHUNK_SIZE_DEFAULT);
    if (pack->packer && pack->chunk)
        return pack;
    run_pack_end(pack);
    return NULL;
}

static bool find_new(struct run_pack *pack)
{
    uint32_t count = atomic_load((_Atomic uint32_t *)&pack->client->header->chunk_count);
    for (; pack->known < count; pack->known++) {
        if (!ARRAY_GROW(pack->waiting, pack->waiting_count, pack->waiting_capacity))
            return false;
        pack->waiting[pack->waiting_count++] = pack->known;
    }
    return true;
}

enum slot_state { SLOT_OPEN, SLOT_LEFT, SLOT_CONTAINER };

static enum slot_state slot_state_of(const struct run_pack *pack, uint32_t slot)
{
    struct trace_chunk_header header;
    if (pread(pack->client->descriptor, &header, sizeof(header),
              (off_t)client_slot_offset(pack->client, slot)) != (ssize_t)sizeof(header) ||
        header.magic != TRACE_CHUNK_MAGIC)
        return SLOT_OPEN;
    if (header.thread == TRACE_THREAD_PACKED)
        return SLOT_CONTAINER;
    return header.flags & TRACE_CHUNK_LEFT ? SLOT_LEFT : SLOT_OPEN;
}

/* Moves up to `most` slots that can be packed from the waiting slots to `ready`. */
static unsigned take_ready(struct run_pack *pack, uint32_t ready[GROUP_MAX], unsigned most)
{
    size_t kept = 0;
    unsigned count = 0;
    for (size_t i = 0; i < pack->waiting_count; i++) {
        uint32_t slot = pack->waiting[i];
        enum slot_state state = count < most ? slot_state_of(pack, slot) : SLOT_OPEN;
        if (state == SLOT_LEFT)
            ready[count++] = slot;
        else if (state == SLOT_OPEN)
            pack->waiting[kept++] = slot;
    }
    pack->waiting_count = kept;
    return count;
}

static void put_back(struct run_pack *pack, const uint32_t *slots, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        pack->waiting[pack->waiting_count++] = slots[i];
}

/* Returns the packed payload of these chunks, or NULL if they cannot be read. */
static const uint8_t *pack_chunks(struct run_pack *pack, const uint32_t *slots, unsigned count,
                                  size_t *length)
{
    for (unsigned i = 0; i < count; i++)
        if (pread(pack->client->descriptor, pack->chunk, TRACE_CHUNK_SIZE_DEFAULT,
                  (off_t)client_slot_offset(pack->client, slots[i])) != TRACE_CHUNK_SIZE_DEFAULT ||
            !trace_packer_add(pack->packer, pack->chunk, TRACE_CHUNK_SIZE_DEFAULT)) {
            trace_packer_end(pack->packer, length);
            return NULL;
        }
    return trace_packer_end(pack->packer, length);
}

static bool pack_room(struct run_pack *pack, size_t length)
{
    if (client_chunk_reserve(&pack->container, pack->client, length))
        return true;
    client_chunk_leave(&pack->container);
    return client_chunk_begin(&pack->container, pack->client, TRACE_THREAD_PACKED,
                              pack->sequence++) &&
           client_chunk_reserve(&pack->container, pack->client, length);
}

/* Packs one group. Returns false if no group is ready or it could not be packed. */
static bool pack_group(struct run_pack *pack)
{
    uint32_t slots[GROUP_MAX];
    size_t length;
    unsigned count = take_ready(pack, slots, pack->group);
    if (count < pack->group) {
        put_back(pack, slots, count);
        return false;
    }
    const uint8_t *payload = pack_chunks(pack, slots, count, &length);
    if (!payload) {
        pack->stopped = true;
        return false;
    }
    if (length > TRACE_CHUNK_SIZE_DEFAULT - 2 * TRACE_CHUNK_HEADER_SIZE) {
        /* A chunk that does not fit even alone stays as it is. */
        if (count > 1) {
            pack->group = count / 2;
            put_back(pack, slots, count);
        }
        return true;
    }
    if (!pack_room(pack, length)) {
        pack->stopped = true;
        return false;
    }
    client_chunk_put(&pack->container, TRACE_EXT_PACKED, payload, length);
    for (unsigned i = 0; i < count; i++)
        if (!client_free_space(pack->client, client_slot_offset(pack->client, slots[i]),
                               TRACE_CHUNK_SIZE_DEFAULT))
            pack->stopped = true;
    return !pack->stopped;
}

/* Packs some of the chunks that threads have left. Returns true if more are ready to be packed. */
static bool run_pack_step(struct run_pack *pack)
{
    if (!find_new(pack))
        pack->stopped = true;
    for (unsigned i = 0; i < STEP_GROUPS; i++)
        if (pack->stopped || !pack_group(pack))
            return false;
    return true;
}

/* Traces that are followed at a time, with three descriptors each. Further ones get no samples. */
#define TRACES_MAX 128u
/* How often to ask how a process has ended that its parent has not waited for yet, in ms. */
#define ZOMBIE_INTERVAL 50
/* How often to look for a trace that is missing or incomplete, and the interval in ms. */
#define ATTEMPTS_MAX 1000u
#define ATTEMPT_INTERVAL 2
/* A child that ends within this time gets no samples: they would double its trace. */
#define CHILD_DELAY 40
#define PACK_INTERVAL 20

struct followed {
    char *path;
    struct client client;
    int process; /* its pidfd, or -1 */
    bool open, sampled;
    bool lingers; /* it has ended, or has no samples any more: how it ends is waited for */
    unsigned attempts;
    uint64_t due, pack_due; /* ms */
    struct run_observer observer;
    struct run_resident resident;
    bool looked;                     /* it was tried to read its pages */
    struct run_residency *residency; /* NULL: its pages are not read */
    uint64_t residency_due;
    struct run_pack *pack; /* NULL: the trace is not packed */
    struct run_steer steer;
    struct run_rotate rotate;
};

struct run_follow {
    const char *trace;
    struct run_follow_options options;
    struct run_kept kept;
    struct trace_watcher watcher;
    struct followed *traces[TRACES_MAX];
    size_t count;
};

static uint64_t now_ms(void)
{
    return clock_nanoseconds(CLOCK_MONOTONIC) / 1000000;
}

/* An answer of the kernel about a pidfd, from Linux 6.14 on. */
struct process_info {
    uint64_t mask;
    uint8_t unused[52];
    int32_t exit_code;
};
#define PROCESS_INFO_EXIT (UINT64_C(1) << 3)
#define PROCESS_INFO _IOWR(0xFF, 11, struct process_info)

/* Notes how the process has ended, or that it has if nobody tells how. Returns false if it runs, or
 * (`in_time`) if its parent may still wait for it: then the kernel tells. */
static bool followed_note_outcome(struct followed *followed, bool in_time)
{
    struct pollfd ended = {.fd = followed->process, .events = POLLIN};
    struct process_info info = {.mask = PROCESS_INFO_EXIT};
    if (followed->process < 0 || poll(&ended, 1, 0) <= 0)
        return false;
    const bool answers = ioctl(followed->process, PROCESS_INFO, &info) == 0;
    const bool known = answers && (info.mask & PROCESS_INFO_EXIT) != 0;
    if (answers && !known && in_time)
        return false;
    client_note_outcome(&followed->client, known ? info.exit_code : -1);
    return true;
}

static void followed_leave(struct followed *followed)
{
    if (!followed->open)
        return;
    followed_note_outcome(followed, false);
    if (followed->process >= 0)
        close(followed->process);
    run_steer_end(&followed->steer, &followed->client);
    run_rotate_end(&followed->rotate, &followed->client);
    run_residency_end(followed->residency);
    followed->residency = NULL;
    client_chunk_leave(&followed->observer.chunk);
    run_resident_end(&followed->resident);
    run_pack_end(followed->pack);
    client_close(&followed->client);
    followed->open = false;
}

static void followed_close(struct followed *followed)
{
    followed_leave(followed);
    FREE_ALL(followed->path, followed);
}

int run_follow_descriptor(const struct run_follow *follow)
{
    return follow->watcher.watch;
}

static void add_trace(void *context, const char *path, uint64_t since)
{
    struct run_follow *follow = context;
    for (size_t i = 0; i < follow->count; i++)
        if (strcmp(follow->traces[i]->path, path) == 0)
            return;
    if (follow->count == TRACES_MAX)
        return;
    struct followed *followed = calloc(1, sizeof(*followed));
    if (followed)
        followed->path = strdup(path);
    if (!followed || !followed->path) {
        say("mprof-run", "there is no memory to follow %s: it has no samples of its resident set",
            path);
        free(followed);
        return;
    }
    followed->due = since;
    follow->traces[follow->count++] = followed;
}

struct run_follow *run_follow_new(const char *trace, const struct run_follow_options *options)
{
    struct run_follow *follow = calloc(1, sizeof(*follow));
    if (follow) {
        follow->trace = trace;
        follow->options = *options;
        follow->kept.most = options->rotate.keep;
        trace_watcher_begin(&follow->watcher, trace, now_ms());
        add_trace(follow, trace, now_ms());
    }
    return follow;
}

/* Tries to open the trace. Returns false if another attempt is useless. */
static bool followed_open(struct followed *followed, const struct run_follow_options *options)
{
    if (client_open(&followed->client, followed->path) != CLIENT_GOOD)
        return ++followed->attempts < ATTEMPTS_MAX;
    const enum client_status recorder = client_find_recorder(&followed->client);
    if (recorder == CLIENT_GONE)
        client_note_outcome(&followed->client, -1);
    if (!followed->client.writable || recorder == CLIENT_GONE) {
        client_close(&followed->client);
        return false;
    }
    followed->open = true;
    followed->sampled = true;
    followed->process = -1;
    if (!seccomp_is_on()) {
        followed->process = (int)syscall(SYS_pidfd_open, followed->client.process, 0);
        if (followed->process < 0 && errno == ESRCH)
            client_note_outcome(&followed->client, -1); /* its parent has waited for it just now */
    }
    run_resident_begin(&followed->resident, &followed->client);
    run_rotate_begin(&followed->rotate, &options->rotate, run_steer_now());
    if (options->compress && (followed->client.header->flags & TRACE_FILE_PACKED))
        followed->pack = run_pack_begin(&followed->client);
    return true;
}

void run_follow_free(struct run_follow *follow)
{
    if (!follow)
        return;
    /* Those of which the program's end came first: how their processes ended is noted. */
    trace_watcher_step(&follow->watcher, now_ms(), add_trace, follow);
    for (size_t i = 0; i < follow->count; i++) {
        if (!follow->traces[i]->open)
            followed_open(follow->traces[i], &follow->options);
        followed_close(follow->traces[i]);
    }
    trace_watcher_end(&follow->watcher);
    run_kept_free(&follow->kept);
    free(follow);
}

/* Has the trace rotated if it is time. Returns true if the next one is to be opened. */
static bool followed_rotate(struct followed *followed, struct run_follow *follow)
{
    if (followed->steer.asked ||
        !run_rotate_step(&followed->rotate, &follow->options.rotate, &followed->client,
                         followed->path, &follow->kept, run_steer_now()))
        return false;
    followed_leave(followed);
    followed->attempts = 0;
    followed->resident = (struct run_resident){0};
    followed->observer = (struct run_observer){0};
    followed->looked = false;
    followed->pack = NULL;
    return true;
}

/* Returns true if the process records into this trace now, the program of the trace itself. */
static bool is_recording(const struct followed *followed)
{
    struct trace_file_header *header = followed->client.header;
    return !header->unrecorded &&
           atomic_load((_Atomic uint32_t *)&header->state) == TRACE_STATE_RECORDING;
}

static void followed_read_pages(struct followed *followed, const struct run_follow *follow,
                                uint64_t now)
{
    if (!is_recording(followed))
        return;
    if (!followed->looked)
        followed->residency =
            run_residency_begin(&followed->client, &followed->observer, &follow->options.residency);
    followed->looked = true;
    followed->residency_due =
        followed->residency
            ? run_residency_step(followed->residency, followed->resident.latest, now)
            : UINT64_MAX;
}

/* Does one trace's share of the work. Returns false if nothing is left to do for it. */
static bool followed_step(struct followed *followed, struct run_follow *follow, uint64_t now)
{
    if (followed->open && followed_rotate(followed, follow))
        followed->due = now;
    if (!followed->open) {
        if (!followed_open(followed, &follow->options))
            return false;
        if (!followed->open) {
            followed->due = now + ATTEMPT_INTERVAL;
            return true;
        }
        if (!follow->options.steers && strcmp(followed->path, follow->trace) != 0)
            followed->due += CHILD_DELAY;
    }
    if (followed->sampled && now >= followed->due) {
        followed->sampled =
            run_resident_sample(&followed->resident, &followed->observer, &followed->client);
        followed->due = now + (uint64_t)run_resident_interval(&followed->resident);
    }
    if (followed->sampled)
        followed_read_pages(followed, follow, now);
    if (followed->pack && now >= followed->pack_due)
        followed->pack_due = run_pack_step(followed->pack) ? 0 : now + PACK_INTERVAL;
    if (followed->sampled || ((followed->pack || follow->options.rotate.interval > 0) &&
                              client_recorder(&followed->client) == CLIENT_GOOD))
        return true;
    /* child.c waits for the program itself. */
    if (followed->process < 0 || followed->client.process == follow->options.program ||
        followed_note_outcome(followed, true))
        return false;
    followed->lingers = true;
    followed->due = now + ZOMBIE_INTERVAL;
    return true;
}

static uint64_t followed_due(const struct followed *followed, const struct run_follow *follow)
{
    uint64_t due = UINT64_MAX;
    if (!followed->open || followed->sampled || followed->lingers)
        due = followed->due;
    if (followed->open && followed->residency && followed->sampled && followed->residency_due < due)
        due = followed->residency_due;
    if (followed->open && followed->pack && followed->pack_due < due)
        due = followed->pack_due;
    if (followed->open && follow->options.rotate.interval > 0) {
        const uint64_t rotate_due = (uint64_t)(run_rotate_due(&followed->rotate) * 1e3) + 1;
        due = rotate_due < due ? rotate_due : due;
    }
    return due;
}

/* Tells one process what is wanted. The program itself is told elsewhere (watch.h). */
static void followed_steer(struct followed *followed, const struct run_follow *follow,
                           enum run_wanted wanted, double now)
{
    struct trace_file_header *header = followed->client.header;
    if (strcmp(followed->path, follow->trace) == 0 && wanted != RUN_WANTED_NOTHING)
        atomic_store((_Atomic uint32_t *)&header->run,
                     wanted == RUN_WANTED_STOP ? TRACE_RUN_OVER : TRACE_RUN_RECORD);
    if (followed->client.process != follow->options.program)
        run_steer_step(&followed->steer, &followed->client, wanted, now);
}

void run_follow_steer(struct run_follow *follow, enum run_wanted wanted)
{
    const double now = run_steer_now();
    for (size_t i = 0; i < follow->count; i++)
        if (follow->traces[i]->open)
            followed_steer(follow->traces[i], follow, wanted, now);
}

bool run_follow_records(const struct run_follow *follow)
{
    for (size_t i = 0; i < follow->count; i++)
        if (follow->traces[i]->open &&
            follow->traces[i]->client.header->paused != TRACE_PAUSED_FROM_START)
            return true;
    return false;
}

/* Answers the bells that have rung. */
static void answer_bells(struct run_follow *follow)
{
    struct pollfd rung = {.fd = run_residency_bell(), .events = POLLIN};
    if (rung.fd < 0 || poll(&rung, 1, 0) <= 0)
        return;
    run_residency_bell_heard();
    for (size_t i = 0; i < follow->count; i++)
        if (follow->traces[i]->open && follow->traces[i]->residency)
            followed_read_pages(follow->traces[i], follow, now_ms());
}

void run_follow_each(const struct run_follow *follow, run_follow_one *each, void *context)
{
    for (size_t i = 0; i < follow->count; i++)
        if (follow->traces[i]->open)
            each(context, &follow->traces[i]->client, follow->traces[i]->path);
}

int run_follow_step(struct run_follow *follow)
{
    uint64_t now = now_ms(), next = UINT64_MAX;
    answer_bells(follow);
    const int look = trace_watcher_step(&follow->watcher, now, add_trace, follow);
    for (size_t i = 0; i < follow->count;) {
        struct followed *followed = follow->traces[i];
        if (followed_due(followed, follow) <= now && !followed_step(followed, follow, now)) {
            if (strcmp(followed->path, follow->trace) != 0)
                run_kept_add(&follow->kept, followed->path);
            followed_close(followed);
            follow->traces[i] = follow->traces[--follow->count];
            continue;
        }
        if (followed_due(followed, follow) < next)
            next = followed_due(followed, follow);
        i++;
    }
    if (next == UINT64_MAX)
        return look;
    now = now_ms();
    const int wait = next > now ? (int)(next - now) : 0;
    return look >= 0 && look < wait ? look : wait;
}
