/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/cells.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "schemas/printable.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"

uint32_t text_next(const char **text)
{
    const unsigned char *byte = (const unsigned char *)*text;
    if (byte[0] == 0)
        return 0;
    if (byte[0] < 0x80) {
        *text += 1;
        return byte[0];
    }
    int following = byte[0] >= 0xf0 ? 3 : byte[0] >= 0xe0 ? 2 : 1;
    uint32_t glyph = byte[0] & (0x3fU >> following);
    bool good = byte[0] >= 0xc2 && byte[0] <= 0xf4;
    for (int i = 1; good && i <= following; i++)
        if ((byte[i] & 0xc0) != 0x80)
            good = false;
        else
            glyph = glyph << 6 | (byte[i] & 0x3fU);
    bool overlong = (following == 2 && glyph < 0x800) || (following == 3 && glyph < 0x10000);
    if (!good || overlong || glyph > 0x10ffff || (glyph >= 0xd800 && glyph < 0xe000)) {
        *text += 1;
        return '?';
    }
    *text += following + 1;
    return glyph;
}

int text_encode(uint32_t glyph, char *out)
{
    int length = glyph < 0x80 ? 1 : glyph < 0x800 ? 2 : glyph < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (glyph & 0x3f));
        glyph >>= 6;
    }
    out[0] = (char)(lead[length] | glyph);
    out[length] = 0;
    return length;
}

bool glyph_steers(uint32_t glyph)
{
    return printable_steers(glyph);
}

int glyph_width(uint32_t glyph)
{
    if (printable_steers(glyph))
        return 0;
    if (glyph < 0x300)
        return 1;
    /* Lines, blocks, arrows and punctuation are narrow everywhere. wcwidth() knows the rest, and
     * returns -1 if the locale does not have the character. */
    if (glyph >= 0x2010 && glyph < 0x2800)
        return 1;
    int width = wcwidth((wchar_t)glyph);
    return width < 0 ? 1 : width > 2 ? 2 : width;
}

int text_width(const char *text)
{
    int width = 0;
    for (uint32_t glyph; (glyph = text_next(&text)) != 0;)
        width += glyph_width(glyph);
    return width;
}

char *text_clean_lines(const char *text)
{
    char *clean = malloc(PRINTABLE_BYTE_MAX * strlen(text) + 1), *out = clean;
    while (clean && *text) {
        const unsigned length = *text == '\n' || *text == '\t' ? 1 : printable_glyph(text);
        if (length > 0)
            memcpy(out, text, length);
        else
            snprintf(out, PRINTABLE_BYTE_MAX + 1, "\\x%02x", (unsigned char)*text);
        out += length > 0 ? length : PRINTABLE_BYTE_MAX;
        text += length > 0 ? length : 1;
    }
    if (clean)
        *out = 0;
    return clean;
}

struct grid {
    int width, height, colors;
    bool ascii, plain; /* plain: without the colours */
    struct cell *cells;
};

static const struct cell_style plain = {CELL_DEFAULT, CELL_DEFAULT, 0};

struct grid *grid_new(int width, int height, int colors, bool ascii)
{
    struct grid *grid = calloc(1, sizeof(*grid));
    if (!grid)
        return NULL;
    grid->colors = colors;
    grid->ascii = ascii;
    if (!grid_resize(grid, width, height)) {
        free(grid);
        return NULL;
    }
    return grid;
}

void grid_free(struct grid *grid)
{
    if (!grid)
        return;
    free(grid->cells);
    free(grid);
}

bool grid_resize(struct grid *grid, int width, int height)
{
    if (width < 1)
        width = 1;
    if (height < 1)
        height = 1;
    struct cell *cells = calloc((size_t)width * (size_t)height, sizeof(*cells));
    if (!cells)
        return false;
    free(grid->cells);
    grid->cells = cells;
    grid->width = width;
    grid->height = height;
    grid_clear(grid);
    return true;
}

