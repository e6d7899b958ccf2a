/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/job/answer.h"

#include <stdlib.h>

#include "session/data/error.h"
#include "session/scan/scan.h"

/* Allocates `count` zeroed elements for an answer. */
static void *allocate(size_t count, size_t size, struct session_error *error)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        session_fail_memory(error, "an answer");
    return memory;
}

static bool find_newer(struct session *session, struct session_answer *answer,
                       struct session_error *error)
{
    if (!session_has_newer(session))
        return true;
    answer->newer = session_open(session_path(session), error);
    return answer->newer != NULL;
}

static bool find_selection(struct session *session, const struct session_question *question,
                           struct session_answer *answer, struct session_error *error)
{
    struct selection *selection = selection_new(session, question->text, error);
    if (!selection)
        return false;
    answer->selected.selection = selection;
    answer->selected.totals =
        (struct session_totals){.count = selection_count(selection),
                                .chosen_from = selection_chosen_from(selection),
                                .allocations = selection_allocations(selection),
                                .bytes = selection_bytes(selection),
                                .live_bytes = selection_live_bytes(selection),
                                .live_count = selection_live_count(selection)};
    return true;
}

static bool select_process(struct session *session, uint64_t id, struct session_error *error)
{
    const struct session_process *processes;
    if (id > session_processes(session, &processes))
        return session_fail(error, 0, "no process has id %llu", (unsigned long long)id);
    return session_select_process(session, (uint32_t)id, error);
}

static bool find_timeline(const struct session_question *question, struct session_answer *answer,
                          struct session_error *error)
{
    answer->timeline.count = question->count;
    answer->timeline.slots = allocate(question->count, sizeof(*answer->timeline.slots), error);
    return answer->timeline.slots &&
           selection_timeline(question->selection, question->from_ns, question->to_ns,
                              question->count, question->by, answer->timeline.slots, error);
}

static bool find_top(const struct session_question *question, struct session_answer *answer,
                     struct session_error *error)
{
    answer->top.shares = allocate(question->count, sizeof(*answer->top.shares), error);
    if (!answer->top.shares)
        return false;
    answer->top.count =
        selection_top_functions(question->selection, question->from_ns, question->to_ns,
                                answer->top.shares, question->count);
    return true;
}

static bool find_rows(struct session *session, const struct session_question *question,
                      struct session_answer *answer, struct session_error *error)
{
    const uint64_t all = selection_count(question->selection);
    const uint64_t left = question->first < all ? all - question->first : 0;
    const size_t count = left < question->count ? (size_t)left : question->count;
    answer->rows.rows = allocate(count, sizeof(*answer->rows.rows), error);
    if (!answer->rows.rows)
        return false;
    while (answer->rows.count < count) {
        if (!scan_go_on(session, error))
            return false;
        if (!selection_row(question->selection, question->first + answer->rows.count,
                           &answer->rows.rows[answer->rows.count]))
            return session_fail(error, 0, "row %llu of the selection cannot be read",
                                (unsigned long long)(question->first + answer->rows.count));
        answer->rows.count++;
    }
    return true;
}

static bool find_grid(const struct session_question *question, struct session_answer *answer,
                      struct session_error *error)
{
    answer->grid.count = question->count;
    answer->grid.cells = allocate(question->count, sizeof(*answer->grid.cells), error);
    return answer->grid.cells &&
           selection_grid(question->selection, question->ns, question->address,
                          question->bytes_per_cell, question->count, question->by,
                          answer->grid.cells, error);
}

static bool find_stack(struct session *session, const struct session_question *question,
                       struct session_answer *answer, struct session_error *error)
{
    const uint32_t stack = question->id < UINT32_MAX ? (uint32_t)question->id : UINT32_MAX;
    answer->stack.frames = allocate(question->count, sizeof(*answer->stack.frames), error);
    if (!answer->stack.frames)
        return false;
    answer->stack.known = session_stack(session, stack, answer->stack.frames, question->count);
    answer->stack.count =
        answer->stack.known < question->count ? answer->stack.known : question->count;
    answer->stack.call_site = session_stack_call_site(session, stack);
    return true;
}

static bool find_members(struct session *session, const struct session_question *question,
                         struct session_answer *answer, struct session_error *error)
{
    const uint32_t type = question->id < UINT32_MAX ? (uint32_t)question->id : UINT32_MAX;
    answer->type.members = allocate(question->count, sizeof(*answer->type.members), error);
    if (!answer->type.members ||
        !session_type_members(session, type, answer->type.members, question->count,
                              &answer->type.known, &answer->type.size, error))
        return false;
    answer->type.count =
        answer->type.known < question->count ? answer->type.known : question->count;
    return true;
}

