/* SPDX-License-Identifier: BSD-2-Clause */
/* mprof-ingest: turns a trace into a session. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/say.h"
#include "ingest/base/output_file.h"
#include "ingest/base/status.h"
#include "ingest/follow.h"
#include "ingest/ingest.h"
#include "ingest/processes.h"
#include "ingest/replay/suppressions.h"
#include "ingest/summary.h"
#include "ingest/trace/cursor.h"
#include "ingest/trace/dump.h"
#include "ingest/trace/file.h"
#include "ingest/write/derived.h"
#include "ingest/write/merge.h"
#include "schemas/printable.h"
#include "schemas/trace_layout.h"

/* Unfinished files beside a target: another run is making them, or a killed run has left them
 * (output_file.h). */

/* Returns true if the file is a database or a trace. Page 1 of a database is written late. Until
 * then the file is empty or begins with a hole. */
static bool is_of_ours(int descriptor)
{
    static const char database[16] = "SQLite format 3", nothing[16];
    char begin[16];
    ssize_t length = pread(descriptor, begin, sizeof(begin), 0);
    return length == 0 || (length == (ssize_t)sizeof(begin) &&
                           (memcmp(begin, database, sizeof(begin)) == 0 ||
                            memcmp(begin, nothing, sizeof(begin)) == 0 ||
                            memcmp(begin, TRACE_MAGIC, sizeof(TRACE_MAGIC) - 1) == 0));
}

/* Returns true if the file is locked. A process of another container may have a number that is free
 * here, but its locks can be seen. */
static bool is_locked(int descriptor)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return flock(descriptor, LOCK_EX | LOCK_NB) != 0 || fcntl(descriptor, F_GETLK, &lock) != 0 ||
           lock.l_type != F_UNLCK;
}

enum state { IN_USE, UNUSED, UNKNOWN };

static enum state look(int folder, const char *name, pid_t maker)
{
    struct stat about;
    enum state state = UNKNOWN;
    int descriptor = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return UNKNOWN;
    const bool runs = maker != getpid() && (kill(maker, 0) == 0 || errno != ESRCH);
    if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
        is_of_ours(descriptor)) {
        const bool locked = is_locked(descriptor);
        if (runs == locked)
            state = locked ? IN_USE : UNUSED;
    }
    close(descriptor);
    return state;
}

/* Removes the files of `target` that are certainly useless: their process has ended, the file is
 * this user's and a database, a trace or the beginning of one, and no process holds a lock on it.
 * False with `status` set if a running process holds the lock of one: it is writing the same
 * target. */
static bool stale_outputs_remove(const char *target, struct ingest_status *status)
{
    const char *slash = strrchr(target, '/'), *base = !slash ? target : slash + 1;
    char *path = base == target ? strdup(".") : strndup(target, (size_t)(base - target));
    DIR *folder = !path ? NULL : opendir(path);
    bool free_to_write = true;
    free(path);
    if (!folder)
        return true;
    for (struct dirent *entry; (entry = readdir(folder));) {
        pid_t maker = output_file_maker(entry->d_name, base);
        enum state state = maker == 0 ? UNKNOWN : look(dirfd(folder), entry->d_name, maker);
        if (state == UNUSED)
            unlinkat(dirfd(folder), entry->d_name, 0);
        if (state == IN_USE)
            free_to_write = ingest_fail(status, INGEST_BAD_INPUT,
                                        "%s: another mprof-ingest (process %d) is writing it; wait "
                                        "for it, or name another session with -o",
                                        target, (int)maker);
    }
    closedir(folder);
    return free_to_write;
}

/* Estimates the disk space that a session will take, before its traces are read in full. */

struct disk_space {
    /* Bytes, estimated from a part of the traces: up to a third more or less is possible. */
    uint64_t needed;
    uint64_t available; /* bytes free for users on the session's file system; 0: not known */
};

