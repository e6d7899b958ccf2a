/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads the allocation under the cursor, its stack and its neighbours. */
#include "tui/memory_grid.h"

static bool load_allocation(struct exploration *exploration, uint64_t id,
                            struct session_allocation *allocation)
{
    struct session_error error = {.message = ""};
    if (id == 0)
        return false;
    if (session_allocation(exploration->session, id, allocation, &error))
        return true;
    exploration_complain(exploration, "%s", error.message);
    return false;
}

static void load_members(struct memory_details *details, struct exploration *exploration,
                         uint32_t type)
{
    struct session_error error = {.message = ""};
    if (!session_type_members(exploration->session, type, details->members, MEMORY_MEMBERS_MOST,
                              &details->member_count, &details->type_size, &error))
        exploration_complain(exploration, "%s", error.message);
    if (details->member_count > MEMORY_MEMBERS_MOST)
        details->member_count = MEMORY_MEMBERS_MOST;
}

void memory_details_load(struct memory_details *details, struct exploration *exploration,
                         uint64_t address, uint64_t id)
{
    struct session *session = exploration->session;
    uint64_t ns = exploration->moment_ns, below = 0, above = 0;
    details->address = address;
    details->ns = ns;
    details->loaded = true;
    if (id == 0)
        id = session_allocation_at(session, ns, address);
    details->found = load_allocation(exploration, id, &details->allocation);
    details->frame_count = 0;
    details->used_before = 0;
    details->member_count = 0;
    if (details->found) {
        const struct session_allocation *allocation = &details->allocation;
        address = allocation->address;
        details->frame_count =
            session_stack(session, allocation->stack, details->frames, MEMORY_FRAMES_MOST);
        if (details->frame_count > MEMORY_FRAMES_MOST)
            details->frame_count = MEMORY_FRAMES_MOST;
        if (allocation->type != 0)
            load_members(details, exploration, allocation->type);
        details->call_site = session_stack_call_site(session, allocation->stack);
        details->used_before =
            session_address_history(session, allocation->alloc_ns, address, &details->last_free_ns);
    }
    session_neighbours(session, ns, address, &below, &above);
    details->has_below = load_allocation(exploration, below, &details->below);
    details->has_above = load_allocation(exploration, above, &details->above);
}
