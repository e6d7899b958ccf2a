/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/theme.h"

#include <string.h>

#include "schemas/hash.h"

uint32_t xterm_color(int color)
{
    static const uint32_t basic[16] = {0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd,
                                       0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
                                       0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff};
    static const uint32_t levels[6] = {0, 95, 135, 175, 215, 255};
    if (color < 16)
        return basic[color < 0 ? 0 : color];
    if (color < 232) {
        color -= 16;
        return levels[color / 36] << 16 | levels[color / 6 % 6] << 8 | levels[color % 6];
    }
    const uint32_t grey = 8 + (uint32_t)((color < 256 ? color : 255) - 232) * 10;
    return grey << 16 | grey << 8 | grey;
}

int xterm_nearest(int color, int count)
{
    if (color < count)
        return color;
    const uint32_t wanted = xterm_color(color);
    int best = 7;
    long best_distance = -1;
    for (int i = 1; i < count; i++) {
        const uint32_t parts = xterm_color(i);
        long distance = 0;
        for (int shift = 0; shift < 24; shift += 8) {
            const long apart = (long)(parts >> shift & 255) - (long)(wanted >> shift & 255);
            distance += apart * apart;
        }
        if (best_distance < 0 || distance < best_distance) {
            best_distance = distance;
            best = i;
        }
    }
    return best;
}

/* Returns the hash of the label, never 0. */
static uint64_t label_of(unsigned kind, const char *text)
{
    const uint64_t hash = text_hash_add(TEXT_HASH_EMPTY ^ kind, text);
    return hash == 0 ? 1 : hash;
}

static size_t find(const struct category_colors *colors, uint64_t label)
{
    size_t at = 0;
    while (at < CATEGORY_COLORS_KNOWN && colors->known[at].label != label)
        at++;
    return at;
}

static void remember(struct category_colors *colors, uint64_t label, uint8_t slot)
{
    colors->known[colors->next].label = label;
    colors->known[colors->next].slot = slot;
    colors->next = (colors->next + 1) % CATEGORY_COLORS_KNOWN;
}

/* Returns the slot of a name, the same in every colouring and session. */
static size_t own_slot(const char *text, size_t slots)
{
    const uint64_t hash = label_of(0, text);
    return (size_t)((hash ^ hash >> 32) % slots);
}

/* Returns the name's own slot if it is free, otherwise the next free one. */
static uint8_t free_slot(uint64_t used, const char *text, size_t slots)
{
    size_t slot = own_slot(text, slots);
    for (size_t i = 0; i < slots && (used >> slot & 1) != 0; i++)
        slot = (slot + 1) % slots;
    return (uint8_t)slot;
}

/* Returns the first name by its hash of those that are not done, so that the legend's order plays
 * no part; `count` if all are done. */
static size_t next_new(const char *const labels[], size_t count, uint64_t done)
{
    size_t first = count;
    for (size_t i = 0; i < count; i++)
        if ((done >> i & 1) == 0 &&
            (first == count || label_of(0, labels[i]) < label_of(0, labels[first])))
            first = i;
    return first;
}

size_t category_colors_slot(const struct category_colors *colors, unsigned kind, const char *label,
                            size_t slots)
{
    const size_t at = find(colors, label_of(kind, label));
    return at < CATEGORY_COLORS_KNOWN && colors->known[at].slot < slots ? colors->known[at].slot
                                                                        : own_slot(label, slots);
}

void category_colors_assign(struct category_colors *colors, unsigned kind,
                            const char *const labels[], size_t count, size_t slots,
                            uint8_t assigned[])
{
    uint64_t used = 0, done = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = find(colors, label_of(kind, labels[i]));
        if (at == CATEGORY_COLORS_KNOWN || (used >> colors->known[at].slot & 1) != 0)
            continue;
        assigned[i] = colors->known[at].slot;
        used |= UINT64_C(1) << assigned[i];
        done |= UINT64_C(1) << i;
    }
    for (size_t i; (i = next_new(labels, count, done)) < count; done |= UINT64_C(1) << i) {
        const uint64_t label = label_of(kind, labels[i]);
        assigned[i] = free_slot(used, labels[i], slots);
        used |= UINT64_C(1) << assigned[i];
        if (find(colors, label) == CATEGORY_COLORS_KNOWN)
            remember(colors, label, assigned[i]);
    }
}

