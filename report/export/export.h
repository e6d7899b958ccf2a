/* SPDX-License-Identifier: BSD-2-Clause */
/* The data that all formats of mprof-export share: the session with the selection that is exported,
 * and the sums and frames of its stacks as the options want them.
 *
 * A format is one function that writes to `out` and returns false with `error` set if it cannot. It
 * does not check its writes: the output does (report/output/output.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/output/ids.h"
#include "session/code_facts.h"
#include "session/session.h"
#include "session/stacks.h"

/* The sum that formats with one number for a stack show. */
enum export_value {
    EXPORT_BYTES,
    EXPORT_ALLOCATIONS,
    EXPORT_LIVE_BYTES,
    EXPORT_LIVE_COUNT,
    EXPORT_AT_PEAK_BYTES,
    EXPORT_AT_PEAK_COUNT,
    EXPORT_TOTAL
};

/* A session and what of it is exported. */
struct export_side {
    struct session *session; /* NULL: this side is not there */
    struct selection *selection;
    uint64_t at_ns; /* the time of --at in this session */
    struct clean *clean;
    uint32_t *starts; /* by stack: the node at which it begins in this export, 0: no frames */
    /* By function, up to the number of functions: what the other session calls it. NULL: the same.
     */
    char **names;
};

/* The most labels of an export: those of --label and those of the session. */
#define EXPORT_LABELS_MOST 24

struct export
{
    struct export_side own, base; /* base: of --base */
    FILE *out;
    const char *path;    /* of the output, NULL: standard output */
    const char *filter;  /* its text, NULL: all */
    const char *process; /* of --process, NULL: the one that ingest chose */
    const char *tables;  /* the folder of --tables, or NULL */
    bool all_frames;     /* keep the frames inside the call site */
    bool real_pcs;       /* addresses of the process */
    bool at;             /* "live" means live at at_ns instead of at the end */
    enum export_value value;
    uint64_t window_ns; /* of --window, 0: none */
    struct export_label {
        const char *key, *text;
    } labels[EXPORT_LABELS_MOST]; /* of --label, then those of the session that it leaves */
    size_t label_count;
    uint64_t max_events, events;
    struct session_error *error;
};

struct export_format {
    const char *name;
    bool (*write)(struct export *export);
    bool takes_base, takes_at;
    bool takes_value;   /* it shows one sum of each stack */
    bool has_no_stacks; /* --frames would change nothing */
    bool is_binary;     /* no terminal shows it */
    bool is_whole;      /* it takes no filter */
    bool runs_graph;    /* it runs the filter itself, and takes --tables; no selection is made */
};

/* ---- sums ------------------------------------------------------------------------------- */

/* Returns the name of a value in options: "bytes", "live_bytes", …. */
const char *export_value_name(enum export_value value);
/* Returns that sum of a row. */
uint64_t export_value_of(enum export_value value, const struct session_stack_sums *row);
bool export_value_is_bytes(enum export_value value);

/* Stores the sums of a side by stack and `split` (bits of enum session_stack_split), as
 * selection_stacks() does; the caller free()s them. With --at the live sums are those of that time.
 * `more` asks for own peaks and lifetimes, too. */
bool export_sums(const struct export *export, const struct export_side *side, unsigned split,
                 bool more, struct session_stack_sums **rows, size_t *count);

/* Calls `visit` with the sums of a side by stack and `split`, some rows at a time, so that memory
 * is bounded. The same stack and split may come again in a later call, with the sums of other
 * blocks. Returns false with the error set, or if `visit` does. */
bool export_each_sum(const struct export *export, const struct export_side *side, unsigned split,
                     bool (*visit)(void *context, const struct session_stack_sums *rows,
                                   size_t count),
                     void *context);

/* ---- frames ----------------------------------------------------------------------------- */

/* A stack of an export is a node of the tree of stacks, of its side's `starts`, and all outward of
 * it. It begins at the call site, with --frames=all at the innermost frame. Node 0 stands for a
 * stack without frames, which has one of function 0, "?".
 *
 * The frames of all stacks have no bound but the square of the session's size. So what stacks have
 * in common is looked up once by its node, and the rest is written as it is read. */

/* Frames, innermost first. Begin with {0}; free with export_frames_free(). */
struct export_frames {
    struct session_code_frame *frame;
    size_t count, capacity;
};

/* Stores the frame of a node. Returns false with the error set. */
bool export_frame(const struct export *export, const struct export_side *side, uint32_t node,
                  struct session_code_frame *frame);
/* Stores the frames from a node outward, at least one. Returns false with the error set. */
bool export_frames(const struct export *export, const struct export_side *side, uint32_t node,
                   struct export_frames *frames);
/* Stores its group: the frames from a node outward that share its place in the machine code, the
 * inlined ones and the one that they are inlined into. Returns false with the error set. */
bool export_group(const struct export *export, const struct export_side *side, uint32_t node,
                  struct export_frames *frames);
void export_frames_free(struct export_frames *frames);

/* A number for each node of a side, 0: not known yet. */
struct export_nodes {
    const struct export *export;
    const struct export_side *side;
    bool groups; /* only for nodes where a group begins */
    uint32_t *number, *path;
};

/* Begins, also a second time. Returns false with the error set. export_nodes_free() in any case. */
bool export_nodes_begin(struct export_nodes *nodes, const struct export *export,
                        const struct export_side *side, bool groups);
void export_nodes_free(struct export_nodes *nodes);
/* Returns the node outward of a node, or of its group; 0: none. */
uint32_t export_nodes_outward(const struct export_nodes *nodes, uint32_t node);
/* Stores the number of a node. `find` is called for each node from there outward that has none yet,
 * the outermost first, with the number of the one outward of it, 0 if there is none: it stores a
 * number above 0, or returns false. */
bool export_nodes_find(struct export_nodes *nodes, uint32_t node,
                       bool (*find)(void *context, uint32_t node, uint32_t outward,
                                    uint32_t *number),
                       void *context, uint32_t *number);

/* Return names as valid UTF-8 without control characters, "?" for an unknown id. They are valid
 * until the session is closed. */
const char *export_function_name(const struct export_side *side, uint32_t function);
const char *export_clean(const struct export_side *side, const char *text);

/* Stores the address of a frame in the process, or in its file if its module is not known. Outer
 * frames have that of the call; add 1 for the return address. */
bool export_address(const struct export *export, const struct export_side *side,
                    const struct session_code_frame *frame, uint64_t *address);

/* Returns a place as valgrind's tools write it: "0x1234: name (file.c:12)" or "0x1234: name (in
 * MODULE)". The caller frees it. NULL with the error set. */
char *export_place(const struct export *export, const struct export_side *side,
                   const struct session_code_frame *frame);

/* Returns the time of the session's start in ns since 1970, 0 if it is not known. */
int64_t export_start_ns(const struct session *session);

/* ---- formats ---------------------------------------------------------------------------- */

bool export_pprof_text(struct export *export);
bool export_chrome(struct export *export);
bool export_firefox(struct export *export);
bool export_csv(struct export *export);
bool export_ndjson(struct export *export);
bool export_parquet(struct export *export);
bool export_dhat(struct export *export);
bool export_heaptrack(struct export *export);
bool export_massif(struct export *export);
bool export_pprof(struct export *export);
bool export_speedscope(struct export *export);
bool export_heapsnapshot(struct export *export);
bool export_svg(struct export *export);
bool export_callgrind(struct export *export);
bool export_collapsed(struct export *export);
