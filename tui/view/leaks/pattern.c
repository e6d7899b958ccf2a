/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the pattern that suppresses a group of leaks, and finds what else it takes. */
#include <stdlib.h>
#include <string.h>

#include "schemas/code/suppressions.h"
#include "session/code_facts.h"
#include "session/jobs.h"
#include "tui/view/leaks/leaks.h"

/* Runs a request in the engine. */
struct pattern_data {
    struct {
        struct leaks_data *of; /* held */
        uint64_t group;
    } request;
    struct leak_pattern best;
};

/* A search on the engine's thread. */
struct search {
    struct session *session;
    const struct leaks_data *data;
    size_t group;
    char *takes;  /* by function: what the pattern does with it, 0 while nobody has asked */
    size_t count; /* of functions */
};

enum { TAKES = 1, LEAVES = 2, BETWEEN_LOOKS = 1000 };

/* Frames that are looked at for one pattern: a group of many frames beside many others tries fewer
 * of its functions, but some. */
enum { LOOKS_MAX = 1 << 28, TRIES_MIN = 4 };

/* Returns true if a pattern names a function or its module. The patterns that this view writes name
 * no source files. */
static bool takes_function(const struct search *search, const char *pattern, uint32_t function)
{
    char *known = &search->takes[function];
    if (*known == 0)
        *known =
            suppression_matches(pattern, session_function_name(search->session, function)) ||
                    suppression_matches(pattern, session_function_module(search->session, function))
                ? TAKES
                : LEAVES;
    return *known == TAKES;
}

static bool takes_group(const struct search *search, const char *pattern, size_t group)
{
    const struct leak_names *names = &search->data->names[group];
    for (size_t i = 0; i < names->frame_count; i++)
        if (takes_function(search, pattern, search->data->frames[names->first_frame + i]))
            return true;
    return false;
}

/* Sums up the other groups that a pattern would take from the leaks. */
static bool add_others(const struct search *search, struct leak_pattern *pattern,
                       struct session_error *error)
{
    const struct session_leaks *all = &search->data->leaks;
    memset(search->takes, 0, search->count);
    pattern->groups = pattern->bytes = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (i % BETWEEN_LOOKS == 0 && !session_job_goes_on(search->session, error))
            return false;
        if (i != search->group && all->leaks[i].kind <= SESSION_LEAK_START_UP &&
            takes_group(search, pattern->text, i)) {
            pattern->groups++;
            pattern->bytes += all->leaks[i].bytes;
        }
    }
    return true;
}

/* Chooses among the frames of the group, from the user's own outwards, the function that names the
 * group and the fewest bytes of others. */
static bool choose(const struct search *search, struct leak_pattern *best,
                   struct session_error *error)
{
    const struct leak_names *names = &search->data->names[search->group];
    const size_t tries = TRIES_MIN + LOOKS_MAX / (search->data->frame_count + 1);
    struct leak_pattern tried;
    for (size_t i = names->user_frame; i < names->frame_count && i - names->user_frame < tries;
         i++) {
        if (!session_leak_frame_pattern(search->session,
                                        search->data->frames[names->first_frame + i], tried.text,
                                        sizeof(tried.text)) ||
            (best->text[0] && tried.text[0] != '^'))
            continue;
        if (!add_others(search, &tried, error))
            return false;
        if (!best->text[0] || tried.bytes < best->bytes)
            *best = tried;
        if (best->groups == 0)
            break;
    }
    return true;
}

static bool run_pattern(struct session *session, struct selection *selection, void *context,
                        struct session_error *error)
{
    struct pattern_data *data = context;
    struct search search = {.session = session,
                            .data = data->request.of,
                            .group = (size_t)data->request.group,
                            .count = (size_t)session_function_count(session) + 1};
    (void)selection;
    search.takes = calloc(search.count, 1);
    if (!search.takes) {
        snprintf(error->message, sizeof(error->message), SESSION_OUT_OF_MEMORY);
        return false;
    }
    const bool good = choose(&search, &data->best, error);
    free(search.takes);
    return good;
}

static void clear_pattern(void *context)
{
    load_let_go(((struct pattern_data *)context)->request.of);
}

void leaks_forget_pattern(struct leak_question *question, struct exploration *exploration)
{
    load_clear(&exploration->loader, &question->load);
    load_let_go(question->of);
    question->of = NULL;
}

void leaks_ask_pattern(struct leak_question *question, struct exploration *exploration,
                       struct leaks_data *data, size_t group)
{
    if (question->of == data && question->group == group)
        return;
    leaks_forget_pattern(question, exploration);
    question->of = load_hold(data);
    question->group = group;
}

const struct leak_pattern *leaks_pattern(struct leak_question *question,
                                         struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct pattern_data *)0)->request),
                                          sizeof(struct pattern_data), run_pattern, clear_pattern};
    if (!question->of)
        return NULL;
    /* A request that is about to be made holds the data, too. */
    const struct pattern_data wanted = {.request = {question->of, question->group}};
    if (!question->load.job && !question->load.shown)
        load_hold(question->of);
    const struct pattern_data *data =
        exploration_get(exploration, &question->load, &kind, &wanted.request);
    if (!data && !question->load.job)
        leaks_forget_pattern(question, exploration); /* it cannot be asked */
    return data ? &data->best : NULL;
}