/* Bytes of a session for each allocation: its row and its columns. */
#define SESSION_PER_ALLOCATION 43u
/* Bytes for each node of the tree of stacks, with the stack that ends there and its sums. */
#define SESSION_PER_NODE 160u
/* Bytes of an empty session. */
#define SESSION_LEAST (UINT64_C(400) << 10)
/* The number of chunks that are read, from all parts of the trace. */
#define CHUNKS_READ 32u
/* A smaller session is not worth a line. */
#define LEAST_PRINTED (UINT64_C(16) << 20)

static bool is_allocation(const struct trace_record *record)
{
    return record->kind == TRACE_ALLOC || record->kind == TRACE_ALLOC_ATTR ||
           record->kind == TRACE_REALLOC ||
           (record->kind == TRACE_EXTENDED && (record->extended.type == TRACE_EXT_ARENA_ALLOC ||
                                               record->extended.type == TRACE_EXT_ARENA_REALLOC));
}

/* The causes of a large session. */
struct volume {
    uint64_t allocations, nodes;
};

static struct volume volume_of_chunk(const struct trace_file *file, const struct trace_slot *slot)
{
    struct trace_cursor cursor;
    struct trace_record record;
    struct volume volume = {0, 0};
    if (!trace_cursor_open(&cursor, file, slot))
        return volume;
    while (trace_cursor_next(&cursor, &record) == TRACE_GET_RECORD) {
        volume.allocations += is_allocation(&record);
        volume.nodes += record.kind == TRACE_NODE;
    }
    trace_cursor_close(&cursor);
    return volume;
}

/* Estimates a trace's bytes in a session by some of its chunks. */
static uint64_t bytes_of(const char *path)
{
    struct ingest_status status = {INGEST_OK, ""};
    struct trace_file *file = trace_file_open(path, &status);
    const struct trace_slot *slots;
    uint64_t bytes = 0, bytes_read = 0, needed = 0;
    if (!file)
        return 0;
    const size_t count = trace_file_slots(file, &slots), step = 1 + count / CHUNKS_READ;
    for (size_t i = 0; i < count; i++) {
        if (slots[i].damage)
            continue;
        bytes += slots[i].commit;
        if (i % step == 0) {
            const struct volume volume = volume_of_chunk(file, &slots[i]);
            bytes_read += slots[i].commit;
            needed += SESSION_PER_ALLOCATION * volume.allocations;
            needed += SESSION_PER_NODE * volume.nodes;
        }
    }
    trace_file_close(file);
    return bytes_read ? (uint64_t)((double)needed * (double)bytes / (double)bytes_read) : 0;
}

static uint64_t available_beside(const char *session)
{
    struct statvfs about;
    char *copy = strdup(session);
    uint64_t bytes = 0;
    if (copy && statvfs(dirname(copy), &about) == 0)
        bytes = (uint64_t)about.f_bavail * about.f_frsize;
    free(copy);
    return bytes;
}

/* Estimates the space. Traces that cannot be read count as 0 bytes; the ingest tells why. */
static struct disk_space disk_space_estimate(const struct trace_list *traces, const char *session)
{
    struct disk_space space = {SESSION_LEAST, available_beside(session)};
    for (size_t i = 0; i < traces->count; i++)
        space.needed += bytes_of(traces->paths[i]);
    return space;
}

static void put_bytes(FILE *out, uint64_t bytes)
{
    const double mebibytes = (double)bytes / (1 << 20);
    if (mebibytes < 1024)
        fprintf(out, "%.0f MiB", mebibytes);
    else
        fprintf(out, "%.1f GiB", mebibytes / 1024);
}

/* Prints it in one line, if it is more than a few megabytes. With `only_short` it prints only if
 * the session does not fit. */
static void disk_space_print(FILE *out, const struct disk_space *space, const char *session,
                             bool only_short)
{
    char name[512];
    const bool fits = space->available == 0 || space->needed <= space->available;
    if (space->needed < LEAST_PRINTED || (only_short && fits))
        return;
    printable_copy(name, sizeof(name), session);
    fprintf(out, "mprof-ingest: %s will take about ", name);
    put_bytes(out, space->needed);
    if (space->available != 0) {
        fputs(fits ? "; " : ", and may not fit: ", out);
        put_bytes(out, space->available);
        fputs(" are free on its disk", out);
    }
    fputc('\n', out);
}

