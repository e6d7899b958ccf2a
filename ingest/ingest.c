/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/ingest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "ingest/base/cache.h"
#include "ingest/base/output_file.h"
#include "ingest/symbols/file.h"
#include "ingest/write/redact.h"
#include "ingest/write/session_tables.h"
#include "schemas/trace_layout.h"

/* ---- symbol cache -------------------------------------------------------------------------- */

/* Bytes of debug information that stay open from trace to trace. With more, all is read again. */
#define BYTES_MAX (UINT64_C(512) << 20)

/* Files that stay open. Files without a build-id are opened for each trace, and the usual limit of
 * a process is 1024 descriptors. */
#define FILES_MAX 256

static void begin_answers(struct symbol_cache *cache)
{
    if (!cache->persistent)
        return;
    cache->folder = cache_folder_open(cache->path);
    if (cache->folder < 0)
        return;
    cache->answers = cache_new(cache->folder);
    if (cache->answers)
        symbols_set_cache(cache->symbols, cache->answers);
    else
        close(cache->folder);
}

bool symbol_cache_begin(struct symbol_cache *cache, const struct symbols_options *options)
{
    if (cache->symbols &&
        (symbols_bytes(cache->symbols) > BYTES_MAX || symbols_files(cache->symbols) > FILES_MAX))
        symbol_cache_free(cache);
    if (!cache->symbols) {
        cache->symbols = symbols_new(options);
        if (cache->symbols)
            begin_answers(cache);
    }
    if (cache->symbols && !cache->types)
        cache->types = types_new(cache->symbols);
    if (!cache->types)
        return false;
    symbols_next_trace(cache->symbols);
    types_next_trace(cache->types);
    return true;
}

/* Returns true if a limit of this process may have changed answers: others must not use them. */
static bool is_limited(const struct symbol_cache *cache)
{
    struct rlimit open_files, memory, data;
    /* The files from which the answers come are still open. */
    const int next = fcntl(cache->folder, F_DUPFD_CLOEXEC, 0);
    if (next < 0)
        return true;
    close(next);
    return getrlimit(RLIMIT_NOFILE, &open_files) != 0 || open_files.rlim_cur < (rlim_t)next + 64 ||
           getrlimit(RLIMIT_AS, &memory) != 0 || memory.rlim_cur != RLIM_INFINITY ||
           getrlimit(RLIMIT_DATA, &data) != 0 || data.rlim_cur != RLIM_INFINITY;
}

void symbol_cache_free(struct symbol_cache *cache)
{
    if (cache->answers) {
        if (!is_limited(cache))
            cache_save(cache->answers, symbols_depends(cache->symbols));
        close(cache->folder);
    }
    types_free(cache->types);
    symbols_free(cache->symbols);
    cache_free(cache->answers);
    *cache = (struct symbol_cache){.path = cache->path, .persistent = cache->persistent};
}

/* ---- ingest -------------------------------------------------------------------------------- */

/* Copies the files that the names of a session come from into the session itself: its modules,
 * their separate debug information, the source files of its frames and the perf map. With them the
 * trace can be ingested on another machine, and the source can be read there.
 *
 * They go into the table `sqlar`, an SQLite archive (https://sqlite.org/sqlar.html).
 * `sqlite3 SESSION -Ax` unpacks it below the current folder, ready for --sysroot. The table
 * `bundle` says for each file that was wanted whether it is there, and if not, why. */

/* A file is left out if it is larger than BUNDLE_FILE_MAX bytes, or if the files would get larger
 * than BUNDLE_MAX bytes together. */
#define BUNDLE_FILE_MAX (UINT64_C(512) << 20)
#define BUNDLE_MAX (UINT64_C(2) << 30)

/* Longest path of the recorded machine. */
#define PLACE_MAX 8192

struct bundle {
    const struct table_sink *sink;
    const char *sysroot;   /* "": none */
    const char *directory; /* of the program */
    uint64_t copied;       /* bytes, before they are compressed */
    char **names;          /* of all files so far: each is added once */
    size_t name_count, name_capacity;
    struct index_map by_name;
    bool good;
};

