/* SPDX-License-Identifier: BSD-2-Clause */
/* A file of budgets (docs/budgets.md). A line `NAME: GRAPH | MEASURE OP LIMIT` is a budget, `name =
 * pipeline;` defines a graph for all budgets, and `#` begins a comment. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "session/groups.h"
#include "session/residency.h"
#include "session/session.h"

enum budget_relation {
    BUDGET_EQUAL,
    BUDGET_NOT_EQUAL,
    BUDGET_LESS,
    BUDGET_LESS_EQUAL,
    BUDGET_MORE,
    BUDGET_MORE_EQUAL,
};

struct budget {
    char *name, *limit;
    enum budget_relation relation;
    const char *sign;   /* of the relation: "<=" */
    size_t graph, step; /* places of the sentence and of its measure in the file */
    size_t graph_end, limit_at;
    bool of_rss; /* no sentence, but `rss | PART`: a part of the resident set, */
    enum session_residency_class part; /* RESIDENCY_CLASSES: all of it, */
    char *at;                          /* at this time; NULL: when it is largest */
};

struct budget_file {
    const char *path;
    char *text;        /* without comments: blanks stand for them */
    char *definitions; /* as long as `text`, with blanks in the place of all else */
    struct budget *budgets;
    size_t count;
};

/* Reads a file. Returns false with `error` set and its place as "FILE:LINE:COLUMN: …" in the
 * message; `*wrong` then tells whether the text is wrong, and not the reading of it.
 * budget_file_free() in any case. */
bool budget_file_read(struct budget_file *file, const char *path, bool *wrong,
                      struct session_error *error);
void budget_file_free(struct budget_file *file);

/* Returns the sentence of a budget, with the definitions before it, as new memory: up to its
 * measure and this included, or without it. NULL if memory is exhausted. */
char *budget_sentence(const struct budget_file *file, const struct budget *budget,
                      bool with_measure);
/* Puts the place of an error in such a sentence in front of its message. */
void budget_place_error(const struct budget_file *file, const struct budget *budget,
                        struct session_error *error);
/* Sets a message with a place in the file, given in bytes from its start. Returns false. */
bool budget_fail(const struct budget_file *file, size_t place, struct session_error *error,
                 const char *message);

/* Returns the line of the file, from 1, that begins a budget. */
size_t budget_line(const struct budget_file *file, const struct budget *budget);

/* ---- limits: a value of the measure's unit, or a change against the base ---------------- */

struct limit {
    bool relative;   /* a percentage of the base, or of the median */
    size_t last;     /* the median of so many runs takes the place of the base; 0: the base */
    __int128 value;  /* in the unit of the measure */
    __int128 change; /* of the base, in millionths */
};

/* Parses the text of a limit. Returns false with `error` set to what was expected. */
bool limit_parse(const char *text, const struct session *session, enum session_unit unit,
                 struct limit *limit, struct session_error *error);

/* Returns true if the text is a percentage with a sign, or begins with a median. */
bool limit_is_relative(const char *text);

/* Returns true if the measure passes. `base` is needed if the limit is relative. Stores the limit
 * as a value, rounded towards 0. No value never passes. Against a base of 0 only 0 does. */
bool limit_passes(const struct limit *limit, enum budget_relation relation,
                  const struct session_measure *measure, const struct session_measure *base,
                  __int128 *shown);
