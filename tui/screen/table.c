/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/table.h"

#include <inttypes.h>
#include <string.h>

#include "schemas/code/short_name.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"

static const char *cell_text(const struct table_cell *cell)
{
    return cell->name ? cell->name : cell->text;
}

/* Quotes a field if it has a character that means something in CSV (RFC 4180, 2). A byte that could
 * steer a terminal becomes U+FFFD. */
static void put_csv(FILE *out, const char *text)
{
    const bool quoted = text[strcspn(text, ",\"\r\n")] != 0;
    fputs(quoted ? "\"" : "", out);
    for (uint32_t glyph; (glyph = text_next(&text)) != 0;) {
        char encoded[5];
        text_encode(glyph_steers(glyph) ? 0xfffd : glyph, encoded);
        fprintf(out, "%s%s", glyph == '"' ? "\"" : "", encoded);
    }
    fputs(quoted ? "\"" : "", out);
}

/* Writes a string of JSON (RFC 8259, 7). Malformed UTF-8 becomes '?'. */
static void put_json(FILE *out, const char *text)
{
    fputc('"', out);
    for (uint32_t glyph; (glyph = text_next(&text)) != 0;) {
        char encoded[5];
        if (glyph == '"' || glyph == '\\') {
            fprintf(out, "\\%c", (char)glyph);
        } else if (glyph_steers(glyph)) {
            fprintf(out, "\\u%04x", (unsigned)glyph);
        } else {
            text_encode(glyph, encoded);
            fputs(encoded, out);
        }
    }
    fputc('"', out);
}

