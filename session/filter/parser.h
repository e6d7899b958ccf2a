/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the two halves of the parser: parser.c reads graphs, sets and steps,
 * predicate.c the predicates and values within them.
 */
#ifndef MPROF_SESSION_FILTER_PARSER_H
#define MPROF_SESSION_FILTER_PARSER_H

#include "session/filter/lexer.h"
#include "session/filter/tree.h"

/* The deepest nesting of parentheses and `not`: recursion then fits any stack. */
#define FILTER_DEPTH_MAX 100

struct filter_parser {
    struct lexer lexer;
    struct token token; /* the next token to read */
    struct filter_graph *graph;
    struct session_error *error;
    unsigned depth;
};

void filter_advance(struct filter_parser *parser);
/* Advances over a word or operator if it comes next. */
bool filter_accept(struct filter_parser *parser, const char *text);
/* Sets the error "expected WHAT, found …" at the next token. Returns false. */
bool filter_expected(struct filter_parser *parser, const char *what);
/* Returns zeroed memory that lives as long as the graph, or NULL with the error set. */
void *filter_allocate(struct filter_parser *parser, size_t size);
/* Copies the token's text into a string and resolves the escapes of a quoted one. */
const char *filter_token_text(struct filter_parser *parser, const struct token *token);
/* Counts one level of nesting. Returns false with the error set beyond the limit. */
bool filter_enter(struct filter_parser *parser);

struct filter_predicate *filter_parse_predicate(struct filter_parser *parser);
/* Parses the operand of the step `process` into a test of that field. */
struct filter_predicate *filter_parse_process(struct filter_parser *parser);
bool filter_parse_field(struct filter_parser *parser, enum filter_field *field);
bool filter_parse_moment(struct filter_parser *parser, struct filter_value *value);
bool filter_parse_color(struct filter_parser *parser, struct filter_value *value);
/* Parses a number without a unit. */
bool filter_parse_count(struct filter_parser *parser, uint64_t *number);

#endif