/* Reads the whole file. The caller frees the result. NULL with `reason` set. */
static uint8_t *read_file(const struct bundle *bundle, const char *path, struct stat *about,
                          char reason[200])
{
    /* A trace can name anything: only regular files are read, and a FIFO must not block. */
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0 || fstat(descriptor, about) != 0) {
        snprintf(reason, 200, "cannot be read: %s", strerror(errno));
        if (descriptor >= 0)
            close(descriptor);
        return NULL;
    }
    uint64_t size = (uint64_t)about->st_size;
    uint8_t *bytes = NULL;
    if (!S_ISREG(about->st_mode))
        snprintf(reason, 200, "not a regular file");
    else if (size > BUNDLE_FILE_MAX)
        snprintf(reason, 200, "too large: %" PRIu64 " bytes, at most %" PRIu64, size,
                 BUNDLE_FILE_MAX);
    else if (bundle->copied + size > BUNDLE_MAX)
        snprintf(reason, 200, "the bundle is full: %" PRIu64 " bytes", BUNDLE_MAX);
    else if (!(bytes = malloc(size + 1)))
        snprintf(reason, 200, "out of memory");
    if (bytes && read_whole(descriptor, bytes, size, 0) < size) {
        snprintf(reason, 200, "cannot be read: %s", errno != 0 ? strerror(errno) : "it shrinks");
        free(bytes);
        bytes = NULL;
    }
    close(descriptor);
    return bytes;
}

/* Writes a file as SQLite archives hold it: compressed if that is shorter. */
static bool put_copy(struct bundle *bundle, const char *name, const uint8_t *bytes,
                     const struct stat *about)
{
    uint64_t size = (uint64_t)about->st_size;
    uLongf packed_size = compressBound(size);
    uint8_t *packed = malloc(packed_size);
    bool shorter = packed && compress2(packed, &packed_size, bytes, size, Z_BEST_SPEED) == Z_OK &&
                   packed_size < size;
    const struct writer_value row[] = {
        value_text(name), value_number(about->st_mode & 0777u ? about->st_mode : 0100644u),
        value_number((uint64_t)about->st_mtime), value_number(size),
        shorter ? value_blob(packed, packed_size) : value_blob(bytes, size)};
    bool good =
        bundle->sink->put(bundle->sink->context, WRITER_SQLAR, row, sizeof(row) / sizeof(*row));
    free(packed);
    return good;
}

static bool is_known(struct bundle *bundle, const char *name)
{
    uint64_t hash = hash_text(name);
    INDEX_MAP_EACH(&bundle->by_name, hash, index)
        if (bundle->names && strcmp(bundle->names[index], name) == 0)
            return true;
    char *kept = strdup(name);
    bundle->good = kept &&
                   array_reserve(&bundle->names, &bundle->name_capacity, bundle->name_count + 1,
                                 sizeof(char *)) &&
                   index_map_insert(&bundle->by_name, hash, (uint32_t)bundle->name_count);
    if (bundle->good)
        bundle->names[bundle->name_count++] = kept;
    else
        free(kept);
    return !bundle->good;
}

/* Makes the name in the archive: `place` without its first '/'. "." and ".." are resolved as if no
 * folder were a link, so that no file is unpacked outside the folder for the archive. */
static void name_copy(char *name, size_t size, const char *place)
{
    size_t length = 0;
    name[0] = '\0';
    while (*(place += strspn(place, "/")) != '\0') {
        size_t part = strcspn(place, "/");
        if (part == 2 && place[0] == '.' && place[1] == '.') {
            const char *parent = strrchr(name, '/');
            length = parent ? (size_t)(parent - name) : 0;
        } else if (!(part == 1 && place[0] == '.') && length + part + 2 < size) {
            if (length > 0)
                name[length++] = '/';
            memcpy(name + length, place, part);
            length += part;
        }
        name[length] = '\0';
        place += part;
    }
}