void table_cell_signed(struct table_cell *cell, int64_t value)
{
    cell->is_number = true;
    cell->negative = value < 0;
    cell->number = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static void put_cell(const struct table_source *source, size_t row, size_t column, FILE *out,
                     enum table_format format)
{
    struct table_cell cell = {.text = ""};
    source->cell(source->context, row, column, &cell);
    const char *text = cell_text(&cell);
    if (cell.is_number)
        fprintf(out, "%s%" PRIu64, cell.negative ? "-" : "", cell.number);
    else if (format == TABLE_CSV)
        put_csv(out, text);
    else
        put_json(out, text);
}

void table_write(const struct table_source *source, FILE *out, enum table_format format)
{
    const bool json = format == TABLE_JSON;
    fputs(json ? "[" : "", out);
    for (size_t line = json; line <= source->rows; line++) { /* CSV begins with the names */
        const char *between = "";
        if (json)
            fputs(line > 1 ? ",\n {" : "\n {", out);
        for (size_t i = 0; i < source->column_count; i++) {
            const char *name =
                source->columns[i].file ? source->columns[i].file : source->columns[i].title;
            if (!*name)
                continue;
            fputs(between, out);
            between = json ? ", " : ",";
            if (json) {
                put_json(out, name);
                fputs(": ", out);
            }
            if (line == 0)
                put_csv(out, name);
            else
                put_cell(source, line - 1, i, out, format);
        }
        fputs(json ? "}" : "\r\n", out);
    }
    fputs(json ? "\n]\n" : "", out);
}

void table_copy(const struct table_source *source, size_t row, FILE *out)
{
    int width = 0;
    for (size_t i = 0; i < source->column_count; i++)
        if (text_width(source->columns[i].title) > width)
            width = text_width(source->columns[i].title);
    for (size_t i = 0; i < source->column_count && row < source->rows; i++) {
        struct table_cell cell = {.text = ""};
        source->cell(source->context, row, i, &cell);
        if (!*cell_text(&cell))
            continue;
        fprintf(out, "%s%*s  %s\n", source->columns[i].title,
                width - text_width(source->columns[i].title), "", cell_text(&cell));
    }
}

/* ---- branches --------------------------------------------------------------------------- */

#define CYCLE " \u21c4 "
#define RECURSION " \u21ba"

static const char *name_in(const char *text)
{
    const char *at = text;
    while (*at >= '0' && *at <= '9')
        at++;
    if (*at != ' ')
        at = text; /* a name that begins with digits */
    for (const char *next = at;; at = next) {
        const uint32_t glyph = text_next(&next);
        if (glyph != ' ' && glyph != 0x25be && glyph != 0x25b8 && glyph != 0x2192)
            return at;
    }
}

/* Leaves of a row's field the part of its name. Returns false if there is no room for it. */
static bool branch_field(const char *text, struct alike_field *field)
{
    char before[SHORT_NAME_SIZE];
    const char *name = name_in(text);
    snprintf(before, sizeof(before), "%.*s", (int)(name - text), text);
    field->x += text_width(before);
    field->width -= text_width(before);
    field->end = strstr(name, RECURSION) ? RECURSION : "";
    return field->width > 0;
}

/* Fits both names of a cycle. A side that is short leaves its room to the other. */
static void fit_cycle(char *out, size_t size, const char *text, const char *cycle, int width)
{
    char left[SHORT_NAME_SIZE], right[SHORT_NAME_SIZE];
    const char *second = cycle + strlen(CYCLE);
    const int room = width - text_width(CYCLE);
    const bool counts = *second >= '0' && *second <= '9'; /* "3 more" */
    snprintf(left, sizeof(left), "%.*s", (int)(cycle - text), text);
    const int first_width = text_width(left), second_width = text_width(second);
    int half = room / 2;
    if (first_width < half)
        half = first_width;
    else if (counts || second_width < room - half)
        half = room - second_width;
    if (half < 0)
        half = 0;
    short_name_fit_again(right, sizeof(right), second, room - half);
    char first[SHORT_NAME_SIZE];
    short_name_fit_again(first, sizeof(first), left, half);
    snprintf(out, size, "%s" CYCLE "%s", first, right);
}

/* Writes the text of a row into exactly `width` columns. The text before the name stays: a level,
 * spaces, the marks ▾ ▸ →. So does the text after it: ↺, "⇄ 3 more". The names are cut as
 * area_name() cuts them, both sides of a ⇄ alike. */
static void branch_render(const struct area *area, int x, int y, int width, struct cell_style style,
                          const char *text)
{
    char fitted[2 * SHORT_NAME_SIZE + 8], name[SHORT_NAME_SIZE], all[3 * SHORT_NAME_SIZE];
    const char *begin = name_in(text);
    const char *cycle = strstr(begin, CYCLE), *recursion = strstr(begin, RECURSION);
    snprintf(name, sizeof(name), "%.*s", (int)(begin - text), text);
    const int room = width - text_width(name);
    if (text_width(text) <= width || room < 2 || strstr(begin, "+0x") || strstr(begin, TABLE_BY)) {
        area_field(area, x, y, width, style, text);
        return;
    }
    const int length = snprintf(all, sizeof(all), "%s", name);
    if (cycle) {
        fit_cycle(fitted, sizeof(fitted), begin, cycle, room);
    } else if (recursion && room > 4) {
        snprintf(name, sizeof(name), "%.*s", (int)(recursion - begin), begin);
        char *end = short_name_fit_again(fitted, SHORT_NAME_SIZE, name, room - 2);
        snprintf(end + strlen(end), SHORT_NAME_SIZE, "%s", RECURSION);
    } else {
        short_name_fit_again(fitted, sizeof(fitted), begin, room);
    }
    snprintf(all + length, sizeof(all) - (size_t)length, "%s", fitted);
    area_field(area, x, y, width, style, all);
}

enum { MARGIN = 1, GAP = 2, FLEXIBLE_LEAST = 12, TITLES = 1, WHEEL_ROWS = 3 };

/* ---- columns ---------------------------------------------------------------------------- */

/* The columns on the screen: width 0 is not shown. */
struct layout {
    int x[TABLE_COLUMNS], width[TABLE_COLUMNS];
    size_t count;
};

static int title_width(const struct table_source *source, size_t column)
{
    const struct table_column *about = &source->columns[column];
    return text_width(about->title) +
           (about->text || !source->about ? 0 : text_width(source->about));
}

/* Returns the columns that a column needs at least. */
static int needed_width(const struct table_source *source, size_t column)
{
    const int width = source->columns[column].width, title = title_width(source, column);
    const int least = width > 0 ? width : FLEXIBLE_LEAST;
    return least > title ? least : title;
}

/* Hides the last column that may make way. Returns false if there is none. */
static bool hide_one(const struct table_source *source, struct layout *layout, int *total)
{
    for (size_t i = layout->count; i-- > 0;) {
        if (layout->width[i] > 0 && !source->columns[i].keep) {
            *total -= layout->width[i] + GAP;
            layout->width[i] = 0;
            return true;
        }
    }
    return false;
}

/* Gives the columns without a width of their own what is left, which may be less than nothing. */
static void share_rest(const struct table_source *source, struct layout *layout, int rest)
{
    int flexible = 0;
    for (size_t i = 0; i < layout->count; i++)
        flexible += layout->width[i] > 0 && source->columns[i].width == 0;
    for (size_t i = 0; i < layout->count && flexible > 0; i++) {
        if (layout->width[i] == 0 || source->columns[i].width != 0)
            continue;
        const int part = rest / flexible;
        layout->width[i] = layout->width[i] + part > 1 ? layout->width[i] + part : 1;
        rest -= part;
        flexible--;
    }
}

static void lay_out(const struct table_source *source, int width, struct layout *layout)
{
    int total = MARGIN;
    layout->count = source->column_count < TABLE_COLUMNS ? source->column_count : TABLE_COLUMNS;
    for (size_t i = 0; i < layout->count; i++) {
        const bool shown = source->columns[i].keep || source->columns[i].least_width <= width;
        layout->width[i] = shown ? needed_width(source, i) : 0;
        total += shown ? layout->width[i] + GAP : 0;
    }
    while (total - 1 > width && hide_one(source, layout, &total))
        ;
    share_rest(source, layout, width - total + 1);
    int x = MARGIN;
    for (size_t i = 0; i < layout->count; i++) {
        layout->x[i] = x;
        x += layout->width[i] > 0 ? layout->width[i] + GAP : 0;
    }
}

size_t table_columns_shown(const struct table_source *source, int width)
{
    struct layout layout;
    size_t count = 0;
    lay_out(source, width, &layout);
    for (size_t i = 0; i < layout.count; i++)
        count += layout.width[i] > 0;
    return count;
}

/* ---- selection -------------------------------------------------------------------------- */

struct area table_area(const struct area *area, const struct table_place *place)
{
    return area_part(area, place->x, place->y, place->width, place->height);
}

static size_t visible_rows(const struct table_place *place)
{
    return place->height > TITLES ? (size_t)(place->height - TITLES) : 1;
}

void table_select(struct table *table, const struct table_source *source, size_t row)
{
    if (source->rows == 0) {
        table->selected = table->first = 0;
        return;
    }
    table->selected = row < source->rows ? row : source->rows - 1;
    table->key = source->key(source->context, table->selected);
    table->has_key = true;
    table->searched = 0;
}

static bool find_key(const struct table_source *source, uint64_t key, size_t *row)
{
    if (source->find)
        return source->find(source->context, key, row) && *row < source->rows;
    for (size_t i = 0; i < source->rows; i++) {
        if (source->key(source->context, i) == key) {
            *row = i;
            return true;
        }
    }
    return false;
}

static void scroll(struct table *table, const struct table_source *source,
                   const struct table_place *place)
{
    const size_t rows = visible_rows(place);
    if (table->first > table->selected)
        table->first = table->selected;
    if (table->selected >= table->first + rows)
        table->first = table->selected - rows + 1;
    const size_t last = source->rows > rows ? source->rows - rows : 0;
    if (table->first > last)
        table->first = last;
}

void table_settle(struct table *table, const struct table_source *source,
                  const struct table_place *place)
{
    if (source->rows == 0)
        return; /* the key stays: its row may come back */
    size_t row = table->selected;
    const bool stays =
        !table->has_key || (row < source->rows && source->key(source->context, row) == table->key);
    if (stays || !find_key(source, table->key, &row))
        row = table->selected;
    if (row != table->selected || !table->has_key || !stays)
        table_select(table, source, row);
    scroll(table, source, place);
}

static void move(struct table *table, const struct table_source *source, bool down, size_t rows)
{
    size_t row = table->selected;
    if (down)
        row = rows < source->rows - row ? row + rows : source->rows - 1;
    else
        row = rows < row ? row - rows : 0;
    table_select(table, source, row);
}

/* ---- search ----------------------------------------------------------------------------- */

static bool row_matches(const struct table_source *source, size_t row, const char *text)
{
    if (source->matches)
        return source->matches(source->context, row, text);
    for (size_t i = 0; i < source->column_count; i++) {
        struct table_cell cell = {.text = ""};
        if (!source->columns[i].text)
            continue;
        source->cell(source->context, row, i, &cell);
        if (strcasestr(cell_text(&cell), text))
            return true;
    }
    return false;
}

/* Selects the next row that matches, from the `from`-th after the selected one on. */
static enum table_answer search(struct table *table, const struct table_source *source,
                                bool forwards, size_t from)
{
    if (!table->search[0])
        return TABLE_NO_SEARCH;
    const size_t count = source->rows;
    for (size_t i = from; i <= count; i++) {
        if (i - from == TABLE_SEARCH_MOST) {
            table->searched = i;
            return TABLE_GAVE_UP;
        }
        const size_t step = i % count;
        const size_t row = (table->selected + (forwards ? step : count - step)) % count;
        if (row_matches(source, row, table->search)) {
            table_select(table, source, row);
            return TABLE_USED;
        }
    }
    table->searched = 0;
    return TABLE_NOT_FOUND;
}

/* ---- order ------------------------------------------------------------------------------ */

static bool can_sort(const struct table_source *source, const struct layout *layout, size_t column)
{
    return column < layout->count && layout->width[column] > 0 && !source->columns[column].unsorted;
}

/* Sorts by a column: by the present one in the other direction. */
static enum table_answer sort_by(struct table *table, const struct table_source *source,
                                 size_t column)
{
    if (column >= source->column_count)
        return TABLE_USED;
    /* Another row than the first one stays selected. */
    table->has_key = table->has_key && table->selected > 0;
    table->descending = column == table->sort ? !table->descending : !source->columns[column].text;
    table->sort = column;
    return TABLE_SORTED;
}

/* Sorts by the next column on the screen, in a circle. */
static enum table_answer sort_beside(struct table *table, const struct table_source *source,
                                     const struct table_place *place, bool right)
{
    struct layout layout;
    lay_out(source, place->width, &layout);
    /* Rows that are in no column's order yet begin with the first one on this side. */
    const size_t now = table->sort < layout.count ? table->sort : right ? layout.count - 1 : 0;
    for (size_t i = 1; i <= layout.count; i++) {
        const size_t step = right ? i : layout.count - i;
        const size_t column = (now + step) % layout.count;
        if (can_sort(source, &layout, column))
            return sort_by(table, source, column);
    }
    return TABLE_USED;
}

bool table_order(struct table *table, const struct table_column *columns, size_t count,
                 struct table_order *order, bool set)
{
    if (!set) {
        *order = (struct table_order){.sort = table->sort,
                                      .descending = table->descending,
                                      .has_key = table->has_key,
                                      .key = table->key};
        return true;
    }
    if (order->sort >= count || columns[order->sort].unsorted)
        return false;
    table->sort = order->sort;
    table->descending = order->descending;
    table->has_key = order->has_key;
    table->key = order->key;
    return true;
}

/* ---- mouse ------------------------------------------------------------------------------ */

static bool inside(const struct view_input *input, const struct table_place *place)
{
    return input->x >= place->x && input->x < place->x + place->width && input->y >= place->y &&
           input->y < place->y + place->height;
}

static enum table_answer click_title(struct table *table, const struct table_source *source,
                                     int width, int x)
{
    struct layout layout;
    lay_out(source, width, &layout);
    for (size_t i = 0; i < layout.count; i++)
        if (can_sort(source, &layout, i) && x >= layout.x[i] &&
            x < layout.x[i] + layout.width[i] + GAP)
            return sort_by(table, source, i);
    return TABLE_USED;
}

static enum table_answer click(struct table *table, const struct table_source *source,
                               const struct view_input *input, const struct table_place *place)
{
    if (!inside(input, place))
        return TABLE_IGNORED;
    if (input->y == place->y)
        return input->twice ? TABLE_USED
                            : click_title(table, source, place->width, input->x - place->x);
    const size_t row = table->first + (size_t)(input->y - place->y - TITLES);
    if (row >= source->rows)
        return TABLE_USED;
    table_select(table, source, row);
    return input->twice ? TABLE_FOLLOW : TABLE_USED;
}

/* ---- update ----------------------------------------------------------------------------- */

static bool is_for_rows(enum action action)
{
    switch (action) {
    case ACTION_UP:
    case ACTION_DOWN:
    case ACTION_PAGE_UP:
    case ACTION_PAGE_DOWN:
    case ACTION_HOME:
    case ACTION_END:
    case ACTION_WHEEL_UP:
    case ACTION_WHEEL_DOWN:
    case ACTION_SEARCH:
    case ACTION_NEXT:
    case ACTION_PREVIOUS:
    case ACTION_CLICK:
    case ACTION_SORT:
    case ACTION_SORT_LEFT:
    case ACTION_SORT_RIGHT:
    case ACTION_SORT_REVERSE:
        return true;
    default:
        return false;
    }
}

static enum table_answer act(struct table *table, const struct table_source *source,
                             const struct view_input *input, const struct table_place *place)
{
    switch (input->action) {
    case ACTION_UP:
    case ACTION_DOWN:
        move(table, source, input->action == ACTION_DOWN, 1);
        break;
    case ACTION_PAGE_UP:
    case ACTION_PAGE_DOWN:
        move(table, source, input->action == ACTION_PAGE_DOWN, visible_rows(place));
        break;
    case ACTION_HOME:
    case ACTION_END:
        move(table, source, input->action == ACTION_END, source->rows);
        break;
    case ACTION_WHEEL_UP:
    case ACTION_WHEEL_DOWN:
        if (!inside(input, place))
            return TABLE_IGNORED;
        move(table, source, input->action == ACTION_WHEEL_DOWN, WHEEL_ROWS);
        break;
    case ACTION_CLICK:
        return click(table, source, input, place);
    case ACTION_SEARCH:
        return search(table, source, true, 0);
    case ACTION_NEXT:
    case ACTION_PREVIOUS:
        return search(table, source, (input->action == ACTION_NEXT),
                      table->searched ? table->searched : 1);
    case ACTION_SORT:
    case ACTION_SORT_RIGHT:
    case ACTION_SORT_LEFT:
        return sort_beside(table, source, place, input->action != ACTION_SORT_LEFT);
    case ACTION_SORT_REVERSE:
        return sort_by(table, source, table->sort);
    default:
        return TABLE_IGNORED;
    }
    return TABLE_USED;
}

enum table_answer table_update(struct table *table, const struct table_source *source,
                               const struct view_input *input, const struct table_place *place)
{
    if (input->action == ACTION_SEARCH && input->text) {
        snprintf(table->search, sizeof(table->search), "%s", input->text);
        table->searched = 0;
    }
    table_settle(table, source, place);
    if (input->action == ACTION_REFRESH)
        return TABLE_USED;
    if (source->rows == 0)
        return is_for_rows(input->action) ? TABLE_USED : TABLE_IGNORED;
    const enum table_answer answer = act(table, source, input, place);
    scroll(table, source, place);
    return answer;
}

char *table_message(const struct table *table, const struct table_source *source,
                    enum table_answer answer, char *out)
{
    out[0] = 0;
    if (answer == TABLE_NO_SEARCH) {
        snprintf(out, TABLE_MESSAGE_SIZE, "no search yet; / searches");
    } else if (answer == TABLE_NOT_FOUND) {
        snprintf(out, TABLE_MESSAGE_SIZE, "no row has \"%.150s\"", table->search);
    } else if (answer == TABLE_GAVE_UP) {
        snprintf(out, TABLE_MESSAGE_SIZE, "not in the %zu rows looked at; n looks further",
                 table->searched);
    } else if (answer == TABLE_SORTED) {
        const struct table_column *column = &source->columns[table->sort];
        const char *order = column->text        ? table->descending ? "Z first" : "A first"
                            : table->descending ? "largest first"
                                                : "smallest first";
        snprintf(out, TABLE_MESSAGE_SIZE, "sorted by %s, %s%s%s", column->title, order,
                 column->meaning ? " · " : "", column->meaning ? column->meaning : "");
    }
    return out;
}

/* ---- render ----------------------------------------------------------------------------- */

static void render_titles(const struct table *table, const struct table_source *source,
                          const struct area *area, const struct layout *layout)
{
    area_fill(area, 0, 0, area->width, 1, ' ', theme_style(THEME_HEADING));
    for (size_t i = 0; i < layout->count; i++) {
        const struct table_column *column = &source->columns[i];
        const int width = layout->width[i], x = layout->x[i];
        const bool sorted = i == table->sort && !column->unsorted;
        char title[80];
        if (width == 0)
            continue;
        snprintf(title, sizeof(title), "%s%s", column->text || !source->about ? "" : source->about,
                 column->title);
        struct cell_style style = theme_style(THEME_HEADING);
        if (sorted)
            style.attributes |= CELL_UNDERLINE;
        const int length = text_width(title) < width ? text_width(title) : width;
        const int at = column->text ? x : x + width - length;
        area_field(area, at, 0, length, style, title);
        if (sorted) /* in the gap, so that nothing moves */
            area_put(area, at + length, 0, table->descending ? 0x25bc : 0x25b2,
                     theme_style(THEME_HEADING));
    }
}

static void render_text(const struct area *area, int x, int y, int width, enum table_cut cut,
                        struct cell_style style, const char *text)
{
    if (cut == TABLE_CUT_NAME)
        area_name(area, x, y, width, style, text);
    else if (cut == TABLE_CUT_CATEGORY)
        area_category(area, x, y, width, style, text);
    else if (cut == TABLE_CUT_PATH)
        area_path(area, x, y, width, style, text);
    else if (cut == TABLE_CUT_FILE && text_width(text) > width && width > 1)
        area_text_end(area, x, y, width, style, text);
    else if (cut == TABLE_CUT_BRANCH)
        branch_render(area, x, y, width, style, text);
    else
        area_field(area, x, y, width, style, text);
}

/* Draws a bar behind the text of a field. */
static void render_share(const struct area *area, int x, int y, int width, uint64_t part,
                         uint64_t whole)
{
    const double share = part < whole ? (double)part / (double)whole : 1;
    const int length = (int)(share * width + 0.5);
    for (int i = 0; i < length && x + i < area->width; i++) {
        struct cell_style style = grid_cell(area->grid, area->x + x + i, area->y + y)->style;
        if (grid_colors(area->grid) == 0)
            style.attributes |= CELL_UNDERLINE;
        else
            style.background = theme_style(THEME_SHARE).background;
        area_restyle(area, x + i, y, 1, style);
    }
}

/* Returns the width of a text that does not fit into its column: with the columns of text that
 * follow and are empty in this row. Stores the last column that it takes. */
static int room_for(const struct table_source *source, const struct layout *layout, size_t row,
                    size_t column, size_t *last)
{
    int width = layout->width[column];
    for (size_t i = column + 1; i < layout->count && source->columns[i].text; i++) {
        struct table_cell cell = {.text = ""};
        if (layout->width[i] == 0)
            continue;
        source->cell(source->context, row, i, &cell);
        if (cell_text(&cell)[0] || cell.whole > 0)
            break;
        width = layout->x[i] + layout->width[i] - layout->x[column];
        *last = i;
    }
    return width;
}

/* Writes "name ← caller": each has half of the room, or what the other one leaves. */
static const char *fit_call(char *out, size_t size, const char *name, const char *caller, int width)
{
    char names[2][SHORT_NAME_SIZE], fitted[2][SHORT_NAME_SIZE];
    const int room = width - (int)strlen(" - "), half = room / 2;
    const int name_width = text_width(short_name(names[0], SHORT_NAME_SIZE, name));
    const int caller_width = text_width(short_name(names[1], SHORT_NAME_SIZE, caller));
    const int left = caller_width < half ? room - caller_width : room - half;
    const int own = name_width < left ? name_width : left;
    snprintf(out, size, "%s \u2190 %s",
             short_name_fit_again(fitted[0], SHORT_NAME_SIZE, names[0], own),
             short_name_fit_again(fitted[1], SHORT_NAME_SIZE, names[1], room - own));
    return out;
}

static void render_row(const struct table *table, const struct table_source *source,
                       const struct area *area, const struct layout *layout, size_t row, int y)
{
    for (size_t i = 0; i < layout->count; i++) {
        const struct table_column *column = &source->columns[i];
        struct table_cell cell = {.text = ""};
        if (layout->width[i] == 0)
            continue;
        source->cell(source->context, row, i, &cell);
        const char *text = cell_text(&cell);
        const size_t first = i;
        int width = layout->width[i];
        if (column->text && text_width(text) > width) {
            width = room_for(source, layout, row, first, &i);
            cell = (struct table_cell){.text = ""}; /* the name was valid until the next call */
            source->cell(source->context, row, first, &cell);
            text = cell_text(&cell);
        }
        char path[2 * SHORT_NAME_SIZE + 8];
        if (cell.caller)
            text = fit_call(path, sizeof(path), text, cell.caller, width);
        struct cell_style style = cell.styled ? cell.style : theme_style(THEME_PLAIN);
        if (column->text && table->search[0] && strcasestr(text, table->search))
            style = theme_style(THEME_MATCH);
        if (column->text)
            render_text(area, layout->x[first], y, width,
                        cell.sentence || cell.caller ? TABLE_CUT_END : column->cut, style, text);
        else
            area_field_right(area, layout->x[first], y, width, style, text);
        if (cell.whole > 0)
            render_share(area, layout->x[first], y, layout->width[first], cell.part, cell.whole);
    }
    if (row == table->selected)
        area_restyle(area, 0, y, area->width,
                     theme_style(table->blurred ? THEME_SELECTED : THEME_CURSOR));
}

/* A column of names, to read them again. */
struct names {
    const struct table_source *source;
    size_t column;
    struct table_cell cell;
};

static struct alike_name name_of(void *context, size_t row)
{
    struct names *names = context;
    names->cell = (struct table_cell){.text = ""};
    names->source->cell(names->source->context, row, names->column, &names->cell);
    struct alike_name name = names->cell.apart;
    if (!name.name)
        name.name = cell_text(&names->cell);
    return name;
}

/* Tells names apart that look alike. */
static void render_names_again(const struct table *table, const struct table_source *source,
                               const struct area *area, const struct layout *layout, size_t column)
{
    struct alike_field fields[ALIKE_MOST];
    struct names names = {.source = source, .column = column};
    size_t count = 0;
    for (int y = TITLES; y < area->height && count < ALIKE_MOST; y++) {
        const size_t row = table->first + (size_t)(y - TITLES);
        if (row >= source->rows)
            break;
        struct alike_field field = {layout->x[column], y, layout->width[column], row, NULL};
        size_t last = column;
        name_of(&names, row);
        if (names.cell.sentence || names.cell.caller)
            continue;
        if (text_width(cell_text(&names.cell)) > field.width)
            field.width = room_for(source, layout, row, column, &last);
        if (source->columns[column].cut == TABLE_CUT_BRANCH) {
            name_of(&names, row);
            if (!names.cell.apart.name || !branch_field(names.cell.text, &field))
                continue;
        }
        fields[count++] = field;
    }
    alike_rewrite(area, fields, count, name_of, &names);
}

void table_render(const struct table *table, const struct table_source *source,
                  const struct area *area)
{
    struct layout layout;
    lay_out(source, area->width, &layout);
    if (area->height <= 0)
        return;
    render_titles(table, source, area, &layout);
    for (int y = TITLES; y < area->height; y++) {
        const size_t row = table->first + (size_t)(y - TITLES);
        if (row >= source->rows)
            break;
        render_row(table, source, area, &layout, row, y);
    }
    for (size_t i = 0; i < layout.count; i++)
        if (layout.width[i] > 0 && (source->columns[i].cut == TABLE_CUT_NAME ||
                                    source->columns[i].cut == TABLE_CUT_CATEGORY ||
                                    source->columns[i].cut == TABLE_CUT_BRANCH))
            render_names_again(table, source, area, &layout, i);
}
