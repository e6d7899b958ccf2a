/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/type_table.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "schemas/trace_layout.h"

/* ---- owners -------------------------------------------------------------------------------- */

/* The frames outside the user's that may tell who holds its object, and those inside it that may
 * hand the block on to it. */
enum { FRAMES_OUTSIDE = 6, FRAMES_INSIDE = 3 };

/* The frames that decide: from the one inside the user's frame outward. */
struct owner_question {
    struct types_frame frames[FRAMES_INSIDE + FRAMES_OUTSIDE + 1];
    uint32_t count, user, level;
    uint32_t owner;
    bool farther; /* frames further out may tell more */
    bool whole;   /* no frames inside the first are left out */
};

/* A question with its answer. Its frames begin at `first` in those of all. */
struct owner_memo {
    size_t first;
    uint32_t level, owner;
    uint8_t count, user;
    bool farther, whole;
};

static void owners_free(struct owners *owners)
{
    FREE_ALL(owners->rows, owners->memos, owners->frames);
    index_map_free(&owners->by_name);
    index_map_free(&owners->by_frames);
    *owners = (struct owners){0};
}

static uint32_t find_owner(struct owners *owners, const struct types_owner *owner)
{
    const uint64_t hash = hash_combine(hash_text(owner->name), (uint64_t)owner->confidence);
    INDEX_MAP_EACH(&owners->by_name, hash, index)
        if (owners->rows[index].name == owner->name &&
            owners->rows[index].confidence == owner->confidence)
            return index + 1;
    if (!ARRAY_RESERVE(owners->rows, owners->count, owners->capacity) ||
        !index_map_insert(&owners->by_name, hash, (uint32_t)owners->count))
        return 0;
    owners->rows[owners->count] = (struct owner_row){owner->name, owner->confidence};
    return (uint32_t)++owners->count;
}

/* Collects the frames that decide. If many lie inside the user's, all but the next one say nothing
 * about the owner. Returns false if the stack has no user's frame. */
static bool read_frames(const struct stacks *stacks, const struct stack_row *row,
                        struct owner_question *asked)
{
    struct stack_walk walk = stacks_walk(row);
    uint32_t index;
    bool found = false;
    asked->whole = true;
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
        if (asked->user == UINT32_MAX && !found && asked->count == FRAMES_INSIDE)
            asked->whole = false;
        if (asked->user == UINT32_MAX && !found && !asked->whole)
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
    if (memo->count != asked->count || memo->user != asked->user || memo->level != asked->level ||
        memo->whole != asked->whole)
        return false;
    for (uint32_t i = 0; i < memo->count; i++)
        if (frames[i].module != asked->frames[i].module || frames[i].pc != asked->frames[i].pc)
            return false;
    return true;
}

static void keep(struct owners *owners, const struct owner_question *asked, uint64_t hash)
{
    if (!ARRAY_RESERVE(owners->memos, owners->memo_count, owners->memo_capacity) ||
        !array_reserve(&owners->frames, &owners->frame_capacity, owners->frame_count + asked->count,
                       sizeof(*owners->frames)) ||
        !index_map_insert(&owners->by_frames, hash, (uint32_t)owners->memo_count))
        return;
    owners->memos[owners->memo_count++] = (struct owner_memo){.first = owners->frame_count,
                                                              .level = asked->level,
                                                              .owner = asked->owner,
                                                              .count = (uint8_t)asked->count,
                                                              .user = (uint8_t)asked->user,
                                                              .farther = asked->farther,
                                                              .whole = asked->whole};
    memcpy(&owners->frames[owners->frame_count], asked->frames,
           asked->count * sizeof(*asked->frames));
    owners->frame_count += asked->count;
}

static uint64_t hash_of_question(const struct owner_question *asked)
{
    uint64_t hash = hash_combine(hash_seed() ^ asked->user, asked->level * 2 + asked->whole);
    for (uint32_t i = 0; i < asked->count; i++)
        hash = hash_combine(hash_combine(hash, asked->frames[i].pc), asked->frames[i].module);
    return hash;
}

