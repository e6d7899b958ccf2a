/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Splits a filter into tokens (schemas/filter-language.md). Call lexer_start(), then lexer_next()
 * until TOKEN_END or TOKEN_BAD. Columns are counted in characters from 1.
 */
#ifndef MPROF_SESSION_FILTER_LEXER_H
#define MPROF_SESSION_FILTER_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,
    TOKEN_BAD, /* `problem` says why */
    TOKEN_WORD,
    TOKEN_STRING, /* text between the quotes, escapes still in it */
    TOKEN_NUMBER, /* with its unit, if one follows */
    TOKEN_OPERATOR,
    TOKEN_PARAMETER, /* made by the parser: a parameter whose value is not known */
};

struct token {
    const char *text; /* into the source, `length` bytes */
    size_t length;
    const char *problem;
    enum token_kind kind;
    int column;
    bool of_argument; /* set by the parser: it is part of the value of a parameter */
};

struct lexer {
    const char *next;
    int column;
};

void lexer_start(struct lexer *lexer, const char *text);
struct token lexer_next(struct lexer *lexer);

/* Returns true if the token is this word or operator. Never true for a quoted string. */
bool token_is(const struct token *token, const char *text);

#endif
