/* SPDX-License-Identifier: BSD-2-Clause */
#include "schemas/code/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MAX = 24, LENGTH_MAX = 16384, ARGUMENTS_MAX = 32 };

struct out {
    char *text;
    size_t size, length;
    bool failed;     /* the name is not understood */
    bool parameters; /* the function keeps them, and its template arguments */
};

struct part {
    const char *begin, *end;
};

static void put(struct out *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length && out->length + 1 < out->size; i++)
        out->text[out->length++] = text[i];
    out->text[out->length] = 0;
}

static bool is_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_' || letter == '$';
}

static bool begins(const struct part *part, const char *at, const char *with)
{
    const size_t length = strlen(with);
    return (size_t)(part->end - at) >= length && memcmp(at, with, length) == 0;
}

/* ---- brackets --------------------------------------------------------------------------- */

/* Returns the length of an operator's name at `at`, 0 if there is none. */
static size_t operator_length(const struct part *part, const char *at)
{
    static const char *const signs[] = {"()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>",
                                        "<=", ">=", "->",  "==",  "!=",  "<",   ">"};
    if (!begins(part, at, "operator") || (at > part->begin && is_word(at[-1])))
        return 0;
    const char *sign = at + 8;
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (begins(part, sign, signs[i]))
            return 8 + strlen(signs[i]);
    return sign < part->end && is_word(*sign) ? 0 : 8;
}

static char closing(char open)
{
    return open == '<' ? '>' : open == '(' ? ')' : open == '{' ? '}' : open == '[' ? ']' : 0;
}

/* Returns the place of the bracket that closes the one at `at`, NULL if there is none. */
static const char *match(const struct part *part, const char *at)
{
    char open[64];
    size_t depth = 0;
    for (; at < part->end; at++) {
        const size_t skip = operator_length(part, at);
        if (skip > 0) {
            at += skip - 1;
        } else if (closing(*at) != 0) {
            if (depth == sizeof(open))
                return NULL;
            open[depth++] = closing(*at);
        } else if (depth > 0 && *at == open[depth - 1]) {
            if (--depth == 0)
                return at;
        } else if (strchr(")}]", *at)) {
            return NULL;
        }
    }
    return NULL;
}

/* ---- types ------------------------------------------------------------------------------ */

static void put_part(struct out *out, struct part part, int depth);

/* Returns the length of what is left out at `at`, which begins a word or a bracket. */
static size_t left_out(const struct part *part, const char *at)
{
    static const char *const words[] = {
        "std::__cxx11::",        "std::__1::",  "std::__detail::",         "std::",
        "__gnu_cxx::__ops::",    "__gnu_cxx::", "(anonymous namespace)::", "{anonymous}::",
        "(anonymous namespace)", "[abi:cxx11]"};
    if (at > part->begin && (is_word(at[-1]) || at[-1] == ':') && *at != '[' && *at != '(' &&
        *at != '{')
        return 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (begins(part, at, words[i]))
            return strlen(words[i]);
    return 0;
}