/* Adds a file that is wanted. `path` NULL: it cannot be added, for the reason `why`. */
static void put_file(struct bundle *bundle, const char *kind, const char *path, const char *place,
                     const char *why)
{
    char reason[200], name[PLACE_MAX];
    struct stat about = {0};
    name_copy(name, sizeof(name), place);
    if (*name == '\0' || !bundle->good || is_known(bundle, name))
        return;
    snprintf(reason, sizeof(reason), "%s", why);
    uint8_t *bytes = !path ? NULL : read_file(bundle, path, &about, reason);
    if (bytes) {
        snprintf(reason, sizeof(reason), "copied");
        bundle->copied += (uint64_t)about.st_size;
        bundle->good = put_copy(bundle, name, bytes, &about);
        free(bytes);
    }
    const struct writer_value row[] = {value_text(name), value_text(kind),
                                       value_number((uint64_t)about.st_size), value_text(reason)};
    bundle->good = bundle->good && bundle->sink->put(bundle->sink->context, WRITER_BUNDLE, row,
                                                     sizeof(row) / sizeof(*row));
}

/* Gives the place where libdw finds separate debug information below any root. */
static void place_debug(const struct bundle *bundle, const struct symbols_path *file,
                        char place[PLACE_MAX])
{
    const char *path = file->path;
    size_t root = strlen(bundle->sysroot);
    if (strncmp(path, bundle->sysroot, root) == 0 &&
        strncmp(path + root, "/usr/lib/debug/", 15) == 0)
        snprintf(place, PLACE_MAX, "%s", path + root);
    else
        snprintf(place, PLACE_MAX, "/usr/lib/debug/.build-id/%.2s/%s.debug", file->build_id,
                 strlen(file->build_id) > 2 ? file->build_id + 2 : "none");
}

static void put_debug(struct bundle *bundle, const struct symbols_path *file)
{
    char place[PLACE_MAX];
    if (!file->path)
        return;
    place_debug(bundle, file, place);
    put_file(bundle, "debug", file->path, place, "");
}

struct split_units {
    struct bundle *bundle;
    const char *from; /* place of the file that names them */
};

/* Adds a .dwo file: libdw looks beside the file that names it, not for an absolute name. */
static void put_split(void *context, const struct symbols_split *split)
{
    const struct split_units *units = context;
    char place[PLACE_MAX];
    const char *slash = strrchr(units->from, '/');
    int folder = !slash || split->name[0] == '/' ? 0 : (int)(slash + 1 - units->from);
    snprintf(place, sizeof(place), "%.*s%s", folder, units->from, split->name);
    put_file(units->bundle, "debug", split->path, place, "");
}

/* Adds the file beside the module in which dwp(1) gathered the .dwo files. */
static void put_package(struct bundle *bundle, const char *path, const char *place)
{
    char package[PLACE_MAX + 8], package_place[PLACE_MAX + 8];
    snprintf(package, sizeof(package), "%s.dwp", path);
    snprintf(package_place, sizeof(package_place), "%s.dwp", place);
    if (access(package, R_OK) == 0)
        put_file(bundle, "debug", package, package_place, "");
}

static void put_module(struct bundle *bundle, struct symbols *symbols,
                       const struct module_row *module)
{
    struct symbols_paths *paths = malloc(sizeof(*paths));
    bool absolute = module->path[0] == '/';
    char place[PLACE_MAX], debug_place[PLACE_MAX];
    struct split_units units = {bundle, place};
    bundle->good = paths != NULL;
    if (!paths)
        return;
    snprintf(place, sizeof(place), "%s%s%s", absolute ? "" : bundle->directory, absolute ? "" : "/",
             module->path);
    if (symbols_paths(symbols, module->id, paths)) {
        put_file(bundle, "module", paths->module.path, place, "");
        put_debug(bundle, &paths->debug);
        put_debug(bundle, &paths->common);
        if (paths->debug.path) {
            place_debug(bundle, &paths->debug, debug_place);
            units.from = debug_place;
        }
        symbols_paths_split(symbols, module->id, put_split, &units);
        put_package(bundle, paths->module.path, place);
    } else {
        put_file(bundle, "module", NULL, place, symbols_status(symbols, module->id));
    }
    free(paths);
}

