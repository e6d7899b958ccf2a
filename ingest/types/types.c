/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/types.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/symbols/dwarf.h"
#include "ingest/types/allocators.h"
#include "ingest/types/answer_cache.h"
#include "ingest/types/asked.h"
#include "ingest/types/candidates.h"
#include "ingest/types/decide.h"
#include "ingest/types/dwarf/records.h"
#include "ingest/types/flow/calls.h"
#include "ingest/types/flow/function.h"
#include "ingest/types/flow/operator_new.h"
#include "ingest/types/modules.h"
#include "ingest/types/outer_frames.h"
#include "ingest/types/owner.h"
#include "ingest/types/sites.h"
#include "ingest/types/source/expression.h"
#include "ingest/types/source/source_statement.h"
#include "schemas/trace_layout.h"

/* The number of wrappers around wrappers that the rules look through. */
#define WRAPPERS_MAX 16
/* The number of frames outside the allocator that may tell whose characters it allocates. */
#define STRING_FRAMES 6

struct types {
    struct symbols *symbols;
    struct types_modules modules;
    struct types_answer_cache *cache;
    struct types_records *records; /* named by answers */
    struct types_candidate_lists candidates;
    struct types_sources *sources;
    struct types_sites *sites;
    struct types_sites *outer; /* for frames around the current site, which stays open */
    struct types_functions *functions;
    struct types_work work;
};

struct types *types_new(struct symbols *symbols)
{
    struct types *types = calloc(1, sizeof(*types));
    if (!types)
        return NULL;
    types->symbols = symbols;
    types->cache = types_answer_cache_new();
    types->records = types_records_new();
    types->sources = types_sources_new(symbols_sysroot(symbols));
    types->sites = types_sites_new();
    types->outer = types_sites_new();
    types->functions = types_functions_new();
    if (types->cache && types->records && types->sources && types->sites && types->outer &&
        types->functions) {
        types_sources_note(types->sources, symbols_depends(symbols));
        types_begin_transcript(types);
        return types;
    }
    types_free(types);
    return NULL;
}

struct symbols *types_symbols(const struct types *types)
{
    return types->symbols;
}

void types_free(struct types *types)
{
    if (!types)
        return;
    types_modules_free(&types->modules);
    types_answer_cache_free(types->cache);
    types_records_free(types->records);
    types_candidate_lists_free(&types->candidates);
    types_sources_free(types->sources);
    types_sites_free(types->sites);
    types_sites_free(types->outer);
    types_functions_free(types->functions);
    free(types);
}

/* Returns the site of a frame, kept in `sites`. NULL if memory is exhausted. Valid until the next
 * call for the same `sites`. */
static struct types_site *open_site(struct types *types, struct types_sites *sites,
                                    const struct types_frame *frame)
{
    struct types_site *known = types_sites_find(sites, frame);
    if (known)
        return known;
    types->work.sites++;
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    Dwarf_Die entries[SYMBOLS_FRAMES_MAX];
    struct types_site site = {.symbols = types->symbols,
                              .sources = types->sources,
                              .functions = types->functions,
                              .module = frame->module,
                              .return_address = frame->pc + 1,
                              .frames = frames,
                              .entries = entries};
    site.file = symbols_module_file(types->symbols, frame->module);
    const struct types_module *module = types_modules_of(&types->modules, frame->module, site.file);
    site.index = module->index;
    site.globals = module->globals;
    site.folded = module->folded;
    site.data_symbols = module->data_symbols;
    site.built = module->built;
    site.frame_count = symbols_lookup(types->symbols, frame->module, frame->pc, frames);
    site.dwarf = !site.index ? NULL : symbols_module_dwarf(types->symbols, frame->module);
    site.entry_count = !site.dwarf ? 0 : symbols_dwarf_entries(site.dwarf, frame->pc, entries);
    return types_sites_add(sites, frame, &site);
}

static const char *keep(struct types *types, char *name)
{
    const char *kept = !name ? NULL : symbols_keep(types->symbols, name);
    free(name);
    return kept;
}