/* Returns true if an argument is one that nobody writes. */
static bool is_default(const struct part *argument)
{
    static const char *const words[] = {"std::allocator<",
                                        "std::char_traits<",
                                        "std::less<",
                                        "std::hash<",
                                        "std::equal_to<",
                                        "std::default_delete<",
                                        "std::_Select1st<",
                                        "std::_Identity<",
                                        "std::__detail::",
                                        "std::__cxx11::regex_traits<",
                                        "(__gnu_cxx::_Lock_policy)"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (begins(argument, argument->begin, words[i]))
            return true;
    return false;
}

static struct part trimmed(struct part part)
{
    while (part.begin < part.end && *part.begin == ' ')
        part.begin++;
    while (part.begin < part.end && part.end[-1] == ' ')
        part.end--;
    return part;
}

/* Splits at the commas outside of brackets. Returns the number of arguments. */
static size_t split(const struct part *list, struct part *arguments)
{
    size_t count = 0;
    const char *begin = list->begin;
    for (const char *at = list->begin; at <= list->end && count < ARGUMENTS_MAX; at++) {
        const size_t skip = at < list->end ? operator_length(list, at) : 0;
        if (skip > 0) {
            at += skip - 1;
        } else if (at == list->end || *at == ',') {
            arguments[count++] = trimmed((struct part){begin, at});
            begin = at + 1;
        } else if (closing(*at) != 0) {
            const char *end = match(list, at);
            at = end ? end : at;
        }
    }
    return count;
}

/* Writes basic_string<char> as string, if the word before the arguments is such a one. */
static bool put_basic(struct out *out, const struct part *first)
{
    const char *word = out->text + out->length;
    while (word > out->text && is_word(word[-1]))
        word--;
    const size_t length = strlen(word);
    const bool wide = strncmp(first->begin, "wchar_t", 7) == 0 && first->end - first->begin == 7;
    const bool narrow = strncmp(first->begin, "char", 4) == 0 && first->end - first->begin == 4;
    if (strncmp(word, "basic_", 6) != 0 || (!wide && !narrow))
        return false;
    char name[64];
    if (length >= sizeof(name))
        return false;
    memcpy(name, word + 6, length - 5);
    out->length -= length;
    put(out, "w", wide ? 1 : 0);
    put(out, name, strlen(name));
    return true;
}

/* Writes the arguments of a template between `<` and `>`. */
static void put_arguments(struct out *out, struct part list, int depth)
{
    struct part arguments[ARGUMENTS_MAX];
    size_t count = split(&list, arguments);
    while (count > 1 && is_default(&arguments[count - 1]))
        count--;
    if (count == 1 && put_basic(out, &arguments[0]))
        return;
    if (count == 1 && begins(&arguments[0], arguments[0].begin, "(__gnu_cxx::_Lock_policy)"))
        return;
    put(out, "<", 1);
    for (size_t i = 0; i < count; i++) {
        put(out, ", ", i > 0 ? 2 : 0);
        put_part(out, arguments[i], depth + 1);
    }
    put(out, ">", 1);
}

/* Writes a bracket with what is in it, up to `end`. Parameters of functions are left out if a
 * member follows. */
static void put_bracket(struct out *out, const struct part *part, const char *at, const char *end,
                        int depth)
{
    const struct part inside = {at + 1, end};
    if (*at == '<' && begins(&inside, inside.begin, "lambda(")) {
        put(out, "<lambda>", 8);
    } else if (*at == '{' && begins(&inside, inside.begin, "lambda(")) {
        const char *number = match(&inside, inside.begin + 6);
        put(out, "{lambda", 7);
        if (number)
            put(out, number + 1, (size_t)(end - number - 1));
        put(out, "}", 1);
    } else if (*at == '<') {
        put_arguments(out, inside, depth);
    } else if (*at == '(' && begins(part, end + 1, "::")) {
        return;
    } else {
        put(out, at, 1);
        put_part(out, inside, depth + 1);
        put(out, end, 1);
    }
}

/* Writes a part of a name. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void put_part(struct out *out, struct part part, int depth)
{
    if (depth > DEPTH_MAX)
        out->failed = true;
    for (const char *at = part.begin; at < part.end && !out->failed; at++) {
        size_t skip = left_out(&part, at);
        if (skip > 0) {
            at += skip - 1;
            continue;
        }
        skip = operator_length(&part, at);
        if (skip > 0) {
            put(out, at, skip);
            at += skip - 1;
        } else if (closing(*at) != 0) {
            const char *end = match(&part, at);
            out->failed = !end;
            if (end) {
                put_bracket(out, &part, at, end, depth);
                at = end;
            }
        } else {
            put(out, at, 1);
        }
    }
}

/* ---- functions -------------------------------------------------------------------------- */

/* Takes off the compiler's suffixes: " [clone .isra.0]", ".constprop.0", "::h0123456789abcdef". */
static struct part without_suffix(struct part name)
{
    const char *clone = strstr(name.begin, " [clone ");
    if (clone)
        name.end = clone;
    static const char *const words[] = {".isra.", ".constprop.", ".part.", ".cold", ".lto_priv."};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const char *at = strstr(name.begin, words[i]);
        if (at && at > name.begin && at < name.end && !strpbrk(at, "(<:"))
            name.end = at;
    }
    const char *hash = name.end - 19;
    if (hash > name.begin && memcmp(hash, "::h", 3) == 0 &&
        strspn(hash + 3, "0123456789abcdef") >= 16)
        name.end = hash;
    return name;
}

/* Stores the place of the parameters of a function, NULL if the name has none, and moves the
 * beginning of the name past its return type. Returns false if the brackets do not match. */
static bool find_parameters(struct part *name, const char **parameters)
{
    const char *begin = name->begin;
    bool in_operator = false;
    *parameters = NULL;
    for (const char *at = name->begin; at < name->end; at++) {
        const size_t skip = operator_length(name, at);
        if (skip > 0) {
            /* "operator new", "operator< <int>": spaces belong to the name. */
            in_operator = true;
            at += skip - 1;
        } else if (*at == ' ' && !in_operator && !*parameters) {
            begin = at + 1;
        } else if (closing(*at) != 0) {
            const char *end = match(name, at);
            if (!end)
                return false;
            const bool decltype_ = at - name->begin >= 8 && memcmp(at - 8, "decltype", 8) == 0;
            if (*at == '(' && at > begin && !begins(name, at, "(anonymous") && !decltype_ &&
                !begins(name, end + 1, "::"))
                *parameters = at;
            at = end;
            if (*parameters)
                break;
        }
    }
    if (*parameters)
        name->begin = begin;
    return true;
}