/* Adds a file of the recorded machine: the one below `sysroot` if it is there. */
static void put_below_root(struct bundle *bundle, const char *kind, const char *place)
{
    char path[PLACE_MAX];
    snprintf(path, sizeof(path), "%s%s", bundle->sysroot, place);
    put_file(bundle, kind, access(path, R_OK) == 0 ? path : place, place, "");
}

/* Copies the files. `sysroot` is as in symbols_options. False with the sink's status set, or if
 * memory is exhausted. */
static bool bundle_put(const struct table_sink *sink, const struct session_facts *facts,
                       const char *sysroot)
{
    const struct trace_scan *scan = facts->scan;
    const struct frames *frames = &facts->stacks->frames;
    struct bundle bundle = {.sink = sink,
                            .sysroot = sysroot ? sysroot : "",
                            .directory = scan->process.found ? scan->process.directory : "",
                            .good = true};
    struct stat about;
    char map[64];
    for (size_t i = 0; bundle.good && i < scan->module_count; i++)
        if (!scan->modules[i].runtime)
            put_module(&bundle, frames->symbols, &scan->modules[i]);
    for (size_t i = 0; bundle.good && i < frames->source_file_count; i++)
        if (frames->source_files[i][0] == '/')
            put_below_root(&bundle, "source", frames->source_files[i]);
    snprintf(map, sizeof(map), "/tmp/perf-%" PRIu64 ".map", scan->process.pid);
    if (bundle.good && scan->process.found && lstat(map, &about) == 0 && symbols_trust(&about))
        put_below_root(&bundle, "perf map", map);
    for (size_t i = 0; i < bundle.name_count; i++)
        free(bundle.names[i]);
    free(bundle.names);
    index_map_free(&bundle.by_name);
    return bundle.good;
}

/* Events between two looks at the progress bar and at Ctrl-C. */
enum { EVENTS_PER_LOOK = 16384 };
/* Events between two counts of the live blocks in all arenas. */
enum { EVENTS_PER_COUNT = 64 * EVENTS_PER_LOOK };

struct pipeline {
    const struct ingest_options *options;
    struct ingest_status *status;
    struct trace_file *file;
    struct symbol_cache *symbol_cache, own_cache;
    struct symbols *symbols; /* owned by `names` */
    struct writer *writer;
    struct trace_scan scan;
    struct stacks stacks;
    struct stack_nodes nodes; /* of their frames, once all stacks are known */
    struct totals totals;
    struct type_table types;
    struct replay replay;
    struct problems problems;    /* of both passes */
    struct suppressions *joined; /* with those that the program carries; NULL: not asked for */
};

double ingest_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void report(const struct pipeline *pipeline, enum ingest_phase phase, uint64_t done)
{
    const struct ingest_options *options = pipeline->options;
    if (options->progress)
        options->progress(options->progress_context, phase, done, trace_file_size(pipeline->file));
}

/* Returns false if the live blocks take more memory than those of the file may. */
static bool check_live(const struct pipeline *pipeline)
{
    const struct replay *replay = &pipeline->replay;
    uint64_t live = replay->heap.live, bytes = live_table_bytes(&replay->heap);
    struct stat about;
    for (size_t i = 0; i < replay->arena_count; i++) {
        live += replay->arenas[i].blocks.live;
        bytes += live_table_bytes(&replay->arenas[i].blocks);
    }
    bytes += live * sizeof(struct number_pair); /* to sort them */
    return stat(pipeline->options->trace, &about) != 0 ||
           ingest_check_live(live, bytes, (uint64_t)about.st_size, trace_file_path(pipeline->file),
                             pipeline->status);
}