/* Fills the answer with a type. Characters and void are a buffer. */
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
    answer->count = types_count(held, type->size);
    types_records_add(types->records, answer->name, site->index, type);
    if (answer->name)
        answer->element = keep(types, types_node_element(answer->name));
}

/* The frames of a stack from the site's on, and the number of them that were examined, as in the
 * answer. */
struct site_frames {
    struct types *types;
    const struct types_frame *frames;
    size_t count, seen;
};

/* Returns the frame `number` frames outside the site's. NULL: the stack ends before it. */
static const struct types_frame *look_at(struct site_frames *around, size_t number)
{
    if (around->seen <= number)
        around->seen = number < around->count ? number + 1 : around->count + 1;
    return number < around->count ? &around->frames[number] : NULL;
}

/* Returns the string whose function called the allocator of characters. NULL: none did. */
static const struct types_string *string_of(struct site_frames *around)
{
    const struct types_frame *frame;
    size_t seen = 0;
    for (size_t i = 0; seen < STRING_FRAMES && (frame = look_at(around, i)); i++) {
        struct symbols_frame expanded[SYMBOLS_FRAMES_MAX];
        size_t length = symbols_lookup(around->types->symbols, frame->module, frame->pc, expanded);
        for (size_t k = 0; k < length && seen < STRING_FRAMES; k++, seen++) {
            const struct types_string *string = types_string_of_function(expanded[k].function);
            if (string)
                return string;
        }
    }
    return NULL;
}

static void string_answer(const struct types_string *string, uint64_t size, enum types_rule rule,
                          struct types_answer *answer)
{
    *answer = (struct types_answer){.name = string->name,
                                    .size = string->size,
                                    .count = types_count(size, string->size),
                                    .confidence = TYPES_EXACT,
                                    .rule = rule};
}

/* Answers with bytes, for a library's function that is known to make them. */
static void buffer_answer(uint64_t size, struct types_answer *answer)
{
    *answer = (struct types_answer){.name = "buffer",
                                    .size = 1,
                                    .count = size > 0 ? size : 1,
                                    .confidence = TYPES_INFERRED,
                                    .rule = TYPES_RULE_LIBRARY};
}

/* Answers with the type's name alone. The size is that of a pointer or of a type of that name. */
static void name_answer(struct types *types, const struct types_site *site, const char *name,
                        uint64_t size, struct types_answer *answer)
{
    size_t length = strlen(name);
    struct types_type type;
    if (types_expression_name(site, name, length, &type)) {
        answer_with(types, site, &type, size, 0, answer);
        return;
    }
    if ((length > 0 && name[length - 1] == '*') || strcmp(name, "unsigned long") == 0)
        answer->size = 8;
    else if (strcmp(name, "std::string") == 0 && size % 32 == 0)
        answer->size = 32; /* libstdc++'s, which is only declared */
    answer->name = symbols_keep(types->symbols, name);
    answer->count = types_count(size, answer->size);
}

static const struct types_site *open_outer(void *context, size_t number)
{
    struct site_frames *around = context;
    const struct types_frame *frame = look_at(around, number);
    return !frame ? NULL : open_site(around->types, around->types->outer, frame);
}

/* Returns true if the type may be that of a string's characters. Frames further out tell. */
static bool is_character(const struct types_type *type, const char *name)
{
    return type->shape == TYPES_CHARACTER || types_string_of_character(name);
}

/* Returns the type that the innermost allocator at the site names, in its one spelling. The caller
 * frees it. */
static char *named_inside(const struct types_site *site, struct site_frames *around,
                          struct types_type *type, bool *typed)
{
    *typed = types_allocator_type(site, type);
    if (!*typed)
        return types_allocator_argument(site);
    char *name = types_name(site->index, type);
    if (!name || !is_character(type, name))
        return name;
    const struct types_string *string = string_of(around);
    if (!string || string->size != type->size)
        return name;
    free(name);
    return strdup(string->name);
}

