/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens a box that is a graph's name: puts the boxes of that graph in its place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/diagram.h"
#include "session/filter/lexer.h"

enum { PARTS_MOST = 16 };

/* A part of a text. */
struct part {
    const char *text;
    size_t length;
};

/* "NAME(A, B)": the parameters of a definition, or the values of a use. */
struct use {
    struct part name, values[PARTS_MOST];
    size_t count;
};

struct definition {
    struct use head;
    struct part body, whole; /* whole: up to the semicolon, with it */
};

static bool fail(struct session_error *error, const char *format, struct part name)
{
    *error = (struct session_error){.column = 0};
    snprintf(error->message, sizeof(error->message), format,
             (int)(name.length < 64 ? name.length : 64), name.text);
    return false;
}

static bool same(struct part a, struct part b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static const char *end_of(const struct token *token)
{
    return token->text + token->length + (token->kind == TOKEN_STRING);
}

/* ---- reading ---------------------------------------------------------------------------- */

/* Reads the values between parentheses; the first token is "(". Returns false if it is not a
 * list. */
static bool read_values(struct lexer *lexer, struct use *use)
{
    size_t depth = 0;
    struct token token = lexer_next(lexer);
    const char *start = NULL, *end = NULL;
    for (;; token = lexer_next(lexer)) {
        const bool closes = depth == 0 && token_is(&token, ")");
        if (token.kind == TOKEN_END || token.kind == TOKEN_BAD)
            return false;
        if (closes || (depth == 0 && token_is(&token, ","))) {
            if (!start || use->count == PARTS_MOST)
                return false;
            use->values[use->count++] = (struct part){start, (size_t)(end - start)};
            start = NULL;
            if (closes)
                return true;
            continue;
        }
        depth += token_is(&token, "(");
        depth -= token_is(&token, ")");
        if (!start)
            start = token.text - (token.kind == TOKEN_STRING);
        end = end_of(&token);
    }
}

/* Reads "NAME" or "NAME(…)". Returns false for anything else. The lexer is then after it. */
static bool read_use(struct lexer *lexer, struct use *use)
{
    const struct token name = lexer_next(lexer);
    *use = (struct use){.name = {name.text, name.length}};
    if (name.kind != TOKEN_WORD)
        return false;
    struct lexer ahead = *lexer;
    const struct token next = lexer_next(&ahead);
    if (!token_is(&next, "("))
        return true;
    *lexer = ahead;
    return read_values(lexer, use);
}

/* Reads the definition at the lexer. Returns false if none begins there; the lexer stays. */
static bool read_definition(struct lexer *lexer, struct definition *definition)
{
    struct lexer ahead = *lexer;
    if (!read_use(&ahead, &definition->head))
        return false;
    struct token token = lexer_next(&ahead);
    if (!token_is(&token, "="))
        return false;
    const char *start = end_of(&token);
    while (!token_is(&token, ";")) {
        token = lexer_next(&ahead);
        if (token.kind == TOKEN_END || token.kind == TOKEN_BAD)
            return false;
    }
    const char *name = definition->head.name.text;
    definition->body = (struct part){start, (size_t)(token.text - start)};
    definition->whole = (struct part){name, (size_t)(token.text + token.length - name)};
    *lexer = ahead;
    return true;
}

/* Finds a definition by its name. */
static bool find_definition(const char *text, struct part name, struct definition *found)
{
    struct lexer lexer;
    lexer_start(&lexer, text);
    while (read_definition(&lexer, found))
        if (same(found->head.name, name))
            return true;
    return false;
}

/* ---- writing ---------------------------------------------------------------------------- */

/* Writes a body with the values of a use in place of its parameters. */
static void write_body(FILE *out, const struct definition *definition, const struct use *use)
{
    char *body = strndup(definition->body.text, definition->body.length);
    struct lexer lexer;
    const char *from = body;
    if (!body)
        return;
    lexer_start(&lexer, body);
    for (struct token token = lexer_next(&lexer);
         token.kind != TOKEN_END && token.kind != TOKEN_BAD; token = lexer_next(&lexer)) {
        size_t n = 0;
        while (n < definition->head.count &&
               !(token.kind == TOKEN_WORD &&
                 same((struct part){token.text, token.length}, definition->head.values[n])))
            n++;
        if (n == definition->head.count)
            continue;
        fwrite(from, 1, (size_t)(token.text - from), out);
        fwrite(use->values[n].text, 1, use->values[n].length, out);
        from = token.text + token.length;
    }
    fputs(from, out);
    free(body);
}

/* Returns true if another box than `box` speaks of the name. */
static bool is_used(const struct session_diagram *diagram, size_t box, struct part name)
{
    for (size_t i = 0; i < diagram->count; i++) {
        struct lexer lexer;
        lexer_start(&lexer, diagram->boxes[i].text);
        for (struct token token = lexer_next(&lexer);
             i != box && token.kind != TOKEN_END && token.kind != TOKEN_BAD;
             token = lexer_next(&lexer))
            if (token.kind == TOKEN_WORD && same((struct part){token.text, token.length}, name))
                return true;
    }
    return false;
}

/*
 * Writes the definitions of a stored graph, except the graph itself, which `graph` gets. Returns
 * false with `error` set if a name means something else in the diagram.
 */
static bool write_definitions(FILE *out, const struct session_diagram *diagram, size_t box,
                              const char *stored, struct definition *graph,
                              struct session_error *error)
{
    struct lexer lexer;
    struct definition next, other;
    bool any = false;
    lexer_start(&lexer, stored);
    while (read_definition(&lexer, &next)) {
        /* The last one is the graph if no pipeline follows. */
        struct lexer ahead = lexer;
        if (lexer_next(&ahead).kind == TOKEN_END) {
            *graph = next;
            return true;
        }
        const bool there = find_definition(diagram->definitions, next.head.name, &other);
        if (there ? !same(other.whole, next.whole) : is_used(diagram, box, next.head.name))
            return fail(error, "it defines \"%.*s\", which means something else here",
                        next.head.name);
        if (!there)
            fprintf(out, "%s%.*s", any ? " " : "", (int)next.whole.length, next.whole.text);
        any = true;
    }
    *graph = (struct definition){.body = {lexer.next, strlen(lexer.next)}};
    return true;
}

/* Returns the text of both, malloc()ed. */
static char *joined(const char *one, const char *other)
{
    char *text = NULL;
    return asprintf(&text, "%s%s%s", one, *one && *other ? " " : "", other) < 0 ? NULL : text;
}

/* A filter is one line: ends of lines and what indents the next one become one blank. */
static void make_one_line(char *text)
{
    char *to = text;
    for (const char *at = text; *at;) {
        if (!strchr("\t\r\n", *at)) {
            *to++ = *at++;
            continue;
        }
        at += strspn(at, " \t\r\n");
        if (to > text && to[-1] != ' ')
            *to++ = ' ';
    }
    *to = 0;
}

/* Replaces the box by a body, below the definitions. */
static char *replace(const struct session_diagram *diagram, size_t box, const char *definitions,
                     const struct definition *graph, const struct use *use)
{
    struct session_diagram copy = *diagram;
    char *body = NULL, *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&body, &size);
    if (!out)
        return NULL;
    write_body(out, graph, use);
    const bool good = fclose(out) == 0;
    copy.definitions = joined(diagram->definitions, definitions);
    if (good && copy.definitions) {
        char *start = body + strspn(body, " \t\r\n");
        for (size_t length = strlen(start); length > 0 && strchr(" \t\r\n", start[length - 1]);)
            start[--length] = 0;
        text = session_diagram_replaced(&copy, box, start);
    }
    if (text)
        make_one_line(text);
    free(copy.definitions);
    free(body);
    return text;
}