static bool replay_all(struct pipeline *pipeline)
{
    const volatile sig_atomic_t *interrupted = pipeline->options->writer.interrupted;
    const struct writer_run *run = pipeline->options->writer.run;
    struct trace_event event;
    struct merge *merge = merge_new(pipeline->file, pipeline->status);
    bool good = merge != NULL;
    size_t stacks_seen = 0;
    if (good)
        merge_watch(merge, (struct merge_watcher){&pipeline->replay, replay_prefetch_block,
                                                  replay_prefetch_stack});
    for (uint64_t n = 0; good && merge_next(merge, &event, pipeline->status); n++) {
        good = replay_event(&pipeline->replay, &event, pipeline->status);
        /* The lookup of a new stack's names and types may have read files of any size. */
        if (n % EVENTS_PER_LOOK != 0 && pipeline->stacks.count == stacks_seen)
            continue;
        stacks_seen = pipeline->stacks.count;
        if (ingest_is_interrupted(interrupted))
            good = ingest_fail(pipeline->status, INGEST_INTERRUPTED, "interrupted");
        if (good && run && run->log.error != 0)
            good = writer_fail(pipeline->writer, run->log.error);
        if (good && n % EVENTS_PER_COUNT == 0)
            good = check_live(pipeline);
        report(pipeline, INGEST_REPLAY, merge_bytes_done(merge));
    }
    merge_free(merge);
    return good && pipeline->status->code == INGEST_OK;
}

/* Waits for the second thread, which may still have gigabytes to write. */
static bool finish_rows(struct pipeline *pipeline)
{
    report(pipeline, INGEST_ROWS, writer_bytes(pipeline->writer));
    return writer_rows_done(pipeline->writer) &&
           (stack_nodes_number(&pipeline->nodes, &pipeline->stacks, 0, false) ||
            ingest_fail_memory(pipeline->status, "the frames of the stacks")) &&
           writer_put_frames(pipeline->writer, &pipeline->nodes, &pipeline->stacks) &&
           writer_put_stack_sums(pipeline->writer, &pipeline->nodes, &pipeline->stacks,
                                 &pipeline->totals.stacks) &&
           writer_put_moment_sums(pipeline->writer, pipeline->replay.residency) &&
           writer_frames_done(pipeline->writer);
}

static bool join_suppressions(struct pipeline *pipeline)
{
    const struct ingest_options *options = pipeline->options;
    if (options->program_suppressions)
        pipeline->joined = program_suppressions_join(&pipeline->scan.program_suppressions,
                                                     options->suppressions, &pipeline->problems);
    return pipeline->joined || !options->program_suppressions ||
           ingest_fail_memory(pipeline->status, "the suppressions");
}

/* Notes the modules whose debug information cannot be read, that of the program first. */
static void note_unreadable(struct pipeline *pipeline)
{
    const struct trace_scan *scan = &pipeline->scan;
    const char *program = scan->process.found ? scan->process.exe : "";
    for (int own = 1; own >= 0; own--)
        for (size_t i = 0; i < scan->module_count; i++) {
            const struct module_row *module = &scan->modules[i];
            const char *why =
                module->runtime
                    ? NULL
                    : strstr(symbols_status(pipeline->symbols, module->id), SYMBOLS_UNREADABLE);
            if (why && (strcmp(module->path, program) == 0) == own)
                problems_add(&pipeline->problems, PROBLEM_DEBUG, "%.100s: %s",
                             basename(module->path), why);
        }
}

/* Notes that the trace is one of a program that ran without the recorder, or executed such. */
static void note_unrecorded(struct pipeline *pipeline)
{
    const struct trace_file_header *header = trace_file_header(pipeline->file);
    const struct trace_process *process = &pipeline->scan.process;
    const char *program = process->found ? process->program : "(unknown program)";
    if (header->unrecorded)
        problems_add(&pipeline->problems, PROBLEM_UNRECORDED, "%.160s: %s", program,
                     trace_unrecorded_text(header->unrecorded));
    if (header->unnamed)
        problems_add(&pipeline->problems, PROBLEM_UNRECORDED,
                     "%" PRIu32 " programs that %.160s executed: not known which", header->unnamed,
                     program);
}

static bool join_problems(struct pipeline *pipeline)
{
    note_unreadable(pipeline);
    note_unrecorded(pipeline);
    return (problems_join(&pipeline->problems, &pipeline->scan.problems) &&
            problems_join(&pipeline->problems, &pipeline->replay.problems)) ||
           ingest_fail_memory(pipeline->status, "the problems");
}

