/* SPDX-License-Identifier: BSD-2-Clause */
/* Warnings beside a result: a name in a filter that no allocation of the session has. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "session/filter/program.h"
#include "session/session.h"

/* ---- suggest ---- */

/* Finds the name that is most like a mistyped word, for "did you mean". Call suggest_start(),
 * suggest_offer() for each name that would be right, suggest_text(). */

struct suggestion {
    const char *word; /* `length` bytes */
    size_t length;
    size_t distance; /* of the best name so far */
    char name[128];  /* "": none */
    bool contains;   /* `name` contains the word, it is not like it */
    bool words;      /* of the language: see suggest_words() */
    void (*offered)(void *context, const char *name); /* gets every name, too; NULL: nobody */
    void *context;
};

/* Begins a search. `word` must stay valid until its end. If no name is like it, the shortest that
 * contains it is offered. */
void suggest_start(struct suggestion *suggestion, const char *word, size_t length);
/* Begins a search among words of the language, which are few: the first letters of one, and what
 * other languages call it, are alike, too. */
void suggest_words(struct suggestion *suggestion, const char *word, size_t length);
/* Compares one name, which may be NULL. The first of equally good names wins. */
void suggest_offer(struct suggestion *suggestion, const char *name);
/* Writes `: did you mean "NAME"?` to `out`, or nothing if no name is alike. Returns `out`. */
#define SUGGEST_TEXT 160
const char *suggest_text(const struct suggestion *suggestion, char out[SUGGEST_TEXT]);

/* The first ones are kept. */
#define FILTER_WARNINGS_MAX 8

struct filter_warnings {
    size_t count;
    struct session_warning list[FILTER_WARNINGS_MAX];
};

/* Adds a warning, unless there is the same at this column. */
void filter_warn(struct filter_warnings *warnings, int column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a warning for each name that no allocation has, with the name most like it. */
void filter_warn_of_names(struct session *session, const struct filter_program *program,
                          struct filter_warnings *warnings);

/* Moves warnings from `from` on out of a saved filter, as filter_place_error() does errors. */
void filter_place_warnings(const struct filter_origin *origin, size_t from,
                           struct filter_warnings *warnings);
