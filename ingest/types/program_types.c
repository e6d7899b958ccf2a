/* SPDX-License-Identifier: BSD-2-Clause */
/* Types that the program names itself (types.h). */
#include "ingest/types/types.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/symbols/variables.h"
#include "ingest/types/dwarf/spelling.h"

struct types_program_types {
    struct symbols *symbols;
    struct symbols_variables *variables;
};

struct types_program_types *types_program_types_new(struct symbols *symbols)
{
    struct types_program_types *tags = calloc(1, sizeof(*tags));
    if (tags) {
        tags->symbols = symbols;
        tags->variables = symbols_variables_new(symbols);
    }
    if (tags && tags->variables)
        return tags;
    free(tags);
    return NULL;
}

void types_program_types_free(struct types_program_types *tags)
{
    if (tags)
        symbols_variables_free(tags->variables);
    free(tags);
}

static bool is_type_identifier(const char *symbol)
{
    return strncmp(symbol, "_ZN15TYPE_IDENTIFIER", 20) == 0;
}

/* Removes the leading words that tell how the object may be used. Changes `name`. */
static const char *without_qualifiers(char *name)
{
    static const char *const qualifiers[] = {"const ", "volatile "};
    const size_t kinds = sizeof(qualifiers) / sizeof(*qualifiers);
    /* "const char *" is a pointer: there the word belongs to the type pointed to. */
    if (strpbrk(name, "*&(["))
        return name;
    for (size_t i = 0; i < kinds; i++)
        if (strncmp(name, qualifiers[i], strlen(qualifiers[i])) == 0) {
            name += strlen(qualifiers[i]);
            i = (size_t)-1;
        }
    return name;
}

/* Returns T for "TYPE_IDENTIFIER<T>::mDummy", otherwise NULL. The caller frees it. */
static char *type_of(const char *name)
{
    static const char before[] = "TYPE_IDENTIFIER<", after[] = ">::mDummy";
    size_t length = strlen(name), head = sizeof(before) - 1, tail = sizeof(after) - 1;
    if (length <= head + tail || strncmp(name, before, head) != 0 ||
        strcmp(name + length - tail, after) != 0)
        return NULL;
    char *type = strndup(name + head, length - head - tail);
    for (size_t end = type ? strlen(type) : 0; end > 0 && type[end - 1] == ' '; end--)
        type[end - 1] = '\0';
    return type;
}

const char *types_program_types_name(struct types_program_types *tags, uint32_t id,
                                     uint64_t address)
{
    /* If an address has several names, that of a type comes first. */
    const char *symbol = symbols_variables_name(tags->variables, id, address, is_type_identifier);
    if (!symbol)
        return NULL;
    /* Link-time optimization adds a number to the names of objects that it makes local. */
    char *plain = strndup(symbol, strcspn(symbol, "."));
    if (!plain)
        return NULL;
    const char *name = symbols_demangle(tags->symbols, plain), *kept = NULL;
    char *type = !name ? NULL : type_of(name);
    char *spelled = !type ? NULL : types_spelling(type);
    if (spelled)
        kept = symbols_keep(tags->symbols, without_qualifiers(spelled));
    else if (!type && name)
        kept = symbols_keep(tags->symbols, name);
    free(spelled);
    free(type);
    free(plain);
    return kept;
}