static bool write_tables(struct pipeline *pipeline)
{
    const struct ingest_options *options = pipeline->options;
    struct session_facts facts = {
        .file = pipeline->file,
        .scan = &pipeline->scan,
        .replay = &pipeline->replay,
        .problems = &pipeline->problems,
        .stacks = &pipeline->stacks,
        .nodes = &pipeline->nodes,
        .totals = &pipeline->totals,
        .suppressions = pipeline->joined ? pipeline->joined : options->suppressions,
        .program_suppressions = options->program_suppressions,
        .imported = options->imported ? options->imported->what : NULL,
        .made_up_addresses = options->imported && options->imported->made_up_addresses,
        .imported_temporary = options->imported ? options->imported->temporary : 0,
        .labels = options->labels.text,
        .label_count = options->labels.count,
        .interrupted = options->writer.interrupted,
        .moment_sums_put = true,
        .of_run = options->writer.run != NULL};
    struct table_sink sink = writer_tables(pipeline->writer);
    struct redact *redact = options->redact ? redact_new(options->source_root, &facts) : NULL;
    if (redact)
        sink = redact_sink(redact, sink);
    report(pipeline, INGEST_WRITE, writer_bytes(pipeline->writer));
    bool good =
        (redact || !options->redact) && session_tables_put(&sink, &facts) &&
        (!options->redact ||
         sink.put(sink.context, WRITER_META,
                  (const struct writer_value[]){value_text("redacted"), value_number(1)}, 2)) &&
        (!options->bundle || bundle_put(&sink, &facts, options->sysroot));
    redact_free(redact);
    if (good)
        return writer_commit(pipeline->writer);
    if (ingest_is_interrupted(options->writer.interrupted))
        return ingest_fail(pipeline->status, INGEST_INTERRUPTED, "interrupted");
    return pipeline->status->code == INGEST_OK
               ? ingest_fail_memory(pipeline->status, "the tables of the session")
               : false;
}

static bool tell_program(struct pipeline *pipeline)
{
    const struct trace_file_header *header = trace_file_header(pipeline->file);
    const struct trace_process *process = &pipeline->scan.process;
    struct symbols_program program = {process->found ? process->directory : NULL,
                                      process->found ? process->pid : header->pid,
                                      header->start_realtime_ns};
    const struct imported *imported = pipeline->options->imported;
    if (imported && imported->names)
        symbols_set_given(pipeline->symbols, import_names_given(imported->names));
    return symbols_set_program(pipeline->symbols, &program);
}

/* Sums up by time, too. A run does that for all its processes together. */
static bool sum_slots(struct pipeline *pipeline)
{
    const uint64_t duration_ns = trace_time_ns(&pipeline->replay.time, pipeline->scan.last_ticks);
    if (pipeline->options->writer.run)
        pipeline->totals.log = &pipeline->options->writer.run->log;
    return ((pipeline->totals.log ||
             totals_sum_slots(&pipeline->totals, duration_ns, pipeline->scan.events)) &&
            totals_begin_stage(&pipeline->totals)) ||
           ingest_fail_memory(pipeline->status, "the sums by time");
}

static bool end_part(struct pipeline *pipeline)
{
    struct writer_run *run = pipeline->options->writer.run;
    if (run && !totals_log_end_part(&run->log))
        return writer_fail(pipeline->writer, run->log.error);
    return !run || writer_run_rows_end(&run->rows) ||
           ingest_fail_memory(pipeline->status, "the types of the run");
}

