/* SPDX-License-Identifier: BSD-2-Clause */
/* Definitions of graphs and their uses.
 *
 * A graph without parameters is parsed once, and all uses share it. A graph with parameters is
 * parsed at its definition, with values that are not known, so that its errors show there. It is
 * parsed again for each use, with the tokens of the values in place of the parameters: the place of
 * a parameter gives its type, and an error in a value shows at the value.
 *
 * A saved filter is a text of its own. Errors in it show at its use, with its name. */
#include <stdlib.h>
#include <string.h>

#include "session/filter/parser.h"
#include "session/store/error.h"

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

bool filter_parse_definitions(struct filter_parser *parser)
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

const struct filter_definition *filter_parse_stored(struct filter_parser *parser, const char *text,
                                                    const char *name)
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

bool filter_parse_use(struct filter_parser *parser, struct filter_set *set)
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

const char *filter_parse_use_text(struct filter_parser *parser)
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
