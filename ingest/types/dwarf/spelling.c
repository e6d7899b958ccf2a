/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/dwarf/spelling.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Deeper nesting of template arguments than any compiler accepts by default. */
#define NESTING_MAX 200
#define ARGUMENTS_MAX 64

struct text {
    char *data;
    size_t length, capacity;
    bool failed;
};

static void append(struct text *text, const char *bytes, size_t length)
{
    if (text->failed)
        return;
    if (text->length + length + 1 > text->capacity) {
        size_t capacity = (text->length + length + 1) * 2;
        char *grown = realloc(text->data, capacity);
        if (!grown) {
            text->failed = true;
            return;
        }
        text->data = grown;
        text->capacity = capacity;
    }
    memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

static void append_string(struct text *text, const char *string)
{
    append(text, string, strlen(string));
}

/* ---- default template arguments --------------------------------------------------------- */

/* `defaults` are the arguments from `first` on that a user does not write. %0 and %1 are the
 * arguments themselves, * matches anything (the same policy has different names in different
 * compilers). Source: the synopses of the containers in ISO C++17, clauses 24-26; libstdc++'s
 * shared_ptr. */
struct standard_template {
    const char *name;
    unsigned first;
    const char *defaults[3];
};

static const struct standard_template standard_templates[] = {
    {"std::basic_string", 1, {"std::char_traits<%0>", "std::allocator<%0>"}},
    {"std::basic_string_view", 1, {"std::char_traits<%0>"}},
    {"std::vector", 1, {"std::allocator<%0>"}},
    {"std::deque", 1, {"std::allocator<%0>"}},
    {"std::list", 1, {"std::allocator<%0>"}},
    {"std::forward_list", 1, {"std::allocator<%0>"}},
    {"std::set", 1, {"std::less<%0>", "std::allocator<%0>"}},
    {"std::multiset", 1, {"std::less<%0>", "std::allocator<%0>"}},
    {"std::map", 2, {"std::less<%0>", "std::allocator<std::pair<const %0, %1>>"}},
    {"std::multimap", 2, {"std::less<%0>", "std::allocator<std::pair<const %0, %1>>"}},
    {"std::unordered_set", 1, {"std::hash<%0>", "std::equal_to<%0>", "std::allocator<%0>"}},
    {"std::unordered_multiset", 1, {"std::hash<%0>", "std::equal_to<%0>", "std::allocator<%0>"}},
    {"std::unordered_map",
     2,
     {"std::hash<%0>", "std::equal_to<%0>", "std::allocator<std::pair<const %0, %1>>"}},
    {"std::unordered_multimap",
     2,
     {"std::hash<%0>", "std::equal_to<%0>", "std::allocator<std::pair<const %0, %1>>"}},
    {"std::unique_ptr", 1, {"std::default_delete<%0>"}},
    {"std::stack", 1, {"std::deque<%0>"}},
    {"std::queue", 1, {"std::deque<%0>"}},
    {"std::priority_queue", 1, {"std::vector<%0>", "std::less<%0>"}},
    {"std::_Sp_counted_ptr", 1, {"*"}},
    {"std::_Sp_counted_ptr_inplace", 1, {"*", "*"}},
    {"std::_Sp_counted_deleter", 1, {"*", "*", "*"}},
    {"std::__shared_ptr", 1, {"*"}},
    {"std::__weak_ptr", 1, {"*"}},
};

static const char *const standard_names[][2] = {
    {"std::basic_string<char>", "std::string"},
    {"std::basic_string<wchar_t>", "std::wstring"},
    {"std::basic_string<char16_t>", "std::u16string"},
    {"std::basic_string<char32_t>", "std::u32string"},
    {"std::basic_string_view<char>", "std::string_view"},
    {"std::basic_string_view<wchar_t>", "std::wstring_view"},
};

static bool is_default(const char *pattern, char *const *arguments, const char *argument)
{
    if (*pattern == '*')
        return true;
    while (*pattern != '\0') {
        if (*pattern != '%') {
            if (*pattern++ != *argument++)
                return false;
            continue;
        }
        const char *inserted = arguments[pattern[1] - '0'];
        size_t length = strlen(inserted);
        if (strncmp(argument, inserted, length) != 0)
            return false;
        argument += length;
        pattern += 2;
    }
    return *argument == '\0';
}

/* Returns how many of the arguments a user would write. */
static unsigned written_arguments(const char *name, char *const *arguments, unsigned count)
{
    for (size_t i = 0; i < sizeof(standard_templates) / sizeof(*standard_templates); i++) {
        const struct standard_template *standard = &standard_templates[i];
        if (strcmp(standard->name, name) != 0)
            continue;
        while (count > standard->first && count - standard->first <= 3) {
            const char *pattern = standard->defaults[count - 1 - standard->first];
            if (!pattern || !is_default(pattern, arguments, arguments[count - 1]))
                break;
            count--;
        }
        break;
    }
    return count;
}

/* ---- parser ----------------------------------------------------------------------------- */

struct parser {
    const char *at;
    int depth;
};

static bool parse_type(struct parser *parser, struct text *out);

static void skip_spaces(struct parser *parser)
{
    while (*parser->at == ' ')
        parser->at++;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '~';
}

static bool take_word(struct parser *parser, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(parser->at, word, length) != 0 || is_word(parser->at[length]))
        return false;
    parser->at += length;
    skip_spaces(parser);
    return true;
}