/* Returns where the arguments of the function's own template begin, NULL if it has none. */
static const char *own_arguments(const struct part *name, bool *member)
{
    const char *last = NULL;
    *member = false;
    for (const char *at = name->begin; at < name->end; at++) {
        const size_t skip = operator_length(name, at);
        if (skip > 0) {
            at += skip - 1;
        } else if (closing(*at) != 0) {
            const char *end = match(name, at);
            if (!end)
                return NULL;
            *member = *member || (last && begins(name, end + 1, "::"));
            if (*at == '<' && end + 1 == name->end && at > name->begin)
                return at;
            *member = *member || *at == '<' || *at == '{';
            at = end;
        }
    }
    return NULL;
}

static void put_function(struct out *out, struct part name)
{
    enum { LONG = 30 };
    bool member;
    const char *own = own_arguments(&name, &member);
    const struct part arguments = {own, name.end};
    if (!own) {
        put_part(out, name, 0);
        return;
    }
    name.end = own;
    put_part(out, name, 0);
    const size_t before = out->length;
    if (member && !out->parameters)
        return;
    put_part(out, arguments, 1);
    if (out->length - before > LONG && !out->parameters) {
        out->length = before;
        put(out, "<\u2026>", strlen("<\u2026>"));
    }
}

static char *shorten(struct out *short_, const char *name)
{
    const size_t length = strlen(name);
    struct part whole = without_suffix((struct part){name, name + length});
    const char *end = whole.end, *parameters = NULL;
    short_->text[0] = 0;
    short_->failed = length > LENGTH_MAX || !find_parameters(&whole, &parameters);
    if (!short_->failed && parameters) {
        whole.end = parameters;
        put_function(short_, whole);
        if (short_->parameters)
            put_part(short_, (struct part){parameters, end}, 0);
    } else if (!short_->failed) {
        put_part(short_, whole, 0);
    }
    if (short_->failed || short_->length == 0)
        snprintf(short_->text, short_->size, "%s", name);
    return short_->text;
}

char *short_name(char *out, size_t size, const char *name)
{
    struct out short_ = {.text = out, .size = size};
    return shorten(&short_, name);
}

char *short_name_with_parameters(char *out, size_t size, const char *name)
{
    struct out short_ = {.text = out, .size = size, .parameters = true};
    return shorten(&short_, name);
}

/* Stores the length of a part that ends at `end`, and the one without its last brackets. */
static void end_part(struct name_part *part, const char *end, const char *bracket)
{
    part->length = (size_t)(end - part->begin);
    part->bare = bracket ? (size_t)(bracket - part->begin) : part->length;
}

size_t short_name_split(const char *name, struct name_part *parts, size_t most)
{
    const struct part whole = {name, name + strlen(name)};
    const char *bracket = NULL; /* of template arguments that end this part */
    size_t count = 1;
    parts[0].begin = name;
    for (const char *at = name; at < whole.end; at++) {
        const size_t skip = operator_length(&whole, at);
        if (skip > 0) {
            bracket = NULL;
            at += skip - 1;
        } else if (closing(*at) != 0) {
            const char *end = match(&whole, at);
            bracket = *at == '<' && at > parts[count - 1].begin ? at : NULL;
            at = end ? end : whole.end - 1; /* the name was cut inside these brackets */
        } else if (at[0] == ':' && at[1] == ':' && at[2] && at[2] != '{' && at > name) {
            end_part(&parts[count - 1], at, bracket);
            bracket = NULL;
            if (count == most)
                memmove(parts, parts + 1, (--count) * sizeof(*parts));
            parts[count++].begin = at + 2;
            at++;
        } else {
            bracket = NULL;
        }
    }
    end_part(&parts[count - 1], whole.end, bracket);
    return count;
}

char *short_name_cut(char *out, size_t size, const char *name)
{
    static const char ellipsis[] = "\u2026";
    char whole[SHORT_NAME_SIZE];
    size_t length = strlen(short_name(whole, sizeof(whole), name));
    if (length >= size) {
        length = size - sizeof(ellipsis);
        while (length > 0 && ((unsigned char)whole[length] & 0xc0) == 0x80)
            length--; /* no half of a letter */
        memcpy(whole + length, ellipsis, sizeof(ellipsis));
        length += sizeof(ellipsis) - 1;
    }
    memcpy(out, whole, length + 1);
    return out;
}
