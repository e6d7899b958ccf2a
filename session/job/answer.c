/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/job/answer.h"

#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/sample_estimate.h"
#include "session/scan/scan.h"

static bool find_newer(struct session *session, struct session_answer *answer,
                       struct session_error *error)
{
    if (!session_has_newer(session))
        return true;
    database_release(session->database);
    answer->newer = session_open(session_path(session), error);
    return answer->newer != NULL;
}

static bool select_process(struct session *session, uint32_t id, struct session_error *error)
{
    const struct session_process *processes;
    if (id > session_processes(session, &processes))
        return session_fail(error, 0, "no process has id %u", id);
    return session_select_process(session, id, error);
}

static bool find_selection(struct session *session, const char *text, struct session_answer *answer,
                           struct session_error *error)
{
    struct selection *selection = selection_new(session, text, error);
    if (!selection)
        return false;
    answer->selection = selection;
    answer->totals = (struct session_totals){.count = selection_count(selection),
                                             .chosen_from = selection_chosen_from(selection),
                                             .allocations = selection_allocations(selection),
                                             .bytes = selection_bytes(selection),
                                             .live_bytes = selection_live_bytes(selection),
                                             .live_count = selection_live_count(selection)};
    return true;
}

static bool find(struct session *session, const struct session_question *question,
                 struct session_answer *answer, struct session_error *error)
{
    switch (question->kind) {
    case SESSION_ASK_NEWER:
        return find_newer(session, answer, error);
    case SESSION_ASK_PROCESS:
        return select_process(session, question->process, error);
    case SESSION_ASK_SELECTION:
        return find_selection(session, question->text, answer, error);
    case SESSION_ASK_CALL:
        return question->call(session, question->selection, question->data, error);
    }
    return true;
}

bool answer_find(struct session *session, const struct session_question *question,
                 struct session_answer *answer, struct session_error *error)
{
    *answer = (struct session_answer){.kind = question->kind};
    /* Some functions of session.h have no error to return: a cancel shows in the flag. */
    if (find(session, question, answer, error) && scan_go_on(session, error))
        return true;
    answer_free(answer);
    return false;
}

bool answer_estimate(struct session *session, const struct session_question *question,
                     struct session_answer *answer)
{
    struct selection_estimate found;
    bool known;
    /* All allocations are counted as soon. */
    if (question->kind != SESSION_ASK_SELECTION || question->text[0] == '\0' ||
        strcmp(question->text, "all") == 0 ||
        !selection_estimate(session, question->text, &found, &known, NULL) || !known)
        return false;
    *answer = (struct session_answer){
        .kind = question->kind,
        .estimate = true,
        .totals = {.count = found.allocations,
                   .chosen_from = session_allocation_count(session),
                   .allocations = found.allocations,
                   .bytes = found.bytes,
                   .live_bytes = found.live_bytes,
                   .live_count = found.live_count},
        .standard_errors = {.count = (uint64_t)found.allocations_error,
                            .allocations = (uint64_t)found.allocations_error,
                            .bytes = (uint64_t)found.bytes_error,
                            .live_bytes = (uint64_t)found.live_bytes_error,
                            .live_count = (uint64_t)found.live_count_error}};
    return true;
}

void answer_free(struct session_answer *answer)
{
    session_close(answer->newer);
    selection_free(answer->selection);
    *answer = (struct session_answer){.kind = answer->kind};
}
