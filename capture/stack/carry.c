/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/carry.h"

#include <stddef.h>

#include "capture/stack/context_tree.h"
#include "capture/stack/modules.h"
#include "capture/stack/node_log.h"

/* Returns true if the code of the node is still that of its module. */
static bool is_loaded(const struct node_log_entry *entry)
{
    struct module module;
    if (entry->frame > TRACE_FRAME_EXACT)
        return true;
    const bool found = modules_find(entry->pc - (entry->frame == TRACE_FRAME_RETURN), &module);
    return found ? module.id == entry->module : entry->module == 0;
}

static void carry_one(struct node_log_entry *entry, const struct node_log_entry *outer,
                      void *context)
{
    const enum trace_node_frame frame = (enum trace_node_frame)entry->frame;
    if (!is_loaded(entry)) {
        entry->lost = true;
        return;
    }
    entry->path = context_tree_path(outer ? outer->path : 0, entry->pc, frame);
    entry->carried =
        entry->no_rule
            ? context_tree_no_rule_node(outer ? outer->carried : 0, entry->path, entry->pc, frame,
                                        context)
            : context_tree_node(outer ? outer->carried : 0, entry->path, entry->pc, frame, context);
    entry->lost = entry->carried == 0;
}

/* Goes outwards to a node that is done, and back. Parents have lower ids, so this ends even if the
 * log is wrong. */
uint32_t carry_node(uint32_t id, void *context)
{
    struct node_log_entry *entry = node_log_aside(id);
    uint32_t inner = 0;
    bool lost = !entry;
    while (entry && !entry->carried && !entry->lost) {
        entry->inner = inner;
        inner = id;
        id = entry->parent;
        entry = id < inner ? node_log_aside(id) : NULL;
        lost = !entry && id != 0;
    }
    lost = lost || (entry && entry->lost);
    while (inner != 0) {
        const struct node_log_entry *outer = entry;
        entry = node_log_aside(inner);
        inner = entry->inner;
        if (lost)
            entry->lost = true;
        else
            carry_one(entry, outer, context);
        lost = entry->lost;
    }
    return lost || !entry ? 0 : entry->carried;
}
