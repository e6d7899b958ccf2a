#include "ingest/types.h"

#include "ingest/symbols_dwarf.h"
#include "ingest/types_allocators.h"
#include "ingest/types_calls.h"
#include "ingest/types_choose.h"
#include "ingest/types_site.h"
#include "ingest/types_source.h"
#include "ingest/types_spelling.h"

#include "schemas/trace_layout.h"

#include <stdlib.h>
#include <string.h>

/* Wrappers around wrappers that are looked through. */
#define WRAPPERS_MAX 16
/* Frames behind the allocator that may tell whose characters it allocates. */
#define STRING_FRAMES 6

struct module_types {
    uint32_t module;
    struct types_index *index;     /* NULL: no DWARF */
    struct types_globals *globals; /* NULL: no DWARF */
};

struct types {
    struct symbols *symbols;
    struct module_types *modules;
    size_t count, capacity;
};

struct types *types_new(struct symbols *symbols)
{
    struct types *types = calloc(1, sizeof *types);
    if (types != NULL)
        types->symbols = symbols;
    return types;
}

void types_free(struct types *types)
{
    if (types == NULL)
        return;
    for (size_t i = 0; i < types->count; i++) {
        types_index_free(types->modules[i].index);
        types_globals_free(types->modules[i].globals);
    }
    free(types->modules);
    free(types);
}

static const struct module_types *module_of(struct types *types, uint32_t module,
                                            const struct symbols_file *file)
{
    static const struct module_types none = {0, NULL, NULL};
    for (size_t i = 0; i < types->count; i++)
        if (types->modules[i].module == module)
            return &types->modules[i];
    if (types->count == types->capacity) {
        size_t capacity = types->capacity == 0 ? 16 : types->capacity * 2;
        struct module_types *grown = realloc(types->modules, capacity * sizeof *grown);
        if (grown == NULL)
            return &none;
        types->modules = grown;
        types->capacity = capacity;
    }
    struct module_types *added = &types->modules[types->count++];
    *added = (struct module_types){.module = module};
    if (file != NULL && file->dwarf != NULL) {
        added->index = types_index_new(file);
        added->globals = types_globals_new(file);
    }
    return added;
}

static void open_site(struct types *types, const struct types_frame *frame, struct types_site *site)
{
    site->symbols = types->symbols;
    site->module = frame->module;
    site->return_address = frame->pc + 1;
    site->file = symbols_module_file(types->symbols, frame->module);
    const struct module_types *module = module_of(types, frame->module, site->file);
    site->index = module->index;
    site->globals = module->globals;
    site->frame_count = symbols_lookup(types->symbols, frame->module, frame->pc, site->frames);
    site->dwarf = site->index == NULL ? NULL : symbols_module_dwarf(types->symbols, frame->module);
    site->entry_count =
        site->dwarf == NULL ? 0 : symbols_dwarf_entries(site->dwarf, frame->pc, site->entries);
}

static const char *keep(struct types *types, char *name)
{
    const char *kept = name == NULL ? NULL : symbols_keep(types->symbols, name);
    free(name);
    return kept;
}

/* Fills the answer with a type; characters and void are a buffer. */
static void answer_with(struct types *types, const struct types_site *site,
                        const struct types_type *type, uint64_t size, uint64_t cookie,
                        struct types_answer *answer)
{
    uint64_t held = size > cookie ? size - cookie : 0;
    answer->cookie = cookie;
    if (type->shape == TYPES_CHARACTER || type->shape == TYPES_VOID) {
        answer->name = "buffer";
        answer->size = 1;
        answer->count = held > 0 ? held : 1;
        return;
    }
    answer->name = keep(types, types_name(site->index, type));
    answer->size = type->size;
    answer->count = type->size > 0 && held >= type->size ? held / type->size : 1;
    int element = answer->name == NULL ? -1 : types_node_element(answer->name);
    if (element >= 0)
        answer->element = keep(types, types_spelling_argument(answer->name, (unsigned)element));
}

/* True where a string's function called the allocator of characters. */
static bool is_string_buffer(struct types *types, const struct types_frame *frames, size_t count)
{
    size_t seen = 0;
    for (size_t i = 0; i < count && seen < STRING_FRAMES; i++) {
        struct symbols_frame expanded[SYMBOLS_FRAMES_MAX];
        size_t length = symbols_lookup(types->symbols, frames[i].module, frames[i].pc, expanded);
        for (size_t k = 0; k < length && seen < STRING_FRAMES; k++, seen++)
            if (types_is_string_function(expanded[k].function))
                return true;
    }
    return false;
}

