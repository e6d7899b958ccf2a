/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the parts of the parser: parser.c reads tokens, graphs, named filters and sets, step.c
 * steps, predicates, fields and values.
 *
 * A predicate can hold a filter, and the value of a moment or of `pins` is found by running one. So
 * the files of the parser and those of the program call each other in a circle. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/filter/tree.h"
#include "session/filter/warning.h"

/* ---- lexer ---- */

/* Splits a filter into tokens (schemas/filter-language.md). Call lexer_start(), then lexer_next()
 * until TOKEN_END or TOKEN_BAD. Columns are counted in characters from 1. */

enum token_kind {
    TOKEN_END,
    TOKEN_BAD, /* `problem` says why */
    TOKEN_WORD,
    TOKEN_STRING, /* text between the quotes, escapes still in it */
    TOKEN_NUMBER, /* with its unit, if one follows */
    TOKEN_OPERATOR,
    TOKEN_PARAMETER, /* made by the parser, or $NAME: a parameter whose value is not known */
};

struct token {
    const char *text; /* into the source, `length` bytes */
    size_t length;
    const char *problem;
    enum token_kind kind;
    int column;
    bool of_query;    /* of TOKEN_PARAMETER: $NAME */
    bool of_argument; /* set by the parser: it is part of the value of a parameter */
};

struct lexer {
    const char *next;
    int column;
    bool parameters; /* $NAME is a token */
};

void lexer_start(struct lexer *lexer, const char *text);
struct token lexer_next(struct lexer *lexer);

/* Returns true if the token is this word or operator. Never true for a quoted string. */
bool token_is(const struct token *token, const char *text);

/* The deepest nesting of parentheses and `not`: recursion then fits any stack. */
#define FILTER_DEPTH_MAX 100
/* The most uses of graphs with parameters: each use parses its text again. */
#define FILTER_USES_MAX 1000
/* The depth to which saved filters may use others. */
#define FILTER_STORED_DEPTH_MAX 16
/* The most tokens of a text with all uses of graphs with parameters: it bounds time and memory. */
#define FILTER_TOKENS_MAX 500000
/* The most words and signs that one token could have been, beside names. */
#define FILTER_TRIED_MAX 24

/* The tokens that take the place of a parameter. */
struct filter_argument {
    const char *name;
    const struct token *tokens;
    size_t count;
};

/* A graph that a text can use by its name. */
struct filter_definition {
    const char *name;
    struct filter_pipeline *pipeline; /* without parameters: the graph */
    const char *const *parameters;
    size_t parameter_count;
    struct lexer body;                      /* with parameters: parsed for each use */
    const struct filter_definition *before; /* the definitions that it may use */
};

/* A text that is being parsed: that of the user, of a saved filter, or the body of a definition. */
struct filter_scope {
    struct lexer lexer;
    const char *place; /* where the last token of `lexer` begins */
    const struct filter_argument *arguments;
    size_t argument_count;
    const struct token *tokens; /* of the argument that is being read */
    size_t tokens_left;
    const struct filter_definition *definitions; /* the newest */
    const struct filter_origin *stored; /* the saved filter, NULL: this is the user's text */
};

struct filter_parser {
    struct filter_scope *scope;
    struct token token; /* the next token to read */
    struct filter_graph *graph;
    const struct filter_names *names;
    const struct filter_pipeline *rows; /* the pipeline whose steps are being read */
    struct session_error *error;
    const char *parameter; /* of a query, that no value has taken yet */
    int parameter_column;
    struct filter_stored_use *stored;    /* the saved filters met so far */
    const char *tried[FILTER_TRIED_MAX]; /* what the next token could have been, so far */
    unsigned tried_count, depth, stored_depth, uses, tokens;
};

void filter_advance(struct filter_parser *parser);
/* Returns the token after the next one. */
struct token filter_peek(struct filter_parser *parser);
/* Returns true if a word or operator of the language comes next. If it does not, the error about
 * the next token may suggest it. `text` is a constant. */
bool filter_at(struct filter_parser *parser, const char *text);
/* Advances over one if it comes next. */
bool filter_accept(struct filter_parser *parser, const char *text);
/* Returns true if a word or a string comes next. */
bool filter_at_name(const struct filter_parser *parser);
/* Returns true if a parameter without a value comes next: its definition is being checked, or it is
 * one of a query. */
bool filter_at_parameter(const struct filter_parser *parser);

/* Advances over such a parameter. One of a query is then in parser->parameter, and the value that
 * it stands for takes it from there; otherwise it is an error. Returns false with the error set. */
bool filter_meet_parameter(struct filter_parser *parser);
/* Gives a value the parameter of a query that came in its place, if one did. */
void filter_take_parameter(struct filter_parser *parser, struct filter_value *value);

/* Sets an error and returns false. */
bool filter_fail(struct filter_parser *parser, int column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets the error "expected WHAT, found …" at the next token. Returns false. */
bool filter_expected(struct filter_parser *parser, const char *what);
/* Does the same and adds the best of `names`, if the next token is like one of them. */
bool filter_expected_name(struct filter_parser *parser, const char *what,
                          const struct suggestion *names);
/* Begins the search for a name that is like the next token. */
void filter_suggest(const struct filter_parser *parser, struct suggestion *names);

/* Returns zeroed memory that lives as long as the graph, or NULL with the error set. */
void *filter_allocate(struct filter_parser *parser, size_t size);
/* Copies the token's text into a string and resolves the escapes of a quoted one. */
const char *filter_token_text(struct filter_parser *parser, const struct token *token);
/* Counts one level of nesting. Returns false with the error set beyond the limit. */
bool filter_enter(struct filter_parser *parser);

/* ---- parser.c ---- */

struct filter_pipeline *filter_parse_pipeline(struct filter_parser *parser);

/* Returns the definition of this text with that name, NULL if there is none. */
const struct filter_definition *filter_find_definition(const struct filter_parser *parser,
                                                       const char *name);

/* ---- step.c ---- */

/* Returns true if a step comes next. */
bool filter_at_step(const struct filter_parser *parser);
/* Parses a step and changes the kind of the pipeline's rows as the step does. */
bool filter_parse_step(struct filter_parser *parser, struct filter_pipeline *pipeline,
                       struct filter_step *step);

/* Parses the time of `live at`. Only a number, start, peak or end after + or - continues it: other
 * names are sets. */
bool filter_parse_live_moment(struct filter_parser *parser, struct filter_value *value);
/* Parses a word or a string. `what` names it in errors. */
bool filter_parse_text(struct filter_parser *parser, const char **text, const char *what);
/* Parses a value that a field of the type can be compared with. */
bool filter_parse_value(struct filter_parser *parser, enum filter_type type,
                        struct filter_value *value);
