/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads the story of one allocation: what is known at once, then what takes passes. */
#include "session/user_code.h"
#include "tui/view/detail/detail.h"

static void read_stack(struct session *session, uint32_t stack, struct detail_stack *read)
{
    read->state = session_stack_state(session, stack);
    if (stack == 0)
        return;
    read->count = session_stack(session, stack, read->frames, DETAIL_FRAMES);
    read->call_site = session_stack_call_site(session, stack);
}

static bool run_facts(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct detail_facts *facts = data;
    struct session_allocation *block = &facts->block;
    (void)selection;
    if (!session_allocation(session, facts->request.id, block, error) ||
        !session_block_facts(session, block, &facts->facts, error))
        return false;
    facts->found = true;
    read_stack(session, block->stack, &facts->born);
    facts->user = session_stack_user(session, block->stack);
    facts->freed_user = SESSION_NO_FRAME;
    if (block->free_ns != SESSION_LIVE) {
        read_stack(session, block->free_stack, &facts->freed);
        facts->freed_user = session_stack_user(session, block->free_stack);
    }
    return block->type == 0 ||
           session_type_members(session, block->type, facts->members, DETAIL_MEMBERS,
                                &facts->member_count, &facts->type_size, error);
}

/* Reads a block, unless `id` is 0. */
static bool read_block(struct session *session, uint64_t id, struct session_allocation *block,
                       struct session_error *error)
{
    return id == 0 || session_allocation(session, id, block, error);
}

static bool run_around(struct session *session, struct selection *selection, void *data,
                       struct session_error *error)
{
    struct detail_around *read = data;
    struct session_surroundings *around = &read->around;
    struct session_allocation block;
    (void)selection;
    if (!session_allocation(session, read->request.id, &block, error) ||
        !session_surroundings(session, &block, around, error) ||
        !read_block(session, around->birth.below, &read->birth[0], error) ||
        !read_block(session, around->birth.above, &read->birth[1], error) ||
        !read_block(session, around->end.below, &read->end[0], error) ||
        !read_block(session, around->end.above, &read->end[1], error))
        return false;
    for (size_t i = 0; i < SESSION_USES; i++)
        if (!read_block(session, around->before[i], &read->before[i], error) ||
            !read_block(session, around->after[i], &read->after[i], error))
            return false;
    return true;
}

static bool run_chain(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct detail_chain *read = data;
    struct session_allocation block;
    (void)selection;
    if (!session_allocation(session, read->request.id, &block, error) ||
        !session_chain(session, &block, &read->chain, error))
        return false;
    for (size_t i = 0; i < read->chain.count; i++)
        if (!session_allocation(session, read->chain.ids[i], &read->blocks[i], error))
            return false;
    return true;
}

void detail_load(struct detail *detail, struct exploration *exploration)
{
    static const struct load_kind facts = {sizeof(((struct detail_facts *)0)->request),
                                           sizeof(struct detail_facts), run_facts, NULL};
    static const struct load_kind around = {sizeof(((struct detail_around *)0)->request),
                                            sizeof(struct detail_around), run_around, NULL};
    static const struct load_kind chain = {sizeof(((struct detail_chain *)0)->request),
                                           sizeof(struct detail_chain), run_chain, NULL};
    const uint64_t wanted[2] = {exploration->renewals, detail->shown};
    detail->facts = NULL;
    detail->around = NULL;
    detail->chain = NULL;
    if (detail->shown == 0)
        return;
    detail->facts = exploration_get(exploration, &detail->facts_load, &facts, wanted);
    detail->around = exploration_get(exploration, &detail->around_load, &around, wanted);
    detail->chain = exploration_get(exploration, &detail->chain_load, &chain, wanted);
}
