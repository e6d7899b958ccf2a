/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/query/tree_sums.h"

#include <stdlib.h>

#include "session/data/error.h"
#include "session/scan/scan.h"

struct visit {
    const struct stacks *stacks;
    const struct tree_visitor *visitor;
    struct stack_sum *path; /* by depth: of the open node, as far as its stacks were met */
};

static void add(struct stack_sum *to, const struct stack_sum *sum)
{
    to->bytes += sum->bytes;
    to->count += sum->count;
    to->live_bytes += sum->live_bytes;
    to->live_count += sum->live_count;
    to->at_peak_bytes += sum->at_peak_bytes;
    to->at_peak_count += sum->at_peak_count;
    to->short_lived += sum->short_lived;
}

/* Leaves the nodes from the open one outwards up to `node`, which is the open one afterwards. */
static void leave_to(struct visit *visit, uint32_t open, uint32_t node)
{
    for (; open != node; open = stacks_caller(visit->stacks, open)) {
        struct stack_sum *sum = &visit->path[stacks_depth(visit->stacks, open)];
        visit->visitor->leave(visit->visitor->context, open, sum);
        add(sum - 1, sum);
    }
}

static uint32_t largest_depth(const struct stacks *stacks)
{
    uint32_t depth = 0;
    for (uint32_t node = 1; node < stacks->all.count; node++)
        depth = stacks_depth(stacks, node) > depth ? stacks_depth(stacks, node) : depth;
    return depth;
}

bool tree_sums_visit(const struct session *session, const struct stack_sum *sums,
                     const struct tree_visitor *visitor, struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    struct visit visit = {.stacks = stacks, .visitor = visitor};
    /* By node and by stack: another stack that ends at the node. 0: none. */
    uint32_t *stack_of = calloc(stacks->all.count, sizeof(*stack_of));
    uint32_t *next = calloc(stacks->count, sizeof(*next));
    visit.path = calloc((size_t)largest_depth(stacks) + 1, sizeof(*visit.path));
    bool good = (stack_of && next && visit.path) || session_fail_memory(error, "the functions");
    for (uint32_t stack = 0; good && stack < stacks->count; stack++) {
        next[stack] = stack_of[stacks_node(stacks, stack)];
        stack_of[stacks_node(stacks, stack)] = stack;
    }
    uint32_t open = 0;
    for (uint32_t node = stacks->all.count; good && node-- > 1; open = node) {
        leave_to(&visit, open, stacks_caller(stacks, node));
        struct stack_sum *sum = &visit.path[stacks_depth(stacks, node)];
        *sum = (struct stack_sum){0};
        for (uint32_t stack = stack_of[node]; stack != 0; stack = next[stack])
            add(sum, &sums[stack]);
        visitor->enter(visitor->context, node);
        good = node % 65536 != 0 || scan_go_on(session, error);
    }
    if (good)
        leave_to(&visit, open, 0);
    free(stack_of);
    free(next);
    free(visit.path);
    return good;
}
