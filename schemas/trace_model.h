/*
 * What packed records are expected to say (schemas/trace-format.md, "Predicted records"): which
 * block is freed next, where the next one lies, from which stack it comes and how large it is.
 * Whoever packs and whoever unpacks tell it the same events and so hear the same.
 *
 * It knows the blocks that were allocated since the reset, up to TRACE_MODEL_BLOCKS of them, in the
 * order in which they were allocated, and those that were freed, by size class, last one first.
 * Memory is bounded whatever it is told, and so is the time of each call.
 */
#ifndef MPROF_SCHEMAS_TRACE_MODEL_H
#define MPROF_SCHEMAS_TRACE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define TRACE_MODEL_BLOCKS (1u << 17)
/* Ranks are below: among live blocks, and in a list of freed ones. */
#define TRACE_MODEL_RANKS 128u

struct trace_model;

/* NULL where memory is exhausted. It must be reset before it is asked. */
struct trace_model *trace_model_new(void);
void trace_model_free(struct trace_model *model);
void trace_model_reset(struct trace_model *model);

/* The class of blocks of `size` bytes, below 256. */
unsigned trace_model_class(uint64_t size);

/* The live block at `address`; 0: not known. Blocks are numbered from 1 as they are allocated. */
uint32_t trace_model_block(const struct trace_model *model, uint64_t address);
/* Its address. False where there is no live block of that number. */
bool trace_model_address(const struct trace_model *model, uint64_t block, uint64_t *address);

/* The live block that was allocated as the last but `rank`, and the way back; 0, or
 * TRACE_MODEL_RANKS: there is none. */
uint32_t trace_model_ranked(const struct trace_model *model, unsigned rank);
unsigned trace_model_rank(const struct trace_model *model, uint32_t block);

/* The live blocks around the one that was freed last; 0: none. */
uint32_t trace_model_before(const struct trace_model *model);
uint32_t trace_model_after(const struct trace_model *model);

/* The block that was freed as the last but `rank` of a class, and the way back. */
bool trace_model_freed(const struct trace_model *model, unsigned class, unsigned rank,
                       uint64_t *address);
unsigned trace_model_freed_rank(const struct trace_model *model, unsigned class, uint64_t address);

/* Where the block behind the last allocated one would begin. */
uint64_t trace_model_behind(const struct trace_model *model);

/* A block is freed; it need not be known. */
void trace_model_free_block(struct trace_model *model, uint64_t address);
/* A block of `size` bytes was allocated; in the list of freed ones of its class it had this rank,
 * or TRACE_MODEL_RANKS: it was not there. */
void trace_model_allocate(struct trace_model *model, uint64_t address, uint64_t size,
                          unsigned freed_rank);
/* A block grew or shrank where it is. */
void trace_model_resize(struct trace_model *model, uint64_t address, uint64_t size);

/* The stack that followed the last two the last time, and the one that followed the last one. */
uint32_t trace_model_stack(const struct trace_model *model);
uint32_t trace_model_stack_after_one(const struct trace_model *model);
/* The last stack that was told. */
uint32_t trace_model_last_stack(const struct trace_model *model);
void trace_model_put_stack(struct trace_model *model, uint32_t stack);

/* The size of the last block from `stack`. */
uint64_t trace_model_size(const struct trace_model *model, uint32_t stack);
void trace_model_put_size(struct trace_model *model, uint32_t stack, uint64_t size);

#endif
