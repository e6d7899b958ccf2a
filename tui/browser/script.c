/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/script.h"

#include <stdlib.h>
#include <string.h>

#include "tui/screen/keys.h"
#include "tui/screen/theme.h"

struct player {
    struct browser *browser;
    struct grid *grid;
    FILE *out;
    bool dumped;
    char problem[200];
};

bool script_size(const char *text, int *width, int *height)
{
    char *end;
    long w = strtol(text, &end, 10);
    if (end == text || *end != 'x')
        return false;
    const char *second = end + 1;
    long h = strtol(second, &end, 10);
    if (end == second || *end || w < 1 || h < 1 || w > 1000 || h > 1000)
        return false;
    *width = (int)w;
    *height = (int)h;
    return true;
}

static void dump(struct player *player, const char *name, bool styles)
{
    browser_render(player->browser, player->grid);
    fprintf(player->out, "== %s%s%dx%d ==\n", name, *name ? " " : "", grid_width(player->grid),
            grid_height(player->grid));
    if (styles)
        theme_dump(player->grid, player->out);
    else
        grid_dump_text(player->grid, player->out);
    player->dumped = true;
}

static bool send_keys(struct player *player, char *names, bool together)
{
    char *rest = NULL;
    for (char *name = strtok_r(names, " ", &rest); name;) {
        uint32_t key = key_from_name(name);
        if (!key) {
            snprintf(player->problem, sizeof(player->problem), "no key is called \"%.40s\"", name);
            return false;
        }
        name = strtok_r(NULL, " ", &rest);
        browser_event(player->browser,
                      &(struct event){.kind = EVENT_KEY, .key = key, .more = together && name});
    }
    return true;
}

static bool play_keys(struct player *player, char *names)
{
    return send_keys(player, names, false);
}

static bool play_burst(struct player *player, char *names)
{
    return send_keys(player, names, true);
}

static bool play_text(struct player *player, char *text)
{
    const char *rest = text;
    for (uint32_t key; (key = text_next(&rest)) != 0;)
        browser_event(player->browser, &(struct event){.kind = EVENT_KEY, .key = key});
    return true;
}

static bool read_place(struct player *player, const char *text, struct event *event)
{
    char *end;
    event->x = (int)strtol(text, &end, 10);
    const char *second = end;
    event->y = (int)strtol(second, &end, 10);
    if (end != second && *end == 0 && event->x >= 0 && event->y >= 0)
        return true;
    snprintf(player->problem, sizeof(player->problem), "expected a place X Y, found \"%.40s\"",
             text);
    return false;
}

static bool play_mouse(struct player *player, const char *text, enum event_kind kind)
{
    struct event event = {.kind = kind};
    if (!read_place(player, text, &event))
        return false;
    browser_event(player->browser, &event);
    return true;
}

static bool play_click(struct player *player, char *text)
{
    return play_mouse(player, text, EVENT_CLICK);
}

static bool play_double_click(struct player *player, char *text)
{
    return play_click(player, text) && play_mouse(player, text, EVENT_DOUBLE_CLICK);
}

static bool play_drag(struct player *player, char *text)
{
    return play_mouse(player, text, EVENT_DRAG);
}

static bool play_release(struct player *player, char *text)
{
    return play_mouse(player, text, EVENT_RELEASE);
}

static bool play_wheel(struct player *player, char *text)
{
    struct event event = {.kind = EVENT_NONE};
    if (strncmp(text, "up ", 3) == 0)
        event.kind = EVENT_WHEEL_UP;
    else if (strncmp(text, "down ", 5) == 0)
        event.kind = EVENT_WHEEL_DOWN;
    else
        snprintf(player->problem, sizeof(player->problem), "expected up or down");
    if (event.kind == EVENT_NONE || !read_place(player, strchr(text, ' '), &event))
        return false;
    browser_event(player->browser, &event);
    return true;
}

static bool play_resize(struct player *player, char *text)
{
    struct event event = {.kind = EVENT_RESIZE};
    if (!script_size(text, &event.width, &event.height) ||
        !grid_resize(player->grid, event.width, event.height)) {
        snprintf(player->problem, sizeof(player->problem), "expected a size such as 80x24");
        return false;
    }
    browser_event(player->browser, &event);
    return true;
}

static bool play_tick(struct player *player, char *nothing)
{
    browser_event(player->browser, &(struct event){.kind = EVENT_TICK});
    return true;
}

static bool play_dump(struct player *player, char *name)
{
    dump(player, name, false);
    return true;
}

static bool play_styles(struct player *player, char *name)
{
    dump(player, name, true);
    return true;
}

static bool play_line(struct player *player, char *line)
{
    static const struct {
        const char *name;
        bool (*play)(struct player *player, char *argument);
    } commands[] = {
        {"key", play_keys},    {"burst", play_burst},
        {"type", play_text},   {"click", play_click},
        {"wheel", play_wheel}, {"resize", play_resize},
        {"dump", play_dump},   {"styles", play_styles},
        {"tick", play_tick},   {"doubleclick", play_double_click},
        {"drag", play_drag},   {"release", play_release},
    };
    size_t length = strcspn(line, " ");
    char *argument = line[length] ? line + length + 1 : line + length;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strlen(commands[i].name) == length && strncmp(commands[i].name, line, length) == 0)
            return commands[i].play(player, argument);
    snprintf(
        player->problem, sizeof(player->problem),
        "unknown command \"%.*s\"; there are key, burst, type, click, doubleclick, drag, release, "
        "wheel, resize, dump, styles, tick",
        (int)(length < 40 ? length : 40), line);
    return false;
}

bool script_run(FILE *script, const char *name, struct browser *browser, struct grid *grid,
                FILE *out, char *error, size_t error_size)
{
    struct player player = {.browser = browser, .grid = grid, .out = out};
    char *line = NULL;
    size_t size = 0;
    int number = 0;
    bool good = true;
    while (good && !browser_finished(browser) && getline(&line, &size, script) >= 0) {
        number++;
        line[strcspn(line, "\n")] = 0;
        if (line[0] == 0 || line[0] == '#')
            continue;
        good = play_line(&player, line);
    }
    free(line);
    if (!good)
        snprintf(error, error_size, "%s:%d: %s", name, number, player.problem);
    else if (!player.dumped)
        dump(&player, "", false);
    return good;
}