struct options {
    struct ingest_options ingest;
    enum { DUMP_NONE, DUMP_FILE_ORDER, DUMP_BY_TIME } dump;
    bool compress, rebuild;
    bool quiet, live;
    const char *suppressions; /* the file, or NULL */
    char *default_session;
    char **traces; /* as they were named */
    size_t trace_count;
};

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal_number)
{
    interrupted = signal_number;
}

static bool fail_usage(const char *message, const char *what)
{
    command_line_wrong(&ingest_command_line, "%s%s", message, what);
    return false;
}

static bool set_index(struct options *options, const char *name)
{
    static const char *const names[] = {
        [WRITER_INDEX_NONE] = "none", [WRITER_INDEX_STACK] = "stack", [WRITER_INDEX_ALL] = "all"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], name) == 0) {
            options->ingest.writer.index = (enum writer_index)i;
            return true;
        }
    return fail_usage("--index is none, stack or all, not ", name);
}

static bool set_dump(struct options *options, const char *order)
{
    if (!order || strcmp(order, "file") == 0)
        options->dump = DUMP_FILE_ORDER;
    else if (strcmp(order, "time") == 0)
        options->dump = DUMP_BY_TIME;
    else
        return fail_usage("--dump is file or time, not ", order);
    return true;
}

static bool set_redact(struct options *options, const char *root)
{
    options->ingest.redact = options->ingest.writer.forget = true;
    options->ingest.source_root = root;
    return !root || *root == '/' || fail_usage("--redact takes an absolute path, not ", root);
}

/* Makes the default name: TRACE with .bin replaced by .db, or else with .db appended. */
static bool set_default_session(struct options *options)
{
    const char *trace = options->ingest.trace;
    size_t length = strlen(trace);
    while (length > 1 && trace[length - 1] == '/') /* a directory */
        length--;
    if (length > 4 && strcmp(trace + length - 4, ".bin") == 0)
        length -= 4;
    if (asprintf(&options->default_session, "%.*s.db", (int)length, trace) < 0) {
        say("mprof-ingest", "out of memory for the name of the session; close other programs");
        return false;
    }
    options->ingest.session = options->default_session;
    return true;
}

/* Returns true if the session is made of several traces. */
static bool many(const struct options *options)
{
    struct stat about;
    return options->trace_count > 1 ||
           (stat(options->traces[0], &about) == 0 && S_ISDIR(about.st_mode));
}

static bool is_suppressing(const struct options *options)
{
    return options->suppressions || options->ingest.program_suppressions;
}

static void set_suppressions(struct options *options, const char *value)
{
    if (strcmp(value, "program") == 0)
        options->ingest.program_suppressions = true;
    else
        options->suppressions = value;
}

#define AT(member) offsetof(struct options, member)

/* Takes one option. Returns -1 to continue, otherwise the exit status. */
static int take_option(void *context, int option, const char *value)
{
    static const struct command_kept kept[] = {{INGEST_OPTION_OUTPUT, AT(ingest.session)},
                                               {INGEST_OPTION_FORCE, AT(ingest.writer.force)},
                                               {INGEST_OPTION_QUIET, AT(quiet)},
                                               {INGEST_OPTION_DEBUG_DIR, AT(ingest.debug_dir)},
                                               {INGEST_OPTION_SYSROOT, AT(ingest.sysroot)},
                                               {INGEST_OPTION_PROCESS, AT(ingest.process)},
                                               {INGEST_OPTION_BUNDLE, AT(ingest.bundle)},
                                               {INGEST_OPTION_LIVE, AT(live)},
                                               {INGEST_OPTION_COMPRESS, AT(compress)},
                                               {INGEST_OPTION_REBUILD, AT(rebuild)}};
    struct options *options = context;
    bool good = true;
    if (command_line_keep(kept, sizeof(kept) / sizeof(*kept), option, value, options))
        return -1;
    switch (option) {
    case INGEST_OPTION_INDEX:
        good = set_index(options, value);
        break;
    case INGEST_OPTION_REDACT:
        good = set_redact(options, value);
        break;
    case INGEST_OPTION_LABEL:
        return labels_take(&options->ingest.labels, &ingest_command_line, value);
    case INGEST_OPTION_SUPPRESSIONS:
        set_suppressions(options, value);
        break;
    case INGEST_OPTION_CACHE:
        options->ingest.cached = strcmp(value, "off") != 0;
        options->ingest.cache = value;
        break;
    case INGEST_OPTION_DUMP:
        good = set_dump(options, value);
        break;
    }
    return good ? -1 : 2;
}

