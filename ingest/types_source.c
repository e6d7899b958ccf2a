#include "ingest/types_source.h"

#include "ingest/types_expression.h"
#include "ingest/types_statement.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The next `word` of the text that is a word of its own; NULL: none. */
static const char *find_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += length)
        if ((at == text || !is_word(at[-1])) && !is_word(at[length]))
            return at;
    return NULL;
}

/* Behind the parenthesis that closes the one at `open`; NULL where none does. */
static const char *behind_parenthesis(const char *open)
{
    int depth = 0;
    for (const char *at = open; *at != '\0'; at++) {
        depth += *at == '(';
        depth -= *at == ')';
        if (depth == 0)
            return at + 1;
    }
    return NULL;
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " ");
}

/* ---- sizeof ----------------------------------------------------------------------------- */

/* The operand of the sizeof whose word ends at `at`; `*end` is behind it. */
static bool read_sizeof(const struct types_site *site, const char *at, struct types_type *type,
                        const char **end)
{
    at = skip_blanks(at);
    if (*at == '(') {
        *end = behind_parenthesis(at);
        if (*end == NULL)
            return false;
        size_t length = (size_t)(*end - at) - 2;
        return types_expression_name(site, at + 1, length, type) ||
               types_expression_value(site, at + 1, length, type);
    }
    size_t length = 0;
    while (at[length] != '\0' && (is_word(at[length]) || strchr("*.>-[]", at[length]) != NULL) &&
           (length == 0 || at[length] != '*' || at[length - 1] == '*'))
        length++;
    *end = at + length;
    return types_expression_value(site, at, length, type);
}

/* An operator next to the sizeof says whether it is one part of a sum. */
static bool is_summand(const char *text, const char *word, const char *end)
{
    const char *before = word, *behind = skip_blanks(end);
    while (before > text && before[-1] == ' ')
        before--;
    return (before > text && before[-1] == '+') || (*behind == '+' && behind[1] != '+');
}

/* All operands name one type: a multiple of it; or a record heads a sum: one such object. */
static bool choose_sizeof(const struct types_site *site, const char *text, uint64_t size,
                          int64_t offset, struct types_choice *choice)
{
    struct types_type first = {.shape = TYPES_UNUSABLE};
    bool found = false, sum = false;
    const char *end;
    for (const char *at = text; (at = find_word(at, "sizeof")) != NULL; at = end) {
        struct types_type type;
        if (!read_sizeof(site, at + 6, &type, &end))
            return false;
        bool summand = is_summand(text, at, end);
        if (found && !types_same(site->index, &first, &type)) {
            if (!(sum && summand) && !(sum && first.shape == TYPES_RECORD))
                return false;
            continue;
        }
        sum = sum || summand;
        first = type;
        found = true;
    }
    if (!found || first.size == 0 || (sum && first.shape != TYPES_RECORD) || offset < 0 ||
        (uint64_t)offset >= size)
        return false;
    uint64_t held = size - (uint64_t)offset;
    bool single = sum && first.shape == TYPES_RECORD && held >= first.size;
    if (!single && held % first.size != 0)
        return false;
    choice->type = first;
    choice->single = single;
    return true;
}

/* ---- casts and new ---------------------------------------------------------------------- */

/* "(T *)" directly in front of a call. */
static bool choose_cast(const struct types_site *site, const char *text, uint64_t size,
                        int64_t offset, struct types_choice *choice)
{
    bool found = false;
    for (const char *open = text; (open = strchr(open, '(')) != NULL; open++) {
        const char *close = strchr(open, ')');
        if (close == NULL)
            break;
        const char *star = close - 1, *call = skip_blanks(close + 1);
        while (star > open && *star == ' ')
            star--;
        size_t word = 0;
        while (is_word(call[word]) || call[word] == ':')
            word++;
        if (*star != '*' || word == 0 || *skip_blanks(call + word) != '(')
            continue;
        struct types_type type;
        if (!types_expression_name(site, open + 1, (size_t)(star - open - 1), &type))
            continue;
        if (found && !types_same(site->index, &type, &choice->type))
            return false;
        choice->type = type;
        found = true;
    }
    enum types_fit fit =
        found ? types_fit(site->index, &choice->type, size, offset) : TYPES_FIT_NOT;
    choice->single = fit == TYPES_FIT_FLEXIBLE;
    return fit >= TYPES_FIT_ARRAY;
}

/* "new T(", "new T[", "new (std::nothrow) T{": one in the statement. */
static bool choose_new(const struct types_site *site, const char *text, enum types_operator by,
                       uint64_t size, int64_t offset, struct types_choice *choice)
{
    const char *at = find_word(text, "new");
    if (at == NULL || find_word(at + 3, "new") != NULL)
        return false;
    at = skip_blanks(at + 3);
    if (*at == '(' && (at = behind_parenthesis(at)) != NULL)
        at = skip_blanks(at);
    if (at == NULL)
        return false;
    size_t length = 0;
    int depth = 0;
    for (; at[length] != '\0'; length++) {
        depth += at[length] == '<';
        depth -= at[length] == '>';
        if (depth == 0 && strchr("([{;,)", at[length]) != NULL)
            break;
    }
    if (!types_expression_name(site, at, length, &choice->type))
        return false;
    enum types_fit fit = types_fit(site->index, &choice->type, size, offset);
    if (by != TYPES_BY_NEW_ARRAY)
        return fit == TYPES_FIT_WHOLE;
    if (fit == TYPES_FIT_NOT && size > 8 && offset == 0 &&
        types_fit(site->index, &choice->type, size, 8) >= TYPES_FIT_ARRAY) {
        choice->offset = 8; /* the number of elements: Itanium C++ ABI, 2.7 */
        return true;
    }
    return fit == TYPES_FIT_ARRAY || fit == TYPES_FIT_WHOLE;
}

static time_t built_time(const struct types_site *site)
{
    struct stat information;
    const char *path = NULL;
    dwfl_module_info(site->file->module, NULL, NULL, NULL, NULL, NULL, &path, NULL);
    return path == NULL || stat(path, &information) != 0 ? 0 : information.st_mtime;
}

bool types_source_choose(const struct types_site *site, enum types_operator by, uint64_t size,
                         int64_t offset, struct types_choice *choice)
{
    char text[TYPES_STATEMENT_MAX];
    const struct symbols_frame *frame = &site->frames[0];
    if (site->entry_count == 0 || frame->file == NULL || frame->line == 0 ||
        !types_statement_read(frame->file, frame->line, built_time(site), text))
        return false;
    *choice = (struct types_choice){.offset = offset > 0 ? (uint64_t)offset : 0,
                                    .confidence = TYPES_INFERRED,
                                    .rule = TYPES_RULE_SOURCE};
    if (by == TYPES_BY_FUNCTION)
        choice->chosen = choose_sizeof(site, text, size, offset, choice) ||
                         choose_cast(site, text, size, offset, choice);
    else
        choice->chosen = choose_new(site, text, by, size, offset, choice);
    return choice->chosen;
}
