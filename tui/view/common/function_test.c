/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/common/function_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/short_name.h"

struct function_tests_data {
    struct {
        uint64_t selections, functions[FUNCTION_PARTS];
    } request;
    char *test[FUNCTION_PARTS]; /* NULL: the name tells the function */
};

static bool run_tests(struct session *session, struct selection *selection, void *context,
                      struct session_error *error)
{
    struct function_tests_data *data = context;
    (void)selection;
    for (int part = 0; part < FUNCTION_PARTS; part++) {
        const uint32_t function = (uint32_t)data->request.functions[part];
        if (function == 0 || session_function_is_alone(session, function))
            continue;
        if (!session_function_stacks(session, function, (enum session_function_part)part,
                                     &data->test[part], error))
            return false;
    }
    return true;
}

static void clear_tests(void *context)
{
    struct function_tests_data *data = context;
    for (int part = 0; part < FUNCTION_PARTS; part++)
        free(data->test[part]);
}

void function_tests_load(struct function_tests *tests, struct exploration *exploration,
                         const uint32_t functions[FUNCTION_PARTS])
{
    static const struct load_kind kind = {sizeof(((struct function_tests_data *)0)->request),
                                          sizeof(struct function_tests_data), run_tests,
                                          clear_tests};
    struct function_tests_data wanted = {.request = {.selections = exploration->selections}};
    for (int part = 0; part < FUNCTION_PARTS; part++)
        wanted.request.functions[part] = functions[part];
    tests->data = exploration_get(exploration, &tests->load, &kind, &wanted.request);
}

void function_tests_clear(struct function_tests *tests, struct exploration *exploration)
{
    load_clear(&exploration->loader, &tests->load);
    tests->data = NULL;
}

/* ---- offers ----------------------------------------------------------------------------- */

/* Offers the stacks that have the function, which its place or its module names. */
static size_t offer_stacks(const struct session *session, uint32_t function, const char *test,
                           const struct function_words *words, struct view_offer *out)
{
    char name[80];
    const char *place = session_function_place(session, function);
    if (asprintf(&out->long_step, "where %s%s", words->freed ? "free_" : "", test) < 0) {
        out->long_step = NULL;
        return 0;
    }
    snprintf(out->label, sizeof(out->label), "%.40s: %.50s (%.30s)", words->one,
             short_name_cut(name, sizeof(name), session_function_name(session, function)),
             *place ? place : session_function_module(session, function));
    return 1;
}

size_t function_tests_offer(const struct function_tests *tests, const struct session *session,
                            enum session_function_part part, uint32_t function,
                            const struct function_words *words, struct view_offer *out,
                            size_t capacity)
{
    static const char *const by_name[] = {"stack has", "function ==", "user =="};
    const struct function_tests_data *data = tests->data;
    const char *name = session_function_name(session, function);
    const bool known = data && data->request.functions[part] == function;
    size_t count = 0;
    if (function == 0 || capacity < 2)
        return 0;
    /* Its name alone would take more than it. */
    if (!known && !session_function_is_alone(session, function))
        return 0;
    if (known && data->test[part])
        count += offer_stacks(session, function, data->test[part], words, out);
    struct view_offer *offer = &out[count];
    char *quoted = filter_quoted(name);
    if (!quoted || asprintf(&offer->long_step, "where %s%s %s", words->freed ? "free_" : "",
                            by_name[part], quoted) < 0)
        offer->long_step = NULL;
    free(quoted);
    if (!offer->long_step)
        return count;
    snprintf(offer->label, sizeof(offer->label), "%.44s: %.80s",
             session_function_is_alone(session, function) ? words->one : words->each, name);
    return count + 1;
}