static bool run(struct pipeline *pipeline)
{
    const struct ingest_options *options = pipeline->options;
    struct ingest_status *status = pipeline->status;
    struct symbols_options symbols_options = {options->debug_dir, options->sysroot,
                                              options->writer.interrupted};
    pipeline->file = options->imported
                         ? trace_file_adopt(options->imported->descriptor, options->trace, status)
                         : trace_file_open(options->trace, status);
    if (!pipeline->file)
        return false;
    pipeline->writer = writer_open(options->session, &options->writer, status);
    if (!pipeline->writer)
        return false;
    report(pipeline, INGEST_SCAN, 0);
    pipeline->scan.interrupted = options->writer.interrupted;
    if (!trace_scan(&pipeline->scan, pipeline->file, status))
        return false;
    pipeline->own_cache = (struct symbol_cache){.path = options->cache,
                                                .persistent = options->cached && !options->bundle &&
                                                              !options->imported};
    pipeline->symbol_cache = options->symbol_cache ? options->symbol_cache : &pipeline->own_cache;
    if (!symbol_cache_begin(pipeline->symbol_cache, &symbols_options))
        return ingest_fail_memory(status, "the names of the program");
    pipeline->symbols = pipeline->symbol_cache->symbols;
    if (!tell_program(pipeline) ||
        !stacks_init(&pipeline->stacks, &pipeline->scan, pipeline->symbols) ||
        !type_table_init(&pipeline->types, &pipeline->stacks, pipeline->symbols,
                         pipeline->symbol_cache->types))
        return ingest_fail_memory(status, "the names of the program");
    if (options->writer.run)
        writer_run_rows_begin(&options->writer.run->rows, &pipeline->types);
    return replay_init(&pipeline->replay, pipeline->file, &pipeline->scan, &pipeline->stacks,
                       &pipeline->totals, &pipeline->types, writer_sink(pipeline->writer),
                       status) &&
           sum_slots(pipeline) &&
           writer_sample_rows(pipeline->writer,
                              trace_time_ns(&pipeline->replay.time, pipeline->scan.last_ticks),
                              pipeline->scan.events) &&
           replay_all(pipeline) && replay_finish(&pipeline->replay, status) && end_part(pipeline) &&
           finish_rows(pipeline) && join_problems(pipeline) && join_suppressions(pipeline) &&
           write_tables(pipeline);
}

static void summarize(const struct pipeline *pipeline, struct ingest_summary *summary)
{
    const struct trace_file_header *header = trace_file_header(pipeline->file);
    const struct trace_scan *scan = &pipeline->scan;
    const struct totals *totals = &pipeline->totals;
    const struct problems *problems = &pipeline->problems;
    *summary = (struct ingest_summary){
        .program = strdup(scan->process.found ? scan->process.program : "(unknown program)"),
        .allocations = totals->allocations,
        .frees = totals->frees,
        .reallocs = totals->reallocs,
        .bytes = totals->bytes,
        .peak_bytes = totals->peak_bytes,
        .peak_count = totals->peak_count,
        .peak_ns = totals->peak_ns,
        .live_bytes = totals->live_bytes,
        .live_count = totals->live_count,
        .duration_ns = trace_time_ns(&pipeline->replay.time, scan->last_ticks),
        .threads = scan->threads.count,
        .stacks = pipeline->stacks.count - 1,
        .events = pipeline->replay.events,
        .dropped = header->dropped_events + scan->dropped_events,
        .sample_interval = header->sample_interval,
        .unmatched_frees = problems->counts[PROBLEM_UNMATCHED_FREE],
        .double_frees = problems->counts[PROBLEM_DOUBLE_FREE],
        .mismatched_frees = problems->counts[PROBLEM_MISMATCHED_FREE],
        .wrong_sizes = problems->counts[PROBLEM_WRONG_SIZE],
        .overlaps = problems->counts[PROBLEM_OVERLAP],
        .orphaned_events = pipeline->replay.orphaned_events,
        .damaged_bytes = scan->damaged_bytes,
        .unseen_modules = scan->unrecorded.unseen.count,
        .late_modules = scan->unrecorded.late.count,
        .lost_suppressions = problems->counts[PROBLEM_SUPPRESSIONS],
        .unrecorded = problems->counts[PROBLEM_UNRECORDED],
        .unreadable_debug = problems->counts[PROBLEM_DEBUG],
        .missing_chunks = problems->counts[PROBLEM_MISSING_CHUNK],
        .ended = scan->ended || header->state != TRACE_STATE_RECORDING ||
                 header->outcome == TRACE_OUTCOME_EXITED,
        .stopped = trace_scan_stopped(scan, header),
        .unknown_clock = pipeline->replay.time.unknown,
        .state = header->state,
        .outcome = header->outcome,
        .outcome_number = header->outcome_number,
        .machines = 1,
        .inherited_frees = pipeline->replay.inherited_count,
        .presumed_inherited_frees = pipeline->replay.inherited_count,
        .origin = {.trace_id = header->trace_id,
                   .parent_trace = scan->process.parent_trace,
                   .fork_before = scan->process.fork_before,
                   .fork_after = scan->process.fork_after,
                   .start_ticks = header->start_ticks,
                   .time = pipeline->replay.time},
    };
    const char *unseen = scan->unrecorded.unseen.text;
    if (unseen)
        snprintf(summary->why_unseen, sizeof(summary->why_unseen), "%.*s",
                 (int)strcspn(unseen, "\n"), unseen);
    for (size_t i = problems->kept_count; i-- > 0;)
        if (problems->kept[i].kind == PROBLEM_SUPPRESSIONS)
            memcpy(summary->why_suppressions, problems->kept[i].detail,
                   sizeof(summary->why_suppressions));
        else if (problems->kept[i].kind == PROBLEM_UNRECORDED)
            memcpy(summary->why_unrecorded, problems->kept[i].detail,
                   sizeof(summary->why_unrecorded));
        else if (problems->kept[i].kind == PROBLEM_DEBUG)
            memcpy(summary->why_debug, problems->kept[i].detail, sizeof(summary->why_debug));
}

