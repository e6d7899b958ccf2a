/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/processes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/base/array.h"
#include "ingest/base/output_file.h"
#include "ingest/trace/cursor.h"
#include "ingest/trace/file.h"
#include "ingest/write/inherited.h"
#include "ingest/write/redact.h"
#include "schemas/array.h"
#include "schemas/printable.h"
#include "schemas/trace_begin.h"

/* Finds the machine of each trace of a session, and where each trace begins on one line of time.
 *
 * Processes of one boot of one kernel share CLOCK_MONOTONIC, even in containers with other host
 * names. Between machines only the real-time clocks can be compared. The first trace of a machine
 * gives the offset from its monotonic to its real-time clock, and this offset is used for all its
 * traces. So events of one machine stay in order even if its real-time clock was set in between.
 * The errors of the machines' clocks are unknown. */

struct machine_start {
    char host[72], boot_id[40]; /* "": not known */
    uint64_t monotonic_ns, realtime_ns;
    uint32_t machine;  /* from 1, in the order of their first traces */
    uint64_t start_ns; /* after the first trace of all */
};

/* The PROCESS record is at the beginning. A damaged trace is not searched any further. */
enum { CHUNKS_LOOKED_AT = 4 };

static const uint64_t latest_ns = UINT64_MAX / 8;

/* For traces without a boot id, which older recorders wrote: in one boot the offsets of the clocks
 * differ by less than this. */
static const int64_t same_boot_ns = 1000000000;

static void copy_text(char *to, size_t size, struct trace_text text)
{
    size_t length = text.length < size ? text.length : size - 1;
    memcpy(to, text.bytes, length);
    to[length] = '\0';
}

/* Reads the PROCESS record. True if the chunk has it. */
static bool read_chunk(struct trace_cursor *cursor, struct machine_start *start)
{
    struct trace_record record;
    struct trace_extension extension;
    while (trace_cursor_next(cursor, &record) == TRACE_GET_RECORD) {
        if (record.kind != TRACE_EXTENDED || record.extended.type != TRACE_EXT_PROCESS ||
            !trace_extension_get(&record, cursor->coding.ticks, &extension))
            continue;
        copy_text(start->host, sizeof(start->host), extension.host);
        copy_text(start->boot_id, sizeof(start->boot_id), extension.boot_id);
        return true;
    }
    return false;
}

/* Reads the start of a trace. `machine` and `start_ns` stay zero. False if memory is exhausted. */
static bool machines_read(const struct trace_file *file, struct machine_start *start)
{
    const struct trace_file_header *header = trace_file_header(file);
    const struct trace_slot *slots;
    size_t count = trace_file_slots(file, &slots);
    bool found = false;
    *start = (struct machine_start){.monotonic_ns = header->start_monotonic_ns,
                                    .realtime_ns = header->start_realtime_ns};
    for (size_t i = 0; !found && i < count && i < CHUNKS_LOOKED_AT; i++) {
        struct trace_cursor cursor;
        if (slots[i].damage)
            continue;
        if (!trace_cursor_open(&cursor, file, &slots[i]))
            return false;
        found = read_chunk(&cursor, start);
        trace_cursor_close(&cursor);
    }
    return true;
}

/* Returns the real-time clock minus the monotonic one. */
static int64_t offset_of(const struct machine_start *start)
{
    return (int64_t)(start->realtime_ns - start->monotonic_ns);
}

static bool same_machine(const struct machine_start *a, const struct machine_start *b)
{
    if (a->boot_id[0] != '\0' && b->boot_id[0] != '\0')
        return strcmp(a->boot_id, b->boot_id) == 0;
    if (a->host[0] != '\0' && b->host[0] != '\0' && strcmp(a->host, b->host) != 0)
        return false;
    int64_t apart;
    return !__builtin_sub_overflow(offset_of(a), offset_of(b), &apart) && apart < same_boot_ns &&
           apart > -same_boot_ns;
}

static int compare_monotonic(const void *a, const void *b)
{
    const struct machine_start *x = *(struct machine_start *const *)a,
                               *y = *(struct machine_start *const *)b;
    return ORDER(x->monotonic_ns, y->monotonic_ns);
}

static int compare_start(const void *a, const void *b)
{
    const struct machine_start *x = *(struct machine_start *const *)a,
                               *y = *(struct machine_start *const *)b;
    return ORDER(x->start_ns, y->start_ns);
}

