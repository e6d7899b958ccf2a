/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the parser: a text that ends with a word which nothing is called fails at that word, and the
 * parser offers the words that it could have been for "did you mean". Names as values are never
 * wrong for the parser; the tokens before the word tell if there is one. */
#include "session/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/filter/parser.h"
#include "session/filter/references.h"
#include "session/filter/tree.h"
#include "session/store/session_state.h"

/* A private character, which the lexer reads as a letter. */
#define NOBODY "\xee\x80\x80"

struct visit {
    session_visit_word *word;
    void *context;
    bool ended;
};

static void give(struct visit *visit, const char *word, bool name)
{
    if (!visit->ended && word && *word)
        visit->ended = !visit->word(visit->context, word, name);
}

static void offered(void *context, const char *name)
{
    give(context, name, false);
}

/* The last tokens of a text, the last one first. */
struct tail {
    struct token token[3];
};

static bool read_tail(const char *text, struct tail *tail)
{
    struct lexer lexer;
    lexer_start(&lexer, text);
    for (;;) {
        const struct token token = lexer_next(&lexer);
        if (token.kind == TOKEN_END || token.kind == TOKEN_BAD)
            return token.kind == TOKEN_END;
        tail->token[2] = tail->token[1];
        tail->token[1] = tail->token[0];
        tail->token[0] = token;
    }
}

static bool compares_names(const struct token *token)
{
    return token_is(token, "==") || token_is(token, "!=") || token_is(token, "~") ||
           token_is(token, "!~");
}

static void visit_functions(const struct session *session, struct visit *visit)
{
    for (uint32_t i = 1; i < session->names.function_count && !visit->ended; i++)
        give(visit, session->names.function[i].name, true);
}

static void visit_names(const struct session *session, enum filter_field field, struct visit *visit)
{
    const struct names *all = &session->names;
    const struct name_table *const tables[FIELD_TOTAL] = {
        [FIELD_TYPE] = &all->type,       [FIELD_THREAD] = &all->thread,
        [FIELD_PROCESS] = &all->process, [FIELD_FREE_THREAD] = &all->thread,
        [FIELD_ARENA] = &all->arena,     [FIELD_KIND] = &all->kind,
        [FIELD_FILE] = &all->file,       [FIELD_MODULE] = &all->module,
        [FIELD_OWNER] = &all->owner};
    for (uint32_t i = 0; tables[field] && i < tables[field]->count && !visit->ended; i++)
        give(visit, tables[field]->name[i], true);
    switch (field) {
    case FIELD_CONFIDENCE:
        give(visit, "exact", false);
        give(visit, "inferred", false);
        give(visit, "unknown", false);
        give(visit, "candidate", false);
        break;
    case FIELD_REACHABILITY:
        for (int i = 0; i < REACHABILITY_WORDS; i++)
            give(visit, reachability_words[i], false);
        break;
    case FIELD_FREED:
    case FIELD_COLLECTED:
    case FIELD_CROSSED:
        give(visit, "true", false);
        give(visit, "false", false);
        break;
    case FIELD_FUNCTION:
    case FIELD_CALLER:
    case FIELD_USER:
    case FIELD_FRAME:
    case FIELD_STACK:
    case FIELD_FREE_STACK:
        visit_functions(session, visit);
        break;
    default:
        break;
    }
}

static bool find_field(const struct token *token, enum filter_field *field)
{
    for (int i = 0; i < FIELD_TOTAL; i++) {
        if (token_is(token, filter_fields[i].name)) {
            *field = (enum filter_field)i;
            return true;
        }
    }
    return false;
}

static void visit_moments(const struct session *session, struct visit *visit)
{
    static const char *const words[] = {"start", "peak", "end"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        give(visit, words[i], false);
    for (size_t i = 0; i < session->names.mark_count && !visit->ended; i++)
        give(visit, session->names.marks[i].name, true);
}

/* Visits the values that fit after the tail. Returns false if no value must follow. */
static bool visit_values(const struct session *session, const struct tail *tail,
                         struct visit *visit)
{
    const struct token *last = &tail->token[0], *before = &tail->token[1];
    enum filter_field field;
    if (token_is(last, "has")) {
        visit_functions(session, visit);
        return true;
    }
    if (token_is(last, "at") || token_is(last, "..") || token_is(last, "growth") ||
        (token_is(last, "in") && find_field(before, &field) &&
         filter_fields[field].type == TYPE_MOMENT)) {
        visit_moments(session, visit);
        return true;
    }
    if (find_field(before, &field) && filter_fields[field].type == TYPE_MOMENT &&
        last->kind == TOKEN_OPERATOR && !token_is(last, "|")) {
        visit_moments(session, visit);
        return true;
    }
    if (!compares_names(last))
        return false;
    /* `frame N` is a field of two tokens. */
    if (!find_field(before, &field) && !find_field(&tail->token[2], &field))
        return false;
    visit_names(session, field, visit);
    return true;
}

void session_filter_words(const struct session *session, const char *text,
                          session_visit_word *visit, void *context)
{
    struct visit state = {.word = visit, .context = context};
    struct session_error error;
    struct tail tail = {0};
    char *whole = NULL;
    if (!read_tail(text, &tail) || visit_values(session, &tail, &state) ||
        asprintf(&whole, "%s" NOBODY, text) < 0)
        return;
    struct filter_names names = {.offered = offered, .offered_context = &state, .nobody = NOBODY};
    if (session->graph_names) {
        names.context = session->graph_names->context;
        names.find = session->graph_names->find;
        names.known = session->graph_names->known;
    }
    filter_graph_free(filter_parse_named(whole, &names, &error));
    free(whole);
}

void session_field_names(const struct session *session, const char *field,
                         session_visit_word *visit, void *context)
{
    struct visit state = {.word = visit, .context = context};
    const struct token token = {.kind = TOKEN_WORD, .text = field, .length = strlen(field)};
    enum filter_field found;
    if (find_field(&token, &found))
        visit_names(session, found, &state);
}

void session_moment_names(const struct session *session, session_visit_word *visit, void *context)
{
    struct visit state = {.word = visit, .context = context};
    visit_moments(session, &state);
}
