/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/source/statement_facts.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/array.h"
#include "ingest/types/source/source_statement.h"

/* More names than a statement has. */
#define NAMED_MAX 64

struct level {
    bool read;
    char *statement; /* NULL: there is none */
};

struct named_fact {
    enum types_fact_kind kind;
    bool found;
    size_t level, length;
    char *text;
    struct types_type type;
};

struct types_statement_facts {
    struct level *levels; /* one for each of the site's entries; NULL: no statement was read */
    struct named_fact *named;
    size_t named_count, named_capacity;
};

struct types_statement_facts *types_statement_facts_new(void)
{
    return calloc(1, sizeof(struct types_statement_facts));
}

void types_statement_facts_free(struct types_statement_facts *facts, size_t levels)
{
    if (!facts)
        return;
    for (size_t i = 0; facts->levels && i < levels; i++)
        free(facts->levels[i].statement);
    for (size_t i = 0; i < facts->named_count; i++)
        free(facts->named[i].text);
    free(facts->levels);
    free(facts->named);
    free(facts);
}

const char *types_statement_facts_text(const struct types_site *site,
                                       uint32_t (*column_of)(const struct types_site *site))
{
    struct types_statement_facts *facts = site->statement;
    const struct symbols_frame *frame = &site->frames[site->level];
    char text[TYPES_STATEMENT_MAX];
    if (site->level >= site->entry_count || site->level >= site->frame_count || !frame->file ||
        frame->line == 0)
        return NULL;
    if (!facts->levels)
        facts->levels = calloc(site->entry_count, sizeof(*facts->levels));
    if (!facts->levels)
        return NULL;
    struct level *level = &facts->levels[site->level];
    if (!level->read) {
        level->read = true;
        if (types_source_statement_read(site->sources, frame->file, frame->line, column_of(site),
                                        site->built, text))
            level->statement = strdup(text);
    }
    return level->statement;
}

bool types_statement_facts_find(const struct types_site *site, enum types_fact_kind kind,
                                const char *text, size_t length, bool *found,
                                struct types_type *type)
{
    const struct types_statement_facts *facts = site->statement;
    for (size_t i = 0; i < facts->named_count; i++) {
        const struct named_fact *fact = &facts->named[i];
        if (fact->kind != kind || fact->level != site->level || fact->length != length ||
            memcmp(fact->text, text, length) != 0)
            continue;
        *found = fact->found;
        if (fact->found)
            *type = fact->type;
        return true;
    }
    return false;
}

bool types_statement_facts_keep(const struct types_site *site, enum types_fact_kind kind,
                                const char *text, size_t length, bool found,
                                const struct types_type *type)
{
    struct types_statement_facts *facts = site->statement;
    if (facts->named_count == NAMED_MAX ||
        !array_reserve(&facts->named, &facts->named_capacity, facts->named_count + 1,
                       sizeof(*facts->named)))
        return found;
    char *copy = malloc(length + 1);
    if (!copy)
        return found;
    memcpy(copy, text, length);
    copy[length] = '\0';
    facts->named[facts->named_count++] = (struct named_fact){
        .kind = kind, .found = found, .level = site->level, .length = length, .text = copy};
    if (found)
        facts->named[facts->named_count - 1].type = *type;
    return found;
}
