/* SPDX-License-Identifier: BSD-2-Clause */
/* The read side of a session: opens it, filters it, answers queries. Uses no terminal and prints
 * nothing.
 *
 * Order of calls: session_open(), then any query, then session_close(). Pointers into the session
 * (names) are valid until session_close(). Objects with a *_free() belong to the caller. Only one
 * thread at a time may use a session. These functions block until they have the answer; jobs.h asks
 * without waiting.
 *
 * Queries never scan rows by SQL: names, stacks and totals are loaded once, allocations are read by
 * column chunk (schemas/columns.md). Times are nanoseconds since the trace began, sizes are bytes.
 *
 * If the trace was sampled, sums (bytes and numbers of allocations of selections, slots, functions,
 * legends; peaks) are estimates for the whole program. Queries about single blocks give the
 * recorded ones: selection_count(), rows, the memory grid. Filters test blocks as recorded. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;

/* One line for the user: what, where, what to do. Empty while nothing has failed. */
struct session_error {
    char message[512];
    int column; /* of a filter text, from 1; 0: not about a column */
};

/* The message of a browser or report when memory is exhausted. */
#define SESSION_OUT_OF_MEMORY "out of memory; close other programs or filter more"

/* Writes text from outside to `out` as messages show it: bytes that could steer a terminal become
 * \xHH. Cuts text that does not fit into `size` bytes (at least 1). Returns the length. */
size_t session_printable(char *out, size_t size, const char *text);

/* ---- open and describe ------------------------------------------------------------------ */

/* Opens a session. NULL with `error` set: no file, no session, another schema version, damaged. */
struct session *session_open(const char *path, struct session_error *error);
/* Makes a cancel of a question to `other` cancel those to `session`, which is closed first. */
void session_obey(struct session *session, const struct session *other);
void session_close(struct session *session);

/* Returns true if the program is still being recorded into the session (mprof-ingest --live). */
bool session_recording(const struct session *session);

/* Returns true if the recording ended before the program: it was stopped, or could write no more.
 * A block that is live then need not be a leak. */
bool session_stopped(const struct session *session);

/* For a session that is being recorded: session_program_ended() tells whether the program has ended
 * and only the rest of its trace is still being loaded. session_lag_ns() returns by how many ns the
 * session is behind the program. */
bool session_program_ended(const struct session *session);
uint64_t session_lag_ns(const struct session *session);
/* Returns true if there is a newer state of a session that is being recorded, in the same file or
 * under its name. If so, open it again and close this one. Until then this one answers from the
 * state that it was opened with, and the log of the file keeps that and grows. */
bool session_has_newer(struct session *session);
/* Returns the path, as given to session_open(). */
const char *session_path(const struct session *session);

/* Blocks of one kind from one function, freed by a function that does not match the kind. */
struct session_mismatch {
    char kind[32], freed_by[32], function[160];
    uint64_t allocations; /* 0: there are none */
};

/* Finds the most frequent mismatch. Its function is that of the call site, "?" if not known.
 * Returns false with `error` set. */
bool session_worst_mismatch(const struct session *session, struct session_mismatch *worst,
                            struct session_error *error);

/* Counts the problems of a kind, as in the table `problem`, that the session has rows of: the first
 * ones of all. Returns false with `error` set. */
bool session_problems_kept(const struct session *session, const char *kind, uint64_t *count,
                           struct session_error *error);

/* Returns the value of a key of `meta` as text, NULL if there is none. */
const char *session_meta(const struct session *session, const char *key);
/* Returns the value as a number, 0 if there is none. */
int64_t session_meta_number(const struct session *session, const char *key);

/* Stores a label of the session, in the order of the keys. False: there are no more. */
bool session_label(const struct session *session, size_t index, const char **key,
                   const char **text);
/* Returns all labels as "release=1.4, service=shop", malloc()ed; NULL: there is none. */
char *session_labels(const struct session *session);

/* Returns the number of blocks of the selected process, or of all together. */
uint64_t session_allocation_count(const struct session *session);
/* Returns the id of the first of them: the others follow without a gap. 1 if there is none. */
uint64_t session_first_allocation(const struct session *session);
bool session_has_allocation(const struct session *session, uint64_t id);
uint64_t session_duration_ns(const struct session *session);
uint64_t session_peak_ns(const struct session *session);
uint64_t session_peak_bytes(const struct session *session);
/* Returns true if sums are estimates. */
bool session_sampled(const struct session *session);

/* A process, or one of the programs that it executed one after another: each has a row. Sums and
 * times are its own; times are in session time. */
