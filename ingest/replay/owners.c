/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/owners.h"

#include <stdlib.h>
#include <string.h>

/* The frames outside the user's that may tell who holds its object. */
enum { FRAMES_OUTSIDE = 6 };

/* The frames that decide: from the one inside the user's frame outward. */
struct owner_question {
    struct types_frame frames[FRAMES_OUTSIDE + 2];
    uint32_t count, user, level;
    uint32_t owner;
    bool farther; /* frames further out may tell more */
};

/* A question with its answer. Its frames begin at `first` in those of all. */
struct owner_memo {
    size_t first;
    uint32_t level, owner;
    uint8_t count, user;
    bool farther;
};

void owners_free(struct owners *owners)
{
    free(owners->rows);
    free(owners->memos);
    free(owners->frames);
    index_map_free(&owners->by_name);
    index_map_free(&owners->by_frames);
    *owners = (struct owners){0};
}

static uint32_t find_row(struct owners *owners, const struct types_owner *owner)
{
    const uint64_t hash = hash_combine(hash_text(owner->name), (uint64_t)owner->confidence);
    size_t probe = index_map_begin(&owners->by_name, hash);
    uint32_t index;
    while ((index = index_map_next(&owners->by_name, hash, &probe)) != INDEX_NONE)
        if (owners->rows[index].name == owner->name &&
            owners->rows[index].confidence == owner->confidence)
            return index + 1;
    if (!array_reserve(&owners->rows, &owners->capacity, owners->count + 1,
                       sizeof(*owners->rows)) ||
        !index_map_insert(&owners->by_name, hash, (uint32_t)owners->count))
        return 0;
    owners->rows[owners->count] = (struct owner_row){owner->name, owner->confidence};
    return (uint32_t)++owners->count;
}

/*
 * Collects the frames that decide. Frames inside the user's other than the next one say nothing
 * about the owner. Returns false if the stack has no user's frame.
 */
static bool read_frames(const struct stacks *stacks, const struct stack_row *row,
                        struct owner_question *asked)
{
    struct stack_walk walk = stacks_walk(row);
    uint32_t index;
    bool found = false;
    while ((index = stacks_walk_next(stacks, &walk)) != FRAMES_NONE) {
        const struct frame_row *frame = &stacks->frames.rows[index];
        const bool is_users = !found && index == row->user_frame;
        found = found || is_users;
        if (is_users)
            asked->level = 0;
        else if (found && asked->user == UINT32_MAX)
            asked->level++; /* the function into which the user's was inlined */
        if (frame->inlined)
            continue;
        if (asked->user == UINT32_MAX && !found)
            asked->count = 0; /* only the last frame before the user's is kept */
        asked->frames[asked->count++] = (struct types_frame){
            symbols_file_number(stacks->frames.symbols, frame->module), frame->pc};
        if (found && asked->user == UINT32_MAX)
            asked->user = asked->count - 1;
        if (asked->count == sizeof(asked->frames) / sizeof(*asked->frames))
            break;
    }
    return found;
}

static bool is_for(const struct owners *owners, const struct owner_memo *memo,
                   const struct owner_question *asked)
{
    const struct types_frame *frames = &owners->frames[memo->first];
    if (memo->count != asked->count || memo->user != asked->user || memo->level != asked->level)
        return false;
    for (uint32_t i = 0; i < memo->count; i++)
        if (frames[i].module != asked->frames[i].module || frames[i].pc != asked->frames[i].pc)
            return false;
    return true;
}

static void keep(struct owners *owners, const struct owner_question *asked, uint64_t hash)
{
    if (!array_reserve(&owners->memos, &owners->memo_capacity, owners->memo_count + 1,
                       sizeof(*owners->memos)) ||
        !array_reserve(&owners->frames, &owners->frame_capacity, owners->frame_count + asked->count,
                       sizeof(*owners->frames)) ||
        !index_map_insert(&owners->by_frames, hash, (uint32_t)owners->memo_count))
        return;
    owners->memos[owners->memo_count++] = (struct owner_memo){.first = owners->frame_count,
                                                              .level = asked->level,
                                                              .owner = asked->owner,
                                                              .count = (uint8_t)asked->count,
                                                              .user = (uint8_t)asked->user,
                                                              .farther = asked->farther};
    memcpy(&owners->frames[owners->frame_count], asked->frames,
           asked->count * sizeof(*asked->frames));
    owners->frame_count += asked->count;
}

static uint64_t hash_of(const struct owner_question *asked)
{
    uint64_t hash = hash_combine(hash_seed() ^ asked->user, asked->level);
    for (uint32_t i = 0; i < asked->count; i++)
        hash = hash_combine(hash_combine(hash, asked->frames[i].pc), asked->frames[i].module);
    return hash;
}

/* Sets the owner of the question's frames. */
static void ask(struct owners *owners, struct types *types, struct owner_question *asked)
{
    const uint64_t hash = hash_of(asked);
    size_t probe = index_map_begin(&owners->by_frames, hash);
    struct types_owner owner;
    uint32_t index;
    while ((index = index_map_next(&owners->by_frames, hash, &probe)) != INDEX_NONE)
        if (is_for(owners, &owners->memos[index], asked)) {
            asked->owner = owners->memos[index].owner;
            asked->farther = owners->memos[index].farther;
            return;
        }
    types_owner_of(types, asked->frames, asked->count, asked->user, asked->level, &owner);
    asked->owner = !owner.name ? 0 : find_row(owners, &owner);
    asked->farther = owner.farther;
    keep(owners, asked, hash);
}

uint32_t owners_find(struct owners *owners, struct types *types, const struct stacks *stacks,
                     uint32_t stack)
{
    const struct stack_row *row = &stacks->rows[stack];
    struct owner_question all = {.user = UINT32_MAX};
    if (row->user_frame == FRAMES_NONE || !read_frames(stacks, row, &all))
        return 0;
    /* Most owners are known without the frames further out. */
    struct owner_question near = all;
    near.count = all.user + 1;
    ask(owners, types, &near);
    if (!near.farther || near.count == all.count)
        return near.owner;
    ask(owners, types, &all);
    return all.owner;
}
