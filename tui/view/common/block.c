/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/common/block.h"

#include <inttypes.h>
#include <stdio.h>

#include "tui/screen/format.h"

struct offering {
    struct view_offer *out;
    size_t count, capacity;
};

static void offer_number(struct offering *offering, const char *label, const char *step,
                         uint64_t number)
{
    if (offering->count == offering->capacity)
        return;
    struct view_offer *offer = &offering->out[offering->count++];
    snprintf(offer->label, sizeof(offer->label), "%s: %" PRIu64, label, number);
    snprintf(offer->step, sizeof(offer->step), "where %s == %" PRIu64, step, number);
}

static void offer_truth(struct offering *offering, const char *label, const char *field)
{
    if (offering->count == offering->capacity)
        return;
    struct view_offer *offer = &offering->out[offering->count++];
    snprintf(offer->label, sizeof(offer->label), "%s", label);
    snprintf(offer->step, sizeof(offer->step), "where %s == true", field);
}

/* Offers a name; one that is too long to be quoted is left out. */
static void offer_name(struct offering *offering, const char *label, const char *field,
                       const char *name)
{
    char quoted[1100];
    if (offering->count == offering->capacity || !*filter_quote(quoted, sizeof(quoted), name))
        return;
    struct view_offer *offer = &offering->out[offering->count++];
    snprintf(offer->label, sizeof(offer->label), "%s: %.100s", label, name);
    snprintf(offer->step, sizeof(offer->step), "where %s == %s", field, quoted);
}

/* Offers the functions of a block's call site and of the user's frame. */
static void offer_functions(struct offering *offering, const struct function_tests *tests,
                            const struct session *session, uint32_t site, uint32_t user)
{
    static const struct function_words sites = {"this function", "each function of this name",
                                                false};
    static const struct function_words users = {"my function", "each of mine of this name", false};
    offering->count +=
        function_tests_offer(tests, session, SESSION_AT_CALL_SITE, site, &sites,
                             offering->out + offering->count, offering->capacity - offering->count);
    offering->count +=
        function_tests_offer(tests, session, SESSION_AT_USER, user, &users,
                             offering->out + offering->count, offering->capacity - offering->count);
}

void block_tests_load(struct function_tests *tests, struct exploration *exploration,
                      const struct session_allocation *block, uint32_t user, uint32_t anywhere)
{
    const uint32_t functions[FUNCTION_PARTS] = {[SESSION_ANYWHERE] = anywhere,
                                                [SESSION_AT_CALL_SITE] = block->function,
                                                [SESSION_AT_USER] = user};
    function_tests_load(tests, exploration, functions);
}

size_t offer_block(const struct function_tests *tests, const struct session *session,
                   const struct session_allocation *block, uint32_t user, struct view_offer *out,
                   size_t capacity)
{
    struct offering offering = {.out = out, .capacity = capacity};
    offer_number(&offering, "this allocation", "id", block->id);
    if (block->type != 0)
        offer_name(&offering, "this type", "type", session_type_name(session, block->type));
    offer_functions(&offering, tests, session, block->function, user);
    if (block->stack != 0)
        offer_number(&offering, "this stack", "stack", block->stack);
    offer_number(&offering, "this size", "size", block->size);
    offer_number(&offering, "this address", "address", block->address);
    offer_number(&offering, "this thread", "thread", block->thread);
    if (block->free_ns != SESSION_LIVE)
        offer_number(&offering, "freed by this thread", "free_thread", block->free_thread);
    if (session_stack_by_collector(session, block->free_stack))
        offer_truth(&offering, "taken by a garbage collector", "collected");
    else if (block->free_stack != 0)
        offer_number(&offering, "freed at this stack", "free_stack", block->free_stack);
    return offering.count;
}

void block_to_memory(struct exploration *exploration, const struct session_allocation *block)
{
    char time[FORMAT_SIZE];
    exploration->allocation = exploration->to_memory = block->id;
    if (exploration->moment_ns < block->alloc_ns || exploration->moment_ns >= block->free_ns) {
        exploration->moment_ns = block->alloc_ns;
        exploration_say(exploration, "memory at %s, when the block was allocated",
                        format_instant(time, block->alloc_ns));
    }
    exploration_show(exploration, VIEW_MEMORY);
}

void block_to_timeline(struct exploration *exploration, const struct session_allocation *block)
{
    exploration->moment_ns = block->alloc_ns;
    exploration_show(exploration, VIEW_TIMELINE);
}
