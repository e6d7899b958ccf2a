/* SPDX-License-Identifier: BSD-2-Clause */
/* The stacks that the selected row counts, and the filters that they make. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "session/stacks.h"
#include "tui/view/source/source.h"

struct stacks_data {
    struct {
        uint64_t renewals, line;
        char path[SOURCE_PATH_MOST];
    } request;
    char *test;
};

static bool run(struct session *session, struct selection *selection, void *argument,
                struct session_error *error)
{
    struct stacks_data *data = argument;
    (void)selection;
    return session_source_stacks(session, data->request.path, (uint32_t)data->request.line,
                                 &data->test, error);
}

static void clear(void *argument)
{
    free(((struct stacks_data *)argument)->test);
}

bool source_stacks(struct exploration *exploration, struct load *load, const char *path,
                   uint32_t line, const char **test)
{
    static const struct load_kind kind = {sizeof(((struct stacks_data *)0)->request),
                                          sizeof(struct stacks_data), run, clear};
    static struct stacks_data wanted; /* too large for the stack; only one thread uses views */
    memset(&wanted, 0, sizeof(wanted));
    wanted.request.renewals = exploration->renewals;
    wanted.request.line = line;
    snprintf(wanted.request.path, sizeof(wanted.request.path), "%s", path);
    const struct stacks_data *data = exploration_get(exploration, load, &kind, &wanted.request);
    *test = data ? data->test : NULL;
    return data != NULL;
}

size_t source_offers(const char *path, uint32_t line, const char *test, struct view_offer *out,
                     size_t capacity)
{
    char quoted[1100], place[40] = "this file";
    size_t count = 0;
    if (capacity < 2)
        return 0;
    if (line != 0)
        snprintf(place, sizeof(place), "line %" PRIu32, line);
    if (test && asprintf(&out[0].long_step, "where %s", test) < 0)
        return 0;
    if (test)
        snprintf(out[count++].label, sizeof(out->label), "%s, anywhere on the stack", place);
    if (!*filter_quote(quoted, sizeof(quoted), path))
        return count;
    snprintf(out[count].label, sizeof(out->label), "call sites of %s", place);
    if (line != 0)
        snprintf(out[count].step, sizeof(out->step), "where file == %s and line == %" PRIu32,
                 quoted, line);
    else
        snprintf(out[count].step, sizeof(out->step), "where file == %s", quoted);
    return count + 1;
}
