/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the leaks view: totals, groups, the stack of the selected group. */
#include <inttypes.h>
#include <string.h>

#include "tui/screen/bars.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/leaks/leaks.h"

/* Returns the text before numbers. */
static const char *about_of(const struct leaks *leaks)
{
    return leaks->estimated ? "~" : "";
}

/* Writes the leaks, then parts of them, then the other kinds. */
static void render_totals(const struct leaks *leaks, const struct exploration *exploration,
                          const struct area *area)
{
    const struct session_leaks *all = &leaks->data->leaks;
    const bool stopped = session_stopped(exploration->session);
    const bool recording = session_recording(exploration->session) || stopped;
    char bytes[FORMAT_SIZE], blocks[FORMAT_SIZE], groups[FORMAT_SIZE];
    int x = 1;
    if (all->leaked.groups == 0 && !recording)
        x += area_print(area, x, 0, theme_style(THEME_GOOD), "nothing leaked");
    else
        x += area_print(
            area, x, 0, theme_style(THEME_STRONG), "%s %s%s in %s%s block%s of %s group%s",
            stopped     ? "live when the recording stopped"
            : recording ? "live so far"
                        : "leaked",
            exploration->about, format_size(bytes, all->leaked.bytes), exploration->about,
            format_count(blocks, all->leaked.blocks), format_plural(all->leaked.blocks),
            format_count(groups, all->leaked.groups), format_plural(all->leaked.groups));
    if (recording && !stopped)
        x += area_text(area, x, 0, theme_style(THEME_FAINT),
                       "; the program still runs: nothing is known of leaks");
    for (int kind = SESSION_LEAK_START_UP; kind < SESSION_LEAK_KINDS; kind++) {
        static const char *const names[] = {"", "early", "suppressed here", "runtime",
                                            "suppressed"};
        if (all->of_kind[kind].groups == 0)
            continue;
        if (kind <= SESSION_LEAKS_LAST && all->of_kind[kind].groups == all->leaked.groups) {
            x += area_whole_text(area, x, 0, theme_style(THEME_FAINT), " · all %s", names[kind]);
            continue;
        }
        x += area_whole_text(area, x, 0, theme_style(THEME_FAINT), " · %s %s%s", names[kind],
                             exploration->about, format_size(bytes, all->of_kind[kind].bytes));
    }
}

/* Draws the blocks by the tenth of the run that allocated them. */
static void render_tenths(const struct area *area, int x, int y, const struct session_leak *leak)
{
    uint64_t most = 1;
    for (int i = 0; i < SESSION_LEAK_TENTHS; i++)
        most = leak->born[i] > most ? leak->born[i] : most;
    for (int i = 0; i < SESSION_LEAK_TENTHS; i++) {
        const uint64_t eighths = leak->born[i] == 0 ? 0 : 1 + leak->born[i] * 7 / most;
        const uint32_t ascii[] = {'_', '.', '.', ':', ':', '|', '|', '#', '#'};
        area_put(area, x + i, y,
                 eighths == 0             ? 0xb7
                 : grid_ascii(area->grid) ? ascii[eighths]
                                          : 0x2580 + (uint32_t)eighths,
                 theme_style(THEME_PLAIN));
    }
}

/* Writes two lines about the selected group. */
static void render_about(const struct leaks *leaks, const struct session_leak *leak,
                         const struct area *area)
{
    char type[512], size[LEAK_SIZE_TEXT], count[FORMAT_SIZE], first[FORMAT_SIZE], last[FORMAT_SIZE];
    leaks_type_text(type, sizeof(type), leaks, leak);
    leaks_size_text(size, leak);
    const char last_letter = size[strlen(size) - 1];
    const char *unit = last_letter >= '0' && last_letter <= '9' ? " B" : "";
    int x = area_print(area, 1, 0, theme_style(THEME_PLAIN), "%s%s × %s%s  ", about_of(leaks),
                       format_count(count, leak->blocks), size, unit);
    area_category(area, 1 + x, 0, area->width - x - 2, theme_style(THEME_PLAIN), type);
    render_tenths(area, 1, 1, leak);
    x = 3 + SESSION_LEAK_TENTHS;
    if (*leak->why)
        x += area_print(area, x, 1, theme_style(THEME_PLAIN), "%s: %s  ",
                        leak->kind == SESSION_LEAK_RUNTIME ? "kept by" : "by", leak->why);
    area_print(area, x, 1, theme_style(THEME_FAINT), "in %u of 10 tenths  first %s, last %s",
               leak->tenths, format_instant(first, leak->first_ns),
               format_instant(last, leak->last_ns));
}

static void title_of(const struct leaks *leaks, const struct session_leak *leak, char *title,
                     size_t size)
{
    char nth[FORMAT_SIZE], count[FORMAT_SIZE], bytes[FORMAT_SIZE], blocks[FORMAT_SIZE];
    const struct session_leak_stack *shown =
        &leaks->data->leaks.stacks[leak->first_stack + leaks->nth];
    if (leak->kind <= SESSION_LEAK_START_UP && leaks->pattern && leaks->pattern->groups > 0 &&
        !session_recording(leaks->session))
        snprintf(title, size, " stack (X suppresses %s more group%s, %s) ",
                 format_count(count, leaks->pattern->groups), format_plural(leaks->pattern->groups),
                 format_size(bytes, leaks->pattern->bytes));
    else if (leak->stack_count == 1)
        snprintf(title, size, " stack ");
    else
        snprintf(title, size, " stack %s of %s: %s%s in %s%s block%s (← → others) ",
                 format_count(nth, leaks->nth + 1), format_count(count, leak->stack_count),
                 about_of(leaks), format_size(bytes, shown->bytes), about_of(leaks),
                 format_count(blocks, shown->blocks), format_plural(shown->blocks));
}

static void render_side(const struct leaks *leaks, const struct exploration *exploration,
                        const struct panes *panes, const struct area *area)
{
    const struct session_leak *leak = leaks_selected(leaks);
    char title[200];
    if (!leak || panes->side.height < 5)
        return;
    title_of(leaks, leak, title, sizeof(title));
    panes_render_title(panes, area, title, leaks->in_stack);
    struct table_place place = panes_side_table(panes);
    const struct area about = panes_area(area, &place);
    render_about(leaks, leak, &about);
    place.y += 2;
    place.height -= 2;
    const struct area rest = panes_area(area, &place);
    if (!leaks->stack) {
        list_render_empty(exploration, &rest, 0, false);
        return;
    }
    const struct table_source source = leaks_frames_source(leaks);
    if (source.rows == 0)
        area_text(&rest, 2, 0, theme_style(THEME_FAINT), "no stack was taken");
    else
        table_render(&leaks->frames, &source, &rest);
}

void leaks_render(const void *view, const struct exploration *exploration, const struct area *area)
{
    const struct leaks *leaks = view;
    const struct panes panes = panes_lay_out(area->width, area->height, 1, leaks_rows(leaks));
    const struct table_source source = leaks_groups_source(leaks);
    if (leaks->data)
        render_totals(leaks, exploration, area);
    if (source.rows == 0) {
        list_render_empty(exploration, area, 2, leaks->data != NULL);
        return;
    }
    const struct area main = panes_area(area, &panes.main);
    table_render(&leaks->groups, &source, &main);
    render_side(leaks, exploration, &panes, area);
}