/* Sets the owner of the question's frames. */
static void ask(struct owners *owners, struct types *types, struct owner_question *asked)
{
    const uint64_t hash = hash_of_question(asked);
    size_t probe = index_map_begin(&owners->by_frames, hash);
    struct types_owner owner;
    uint32_t index;
    while ((index = index_map_next(&owners->by_frames, hash, &probe)) != INDEX_NONE)
        if (is_for(owners, &owners->memos[index], asked)) {
            asked->owner = owners->memos[index].owner;
            asked->farther = owners->memos[index].farther;
            return;
        }
    types_owner_of(types, asked->frames, asked->count, asked->user, asked->level, asked->whole,
                   &owner);
    asked->owner = !owner.name ? 0 : find_owner(owners, &owner);
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

/* ---- call chains --------------------------------------------------------------------------- */

/* They take 10 MiB with their hash table. */
enum { CHAINS = 1 << 18 };

struct call_chain {
    uint64_t pc;
    uint32_t module;
    uint32_t inner; /* number of the chain without this frame; 0: this frame is the innermost */
    uint32_t length;
};

/* The mark that comes after the outermost frame in the chain of a whole stack. */
static const struct types_frame end_of_stack = {UINT32_MAX, UINT64_MAX};

static void call_chains_free(struct call_chains *chains)
{
    free(chains->rows);
    index_map_free(&chains->by_frame);
    *chains = (struct call_chains){0};
}

static size_t call_chains_length(const struct call_chains *chains, uint32_t number)
{
    return number == 0 ? 0 : chains->rows[number - 1].length;
}

/* Returns the number of the chain that extends `inner` by one frame. */
static uint32_t extend(struct call_chains *chains, uint32_t inner, const struct types_frame *frame)
{
    uint64_t hash = hash_combine(hash_combine(hash_seed() ^ inner, frame->pc), frame->module);
    INDEX_MAP_EACH(&chains->by_frame, hash, index) {
        const struct call_chain *chain = &chains->rows[index];
        if (chain->pc == frame->pc && chain->module == frame->module && chain->inner == inner)
            return index + 1;
    }
    if (chains->count == CHAINS || !ARRAY_RESERVE(chains->rows, chains->count, chains->capacity) ||
        !index_map_insert(&chains->by_frame, hash, (uint32_t)chains->count))
        return 0;
    chains->rows[chains->count++] =
        (struct call_chain){.pc = frame->pc,
                            .module = frame->module,
                            .inner = inner,
                            .length = (uint32_t)call_chains_length(chains, inner) + 1};
    return (uint32_t)chains->count;
}

/* Returns the number, from 1, of the chain of the `length` innermost frames of a stack with `count`
 * frames. A `length` above `count` means all frames and that the stack ends there. Returns 0 if
 * there is no room or `length` is 0. */
static uint32_t call_chains_find(struct call_chains *chains, const struct types_frame *frames,
                                 size_t count, size_t length)
{
    uint32_t number = 0;
    for (size_t i = 0; i < length; i++) {
        number = extend(chains, number, i < count ? &frames[i] : &end_of_stack);
        if (number == 0 || i == count)
            break;
    }
    return number;
}

/* ---- type table ---------------------------------------------------------------------------- */

/* The number of innermost frames that the rules get: the call site with the wrappers and standard
 * containers inside it. */
enum { FRAMES_SHOWN = 24 };
/* The number of recent answers that are certainly kept. */
enum { MEMOS = 65536 };
/* Sizes without a type are marked in so many bits, by their hash. */
enum { UNKNOWN_MARKS = 20 };

struct type_memo {
    uint64_t size;
    uint32_t of; /* number of a call chain, or of a stack if it has no chain; 0: empty */
    uint8_t kind;
    bool by_stack;
    struct type_answer answer;
};

static bool same_question(const void *item, const void *key)
{
    const struct type_memo *memo = item, *asked = key;
    return memo->of == asked->of && memo->size == asked->size && memo->kind == asked->kind &&
           memo->by_stack == asked->by_stack;
}

/* The answer for a symbol that TYPE records name. */
struct named_type {
    uint64_t symbol, size;
    uint32_t module, type;
};

/* The answers for one stack. Most stacks have one size, or one answer for all sizes. For others the
 * call chain, the frames that decided so far, has the answers. */
struct type_of_stack {
    uint64_t size;
    uint64_t count; /* if any_size: bytes of an element, 0 if unknown; otherwise the number of
                       elements */
    uint32_t type;
    uint32_t unknown;                       /* index into the table's `unknown` + 1; 0: none */
    uint32_t chain;                         /* 0: none */
    unsigned unknown_marks : UNKNOWN_MARKS; /* one for each of the sizes in `unknown` */
    unsigned unknown_sizes : 4;
    unsigned operator_new : 4;
    bool posix_memalign : 1; /* the kind of the last question */
    bool known : 1, any_size : 1, operator_known : 1;
};
_Static_assert(sizeof(struct type_of_stack) == 32, "two stacks share a cache line");

bool type_table_init(struct type_table *table, struct stacks *stacks, struct symbols *symbols,
                     struct types *types)
{
    *table = (struct type_table){.stacks = stacks, .types = types, .shared = types != NULL};
    if (!types)
        table->types = types_new(symbols);
    table->program_types = types_program_types_new(symbols);
    table->memos = (struct generation_cache){.item_size = sizeof(struct type_memo), .limit = MEMOS};
    if (!table->types || !table->program_types ||
        !array_reserve(&table->rows, &table->capacity, 1, sizeof(*table->rows)))
        return false;
    table->count = 1;
    return true;
}

void type_table_free(struct type_table *table)
{
    if (!table->shared)
        types_free(table->types);
    types_program_types_free(table->program_types);
    index_map_free(&table->by_name);
    index_map_free(&table->by_symbol);
    FREE_ALL(table->named, table->rows);
    generation_cache_free(&table->memos);
    call_chains_free(&table->chains);
    FREE_ALL(table->by_stack, table->unknown);
    owners_free(&table->owners);
    *table = (struct type_table){0};
}

const char *type_table_confidence_name(enum types_confidence confidence)
{
    static const char *const names[] = {
        [TYPES_UNKNOWN] = "unknown",
        [TYPES_CANDIDATE] = "candidate",
        [TYPES_INFERRED] = "inferred",
        [TYPES_EXACT] = "exact",
    };
    return names[confidence];
}

static uint32_t find_row(struct type_table *table, const struct types_answer *answer)
{
    uint64_t hash = hash_combine(hash_combine(hash_text(answer->name), answer->size),
                                 (uint64_t)answer->confidence);
    INDEX_MAP_EACH(&table->by_name, hash, index) {
        const struct type_row *row = &table->rows[index];
        if (row->name == answer->name && row->size == answer->size &&
            row->confidence == answer->confidence)
            return index;
    }
    if (!ARRAY_RESERVE(table->rows, table->count, table->capacity) ||
        !index_map_insert(&table->by_name, hash, (uint32_t)table->count))
        return 0;
    table->rows[table->count] = (struct type_row){.name = answer->name,
                                                  .size = answer->size,
                                                  .element = answer->element,
                                                  .confidence = answer->confidence};
    return (uint32_t)table->count++;
}

/* Writes the `limit` innermost machine frames of a stack. The last of a pc's rows is the one that
 * is not inlined. */
static size_t machine_frames(const struct stacks *stacks, uint32_t stack,
                             struct types_frame *frames, size_t limit)
{
    struct stack_walk walk = stacks_walk(&stacks->rows[stack]);
    size_t count = 0;
    uint32_t index;
    while (count < limit && (index = stacks_walk_next(stacks, &walk)) != FRAMES_NONE) {
        const struct frame_row *row = &stacks->frames.rows[index];
        if (!row->inlined)
            frames[count++] = (struct types_frame){
                symbols_file_number(stacks->frames.symbols, row->module), row->pc};
    }
    return count;
}

bool type_table_unknown_full(const struct type_table *table, uint32_t stack)
{
    return stack == 0 || stack >= table->by_stack_capacity ||
           table->by_stack[stack].unknown_sizes == TYPE_TABLE_UNKNOWN_SIZES;
}

void type_table_unknown(struct type_table *table, uint32_t stack, uint64_t size)
{
    if (type_table_unknown_full(table, stack))
        return;
    struct type_of_stack *of_stack = &table->by_stack[stack];
    /* Only a marked size can be in the list. */
    const unsigned mark = 1U << (hash_number(size) % UNKNOWN_MARKS);
    uint32_t at = of_stack->unknown_marks & mark ? of_stack->unknown : 0;
    for (; at != 0; at = table->unknown[at - 1].next)
        if (table->unknown[at - 1].size == size)
            return;
    if (!ARRAY_RESERVE(table->unknown, table->unknown_count, table->unknown_capacity))
        return;
    table->unknown[table->unknown_count++] = (struct unknown_block){size, stack, of_stack->unknown};
    of_stack->unknown = (uint32_t)table->unknown_count;
    of_stack->unknown_marks = (of_stack->unknown_marks | mark) & ((1U << UNKNOWN_MARKS) - 1);
    of_stack->unknown_sizes++;
}

/* Asks the type rules. Returns type 0 if there is no answer that may be shown. */
static struct type_answer infer(struct type_table *table, uint32_t stack, uint64_t size,
                                uint8_t kind, struct type_of_stack *of_stack)
{
    struct types_frame frames[FRAMES_SHOWN];
    struct types_answer found;
    struct type_answer answer = {0, 1};
    size_t count = machine_frames(table->stacks, stack, frames, FRAMES_SHOWN);
    table->questions++;
    types_infer(table->types, frames, count, size, kind, &found);
    bool shown = found.name && found.confidence >= TYPES_INFERRED;
    if (shown)
        answer = (struct type_answer){find_row(table, &found), found.count};
    of_stack->size = size;
    of_stack->count = answer.count;
    of_stack->type = answer.type;
    of_stack->posix_memalign = kind == TRACE_KIND_POSIX_MEMALIGN;
    of_stack->known = true;
    of_stack->any_size = found.any_size;
    if (found.any_size)
        of_stack->count = shown ? found.size : 0;
    /* A longer chain also holds the answers for which a shorter one is enough. */
    else if (found.frames > call_chains_length(&table->chains, of_stack->chain))
        of_stack->chain = call_chains_find(&table->chains, frames, count, found.frames);
    return answer;
}

/* Makes a question's key. An answer for the stack's chain holds for all its stacks. */
static struct type_memo question_of(uint32_t stack, uint64_t size, uint8_t kind,
                                    const struct type_of_stack *of_stack)
{
    bool chained = of_stack->chain != 0;
    return (struct type_memo){
        .size = size, .of = chained ? of_stack->chain : stack, .kind = kind, .by_stack = !chained};
}

static uint64_t hash_of(const struct type_memo *asked)
{
    return hash_combine(hash_combine(hash_seed() ^ asked->of, asked->size),
                        (uint64_t)asked->kind << 1 | asked->by_stack);
}

/* Finds the answer for a size other than the one asked last. */
static struct type_answer find_by_size(struct type_table *table, uint32_t stack, uint64_t size,
                                       uint8_t kind, struct type_of_stack *of_stack)
{
    struct type_memo asked = question_of(stack, size, kind, of_stack);
    const struct type_memo *memo =
        generation_cache_find(&table->memos, hash_of(&asked), same_question, &asked);
    if (memo)
        return memo->answer;
    struct type_answer answer = infer(table, stack, size, kind, of_stack);
    /* An answer for all sizes is kept with the stack. */
    if (of_stack->any_size)
        return answer;
    asked = question_of(stack, size, kind, of_stack);
    asked.answer = answer;
    if (!generation_cache_find(&table->memos, hash_of(&asked), same_question, &asked))
        generation_cache_add(&table->memos, hash_of(&asked), &asked);
    return answer;
}

struct type_answer type_table_find(struct type_table *table, uint32_t stack, uint64_t size,
                                   uint8_t kind)
{
    if (stack == 0 || !ARRAY_RESERVE(table->by_stack, stack, table->by_stack_capacity))
        return (struct type_answer){0, 1};
    if (kind != TRACE_KIND_POSIX_MEMALIGN)
        kind = TRACE_KIND_MALLOC; /* the rules treat all other kinds alike */
    struct type_of_stack *of_stack = &table->by_stack[stack];
    if (of_stack->known && of_stack->posix_memalign == (kind == TRACE_KIND_POSIX_MEMALIGN)) {
        if (of_stack->any_size)
            return (struct type_answer){of_stack->type, types_count(size, of_stack->count)};
        if (of_stack->size == size)
            return (struct type_answer){of_stack->type, of_stack->count};
    }
    return find_by_size(table, stack, size, kind, of_stack);
}

void type_table_prefetch(const struct type_table *table, uint32_t stack)
{
    if (stack < table->by_stack_capacity)
        __builtin_prefetch(&table->by_stack[stack], 1);
}

/* Returns the operator that the frame outside the innermost operators calls. Their own frames do
 * not tell it: operator new[] ends in a jump to operator new and leaves no frame. */
static unsigned operator_called(struct type_table *table, uint32_t stack)
{
    const struct stacks *stacks = table->stacks;
    struct stack_walk walk = stacks_walk(&stacks->rows[stack]);
    uint32_t index;
    while ((index = stacks_walk_next(stacks, &walk)) != FRAMES_NONE) {
        const struct frame_row *row = &stacks->frames.rows[index];
        if (row->inlined || stacks->frames.functions[row->function].operator_new != OPERATOR_OTHER)
            continue;
        const struct types_frame frame = {symbols_file_number(stacks->frames.symbols, row->module),
                                          row->pc};
        const char *linkage = types_call_linkage(table->types, &frame);
        return !linkage ? OPERATOR_OTHER : call_site_operator_linkage(linkage);
    }
    return OPERATOR_OTHER;
}

unsigned type_table_operator(struct type_table *table, uint32_t stack)
{
    const unsigned by_frame = table->stacks->rows[stack].operator_new;
    if (by_frame == OPERATOR_OTHER ||
        !ARRAY_RESERVE(table->by_stack, stack, table->by_stack_capacity))
        return by_frame;
    struct type_of_stack *of_stack = &table->by_stack[stack];
    if (!of_stack->operator_known) {
        unsigned called = operator_called(table, stack);
        of_stack->operator_new = (called != OPERATOR_OTHER ? called : by_frame) & 15;
        of_stack->operator_known = true;
    }
    return of_stack->operator_new;
}

size_t type_table_candidates(struct type_table *table, const struct unknown_block *block,
                             const char **names)
{
    struct types_frame frames[TYPES_CANDIDATE_FRAMES];
    size_t count = machine_frames(table->stacks, block->stack, frames, TYPES_CANDIDATE_FRAMES);
    return types_candidates(table->types, frames, count, block->size, names, TYPE_TABLE_CANDIDATES);
}

static uint32_t add_named(struct type_table *table, const struct named_type *key, uint64_t hash)
{
    if (!ARRAY_RESERVE(table->named, table->named_count, table->named_capacity) ||
        !index_map_insert(&table->by_symbol, hash, (uint32_t)table->named_count))
        return 0;
    struct named_type *named = &table->named[table->named_count++];
    const struct types_answer answer = {
        .name = types_program_types_name(table->program_types, key->module, key->symbol),
        .size = key->size,
        .confidence = TYPES_EXACT};
    *named = *key;
    named->type = 0;
    if (answer.name) {
        types_declare(table->types, symbols_file_number(table->stacks->frames.symbols, key->module),
                      answer.name, key->size);
        named->type = find_row(table, &answer);
    }
    return named->type;
}

uint32_t type_table_named(struct type_table *table, uint32_t module, uint64_t symbol, uint64_t size)
{
    const struct named_type key = {.symbol = symbol, .size = size, .module = module};
    uint64_t hash = hash_combine(hash_combine(hash_seed(), symbol), size ^ (uint64_t)module << 40);
    INDEX_MAP_EACH(&table->by_symbol, hash, index) {
        const struct named_type *named = &table->named[index];
        if (named->symbol == symbol && named->size == size && named->module == module)
            return named->type;
    }
    return add_named(table, &key, hash);
}

uint32_t type_table_kind(struct type_table *table, const char *name)
{
    const struct types_answer answer = {.name = symbols_keep(table->stacks->frames.symbols, name),
                                        .confidence = TYPES_EXACT};
    return answer.name ? find_row(table, &answer) : 0;
}