bool ingest_run(const struct ingest_options *options, struct ingest_summary *summary,
                struct ingest_status *status)
{
    double begin = ingest_seconds();
    struct pipeline *pipeline = calloc(1, sizeof(*pipeline));
    if (!pipeline)
        return ingest_fail_memory(status, "the pipeline");
    pipeline->options = options;
    pipeline->status = status;
    bool good = run(pipeline);
    if (good) {
        summarize(pipeline, summary);
        summary->seconds = ingest_seconds() - begin;
    }
    writer_close(pipeline->writer);
    suppressions_free(pipeline->joined);
    replay_free(&pipeline->replay);
    problems_free(&pipeline->problems);
    totals_free_memory(&pipeline->totals);
    type_table_free(&pipeline->types);
    stack_nodes_free(&pipeline->nodes);
    stacks_free(&pipeline->stacks);
    symbol_cache_free(&pipeline->own_cache);
    trace_scan_free(&pipeline->scan);
    trace_file_close(pipeline->file);
    free(pipeline);
    return good;
}

/* ---- progress ------------------------------------------------------------------------------ */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void progress_init(struct progress *progress, bool quiet)
{
    progress->shown = !quiet && isatty(STDERR_FILENO);
    progress->drawn = false;
    progress->begin = now();
    progress->last = 0;
}

void progress_report(void *context, enum ingest_phase phase, uint64_t done, uint64_t total)
{
    enum { WIDTH = 30 };
    static const char full[] = "##############################",
                      none[] = "..............................";
    struct progress *progress = context;
    double at = now(), elapsed = at - progress->begin;
    if (!progress->shown || (at - progress->last < 0.1 && phase == INGEST_REPLAY))
        return;
    progress->last = at;
    progress->drawn = true;
    if (phase == INGEST_FOLLOW || phase == INGEST_FOLLOW_ENDED) {
        fprintf(stderr, "\r\033[K%s: %" PRIu64 " events, %.1f s behind; Ctrl-C ends",
                phase == INGEST_FOLLOW ? "recording" : "the program has ended", done,
                (double)total / 1e9);
        return;
    }
    if (phase == INGEST_SCAN) {
        fputs("\r\033[Kreading stacks and modules", stderr);
        return;
    }
    if (phase != INGEST_REPLAY) {
        fprintf(stderr, "\r\033[Kwriting %s, %.1f MiB so far",
                phase == INGEST_ROWS ? "rows" : "names and indexes", (double)done / 1048576);
        return;
    }
    double part = total ? (double)done / (double)total : 0;
    if (part > 1)
        part = 1;
    int filled = (int)(part * WIDTH);
    fprintf(stderr, "\r\033[K[%.*s%.*s] %3.0f %%  %.1f MiB/s", filled, full, WIDTH - filled, none,
            part * 100, elapsed > 0 ? (double)done / elapsed / 1048576 : 0);
    if (part > 0.01)
        fprintf(stderr, "  %.0f s left", elapsed / part * (1 - part));
}

void progress_end(struct progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}