/* Returns true if the block holds a whole number of that type. An answer that no allocator gave is
 * doubtful otherwise. */
static bool is_plausible(const struct types_answer *answer, uint64_t size)
{
    return answer->size > 0 && size % answer->size == 0;
}

/* Returns true if a pool's function called the function of the first frame, which has no name in
 * its library. */
static bool called_by_pool(struct site_frames *around)
{
    struct symbols_frame caller[SYMBOLS_FRAMES_MAX];
    const struct types_frame *outer = look_at(around, 1);
    return outer && around->frames[0].module == outer->module &&
           symbols_lookup(around->types->symbols, outer->module, outer->pc, caller) == 1 &&
           types_is_pool_function(caller[0].function);
}

/*
 * Answers from the standard library's own frames: a typed allocator and, if functions may stand for
 * others, the frames around it. `*for_all` becomes false if frames further out decided, so that the
 * answer does not hold for all stacks with that frame.
 */
static bool infer_by_library(const struct types_site *site, struct site_frames *around,
                             uint64_t size, struct types_answer *answer, bool *for_all,
                             bool *any_size)
{
    struct types *types = around->types;
    struct types_type type;
    struct types_outer_frames outer = {.certain = true};
    bool typed;
    char *name = named_inside(site, around, &type, &typed);
    const bool named = name != NULL;
    *any_size = true;
    if (typed && named && (is_character(&type, name) || types_string_of_block(name)))
        *for_all = false;
    if (types_outer_frames_doubted(site)) {
        types_outer_frames_read(site, open_outer, around, name, size, &outer);
        *for_all = *for_all && !outer.far;
        *any_size = !outer.sized && named;
    }
    if (outer.name && (!named || strcmp(outer.name, name) != 0)) {
        free(name);
        name = outer.name;
        outer.name = NULL;
        typed = outer.typed;
        type = outer.type;
    }
    free(outer.name);
    if (!name)
        return false;
    const struct types_string *string = types_string_of_block(name);
    if (string)
        string_answer(string, size, TYPES_RULE_ALLOCATOR, answer);
    else if (typed)
        answer_with(types, site, &type, size, 0, answer);
    else
        name_answer(types, site, name, size, answer);
    free(name);
    answer->confidence = outer.certain ? TYPES_EXACT : TYPES_INFERRED;
    answer->rule = TYPES_RULE_ALLOCATOR;
    if (named || is_plausible(answer, size))
        return true;
    *answer = (struct types_answer){.count = 1};
    *any_size = false;
    return false;
}

/* Answers from a frame's own name. `*for_all` and `*any_size` are those of infer_by_library(). */
static bool infer_by_name(const struct types_site *site, struct site_frames *around, uint64_t size,
                          struct types_answer *answer, bool *for_all, bool *any_size)
{
    const char *function = site->frames[site->frame_count - 1].function;
    *any_size = true;
    if (types_is_text_function(function) || types_is_pool_function(function)) {
        buffer_answer(size, answer);
        return true;
    }
    const struct types_string *string;
    if (site->entry_count == 0 && site->frame_count == 1 && called_by_pool(around)) {
        *for_all = false;
        buffer_answer(size, answer);
        return true;
    }
    if (site->entry_count == 0) {
        string = types_string_of_function(site->frames[0].function);
        if (!string)
            return false;
        string_answer(string, size, TYPES_RULE_LIBRARY, answer);
        return true;
    }
    return infer_by_library(site, around, size, answer, for_all, any_size);
}

/* Asks for an object from now on: an operator new of a class makes an object of that class or of a
 * derived one. */
static void ask_for_object(const char *function, struct types_question *question)
{
    if (question->by == TYPES_BY_FUNCTION && types_is_class_operator_new(function))
        question->by = types_is_operator_new_array(function) ? TYPES_BY_NEW_ARRAY : TYPES_BY_NEW;
}

