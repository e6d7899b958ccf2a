/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recursive descent over schemas/filter-language.md: one function for each rule. Parsing stops at
 * the first error, at the token that was not expected.
 */
#include "session/filter/parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"

struct allocated {
    struct allocated *next;
    max_align_t data[];
};

struct definition {
    const char *name;
    struct filter_pipeline *pipeline;
    struct definition *next;
};

struct filter_graph {
    struct allocated *allocated;
    struct definition *definitions;
    struct filter_pipeline *pipeline;
};

void filter_advance(struct filter_parser *parser)
{
    parser->token = lexer_next(&parser->lexer);
}

bool filter_accept(struct filter_parser *parser, const char *text)
{
    if (!token_is(&parser->token, text))
        return false;
    filter_advance(parser);
    return true;
}

bool filter_expected(struct filter_parser *parser, const char *what)
{
    const struct token *token = &parser->token;
    if (token->kind == TOKEN_BAD)
        return session_fail(parser->error, token->column, "%s", token->problem);
    if (token->kind == TOKEN_END)
        return session_fail(parser->error, token->column, "expected %s, found the end", what);
    int shown = token->length > 40 ? 40 : (int)token->length;
    return session_fail(parser->error, token->column, "expected %s, found \"%.*s\"", what, shown,
                        token->text);
}

void *filter_allocate(struct filter_parser *parser, size_t size)
{
    struct allocated *block = calloc(1, sizeof(*block) + size);
    if (!block) {
        session_fail_memory(parser->error, "the filter");
        return NULL;
    }
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

bool filter_enter(struct filter_parser *parser)
{
    if (++parser->depth <= FILTER_DEPTH_MAX)
        return true;
    return session_fail(parser->error, parser->token.column,
                        "nested more than %d deep: name a part with NAME = …;", FILTER_DEPTH_MAX);
}

static struct filter_pipeline *parse_pipeline(struct filter_parser *parser);

static bool not_available(struct filter_parser *parser, const char *what)
{
    return session_fail(parser->error, parser->token.column, "%s is not available yet", what);
}

static struct filter_pipeline *find_definition(const struct filter_parser *parser, const char *name)
{
    for (const struct definition *d = parser->graph->definitions; d; d = d->next) {
        if (strcmp(d->name, name) == 0)
            return d->pipeline;
    }
    return NULL;
}

static bool parse_named_set(struct filter_parser *parser, struct filter_set *set)
{
    const char *name = filter_token_text(parser, &parser->token);
    if (!name)
        return false;
    set->kind = SET_PIPELINE;
    set->pipeline = find_definition(parser, name);
    if (!set->pipeline)
        return session_fail(parser->error, parser->token.column,
                            "no graph named \"%.60s\" before this place (expected all, live, "
                            "leaked, a name or a parenthesis)",
                            name);
    filter_advance(parser);
    return true;
}

static bool parse_term(struct filter_parser *parser, struct filter_set *set)
{
    set->moment.moment = MOMENT_END;
    set->moment.column = parser->token.column;
    if (filter_accept(parser, "all")) {
        set->kind = SET_ALL;
        return true;
    }
    if (filter_accept(parser, "leaked")) {
        set->kind = SET_LEAKED;
        return true;
    }
    if (filter_accept(parser, "live")) {
        set->kind = SET_LIVE_AT;
        return !filter_accept(parser, "at") || filter_parse_moment(parser, &set->moment);
    }
    if (token_is(&parser->token, "session"))
        return not_available(parser, "a set of another session");
    if (filter_accept(parser, "(")) {
        set->kind = SET_PIPELINE;
        if (!filter_enter(parser) || !(set->pipeline = parse_pipeline(parser)))
            return false;
        parser->depth--;
        return filter_accept(parser, ")") || filter_expected(parser, "\"|\" or \")\"");
    }
    if (parser->token.kind == TOKEN_WORD || parser->token.kind == TOKEN_STRING)
        return parse_named_set(parser, set);
    return filter_expected(parser, "a set (all, live, leaked, a name or a parenthesis)");
}

static struct filter_set *parse_set(struct filter_parser *parser)
{
    struct filter_set *set = filter_allocate(parser, sizeof(*set));
    if (!set || !parse_term(parser, set))
        return NULL;
    /* The engine evaluates a chain by recursion on its left, so it counts as nesting. */
    unsigned depth = parser->depth;
    for (;;) {
        enum filter_set_kind kind;
        if (token_is(&parser->token, "+"))
            kind = SET_PLUS;
        else if (token_is(&parser->token, "-"))
            kind = SET_MINUS;
        else if (token_is(&parser->token, "&"))
            kind = SET_BOTH;
        else
            break;
        if (!filter_enter(parser))
            return NULL;
        filter_advance(parser);
        struct filter_set *both = filter_allocate(parser, sizeof(*both));
        struct filter_set *right = filter_allocate(parser, sizeof(*right));
        if (!both || !right || !parse_term(parser, right))
            return NULL;
        *both = (struct filter_set){.kind = kind, .left = set, .right = right};
        set = both;
    }
    parser->depth = depth;
    return set;
}

static bool parse_color_step(struct filter_parser *parser, struct filter_step *step)
{
    if (filter_accept(parser, "by")) {
        int column = parser->token.column;
        step->kind = STEP_COLOR_BY;
        if (!filter_parse_field(parser, &step->field))
            return false;
        if (filter_fields[step->field].color_by < 0)
            return session_fail(parser->error, column,
                                "cannot colour by %s: use function, thread, size, alloc_time, "
                                "type, module, lifetime or kind",
                                filter_fields[step->field].name);
        return true;
    }
    step->kind = STEP_COLOR;
    if (!filter_parse_color(parser, &step->color))
        return false;
    if (!filter_accept(parser, "where"))
        return true;
    step->predicate = filter_parse_predicate(parser);
    return step->predicate != NULL;
}

static bool parse_step(struct filter_parser *parser, struct filter_step *step)
{
    static const char *const later[] = {"fold", "join", "count", "sum",
                                        "avg",  "min",  "max",   "write"};
    if (filter_accept(parser, "where")) {
        step->kind = STEP_WHERE;
        step->predicate = filter_parse_predicate(parser);
        return step->predicate != NULL;
    }
    if (filter_accept(parser, "process")) {
        step->kind = STEP_WHERE;
        step->predicate = filter_parse_process(parser);
        return step->predicate != NULL;
    }
    if (filter_accept(parser, "color"))
        return parse_color_step(parser, step);
    if (filter_accept(parser, "sort")) {
        step->kind = STEP_SORT;
        if (!filter_parse_field(parser, &step->field))
            return false;
        if (filter_accept(parser, "desc"))
            step->descending = true;
        else
            filter_accept(parser, "asc");
        return true;
    }
    if (filter_accept(parser, "top")) {
        step->kind = STEP_TOP;
        return filter_parse_count(parser, &step->limit);
    }
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
        char what[32];
        snprintf(what, sizeof(what), "the step \"%s\"", later[i]);
        if (token_is(&parser->token, later[i]))
            return not_available(parser, what);
    }
    return filter_expected(parser, "a step (where, process, color, sort or top)");
}