struct session_process {
    uint32_t id, place;             /* place: among the programs of its pid, from 1 */
    uint32_t executed_from, parent; /* ids; 0: none in the session */
    int64_t pid;
    uint32_t machine; /* from 1: one boot of one host, with its own clock and memory */
    const char *program, *argv, *executable;
    const char *ending; /* "ended", "exec", "killed or running", … */
    const char *host;   /* "": not known */
    uint64_t start_ns, end_ns, allocations, frees, bytes, live_count, live_bytes;
    uint64_t peak_bytes, peak_ns;
    uint64_t resident_bytes; /* its largest resident set; 0: not known */
};
size_t session_processes(const struct session *session, const struct session_process **processes);
/* Returns the selected process, 0: all together. Everything except names, stacks and threads is
 * limited to it: selections (unless their filter tests processes), peaks, regions, samples, marks,
 * the values of `meta` that one process has. Ingest chooses the first selected process. */
uint32_t session_selected_process(const struct session *session);
/* Selects another process. Selections made before keep theirs. Returns false with `error` set. */
bool session_select_process(struct session *session, uint32_t id, struct session_error *error);
/* Finds the process that the user's word means: PID, PID.N, its name, or "all" (id 0). If several
 * match, it is the one that used most (schemas/process_choice.h). Returns false with `error` set if
 * there is none. */
bool session_find_process(const struct session *session, const char *word, uint32_t *id,
                          struct session_error *error);
/* Returns the time when the selected process began, 0: with the session. It ends at
 * session_duration_ns(). */
uint64_t session_start_ns(const struct session *session);

/* Return names by id, never NULL ("?" for unknown ids). */
const char *session_function_name(const struct session *session, uint32_t function);
const char *session_function_module(const struct session *session, uint32_t function);
/* Returns the place where the function begins, as "file.c:12" (last path component), or "". */
const char *session_function_place(const struct session *session, uint32_t function);
/* Returns the whole path of the file where the function begins, or "", and stores the line. */
const char *session_function_file(const struct session *session, uint32_t function, uint32_t *line);
const char *session_thread_name(const struct session *session, uint32_t thread);
/* Returns the name as a screen shows it: with the id of the thread, as "#3 worker", if several
 * threads have it. */
const char *session_thread_label(const struct session *session, uint32_t thread);
/* The name of the type 0, which no rule knows: everywhere the same. */
#define SESSION_UNKNOWN_TYPE "(unknown)"
const char *session_type_name(const struct session *session, uint32_t type);
const char *session_kind_name(const struct session *session, uint32_t kind);

/* A member of a record, or a base class (no name). Names are cut to fit the arrays. */
struct session_member {
    char name[64], type[96];
    uint64_t offset, size; /* bytes; bit fields share some */
};
/* Stores the members of a type in order of declaration, the first `capacity` of `*count`, and the
 * size of one object, 0 if it is not known. A type that is not a record has no members. Returns
 * false with `error` set. */
bool session_type_members(struct session *session, uint32_t type, struct session_member *members,
                          size_t capacity, size_t *count, uint64_t *size,
                          struct session_error *error);

struct session_thread {
    uint32_t id, process; /* process 0: not known */
    int64_t tid;
    const char *name;
    uint64_t start_ns, end_ns, allocations, frees, bytes;
};
size_t session_threads(const struct session *session, const struct session_thread **threads);

struct session_mark {
    uint64_t ns;
    const char *kind, *name;
};
size_t session_marks(const struct session *session, const struct session_mark **marks);

/* A sample of the program's resident set size; a session may have none. */
struct session_rss {
    uint64_t ns, bytes;
};
size_t session_rss(const struct session *session, const struct session_rss **samples);

/* One frame of a stack, innermost first, inlined ones expanded. */
struct session_frame {
    uint32_t function;
    const char *file; /* full path or "" */
    uint32_t line;    /* 0: unknown */
    bool inlined;
    bool guessed; /* the next inner frame has no unwinding rule: its frame pointer led here */
    uint64_t pc;
};
/* Writes up to `capacity` frames of a stack. Returns the number of frames that it has. */
size_t session_stack(struct session *session, uint32_t stack, struct session_frame *frames,
                     size_t capacity);
/* Returns the index of the call-site frame of a stack, 0 if none is known. */
size_t session_stack_call_site(struct session *session, uint32_t stack);
/* Returns true if the stack of a free is that of blocks that a garbage collector took back. */
bool session_stack_by_collector(const struct session *session, uint32_t stack);
/* Returns "complete", "depth limit", "unwind end", "lost", "none" or "collector". */
const char *session_stack_state(const struct session *session, uint32_t stack);

/* ---- allocations ------------------------------------------------------------------------ */

#define SESSION_LIVE UINT64_MAX /* free_ns of a block that was not freed */

