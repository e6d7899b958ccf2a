/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads the allocation under the cursor, its stack and its neighbours. */
#include "session/user_code.h"
#include "tui/view/memory/grid.h"

static bool load_allocation(struct session *session, uint64_t id,
                            struct session_allocation *allocation, struct session_error *error)
{
    return id != 0 && session_allocation(session, id, allocation, error);
}

/* Loads the stack, the type and the history of the address of an allocation. */
static bool load_facts(struct memory_details *details, struct session *session,
                       struct session_error *error)
{
    const struct session_allocation *allocation = &details->allocation;
    details->frame_count =
        session_stack(session, allocation->stack, details->frames, MEMORY_FRAMES_MOST);
    if (details->frame_count > MEMORY_FRAMES_MOST)
        details->frame_count = MEMORY_FRAMES_MOST;
    details->call_site = session_stack_call_site(session, allocation->stack);
    details->used_before = session_address_history(session, allocation->alloc_ns,
                                                   allocation->address, &details->last_free_ns);
    const size_t user = session_stack_user(session, allocation->stack);
    if (user < details->frame_count)
        details->user = details->frames[user].function;
    if (allocation->type == 0)
        return true;
    const bool good =
        session_type_members(session, allocation->type, details->members, MEMORY_MEMBERS_MOST,
                             &details->member_count, &details->type_size, error);
    if (details->member_count > MEMORY_MEMBERS_MOST)
        details->member_count = MEMORY_MEMBERS_MOST;
    return good;
}

bool memory_details_load(struct memory_details *details, struct session *session, uint64_t ns,
                         uint64_t address, uint64_t id, struct session_error *error)
{
    uint64_t below = 0, above = 0;
    bool good = true;
    details->address = address;
    details->ns = ns;
    if (id == 0)
        id = session_allocation_at(session, ns, address);
    details->found = load_allocation(session, id, &details->allocation, error);
    if (details->found) {
        address = details->allocation.address;
        good = load_facts(details, session, error);
    }
    details->unknown_gap = !details->found && session_gap_is_unknown(session, ns, address);
    session_neighbours(session, ns, address, &below, &above);
    details->has_below = load_allocation(session, below, &details->below, error);
    details->has_above = load_allocation(session, above, &details->above, error);
    return good && details->found == (id != 0) && details->has_below == (below != 0) &&
           details->has_above == (above != 0);
}
