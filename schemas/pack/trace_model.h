/* SPDX-License-Identifier: BSD-2-Clause */
/* Predicts packed records (schemas/trace-format.md, "Predicted records"): which block is freed
 * next, and address, stack and size of the next allocation. Packer and unpacker tell the model the
 * same events, so it predicts the same for both.
 *
 * The model knows the blocks allocated since the reset, in the order of their allocation. It
 * forgets them and starts again when there are TRACE_MODEL_BLOCKS. It also knows the freed blocks,
 * by size class, last one first. Its memory is bounded for every input, and so is the time of each
 * call. The functions are inline, as in trace_codec.h: each is a few instructions and runs several
 * times for an event. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Blocks are numbered from 1 as they are allocated. */
#define TRACE_MODEL_BLOCKS (1u << 17)
/* Ranks are below this: ranks among live blocks, and in a list of freed ones. */
#define TRACE_MODEL_RANKS 128u
#define TRACE_MODEL_CLASSES 256u
#define TRACE_MODEL_STACK_BITS 15
#define TRACE_MODEL_PLACE_BITS 18

/* A block. Live blocks are chained in the order of their allocation; block 0 is both ends. */
struct trace_model_block {
    uint64_t address;
    uint32_t before, after;
    uint8_t class;
    bool live;
};

/* A ring of freed addresses. */
struct trace_model_freed {
    uint32_t next, count;
};

struct trace_model {
    uint32_t blocks; /* number of the last block */
    uint32_t gap;    /* the live block before the one freed last, or 0 */
    bool find_blocks;
    uint64_t next_address;         /* the end of the block that was allocated last */
    uint32_t stack;                /* the last one */
    uint32_t entry_two, entry_one; /* entries for the stack after the last two, the last one */
    uint32_t after_two[1u << TRACE_MODEL_STACK_BITS], after_one[1u << TRACE_MODEL_STACK_BITS];
    uint64_t sizes[1u << TRACE_MODEL_STACK_BITS];
    struct trace_model_freed freed[TRACE_MODEL_CLASSES];
    /* The fields from here on are written before they are read, and need no reset. */
    uint64_t freed_addresses[TRACE_MODEL_CLASSES][TRACE_MODEL_RANKS];
    struct trace_model_block block[TRACE_MODEL_BLOCKS];
    /* The last block allocated at each address: the packer looks for blocks by address. Open
     * addressing, at least half empty. */
    uint32_t places[1u << TRACE_MODEL_PLACE_BITS];
};

/* Returns NULL if memory is exhausted. The model needs a reset before its first use. */
struct trace_model *trace_model_new(void);
void trace_model_free(struct trace_model *model);

/* Forgets everything. Blocks can be found by their addresses only if `find_blocks` is true. */
void trace_model_reset(struct trace_model *model, bool find_blocks);

/* Forgets all blocks, but keeps freed addresses, stacks and sizes. */
void trace_model_forget(struct trace_model *model);

/* Returns the bytes that an allocator takes for a block: 8 more, in steps of 16, at least 32. */
static inline uint64_t trace_model_step(uint64_t size)
{
    return size < 24 ? 32 : (size + 23) & ~UINT64_C(15);
}

/* Returns the class of blocks of `size` bytes. */
static inline unsigned trace_model_class(uint64_t size)
{
    if (size > UINT64_C(1) << 47)
        return TRACE_MODEL_CLASSES - 1;
    const uint64_t step = trace_model_step(size);
    if (step < 1024)
        return (unsigned)(step / 16);
    const unsigned log2 = 63u - (unsigned)__builtin_clzll(step);
    return 64 + (log2 - 10) * 4 + (unsigned)(step >> (log2 - 2) & 3);
}

/* Returns the place of the block at `address`, or the free place for it. */
static inline uint32_t *trace_model_place(struct trace_model *model, uint64_t address)
{
    const uint32_t last = (1u << TRACE_MODEL_PLACE_BITS) - 1;
    uint32_t at = (uint32_t)(((address >> 4) * UINT64_C(0x9E3779B97F4A7C15)) >>
                             (64 - TRACE_MODEL_PLACE_BITS));
    while (model->places[at] != 0 && model->block[model->places[at]].address != address)
        at = (at + 1) & last;
    return &model->places[at];
}

/* Returns the block at `address`, live or not, or 0 if none was allocated there. */
static inline uint32_t trace_model_find(struct trace_model *model, uint64_t address)
{
    return *trace_model_place(model, address);
}

/* Returns true if there is a live block with that number. */
static inline bool trace_model_is_live(const struct trace_model *model, uint64_t block)
{
    return block != 0 && block <= model->blocks && model->block[block].live;
}

/* Returns the live block with a rank, 0 if there is none. Rank 0 is the block allocated last, rank
 * 1 the one before it. trace_model_rank() returns the rank of a block, or TRACE_MODEL_RANKS. */