bool session_diagram_name(const struct session_diagram *diagram, size_t box, char *out, size_t size)
{
    struct lexer lexer;
    struct use use;
    if (diagram->boxes[box].kind != SESSION_BOX_SET)
        return false;
    lexer_start(&lexer, diagram->boxes[box].text);
    if (!read_use(&lexer, &use) || lexer_next(&lexer).kind != TOKEN_END)
        return false;
    snprintf(out, size, "%.*s", (int)use.name.length, use.name.text);
    return strcmp(out, "all") != 0 && strcmp(out, "live") != 0 && strcmp(out, "leaked") != 0 &&
           strcmp(out, "outlived") != 0 && strcmp(out, "survived") != 0;
}

bool session_diagram_defines(const struct session_diagram *diagram, const char *name)
{
    struct definition found;
    return find_definition(diagram->definitions, (struct part){name, strlen(name)}, &found);
}

char *session_diagram_opened(const struct session_diagram *diagram, size_t box, const char *stored,
                             struct session_error *error)
{
    struct lexer lexer;
    struct use use;
    struct definition graph = {.body = {.text = ""}};
    char *definitions = NULL, *text = NULL;
    size_t size = 0;
    *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
    lexer_start(&lexer, diagram->boxes[box].text);
    if (!read_use(&lexer, &use))
        return NULL;
    FILE *out = open_memstream(&definitions, &size);
    if (!out)
        return NULL;
    bool good = find_definition(diagram->definitions, use.name, &graph) ||
                write_definitions(out, diagram, box, stored ? stored : "", &graph, error);
    if (good && graph.head.count != use.count)
        good = fail(error, "\"%.*s\" has another number of parameters", use.name);
    if (fclose(out) == 0 && good)
        text = replace(diagram, box, definitions, &graph, &use);
    free(definitions);
    return text;
}
