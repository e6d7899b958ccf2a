/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes boxes of the text of a graph, and text of boxes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/filter/parser.h"
#include "session/graphs.h"

/* ---- reading ---------------------------------------------------------------------------- */

#define NO_BOX SIZE_MAX

struct reader {
    struct session_diagram *diagram;
    struct lexer lexer;
    struct token token; /* the next one */
    const char *end;    /* of the token before */
    const char *text;
    struct session_error *error;
};

static size_t read_pipeline(struct reader *reader);

static const char *token_end(const struct token *token)
{
    /* A string's text lies between its quotes. */
    return token->text + token->length + (token->kind == TOKEN_STRING);
}

static const char *token_start(const struct token *token)
{
    return token->text - (token->kind == TOKEN_STRING);
}

static void advance(struct reader *reader)
{
    reader->end = token_end(&reader->token);
    reader->token = lexer_next(&reader->lexer);
}

static bool at_end(const struct reader *reader)
{
    return reader->token.kind == TOKEN_END || reader->token.kind == TOKEN_BAD;
}

static bool at(const struct reader *reader, const char *text)
{
    return token_is(&reader->token, text);
}

static bool at_operator(const struct reader *reader)
{
    return at(reader, "+") || at(reader, "-") || at(reader, "&");
}

/* Adds a box. Returns its place, NO_BOX with the error set. */
static size_t add(struct reader *reader, enum session_box_kind kind, const char *text,
                  size_t length, size_t first, size_t second)
{
    struct session_diagram *diagram = reader->diagram;
    if (diagram->count == SESSION_BOXES_MAX) {
        snprintf(reader->error->message, sizeof(reader->error->message),
                 "a diagram shows at most %d boxes; give a part of the graph a name",
                 SESSION_BOXES_MAX);
        return NO_BOX;
    }
    char *copy = strndup(text, length);
    if (!copy) {
        *reader->error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
        return NO_BOX;
    }
    diagram->boxes[diagram->count] =
        (struct session_box){.kind = kind, .text = copy, .input = {first, second}};
    return diagram->count++;
}

/* Moves over a part up to `|`, `)`, `;` or, if `sets`, an operator, outside of parentheses. */
static void skip_part(struct reader *reader, bool sets)
{
    size_t depth = 0;
    bool time = false; /* a time may go on with + and - */
    while (!at_end(reader)) {
        if (depth == 0 && (at(reader, "|") || at(reader, ")") || at(reader, ";")))
            return;
        if (depth == 0 && sets && at_operator(reader)) {
            struct lexer ahead = reader->lexer;
            const struct token next = lexer_next(&ahead);
            const bool goes_on = time && (next.kind == TOKEN_NUMBER || token_is(&next, "start") ||
                                          token_is(&next, "peak") || token_is(&next, "end"));
            if (!goes_on)
                return;
        }
        if (at(reader, "at"))
            time = true;
        depth += at(reader, "(");
        depth -= at(reader, ")") && depth > 0;
        advance(reader);
    }
}

static size_t read_term(struct reader *reader)
{
    if (at(reader, "(")) {
        advance(reader);
        const size_t box = read_pipeline(reader);
        if (at(reader, ")"))
            advance(reader);
        return box;
    }
    const char *start = token_start(&reader->token);
    skip_part(reader, true);
    if (reader->end <= start)
        return add(reader, SESSION_BOX_SET, "all", 3, NO_BOX, NO_BOX);
    return add(reader, SESSION_BOX_SET, start, (size_t)(reader->end - start), NO_BOX, NO_BOX);
}

static size_t read_set(struct reader *reader)
{
    size_t box = read_term(reader);
    while (box != NO_BOX && at_operator(reader)) {
        const char *text = reader->token.text;
        advance(reader);
        const size_t second = read_term(reader);
        if (second == NO_BOX)
            return NO_BOX;
        box = add(reader, SESSION_BOX_COMBINE, text, 1, box, second);
    }
    return box;
}

