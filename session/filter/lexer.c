/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/filter/lexer.h"

#include <string.h>

void lexer_start(struct lexer *lexer, const char *text)
{
    *lexer = (struct lexer){.next = text, .column = 1};
}

/* ASCII only, in every locale: a filter means the same everywhere. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c) ||
           (unsigned char)c >= 0x80;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Moves on by one byte. Later bytes of a UTF-8 character do not move the column. */
static void advance(struct lexer *lexer)
{
    lexer->next++;
    if (((unsigned char)*lexer->next & 0xc0) != 0x80)
        lexer->column++;
}

static void lex_string(struct lexer *lexer, struct token *token)
{
    advance(lexer);
    token->kind = TOKEN_STRING;
    token->text = lexer->next;
    while (*lexer->next != '\0' && *lexer->next != '"') {
        if (*lexer->next == '\\' && lexer->next[1] != '\0')
            advance(lexer);
        advance(lexer);
    }
    token->length = (size_t)(lexer->next - token->text);
    if (*lexer->next == '\0') {
        token->kind = TOKEN_BAD;
        token->problem = "this string does not end: close it with \"";
        return;
    }
    advance(lexer);
}

static void lex_operator(struct lexer *lexer, struct token *token)
{
    static const char *const operators[] = {"==", "!=", "<=", ">=", "!~", "..", "<", ">", "~", "(",
                                            ")",  "|",  "+",  "&",  "-",  ",",  "=", ";", "."};
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        size_t length = strlen(operators[i]);
        if (strncmp(lexer->next, operators[i], length) != 0)
            continue;
        token->kind = TOKEN_OPERATOR;
        for (size_t k = 0; k < length; k++)
            advance(lexer);
        token->length = length;
        return;
    }
    token->kind = TOKEN_BAD;
    token->problem = "this character means nothing here: quote text with \"";
    advance(lexer);
    token->length = 1;
}

struct token lexer_next(struct lexer *lexer)
{
    while (is_space(*lexer->next))
        advance(lexer);
    struct token token = {.kind = TOKEN_END, .text = lexer->next, .column = lexer->column};
    char c = *lexer->next;
    if (c == '\0')
        return token;
    if (c == '"') {
        lex_string(lexer, &token);
    } else if (is_word(c)) {
        token.kind = is_digit(c) ? TOKEN_NUMBER : TOKEN_WORD;
        while (is_word(*lexer->next) ||
               (token.kind == TOKEN_NUMBER && *lexer->next == '.' && is_digit(lexer->next[1])))
            advance(lexer);
        if (token.kind == TOKEN_NUMBER && *lexer->next == '%')
            advance(lexer);
        token.length = (size_t)(lexer->next - token.text);
    } else {
        lex_operator(lexer, &token);
    }
    return token;
}

bool token_is(const struct token *token, const char *text)
{
    return (token->kind == TOKEN_WORD || token->kind == TOKEN_OPERATOR) &&
           token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}