/* Lets the caller of operator new answer: it knows the class. */
static void ask_caller_of_new(const char *function, struct types_frame_answer *found)
{
    if (types_is_operator_new_array(function))
        found->next.by = TYPES_BY_NEW_ARRAY;
    else if (found->question.by == TYPES_BY_FUNCTION)
        found->next.by = TYPES_BY_NEW;
    found->go_on = true;
    found->any_size = true;
}

/* Answers with the type that the evidence has given. */
static void answer_chosen(struct types *types, const struct types_site *site,
                          const struct types_choice *choice, uint64_t size,
                          struct types_answer *answer)
{
    answer_with(types, site, &choice->type, size, choice->offset, answer);
    answer->confidence = choice->confidence;
    answer->rule = choice->rule;
    if (choice->one_object)
        answer->count = 1;
}

/* Finds the answer for a frame that is not in the cache yet. */
static void answer_frame(struct types_site *site, struct site_frames *around,
                         struct types_frame_answer *found)
{
    struct types *types = around->types;
    struct types_question question = found->question;
    const char *function = site->frames[site->frame_count - 1].function;
    found->known = true;
    /* Code without debug information knows no sizes. */
    found->any_size = !site->index;
    found->answer = (struct types_answer){.count = 1};
    found->next = question;
    if (types_is_operator_new(function)) {
        ask_caller_of_new(function, found);
        return;
    }
    bool any_size = true;
    if (!site->nameless &&
        infer_by_name(site, around, question.size, &found->answer, &found->known, &any_size)) {
        found->any_size = any_size;
        return;
    }
    /* Without debug information the answer depends on the caller. */
    site->nameless = site->entry_count > 0 && any_size;
    /* A function that ends in a jump leaves no frame: operator new[], members of strings in the
     * library. */
    struct types_call called;
    types_called(site, &called);
    const char *called_name =
        !called.linkage ? "" : symbols_demangle(types->symbols, called.linkage);
    const struct types_string *string = types_string_of_function(called_name);
    if (string) {
        string_answer(string, question.size, TYPES_RULE_LIBRARY, &found->answer);
        return;
    }
    if (types_is_pool_function(called_name)) {
        buffer_answer(question.size, &found->answer);
        return;
    }
    if (question.by == TYPES_BY_NEW && called.linkage && strncmp(called.linkage, "_Zna", 4) == 0)
        question.by = TYPES_BY_NEW_ARRAY;
    if (site->frame_count > 1)
        ask_for_object(site->frames[0].function, &question);
    ask_for_object(called_name, &question);
    const struct types_flow *flow = types_answer_cache_flow(types->cache, site, &question);
    struct types_choice choice = {.wrapper = false};
    if (flow) {
        types_decide(site, flow, &question, &choice);
        question.offset = flow->returned_offset;
        question.in_memory = 0;
        question.opaque = question.opaque || site->entry_count == 0;
    }
    if (choice.chosen)
        answer_chosen(types, site, &choice, question.size, &found->answer);
    if (choice.wrapper)
        ask_for_object(function, &question);
    found->next = question;
    found->go_on = choice.wrapper;
}

/* Tells the symbolizer if the rules gave up the debug information of the frames' modules. */
static void tell_spent(const struct types *types, const struct types_frame *frames, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct types_module *module = types_modules_find(&types->modules, frames[i].module);
        if (module && module->index && types_index_spent(module->index))
            symbols_set_spent(types->symbols, module->module);
    }
}