static size_t read_step(struct reader *reader, size_t input)
{
    const char *start = token_start(&reader->token);
    skip_part(reader, false);
    return add(reader, SESSION_BOX_STEP, start,
               reader->end > start ? (size_t)(reader->end - start) : 0, input, NO_BOX);
}

/* Returns true if a step begins here. At a pipeline's beginning its words name no graph. */
static bool at_step(const struct reader *reader)
{
    static const char *const words[] = {
        "where", "process", "color", "sort", "top",    "join",  "fold", "ungroup", "count",   "sum",
        "avg",   "min",     "max",   "peak", "growth", "write", "held", "holds",   "retained"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (at(reader, words[i]))
            return true;
    return false;
}

static size_t read_pipeline(struct reader *reader)
{
    size_t box = NO_BOX;
    if (at_step(reader)) {
        box = add(reader, SESSION_BOX_SET, "all", 3, NO_BOX, NO_BOX);
        if (box != NO_BOX)
            box = read_step(reader, box);
    } else {
        box = read_set(reader);
    }
    while (box != NO_BOX && at(reader, "|")) {
        advance(reader);
        box = read_step(reader, box);
    }
    return box;
}

/* Returns the place after the last definition. */
static const char *end_of_definitions(const char *text)
{
    struct lexer lexer;
    const char *end = text;
    lexer_start(&lexer, text);
    for (struct token token = lexer_next(&lexer);
         token.kind != TOKEN_END && token.kind != TOKEN_BAD; token = lexer_next(&lexer))
        if (token_is(&token, ";"))
            end = token.text + token.length;
    return end;
}

/* ---- boxes that are the same ------------------------------------------------------------ */

/* Returns true if the inputs of two boxes give the same, in a diagram whose earlier boxes that are
 * the same have become one. Sets stay apart on the screen, so they are compared by their texts. */
static bool same_input(const struct session_diagram *diagram, size_t a, size_t b)
{
    const struct session_box *one = &diagram->boxes[a], *other = &diagram->boxes[b];
    return a == b || (one->kind == SESSION_BOX_SET && other->kind == SESSION_BOX_SET &&
                      strcmp(one->text, other->text) == 0);
}

static bool same_box(const struct session_diagram *diagram, size_t a, size_t b)
{
    const struct session_box *one = &diagram->boxes[a], *other = &diagram->boxes[b];
    if (one->kind == SESSION_BOX_SET || one->kind != other->kind ||
        strcmp(one->text, other->text) != 0)
        return false;
    for (size_t i = 0; i < session_box_inputs(one); i++)
        if (!same_input(diagram, one->input[i], other->input[i]))
            return false;
    return true;
}

/* Removes the boxes that feed no other, except the last one. */
static void drop_unused(struct session_diagram *diagram)
{
    bool used[SESSION_BOXES_MAX] = {false};
    size_t place[SESSION_BOXES_MAX], kept = 0;
    used[diagram->count - 1] = true;
    for (size_t i = diagram->count; i-- > 0;)
        for (size_t k = 0; used[i] && k < session_box_inputs(&diagram->boxes[i]); k++)
            used[diagram->boxes[i].input[k]] = true;
    for (size_t i = 0; i < diagram->count; i++) {
        struct session_box box = diagram->boxes[i];
        if (!used[i]) {
            free(box.text);
            continue;
        }
        for (size_t k = 0; k < session_box_inputs(&box); k++)
            box.input[k] = place[box.input[k]];
        place[i] = kept;
        diagram->boxes[kept++] = box;
    }
    diagram->count = kept;
}

/* Makes steps and operators that are the same one box with several lines. */
static void merge(struct session_diagram *diagram)
{
    size_t first[SESSION_BOXES_MAX];
    for (size_t i = 0; i < diagram->count; i++) {
        struct session_box *box = &diagram->boxes[i];
        for (size_t k = 0; k < session_box_inputs(box); k++)
            box->input[k] = first[box->input[k]];
        first[i] = i;
        for (size_t k = 0; k < i && first[i] == i; k++)
            if (first[k] == k && same_box(diagram, k, i))
                first[i] = k;
    }
    drop_unused(diagram);
}

bool session_diagram_read(struct session_diagram *diagram, const char *text,
                          struct session_error *error)
{
    const char *graph = end_of_definitions(text);
    *diagram = (struct session_diagram){.boxes = calloc(SESSION_BOXES_MAX, sizeof(*diagram->boxes)),
                                        .definitions = strndup(text, (size_t)(graph - text))};
    if (!diagram->boxes || !diagram->definitions) {
        session_diagram_clear(diagram);
        *error = (struct session_error){.message = SESSION_OUT_OF_MEMORY};
        return false;
    }
    struct reader reader = {.diagram = diagram, .text = graph, .error = error};
    lexer_start(&reader.lexer, graph);
    reader.end = graph;
    reader.token = lexer_next(&reader.lexer);
    if (read_pipeline(&reader) == NO_BOX || reader.token.kind != TOKEN_END) {
        if (reader.token.kind != TOKEN_END)
            snprintf(error->message, sizeof(error->message), "the text is not a graph");
        session_diagram_clear(diagram);
        return false;
    }
    merge(diagram);
    return true;
}

void session_diagram_clear(struct session_diagram *diagram)
{
    for (size_t i = 0; i < diagram->count; i++)
        free(diagram->boxes[i].text);
    FREE_ALL(diagram->boxes, diagram->definitions);
    *diagram = (struct session_diagram){.boxes = NULL};
}

size_t session_box_inputs(const struct session_box *box)
{
    return (size_t)box->kind;
}

/* ---- writing ---------------------------------------------------------------------------- */

enum change { CHANGE_NONE, CHANGE_REPLACE, CHANGE_INSERT, CHANGE_REMOVE, CHANGE_SWAP, CHANGE_WIRE };

struct change_of {
    enum change change;
    size_t box;
    const char *text;
    size_t input, from; /* CHANGE_WIRE: the box's input gets the output of `from` */
};

/* Returns the box that an input has after the change. */
static size_t input_of(const struct session_diagram *diagram, size_t place, size_t input,
                       const struct change_of *change)
{
    const bool wired =
        change->change == CHANGE_WIRE && change->box == place && change->input == input;
    return wired ? change->from : diagram->boxes[place].input[input];
}

static void write_box(FILE *out, const struct session_diagram *diagram, size_t place,
                      const struct change_of *change, bool as_term);

/* Writes an operator. Its second input needs parentheses if it is more than a set, because + - &
 * bind equally from left to right; so does a first input with steps. */
static void write_combined(FILE *out, const struct session_diagram *diagram, size_t place,
                           const struct change_of *change)
{
    const struct session_box *box = &diagram->boxes[place];
    const bool swapped = change->change == CHANGE_SWAP && change->box == place;
    const char *operator_ =
        change->change == CHANGE_REPLACE && change->box == place ? change->text : box->text;
    write_box(out, diagram, input_of(diagram, place, swapped, change), change, true);
    fprintf(out, " %s ", operator_);
    write_box(out, diagram, input_of(diagram, place, !swapped, change), change, true);
}

/* Writes the graph that ends at a box, without what a change inserts after it. */
static void write_own(FILE *out, const struct session_diagram *diagram, size_t place,
                      const struct change_of *change)
{
    const struct session_box *box = &diagram->boxes[place];
    const bool here = change->box == place;
    if (here && change->change == CHANGE_REMOVE) {
        if (box->kind == SESSION_BOX_SET)
            fputs("all", out);
        else
            write_box(out, diagram, box->input[0], change, false);
    } else if (box->kind == SESSION_BOX_COMBINE) {
        write_combined(out, diagram, place, change);
    } else {
        if (box->kind == SESSION_BOX_STEP) {
            write_box(out, diagram, input_of(diagram, place, 0, change), change, false);
            fputs(" | ", out);
        }
        fputs(here && change->change == CHANGE_REPLACE ? change->text : box->text, out);
    }
}

/* Returns true if the text joins two sets: it begins with an operator. */
static bool joins(const char *text)
{
    text += strspn(text, " \t\n");
    return *text == '+' || *text == '-' || *text == '&';
}

/* A set that is one time, such as `live at 2s`, must not go on with what follows: it has
 * parentheses in an operator. */
static bool is_simple(const struct session_box *box)
{
    return box->kind == SESSION_BOX_SET && !strstr(box->text, " at ");
}

static void write_box(FILE *out, const struct session_diagram *diagram, size_t place,
                      const struct change_of *change, bool as_term)
{
    const bool here = change->box == place, inserts = here && change->change == CHANGE_INSERT;
    const bool replaced = here && change->change == CHANGE_REPLACE;
    const bool compound = replaced || !is_simple(&diagram->boxes[place]);
    const bool outer = as_term && (inserts || compound);
    const bool inner = inserts && joins(change->text) && compound;
    if (outer)
        fputc('(', out);
    if (inner)
        fputc('(', out);
    write_own(out, diagram, place, change);
    if (inner)
        fputc(')', out);
    if (inserts)
        fprintf(out, joins(change->text) ? " %s" : " | %s", change->text);
    if (outer)
        fputc(')', out);
}

static char *write_text(const struct session_diagram *diagram, size_t last,
                        const struct change_of *change)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    if (*diagram->definitions)
        fprintf(out, "%s ", diagram->definitions);
    write_box(out, diagram, last, change, false);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

char *session_diagram_text(const struct session_diagram *diagram, size_t box)
{
    return write_text(diagram, box, &(struct change_of){.change = CHANGE_NONE});
}

static char *changed(const struct session_diagram *diagram, enum change change, size_t box,
                     const char *text)
{
    return write_text(diagram, diagram->count - 1,
                      &(struct change_of){.change = change, .box = box, .text = text});
}

char *session_diagram_replaced(const struct session_diagram *diagram, size_t box, const char *text)
{
    return changed(diagram, CHANGE_REPLACE, box, text);
}

char *session_diagram_inserted(const struct session_diagram *diagram, size_t box, const char *text)
{
    return changed(diagram, CHANGE_INSERT, box, text);
}

char *session_diagram_removed(const struct session_diagram *diagram, size_t box)
{
    return changed(diagram, CHANGE_REMOVE, box, NULL);
}

char *session_diagram_swapped(const struct session_diagram *diagram, size_t box)
{
    return changed(diagram, CHANGE_SWAP, box, NULL);
}

char *session_diagram_wired(const struct session_diagram *diagram, size_t from, size_t to,
                            size_t input)
{
    return write_text(
        diagram, diagram->count - 1,
        &(struct change_of){.change = CHANGE_WIRE, .box = to, .input = input, .from = from});
}

bool session_diagram_circles(const struct session_diagram *diagram, size_t from, size_t to)
{
    bool feeds[SESSION_BOXES_MAX] = {false};
    feeds[to] = true;
    for (size_t i = to + 1; i <= from; i++) /* a box comes after its inputs */
        for (size_t k = 0; k < session_box_inputs(&diagram->boxes[i]); k++)
            feeds[i] = feeds[i] || feeds[diagram->boxes[i].input[k]];
    return feeds[from];
}

char *session_diagram_joined(const struct session_diagram *diagram, size_t from, size_t to,
                             char operator_)
{
    struct session_diagram plain = *diagram;
    char none[] = "", *text = NULL, *step = NULL;
    plain.definitions = none;
    char *own = session_diagram_text(&plain, from);
    if (own && asprintf(&step, "%c (%s)", operator_, own) >= 0)
        text = session_diagram_inserted(diagram, to, step);
    FREE_ALL(step, own);
    return text;
}

/* ---- diagram open ---- */

/* Opens a box that is a graph's name: puts the boxes of that graph in its place. */

enum { PARTS_MOST = 16 };

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

/* Reads the values between parentheses, from "(". Returns false if it is not a list. */
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

/* Writes the definitions of a saved filter, except the graph itself, which `graph` gets. Returns
 * false with `error` set if a name means something else in the diagram. */
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
    FREE_ALL(copy.definitions, body);
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
           strcmp(out, "outlived") != 0 && strcmp(out, "survived") != 0 &&
           strcmp(out, "unreachable") != 0 && strcmp(out, "possibly") != 0;
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
