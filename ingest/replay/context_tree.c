/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/context_tree.h"

#include <stdlib.h>

enum { UNRESOLVED = 0, ON_PATH, RESOLVED };

static uint64_t hash_id(uint32_t id)
{
    return hash_combine(hash_seed(), id);
}

static uint32_t find_place(const struct context_tree *tree, uint32_t id)
{
    if (id < tree->near_capacity && tree->near[id] != 0)
        return tree->near[id] - 1;
    if (tree->far.count == 0)
        return CONTEXT_LOST;
    uint64_t hash = hash_id(id);
    INDEX_MAP_EACH(&tree->far, hash, place)
        if (tree->nodes[place].id == id)
            return place;
    return CONTEXT_LOST;
}

/* Notes the place of a new node. Recorders number nodes from 1 without gaps, so in a real trace
 * nearly all ids are near, and an array takes less time and memory than a hash. */
static bool note_place(struct context_tree *tree, uint32_t id, uint32_t place)
{
    enum { NEAR_LEAST = 1024 };
    if (id >= NEAR_LEAST && id / 2 > tree->count)
        return index_map_insert(&tree->far, hash_id(id), place);
    if (!ARRAY_RESERVE(tree->near, id, tree->near_capacity))
        return false;
    tree->near[id] = place + 1;
    return true;
}

bool context_tree_add(struct context_tree *tree, uint32_t id, uint32_t parent, unsigned frame,
                      uint32_t module, uint64_t value)
{
    if (find_place(tree, id) != CONTEXT_LOST)
        return true;
    if (tree->count >= CONTEXT_LOST || !ARRAY_RESERVE(tree->nodes, tree->count, tree->capacity) ||
        !note_place(tree, id, (uint32_t)tree->count))
        return false;
    tree->nodes[tree->count++] = (struct context_node){
        .value = value, .id = id, .parent = parent, .module = module, .frame = (uint8_t)frame};
    return true;
}

static uint64_t hash_context(const struct context_node *node)
{
    return hash_combine(hash_combine(hash_seed(), node->value),
                        (uint64_t)node->parent << 32 | node->module);
}

/* Links the node at `place` to the first node of the same context. Adds it if it is the first. */
static bool fold(struct context_tree *tree, struct index_map *contexts, uint32_t place)
{
    const struct context_node *node = &tree->nodes[place];
    uint64_t hash = hash_context(node);
    size_t probe = index_map_begin(contexts, hash);
    uint32_t other;
    tree->same_as[place] = place;
    if (node->parent == CONTEXT_LOST)
        return true; /* nodes under lost ones are not known to be the same context */
    while ((other = index_map_next(contexts, hash, &probe)) != INDEX_NONE) {
        const struct context_node *known = &tree->nodes[other];
        if (known->value == node->value && known->parent == node->parent &&
            known->module == node->module && known->frame == node->frame) {
            tree->same_as[place] = other;
            return true;
        }
    }
    return index_map_insert(contexts, hash, place);
}

/* Resolves a node after its parents. Each parent's id becomes its place. */
static bool resolve_path(struct context_tree *tree, struct index_map *contexts, uint32_t place,
                         uint32_t *path)
{
    size_t length = 0;
    for (;;) {
        struct context_node *node = &tree->nodes[place];
        uint32_t parent;
        node->state = ON_PATH;
        path[length++] = place;
        parent = node->parent == 0 ? CONTEXT_ROOT : find_place(tree, node->parent);
        if (parent < CONTEXT_LOST && tree->nodes[parent].state == ON_PATH)
            parent = CONTEXT_LOST; /* a cycle: no real stack has one */
        node->parent = parent;
        if (parent >= CONTEXT_LOST || tree->nodes[parent].state == RESOLVED)
            break;
        place = parent;
    }
    while (length > 0) {
        struct context_node *node = &tree->nodes[path[--length]];
        if (node->parent < CONTEXT_LOST)
            node->parent = tree->same_as[node->parent];
        node->state = RESOLVED;
        if (!fold(tree, contexts, path[length]))
            return false;
    }
    return true;
}

/* Collects the contexts of the nodes that an earlier call has linked. */
static bool collect_contexts(const struct context_tree *tree, struct index_map *contexts)
{
    bool good = true;
    for (uint32_t place = 0; good && place < tree->count; place++) {
        const struct context_node *node = &tree->nodes[place];
        if (node->state == RESOLVED && tree->same_as[place] == place &&
            node->parent != CONTEXT_LOST)
            good = index_map_insert(contexts, hash_context(node), place);
    }
    return good;
}

bool context_tree_resolve_first(struct context_tree *tree, size_t count)
{
    struct index_map contexts = {0};
    size_t room = tree->count ? tree->count : 1;
    uint32_t *path = malloc(room * sizeof(*path));
    uint32_t *same_as = realloc(tree->same_as, room * sizeof(*same_as));
    if (same_as)
        tree->same_as = same_as;
    bool good = path && same_as && collect_contexts(tree, &contexts);
    for (uint32_t place = (uint32_t)tree->resolved; good && place < count; place++)
        if (tree->nodes[place].state == UNRESOLVED)
            good = resolve_path(tree, &contexts, place, path);
    if (good && count > tree->resolved)
        tree->resolved = count;
    index_map_free(&contexts);
    free(path);
    return good;
}

bool context_tree_resolve(struct context_tree *tree)
{
    return context_tree_resolve_first(tree, tree->count);
}

uint32_t context_tree_find(const struct context_tree *tree, uint32_t id)
{
    uint32_t place = find_place(tree, id);
    return place == CONTEXT_LOST || tree->nodes[place].state != RESOLVED ? CONTEXT_LOST
                                                                         : tree->same_as[place];
}

void context_tree_free(struct context_tree *tree)
{
    free(tree->nodes);
    free(tree->same_as);
    free(tree->near);
    index_map_free(&tree->far);
    *tree = (struct context_tree){0};
}
