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
    set->moment.moment = MOMENT_END;
    set->moment.column = set->column = parser->token.column;
    if (filter_accept(parser, "all")) {
        set->kind = SET_ALL;
        return true;
    }
    if (filter_accept(parser, "leaked")) {
        set->kind = SET_LEAKED;
        return true;
    }
    if (filter_accept(parser, "outlived")) {
        set->kind = SET_OUTLIVED;
        return true;
    }
    if (filter_accept(parser, "survived")) {
        set->kind = SET_SURVIVED;
        return true;
    }
    if (filter_accept(parser, "unreachable")) {
        set->kind = SET_UNREACHABLE;
        return true;
    }
    if (filter_accept(parser, "possibly")) {
        set->kind = SET_POSSIBLY;
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