struct session_allocation {
    uint64_t id; /* from 1 */
    uint64_t address, size, count, alloc_ns, free_ns, realloc_of, alignment;
    uint32_t stack, thread, free_thread, free_stack, kind, type, arena;
    uint32_t function; /* of the call site */
};
/* Reads one allocation. False with `error` set if there is no such id or its chunk is damaged. */
bool session_allocation(struct session *session, uint64_t id, struct session_allocation *allocation,
                        struct session_error *error);

/* ---- selections: results of filter graphs ----------------------------------------------- */

enum session_color_by {
    SESSION_COLOR_NONE, /* by the `color` steps of the filter */
    SESSION_COLOR_FUNCTION,
    SESSION_COLOR_THREAD,
    SESSION_COLOR_SIZE, /* powers of two */
    SESSION_COLOR_AGE,  /* by allocation time, ten equal parts of the session */
    SESSION_COLOR_TYPE,
    SESSION_COLOR_MODULE,
    SESSION_COLOR_USER,     /* functions of the user's own code (user_code.h) */
    SESSION_COLOR_OWNER,    /* classes, and members that hold containers */
    SESSION_COLOR_LIFETIME, /* powers of ten */
    SESSION_COLOR_KIND,
};

struct selection;

/* Parses and runs `text` (schemas/filter-language.md; NULL or "" is `all`). Returns NULL with
 * `error` set; `error->column` counts from 1 in a bad filter. The result is a set of allocations
 * with the pipeline's colouring, sort and top: a bitmap, not a copy. For groups and measures see
 * groups.h. */
struct selection *selection_new(struct session *session, const char *text,
                                struct session_error *error);
/* Returns the selection, with one more owner: each calls selection_free(), the last one frees it.
 */
struct selection *selection_share(struct selection *selection);
void selection_free(struct selection *selection);

/* Writes the selection to the new file `path`, as a session of its own (docs/session-schema.md, "A
 * session of some allocations"). `graph` is the text that selected it. It takes minutes for many
 * millions of allocations, and may be cancelled. Returns false with `error` set; then there is no
 * new file. */
bool selection_write(struct selection *selection, const char *graph, const char *path,
                     struct session_error *error);

/* A warning beside a result: the filter has a name that no allocation has. Or a note: the filter
 * gives groups or a measure, and the selection has the allocations of these. */
struct session_warning {
    int column; /* of the filter text, from 1; 0: about all of it */
    char message[256];
};
/* Returns the number of warnings, and stores them. They belong to the selection. */
size_t selection_warnings(const struct selection *selection,
                          const struct session_warning **warnings);

/* Only parse, without saved filters and with those of a session. Return false with `error` set. The
 * line editor calls it at every key. */
bool filter_check(const char *text, struct session_error *error);
bool session_filter_check(const struct session *session, const char *text,
                          struct session_error *error);

uint64_t selection_count(const struct selection *selection); /* N of "N of M allocations" */
/* M: the allocations of the selected process, or of all if the filter tests processes. */
uint64_t selection_chosen_from(const struct selection *selection);
/* Returns the number of selected allocations, an estimate if sampled. */
uint64_t selection_allocations(const struct selection *selection);
uint64_t selection_bytes(const struct selection *selection);      /* allocated in all */
uint64_t selection_live_bytes(const struct selection *selection); /* live at the end */
uint64_t selection_live_count(const struct selection *selection);
/* Return the exact largest live bytes of the selection and the first moment that had them. In one
 * nanosecond frees come before allocations, because "live at t" is alloc <= t < free. The first
 * call finds them by two or more scans and keeps them. 0 if a damaged chunk prevents it. */
uint64_t selection_peak_bytes(const struct selection *selection);
uint64_t selection_peak_ns(const struct selection *selection);
enum session_color_by selection_color_by(const struct selection *selection);
bool selection_contains(const struct selection *selection, uint64_t id);
/* Reads the n-th selected allocation in the pipeline's sort order (default: by id). Returns false
 * if there is none, or `selection` is NULL. */
bool selection_row(struct selection *selection, uint64_t n, struct session_allocation *allocation);

/* The legend of a colouring, the same for every view: the largest categories of the selection by
 * bytes live at the program's peak, then by bytes allocated. (The views colour live memory; by
 * bytes allocated alone, many short-lived blocks would take every colour.) They are in order of
 * size, largest first, or in the order of the scale for sizes, ages and lifetimes. Categories
 * beyond `SESSION_COLORS - 1` share the last entry, "rest". So do, in selection_color(), categories
 * that do not occur in the selection. */
#define SESSION_COLORS 11
struct session_legend {
    size_t count;
    struct {
        char label[4096];  /* names of templates are long */
        uint32_t function; /* if the label is the name of one, 0 if not */
        uint64_t bytes, allocations;
        int color; /* fixed colour 0-255 from a `color red` step, or -1: by position */
    } entry[SESSION_COLORS];
};
void selection_legend(struct selection *selection, enum session_color_by by,
                      struct session_legend *legend);