/* Reads the command line. Returns -1 to continue, otherwise the exit status. */
static int parse(int argc, char **argv, struct options *options)
{
    const int status = command_line_read(&ingest_command_line, argc, argv, take_option, options);
    if (status >= 0)
        return status;
    bool good = true;
    if (good && optind == argc)
        good = fail_usage("no trace named", "");
    options->traces = argv + optind;
    options->trace_count = (size_t)(argc - optind);
    if (good && many(options) &&
        (options->compress || options->rebuild || options->live || options->dump != DUMP_NONE))
        good =
            fail_usage("several traces become a session: --compress, --dump, --live and --rebuild "
                       "take one",
                       "");
    if (good && options->ingest.redact &&
        (options->compress || options->rebuild || options->live || options->ingest.bundle ||
         options->dump != DUMP_NONE))
        good = fail_usage("--redact makes a session of a finished trace, without copies of files: "
                          "not with --bundle, --live and the like",
                          "");
    if (good && (is_suppressing(options) || options->ingest.labels.count > 0) &&
        (options->compress || options->rebuild || options->dump != DUMP_NONE))
        good = fail_usage("--suppressions and --label are for the session that is made of a trace: "
                          "not with --compress, --dump and --rebuild",
                          "");
    if (!good)
        return 2;
    options->ingest.trace = argv[optind];
    if (options->compress && options->dump != DUMP_NONE) {
        fail_usage("--compress or --dump, not both", "");
        return 2;
    }
    if (options->rebuild && (options->compress || options->live || options->dump != DUMP_NONE ||
                             options->ingest.session)) {
        fail_usage("--rebuild works on the session itself, without -o and the like", "");
        return 2;
    }
    if (options->ingest.session)
        return -1;
    if (options->compress)
        options->ingest.session = options->ingest.trace;
    else if (!set_default_session(options))
        return 1;
    return -1;
}

static bool dump(const struct options *options, struct ingest_status *status)
{
    struct trace_file *file = trace_file_open(options->ingest.trace, status);
    if (!file)
        return false;
    bool good = options->dump == DUMP_BY_TIME ? trace_dump_by_time(stdout, file, status)
                                              : trace_dump_file(stdout, file, status);
    trace_file_close(file);
    if (good && (fflush(stdout) != 0 || ferror(stdout)))
        return ingest_fail(status, INGEST_BAD_INPUT, "standard output: cannot be written: %s",
                           strerror(errno));
    return good;
}

