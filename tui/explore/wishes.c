/* SPDX-License-Identifier: BSD-2-Clause */
/* The wishes of a view, which the browser fulfils after update(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/stacking.h"
#include "tui/explore/explore.h"

void exploration_replace(struct exploration *exploration, const char *filter)
{
    free(exploration->wish_filter);
    exploration->wish_filter = strdup(filter);
}

char *exploration_allocations(const struct exploration *exploration)
{
    struct session_error error;
    const char *filter = exploration->filter[0] ? exploration->filter : "all";
    const bool groups =
        session_stacking_check(exploration->session, filter, SESSION_STACKING_GROUPS, &error);
    char *text = NULL;
    return asprintf(&text, "%s%s", filter, groups ? " | ungroup" : "") < 0 ? NULL : text;
}

bool exploration_put_allocations(const struct exploration *exploration, char *out, size_t size)
{
    char *text = exploration->filter[0] ? exploration_allocations(exploration) : strdup("");
    const bool fits = text && strlen(text) < size;
    if (fits)
        memcpy(out, text, strlen(text) + 1);
    free(text);
    return fits;
}

char *exploration_narrowed(const struct exploration *exploration, const char *step)
{
    char *text = NULL, *base = exploration_allocations(exploration);
    if (base && asprintf(&text, "%s | %s", base, step) < 0)
        text = NULL;
    free(base);
    return text;
}

void exploration_narrow(struct exploration *exploration, const char *step)
{
    char *text = exploration_narrowed(exploration, step);
    if (!text)
        return;
    free(exploration->wish_filter);
    exploration->wish_filter = text;
}

void exploration_show(struct exploration *exploration, enum view_number view)
{
    exploration->wish_view = view;
}

void exploration_query(struct exploration *exploration, const char *statement)
{
    exploration->wish_sql = statement;
    exploration_show(exploration, VIEW_SQL);
}

void exploration_open_function(struct exploration *exploration, uint32_t function)
{
    uint32_t line;
    const char *file = session_function_file(exploration->session, function, &line);
    if (*file)
        exploration_open_source(exploration, file, line);
    else
        exploration_complain(exploration, "the source of %.200s is not known",
                             session_function_name(exploration->session, function));
}

void exploration_open_source(struct exploration *exploration, const char *path, uint32_t line)
{
    char *copy = strdup(path);
    if (!copy)
        return;
    free(exploration->source_path);
    exploration->source_path = copy;
    exploration->source_line = line;
    exploration_show(exploration, VIEW_SOURCE);
}

void exploration_edit(struct exploration *exploration, const char *path, uint32_t line)
{
    free(exploration->edit_path);
    exploration->edit_path = strdup(path);
    exploration->edit_line = line;
}

void exploration_ask(struct exploration *exploration, const char *prompt, const char *before,
                     const char *text)
{
    free(exploration->wish_answer);
    exploration->wish_answer = strdup(text);
    exploration->wish_ask = prompt;
    exploration->wish_before = before;
}

void exploration_list(struct exploration *exploration, const char *step)
{
    exploration_narrow(exploration, step);
    exploration_show(exploration, VIEW_ALLOCATIONS);
}
