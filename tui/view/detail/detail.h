/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the page about one allocation, shared by the files of this folder. */
#ifndef MPROF_TUI_VIEW_DETAIL_DETAIL_H
#define MPROF_TUI_VIEW_DETAIL_DETAIL_H

#include "session/block.h"
#include "tui/explore/explore.h"
#include "tui/screen/theme.h"
#include "tui/view/common/function_test.h"
#include "tui/widget/table.h"

#define DETAIL_FRAMES 256
#define DETAIL_MEMBERS 256

/* A stack with its frames. */
struct detail_stack {
    struct session_frame frames[DETAIL_FRAMES];
    size_t count; /* of all its frames; those beyond DETAIL_FRAMES are not here */
    size_t call_site;
    const char *state; /* "complete", or why frames are missing */
};

/* The facts that are known at once. */
struct detail_facts {
    struct {
        uint64_t renewals, id;
    } request;
    bool found;
    struct session_allocation block;
    struct session_block_facts facts;
    struct detail_stack born, freed;
    size_t user;       /* the user's frame in `born`, SESSION_NO_FRAME: none */
    size_t freed_user; /* and in `freed` */
    struct session_member members[DETAIL_MEMBERS];
    size_t member_count;
    uint64_t type_size;
};

/* The facts that take a pass. */
struct detail_around {
    struct {
        uint64_t renewals, id;
    } request;
    struct session_surroundings around;
    struct session_allocation birth[2], end[2]; /* below and above; id 0: none */
    struct session_allocation before[SESSION_USES], after[SESSION_USES];
};

/* And another pass. */
struct detail_chain {
    struct {
        uint64_t renewals, id;
    } request;
    struct session_chain chain;
    struct session_allocation blocks[SESSION_CHAIN];
};

/* A line of the page. */
struct detail_line {
    uint64_t key;
    char label[64], value[200];
    const char *name;  /* in place of `value`, or NULL */
    const char *place; /* a path in the source, or NULL */
    uint32_t line;
    uint32_t function;   /* of a frame, 0: it is not a frame */
    bool frees;          /* the frame is of the stack of the free */
    uint64_t allocation; /* the block that Enter shows, 0: none */
    enum theme_role role;
};

#define DETAIL_TRAIL 32
struct detail {
    struct table table;
    struct load facts_load, around_load, chain_load;
    const struct detail_facts *facts; /* NULL: not known yet; so with the others */
    const struct detail_around *around;
    const struct detail_chain *chain;
    struct function_tests tests; /* of the block, and of the selected frame */
    uint64_t shown;              /* id of the block */
    uint64_t renewals;           /* the state of the session that the ids are of */
    uint64_t trail[DETAIL_TRAIL];
    size_t trail_length;
    struct detail_line *lines;
    size_t count, capacity;
};

/* Loads what the page shows of the block `shown`. */
void detail_load(struct detail *detail, struct exploration *exploration);
/* Writes the lines of the page from what is known. */
void detail_write_lines(struct detail *detail, const struct exploration *exploration);

#endif
