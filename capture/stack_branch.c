#include "capture/stack_branch.h"

#include <string.h>

void stack_branch_keep(struct stack_thread *thread, uint32_t base)
{
    const struct stack_kept *outer = &thread->kept[base];
    const struct stack_kept *top = &thread->kept[thread->count - 1];
    uint32_t count = top->pair_end - outer->pair_end;
    if (count == 0 || count > STACK_BRANCH_PAIRS)
        return;
    struct stack_branch_leaf *leaf = stack_branch_leaf(thread, top->pc);
    if (!leaf->pc) /* one that changed would hide the branches that were put by it */
        *leaf = (struct stack_branch_leaf){top->pc,
                                           thread->pairs[(top - 1)->pair_end].address - top->sp};
    struct stack_branch_key key = stack_branch_key(thread, top->pc, top->sp);
    struct stack_branch_set *set = &thread->branches->sets[key.set];
    uint32_t way = set->kept++ % STACK_BRANCH_WAYS;
    struct stack_branch *branch = &thread->branches->ways[key.set][way];
    set->tags[way] = key.tag;
    branch->pc = top->pc;
    branch->sp = top->sp;
    branch->rbp = top->rbp;
    branch->base_sp = outer->sp;
    branch->base_rbp = outer->rbp;
    branch->base = base;
    branch->base_node = outer->node;
    branch->node = top->node;
    branch->generation = thread->generation;
    branch->needs_rbp = top->needs_rbp;
    branch->base_needs_rbp = outer->needs_rbp;
    branch->is_long = count > STACK_BRANCH_NEAR;
    memcpy(branch->pairs, thread->pairs + outer->pair_end, count * sizeof *branch->pairs);
    while (count < STACK_BRANCH_PAIRS)
        branch->pairs[count++] = branch->pairs[0];
}
