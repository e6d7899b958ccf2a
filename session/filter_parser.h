/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the two halves of the parser share: filter_parser.c reads graphs, sets and steps,
 * filter_predicate.c the predicates and values within them.
 */
#ifndef MPROF_SESSION_FILTER_PARSER_H
#define MPROF_SESSION_FILTER_PARSER_H

#include "session/filter_lexer.h"
#include "session/filter_tree.h"

/* Parentheses and `not` nest at most this deep: recursion stays within any stack. */
#define FILTER_DEPTH_MAX 100

struct filter_parser {
    struct lexer lexer;
    struct token token; /* the one to read next */
    struct filter_graph *graph;
    struct session_error *error;
    unsigned depth;
};

void filter_advance(struct filter_parser *parser);
/* Advances over a word or operator where it comes next. */
bool filter_accept(struct filter_parser *parser, const char *text);
/* "expected WHAT, found …" at the token to read next; false. */
bool filter_expected(struct filter_parser *parser, const char *what);
/* Memory that lives as long as the graph; NULL with the error set. Zeroed. */
void *filter_allocate(struct filter_parser *parser, size_t size);
/* The token's text as a string of its own, escapes of a quoted one resolved. */
const char *filter_token_text(struct filter_parser *parser, const struct token *token);
/* Counts one level of nesting; false with the error set beyond the limit. */
bool filter_enter(struct filter_parser *parser);

struct filter_predicate *filter_parse_predicate(struct filter_parser *parser);
/* What stands behind the step `process`: a test of that field. */
struct filter_predicate *filter_parse_process(struct filter_parser *parser);
bool filter_parse_field(struct filter_parser *parser, enum filter_field *field);
bool filter_parse_moment(struct filter_parser *parser, struct filter_value *value);
bool filter_parse_color(struct filter_parser *parser, struct filter_value *value);
/* A number without unit. */
bool filter_parse_count(struct filter_parser *parser, uint64_t *number);

#endif