/* Places each trace on the line of time by the real-time clock of its machine's first trace. */
static void place(struct machine_start **sorted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct machine_start *first = sorted[i];
        for (size_t k = 0; k < i; k++)
            if (same_machine(sorted[k], first)) {
                first = sorted[k];
                break;
            }
        sorted[i]->start_ns = sorted[i]->monotonic_ns + (uint64_t)offset_of(first);
        sorted[i]->machine = (uint32_t)(first == sorted[i] ? i + 1 : first->machine);
    }
}

/* Numbers machines by their first traces, and counts time from the first of all. */
static uint32_t number(struct machine_start **sorted, size_t count, uint32_t *numbers)
{
    uint32_t machines = 0;
    uint64_t begin = count > 0 ? sorted[0]->start_ns : 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t *known = &numbers[sorted[i]->machine];
        if (*known == 0)
            *known = ++machines;
        sorted[i]->machine = *known;
        sorted[i]->start_ns -= begin;
        if (sorted[i]->start_ns > latest_ns) /* a wrong clock: sums of times must not overflow */
            sorted[i]->start_ns = latest_ns;
    }
    return machines;
}

/* Fills in `machine` and `start_ns` of all. Returns the machines, 0 if memory is exhausted. */
static uint32_t machines_align(struct machine_start *const *starts, size_t count)
{
    struct machine_start **sorted = malloc((count + 1) * sizeof(struct machine_start *));
    uint32_t *numbers = calloc(count + 1, sizeof(*numbers)), machines = 0;
    if (sorted && numbers) {
        memcpy(sorted, starts, count * sizeof(struct machine_start *));
        qsort(sorted, count, sizeof(struct machine_start *), compare_monotonic);
        place(sorted, count);
        qsort(sorted, count, sizeof(struct machine_start *), compare_start);
        machines = number(sorted, count, numbers);
    }
    FREE_ALL(sorted, numbers);
    return machines;
}

/* ---- processes ----------------------------------------------------------------------------- */

struct start {
    const char *trace;
    struct machine_start at;
};

struct added {
    struct ingest_origin origin;
    uint64_t later_ns;
};

struct processes {
    const struct ingest_options *options;
    void (*left_out)(const char *why);
    struct run *run;
    struct ingest_summary *summary;
    struct ingest_summary *parts; /* of each process, in the order of starts */
    struct ingest_status *status;
    struct start *starts; /* of traces that can be opened, the first process first */
    size_t count;
    uint32_t machines;
    char **reasons; /* why traces are left out; free() each */
    size_t reason_count, reason_capacity;
    /* Files beside the session, which never get its name: the tables of all processes and those of
     * the one to add, frames, sums of moments, frees of inherited blocks, events and late types. */
    struct output_file tables, part, frames, sums, frees, events, names;
    struct writer_run whole;
    struct writer_merge *merge;
    struct symbol_cache symbol_cache;
    struct added *added; /* in the order of `starts` */
    size_t added_count;
};

/* Returns true if the file is in the list already, because it was named twice. */
static bool is_listed(const struct trace_list *list, const struct trace_file_id *id)
{
    for (size_t i = 0; i < list->count; i++)
        if (id->inode != 0 && list->ids[i].inode == id->inode && list->ids[i].device == id->device)
            return true;
    return false;
}

static bool append(struct trace_list *list, const char *folder, const char *name,
                   struct ingest_status *status)
{
    char *path = NULL;
    struct stat about;
    struct trace_file_id id = {0};
    if (!ARRAY_RESERVE(list->paths, list->count, list->capacity) ||
        !ARRAY_RESERVE(list->ids, list->count, list->id_capacity) ||
        (folder ? asprintf(&path, "%s/%s", folder, name) < 0 : !(path = strdup(name))))
        return ingest_fail_memory(status, "the list of traces");
    if (stat(path, &about) == 0)
        id = (struct trace_file_id){about.st_dev, about.st_ino};
    if (is_listed(list, &id)) {
        free(path);
        return true;
    }
    list->ids[list->count] = id;
    list->paths[list->count++] = path;
    return true;
}