static void free_arguments(char **arguments, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        free(arguments[i]);
}

/* Parses "<A, B>" into `arguments`, each in its one spelling. The caller frees them. */
static bool parse_arguments(struct parser *parser, char **arguments, unsigned *count)
{
    *count = 0;
    parser->at++;
    skip_spaces(parser);
    while (*parser->at != '>') {
        struct text argument = {0};
        append_string(&argument, "");
        if (*count == ARGUMENTS_MAX || !parse_type(parser, &argument) || argument.failed) {
            free(argument.data);
            return false;
        }
        arguments[(*count)++] = argument.data;
        skip_spaces(parser);
        if (*parser->at == ',')
            parser->at++;
        else if (*parser->at != '>')
            return false;
        skip_spaces(parser);
    }
    parser->at++;
    return true;
}

/* Parses the template's arguments, which follow the name in `out` from `start` on. */
static bool parse_template(struct parser *parser, struct text *out, size_t start)
{
    char *arguments[ARGUMENTS_MAX];
    unsigned count;
    bool good = parse_arguments(parser, arguments, &count);
    if (good) {
        unsigned written = written_arguments(out->data + start, arguments, count);
        append_string(out, "<");
        for (unsigned i = 0; i < written; i++) {
            append_string(out, i == 0 ? "" : ", ");
            append_string(out, arguments[i]);
        }
        append_string(out, ">");
        for (size_t i = 0; !out->failed && i < sizeof(standard_names) / sizeof(*standard_names);
             i++)
            if (strcmp(out->data + start, standard_names[i][0]) == 0) {
                out->length = start;
                append_string(out, standard_names[i][1]);
            }
    }
    free_arguments(arguments, count);
    return good;
}

