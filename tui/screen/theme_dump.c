/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the styles of a screen as letters, for scripts and golden screens. */
#include <string.h>

#include "tui/screen/theme.h"

/* Roles of the same style share the letter of the first one. */
static const struct {
    enum theme_role role;
    char letter;
    const char *meaning;
} roles[] = {
    {THEME_STRONG, 'S', "strong"},
    {THEME_TITLE, 'T', "title"},
    {THEME_TAB, 't', "tab"},
    {THEME_TAB_ACTIVE, 'V', "active tab"},
    {THEME_HEADING, 'H', "heading"},
    {THEME_KEY, 'K', "key"},
    {THEME_FAINT, 'f', "faint"},
    {THEME_FILTER, 'F', "filter"},
    {THEME_GOOD, 'G', "good"},
    {THEME_ERROR, 'E', "error"},
    {THEME_WARNING, 'W', "warning"},
    {THEME_MATCH, 'M', "match"},
    {THEME_CURSOR, 'C', "cursor"},
    {THEME_SELECTED, 'L', "selected"},
    {THEME_SHARE, 's', "share"},
    {THEME_TRANSIENT, 'x', "transient"},
    {THEME_FILTERED, 'y', "filtered"},
    {THEME_NEAR, 'n', "near the cursor"},
    {THEME_POINT, 'P', "memory cursor"},
};
#define ROLES (sizeof(roles) / sizeof(roles[0]))

/* The letters of styles that are neither a role nor a category. */
static const char others[] = "abcdeghijklmopquvwz";
#define OTHERS (sizeof(others) - 1)

struct seen {
    struct cell_style other[OTHERS];
    size_t count;
    bool used[128];
};

static bool same(struct cell_style a, struct cell_style b)
{
    return a.foreground == b.foreground && a.background == b.background &&
           a.attributes == b.attributes;
}

/* Returns the digit of the category that has the colour, 'r' for the rest, 0 for none. */
static char category_of(const struct grid *grid, int16_t color)
{
    if (color == CELL_DEFAULT)
        return 0;
    for (int i = 0; i <= THEME_CATEGORIES; i++)
        if (theme_category(grid, (size_t)i, THEME_CATEGORIES, -1).foreground == color)
            return i < THEME_CATEGORIES ? (char)('0' + i) : 'r';
    return 0;
}

static char letter_of(const struct grid *grid, struct cell_style style, struct seen *seen)
{
    if (same(style, theme_style(THEME_PLAIN)))
        return '.';
    for (size_t i = 0; i < ROLES; i++)
        if (same(style, theme_style(roles[i].role)))
            return roles[i].letter;
    const char category = category_of(grid, style.foreground);
    if (category && (style.background == CELL_DEFAULT || category_of(grid, style.background) != 0))
        return category;
    size_t at = 0;
    while (at < seen->count && !same(style, seen->other[at]))
        at++;
    if (at == OTHERS)
        return '*';
    if (at == seen->count)
        seen->other[seen->count++] = style;
    return others[at];
}

static void describe_other(const struct seen *seen, size_t at, FILE *out)
{
    static const char *const attributes[] = {"bold", "dim", "reverse", "underline"};
    const struct cell_style style = seen->other[at];
    fprintf(out, "%c:", others[at]);
    if (style.foreground != CELL_DEFAULT)
        fprintf(out, " foreground %d", style.foreground);
    if (style.background != CELL_DEFAULT)
        fprintf(out, " background %d", style.background);
    for (int i = 0; i < 4; i++)
        if (style.attributes & (1 << i))
            fprintf(out, " %s", attributes[i]);
    fputc('\n', out);
}

static void describe_roles(const struct seen *seen, FILE *out)
{
    for (size_t i = 0; i < ROLES; i++) {
        if (!seen->used[(unsigned char)roles[i].letter])
            continue;
        fprintf(out, "%c: %s", roles[i].letter, roles[i].meaning);
        for (size_t k = i + 1; k < ROLES; k++)
            if (same(theme_style(roles[k].role), theme_style(roles[i].role)))
                fprintf(out, ", %s", roles[k].meaning);
        fputc('\n', out);
    }
}

void theme_dump(const struct grid *grid, FILE *out)
{
    struct seen seen = {.count = 0};
    for (int y = 0; y < grid_height(grid); y++) {
        for (int x = 0; x < grid_width(grid); x++) {
            const char letter = letter_of(grid, grid_cell(grid, x, y)->style, &seen);
            seen.used[(unsigned char)letter] = true;
            fputc(letter, out);
        }
        fputc('\n', out);
    }
    describe_roles(&seen, out);
    for (int digit = '0'; digit <= '9'; digit++)
        if (seen.used[digit])
            fprintf(out, "%c: category %c\n", digit, digit);
    if (seen.used['r'])
        fputs("r: other categories\n", out);
    for (size_t i = 0; i < seen.count; i++)
        describe_other(&seen, i, out);
}