void types_find(struct types *types, const struct types_frame *frames, size_t count, uint64_t size,
                uint8_t kind, struct types_answer *answer)
{
    struct types_question question;
    memset(&question, 0, sizeof(question));
    question.size = size;
    question.by = TYPES_BY_FUNCTION;
    question.in_memory = kind == TRACE_KIND_POSIX_MEMALIGN;
    *answer = (struct types_answer){.count = 1};
    bool any_size = true;
    size_t seen = 0;
    for (size_t i = 0; i < WRAPPERS_MAX; i++) {
        struct site_frames around = {types, frames + i, count - i, 0};
        seen = seen > i ? seen : i + 1;
        if (!look_at(&around, 0))
            break;
        question.module = frames[i].module;
        question.pc = frames[i].pc;
        struct types_frame_answer *found = types_answer_cache_find(types->cache, &question);
        if (!found->known) {
            struct types_site *site = open_site(types, types->sites, &frames[i]);
            if (!site)
                break;
            types->work.steps++;
            answer_frame(site, &around, found);
        }
        /* Counts frames further out that the answer depends on. */
        if (!found->known && seen < i + around.seen)
            seen = i + around.seen;
        if (found->answer.name)
            *answer = found->answer;
        any_size = any_size && found->any_size;
        if (!found->go_on)
            break;
        question = found->next;
    }
    answer->any_size = any_size;
    answer->frames = seen;
    tell_spent(types, frames, seen < count ? seen : count);
}

const char *types_find_linkage(struct types *types, const struct types_frame *frame)
{
    struct types_call called;
    const struct types_site *site = open_site(types, types->sites, frame);
    if (!site)
        return NULL;
    types_called(site, &called);
    return called.linkage;
}

unsigned types_find_form(struct types *types, const struct types_frame *frame,
                         unsigned (*form_of)(const char *linkage))
{
    const struct types_site *site = open_site(types, types->sites, frame);
    return !site ? 0 : types_call_form(site, form_of);
}

static const struct types_candidate_list *
candidates_of(struct types *types, const struct types_frame *frame, uint64_t size)
{
    bool known;
    struct types_candidate_list *list =
        types_candidate_list_at(&types->candidates, frame, size, &known);
    if (!list || known)
        return list;
    const struct types_site *site = open_site(types, types->sites, frame);
    if (site)
        types_candidates_at(site, list);
    return list;
}

size_t types_find_candidates(struct types *types, const struct types_frame *frames, size_t count,
                             uint64_t size, const char **names, size_t capacity)
{
    size_t found = 0;
    for (size_t i = 0; i < count && i < TYPES_CANDIDATE_FRAMES; i++) {
        /* A function that calls itself adds no other names. */
        if (i > 0 && frames[i].pc == frames[i - 1].pc && frames[i].module == frames[i - 1].module)
            continue;
        const struct types_candidate_list *list = candidates_of(types, &frames[i], size);
        if (list)
            found = types_candidates_join(list, names, found, capacity);
    }
    return found;
}

void types_find_declared(struct types *types, uint32_t module, const char *name, uint64_t size)
{
    const struct symbols_file *file = symbols_module_file(types->symbols, module);
    struct types_index *index = types_modules_of(&types->modules, module, file)->index;
    struct types_type type;
    if (index && types_named(index, name, &type) && type.size == size)
        types_records_add(types->records, name, index, &type);
}

bool types_find_members(struct types *types, const char *name, uint64_t size,
                        types_member_function *each, void *context)
{
    return types_records_members(types->records, name, size, each, context);
}

/* The stack of a question about an owner. Two sites are open: sites of odd frames and of even. */
struct owner_frames {
    struct types *types;
    const struct types_frame *frames;
};

static const struct types_site *open_owner_frame(void *context, size_t frame)
{
    struct owner_frames *around = context;
    struct types *types = around->types;
    return open_site(types, frame % 2 == 0 ? types->sites : types->outer, &around->frames[frame]);
}

void types_find_owner(struct types *types, const struct types_frame *frames, size_t count,
                      size_t user, size_t level, struct types_owner *owner)
{
    struct owner_frames around = {types, frames};
    const struct types_owner_question question = {open_owner_frame, &around, count, user, level};
    *owner = (struct types_owner){.name = NULL};
    owner->name = keep(types, types_owner_find(&question, &owner->confidence, &owner->farther));
    tell_spent(types, frames, count);
}

struct types_work types_work(const struct types *types)
{
    struct types_work work = types->work;
    work.files = types_sources_files_read(types->sources);
    work.functions = types_functions_read(types->functions);
    return work;
}
