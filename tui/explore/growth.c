/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/explore/growth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/format.h"

static bool run(struct session *session, struct selection *selection, void *data,
                struct session_error *error)
{
    struct growth_data *growth = data;
    (void)session;
    return selection_growth(selection, growth->request.from, growth->request.to,
                            (enum session_growth_by)growth->request.by, &growth->rows,
                            &growth->count, &growth->total, error);
}

static void clear(void *data)
{
    free(((struct growth_data *)data)->rows);
}

const struct growth_data *growth_get(struct exploration *exploration, struct load *load,
                                     uint64_t from_ns, uint64_t to_ns, enum session_growth_by by)
{
    static const struct load_kind kind = {sizeof(((struct growth_data *)0)->request),
                                          sizeof(struct growth_data), run, clear};
    const struct growth_data wanted = {
        .request = {exploration->selections, from_ns, to_ns, (uint64_t)by}};
    return exploration_get(exploration, load, &kind, &wanted.request);
}

const char *growth_name(const struct session *session, enum session_growth_by by, uint32_t id)
{
    if (by == SESSION_GROWTH_TYPE)
        return session_type_name(session, id);
    if (id == 0)
        return by == SESSION_GROWTH_USER ? "no function of yours" : "unknown function";
    return session_function_name(session, id);
}

char *growth_text(char *out, int64_t net)
{
    char size[FORMAT_SIZE];
    const uint64_t bytes = net < 0 ? 0 - (uint64_t)net : (uint64_t)net;
    snprintf(out, FORMAT_SIZE, "%s%s", net < 0 ? "−" : "+", format_size_short(size, bytes));
    return out;
}

bool split_times(const char *text, char *from, char *to, size_t size)
{
    const char *middle = strstr(text, "..");
    size_t skip = 2;
    if (!middle) {
        middle = strchr(text, ',');
        skip = 1;
    }
    if (!middle)
        middle = strchr(text + strspn(text, " "), ' ');
    if (!middle || (size_t)(middle - text) >= size || strlen(middle + skip) >= size)
        return false;
    snprintf(from, size, "%.*s", (int)(middle - text), text);
    snprintf(to, size, "%s", middle + skip);
    return to[strspn(to, " ")] != 0;
}