bool types_spelling_is_inline_space(const char *name, size_t length)
{
    static const char *const names[] = {"__cxx11", "__debug", "__cxx1998", "__Cr", "_V2"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
            return true;
    /* Versions: __1, __8, __ndk1. */
    if (length < 3 || strncmp(name, "__", 2) != 0)
        return false;
    size_t at = length > 5 && strncmp(name + 2, "ndk", 3) == 0 ? 5 : 2;
    while (at < length && isdigit((unsigned char)name[at]))
        at++;
    return at == length;
}

/* Copies "(anonymous namespace)", "{lambda(int)#1}", "'lambda'" as they are. */
static bool parse_nameless(struct parser *parser, struct text *out)
{
    char open = *parser->at;
    char close = open == '(' ? ')' : open == '{' ? '}' : '\'';
    const char *start = parser->at++;
    for (int depth = 1; depth > 0; parser->at++) {
        if (*parser->at == '\0')
            return false;
        if (*parser->at == close)
            depth--;
        else if (*parser->at == open)
            depth++;
    }
    size_t length = (size_t)(parser->at - start);
    if (length == strlen("{anonymous}") && memcmp(start, "{anonymous}", length) == 0)
        append_string(out, "(anonymous namespace)");
    else
        append(out, start, length);
    return true;
}

/* Parses a name with its namespaces and template arguments. */
static bool parse_name(struct parser *parser, struct text *out)
{
    size_t start = out->length;
    for (;;) {
        if (*parser->at == '(' || *parser->at == '{' || *parser->at == '\'') {
            if (!parse_nameless(parser, out))
                return false;
        } else {
            const char *word = parser->at;
            while (is_word(*parser->at))
                parser->at++;
            size_t length = (size_t)(parser->at - word);
            if (length == 0)
                return false;
            if (types_spelling_is_inline_space(word, length) && strncmp(parser->at, "::", 2) == 0) {
                parser->at += 2;
                continue;
            }
            append(out, word, length);
        }
        if (*parser->at == '<' && (out->failed || !parse_template(parser, out, start)))
            return false;
        if (strncmp(parser->at, "::", 2) != 0)
            return true;
        parser->at += 2;
        append_string(out, "::");
    }
}

/* Returns true if the text is like "(Color)1", as one compiler writes a constant of an enumeration.
 */
static bool is_cast(const char *text)
{
    const char *close = *text == '(' ? strchr(text, ')') : NULL;
    return close && (isdigit((unsigned char)close[1]) || close[1] == '-');
}

/* Parses a number and drops its suffix. */
static bool parse_literal(struct parser *parser, struct text *out)
{
    if (*parser->at == '(') {
        const char *close = strchr(parser->at, ')');
        append(out, parser->at, (size_t)(close + 1 - parser->at));
        parser->at = close + 1;
    }
    const char *start = parser->at;
    if (*parser->at == '-')
        parser->at++;
    while (isalnum((unsigned char)*parser->at) || *parser->at == '.')
        parser->at++;
    const char *end = parser->at;
    bool hexadecimal = start[0] == '0' && start[1] == 'x';
    while (end > start && !hexadecimal && strchr("uUlL", end[-1]))
        end--;
    append(out, start, (size_t)(end - start));
    return end > start;
}

struct integer_words {
    unsigned with_sign, without_sign, longs, shorts, ints, chars, doubles, wide;
};

static bool take_integer_word(struct parser *parser, struct integer_words *words)
{
    if (take_word(parser, "unsigned"))
        words->without_sign++;
    else if (take_word(parser, "signed"))
        words->with_sign++;
    else if (take_word(parser, "long"))
        words->longs++;
    else if (take_word(parser, "short"))
        words->shorts++;
    else if (take_word(parser, "int"))
        words->ints++;
    else if (take_word(parser, "char"))
        words->chars++;
    else if (take_word(parser, "double"))
        words->doubles++;
    else if (take_word(parser, "__int128"))
        words->wide++;
    else
        return false;
    return true;
}

static void write_integer(const struct integer_words *words, struct text *out)
{
    if (words->without_sign > 0)
        append_string(out, "unsigned ");
    else if (words->with_sign > 0 && words->chars > 0)
        append_string(out, "signed ");
    append_string(out, words->chars > 0                         ? "char"
                       : words->doubles > 0 && words->longs > 0 ? "long double"
                       : words->doubles > 0                     ? "double"
                       : words->wide > 0                        ? "__int128"
                       : words->shorts > 0                      ? "short"
                       : words->longs > 1                       ? "long long"
                       : words->longs > 0                       ? "long"
                                                                : "int");
}

static bool parse_parameters(struct parser *parser, struct text *out)
{
    parser->at++;
    append_string(out, "(");
    skip_spaces(parser);
    for (bool first = true; *parser->at != ')'; first = false) {
        if (!first) {
            if (*parser->at != ',')
                return false;
            parser->at++;
            append_string(out, ", ");
        }
        skip_spaces(parser);
        if (strncmp(parser->at, "...", 3) == 0) {
            parser->at += 3;
            append_string(out, "...");
        } else if (!parse_type(parser, out)) {
            return false;
        }
        skip_spaces(parser);
    }
    parser->at++;
    append_string(out, ")");
    return true;
}

/* Parses pointers, references, arrays and parameters after the type's name. */
static bool parse_declarator(struct parser *parser, struct text *out)
{
    for (;;) {
        skip_spaces(parser);
        char c = *parser->at;
        if (c == '*' || c == '&') {
            bool joined = out->length > 0 && strchr("*&", out->data[out->length - 1]);
            append_string(out, joined ? "" : " ");
            append(out, &c, 1);
            parser->at++;
        } else if (c == '[') {
            const char *end = strchr(parser->at, ']');
            if (!end)
                return false;
            append_string(out, out->length > 0 && out->data[out->length - 1] == ']' ? "" : " ");
            append(out, parser->at, (size_t)(end + 1 - parser->at));
            parser->at = end + 1;
        } else if (c == '(' && (parser->at[1] == '*' || parser->at[1] == '&')) {
            append_string(out, " ");
            if (!parse_nameless(parser, out))
                return false;
        } else if (c == '(') {
            if (!parse_parameters(parser, out))
                return false;
        } else if (take_word(parser, "const")) {
            append_string(out, "const");
        } else if (take_word(parser, "volatile")) {
            append_string(out, "volatile");
        } else {
            return true;
        }
    }
}

static bool parse_base(struct parser *parser, struct text *base, bool *is_const, bool *is_volatile)
{
    struct integer_words words = {0};
    bool integer = false, named = false;
    for (;;) {
        skip_spaces(parser);
        if (take_word(parser, "const"))
            *is_const = true;
        else if (take_word(parser, "volatile"))
            *is_volatile = true;
        else if (take_word(parser, "struct") || take_word(parser, "class") ||
                 take_word(parser, "union") || take_word(parser, "enum"))
            continue;
        else if (!named && take_integer_word(parser, &words))
            integer = true;
        else if (!named && !integer &&
                 (isdigit((unsigned char)*parser->at) || *parser->at == '-' || is_cast(parser->at)))
            named = parse_literal(parser, base);
        else if (!named && !integer && *parser->at != '\0') {
            if (!parse_name(parser, base))
                return false;
            named = true;
        } else
            break;
    }
    if (integer)
        write_integer(&words, base);
    return integer || named;
}

static bool parse_type(struct parser *parser, struct text *out)
{
    struct text base = {0};
    bool is_const = false, is_volatile = false;
    if (++parser->depth > NESTING_MAX)
        return false;
    append_string(&base, "");
    bool good = !base.failed && parse_base(parser, &base, &is_const, &is_volatile) && !base.failed;
    if (good) {
        append_string(out, is_const ? "const " : "");
        append_string(out, is_volatile ? "volatile " : "");
        append(out, base.data, base.length);
        good = parse_declarator(parser, out);
    }
    free(base.data);
    parser->depth--;
    return good;
}

char *types_spelling(const char *name)
{
    struct parser parser = {name, 0};
    struct text out = {0};
    append_string(&out, "");
    if (!out.failed && parse_type(&parser, &out) && !out.failed && *parser.at == '\0')
        return out.data;
    free(out.data);
    return strdup(name);
}

char *types_spelling_argument(const char *name, unsigned index)
{
    const char *open = strchr(name, '<');
    if (!open)
        return NULL;
    struct parser parser = {open, 0};
    char *arguments[ARGUMENTS_MAX];
    unsigned count;
    char *found = NULL;
    if (parse_arguments(&parser, arguments, &count) && index < count) {
        found = arguments[index];
        arguments[index] = NULL;
    }
    free_arguments(arguments, count);
    return found;
}

const char *types_spelling_last_part(const char *name, size_t *length)
{
    const char *start = name;
    int depth = 0;
    for (const char *at = name; *at != '\0'; at++)
        if (*at == '<' || *at == '(' || *at == '{')
            depth++;
        else if (*at == '>' || *at == ')' || *at == '}')
            depth--;
        else if (depth == 0 && at[0] == ':' && at[1] == ':')
            start = at + 2;
    *length = strcspn(start, "<");
    return start;
}