static bool is_trace(int folder, const char *name)
{
    struct stat about;
    if (fstatat(folder, name, &about, 0) != 0 || !S_ISREG(about.st_mode))
        return false;
    int descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is = trace_begins(descriptor);
    if (descriptor >= 0)
        close(descriptor);
    return is;
}

/* Returns true if the recorder has named the file: PID or PID.N. A session has another name. */
static bool is_of_run(int folder, const char *name)
{
    return *name >= '1' && *name <= '9' && name[strspn(name, "0123456789.")] == '\0';
}

/* Adds and counts the files in a folder that are `wanted`, by name, numbers in their order. */
static bool add_folder(struct trace_list *list, const char *path,
                       bool (*wanted)(int folder, const char *name), size_t *found,
                       struct ingest_status *status)
{
    struct dirent **entries;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int count = folder < 0 ? -1 : scandir(path, &entries, NULL, versionsort);
    bool good = count >= 0;
    if (!good)
        ingest_fail(status, INGEST_BAD_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        if (good && wanted(folder, entries[i]->d_name)) {
            good = append(list, path, entries[i]->d_name, status);
            ++*found;
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    if (folder >= 0)
        close(folder);
    return good;
}

/* Adds a file and the others of its run. Opening it checks that it is a trace. */
static bool add_run(struct trace_list *list, const char *path, struct ingest_status *status)
{
    char *folder = NULL;
    size_t found = 0;
    struct stat about;
    if (asprintf(&folder, "%s" TRACE_FOLDER, path) < 0)
        return ingest_fail_memory(status, "the list of traces");
    const bool others = lstat(folder, &about) == 0 && S_ISDIR(about.st_mode);
    const bool missing = others && stat(path, &about) != 0 && errno == ENOENT;
    bool good = missing || append(list, NULL, path, status);
    good = good && (!others || add_folder(list, folder, is_of_run, &found, status));
    if (good && missing && found == 0)
        good = append(list, NULL, path, status);
    else if (good && missing && !list->missing && !(list->missing = strdup(path)))
        good = ingest_fail_memory(status, "the list of traces");
    free(folder);
    return good;
}

bool trace_list_add(struct trace_list *list, const char *path, struct ingest_status *status)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return add_run(list, path, status);
    size_t found = 0;
    if (!add_folder(list, path, is_trace, &found, status))
        return false;
    return found > 0 ||
           ingest_fail(
               status, INGEST_BAD_INPUT,
               "%s: there is no trace in this folder; name the file that mprof-run wrote, or the "
               "folder beside it",
               path);
}

void trace_list_free(struct trace_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    FREE_ALL(list->paths, list->ids, list->missing);
    *list = (struct trace_list){0};
}

/* Returns the message about a trace as the session shows it; free() it. Messages begin with the
 * path in its printable form. With --redact this path is redacted even if it is not absolute. */
static char *reason_of(const struct processes *processes, const char *path, const char *message)
{
    char shown[sizeof((struct ingest_status *)NULL)->message];
    if (!processes->options->redact)
        return strdup(message);
    const size_t length = printable_copy(shown, sizeof(shown), path);
    const char *slash = strrchr(shown, '/');
    const bool begins = strncmp(message, shown, length) == 0;
    return redact_text(NULL, message + (begins && slash ? slash + 1 - shown : 0));
}

/* Leaves out a trace that cannot be opened. False if the error is not one of the trace itself. */
static bool leave_out(struct processes *processes, const char *path,
                      const struct ingest_status *why)
{
    if (why->code != INGEST_BAD_INPUT) {
        *processes->status = *why;
        return false;
    }
    char *reason = reason_of(processes, path, why->message);
    if (!reason || !array_reserve(&processes->reasons, &processes->reason_capacity,
                                  processes->reason_count + 1, sizeof(reason))) {
        free(reason);
        return ingest_fail_memory(processes->status, "the list of traces");
    }
    processes->reasons[processes->reason_count++] = reason;
    if (processes->left_out)
        processes->left_out(why->message);
    return true;
}

ARRAY_ORDER(compare_starts, struct start,
            ORDER(a->at.start_ns, b->at.start_ns) ?: strcmp(a->trace, b->trace))

/* Finds the machine of each trace and its place on the line of time. */
static bool align_starts(struct processes *processes)
{
    struct machine_start **starts = malloc((processes->count + 1) * sizeof(struct machine_start *));
    for (size_t i = 0; starts && i < processes->count; i++)
        starts[i] = &processes->starts[i].at;
    if (starts)
        processes->machines = machines_align(starts, processes->count);
    free(starts);
    if (processes->machines == 0 && processes->count > 0)
        return ingest_fail_memory(processes->status, "the list of traces");
    qsort(processes->starts, processes->count, sizeof(*processes->starts), compare_starts);
    return true;
}

/* Notes that the first program of the run has no trace. */
static bool leave_out_missing(struct processes *processes, const char *path)
{
    char shown[1024];
    struct ingest_status why = {INGEST_OK, ""};
    printable_copy(shown, sizeof(shown), path);
    ingest_fail(
        &why, INGEST_BAD_INPUT,
        "%s: there is no such trace: it was deleted, or the program that was started could "
        "not be recorded (it has an allocator of its own, is static, or of another kind than "
        "mprof); the session shows what it started, from %s" TRACE_FOLDER,
        shown, shown);
    return leave_out(processes, path, &why);
}

static bool find_starts(struct processes *processes, const struct trace_list *list)
{
    processes->starts = calloc(list->count + 1, sizeof(*processes->starts));
    processes->parts = calloc(list->count + 1, sizeof(*processes->parts));
    if (!processes->starts || !processes->parts)
        return ingest_fail_memory(processes->status, "the list of traces");
    if (list->missing && !leave_out_missing(processes, list->missing))
        return false;
    for (size_t i = 0; i < list->count; i++) {
        struct ingest_status status = {INGEST_OK, ""};
        struct trace_file *file = trace_file_open(list->paths[i], &status);
        if (!file && !leave_out(processes, list->paths[i], &status))
            return false;
        bool good = true;
        if (file) {
            struct start *start = &processes->starts[processes->count++];
            start->trace = list->paths[i];
            good = machines_read(file, &start->at);
        }
        trace_file_close(file);
        if (!good)
            return ingest_fail_memory(processes->status, "the list of traces");
    }
    return align_starts(processes);
}

static void add_summary(struct ingest_summary *sum, const struct ingest_summary *part)
{
    sum->allocations += part->allocations;
    sum->frees += part->frees;
    sum->reallocs += part->reallocs;
    sum->bytes += part->bytes;
    sum->live_bytes += part->live_bytes;
    sum->live_count += part->live_count;
    sum->threads += part->threads;
    sum->stacks += part->stacks;
    sum->events += part->events;
    sum->dropped += part->dropped;
    sum->unseen_modules += part->unseen_modules;
    sum->late_modules += part->late_modules;
    sum->unmatched_frees += part->unmatched_frees;
    sum->double_frees += part->double_frees;
    sum->mismatched_frees += part->mismatched_frees;
    sum->wrong_sizes += part->wrong_sizes;
    sum->overlaps += part->overlaps;
    sum->orphaned_events += part->orphaned_events;
    sum->damaged_bytes += part->damaged_bytes;
    sum->missing_chunks += part->missing_chunks;
    if (part->unreadable_debug > sum->unreadable_debug) {
        sum->unreadable_debug = part->unreadable_debug; /* most modules are those of others, too */
        memcpy(sum->why_debug, part->why_debug, sizeof(sum->why_debug));
    }
    sum->unrecorded += part->unrecorded;
    if (sum->why_unrecorded[0] == '\0')
        memcpy(sum->why_unrecorded, part->why_unrecorded, sizeof(sum->why_unrecorded));
    if (sum->why_unseen[0] == '\0')
        memcpy(sum->why_unseen, part->why_unseen, sizeof(sum->why_unseen));
    sum->lost_suppressions += part->lost_suppressions;
    if (sum->why_suppressions[0] == '\0')
        memcpy(sum->why_suppressions, part->why_suppressions, sizeof(sum->why_suppressions));
}

/* Adds one trace. The tables of the first one become those of all. */
static bool add_process(struct processes *processes, const struct start *start)
{
    struct ingest_options options = *processes->options;
    struct ingest_summary summary = {0};
    const bool first = processes->added_count == 0;
    options.trace = start->trace;
    options.symbol_cache = &processes->symbol_cache;
    options.session = first ? processes->tables.part : processes->part.part;
    options.writer.force = true; /* this process made the file */
    options.writer.run = &processes->whole;
    options.writer.name = processes->options->session;
    /* The trace could be opened, so an error now (a full disk, for example) concerns all. */
    if (!writer_merge_begin(processes->merge, start->at.start_ns) ||
        !ingest_run(&options, &summary, processes->status))
        return false;
    processes->added[processes->added_count++] = (struct added){summary.origin, start->at.start_ns};
    processes->parts[start - processes->starts] = summary;
    if (first) {
        *processes->summary = summary;
        processes->summary->program = NULL; /* the part owns it */
    } else {
        add_summary(processes->summary, &summary);
    }
    bool good = writer_merge_add(processes->merge, options.session, start->at.machine);
    if (!first)
        unlink(options.session);
    return good;
}

/* Converts a stamp of a trace to the time of the session. Limits the stamp of a damaged trace. */
static uint64_t session_ns(const struct added *added, uint64_t ticks)
{
    const uint64_t ns = trace_time_ns(&added->origin.time, ticks);
    return added->later_ns + (ns < latest_ns ? ns : latest_ns);
}

/* Tells when each forked process was forked, by the parent's clock. Both processes take their
 * stamps from the same counter, but each trace has its own line from there to nanoseconds. If a
 * trace does not give the time of its fork, it is known to be before the trace's own beginning. */
static bool tell_forks(struct processes *processes)
{
    for (size_t i = 0; i < processes->added_count; i++) {
        const struct ingest_origin *origin = &processes->added[i].origin;
        uint64_t after = origin->fork_after ? origin->fork_after : origin->start_ticks;
        uint64_t before = origin->fork_before ? origin->fork_before : after;
        for (size_t k = 0; origin->parent_trace != 0 && k < i; k++) {
            const struct added *parent = &processes->added[k];
            if (parent->origin.trace_id != origin->parent_trace)
                continue;
            if (!writer_merge_fork(processes->merge, origin->trace_id, session_ns(parent, before),
                                   session_ns(parent, after)))
                return false;
            break;
        }
    }
    return true;
}

/* Makes the summary: that of the selected process, with the problems of the whole run. */
static bool summarize(struct processes *processes)
{
    struct ingest_summary *sum = processes->summary;
    const struct run *run = processes->run;
    if (run->selected < processes->count && run->selected < run->count) {
        struct ingest_summary whole = *sum;
        *sum = processes->parts[run->selected];
        sum->dropped = whole.dropped;
        sum->inherited_frees = whole.inherited_frees;
        sum->presumed_inherited_frees = whole.presumed_inherited_frees;
        sum->unmatched_frees = whole.unmatched_frees;
        sum->double_frees = whole.double_frees;
        sum->mismatched_frees = whole.mismatched_frees;
        sum->wrong_sizes = whole.wrong_sizes;
        sum->overlaps = whole.overlaps;
        sum->orphaned_events = whole.orphaned_events;
        sum->damaged_bytes = whole.damaged_bytes;
        sum->missing_chunks = whole.missing_chunks;
        sum->unseen_modules = whole.unseen_modules;
        sum->late_modules = whole.late_modules;
        sum->unrecorded = whole.unrecorded;
        memcpy(sum->why_unrecorded, whole.why_unrecorded, sizeof(sum->why_unrecorded));
        memcpy(sum->why_unseen, whole.why_unseen, sizeof(sum->why_unseen));
        sum->lost_suppressions = whole.lost_suppressions;
        memcpy(sum->why_suppressions, whole.why_suppressions, sizeof(sum->why_suppressions));
        sum->machines = whole.machines;
        sum->left_out = whole.left_out;
        sum->all_events = whole.events;
    }
    const size_t named = run->selected < processes->count ? run->selected : 0;
    const char *program = processes->parts[named].program;
    sum->program = program ? strdup(program) : NULL;
    return sum->program || ingest_fail_memory(processes->status, "the summary");
}

static bool add_all(struct processes *processes)
{
    if (processes->count == 0)
        return ingest_fail(processes->status, INGEST_BAD_INPUT, "none of the traces can be used");
    processes->added = calloc(processes->count + 1, sizeof(*processes->added));
    if (!processes->added)
        return ingest_fail_memory(processes->status, "the list of traces");
    struct writer_options options = processes->options->writer;
    options.run = &processes->whole;
    processes->merge = writer_merge_open(processes->options->session, processes->tables.part,
                                         &options, processes->status);
    if (!processes->merge)
        return false;
    for (size_t i = 0; i < processes->count; i++)
        if (!add_process(processes, &processes->starts[i]))
            return false;
    for (size_t i = 0; i < processes->reason_count; i++)
        if (!writer_merge_leave_out(processes->merge, processes->reasons[i]))
            return false;
    if (!tell_forks(processes) || !writer_merge_finish(processes->merge, processes->machines))
        return false;
    struct ingest_summary *summary = processes->summary;
    summary->unmatched_frees = writer_merge_fact(processes->merge, "unmatched_frees");
    summary->double_frees = writer_merge_fact(processes->merge, "double_frees");
    summary->inherited_frees = writer_merge_fact(processes->merge, "inherited_frees");
    summary->presumed_inherited_frees =
        writer_merge_fact(processes->merge, "presumed_inherited_frees");
    summary->machines = processes->machines;
    summary->left_out = processes->reason_count;
    summary->peak_bytes = writer_merge_fact(processes->merge, "peak_bytes");
    summary->peak_count = writer_merge_fact(processes->merge, "peak_count");
    summary->peak_ns = writer_merge_fact(processes->merge, "peak_ns");
    summary->duration_ns = writer_merge_fact(processes->merge, "duration_ns");
    return writer_merge_select(processes->merge, processes->run, processes->options->process) &&
           summarize(processes);
}

/* Makes the files that hold what the processes have in common. */
static bool begin_files(struct processes *processes)
{
    struct output_file *files[] = {&processes->tables, &processes->part,  &processes->frames,
                                   &processes->sums,   &processes->frees, &processes->events,
                                   &processes->names};
    const size_t count = sizeof(files) / sizeof(struct output_file *);
    bool good = true;
    for (size_t i = 0; i < count; i++)
        files[i]->descriptor = -1;
    for (size_t i = 0; good && i < count; i++)
        good = output_file_begin(files[i], processes->options->session,
                                 processes->options->writer.force, processes->status);
    return good && ((writer_frames_begin(&processes->whole.frames, processes->frames.descriptor) &&
                     writer_records_begin(&processes->whole.sums, processes->sums.descriptor,
                                          RESIDENCY_SUM_VALUES * sizeof(uint64_t)) &&
                     writer_records_begin(&processes->whole.frees, processes->frees.descriptor,
                                          sizeof(struct writer_free)) &&
                     totals_log_begin(&processes->whole.log, processes->events.descriptor,
                                      processes->names.descriptor)) ||
                    ingest_fail_memory(processes->status, "the frames of the traces"));
}

static void end_files(struct processes *processes)
{
    output_file_end(&processes->tables);
    output_file_end(&processes->part);
    output_file_end(&processes->frames);
    output_file_end(&processes->sums);
    output_file_end(&processes->frees);
    output_file_end(&processes->events);
    output_file_end(&processes->names);
    writer_run_rows_free(&processes->whole.rows);
    writer_frames_end(&processes->whole.frames);
    writer_records_end(&processes->whole.sums);
    writer_records_end(&processes->whole.frees);
    totals_log_free_memory(&processes->whole.log);
}

bool ingest_processes(const struct ingest_options *options, const struct trace_list *list,
                      void (*left_out)(const char *why), struct run *run,
                      struct ingest_summary *summary, struct ingest_status *status)
{
    struct processes processes = {
        .options = options, .left_out = left_out, .run = run, .summary = summary, .status = status};
    processes.symbol_cache = (struct symbol_cache){
        .path = options->cache, .persistent = options->cached && !options->bundle};
    const double begin = ingest_seconds();
    const bool good = begin_files(&processes) && find_starts(&processes, list) &&
                      add_all(&processes) && writer_merge_commit(processes.merge);
    summary->seconds = ingest_seconds() - begin;
    writer_merge_close(processes.merge);
    end_files(&processes);
    for (size_t i = 0; i < processes.reason_count; i++)
        free(processes.reasons[i]);
    free(processes.reasons);
    for (size_t i = 0; i < processes.count; i++)
        free(processes.parts[i].program);
    free(processes.parts);
    symbol_cache_free(&processes.symbol_cache);
    FREE_ALL(processes.starts, processes.added);
    return good;
}