void grid_clear(struct grid *grid)
{
    size_t count = (size_t)grid->width * (size_t)grid->height;
    for (size_t i = 0; i < count; i++)
        grid->cells[i] = (struct cell){.glyph = ' ', .style = plain, .width = 1};
}

int grid_width(const struct grid *grid)
{
    return grid->width;
}

int grid_height(const struct grid *grid)
{
    return grid->height;
}

int grid_colors(const struct grid *grid)
{
    return grid->plain ? 0 : grid->colors;
}

void grid_allow_colors(struct grid *grid, bool allowed)
{
    grid->plain = !allowed;
}

bool grid_ascii(const struct grid *grid)
{
    return grid->ascii;
}

const struct cell *grid_cell(const struct grid *grid, int x, int y)
{
    return &grid->cells[(size_t)y * (size_t)grid->width + (size_t)x];
}

static struct cell *cell_at(const struct grid *grid, int x, int y)
{
    return &grid->cells[(size_t)y * (size_t)grid->width + (size_t)x];
}

/* Returns the ASCII character for a glyph that the views use. */
static uint32_t ascii_for(uint32_t glyph)
{
    static const struct {
        uint32_t glyph;
        char ascii;
    } table[] = {
        {0x2026, '~'},                /* … */
        {0x00b5, 'u'},                /* µ */
        {0x00b7, '.'},                /* · */
        {0x2212, '-'},                /* − */
        {0x2013, '-'},                /* – */
        {0x00d7, 'x'},                /* × */
        {0x0394, 'd'},                /* Δ */
        {0x2190, '<'},                /* ← */
        {0x2192, '>'},                /* → */
        {0x2191, '^'},                /* ↑ */
        {0x2193, 'v'},                /* ↓ */
        {0x25b2, '^'},                /* ▲ */
        {0x25bc, 'v'},                /* ▼ */
        {0x25b8, '+'},                /* ▸ a closed row of a tree */
        {0x25be, '-'},                /* ▾ an open one */
        {0x25b6, '>'},                /* ▶ */
        {0x21c4, '='},                /* ⇄ a cycle */
        {0x21ba, '@'},                /* ↺ a recursion */
        {0x2248, '~'},                /* ≈ */
        {0x2264, '<'},                /* ≤ */
        {0x2265, '>'},                /* ≥ */
        {0x2010, '-'},                /* ‐ */
        {0x2550, '='},                /* ═ */
        {0x250a, ':'},                /* ┊ */
        {0x2580, '^'}, {0x2590, '|'}, /* ▀ ▐ */
        {0x25cf, '*'},                /* ● */
        {0x2502, '|'},                /* │ */
        {0x2506, ':'},                /* ┆ */
        {0x2500, '-'},                /* ─ */
        {0x25a0, '#'},                /* ■ */
        {0x25a1, 'o'},                /* □ */
        {0x2713, '+'},                /* ✓ */
        {0x2581, '.'}, {0x2582, '.'}, {0x2583, ':'}, {0x2584, '='},
        {0x2585, '='}, {0x2586, '#'}, {0x2587, '#'}, {0x2588, '#'}, /* ▁ … █ */
        {0x2591, '.'}, {0x2592, ':'}, {0x2593, '%'},                /* ░ ▒ ▓ */
        {0x258f, '.'}, {0x258e, '.'}, {0x258d, ':'}, {0x258c, '='},
        {0x258b, '='}, {0x258a, '#'}, {0x2589, '#'}, /* ▏ … ▉ */
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (table[i].glyph == glyph)
            return (uint32_t)table[i].ascii;
    return glyph >= 0x2500 && glyph < 0x2580 ? '+' : '?';
}

/* ---- areas ------------------------------------------------------------------------------ */

struct area area_whole(struct grid *grid)
{
    return (struct area){grid, 0, 0, grid->width, grid->height};
}

struct area area_part(const struct area *area, int x, int y, int width, int height)
{
    struct area part = {area->grid, 0, 0, 0, 0};
    int right = x + width < area->width ? x + width : area->width;
    int bottom = y + height < area->height ? y + height : area->height;
    x = x < 0 ? 0 : x;
    y = y < 0 ? 0 : y;
    if (x >= right || y >= bottom)
        return part;
    part.x = area->x + x;
    part.y = area->y + y;
    part.width = right - x;
    part.height = bottom - y;
    return part;
}

/* Clears the other half of a wide glyph before one half is overwritten. */
static void unwide(const struct grid *grid, int x, int y)
{
    struct cell *cell = cell_at(grid, x, y);
    if (cell->width == 2 && x + 1 < grid->width) {
        cell_at(grid, x + 1, y)->glyph = ' ';
        cell_at(grid, x + 1, y)->width = 1;
    } else if (cell->width == 0 && x > 0) {
        cell_at(grid, x - 1, y)->glyph = ' ';
        cell_at(grid, x - 1, y)->width = 1;
    }
}

void area_put(const struct area *area, int x, int y, uint32_t glyph, struct cell_style style)
{
    if (x < 0 || y < 0 || x >= area->width || y >= area->height)
        return;
    struct grid *grid = area->grid;
    if (grid->ascii && glyph > 126)
        glyph = ascii_for(glyph);
    int width = glyph_width(glyph);
    if (width == 0)
        return;
    if (width == 2 && x + 1 >= area->width) {
        glyph = ' ';
        width = 1;
    }
    int column = area->x + x, row = area->y + y;
    unwide(grid, column, row);
    *cell_at(grid, column, row) = (struct cell){glyph, style, (uint8_t)width};
    if (width == 2) {
        unwide(grid, column + 1, row);
        *cell_at(grid, column + 1, row) = (struct cell){' ', style, 0};
    }
}

void area_fill(const struct area *area, int x, int y, int width, int height, uint32_t glyph,
               struct cell_style style)
{
    for (int row = y < 0 ? 0 : y; row < y + height && row < area->height; row++)
        for (int column = x < 0 ? 0 : x; column < x + width && column < area->width; column++)
            area_put(area, column, row, glyph, style);
}

void area_restyle(const struct area *area, int x, int y, int width, struct cell_style style)
{
    if (y < 0 || y >= area->height)
        return;
    for (int column = x < 0 ? 0 : x; column < x + width && column < area->width; column++)
        cell_at(area->grid, area->x + column, area->y + y)->style = style;
}

/* Returns where a text that does not fit into `room` is cut: after a whole word that begins at
 * `least` or later, if any. A number is not cut, nor parted from its unit. */
static int cut_at(const char *text, int room, int least)
{
    int column = 0, word = 0, before = 0;
    bool number = false, after_number = false, space = true;
    for (uint32_t glyph; (glyph = text_next(&text)) != 0;) {
        const int width = glyph_width(glyph);
        if (space && glyph != ' ') {
            before = word;
            word = column;
            after_number = number;
            number = glyph >= '0' && glyph <= '9';
        }
        space = glyph == ' ';
        if (column + width >= room)
            break;
        column += width;
    }
    if (number)
        return word;
    if (space || word < least)
        return column;
    return after_number ? before : word;
}

int area_text(const struct area *area, int x, int y, struct cell_style style, const char *text)
{
    const int start = x, whole = text_width(text);
    int end = x + whole;
    if (x >= 0 && x < area->width && end > area->width)
        end = x + cut_at(text, area->width - x, area->width / 2 - x);
    for (uint32_t glyph; (x < end || start < 0) && (glyph = text_next(&text)) != 0;) {
        int width = glyph_width(glyph);
        if (width == 0)
            continue;
        area_put(area, x, y, glyph, style);
        x += width;
    }
    if (end < start + whole)
        area_put(area, end, y, 0x2026, style);
    return whole;
}

int area_print(const struct area *area, int x, int y, struct cell_style style, const char *format,
               ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    /* clang-tidy 14 misses va_start() in every file of a run except the first. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return area_text(area, x, y, style, text);
}

int area_whole_text(const struct area *area, int x, int y, struct cell_style style,
                    const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    const int width = text_width(text);
    if (x + width <= area->width)
        return area_text(area, x, y, style, text);
    if (x + 2 <= area->width)
        area_text(area, x, y, style, " \u2026");
    return width > area->width ? width : area->width; /* nothing fits after it */
}

void area_field(const struct area *area, int x, int y, int width, struct cell_style style,
                const char *text)
{
    int column = 0;
    bool cut = text_width(text) > width;
    int room = cut ? width - 1 : width;
    for (const char *rest = text; column < room;) {
        uint32_t glyph = text_next(&rest);
        int columns = glyph_width(glyph);
        if (glyph == 0 || column + columns > room)
            break;
        if (columns == 0)
            continue;
        area_put(area, x + column, y, glyph, style);
        column += columns;
    }
    for (; column < room; column++)
        area_put(area, x + column, y, ' ', style);
    if (cut && width > 0)
        area_put(area, x + column, y, 0x2026, style);
}

void area_text_end(const struct area *area, int x, int y, int width, struct cell_style style,
                   const char *text)
{
    if (text_width(text) <= width) {
        area_text(area, x, y, style, text);
        return;
    }
    while (*text && text_width(text) >= width)
        text_next(&text);
    area_put(area, x, y, 0x2026, style);
    area_field(area, x + 1, y, width - 1, style, text);
}

void area_name(const struct area *area, int x, int y, int width, struct cell_style style,
               const char *name)
{
    char shorter[SHORT_NAME_SIZE];
    area_field(area, x, y, width, style, short_name_fit(shorter, sizeof(shorter), name, width));
}

void area_path(const struct area *area, int x, int y, int width, struct cell_style style,
               const char *names)
{
    static const char arrow[] = " \u2190 ";
    char path[SHORT_NAME_SIZE * 4], name[SHORT_NAME_SIZE], shorter[SHORT_NAME_SIZE];
    size_t length = 0;
    path[0] = 0;
    while (*names && length + 1 < sizeof(path)) {
        const char *end = strstr(names, arrow);
        const size_t part = end ? (size_t)(end - names) : strlen(names);
        snprintf(name, sizeof(name), "%.*s", (int)(part < sizeof(name) ? part : sizeof(name) - 1),
                 names);
        const int wrote =
            snprintf(path + length, sizeof(path) - length, "%s%s", length > 0 ? arrow : "",
                     strstr(name, "+0x") ? name : short_name(shorter, sizeof(shorter), name));
        length += wrote > 0 ? (size_t)wrote : 0;
        names += part + (end ? sizeof(arrow) - 1 : 0);
    }
    area_field(area, x, y, width, style, path);
}

int area_name_width(const char *name, int most)
{
    char shorter[SHORT_NAME_SIZE];
    if (!strstr(name, "+0x"))
        name = short_name(shorter, sizeof(shorter), name);
    const int width = text_width(name);
    return width < most ? width : most;
}

int area_category(const struct area *area, int x, int y, int width, struct cell_style style,
                  const char *name)
{
    char text[SHORT_NAME_SIZE];
    return area_text(area, x, y, style, short_name_fit(text, sizeof(text), name, width));
}

void area_field_right(const struct area *area, int x, int y, int width, struct cell_style style,
                      const char *text)
{
    int needed = text_width(text);
    int gap = needed < width ? width - needed : 0;
    for (int i = 0; i < gap; i++)
        area_put(area, x + i, y, ' ', style);
    area_field(area, x + gap, y, width - gap, style, text);
}

void grid_dump_text(const struct grid *grid, FILE *out)
{
    for (int y = 0; y < grid_height(grid); y++) {
        int end = grid_width(grid);
        while (end > 0 && grid_cell(grid, end - 1, y)->glyph == ' ')
            end--;
        for (int x = 0; x < end; x++) {
            const struct cell *cell = grid_cell(grid, x, y);
            char text[5];
            if (cell->width == 0)
                continue;
            text_encode(cell->glyph, text);
            fputs(text, out);
        }
        fputc('\n', out);
    }
}

/* Sizes in the picture's units. */
enum { CELL_WIDTH = 9, CELL_HEIGHT = 18, BASELINE = 14, FONT = 15 };

/* Returns a picture's colour for one of xterm's 256, whose blue is hard to read on dark ground. */
static uint32_t rgb(int color)
{
    enum { BLUE = 4, BRIGHT_BLUE = 12 };
    return color == BLUE ? 0x4a7bd0 : color == BRIGHT_BLUE ? 0x7fa8ff : xterm_color(color);
}

struct look {
    uint32_t ink, paper;
    uint16_t attributes;
};

static struct look look_of(const struct cell *cell)
{
    const struct cell_style *style = &cell->style;
    struct look look = {
        .ink = style->foreground == CELL_DEFAULT ? theme_ink() : rgb(style->foreground & 255),
        .paper = style->background == CELL_DEFAULT ? theme_paper() : rgb(style->background & 255),
        .attributes = style->attributes};
    if (style->attributes & CELL_REVERSE) {
        const uint32_t ink = look.ink;
        look.ink = look.paper;
        look.paper = ink;
    }
    return look;
}

static void put_glyph(FILE *out, uint32_t glyph)
{
    char encoded[5];
    text_encode(glyph, encoded);
    if (glyph == '<')
        fputs("&lt;", out);
    else if (glyph == '&')
        fputs("&amp;", out);
    else
        fputs(encoded, out);
}

/* Writes the cells from `from` to `to` of a row, which look the same. */
static void put_run(FILE *out, const struct grid *grid, int from, int to, int y,
                    const struct look *look)
{
    bool blank = true;
    for (int x = from; x < to; x++)
        blank = blank && (grid_cell(grid, x, y)->glyph == ' ' || grid_cell(grid, x, y)->glyph == 0);
    const int left = from * CELL_WIDTH, top = y * CELL_HEIGHT, width = (to - from) * CELL_WIDTH;
    if (look->paper != theme_paper())
        fprintf(out,
                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06" PRIx32 "\"/>\n",
                left, top, width, CELL_HEIGHT, look->paper);
    if (blank)
        return;
    fprintf(out,
            "<text x=\"%d\" y=\"%d\" textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\" "
            "fill=\"#%06" PRIx32 "\"%s%s%s>",
            left, top + BASELINE, width, look->ink,
            look->attributes & CELL_BOLD ? " font-weight=\"bold\"" : "",
            look->attributes & CELL_DIM ? " opacity=\"0.6\"" : "",
            look->attributes & CELL_UNDERLINE ? " text-decoration=\"underline\"" : "");
    for (int x = from; x < to; x++) {
        const struct cell *cell = grid_cell(grid, x, y);
        if (cell->width > 0)
            put_glyph(out, cell->glyph ? cell->glyph : ' ');
    }
    fputs("</text>\n", out);
}

void grid_dump_svg(const struct grid *grid, FILE *out)
{
    const int width = grid_width(grid), height = grid_height(grid);
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"monospace\" font-size=\"%d\" xml:space=\"preserve\">\n"
            "<style>text{white-space:pre}</style>\n" /* browsers pass no xml:space on to texts */
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#%06x\"/>\n",
            width * CELL_WIDTH, height * CELL_HEIGHT, FONT, (unsigned)theme_paper());
    for (int y = 0; y < height; y++) {
        for (int from = 0, to = 0; from < width; from = to) {
            const struct look look = look_of(grid_cell(grid, from, y));
            for (to = from + 1; to < width; to++) {
                const struct look next = look_of(grid_cell(grid, to, y));
                if (!(look.ink == next.ink && look.paper == next.paper &&
                      look.attributes == next.attributes))
                    break;
            }
            put_run(out, grid, from, to, y, &look);
        }
    }
    fputs("</svg>\n", out);
}