static void string_answer(uint64_t size, enum types_rule rule, struct types_answer *answer)
{
    *answer = (struct types_answer){.name = "std::string buffer",
                                    .size = 1,
                                    .count = size > 0 ? size : 1,
                                    .confidence = TYPES_EXACT,
                                    .rule = rule};
}

/* What a frame's own name says about the block. */
static bool infer_by_name(struct types *types, const struct types_site *site,
                          const struct types_frame *frames, size_t count, uint64_t size,
                          struct types_answer *answer)
{
    struct types_type type;
    if (types_is_text_function(site->frames[site->frame_count - 1].function)) {
        *answer = (struct types_answer){.name = "buffer",
                                        .size = 1,
                                        .count = size > 0 ? size : 1,
                                        .confidence = TYPES_INFERRED,
                                        .rule = TYPES_RULE_LIBRARY};
        return true;
    }
    if (site->entry_count == 0) {
        if (!types_is_string_function(site->frames[0].function))
            return false;
        string_answer(size, TYPES_RULE_LIBRARY, answer);
        return true;
    }
    if (!types_allocator_type(site, &type))
        return false;
    if (type.shape == TYPES_CHARACTER && is_string_buffer(types, frames, count)) {
        string_answer(size, TYPES_RULE_ALLOCATOR, answer);
        return true;
    }
    answer_with(types, site, &type, size, 0, answer);
    answer->confidence = TYPES_EXACT;
    answer->rule = TYPES_RULE_ALLOCATOR;
    return true;
}

/* The walk along the stack: what is known of the block so far. */
struct walk {
    enum types_operator by;
    int64_t offset; /* of the pointer that the frame before returned */
    bool in_memory;
};

/*
 * A place of another size than the block's may be of a base class, a first member or bytes: there
 * the source's own word is better, where it can be had.
 */
static void refine(const struct types_site *site, const struct walk *walk, uint64_t size,
                   struct types_choice *choice)
{
    struct types_choice source;
    if (choice->chosen && choice->whole)
        return;
    bool named = types_source_choose(site, walk->by, size, walk->offset, &source);
    /* The sizes in a wrapper are those of its own header, unless it makes one kind of object. */
    if (named && choice->wrapper)
        named = source.type.shape == TYPES_RECORD && source.type.size == size;
    if (named)
        *choice = source;
    else if (!choice->chosen && !choice->wrapper)
        types_choose_called(site, size, choice);
}

/* True where the frame's caller is to be asked. */
static bool infer_at(struct types *types, const struct types_site *site,
                     const struct types_frame *frames, size_t count, uint64_t size,
                     struct walk *walk, struct types_answer *answer)
{
    const char *function = site->frames[site->frame_count - 1].function;
    if (types_is_operator_new(function)) {
        if (types_is_operator_new_array(function))
            walk->by = TYPES_BY_NEW_ARRAY;
        else if (walk->by == TYPES_BY_FUNCTION)
            walk->by = TYPES_BY_NEW;
        return true;
    }
    if (infer_by_name(types, site, frames, count, size, answer))
        return false;
    /* operator new[] may jump to operator new, and leave no frame. */
    struct types_call called;
    types_called(site, &called);
    if (walk->by == TYPES_BY_NEW && called.linkage != NULL &&
        strncmp(called.linkage, "_Zna", 4) == 0)
        walk->by = TYPES_BY_NEW_ARRAY;
    struct types_flow *flow = malloc(sizeof *flow);
    struct types_choice choice = {.wrapper = false};
    if (flow != NULL && types_flow_follow(site, walk->offset, walk->in_memory, flow)) {
        types_choose(site, flow, walk->by, size, &choice);
        refine(site, walk, size, &choice);
        walk->offset = flow->returned_offset;
        walk->in_memory = false;
    }
    free(flow);
    if (choice.chosen) {
        answer_with(types, site, &choice.type, size, choice.offset, answer);
        answer->confidence = choice.confidence;
        answer->rule = choice.rule;
        if (choice.single)
            answer->count = 1;
    }
    return choice.wrapper;
}

void types_infer(struct types *types, const struct types_frame *frames, size_t count, uint64_t size,
                 uint8_t kind, struct types_answer *answer)
{
    struct walk walk = {.in_memory = kind == TRACE_KIND_POSIX_MEMALIGN};
    *answer = (struct types_answer){.count = 1};
    struct types_site *site = malloc(sizeof *site);
    for (size_t i = 0; site != NULL && i < count && i < WRAPPERS_MAX; i++) {
        open_site(types, &frames[i], site);
        if (!infer_at(types, site, frames + i, count - i, size, &walk, answer))
            break;
    }
    free(site);
}
