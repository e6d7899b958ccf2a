/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/lisp.h"

#include <stdio.h>
#include <string.h>

static const char lambda[] = "__lambda";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool is_word(char c)
{
    return (lower(c) >= 'a' && lower(c) <= 'z') || is_digit(c);
}

/* Returns what follows the number, or NULL if the name has not this form. */
static const char *after_number(const char *name)
{
    if (*name++ != 'L')
        return NULL;
    if (*name == 'C')
        name++;
    const char *number = name;
    while (is_digit(*name))
        name++;
    return name == number || *name == '\0' ? NULL : name;
}

bool symbols_lisp_is_candidate(const char *name)
{
    const char *at = after_number(name);
    while (at && (is_word(*at) || *at == '_'))
        at++;
    return at && *at == '\0';
}

/* Returns true if the file is linked with ECL's library. */
static bool is_of_ecl(Elf *elf)
{
    static const char library[] = "libecl.so";
    const struct symbols_bytes names = symbols_file_section(elf, ".dynstr");
    return names.data && memmem(names.data, names.size, library, sizeof(library) - 1);
}

/* Returns true if a character can be part of a symbol as Lisp prints it. */
static bool is_of_symbol(char c)
{
    return c > ' ' && c != 127 && !strchr("()\"';`,|\\#", c);
}

/* A symbol as text, [start, end). */
struct token {
    const char *start, *name, *end; /* `name`: after the package */
};

/* Reads the symbol at `at`, which is empty if there is none. */
static struct token read_token(const char *at, const char *end)
{
    struct token token = {at, at, at};
    for (; token.end < end && is_of_symbol(*token.end); token.end++)
        if (*token.end == ':')
            token.name = token.end + 1;
    return token;
}

static bool is_meant(const struct token *token, const char *wanted, size_t length)
{
    if ((size_t)(token->end - token->name) != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        const char c = token->name[i];
        if ((is_word(c) ? lower(c) : '_') != wanted[i])
            return false;
    }
    return true;
}

static bool same_name(const struct token *a, const struct token *b)
{
    const size_t length = (size_t)(a->end - a->name);
    return length == (size_t)(b->end - b->name) && memcmp(a->name, b->name, length) == 0;
}

static bool same_package(const struct token *a, const struct token *b)
{
    const size_t length = (size_t)(a->name - a->start);
    return length == (size_t)(b->name - b->start) && memcmp(a->start, b->start, length) == 0;
}

/* Finds the one symbol that is meant. If there are several packages, the result has none. */
static bool find_symbol(const struct symbols_bytes *text, const char *wanted, struct token *found)
{
    const char *at = (const char *)text->data, *end = at + text->size;
    const size_t length = strlen(wanted);
    bool any = false;
    while (at < end) {
        struct token token = read_token(at, end);
        at = token.end > at ? token.end : at + 1;
        if (token.end == token.start || !is_meant(&token, wanted, length))
            continue;
        if (any && !same_name(&token, found))
            return false;
        if (any && !same_package(&token, found))
            found->start = found->name;
        if (!any)
            *found = token;
        any = true;
    }
    return any;
}

static void put_upper(const char *from, const char *to, char *lisp, size_t size, size_t *used)
{
    for (; from < to && *used + 1 < size; from++)
        lisp[(*used)++] = (char)(*from >= 'a' && *from <= 'z' ? *from - 'a' + 'A' : *from);
    lisp[*used] = '\0';
}

static bool package_is(const struct token *token, const char *package)
{
    const size_t length = strlen(package);
    return (size_t)(token->name - token->start) == length &&
           memcmp(token->start, package, length) == 0;
}

bool symbols_lisp_name(const struct symbols_file *file, const char *name, char *lisp, size_t size)
{
    const char *wanted = after_number(name);
    struct token token = {0};
    size_t used = 0;
    if (!wanted || !is_of_ecl(file->elf))
        return false;
    if (strncmp(wanted, lambda, sizeof(lambda) - 1) == 0) {
        snprintf(lisp, size, "LAMBDA");
        return true;
    }
    const struct symbols_bytes text = symbols_file_section(file->elf, ".rodata");
    if (!text.data || !find_symbol(&text, wanted, &token))
        return false;
    if (package_is(&token, "common-lisp-user::") || package_is(&token, "common-lisp::"))
        token.start = token.name;
    put_upper(token.start, token.end, lisp, size, &used);
    return true;
}