#define NONE CELL_DEFAULT
#define GREY 245 /* on any ground */

static const char *const names[THEME_KINDS] = {
    [THEME_DARK] = "dark",
    [THEME_LIGHT] = "light",
    [THEME_COLOR_BLIND] = "colour-blind",
    [THEME_MONO] = "mono",
};

static enum theme_kind in_use = THEME_DARK;

/* Inks or papers of the dark, the light and the colour-blind theme, with
 * the attributes of these and of the one without colours. In the colour-blind theme good is blue
 * and a warning yellow; an error is underlined as well. */
#define INK(dark, light, blind, attributes, mono)                                                  \
    {                                                                                              \
        {dark, NONE, attributes}, {light, NONE, attributes}, {blind, NONE, attributes},            \
        {                                                                                          \
            NONE, NONE, mono                                                                       \
        }                                                                                          \
    }
#define PAPER(dark, light, blind, attributes, mono)                                                \
    {                                                                                              \
        {NONE, dark, attributes}, {NONE, light, attributes}, {NONE, blind, attributes},            \
        {                                                                                          \
            NONE, NONE, mono                                                                       \
        }                                                                                          \
    }
#define NO_COLOR(attributes) INK(NONE, NONE, NONE, attributes, attributes)
static const struct cell_style styles[THEME_ROLES][THEME_KINDS] = {
    [THEME_PLAIN] = NO_COLOR(0),
    [THEME_TITLE] = NO_COLOR(CELL_BOLD),
    [THEME_TAB] = {{NONE, NONE, CELL_DIM},
                   {242, NONE, 0},
                   {NONE, NONE, CELL_DIM},
                   {NONE, NONE, CELL_DIM}},
    [THEME_TAB_ACTIVE] = NO_COLOR(CELL_BOLD | CELL_REVERSE),
    [THEME_HEADING] = INK(74, 25, 75, CELL_BOLD, CELL_BOLD),
    [THEME_FAINT] = INK(GREY, 242, GREY, 0, CELL_DIM),
    [THEME_STRONG] = NO_COLOR(CELL_BOLD),
    [THEME_FILTER] = INK(36, 23, 117, 0, 0),
    [THEME_ERROR] = INK(167, 124, 208, CELL_BOLD | CELL_UNDERLINE, CELL_BOLD | CELL_UNDERLINE),
    [THEME_WARNING] = INK(172, 130, 220, CELL_BOLD, CELL_BOLD),
    [THEME_GOOD] = INK(36, 22, 39, 0, 0),
    [THEME_CURSOR] = NO_COLOR(CELL_REVERSE),
    [THEME_SELECTED] = PAPER(238, 253, 238, CELL_UNDERLINE, CELL_UNDERLINE),
    [THEME_KEY] = INK(74, 25, 75, CELL_BOLD, CELL_BOLD),
    [THEME_MATCH] = INK(172, 130, 220, CELL_BOLD, CELL_BOLD | CELL_UNDERLINE),
    [THEME_TRANSIENT] = INK(240, 247, 240, 0, CELL_DIM),
    [THEME_FILTERED] = {{240, NONE, CELL_DIM},
                        {247, NONE, 0},
                        {240, NONE, CELL_DIM},
                        {NONE, NONE, CELL_DIM}},
    [THEME_SHARE] = PAPER(237, 254, 237, 0, CELL_UNDERLINE),
    [THEME_NEAR] = PAPER(238, 252, 238, 0, 0),
    [THEME_POINT] = PAPER(15, 254, 15, 0, CELL_REVERSE),
    [THEME_LINE] = INK(231, 16, 16, CELL_BOLD, CELL_BOLD),
    [THEME_PATH] = INK(74, 25, 75, CELL_REVERSE, CELL_REVERSE | CELL_DIM),
    [THEME_CHOSEN] = INK(NONE, NONE, NONE, CELL_BOLD | CELL_REVERSE, CELL_BOLD),
};

