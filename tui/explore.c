/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/explore.h"

#include <stdlib.h>
#include <string.h>

#include "tui/theme.h"

/* The position of "rest" in a legend. */
#define REST (SESSION_COLORS - 1)

void exploration_init(struct exploration *exploration, struct session *session)
{
    *exploration = (struct exploration){
        .session = session,
        .color_by = SESSION_COLOR_FUNCTION,
        .moment_ns = session_peak_ns(session),
        .wish_view = VIEW_SAME,
        .about = session_sampled(session) ? "~" : "",
    };
}

void exploration_close(struct exploration *exploration)
{
    selection_free(exploration->selection);
    free(exploration->filter);
    free(exploration->wish_filter);
}

static void load_legend(struct exploration *exploration)
{
    exploration->legend = (struct session_legend){0};
    selection_legend(exploration->selection, exploration->color_by, &exploration->legend);
    exploration->generation++;
    const char *labels[REST];
    size_t count = exploration->legend.count < REST ? exploration->legend.count : REST;
    for (size_t i = 0; i < SESSION_COLORS; i++)
        exploration->slots[i] = (uint8_t)i;
    for (size_t i = 0; i < count; i++)
        labels[i] = exploration->legend.entry[i].label;
    category_colors_assign(&exploration->colors, (unsigned)exploration->color_by, labels, count,
                           REST, exploration->slots);
}

bool exploration_filter(struct exploration *exploration, const char *text,
                        struct session_error *error)
{
    char *copy = strdup(text);
    struct selection *selection = selection_new(exploration->session, text, error);
    if (!copy || !selection) {
        if (selection)
            *error = (struct session_error){.message = "out of memory"};
        selection_free(selection);
        free(copy);
        return false;
    }
    selection_free(exploration->selection);
    free(exploration->filter);
    exploration->selection = selection;
    exploration->filter = copy;
    enum session_color_by asked = selection_color_by(selection);
    if (asked != SESSION_COLOR_NONE)
        exploration->color_by = asked;
    else if (strstr(text, "color "))
        exploration->color_by = SESSION_COLOR_NONE;
    else if (exploration->color_by == SESSION_COLOR_NONE)
        exploration->color_by = SESSION_COLOR_FUNCTION;
    load_legend(exploration);
    return true;
}

struct session *exploration_renew(struct exploration *exploration, struct session *newer,
                                  struct session_error *error)
{
    struct session *before = exploration->session;
    struct selection *selection = selection_new(newer, exploration->filter, error);
    if (!selection)
        return NULL;
    /* Functions keep their ids, except when ingest makes the session again after the program's
     * end. */
    if (exploration->has_function &&
        strcmp(session_function_name(before, exploration->function),
               session_function_name(newer, exploration->function)) != 0)
        exploration->has_function = false;
    /* A moment at the end stays at the end. */
    if (exploration->moment_ns + 1 >= session_duration_ns(before))
        exploration->moment_ns = session_duration_ns(newer) ? session_duration_ns(newer) - 1 : 0;
    selection_free(exploration->selection);
    exploration->selection = selection;
    exploration->session = newer;
    exploration->renewals++;
    load_legend(exploration);
    return before;
}

void exploration_color_by(struct exploration *exploration, enum session_color_by color_by)
{
    exploration->color_by = color_by;
    load_legend(exploration);
}

static const char *const color_names[] = {
    [SESSION_COLOR_NONE] = "filter's own", [SESSION_COLOR_FUNCTION] = "function",
    [SESSION_COLOR_THREAD] = "thread",     [SESSION_COLOR_SIZE] = "size",
    [SESSION_COLOR_AGE] = "age",           [SESSION_COLOR_TYPE] = "type",
    [SESSION_COLOR_MODULE] = "module",     [SESSION_COLOR_LIFETIME] = "lifetime",
    [SESSION_COLOR_KIND] = "kind",
};

const char *color_by_name(enum session_color_by color_by)
{
    return color_names[color_by];
}

bool color_by_from_name(const char *name, enum session_color_by *color_by)
{
    for (size_t i = 1; i < sizeof(color_names) / sizeof(color_names[0]); i++) {
        if (strcmp(color_names[i], name) == 0) {
            *color_by = (enum session_color_by)i;
            return true;
        }
    }
    return false;
}

struct cell_style exploration_category(const struct exploration *exploration,
                                       const struct grid *grid, size_t position)
{
    int fixed =
        position < exploration->legend.count ? exploration->legend.entry[position].color : -1;
    return theme_category(grid, position < REST ? exploration->slots[position] : REST, REST, fixed);
}

uint32_t exploration_pattern(const struct exploration *exploration, size_t position)
{
    return theme_pattern(position < REST ? exploration->slots[position] : REST);
}

void exploration_replace(struct exploration *exploration, const char *filter)
{
    free(exploration->wish_filter);
    exploration->wish_filter = strdup(filter);
}

void exploration_narrow(struct exploration *exploration, const char *step)
{
    const char *base = exploration->filter[0] ? exploration->filter : "all";
    char *text = NULL;
    if (asprintf(&text, "%s | %s", base, step) < 0)
        return;
    free(exploration->wish_filter);
    exploration->wish_filter = text;
}

static void say(struct exploration *exploration, bool error, const char *format, va_list arguments)
{
    /* clang-tidy 14 misses va_start() in every file of a run except the first. */
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    vsnprintf(exploration->message, sizeof(exploration->message), format, arguments);
    exploration->message_is_error = error;
}

void exploration_say(struct exploration *exploration, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(exploration, false, format, arguments);
    va_end(arguments);
}

void exploration_complain(struct exploration *exploration, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(exploration, true, format, arguments);
    va_end(arguments);
}

char *filter_quote(char *out, size_t size, const char *name)
{
    size_t length = 0;
    out[0] = 0;
    if (size < strlen(name) * 2 + 3)
        return out;
    out[length++] = '"';
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            out[length++] = '\\';
        out[length++] = *name;
    }
    out[length++] = '"';
    out[length] = 0;
    return out;
}