/* Answers the questions about a selection, which PEAK to ROWS are. */
static bool find_of_selection(struct session *session, const struct session_question *question,
                              struct session_answer *answer, struct session_error *error)
{
    struct selection *selection = question->selection;
    if (!selection)
        return session_fail(error, 0, "this question needs a selection");
    switch (question->kind) {
    case SESSION_ASK_PEAK:
        answer->peak.bytes = selection_peak_bytes(selection);
        answer->peak.ns = selection_peak_ns(selection);
        return true;
    case SESSION_ASK_LEGEND:
        selection_legend(selection, question->by, &answer->legend);
        return true;
    case SESSION_ASK_TIMELINE:
        return find_timeline(question, answer, error);
    case SESSION_ASK_TOP_FUNCTIONS:
        return find_top(question, answer, error);
    case SESSION_ASK_FUNCTIONS:
        return selection_functions(selection, &answer->functions.rows, &answer->functions.count,
                                   error);
    case SESSION_ASK_EDGES:
        return selection_edges(selection, (uint32_t)question->id, &answer->edges.callers,
                               &answer->edges.caller_count, &answer->edges.callees,
                               &answer->edges.callee_count, error);
    case SESSION_ASK_ROWS:
        return find_rows(session, question, answer, error);
    default:
        return find_grid(question, answer, error);
    }
}

static bool find(struct session *session, const struct session_question *question,
                 struct session_answer *answer, struct session_error *error)
{
    switch (question->kind) {
    case SESSION_ASK_NEWER:
        return find_newer(session, answer, error);
    case SESSION_ASK_PROCESS:
        return select_process(session, question->id, error);
    case SESSION_ASK_SELECTION:
        return find_selection(session, question, answer, error);
    case SESSION_ASK_REGIONS:
        return session_regions(session, question->ns, &answer->regions.regions,
                               &answer->regions.count, error);
    case SESSION_ASK_ALLOCATION_AT:
        answer->allocation_at = session_allocation_at(session, question->ns, question->address);
        return true;
    case SESSION_ASK_NEIGHBOURS:
        session_neighbours(session, question->ns, question->address, &answer->neighbours.below,
                           &answer->neighbours.above);
        return true;
    case SESSION_ASK_ADDRESS_HISTORY:
        answer->history.freed = session_address_history(session, question->ns, question->address,
                                                        &answer->history.last_free_ns);
        return true;
    case SESSION_ASK_ALLOCATION:
        return session_allocation(session, question->id, &answer->allocation, error);
    case SESSION_ASK_STACK:
        return find_stack(session, question, answer, error);
    case SESSION_ASK_TYPE_MEMBERS:
        return find_members(session, question, answer, error);
    case SESSION_ASK_WORST_MISMATCH:
        return session_worst_mismatch(session, &answer->mismatch, error);
    case SESSION_ASK_CALL:
        return question->call(session, question->selection, question->data, error);
    default:
        return find_of_selection(session, question, answer, error);
    }
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

void answer_free(struct session_answer *answer)
{
    switch (answer->kind) {
    case SESSION_ASK_NEWER:
        session_close(answer->newer);
        break;
    case SESSION_ASK_SELECTION:
        selection_free(answer->selected.selection);
        break;
    case SESSION_ASK_TIMELINE:
        free(answer->timeline.slots);
        break;
    case SESSION_ASK_TOP_FUNCTIONS:
        free(answer->top.shares);
        break;
    case SESSION_ASK_FUNCTIONS:
        free(answer->functions.rows);
        break;
    case SESSION_ASK_EDGES:
        free(answer->edges.callers);
        free(answer->edges.callees);
        break;
    case SESSION_ASK_ROWS:
        free(answer->rows.rows);
        break;
    case SESSION_ASK_REGIONS:
        free(answer->regions.regions);
        break;
    case SESSION_ASK_GRID:
        free(answer->grid.cells);
        break;
    case SESSION_ASK_STACK:
        free(answer->stack.frames);
        break;
    case SESSION_ASK_TYPE_MEMBERS:
        free(answer->type.members);
        break;
    default:
        break;
    }
    *answer = (struct session_answer){.kind = answer->kind};
}