/* Copies the source from `begin` up to the next token, without the space before that. */
static const char *source_text(struct filter_parser *parser, const char *begin)
{
    const char *end =
        parser->token.kind == TOKEN_STRING ? parser->token.text - 1 : parser->token.text;
    while (end > begin && strchr(" \t\r\n", end[-1]))
        end--;
    char *text = filter_allocate(parser, (size_t)(end - begin) + 1);
    if (text)
        memcpy(text, begin, (size_t)(end - begin));
    return text;
}

/* Tells whether the pipeline begins with a step, as in "where size > 1K". Its set is then `all`. */
static bool at_step(const struct filter_parser *parser)
{
    static const char *const steps[] = {"where", "process", "color", "sort", "top"};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (token_is(&parser->token, steps[i]))
            return !find_definition(parser, steps[i]);
    }
    return false;
}

static struct filter_pipeline *parse_pipeline(struct filter_parser *parser)
{
    struct filter_pipeline *pipeline = filter_allocate(parser, sizeof(*pipeline));
    if (!pipeline)
        return NULL;
    bool step_first = at_step(parser);
    if (step_first) /* a new set is SET_ALL */
        pipeline->set = filter_allocate(parser, sizeof(*pipeline->set));
    else
        pipeline->set = parse_set(parser);
    if (!pipeline->set)
        return NULL;
    struct filter_step **last = &pipeline->steps;
    while (step_first || filter_accept(parser, "|")) {
        step_first = false;
        struct filter_step *step = filter_allocate(parser, sizeof(*step));
        const char *begin = parser->token.text;
        if (!step || !parse_step(parser, step) || !(step->text = source_text(parser, begin)))
            return NULL;
        *last = step;
        last = &step->next;
    }
    return pipeline;
}

/* Tells whether the next token is a name and "=" follows it. */
static bool at_definition(const struct filter_parser *parser)
{
    if (parser->token.kind != TOKEN_WORD && parser->token.kind != TOKEN_STRING)
        return false;
    struct lexer ahead = parser->lexer;
    struct token next = lexer_next(&ahead);
    return token_is(&next, "=");
}

static bool parse_definition(struct filter_parser *parser)
{
    struct definition *definition = filter_allocate(parser, sizeof(*definition));
    if (!definition)
        return false;
    definition->name = filter_token_text(parser, &parser->token);
    if (!definition->name)
        return false;
    static const char *const taken[] = {"all", "live", "leaked", "session"};
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        if (strcmp(definition->name, taken[i]) == 0)
            return session_fail(parser->error, parser->token.column,
                                "\"%s\" is already a set: choose another name", taken[i]);
    }
    if (find_definition(parser, definition->name))
        return session_fail(parser->error, parser->token.column,
                            "there is already a graph named \"%.60s\"", definition->name);
    filter_advance(parser);
    filter_advance(parser);
    definition->pipeline = parse_pipeline(parser);
    if (!definition->pipeline)
        return false;
    if (!filter_accept(parser, ";"))
        return filter_expected(parser, "\"|\" or \";\"");
    definition->next = parser->graph->definitions;
    parser->graph->definitions = definition;
    return true;
}

static bool parse_graph(struct filter_parser *parser)
{
    filter_advance(parser);
    if (parser->token.kind == TOKEN_END) {
        lexer_start(&parser->lexer, "all");
        filter_advance(parser);
    }
    while (at_definition(parser)) {
        if (!parse_definition(parser))
            return false;
    }
    parser->graph->pipeline = parse_pipeline(parser);
    if (!parser->graph->pipeline)
        return false;
    return parser->token.kind == TOKEN_END || filter_expected(parser, "\"|\" or the end");
}

struct filter_graph *filter_parse(const char *text, struct session_error *error)
{
    struct filter_graph *graph = calloc(1, sizeof(*graph));
    if (!graph) {
        session_fail_memory(error, "the filter");
        return NULL;
    }
    struct filter_parser parser = {.graph = graph, .error = error};
    lexer_start(&parser.lexer, text ? text : "");
    if (!parse_graph(&parser)) {
        filter_graph_free(graph);
        return NULL;
    }
    return graph;
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
