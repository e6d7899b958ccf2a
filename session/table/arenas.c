/* SPDX-License-Identifier: BSD-2-Clause */
/* Collects the blocks that are live at the moment, sorts them by address, and sweeps over them with
 * the stack of those that hold the present address: the innermost one that is not of the block's
 * own arena is its host. */
#include "session/arenas.h"
#include "schemas/array.h"

#include <stdlib.h>

#include "session/store/error.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"

enum { DEPTH_MOST = 64 };

struct block {
    uint64_t start, end;
    uint32_t process, arena;
};

struct collecting {
    const struct session *session;
    uint64_t ns;
    struct block *blocks;
    size_t count, capacity;
    bool no_memory;
};

static bool add_block(struct collecting *collecting, const struct block *block)
{
    if (!ARRAY_GROW(collecting->blocks, collecting->count, collecting->capacity))
        return false;
    collecting->blocks[collecting->count++] = *block;
    return true;
}

static bool may_be_live(const void *context, const struct column_store *store, uint32_t chunk)
{
    const struct collecting *collecting = context;
    return column_store_min(store, chunk, COLUMN_ALLOC_NS) <= collecting->ns &&
           column_store_last_free(store, chunk) > collecting->ns;
}

static void collect(void *context, const struct chunk_rows *rows)
{
    struct collecting *collecting = context;
    const struct names *names = &collecting->session->names;
    ROW_SET_EACH(rows->words, row)
    {
        const uint64_t began = column_view_at(&rows->views[COLUMN_ALLOC_NS], row);
        const uint64_t life = column_view_at(&rows->views[COLUMN_LIFE_NS], row);
        const uint64_t start = column_view_at(&rows->views[COLUMN_ADDRESS], row);
        const uint64_t thread = column_view_at(&rows->views[COLUMN_THREAD], row);
        /* Life 0 means never freed: life - 1 is then the largest number. */
        if (began > collecting->ns || life - 1 <= collecting->ns - began)
            continue;
        const struct block block = {start, start + column_view_at(&rows->views[COLUMN_SIZE], row),
                                    thread < names->thread.count ? names->thread_process[thread]
                                                                 : 0,
                                    (uint32_t)column_view_at(&rows->views[COLUMN_ARENA], row)};
        collecting->no_memory = collecting->no_memory || !add_block(collecting, &block);
    }
}

/* A block comes before those that lie in it. */
static int compare(const void *left, const void *right)
{
    const struct block *a = left, *b = right;
    return ORDER(a->process, b->process) ?: ORDER(a->start, b->start) ?: ORDER(b->end, a->end) ?: ORDER(a->arena, b->arena);
}

/* A block that holds the present address. `tenant` is the arena of the blocks in it, 0: none yet.
 */
struct holder {
    struct block block;
    uint32_t tenant;
    uint64_t reached; /* the end of the last block in it */
};

static void add_hole(struct session_arena_use *use, uint64_t bytes)
{
    if (bytes == 0)
        return;
    use->hole_count++;
    use->hole_bytes += bytes;
    use->largest = bytes > use->largest ? bytes : use->largest;
}

static void leave(const struct holder *holder, struct session_arena_use *uses)
{
    if (holder->tenant != 0 && holder->block.end > holder->reached)
        add_hole(&uses[holder->tenant], holder->block.end - holder->reached);
}

/* Puts a block of an arena into its host: the innermost holder of another arena. */
static void house(struct holder *holders, size_t depth, const struct block *block,
                  struct session_arena_use *uses)
{
    struct session_arena_use *use = &uses[block->arena];
    for (size_t i = depth; i-- > 0;) {
        struct holder *host = &holders[i];
        if (host->block.arena == block->arena)
            continue;
        if (host->tenant == 0) {
            host->tenant = block->arena;
            use->host_count++;
            use->host_bytes += host->block.end - host->block.start;
        }
        if (host->tenant != block->arena)
            return; /* two arenas in one block: the first has it */
        if (block->start > host->reached)
            add_hole(use, block->start - host->reached);
        const uint64_t begin = block->start > host->reached ? block->start : host->reached;
        const uint64_t end = block->end < host->block.end ? block->end : host->block.end;
        use->housed_bytes += end > begin ? end - begin : 0;
        host->reached = end > host->reached ? end : host->reached;
        return;
    }
}

static void sweep(const struct block *blocks, size_t count, struct session_arena_use *uses)
{
    struct holder holders[DEPTH_MOST];
    size_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        const struct block *block = &blocks[i];
        while (depth > 0 && (holders[depth - 1].block.process != block->process ||
                             holders[depth - 1].block.end <= block->start))
            leave(&holders[--depth], uses);
        if (block->arena != 0) {
            uses[block->arena].live_count++;
            uses[block->arena].live_bytes += block->end - block->start;
            house(holders, depth, block, uses);
        }
        if (depth < DEPTH_MOST)
            holders[depth++] = (struct holder){*block, 0, block->start};
    }
    while (depth > 0)
        leave(&holders[--depth], uses);
}

bool session_arena_uses(struct session *session, uint64_t ns, struct session_arena_use **uses,
                        size_t *count, struct session_error *error)
{
    struct collecting collecting = {.session = session, .ns = ns};
    struct row_set all = {.words = NULL};
    *count = session->names.arena.count;
    *uses = calloc(*count + 1, sizeof(**uses));
    if (!*uses)
        return session_fail_memory(error, "the arenas");
    if (*count <= 1)
        return true; /* there is none */
    void *contexts[1] = {&collecting};
    const unsigned columns = COLUMN_BIT(COLUMN_ADDRESS) | COLUMN_BIT(COLUMN_SIZE) |
                             COLUMN_BIT(COLUMN_ALLOC_NS) | COLUMN_BIT(COLUMN_LIFE_NS) |
                             COLUMN_BIT(COLUMN_THREAD) | COLUMN_BIT(COLUMN_ARENA);
    bool good =
        row_set_start(&all, session->columns, true, error) &&
        scan_wanted_chunks(session, &all, columns, may_be_live, collect, contexts, 1, error);
    if (good && collecting.no_memory)
        good = session_fail_memory(error, "the arenas");
    if (good && collecting.count > 1)
        qsort(collecting.blocks, collecting.count, sizeof(*collecting.blocks), compare);
    good = good && scan_go_on(session, error);
    if (good)
        sweep(collecting.blocks, collecting.count, *uses);
    else
        free(*uses);
    free(collecting.blocks);
    row_set_free(&all);
    return good;
}
