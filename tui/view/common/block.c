/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/common/block.h"

#include <inttypes.h>
#include <stdio.h>

#include "session/stacks.h"
#include "tui/screen/format.h"
#include "tui/view/common/list.h"

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

size_t offer_block(const struct session *session, const struct session_allocation *block,
                   uint32_t user, struct view_offer *out, size_t capacity)
{
    struct offering offering = {.out = out, .capacity = capacity};
    offer_number(&offering, "this allocation", "id", block->id);
    if (block->type != 0)
        offer_name(&offering, "this type", "type", session_type_name(session, block->type));
    if (block->function != 0)
        offer_name(&offering, list_named(session, block->function), "function",
                   session_function_name(session, block->function));
    if (user != 0)
        offer_name(&offering,
                   session_function_is_alone(session, user) ? "my function"
                                                            : "each of mine of this name",
                   "user", session_function_name(session, user));
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