/* Returns the position of one allocation in that legend. */
size_t selection_color(struct selection *selection, enum session_color_by by,
                       const struct session_allocation *allocation);

/* ---- timeline --------------------------------------------------------------------------- */

struct session_slot {
    uint64_t live_bytes; /* at the slot's end */
    uint64_t live_count;
    uint64_t peak_bytes; /* largest live bytes at 17 moments in the slot, and at the peak */
    uint64_t allocated_bytes, allocated_count, freed_bytes, freed_count;
    uint64_t color_bytes[SESSION_COLORS]; /* live at the slot's end, by legend position */
};
/* Splits [from, to) into `count` equal slots and writes them to `slots`. If all allocations of a
 * large session are selected and the slots are long, each begins at the nearest of up to 65,536
 * moments for which ingest has kept sums (schemas/slots.md), and its peak is the largest of all
 * moments. Returns false with `error` set. */
bool selection_timeline(struct selection *selection, uint64_t from_ns, uint64_t to_ns, size_t count,
                        enum session_color_by by, struct session_slot *slots,
                        struct session_error *error);

/* The share of one function (call site) in the allocations of a span. */
struct session_share {
    uint32_t function;
    uint64_t bytes, count;
};
/* Writes the functions that allocated most bytes in [from, to), largest first, up to `capacity`.
 * Returns their number, 0 if memory is exhausted or a chunk is damaged. */
size_t selection_top_functions(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                               struct session_share *shares, size_t capacity);

/* ---- functions -------------------------------------------------------------------------- */

struct session_function_row {
    uint32_t function;
    uint64_t self_bytes, self_count;   /* call site is in the function */
    uint64_t total_bytes, total_count; /* anywhere on the stack, recursion once */
    uint64_t live_bytes, live_count;   /* self, at the end */
    uint64_t kept_bytes, kept_count;   /* of the live ones: not leaks, by stacks of runtime_stack */
    uint64_t at_peak_bytes;            /* self, at the program's peak */
    uint64_t total_at_peak_bytes;      /* 0: see selection_functions_at_peak() (stacks.h) */
    uint64_t short_lived;              /* self allocations that lived under 1 ms */
};
/* Stores all functions that occur in `*rows`, for free(). False with `error` set. */
bool selection_functions(struct selection *selection, struct session_function_row **rows,
                         size_t *count, struct session_error *error);
/* A caller or callee of one function: totals of the stacks through that edge. */
struct session_edge {
    uint32_t function;
    uint64_t bytes, count;
};
/* Stores the callers and callees of one function, largest first by bytes. The caller frees both
 * arrays. Returns false with `error` set. */
bool selection_edges(struct selection *selection, uint32_t function, struct session_edge **callers,
                     size_t *caller_count, struct session_edge **callees, size_t *callee_count,
                     struct session_error *error);

/* ---- memory grid ------------------------------------------------------------------------ */

/* A range of addresses with live allocations at a time; it spans gaps under 16 MiB. */
struct session_region {
    uint64_t start, end, used_bytes, count;
};
/* Stores the regions at `ns` of all allocations, not only of a selection, in `*regions`, which the
 * caller frees. Returns false with `error` set. */
bool session_regions(struct session *session, uint64_t ns, struct session_region **regions,
                     size_t *count, struct session_error *error);

struct session_cell {
    uint64_t used;     /* bytes of selected allocations in the cell */
    uint64_t filtered; /* bytes in use but not selected */
    uint8_t color;     /* legend position with most bytes in the cell (selected ones first) */
    uint64_t id;       /* of the largest allocation of that colour in the cell; 0: none */
    bool starts;       /* an allocation begins in the cell */
    bool alternate;    /* changes from each allocation to the next by address */
};
/* Fills `count` cells of `bytes_per_cell` from `address` on with the memory at `ns`. Returns false
 * with `error` set. */
bool selection_grid(struct selection *selection, uint64_t ns, uint64_t address,
                    uint64_t bytes_per_cell, size_t count, enum session_color_by by,
                    struct session_cell *cells, struct session_error *error);
/* Returns the id of the allocation that holds `address` at `ns`, 0 if none does. */
uint64_t session_allocation_at(struct session *session, uint64_t ns, uint64_t address);
/* Stores the ids of the live allocations nearest below and above `address` at `ns`, 0 if there is
 * none. The one that holds the address does not count. */
void session_neighbours(struct session *session, uint64_t ns, uint64_t address, uint64_t *below,
                        uint64_t *above);
/* Returns the number of allocations at exactly this address that were freed by `ns`, 0 if a chunk
 * cannot be read. Stores the time of the last free, 0 if there is none; `last_free_ns` may be
 * NULL. */
uint64_t session_address_history(struct session *session, uint64_t ns, uint64_t address,
                                 uint64_t *last_free_ns);
