#include "ingest/types.h"

#include "ingest/symbols_dwarf.h"
#include "ingest/types_allocators.h"
#include "ingest/types_site.h"
#include "ingest/types_spelling.h"

#include <stdlib.h>
#include <string.h>

/* Wrappers around wrappers that are looked through. */
#define WRAPPERS_MAX 16
/* Frames behind the allocator that may tell whose characters it allocates. */
#define STRING_FRAMES 6

struct module_index {
    uint32_t module;
    struct types_index *index; /* NULL: no DWARF */
};

struct types {
    struct symbols *symbols;
    struct module_index *modules;
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
    for (size_t i = 0; i < types->count; i++)
        types_index_free(types->modules[i].index);
    free(types->modules);
    free(types);
}

static struct types_index *index_of(struct types *types, uint32_t module,
                                    const struct symbols_file *file)
{
    for (size_t i = 0; i < types->count; i++)
        if (types->modules[i].module == module)
            return types->modules[i].index;
    if (types->count == types->capacity) {
        size_t capacity = types->capacity == 0 ? 16 : types->capacity * 2;
        struct module_index *grown = realloc(types->modules, capacity * sizeof *grown);
        if (grown == NULL)
            return NULL;
        types->modules = grown;
        types->capacity = capacity;
    }
    struct types_index *index = file == NULL || file->dwarf == NULL ? NULL : types_index_new(file);
    types->modules[types->count++] = (struct module_index){module, index};
    return index;
}

static void open_site(struct types *types, const struct types_frame *frame, struct types_site *site)
{
    site->symbols = types->symbols;
    site->module = frame->module;
    site->return_address = frame->pc + 1;
    site->file = symbols_module_file(types->symbols, frame->module);
    site->index = index_of(types, frame->module, site->file);
    site->frame_count = symbols_lookup(types->symbols, frame->module, frame->pc, site->frames);
    struct symbols_dwarf *dwarf = symbols_module_dwarf(types->symbols, frame->module);
    site->entry_count = dwarf == NULL || site->index == NULL
                            ? 0
                            : symbols_dwarf_entries(dwarf, frame->pc, site->entries);
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

/* True where the frame settled the matter; otherwise its caller is to be asked if `*wrapper`. */
static bool infer_at(struct types *types, const struct types_site *site,
                     const struct types_frame *frames, size_t count, uint64_t size,
                     struct types_answer *answer, bool *wrapper)
{
    struct types_type type;
    *wrapper = false;
    if (types_is_operator_new(site->frames[site->frame_count - 1].function)) {
        *wrapper = true;
        return false;
    }
    if (types_allocator_type(site, &type)) {
        if (type.shape == TYPES_CHARACTER && is_string_buffer(types, frames, count)) {
            string_answer(size, TYPES_RULE_ALLOCATOR, answer);
            return true;
        }
        answer_with(types, site, &type, size, 0, answer);
        answer->confidence = TYPES_EXACT;
        answer->rule = TYPES_RULE_ALLOCATOR;
        return true;
    }
    if (site->entry_count == 0 && types_is_string_function(site->frames[0].function)) {
        string_answer(size, TYPES_RULE_LIBRARY, answer);
        return true;
    }
    return false;
}

void types_infer(struct types *types, const struct types_frame *frames, size_t count, uint64_t size,
                 uint8_t kind, struct types_answer *answer)
{
    (void)kind;
    *answer = (struct types_answer){.count = 1};
    struct types_site *site = malloc(sizeof *site);
    for (size_t i = 0; site != NULL && i < count && i < WRAPPERS_MAX; i++) {
        bool wrapper;
        open_site(types, &frames[i], site);
        if (infer_at(types, site, frames + i, count - i, size, answer, &wrapper) || !wrapper)
            break;
    }
    free(site);
}