static inline uint32_t trace_model_ranked(const struct trace_model *model, unsigned rank)
{
    uint32_t block = model->block[0].before;
    for (; rank > 0 && block != 0; rank--)
        block = model->block[block].before;
    return block;
}

static inline unsigned trace_model_rank(const struct trace_model *model, uint32_t block)
{
    uint32_t at = model->block[0].before;
    for (unsigned rank = 0; rank < TRACE_MODEL_RANKS && at != 0; rank++) {
        if (at == block)
            return rank;
        at = model->block[at].before;
    }
    return TRACE_MODEL_RANKS;
}

/* Returns the live block after the one freed last, or 0. */
static inline uint32_t trace_model_after(const struct trace_model *model)
{
    return model->block[model->gap].after;
}

/* Stores the address of the freed block with a rank in its class; false if there is none. Rank 0 is
 * the block freed last. trace_model_freed_rank() returns the rank of an address, or
 * TRACE_MODEL_RANKS. */
static inline bool trace_model_freed_at(const struct trace_model *model, unsigned class,
                                        unsigned rank, uint64_t *address)
{
    const struct trace_model_freed *freed = &model->freed[class];
    if (rank >= freed->count)
        return false;
    *address = model->freed_addresses[class][(freed->next - 1 - rank) % TRACE_MODEL_RANKS];
    return true;
}

static inline unsigned trace_model_freed_rank(const struct trace_model *model, unsigned class,
                                              uint64_t address)
{
    const struct trace_model_freed *freed = &model->freed[class];
    for (unsigned rank = 0; rank < freed->count; rank++)
        if (model->freed_addresses[class][(freed->next - 1 - rank) % TRACE_MODEL_RANKS] == address)
            return rank;
    return TRACE_MODEL_RANKS;
}

/* Tells the model that a live block was freed. */
static inline void trace_model_end(struct trace_model *model, uint32_t block)
{
    struct trace_model_block *gone = &model->block[block];
    struct trace_model_freed *freed = &model->freed[gone->class];
    model->freed_addresses[gone->class][freed->next++ % TRACE_MODEL_RANKS] = gone->address;
    freed->count += freed->count < TRACE_MODEL_RANKS;
    model->block[gone->before].after = gone->after;
    model->block[gone->after].before = gone->before;
    model->gap = gone->before;
    gone->live = false;
}

/* Tells the model that the freed block of that rank in its class is used again. */
static inline void trace_model_reuse(struct trace_model *model, unsigned class, unsigned rank)
{
    struct trace_model_freed *freed = &model->freed[class];
    uint64_t *addresses = model->freed_addresses[class];
    for (; rank > 0; rank--)
        addresses[(freed->next - 1 - rank) % TRACE_MODEL_RANKS] =
            addresses[(freed->next - rank) % TRACE_MODEL_RANKS];
    freed->next--;
    freed->count--;
}

/* Tells the model that a block was allocated. Returns its number. If it is 1, the model has
 * forgotten all others. */
static inline uint32_t trace_model_begin(struct trace_model *model, uint64_t address, uint64_t size)
{
    model->next_address = address + trace_model_step(size);
    if (model->blocks == TRACE_MODEL_BLOCKS - 1)
        trace_model_forget(model);
    const uint32_t block = ++model->blocks, last = model->block[0].before;
    model->block[block] =
        (struct trace_model_block){address, last, 0, (uint8_t)trace_model_class(size), true};
    model->block[last].after = block;
    model->block[0].before = block;
    return block;
}

/* Returns the stack that followed the last two stacks the last time. trace_model_stack_after_one()
 * returns the one that followed the last stack. */
static inline uint32_t trace_model_stack_after_two(const struct trace_model *model)
{
    return model->after_two[model->entry_two];
}

static inline uint32_t trace_model_stack_after_one(const struct trace_model *model)
{
    return model->after_one[model->entry_one];
}

static inline uint32_t trace_model_stack_entry(uint32_t stack)
{
    return (stack * UINT32_C(0x9E3779B1)) >> (32 - TRACE_MODEL_STACK_BITS);
}

static inline void trace_model_put_stack(struct trace_model *model, uint32_t stack)
{
    model->after_two[model->entry_two] = stack;
    model->after_one[model->entry_one] = stack;
    model->entry_one = trace_model_stack_entry(stack);
    model->entry_two = (uint32_t)((stack * UINT64_C(0x9E3779B97F4A7C15) +
                                   model->stack * UINT64_C(0xC2B2AE3D27D4EB4F)) >>
                                  (64 - TRACE_MODEL_STACK_BITS));
    model->stack = stack;
}

/* Returns a pointer to the size of the last block from `stack`, to read and to write. */
static inline uint64_t *trace_model_size(struct trace_model *model, uint32_t stack)
{
    return &model->sizes[trace_model_stack_entry(stack)];
}
