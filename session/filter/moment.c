/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes the times of a filter for one session. */
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/filter/program.h"
#include "session/filter/suggest.h"
#include "session/moment.h"

static bool mark_ns(const struct session *session, const struct filter_value *value, uint64_t *ns,
                    struct session_error *error)
{
    const struct names *names = &session->names;
    struct suggestion like;
    char text[SUGGEST_TEXT];
    suggest_words(&like, value->text, strlen(value->text));
    suggest_offer(&like, "start");
    suggest_offer(&like, "peak");
    suggest_offer(&like, "end");
    for (size_t i = 0; i < names->mark_count; i++) {
        if (strcmp(names->marks[i].name, value->text) == 0) {
            *ns = names->marks[i].ns;
            return true;
        }
        suggest_offer(&like, names->marks[i].name);
    }
    return session_fail(error, value->column, "this session has no mark named \"%.60s\"%s",
                        value->text, suggest_text(&like, text));
}

/* Returns how long the selected process ran, or all of them. */
static uint64_t run_ns(const struct session *session)
{
    const uint64_t start = session_start_ns(session);
    return session->duration_ns > start ? session->duration_ns - start : 0;
}

/* Stores the nanoseconds of one term. */
static bool term_ns(const struct session *session, const struct filter_value *value, uint64_t *ns,
                    struct session_error *error)
{
    switch (value->moment) {
    case MOMENT_START:
        *ns = session_start_ns(session);
        return true;
    case MOMENT_PEAK:
        *ns = session->peak_ns;
        return true;
    case MOMENT_END:
        *ns = session->duration_ns;
        return true;
    case MOMENT_PERCENT: {
        const unsigned __int128 part =
            (unsigned __int128)run_ns(session) * value->number / 1000000000;
        *ns = part > UINT64_MAX ? UINT64_MAX : (uint64_t)part;
        return true;
    }
    case MOMENT_MARK:
        return mark_ns(session, value, ns, error);
    default:
        *ns = value->number;
        return true;
    }
}

bool filter_moment_ns(const struct session *session, const struct filter_value *value,
                      struct filter_ns *time, struct session_error *error)
{
    *time = (struct filter_ns){.ns = 0};
    if (value->moment != MOMENT_SUM)
        return term_ns(session, value, &time->ns, error);
    __int128 sum = 0;
    for (const struct filter_time_term *term = value->terms; term; term = term->next) {
        uint64_t ns = 0;
        if (!term_ns(session, &term->value, &ns, error))
            return false;
        sum += term->negative ? -(__int128)ns : (__int128)ns;
    }
    time->before = sum < 0;
    if (sum > 0)
        time->ns = sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
    return true;
}

bool filter_live_time(const struct session *session, const struct filter_value *value,
                      struct filter_live *live, struct session_error *error)
{
    live->end = value->moment == MOMENT_END;
    return filter_moment_ns(session, value, &live->time, error);
}

struct filter_program filter_live_program(const struct filter_live *live)
{
    if (live->end)
        return (struct filter_program){
            .kind = PREDICATE_TEST, .leaf = LEAF_RANGE, .column = COLUMN_LIFE_NS};
    if (live->time.before) /* a constant 0 */
        return (struct filter_program){.kind = PREDICATE_TEST, .leaf = LEAF_CONSTANT};
    return (struct filter_program){
        .kind = PREDICATE_TEST, .leaf = LEAF_LIVE_AT, .low = live->time.ns};
}

/* Computes a time or a duration that is not below 0; `below` is the message if it is. */
static bool text_ns(const struct session *session, const char *text, enum filter_type type,
                    const char *below, uint64_t *ns, struct session_error *error)
{
    struct filter_value value;
    struct filter_ns time = {.ns = 0};
    struct filter_graph *graph = filter_parse_time(text, type, &value, error);
    bool good = graph && filter_moment_ns(session, &value, &time, error);
    if (good && time.before)
        good = session_fail(error, 1, "%s", below);
    filter_graph_free(graph);
    *ns = time.ns;
    return good;
}

bool session_moment(const struct session *session, const char *text, uint64_t *ns,
                    struct session_error *error)
{
    return text_ns(session, text, TYPE_MOMENT, "this time lies before the start", ns, error);
}

bool session_duration(const struct session *session, const char *text, uint64_t *ns,
                      struct session_error *error)
{
    return text_ns(session, text, TYPE_DURATION, "this duration is below 0", ns, error);
}
