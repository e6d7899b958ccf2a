/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/free_calls.h"

#include <stdlib.h>
#include <string.h>

/* The form of a call, as far as it is known. */
enum call_form {
    CALL_LOOKED_UP = 1,
    CALL_HEAP = 2, /* malloc and its kin; free */
    CALL_OPERATOR = 4,
    CALL_ARRAY = 8,
    CALL_ARRAY_UNSURE = 16, /* perhaps the operator for arrays, which left no frame */
    CALL_ALIGNED = 32,
    CALL_SIZED = 64,
    CALL_NOTHROW = 128,
};

/* Itanium C++ ABI, 5.1.5: _Znwm, _ZnamSt11align_val_tRKSt9nothrow_t, _ZdlPv, _ZdaPvm, … */
static unsigned form_of_operator(const char *linkage, char first, const char *parameters)
{
    unsigned form = CALL_OPERATOR;
    const char *at = linkage;
    if (strncmp(at, "_Z", 2) != 0 || at[2] != first)
        return 0;
    if (at[3] == 'a')
        form |= CALL_ARRAY;
    else if (at[3] != (first == 'n' ? 'w' : 'l'))
        return 0;
    at += 4;
    if (strncmp(at, parameters, strlen(parameters)) != 0)
        return 0;
    at += strlen(parameters);
    if (first == 'd' && *at == 'm') {
        form |= CALL_SIZED;
        at++;
    }
    if (strncmp(at, "St11align_val_t", 15) == 0) {
        form |= CALL_ALIGNED;
        at += 15;
    }
    if (strncmp(at, "RKSt9nothrow_t", 14) == 0) {
        form |= CALL_NOTHROW;
        at += 14;
    }
    return *at == '\0' || *at == '@' ? form : 0;
}

static bool is_one_of(const char *linkage, const char *const *names)
{
    const size_t length = strcspn(linkage, "@");
    for (; *names; names++)
        if (strlen(*names) == length && memcmp(*names, linkage, length) == 0)
            return true;
    return false;
}

static unsigned form_of_allocating(const char *linkage)
{
    static const char *const heap[] = {
        "malloc",        "calloc",   "realloc", "reallocarray", "posix_memalign",
        "aligned_alloc", "memalign", "valloc",  "pvalloc",      NULL};
    return is_one_of(linkage, heap) ? CALL_HEAP : form_of_operator(linkage, 'n', "m");
}

static unsigned form_of_freeing(const char *linkage)
{
    static const char *const heap[] = {"free", "cfree", "free_sized", "free_aligned_sized", NULL};
    return is_one_of(linkage, heap) ? CALL_HEAP : form_of_operator(linkage, 'd', "Pv");
}

/* Returns the form of an operator by the demangled name of its frame. 0: it is not the operator. */
static unsigned form_of_frame(const char *name, const char *operator_name)
{
    const size_t length = strlen(operator_name);
    if (strncmp(name, operator_name, length) != 0)
        return 0;
    unsigned form = CALL_OPERATOR;
    const char *at = name + length;
    if (strncmp(at, "[]", 2) == 0) {
        form |= CALL_ARRAY;
        at += 2;
    }
    if (*at != '(' && *at != '\0')
        return 0;
    form |= strstr(at, "std::align_val_t") ? CALL_ALIGNED : 0;
    form |= strstr(at, "std::nothrow_t") ? CALL_NOTHROW : 0;
    return form | (strstr(at, "unsigned long") ? CALL_SIZED : 0);
}

/* Returns the form of a stack's call: of the outermost of the operators at the stack's inner end,
 * or of the call in the frame around them. The operator for arrays ends in a jump to the other one,
 * so the other one alone may be either. */
static unsigned form_of_stack(struct type_table *types, uint32_t stack, const char *operator_name,
                              unsigned (*form_of)(const char *))
{
    const struct stacks *stacks = types->stacks;
    struct stack_walk walk = stacks_walk(&stacks->rows[stack]);
    unsigned by_frame = 0;
    uint32_t index;
    while ((index = stacks_walk_next(stacks, &walk)) != FRAMES_NONE) {
        const struct frame_row *row = &stacks->frames.rows[index];
        const unsigned form =
            form_of_frame(stacks->frames.functions[row->function].name, operator_name);
        if (form != 0)
            by_frame = form;
        if (form != 0 || row->inlined)
            continue;
        const struct types_frame frame = {symbols_file_number(stacks->frames.symbols, row->module),
                                          row->pc};
        const unsigned called = types_frame_call_form(types->types, &frame, form_of);
        if (called & CALL_OPERATOR || (called != 0 && by_frame == 0))
            return called;
        break;
    }
    return by_frame & CALL_ARRAY || by_frame == 0 ? by_frame : by_frame | CALL_ARRAY_UNSURE;
}

static bool fits(unsigned allocated, unsigned freed)
{
    if (!(allocated & (CALL_HEAP | CALL_OPERATOR)) || !(freed & (CALL_HEAP | CALL_OPERATOR)))
        return true; /* as far as is known */
    if ((allocated ^ freed) & CALL_OPERATOR)
        return false;
    if (freed & CALL_HEAP)
        return true;
    const bool array_known = !((allocated | freed) & CALL_ARRAY_UNSURE);
    return !((allocated ^ freed) & CALL_ALIGNED) &&
           (!array_known || !((allocated ^ freed) & CALL_ARRAY));
}

