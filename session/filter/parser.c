/* SPDX-License-Identifier: BSD-2-Clause */
/* Recursive descent over schemas/filter-language.md: one function for each rule. Parsing stops at
 * the first error, at the token that was not expected. */
#include "session/filter/parser.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/store/error.h"
#include "session/store/session_state.h"

/* ---- lexer ---- */

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
    } else if (c == '$' && lexer->parameters && is_word(lexer->next[1]) &&
               !is_digit(lexer->next[1]) && (unsigned char)lexer->next[1] < 0x80) {
        token.kind = TOKEN_PARAMETER;
        token.of_query = true;
        token.text = lexer->next + 1;
        do
            advance(lexer);
        while (is_word(*lexer->next) && (unsigned char)*lexer->next < 0x80);
        token.length = (size_t)(lexer->next - token.text);
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

struct allocated {
    struct allocated *next;
    max_align_t data[];
};

struct filter_graph {
    struct allocated *allocated;
    struct filter_pipeline *pipeline;
};

/* ---- tokens ---- */

#define NOT_A_PARAMETER "this value cannot be a parameter of the query"

/* Begins to read the value of a parameter. Returns false if the token is not a parameter. */
static bool enter_argument(struct filter_scope *scope, const struct token *token)
{
    for (size_t i = 0; token->kind == TOKEN_WORD && i < scope->argument_count; i++) {
        const struct filter_argument *argument = &scope->arguments[i];
        if (!token_is(token, argument->name))
            continue;
        scope->tokens = argument->tokens;
        scope->tokens_left = argument->count;
        return true;
    }
    return false;
}

void filter_advance(struct filter_parser *parser)
{
    struct filter_scope *scope = parser->scope;
    struct token *token = &parser->token;
    if (parser->tokens >= FILTER_TOKENS_MAX) {
        token->kind = TOKEN_BAD;
        token->problem = "the filter is too long: use fewer graphs with values";
        return;
    }
    if (parser->parameter) {
        *token = (struct token){.kind = TOKEN_BAD,
                                .text = "",
                                .problem = NOT_A_PARAMETER,
                                .column = parser->parameter_column,
                                .of_argument = true};
        return;
    }
    parser->tokens++;
    parser->tried_count = 0;
    if (scope->tokens_left == 0) {
        *token = lexer_next(&scope->lexer);
        scope->place = token->kind == TOKEN_STRING ? token->text - 1 : token->text;
        if (!enter_argument(scope, token))
            return;
    }
    int column = token->column;
    *token = *scope->tokens++;
    scope->tokens_left--;
    if (token->kind == TOKEN_PARAMETER && !token->of_query)
        token->column = column;
    token->of_argument = true;
    /* Values are in the user's text. */
    if (scope->stored && token->column > 0)
        token->column = -token->column;
}

struct token filter_peek(struct filter_parser *parser)
{
    const struct filter_scope scope = *parser->scope;
    const struct token now = parser->token;
    const unsigned tried = parser->tried_count;
    filter_advance(parser);
    struct token next = parser->token;
    *parser->scope = scope;
    parser->token = now;
    parser->tried_count = tried;
    return next;
}

bool filter_at(struct filter_parser *parser, const char *text)
{
    if (token_is(&parser->token, text))
        return true;
    if (parser->tried_count < FILTER_TRIED_MAX)
        parser->tried[parser->tried_count++] = text;
    return false;
}

bool filter_accept(struct filter_parser *parser, const char *text)
{
    if (!filter_at(parser, text))
        return false;
    filter_advance(parser);
    return true;
}

bool filter_at_name(const struct filter_parser *parser)
{
    return parser->token.kind == TOKEN_WORD || parser->token.kind == TOKEN_STRING;
}

bool filter_at_parameter(const struct filter_parser *parser)
{
    return parser->token.kind == TOKEN_PARAMETER;
}

bool filter_meet_parameter(struct filter_parser *parser)
{
    const struct token token = parser->token;
    filter_advance(parser);
    if (!token.of_query)
        return true;
    parser->parameter = filter_token_text(parser, &token);
    parser->parameter_column = token.column;
    return parser->parameter != NULL;
}

void filter_take_parameter(struct filter_parser *parser, struct filter_value *value)
{
    value->parameter = parser->parameter;
    parser->parameter = NULL;
}

/* ---- errors ---- */

void filter_place_error(const struct filter_origin *origin, struct session_error *error)
{
    if (!origin) {
        error->column = abs(error->column);
        return;
    }
    const struct session_error inner = *error;
    if (inner.column > 0)
        session_fail(error, 0, "graph \"%.64s\" (%.40s), column %d: %s", origin->name,
                     origin->place, inner.column, inner.message);
    error->column = inner.column < 0 ? inner.column : -abs(origin->column);
}

bool filter_fail(struct filter_parser *parser, int column, const char *format, ...)
{
    char message[sizeof(parser->error->message)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    session_fail(parser->error, column, "%s", message);
    return false;
}

/* Returns the length of the signs that the next token begins with: "&&" is two tokens. */
static size_t signs_length(const struct token *token)
{
    if ((token->kind != TOKEN_OPERATOR && token->kind != TOKEN_BAD) || token->of_argument)
        return 0;
    const size_t length = strspn(token->text, "=<>!~&|.,-@");
    return length > token->length ? length : token->length;
}

static bool is_tried(const struct filter_parser *parser, const char *word)
{
    for (unsigned i = 0; i < parser->tried_count; i++)
        if (strcmp(parser->tried[i], word) == 0)
            return true;
    return false;
}

/* Finds the word or sign of the language that the next token was meant to be. */
static void suggest_tried(struct filter_parser *parser, const char *what, struct suggestion *names)
{
    const struct token *token = &parser->token;
    const int length = token->length > 40 ? 40 : (int)token->length;
    const size_t signs = signs_length(token);
    if (signs > 0 && names->name[0] == '\0')
        suggest_words(names, token->text, signs);
    for (unsigned i = 0; i < parser->tried_count; i++)
        suggest_offer(names, parser->tried[i]);
    if (names->name[0] != '\0' || token->kind != TOKEN_WORD)
        return;
    /* A word that belongs into the next part lacks the word that leads to that part. */
    if (is_tried(parser, "at") &&
        (token_is(token, "start") || token_is(token, "peak") || token_is(token, "end")))
        snprintf(names->name, sizeof(names->name), "at %.*s", length, token->text);
    else if (strncmp(what, "\"|\"", 3) == 0 && filter_at_step(parser))
        snprintf(names->name, sizeof(names->name), "| %.*s", length, token->text);
}

bool filter_expected_name(struct filter_parser *parser, const char *what,
                          const struct suggestion *names)
{
    const struct token *token = &parser->token;
    char text[SUGGEST_TEXT] = "";
    struct suggestion best = {.word = ""};
    if (names)
        best = *names;
    else if (token->kind == TOKEN_WORD)
        suggest_words(&best, token->text, token->length);
    best.offered = NULL;
    suggest_tried(parser, what, &best);
    suggest_text(&best, text);
    if (token->kind == TOKEN_BAD)
        return filter_fail(parser, token->column, "%s%s", token->problem, text);
    if (token->kind == TOKEN_END)
        return filter_fail(parser, token->column, "expected %s, found the end%s", what, text);
    int shown = token->length > 40 ? 40 : (int)token->length;
    if (token->kind == TOKEN_PARAMETER)
        return filter_fail(parser, token->column,
                           "expected %s, found the parameter \"%.*s\", which is a value", what,
                           shown, token->text);
    /* With a suggestion, the list of what else is right only hides it. */
    int length = text[0] != '\0' && strchr(what, '(') ? (int)strcspn(what, "(") - 1 : INT_MAX;
    return filter_fail(parser, token->column, "expected %.*s, found \"%.*s\"%s", length, what,
                       shown, token->text, text);
}

bool filter_expected(struct filter_parser *parser, const char *what)
{
    return filter_expected_name(parser, what, NULL);
}

void filter_suggest(const struct filter_parser *parser, struct suggestion *names)
{
    bool word = parser->token.kind == TOKEN_WORD || parser->token.kind == TOKEN_STRING;
    suggest_words(names, parser->token.text, word ? parser->token.length : 0);
    const struct filter_names *known = parser->names;
    if (known && known->offered && token_is(&parser->token, known->nobody)) {
        names->offered = known->offered;
        names->context = known->offered_context;
    }
}

bool filter_enter(struct filter_parser *parser)
{
    if (++parser->depth <= FILTER_DEPTH_MAX)
        return true;
    return filter_fail(parser, parser->token.column,
                       "nested more than %d deep: name a part with NAME = …;", FILTER_DEPTH_MAX);
}

/* ---- memory ---- */

void *filter_allocate(struct filter_parser *parser, size_t size)
{
    struct allocated *block = calloc(1, sizeof(*block) + size);
    if (!block)
        return session_fail_memory_null(parser->error, "the filter");
    block->next = parser->graph->allocated;
    parser->graph->allocated = block;
    return block->data;
}

const char *filter_token_text(struct filter_parser *parser, const struct token *token)
{
    char *text = filter_allocate(parser, token->length + 1);
    if (!text)
        return NULL;
    size_t length = 0;
    for (size_t i = 0; i < token->length; i++) {
        /* Only \" and \\ are escapes: a regular expression keeps its backslashes. */
        if (token->kind == TOKEN_STRING && token->text[i] == '\\' && i + 1 < token->length &&
            (token->text[i + 1] == '"' || token->text[i + 1] == '\\'))
            i++;
        text[length++] = token->text[i];
    }
    return text;
}

/* ---- definitions ---- */

/* Definitions of graphs and their uses.
 *
 * A graph without parameters is parsed once, and all uses share it. A graph with parameters is
 * parsed at its definition, with values that are not known, so that its errors show there. It is
 * parsed again for each use, with the tokens of the values in place of the parameters: the place of
 * a parameter gives its type, and an error in a value shows at the value.
 *
 * A saved filter is a text of its own. Errors in it show at its use, with its name. */

/* Words that begin a set: no graph has such a name. */
static const char *const set_words[] = {"all",      "live",        "leaked",   "outlived",
                                        "survived", "unreachable", "possibly", "session"};
enum { SET_WORDS = sizeof(set_words) / sizeof(*set_words) };

enum { PARAMETERS_MAX = 16, ARGUMENT_TOKENS_MAX = 64 };

const struct filter_definition *filter_find_definition(const struct filter_parser *parser,
                                                       const char *name)
{
    const struct filter_definition *found = parser->scope->definitions;
    while (found && strcmp(found->name, name) != 0)
        found = found->before;
    return found;
}

/* ---- definitions ---- */

/* Returns true if a definition comes next: a name, and "=" or parameters and "=". */
static bool at_definition(const struct filter_parser *parser)
{
    if (!filter_at_name(parser))
        return false;
    struct lexer ahead = parser->scope->lexer;
    struct token next = lexer_next(&ahead);
    if (token_is(&next, "(")) {
        while (next.kind != TOKEN_END && next.kind != TOKEN_BAD && !token_is(&next, ")"))
            next = lexer_next(&ahead);
        next = lexer_next(&ahead);
    }
    return token_is(&next, "=");
}

static bool parse_parameters(struct filter_parser *parser, struct filter_definition *definition)
{
    const char **names = filter_allocate(parser, PARAMETERS_MAX * sizeof(*names));
    if (!names)
        return false;
    definition->parameters = names;
    definition->parameter_count = 0;
    do {
        int column = parser->token.column;
        const char *name;
        if (definition->parameter_count == PARAMETERS_MAX)
            return filter_fail(parser, column, "more than %d parameters", PARAMETERS_MAX);
        if (parser->token.kind != TOKEN_WORD)
            return filter_expected(parser, "the name of a parameter");
        if (!filter_parse_text(parser, &name, "the name of a parameter"))
            return false;
        for (size_t i = 0; i < definition->parameter_count; i++)
            if (strcmp(names[i], name) == 0)
                return filter_fail(parser, column, "there is already a parameter \"%.60s\"", name);
        names[definition->parameter_count++] = name;
    } while (filter_accept(parser, ","));
    return filter_accept(parser, ")") || filter_expected(parser, "\",\" or \")\"");
}

/* Parses the body with parameters that have no values yet. */
static bool parse_body(struct filter_parser *parser, struct filter_definition *definition)
{
    struct filter_argument unknown[PARAMETERS_MAX];
    struct token tokens[PARAMETERS_MAX];
    struct filter_scope *scope = parser->scope;
    for (size_t i = 0; i < definition->parameter_count; i++) {
        const char *name = definition->parameters[i];
        tokens[i] = (struct token){.kind = TOKEN_PARAMETER, .text = name, .length = strlen(name)};
        unknown[i] = (struct filter_argument){.name = name, .tokens = &tokens[i], .count = 1};
    }
    if (!token_is(&parser->token, "="))
        return filter_expected(parser, "\"=\"");
    definition->body = scope->lexer;
    scope->arguments = unknown;
    scope->argument_count = definition->parameter_count;
    filter_advance(parser);
    definition->pipeline = filter_parse_pipeline(parser);
    scope->arguments = NULL;
    scope->argument_count = 0;
    return definition->pipeline != NULL;
}

static bool parse_definition(struct filter_parser *parser)
{
    struct filter_definition *definition = filter_allocate(parser, sizeof(*definition));
    if (!definition)
        return false;
    int column = parser->token.column;
    if (!filter_parse_text(parser, &definition->name, "the name of a graph"))
        return false;
    for (size_t i = 0; i < SET_WORDS; i++) {
        if (strcmp(definition->name, set_words[i]) == 0)
            return filter_fail(parser, column, "\"%s\" is already a set: choose another name",
                               set_words[i]);
    }
    if (filter_find_definition(parser, definition->name))
        return filter_fail(parser, column, "there is already a graph named \"%.60s\"",
                           definition->name);
    if (filter_accept(parser, "(") && !parse_parameters(parser, definition))
        return false;
    if (!parse_body(parser, definition))
        return false;
    if (!filter_accept(parser, ";"))
        return filter_expected(parser, "\"|\" or \";\"");
    definition->before = parser->scope->definitions;
    parser->scope->definitions = definition;
    return true;
}

/* Parses all definitions at the beginning of a text. */
static bool filter_parse_definitions(struct filter_parser *parser)
{
    while (at_definition(parser))
        if (!parse_definition(parser))
            return false;
    return true;
}

/* ---- saved filters ---- */

/* A saved filter that this text uses. */
struct filter_stored_use {
    const char *name;
    const struct filter_definition *definition; /* NULL: it is being parsed */
    const struct filter_origin *origin;
    struct filter_stored_use *next;
};

static bool parse_stored_text(struct filter_parser *parser, const char *name,
                              struct filter_definition *definition)
{
    filter_advance(parser);
    if (!filter_parse_definitions(parser))
        return false;
    const struct filter_definition *last = parser->scope->definitions;
    if (parser->token.kind == TOKEN_END && last) {
        *definition = *last;
        return strcmp(last->name, name) == 0 ||
               filter_fail(parser, parser->token.column,
                           "expected a pipeline, or that the last definition is \"%.60s\"", name);
    }
    definition->pipeline = filter_parse_pipeline(parser);
    return definition->pipeline &&
           (parser->token.kind == TOKEN_END || filter_expected(parser, "\"|\" or the end"));
}

/* Parses the text of a saved filter under `name`. Returns NULL with the error set. */
static const struct filter_definition *filter_parse_stored(struct filter_parser *parser,
                                                           const char *text, const char *name)
{
    struct filter_definition *definition = filter_allocate(parser, sizeof(*definition));
    char *kept = filter_allocate(parser, strlen(text) + 1);
    if (!definition || !kept)
        return NULL;
    memcpy(kept, text, strlen(text) + 1);
    lexer_start(&parser->scope->lexer, kept);
    return parse_stored_text(parser, name, definition) ? definition : NULL;
}

/* Moves an error in a saved filter to the use of that graph. Names the graph if
 * one of its values is wrong. */
static void place_stored_error(const struct filter_origin *origin, struct session_error *error)
{
    const struct session_error inner = *error;
    filter_place_error(origin, error);
    if (inner.column == -origin->column && strncmp(inner.message, "graph \"", 7) != 0)
        session_fail(error, inner.column, "graph \"%.64s\" (%.40s): %s", origin->name,
                     origin->place, inner.message);
}

/* Does the same in a scope of its own, for a text that uses the graph. */
static bool parse_stored_use(struct filter_parser *parser, struct filter_stored_use *use,
                             const char *text)
{
    const struct token token = parser->token;
    struct filter_scope *outer = parser->scope;
    struct filter_scope scope = {.stored = use->origin};
    if (++parser->stored_depth > FILTER_STORED_DEPTH_MAX)
        return filter_fail(parser, token.column, "saved filters use others more than %d deep",
                           FILTER_STORED_DEPTH_MAX);
    if (!filter_enter(parser))
        return false;
    parser->scope = &scope;
    use->definition = filter_parse_stored(parser, text, use->name);
    if (!use->definition)
        place_stored_error(use->origin, parser->error);
    parser->depth--;
    parser->stored_depth--;
    parser->scope = outer;
    parser->token = token;
    return use->definition != NULL;
}

static const char *keep_text(struct filter_parser *parser, const char *text)
{
    char *kept = filter_allocate(parser, strlen(text) + 1);
    return !kept ? NULL : memcpy(kept, text, strlen(text) + 1);
}

/* Notes that this text uses a saved filter, and parses it. */
static struct filter_stored_use *add_stored(struct filter_parser *parser, const char *name,
                                            const char *text, const char *place)
{
    struct filter_stored_use *use = filter_allocate(parser, sizeof(*use));
    struct filter_origin *origin = filter_allocate(parser, sizeof(*origin));
    if (!use || !origin || !(origin->place = keep_text(parser, place)))
        return NULL;
    origin->name = name;
    const struct filter_origin *outer = parser->scope->stored;
    origin->column = outer ? outer->column : parser->token.column;
    *use = (struct filter_stored_use){.name = name, .origin = origin, .next = parser->stored};
    parser->stored = use;
    return parse_stored_use(parser, use, text) ? use : NULL;
}

/* Finds a saved filter. Returns false with the error set; *found is NULL if there is none. */
static bool find_stored(struct filter_parser *parser, const char *name,
                        const struct filter_stored_use **found)
{
    const struct filter_names *names = parser->names;
    *found = NULL;
    for (const struct filter_stored_use *use = parser->stored; use; use = use->next) {
        if (strcmp(use->name, name) != 0)
            continue;
        *found = use;
        return use->definition ||
               filter_fail(parser, parser->token.column, "the graph \"%.60s\" uses itself", name);
    }
    const char *place = "stored";
    char *text = names ? names->find(names->context, name, &place) : NULL;
    if (!text)
        return true;
    *found = add_stored(parser, name, text, place);
    free(text);
    return *found != NULL;
}

static bool no_such_graph(struct filter_parser *parser, const char *name)
{
    const struct filter_names *names = parser->names;
    struct suggestion like;
    char text[SUGGEST_TEXT];
    filter_suggest(parser, &like);
    for (size_t i = 0; i < SET_WORDS; i++)
        suggest_offer(&like, set_words[i]);
    for (const struct filter_definition *d = parser->scope->definitions; d; d = d->before)
        suggest_offer(&like, d->name);
    char *known;
    for (size_t i = 0; names && names->known && (known = names->known(names->context, i)); i++) {
        suggest_offer(&like, known);
        free(known);
    }
    return filter_fail(parser, parser->token.column,
                       "no graph named \"%.60s\" before this place (expected all, live, leaked, a "
                       "name or a parenthesis)%s",
                       name, suggest_text(&like, text));
}

/* ---- uses ---- */

static const struct token open_parenthesis = {.kind = TOKEN_OPERATOR, .text = "(", .length = 1};
static const struct token close_parenthesis = {.kind = TOKEN_OPERATOR, .text = ")", .length = 1};

/* Parses one value of a use: a word, string or number, or a sum of times. */
static bool parse_argument(struct filter_parser *parser, struct filter_argument *argument)
{
    struct token tokens[ARGUMENT_TOKENS_MAX];
    size_t count = 0;
    unsigned open = 0;
    int column = parser->token.column;
    tokens[count++] = open_parenthesis;
    while (open > 0 || (!token_is(&parser->token, ",") && !token_is(&parser->token, ")"))) {
        const struct token *token = &parser->token;
        bool sign = token_is(token, "+") || token_is(token, "-") || token_is(token, "(") ||
                    token_is(token, ")");
        bool value = token->kind == TOKEN_WORD || token->kind == TOKEN_STRING ||
                     token->kind == TOKEN_NUMBER || token->kind == TOKEN_PARAMETER;
        if (!sign && !value)
            return filter_expected(parser, "a value (a name, a number or a time)");
        if (count + 1 == ARGUMENT_TOKENS_MAX)
            return filter_fail(parser, column, "this value is too long");
        open += token_is(token, "(") ? 1 : 0;
        open -= token_is(token, ")") ? 1 : 0;
        tokens[count] = *token;
        /* The place of a value in a saved filter is the use of that graph. */
        if (parser->scope->stored && token->column > 0)
            tokens[count].column = -abs(parser->scope->stored->column);
        count++;
        filter_advance(parser);
    }
    if (count == 1)
        return filter_expected(parser, "a value (a name, a number or a time)");
    /* In place of a parameter, a sum is one term. */
    tokens[0].column = tokens[1].column;
    tokens[count] = close_parenthesis;
    tokens[count].column = tokens[1].column;
    bool sum = count > 2;
    argument->count = sum ? count + 1 : 1;
    struct token *kept = filter_allocate(parser, argument->count * sizeof(*kept));
    if (!kept)
        return false;
    memcpy(kept, sum ? tokens : tokens + 1, argument->count * sizeof(*kept));
    argument->tokens = kept;
    return true;
}

/* Parses the values of a use, if there are any. */
static bool parse_arguments(struct filter_parser *parser, struct filter_argument *arguments,
                            size_t *count)
{
    *count = 0;
    if (!filter_accept(parser, "("))
        return true;
    do {
        if (*count == PARAMETERS_MAX)
            return filter_fail(parser, parser->token.column, "more than %d values", PARAMETERS_MAX);
        if (!parse_argument(parser, &arguments[*count]))
            return false;
        ++*count;
    } while (filter_accept(parser, ","));
    return filter_accept(parser, ")") || filter_expected(parser, "\",\" or \")\"");
}

/* Parses the body of a definition again, with the values of this use. */
static struct filter_pipeline *parse_with_values(struct filter_parser *parser,
                                                 const struct filter_definition *definition,
                                                 struct filter_argument *arguments,
                                                 const struct filter_origin *stored, int column)
{
    struct filter_scope *outer = parser->scope;
    const struct token after = parser->token;
    struct filter_scope scope = *outer;
    for (size_t i = 0; i < definition->parameter_count; i++)
        arguments[i].name = definition->parameters[i];
    scope.lexer = definition->body;
    scope.arguments = arguments;
    scope.argument_count = definition->parameter_count;
    scope.tokens_left = 0;
    scope.definitions = definition->before;
    if (stored)
        scope.stored = stored;
    if (++parser->uses > FILTER_USES_MAX) {
        filter_fail(parser, column, "more than %d uses of graphs with values", FILTER_USES_MAX);
        return NULL;
    }
    if (!filter_enter(parser))
        return NULL;
    parser->scope = &scope;
    filter_advance(parser);
    struct filter_pipeline *pipeline = filter_parse_pipeline(parser);
    if (pipeline && !token_is(&parser->token, ";")) {
        filter_expected(parser, "\"|\" or \";\"");
        pipeline = NULL;
    }
    if (!pipeline && stored)
        filter_place_error(stored, parser->error);
    parser->depth--;
    parser->scope = outer;
    parser->token = after;
    return pipeline;
}

/* Returns the origin of a saved filter for its use at `column`. */
static const struct filter_origin *origin_here(struct filter_parser *parser,
                                               const struct filter_origin *origin, int column)
{
    struct filter_origin *here = filter_allocate(parser, sizeof(*here));
    if (!here)
        return NULL;
    *here = *origin;
    /* Within a saved filter, the place in the user's text is that of the outer use. */
    here->column = parser->scope->stored ? parser->scope->stored->column : column;
    return here;
}

/* Parses the use of a graph into a set. */
static bool filter_parse_use(struct filter_parser *parser, struct filter_set *set)
{
    struct filter_argument arguments[PARAMETERS_MAX] = {{.name = NULL}};
    const struct filter_stored_use *stored = NULL;
    size_t count;
    int column = parser->token.column;
    const char *name = filter_token_text(parser, &parser->token);
    if (!name)
        return false;
    const struct filter_definition *definition = filter_find_definition(parser, name);
    if (!definition && !find_stored(parser, name, &stored))
        return false;
    if (!definition && !stored)
        return no_such_graph(parser, name);
    if (stored)
        definition = stored->definition;
    filter_advance(parser);
    int at = parser->token.column;
    if (!parse_arguments(parser, arguments, &count))
        return false;
    if (count != definition->parameter_count)
        return filter_fail(
            parser, count == 0 ? column : at, "the graph \"%.60s\" needs %zu value%s, found %zu",
            name, definition->parameter_count, definition->parameter_count == 1 ? "" : "s", count);
    set->kind = SET_PIPELINE;
    set->pipeline = definition->pipeline;
    if (stored && !(set->stored = origin_here(parser, stored->origin, column)))
        return false;
    if (count > 0)
        set->pipeline = parse_with_values(parser, definition, arguments, set->stored, column);
    return set->pipeline != NULL;
}

/* Appends a token to a text, quoted again if it was. */
static char *append_token(char *end, const struct token *token)
{
    bool quoted = token->kind == TOKEN_STRING;
    if (quoted)
        *end++ = '"';
    memcpy(end, token->text, token->length);
    end += token->length;
    if (quoted)
        *end++ = '"';
    *end++ = ' ';
    return end;
}

/* Parses the use of a graph of another session. Returns its text, NULL with the error set. */
static const char *filter_parse_use_text(struct filter_parser *parser)
{
    struct filter_argument arguments[PARAMETERS_MAX] = {{.name = NULL}};
    size_t count;
    const struct token name = parser->token;
    filter_advance(parser);
    if (!parse_arguments(parser, arguments, &count))
        return NULL;
    size_t length = name.length + 8;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < arguments[i].count; k++)
            length += arguments[i].tokens[k].length + 5;
    char *text = filter_allocate(parser, length);
    if (!text)
        return NULL;
    char *end = append_token(text, &name);
    for (size_t i = 0; i < count; i++) {
        *end++ = i == 0 ? '(' : ',';
        for (size_t k = 0; k < arguments[i].count; k++)
            end = append_token(end, &arguments[i].tokens[k]);
    }
    if (count > 0)
        *end++ = ')';
    *end = '\0';
    return text;
}

/* ---- sets ---- */

/* Parses the set of another session that follows its dot. Names of this text come first. */
static bool parse_session_graph(struct filter_parser *parser, struct filter_set *set);

static bool parse_session(struct filter_parser *parser, struct filter_set *set)
{
    set->kind = SET_SESSION;
    if (parser->token.kind != TOKEN_STRING && !filter_at_parameter(parser))
        return filter_expected(parser, "the file of a session in quotes");
    if (!filter_parse_text(parser, &set->file, "the file of a session in quotes"))
        return false;
    if (filter_accept(parser, "."))
        return parse_session_graph(parser, set);
    set->left = filter_allocate(parser, sizeof(*set->left)); /* SET_ALL */
    return set->left != NULL;
}

static bool parse_term(struct filter_parser *parser, struct filter_set *set)
{
    static const struct {
        const char *word;
        enum filter_set_kind kind;
    } sets[] = {
        {"all", SET_ALL},           {"leaked", SET_LEAKED},           {"outlived", SET_OUTLIVED},
        {"survived", SET_SURVIVED}, {"unreachable", SET_UNREACHABLE}, {"possibly", SET_POSSIBLY}};
    set->moment.moment = MOMENT_END;
    set->moment.column = set->column = parser->token.column;
    for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
        if (filter_accept(parser, sets[i].word)) {
            set->kind = sets[i].kind;
            return true;
        }
    if (filter_accept(parser, "live")) {
        set->kind = SET_LIVE_AT;
        return !filter_accept(parser, "at") || filter_parse_live_moment(parser, &set->moment);
    }
    if (filter_accept(parser, "session"))
        return parse_session(parser, set);
    if (filter_accept(parser, "(")) {
        set->kind = SET_PIPELINE;
        if (!filter_enter(parser) || !(set->pipeline = filter_parse_pipeline(parser)))
            return false;
        parser->depth--;
        return filter_accept(parser, ")") || filter_expected(parser, "\"|\" or \")\"");
    }
    if (filter_at_name(parser))
        return filter_parse_use(parser, set);
    return filter_expected(parser, "a set (all, live, leaked, a name or a parenthesis)");
}

/* The rows of a set: what the steps after it can use. */
static struct filter_pipeline set_rows(const struct filter_set *set)
{
    struct filter_pipeline rows = {.kind = KIND_ALLOCATIONS};
    switch (set->kind) {
    case SET_PIPELINE:
        return set->pipeline ? *set->pipeline : rows;
    case SET_LIVE_AT:
    case SET_LEAKED:
    case SET_SURVIVED:
        rows.moment = &set->moment;
        break;
    case SET_SESSION:
        return set->left ? set_rows(set->left) : rows;
    case SET_MINUS:
    case SET_BOTH:
        return set_rows(set->left);
    case SET_ALL:
    case SET_OUTLIVED:
    case SET_UNREACHABLE:
    case SET_POSSIBLY:
    case SET_PLUS:
        break;
    }
    return rows;
}

/* Returns true if a set has allocations: only those can be combined. */
static bool has_allocations(struct filter_parser *parser, const struct filter_set *set,
                            const char *use)
{
    enum filter_kind kind = set_rows(set).kind;
    if (kind == KIND_GROUPS)
        return filter_fail(parser, set->column,
                           "%s needs allocations, and these are groups: ungroup them first", use);
    if (kind == KIND_MEASURE)
        return filter_fail(parser, set->column, "%s needs allocations, and this is one number",
                           use);
    return true;
}

static bool parse_session_graph(struct filter_parser *parser, struct filter_set *set)
{
    bool words = token_is(&parser->token, "all") || token_is(&parser->token, "live") ||
                 token_is(&parser->token, "leaked") || token_is(&parser->token, "outlived") ||
                 token_is(&parser->token, "survived") || token_is(&parser->token, "unreachable") ||
                 token_is(&parser->token, "possibly") || token_is(&parser->token, "(");
    if (token_is(&parser->token, "session"))
        return filter_expected(parser, "a set of that session");
    if (!words && filter_at_name(parser)) {
        const char *name = filter_token_text(parser, &parser->token);
        if (!name)
            return false;
        if (!filter_find_definition(parser, name)) {
            set->graph = filter_parse_use_text(parser);
            return set->graph != NULL;
        }
    }
    set->left = filter_allocate(parser, sizeof(*set->left));
    return set->left && parse_term(parser, set->left) &&
           has_allocations(parser, set->left, "session");
}

static bool set_operator(const struct filter_parser *parser, enum filter_set_kind *kind)
{
    if (token_is(&parser->token, "+"))
        *kind = SET_PLUS;
    else if (token_is(&parser->token, "-"))
        *kind = SET_MINUS;
    else if (token_is(&parser->token, "&"))
        *kind = SET_BOTH;
    else
        return false;
    return true;
}

static struct filter_set *parse_set(struct filter_parser *parser)
{
    struct filter_set *set = filter_allocate(parser, sizeof(*set));
    if (!set || !parse_term(parser, set))
        return NULL;
    /* The engine evaluates a chain by recursion on its left, so it counts as nesting. */
    unsigned depth = parser->depth;
    enum filter_set_kind kind;
    while (set_operator(parser, &kind)) {
        static const char *const signs[] = {[SET_PLUS] = "+", [SET_MINUS] = "-", [SET_BOTH] = "&"};
        if (!filter_enter(parser))
            return NULL;
        filter_advance(parser);
        struct filter_set *both = filter_allocate(parser, sizeof(*both));
        struct filter_set *right = filter_allocate(parser, sizeof(*right));
        if (!both || !right || !parse_term(parser, right) ||
            !has_allocations(parser, set, signs[kind]) ||
            !has_allocations(parser, right, signs[kind]))
            return NULL;
        *both =
            (struct filter_set){.kind = kind, .column = set->column, .left = set, .right = right};
        set = both;
    }
    parser->depth = depth;
    return set;
}

/* ---- pipelines ---- */

/* Copies the source from `begin` up to the next token, without the space before that. */
static const char *source_text(struct filter_parser *parser, const char *begin)
{
    const char *end = parser->scope->place;
    while (end > begin && strchr(" \t\r\n", end[-1]))
        end--;
    char *text = filter_allocate(parser, (size_t)(end - begin) + 1);
    if (text)
        memcpy(text, begin, (size_t)(end - begin));
    return text;
}

struct filter_pipeline *filter_parse_pipeline(struct filter_parser *parser)
{
    struct filter_pipeline *pipeline = filter_allocate(parser, sizeof(*pipeline));
    if (!pipeline)
        return NULL;
    bool step_first = filter_at_step(parser);
    if (step_first) /* a new set is SET_ALL */
        pipeline->set = filter_allocate(parser, sizeof(*pipeline->set));
    else
        pipeline->set = parse_set(parser);
    if (!pipeline->set)
        return NULL;
    const struct filter_pipeline rows = set_rows(pipeline->set);
    pipeline->kind = rows.kind;
    pipeline->keys = rows.keys;
    pipeline->key_count = rows.key_count;
    pipeline->moment = rows.moment;
    struct filter_step **last = &pipeline->steps;
    while (step_first || filter_accept(parser, "|")) {
        step_first = false;
        struct filter_step *step = filter_allocate(parser, sizeof(*step));
        const char *begin = parser->scope->place;
        parser->rows = pipeline;
        if (!step || !filter_parse_step(parser, pipeline, step) ||
            !(step->text = source_text(parser, begin)))
            return NULL;
        *last = step;
        last = &step->next;
    }
    return pipeline;
}

static bool parse_graph(struct filter_parser *parser)
{
    filter_advance(parser);
    if (parser->token.kind == TOKEN_END) {
        lexer_start(&parser->scope->lexer, "all");
        filter_advance(parser);
    }
    if (!filter_parse_definitions(parser))
        return false;
    parser->graph->pipeline = filter_parse_pipeline(parser);
    if (!parser->graph->pipeline)
        return false;
    return parser->token.kind == TOKEN_END || filter_expected(parser, "\"|\" or the end");
}

/* Parses a text into `graph`; or, with `stored`, checks it as the text of a saved filter. */
static bool parse_text(struct filter_graph *graph, const char *text, const char *stored,
                       const struct filter_names *names, struct session_error *error)
{
    struct session_error kept = {.column = 0};
    struct filter_scope scope = {.definitions = NULL};
    struct filter_parser parser = {
        .scope = &scope, .graph = graph, .names = names, .error = error ? error : &kept};
    lexer_start(&scope.lexer, text ? text : "");
    scope.lexer.parameters = names && names->parameters;
    bool good = stored ? filter_parse_stored(&parser, parser.scope->lexer.next, stored) != NULL
                       : parse_graph(&parser);
    if (good && parser.parameter)
        good = filter_fail(&parser, parser.parameter_column, "%s", NOT_A_PARAMETER);
    if (!good)
        filter_place_error(NULL, parser.error);
    return good;
}

struct filter_graph *filter_parse_named(const char *text, const struct filter_names *names,
                                        struct session_error *error)
{
    struct filter_graph *graph = calloc(1, sizeof(*graph));
    if (!graph)
        return session_fail_memory_null(error, "the filter");
    if (!parse_text(graph, text, NULL, names, error)) {
        filter_graph_free(graph);
        return NULL;
    }
    return graph;
}

struct filter_graph *filter_parse(const char *text, struct session_error *error)
{
    return filter_parse_named(text, NULL, error);
}

struct filter_graph *filter_parse_time(const char *text, enum filter_type type,
                                       struct filter_value *value, struct session_error *error)
{
    struct session_error kept = {.column = 0};
    struct filter_scope scope = {.definitions = NULL};
    struct filter_graph *graph = calloc(1, sizeof(*graph));
    struct filter_parser parser = {.scope = &scope, .graph = graph, .error = error ? error : &kept};
    if (!graph)
        return session_fail_memory_null(error, "a time");
    *value = (struct filter_value){.column = 0};
    lexer_start(&scope.lexer, text);
    filter_advance(&parser);
    const char *end = type == TYPE_DURATION ? "the end of the duration" : "the end of the time";
    if (filter_parse_value(&parser, type, value) &&
        (parser.token.kind == TOKEN_END || filter_expected(&parser, end)))
        return graph;
    filter_graph_free(graph);
    return NULL;
}

bool filter_check_stored(const char *name, const char *text, const struct filter_names *names,
                         struct session_error *error)
{
    struct filter_graph *graph = calloc(1, sizeof(*graph));
    if (!graph)
        return session_fail_memory(error, "the filter");
    bool good = parse_text(graph, text, name, names, error);
    filter_graph_free(graph);
    return good;
}

void filter_graph_free(struct filter_graph *graph)
{
    if (!graph)
        return;
    while (graph->allocated) {
        struct allocated *next = graph->allocated->next;
        free(graph->allocated);
        graph->allocated = next;
    }
    free(graph);
}

const struct filter_pipeline *filter_graph_pipeline(const struct filter_graph *graph)
{
    return graph->pipeline;
}

bool filter_check(const char *text, struct session_error *error)
{
    struct filter_graph *graph = filter_parse(text, error);
    filter_graph_free(graph);
    return graph != NULL;
}

bool session_filter_check(const struct session *session, const char *text,
                          struct session_error *error)
{
    struct filter_graph *graph = filter_parse_named(text, session->graph_names, error);
    filter_graph_free(graph);
    return graph != NULL;
}