/* The colours of categories, from xterm's. On a dark and on a light ground they are ten muted hues
 * of about one lightness, with a contrast of at least 3 to either ground. Neighbours differ by at
 * least 18 in CIEDE2000 (Sharma, Wu and Dalal, 2005), and any two by 8. Those of the colour-blind
 * theme are the farthest apart in Oklab (Ottosson, 2020), as seen by all, and without one of the
 * three kinds of cones, after Machado, Oliveira and Fernandes (2009). */
#define MUTED                                                                                      \
    {                                                                                              \
        133, 29, 139, 101, 104, 137, 30, 131, 32, 168                                              \
    }
static const int16_t colors_256[THEME_KINDS][THEME_CATEGORIES] = {
    [THEME_DARK] = MUTED,
    [THEME_LIGHT] = MUTED,
    [THEME_COLOR_BLIND] = {33, 214, 79, 189, 166, 120, 61, 231, 147, 95},
};
static const int16_t colors_16[THEME_KINDS][THEME_CATEGORIES] = {
    [THEME_DARK] = {6, 3, 2, 5, 11, 4, 1, 13, 10, 9},
    [THEME_LIGHT] = {4, 1, 2, 5, 6, 12, 9, 13, 3, 0},
    [THEME_COLOR_BLIND] = {12, 11, 6, 5, 15, 4, 9, 14, 3, 13},
};

/* From pale to hot. */
#define HEATS 5
static const int16_t heat_256[THEME_KINDS][HEATS] = {
    [THEME_DARK] = {187, 180, 179, 173, 167},
    [THEME_LIGHT] = {101, 137, 136, 130, 124},
    [THEME_COLOR_BLIND] = {230, 223, 220, 214, 208},
};
static const int16_t heat_16[HEATS] = {7, 11, 11, 3, 9};

const char *theme_name(enum theme_kind kind)
{
    return names[kind];
}

bool theme_from_name(const char *name, enum theme_kind *kind)
{
    if (strcmp(name, "color-blind") == 0)
        name = names[THEME_COLOR_BLIND];
    for (int i = 0; i < THEME_KINDS; i++) {
        if (strcmp(names[i], name) == 0) {
            *kind = (enum theme_kind)i;
            return true;
        }
    }
    return false;
}

void theme_use(enum theme_kind kind)
{
    in_use = kind;
}

enum theme_kind theme_in_use(void)
{
    return in_use;
}

struct cell_style theme_style(enum theme_role role)
{
    return styles[role < THEME_ROLES ? role : THEME_PLAIN][in_use];
}

struct cell_style theme_category(const struct grid *grid, size_t position, size_t rest, int fixed)
{
    struct cell_style style = {NONE, NONE, 0};
    if (grid_colors(grid) == 0 || in_use == THEME_MONO)
        return style;
    if (fixed >= 0 && fixed < 256)
        style.foreground = (int16_t)fixed;
    else if (position >= rest)
        style.foreground = grid_colors(grid) > 16 ? GREY : 8;
    else
        style.foreground =
            (grid_colors(grid) > 16 ? colors_256 : colors_16)[in_use][position % THEME_CATEGORIES];
    return style;
}

struct cell_style theme_heat(const struct grid *grid, double share)
{
    static const double from[HEATS] = {0, 0.02, 0.08, 0.25, 0.5};
    struct cell_style style = {NONE, NONE, CELL_REVERSE};
    size_t heat = HEATS - 1;
    while (heat > 0 && share < from[heat])
        heat--;
    if (grid_colors(grid) == 0 || in_use == THEME_MONO)
        return style;
    style.foreground = grid_colors(grid) > 16 ? heat_256[in_use][heat] : heat_16[heat];
    return style;
}

uint32_t theme_pattern(size_t position)
{
    static const char patterns[] = "#o+x=%*@&s~";
    return (uint32_t)patterns[position % (sizeof(patterns) - 1)];
}

uint32_t theme_paper(void)
{
    return in_use == THEME_LIGHT ? 0xffffff : 0x1c1c1c;
}

uint32_t theme_ink(void)
{
    return in_use == THEME_LIGHT ? 0x1c1c1c : 0xd0d0d0;
}

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
    {THEME_LINE, 'l', "line"},
    {THEME_PATH, 'p', "path to the selected box"},
    {THEME_CHOSEN, 'c', "selected box"},
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