static bool add(struct free_calls *calls, const struct live_block *block, uint32_t stack,
                const char *function, const struct mismatch_row **mismatch)
{
    const uint64_t hash =
        hash_combine(hash_combine(hash_combine(hash_seed(), block->stack), stack), block->kind);
    size_t probe = index_map_begin(&calls->by_stacks, hash);
    uint32_t index;
    while ((index = index_map_next(&calls->by_stacks, hash, &probe)) != INDEX_NONE) {
        const struct mismatch_row *row = &calls->rows[index];
        if (row->stack == block->stack && row->free_stack == stack && row->kind == block->kind)
            break;
    }
    if (index == INDEX_NONE) {
        if (!ARRAY_RESERVE(calls->rows, calls->count, calls->capacity) ||
            !index_map_insert(&calls->by_stacks, hash, (uint32_t)calls->count))
            return false;
        index = (uint32_t)calls->count++;
        calls->rows[index] =
            (struct mismatch_row){block->stack, stack, block->kind, function, 0, 0};
    }
    calls->rows[index].allocations++;
    calls->rows[index].bytes += block->size;
    *mismatch = &calls->rows[index];
    return true;
}

static bool look_up(struct free_calls *calls, uint16_t **forms, size_t *capacity, uint32_t stack,
                    bool freeing)
{
    if (!array_reserve(forms, capacity, (size_t)stack + 1, sizeof(**forms)))
        return false;
    if ((*forms)[stack] == 0)
        (*forms)[stack] = (uint16_t)(CALL_LOOKED_UP |
                                     form_of_stack(calls->types, stack,
                                                   freeing ? "operator delete" : "operator new",
                                                   freeing ? form_of_freeing : form_of_allocating));
    return true;
}

bool free_calls_note(struct free_calls *calls, const struct live_block *block, uint32_t stack,
                     const struct mismatch_row **mismatch)
{
    unsigned freed = CALL_LOOKED_UP | CALL_HEAP;
    *mismatch = NULL;
    if (stack != 0) {
        if (!look_up(calls, &calls->freed_by, &calls->freed_capacity, stack, true))
            return false;
        freed = calls->freed_by[stack];
    }
    if (block->stack == 0 || freed == CALL_LOOKED_UP)
        return true;
    if (!look_up(calls, &calls->allocated_by, &calls->allocated_capacity, block->stack, false))
        return false;
    if (fits(calls->allocated_by[block->stack], freed))
        return true;
    return add(calls, block, stack, stack == 0 ? "realloc" : free_calls_name(calls, stack),
               mismatch);
}

const char *free_calls_name(const struct free_calls *calls, uint32_t stack)
{
    static const char *const names[] = {
        "delete",         "delete[]",         "delete aligned",         "delete[] aligned",
        "delete sized",   "delete[] sized",   "delete sized aligned",   "delete[] sized aligned",
        "delete nothrow", "delete[] nothrow", "delete aligned nothrow", "delete[] aligned nothrow"};
    if (stack == 0 || stack >= calls->freed_capacity)
        return NULL;
    const unsigned form = calls->freed_by[stack];
    if (form & CALL_HEAP)
        return "free";
    if (!(form & CALL_OPERATOR))
        return NULL;
    return names[!!(form & CALL_ARRAY) + 2 * !!(form & CALL_ALIGNED) +
                 (form & CALL_NOTHROW ? 8 : 4 * !!(form & CALL_SIZED))];
}

void free_calls_free(struct free_calls *calls)
{
    free(calls->allocated_by);
    free(calls->freed_by);
    free(calls->rows);
    index_map_free(&calls->by_stacks);
    *calls = (struct free_calls){0};
}

/* ---- wrong sizes --------------------------------------------------------------------------- */

bool wrong_sizes_fit(uint64_t size, uint64_t stated_size, uint64_t alignment)
{
    if (stated_size == 0 || stated_size == size)
        return true;
    return alignment != 0 && (alignment & (alignment - 1)) == 0 &&
           ((stated_size + alignment - 1) & ~(alignment - 1)) == size;
}

static bool is_same(const struct wrong_size_row *a, const struct wrong_size_row *b)
{
    return a->stack == b->stack && a->free_stack == b->free_stack && a->size == b->size &&
           a->stated_size == b->stated_size;
}

bool wrong_sizes_add(struct wrong_sizes *sizes, const struct wrong_size_row *block)
{
    const uint64_t stacks =
        hash_combine(hash_combine(hash_seed(), block->stack), block->free_stack);
    const uint64_t hash = hash_combine(hash_combine(stacks, block->size), block->stated_size);
    size_t probe = index_map_begin(&sizes->by_row, hash);
    uint32_t index;
    while ((index = index_map_next(&sizes->by_row, hash, &probe)) != INDEX_NONE)
        if (is_same(&sizes->rows[index], block))
            break;
    if (index == INDEX_NONE) {
        if (!ARRAY_RESERVE(sizes->rows, sizes->count, sizes->capacity) ||
            !index_map_insert(&sizes->by_row, hash, (uint32_t)sizes->count))
            return false;
        index = (uint32_t)sizes->count++;
        sizes->rows[index] = *block;
        sizes->rows[index].allocations = 0;
    }
    sizes->rows[index].allocations++;
    return true;
}

void wrong_sizes_free(struct wrong_sizes *sizes)
{
    free(sizes->rows);
    index_map_free(&sizes->by_row);
    *sizes = (struct wrong_sizes){0};
}
