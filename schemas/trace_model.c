#include "schemas/trace_model.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_BITS = 17, STACK_BITS = 15, CLASSES = 256, FREED = TRACE_MODEL_RANKS };

/* Live blocks are chained in the order in which they were allocated; block 0 is both ends. */
struct block {
    uint64_t address;
    uint32_t before, after;
    uint8_t class;
    bool live;
};

struct trace_model {
    uint32_t places[1u << PLACE_BITS]; /* by address: the last block that was allocated there */
    uint32_t blocks;                   /* the last one */
    uint32_t before;                   /* live, or 0: where the last freed one stood */
    uint64_t behind;
    uint32_t stacks[2]; /* the last one and the one before */
    uint32_t after_two[1u << STACK_BITS], after_one[1u << STACK_BITS];
    uint64_t sizes[1u << STACK_BITS];
    struct freed {
        uint32_t next, count; /* a ring */
    } freed[CLASSES];
    /* What is behind is written before it is read, and need not be reset. */
    uint64_t freed_addresses[CLASSES][FREED];
    struct block block[TRACE_MODEL_BLOCKS];
};

struct trace_model *trace_model_new(void)
{
    return malloc(sizeof(struct trace_model));
}

void trace_model_free(struct trace_model *model)
{
    free(model);
}

void trace_model_reset(struct trace_model *model)
{
    memset(model, 0, offsetof(struct trace_model, freed_addresses));
    memset(&model->block[0], 0, sizeof model->block[0]);
}

/* What an allocator takes for a block: 8 bytes more, in steps of 16, at least 32. */
static uint64_t model_step(uint64_t size)
{
    return size < 24 ? 32 : (size + 23) & ~UINT64_C(15);
}

unsigned trace_model_class(uint64_t size)
{
    if (size > UINT64_C(1) << 47)
        return CLASSES - 1;
    const uint64_t step = model_step(size);
    if (step < 1024)
        return (unsigned)(step / 16);
    const unsigned log2 = 63u - (unsigned)__builtin_clzll(step);
    return 64 + (log2 - 10) * 4 + (unsigned)(step >> (log2 - 2) & 3);
}

static uint32_t model_place(uint64_t address)
{
    return (uint32_t)(((address >> 4) * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - PLACE_BITS));
}

uint32_t trace_model_block(const struct trace_model *model, uint64_t address)
{
    const uint32_t block = model->places[model_place(address)];
    return block != 0 && model->block[block].live && model->block[block].address == address ? block
                                                                                            : 0;
}

bool trace_model_address(const struct trace_model *model, uint64_t block, uint64_t *address)
{
    if (block == 0 || block > model->blocks || !model->block[block].live)
        return false;
    *address = model->block[block].address;
    return true;
}

uint32_t trace_model_ranked(const struct trace_model *model, unsigned rank)
{
    uint32_t block = model->block[0].before;
    for (; rank > 0 && block != 0; rank--)
        block = model->block[block].before;
    return block;
}

unsigned trace_model_rank(const struct trace_model *model, uint32_t block)
{
    uint32_t at = model->block[0].before;
    for (unsigned rank = 0; rank < TRACE_MODEL_RANKS && at != 0; rank++) {
        if (at == block)
            return rank;
        at = model->block[at].before;
    }
    return TRACE_MODEL_RANKS;
}

uint32_t trace_model_before(const struct trace_model *model)
{
    return model->before;
}

uint32_t trace_model_after(const struct trace_model *model)
{
    return model->block[model->before].after;
}

bool trace_model_freed(const struct trace_model *model, unsigned class, unsigned rank,
                       uint64_t *address)
{
    const struct freed *freed = &model->freed[class];
    if (rank >= freed->count)
        return false;
    *address = model->freed_addresses[class][(freed->next - 1 - rank) % FREED];
    return true;
}