/* Lets signals end the work cleanly, so that nothing unfinished is left. */
static void catch_interrupts(void)
{
    /* A second signal ends the process at once: the symbols of a large file may take a while. */
    struct sigaction action = {.sa_handler = note_interrupt, .sa_flags = (int)SA_RESETHAND};
    interrupted = 0;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    /* A write above the limit of file sizes then fails, and the unfinished file is removed. */
    signal(SIGXFSZ, SIG_IGN);
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Makes a live session until the program ends or a first signal comes. Then the whole session is
 * made of what was recorded by then. */
static bool watch(struct options *options, struct ingest_status *status)
{
    if (!ingest_follow(&options->ingest, status))
        return false;
    catch_interrupts();
    options->ingest.writer.force = true; /* this process made the file */
    return true;
}

static void tell(const char *text)
{
    say("mprof-ingest", "%s", text);
}

static void tell_left_out(const char *why)
{
    say("mprof-ingest", "left out: %s", why);
}

/* Ingests the traces that were named, and the other traces of their runs. */
static bool ingest_traces(const struct options *options, struct run *run,
                          struct ingest_summary *summary, struct ingest_status *status)
{
    struct trace_list list = {0};
    bool good = true;
    for (size_t i = 0; good && i < options->trace_count; i++)
        good = trace_list_add(&list, options->traces[i], status);
    for (size_t i = 0; good && i < list.count; i++)
        if (same_file(list.paths[i], options->ingest.session))
            good = ingest_fail(status, INGEST_BAD_USAGE,
                               "%s: the session would replace the trace; name another with -o",
                               options->ingest.session);
    /* The process to select must be there, even if there is one alone. */
    const bool selects = options->ingest.process && !options->ingest.imported;
    if (good && (list.count > 1 || list.missing || many(options) || selects))
        good = ingest_processes(&options->ingest, &list, tell_left_out, run, summary, status);
    else if (good)
        good = ingest_run(&options->ingest, summary, status);
    trace_list_free(&list);
    return good;
}

/* Ingests. A single recording of another profiler becomes a trace first. */
static bool import_and_ingest(struct options *options, struct run *run,
                              struct ingest_summary *summary, struct ingest_status *status)
{
    struct imported imported = {.descriptor = -1};
    if (many(options) || options->live)
        return ingest_traces(options, run, summary, status);
    bool good = import_file(options->ingest.trace, options->ingest.session, &interrupted, &imported,
                            status);
    if (imported.descriptor >= 0)
        options->ingest.imported = &imported;
    good = good && ingest_traces(options, run, summary, status);
    options->ingest.imported = NULL;
    imported_free(&imported);
    return good;
}

/* Prints how much space the session will take, unless the trace is still being recorded and its
 * size is unknown. */
static void say_room(const struct options *options)
{
    struct ingest_status unreadable = {INGEST_OK, ""};
    struct trace_list list = {0};
    bool good = !options->live;
    for (size_t i = 0; good && i < options->trace_count; i++)
        good = trace_list_add(&list, options->traces[i], &unreadable);
    if (good) {
        const struct disk_space space = disk_space_estimate(&list, options->ingest.session);
        disk_space_print(stderr, &space, options->ingest.session, options->quiet);
    }
    trace_list_free(&list);
}

/* Prints how much each suppression has matched, as LeakSanitizer's summary does. */
static bool say_suppressed(const char *session, struct ingest_status *status)
{
    struct suppressed_list list;
    if (!suppressed_list_read(&list, session, status))
        return false;
    summary_suppressed_print(stdout, &list);
    suppressed_list_free(&list);
    return true;
}

static bool ingest_suppressing(struct options *options, struct ingest_status *status)
{
    struct ingest_summary summary = {0};
    struct progress progress;
    if (same_file(options->ingest.trace, options->ingest.session))
        return ingest_fail(status, INGEST_BAD_USAGE,
                           "%s: the session would replace the trace; name another with -o",
                           options->ingest.session);
    if (!stale_outputs_remove(options->ingest.session, status))
        return false;
    catch_interrupts();
    say_room(options);
    progress_init(&progress, options->quiet);
    options->ingest.progress = progress_report;
    options->ingest.progress_context = &progress;
    options->ingest.writer.interrupted = &interrupted;
    struct run run = {0};
    bool good = (!options->live || watch(options, status)) &&
                import_and_ingest(options, &run, &summary, status);
    progress_end(&progress);
    options->ingest.progress = NULL;
    options->ingest.progress_context = NULL;
    if (good && !options->quiet) {
        if (run.count > 1)
            summary_run_print(stdout, &run);
        summary_print(stdout, &summary, options->ingest.session);
        good = !is_suppressing(options) || say_suppressed(options->ingest.session, status);
    }
    run_processes_free(&run);
    free(summary.program);
    return good;
}

/* Prints "NAME: FACT" on standard output. */
__attribute__((format(printf, 2, 3))) static void put_fact(const char *name, const char *format,
                                                           ...)
{
    char text[4096];
    va_list values;
    printable_copy(text, sizeof(text), name);
    printf("%s: ", text);
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    putchar('\n');
}

/* Ingests. It reads the suppressions first, so a bad line ends it before any work begins. */
static bool ingest(struct options *options, struct ingest_status *status)
{
    struct suppressions *suppressions = NULL;
    if (options->suppressions &&
        !(suppressions = suppressions_read(options->suppressions, stderr, status)))
        return false;
    options->ingest.suppressions = suppressions;
    const bool good = ingest_suppressing(options, status);
    options->ingest.suppressions = NULL;
    suppressions_free(suppressions);
    return good;
}

static bool rebuild(const struct options *options, struct ingest_status *status)
{
    catch_interrupts();
    if (!writer_rebuild(options->ingest.trace, &interrupted, status))
        return false;
    if (!options->quiet)
        put_fact(options->ingest.trace, "sums, peaks and column chunks are computed again");
    return true;
}

/* Returns true if a process runs. A zombie does not: it writes no more. */
static bool runs(pid_t process)
{
    char name[48], line[512] = "";
    if (kill(process, 0) != 0 && errno == ESRCH)
        return false;
    snprintf(name, sizeof(name), "/proc/%d/stat", (int)process);
    FILE *file = fopen(name, "re");
    if (file) {
        (void)!fgets(line, sizeof(line), file);
        fclose(file);
    }
    /* The state is the letter after the name, which may contain any characters. */
    const char *end_of_name = strrchr(line, ')');
    return !end_of_name ||
           (strncmp(end_of_name, ") Z", 3) != 0 && strncmp(end_of_name, ") X", 3) != 0);
}

static bool compress(const struct options *options, struct ingest_status *status)
{
    const char *trace = options->ingest.trace, *target = options->ingest.session;
    struct trace_compress_result result;
    struct trace_file *file = trace_file_open(trace, status);
    if (!file)
        return false;
    const struct trace_file_header *header = trace_file_header(file);
    bool in_place = same_file(trace, target), good;
    if (in_place && header->state == TRACE_STATE_RECORDING && runs((pid_t)header->pid))
        good =
            ingest_fail(status, INGEST_BAD_INPUT,
                        "%s: process %u still records it; wait for its end, or name another file "
                        "with -o",
                        trace, header->pid);
    else {
        catch_interrupts();
        good = stale_outputs_remove(target, status) &&
               trace_compress(file, target, in_place || options->ingest.writer.force, &interrupted,
                              &result, status);
        if (good && !options->quiet)
            put_fact(target, "%llu bytes, before %llu", (unsigned long long)result.bytes,
                     (unsigned long long)trace_file_size(file));
    }
    trace_file_close(file);
    return good;
}

/* The files of all modules are open at the same time. */
static void allow_many_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int argc, char **argv)
{
    struct options options = {.ingest.writer.index = WRITER_INDEX_NONE,
                              .ingest.writer.tell = tell,
                              .ingest.cached = true};
    struct ingest_status status = {INGEST_OK, ""};
    int exit_status = parse(argc, argv, &options);
    if (exit_status < 0) {
        privileges_give_up();
        allow_many_files();
        bool good = options.dump != DUMP_NONE ? dump(&options, &status)
                    : options.compress        ? compress(&options, &status)
                    : options.rebuild         ? rebuild(&options, &status)
                                              : ingest(&options, &status);
        exit_status = good ? 0 : status.code == INGEST_BAD_USAGE ? 2 : 1;
        if (!good)
            say("mprof-ingest", "%s", status.message);
    }
    free(options.default_session);
    if (status.code == INGEST_INTERRUPTED && interrupted != 0) {
        /* The parent sees the signal, as if it had not been caught. */
        signal(interrupted, SIG_DFL);
        raise(interrupted);
    }
    return exit_status;
}
