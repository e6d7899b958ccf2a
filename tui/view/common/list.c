/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/common/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "session/stacks.h"
#include "tui/screen/theme.h"

enum table_answer list_update(struct exploration *exploration, struct table *table,
                              const struct table_source *source, const struct view_input *input,
                              const struct table_place *place)
{
    char message[TABLE_MESSAGE_SIZE];
    const enum table_answer answer = table_update(table, source, input, place);
    if (source->rows == 0 && answer == TABLE_USED && input->action != ACTION_REFRESH &&
        exploration->loader.waiting)
        exploration_say(exploration, "no rows yet: they are still being counted");
    if (!*table_message(table, source, answer, message))
        return answer;
    if (answer == TABLE_NOT_FOUND)
        exploration_complain(exploration, "%s", message);
    else
        exploration_say(exploration, "%s", message);
    return answer;
}

void list_render_empty(const struct exploration *exploration, const struct area *area, int y,
                       bool known)
{
    char text[PENDING_SIZE];
    const char *words =
        !known ? exploration_pending(text, exploration)
        : session_allocation_count(exploration->session) == 0 ? "no allocation was recorded"
        : exploration->filter[0] ? "nothing here with this filter; Esc goes back, f edits it"
                                 : "nothing here";
    area_text(area, 2, y, theme_style(THEME_FAINT), words);
}

struct alike_name list_function_name(const struct session *session, uint32_t function)
{
    struct alike_name name = {session_function_name(session, function),
                              session_function_place(session, function),
                              session_function_module(session, function), ""};
    snprintf(name.id, sizeof(name.id), "function %" PRIu32, function);
    return name;
}

void list_function_cell(const struct session *session, uint32_t function, struct table_cell *cell)
{
    cell->apart = list_function_name(session, function);
    cell->name = cell->apart.name;
}

const char *list_named(const struct session *session, uint32_t function)
{
    return session_function_is_alone(session, function) ? "this function"
                                                        : "each function of this name";
}

struct alike_name list_legend_name(void *context, size_t entry)
{
    const struct legend_names *names = context;
    const uint32_t function = names->legend->entry[entry].function;
    const char *label = names->legend->entry[entry].label;
    struct alike_name name = {.name = label};
    if (function != 0)
        name = list_function_name(names->session, function);
    name.name = label;
    return name;
}