unsigned trace_model_freed_rank(const struct trace_model *model, unsigned class, uint64_t address)
{
    const struct freed *freed = &model->freed[class];
    const uint32_t block = model->places[model_place(address)];
    /* Most of what is not in the list was never allocated. */
    if (block == 0)
        return TRACE_MODEL_RANKS;
    for (unsigned rank = 0; rank < freed->count; rank++)
        if (model->freed_addresses[class][(freed->next - 1 - rank) % FREED] == address)
            return rank;
    return TRACE_MODEL_RANKS;
}

uint64_t trace_model_behind(const struct trace_model *model)
{
    return model->behind;
}

static void model_unchain(struct trace_model *model, uint32_t block)
{
    struct block *gone = &model->block[block];
    model->block[gone->before].after = gone->after;
    model->block[gone->after].before = gone->before;
    gone->live = false;
    if (model->before == block)
        model->before = gone->before;
}

void trace_model_free_block(struct trace_model *model, uint64_t address)
{
    const uint32_t block = trace_model_block(model, address);
    if (block == 0)
        return;
    struct freed *freed = &model->freed[model->block[block].class];
    model->freed_addresses[model->block[block].class][freed->next++ % FREED] = address;
    if (freed->count < FREED)
        freed->count++;
    model_unchain(model, block);
    model->before = model->block[block].before;
}

/* A freed block of the class is used again. */
static void model_take(struct trace_model *model, unsigned class, unsigned rank)
{
    struct freed *freed = &model->freed[class];
    uint64_t *addresses = model->freed_addresses[class];
    if (rank >= freed->count)
        return;
    for (; rank > 0; rank--)
        addresses[(freed->next - 1 - rank) % FREED] = addresses[(freed->next - rank) % FREED];
    freed->next--;
    freed->count--;
}

void trace_model_allocate(struct trace_model *model, uint64_t address, uint64_t size,
                          unsigned freed_rank)
{
    const unsigned class = trace_model_class(size);
    model_take(model, class, freed_rank);
    model->behind = address + model_step(size);
    if (model->blocks == TRACE_MODEL_BLOCKS - 1)
        return;
    uint32_t *place = &model->places[model_place(address)];
    if (*place != 0 && model->block[*place].live)
        model_unchain(model, *place);
    const uint32_t block = *place = ++model->blocks, last = model->block[0].before;
    model->block[block] = (struct block){address, last, 0, (uint8_t) class, true};
    model->block[last].after = block;
    model->block[0].before = block;
}

void trace_model_resize(struct trace_model *model, uint64_t address, uint64_t size)
{
    const uint32_t block = trace_model_block(model, address);
    if (block != 0)
        model->block[block].class = (uint8_t)trace_model_class(size);
}

static uint32_t model_after_one(const struct trace_model *model)
{
    return (model->stacks[0] * UINT32_C(0x9E3779B1)) >> (32 - STACK_BITS);
}

static uint32_t model_after_two(const struct trace_model *model)
{
    return (uint32_t)((model->stacks[0] * UINT64_C(0x9E3779B97F4A7C15) +
                       model->stacks[1] * UINT64_C(0xC2B2AE3D27D4EB4F)) >>
                      (64 - STACK_BITS));
}

uint32_t trace_model_stack(const struct trace_model *model)
{
    return model->after_two[model_after_two(model)];
}

uint32_t trace_model_stack_after_one(const struct trace_model *model)
{
    return model->after_one[model_after_one(model)];
}

uint32_t trace_model_last_stack(const struct trace_model *model)
{
    return model->stacks[0];
}

void trace_model_put_stack(struct trace_model *model, uint32_t stack)
{
    model->after_two[model_after_two(model)] = stack;
    model->after_one[model_after_one(model)] = stack;
    model->stacks[1] = model->stacks[0];
    model->stacks[0] = stack;
}

static uint32_t model_stack_slot(uint32_t stack)
{
    return (stack * UINT32_C(0x9E3779B1)) >> (32 - STACK_BITS);
}

uint64_t trace_model_size(const struct trace_model *model, uint32_t stack)
{
    return model->sizes[model_stack_slot(stack)];
}

void trace_model_put_size(struct trace_model *model, uint32_t stack, uint64_t size)
{
    model->sizes[model_stack_slot(stack)] = size;
}
