#include "ingest/types_source.h"

#include "ingest/types_expression.h"
#include "ingest/types_sizeof.h"
#include "ingest/types_statement.h"
#include "ingest/types_text.h"

#include <string.h>
#include <sys/stat.h>

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
        const char *star = close - 1, *call = types_text_skip_blanks(close + 1);
        while (star > open && *star == ' ')
            star--;
        size_t word = 0;
        while (types_text_is_word(call[word]) || call[word] == ':')
            word++;
        if (*star != '*' || word == 0 || *types_text_skip_blanks(call + word) != '(')
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
    const char *at = types_text_find(text, "new");
    if (at == NULL || types_text_find(at + 3, "new") != NULL)
        return false;
    at = types_text_skip_blanks(at + 3);
    if (*at == '(' && (at = types_text_behind(at)) != NULL)
        at = types_text_skip_blanks(at);
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
        choice->chosen = types_sizeof_choose(site, text, size, offset, choice) ||
                         types_macro_choose(site, text, size, offset, choice) ||
                         choose_cast(site, text, size, offset, choice);
    else
        choice->chosen = choose_new(site, text, by, size, offset, choice);
    return choice->chosen;
}
