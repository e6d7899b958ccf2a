/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/base/cache.h"
#include "ingest/symbols/dwarf.h"
#include "ingest/symbols/file.h"
#include "ingest/types/allocators.h"
#include "ingest/types/choose.h"
#include "ingest/types/flow/calls.h"
#include "ingest/types/flow/flow_state.h"
#include "ingest/types/outer_frames.h"
#include "ingest/types/owner.h"
#include "ingest/types/rust.h"
#include "ingest/types/sites.h"
#include "ingest/types/source/source.h"
#include "ingest/types/source/source_statement.h"
#include "schemas/trace_layout.h"

/* The number of wrappers around wrappers that the rules look through. */
#define WRAPPERS_MAX 16
/* More frames than any question has. */
#define FRAMES_MAX 64
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
        return types;
    }
    types_free(types);
    return NULL;
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

void types_next_trace(struct types *types)
{
    types_records_clear(types->records);
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
    site.frame_count = symbols_find(types->symbols, frame->module, frame->pc, frames);
    site.dwarf = !site.index ? NULL : symbols_module_dwarf(types->symbols, frame->module);
    site.entry_count = !site.dwarf ? 0 : symbols_dwarf_entries(site.dwarf, frame->pc, entries);
    return types_sites_add(sites, frame, &site);
}

/* Equal names are one pointer. */
static const char *keep_name(const struct types *types, const char *name)
{
    return !name ? NULL : symbols_keep(types->symbols, name);
}

/* Keeps a name and frees it. */
static const char *keep(const struct types *types, char *name)
{
    const char *kept = keep_name(types, name);
    free(name);
    return kept;
}

/* Returns "count(int) frame" for the frame of a coroutine, whose record has the coroutine's symbol
 * in its name: "_ZL5counti.Frame" by gcc, "….coro_frame_ty" by clang. Frees `name` if it returns
 * another. */
static char *name_of_frame(const struct types *types, char *name)
{
    static const char *const suffixes[] = {".Frame", ".coro_frame_ty"};
    const char *symbol = !name ? NULL : strstr(name, "_Z");
    char *frame = NULL;
    for (size_t i = 0; symbol && i < sizeof(suffixes) / sizeof(*suffixes); i++) {
        const size_t length = strlen(symbol), tail = strlen(suffixes[i]);
        if ((symbol == name || symbol[-1] == ':') && length > tail &&
            strcmp(symbol + length - tail, suffixes[i]) == 0)
            frame = types_frame_name(types->symbols, symbol, length - tail);
    }
    if (!frame)
        return name;
    free(name);
    return frame;
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
    answer->name = keep(types, name_of_frame(types, types_name(site->index, type)));
    answer->size = type->size;
    answer->count = types_count(held, type->size);
    answer->record = types_record_place(site->file, site->module, type);
    if (answer->name)
        answer->element = keep(types, types_node_element(answer->name));
}

/* A stack's frames from the site's on, and how many were examined, as in the answer. */
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
        size_t length = symbols_find(around->types->symbols, frame->module, frame->pc, expanded);
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

/* Returns the type that the innermost allocator at the site names, in its one spelling. Free it. */
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

/* Returns true if a pool's function called the first frame's function, unnamed in its library. */
static bool called_by_pool(struct site_frames *around)
{
    struct symbols_frame caller[SYMBOLS_FRAMES_MAX];
    const struct types_frame *outer = look_at(around, 1);
    return outer && around->frames[0].module == outer->module &&
           symbols_find(around->types->symbols, outer->module, outer->pc, caller) == 1 &&
           types_is_pool_function(caller[0].function);
}

/* Answers for storage in which a class of the program keeps its own elements. Without such a class
 * the answer stays, but only for bytes is it exact. Returns true if frames further out decided. */
static bool answer_for_storage(const struct types_site *site, struct site_frames *around,
                               const struct types_type *storage, uint64_t size,
                               struct types_answer *answer, bool *any_size)
{
    struct types_type element;
    bool far = false;
    const struct types_site *at =
        types_outer_frames_element(site, open_outer, around, storage, size, &element, &far);
    if (storage->size > 1)
        answer->confidence = TYPES_INFERRED;
    if (!at)
        return true;
    answer_with(around->types, at, &element, size, 0, answer);
    answer->confidence = TYPES_INFERRED;
    answer->rule = TYPES_RULE_ALLOCATOR;
    *any_size = false;
    return far;
}

/* Answers from the standard library's own frames: a typed allocator and, if functions may stand for
 * others, the frames around it. `*for_all` becomes false if frames further out decided, so that the
 * answer does not hold for all stacks with that frame. */
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
    const bool stored = typed && !string && types_outer_frames_is_storage(site->index, &type);
    if (string)
        string_answer(string, size, TYPES_RULE_ALLOCATOR, answer);
    else if (typed)
        answer_with(types, site, &type, size, 0, answer);
    else
        name_answer(types, site, name, size, answer);
    free(name);
    answer->confidence = outer.certain ? TYPES_EXACT : TYPES_INFERRED;
    answer->rule = TYPES_RULE_ALLOCATOR;
    if (stored && answer_for_storage(site, around, &type, size, answer, any_size))
        *for_all = false;
    if (named || is_plausible(answer, size))
        return true;
    *answer = (struct types_answer){.count = 1};
    *any_size = false;
    return false;
}

/* Returns the size of a type that needs no declaration. 0: another one. */
static uint64_t size_of_name(const char *name)
{
    static const struct {
        const char *name;
        uint64_t size;
    } sizes[] = {{"bool", 1},          {"signed char", 1},    {"unsigned char", 1},
                 {"short", 2},         {"unsigned short", 2}, {"int", 4},
                 {"unsigned int", 4},  {"float", 4},          {"long", 8},
                 {"unsigned long", 8}, {"double", 8},         {"std::string", 32}};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        if (strcmp(sizes[i].name, name) == 0)
            return sizes[i].size;
    return length > 0 && name[length - 1] == '*' ? 8 : 0;
}

/* Answers by the symbols of the standard library's functions alone, if their units have no types.
 * Most names are known then, but not the sizes. */
static bool infer_by_symbols(struct site_frames *around, uint64_t size, struct types_answer *answer)
{
    struct types_symbol_block block = {.walk = NULL};
    struct types *types = around->types;
    const struct types_frame *frame;
    bool more = true;
    for (size_t i = 0; more && i < STRING_FRAMES && (frame = look_at(around, i)); i++) {
        struct symbols_frame expanded[SYMBOLS_FRAMES_MAX];
        size_t length = symbols_find(types->symbols, frame->module, frame->pc, expanded);
        /* clang -g1 gives inlined functions no more than their last name. */
        for (size_t k = 0; more && k < length; k++)
            if (!expanded[k].inlined || strchr(expanded[k].function, ':'))
                more = types_symbol_block_read(&block, expanded[k].function);
        more = more && length > 0;
    }
    char *name = types_symbol_block_end(&block);
    if (!name)
        return false;
    const struct types_string *string = types_string_of_block(name);
    const bool bytes = strcmp(name, "char") == 0;
    *answer = (struct types_answer){.name = bytes ? "buffer" : keep_name(types, name),
                                    .element = keep(types, types_node_element(name)),
                                    .size = string  ? string->size
                                            : bytes ? 1
                                                    : size_of_name(name),
                                    .confidence = TYPES_INFERRED,
                                    .rule = TYPES_RULE_LIBRARY};
    answer->count = types_count(size, answer->size);
    free(name);
    return answer->name != NULL;
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
        if (string) {
            string_answer(string, size, TYPES_RULE_LIBRARY, answer);
            return true;
        }
        if (!infer_by_symbols(around, size, answer))
            return false;
        *for_all = *any_size = false;
        return true;
    }
    if (infer_by_library(site, around, size, answer, for_all, any_size))
        return true;
    if (types_has_types(site) || !infer_by_symbols(around, size, answer))
        return false;
    *for_all = *any_size = false;
    return true;
}

/* Asks for an object from now on: a class's operator new makes one of it or a derived class. */
static void ask_for_object(const char *function, struct types_question *question)
{
    if (question->by == TYPES_BY_FUNCTION && types_is_class_operator_new(function))
        question->by = types_is_operator_new_array(function) ? TYPES_BY_NEW_ARRAY : TYPES_BY_NEW;
    if (question->by == TYPES_BY_NEW && types_is_class_operator_new_larger(function))
        question->by = TYPES_BY_NEW_LARGER;
}

/* Returns true if the function takes a number first and returns a pointer that names no type, as
 * far as that is known. It handed the number to operator new if it ended in a jump to that. */
static bool takes_bytes(const struct types_site *site, const struct types_call *called,
                        const char *name)
{
    struct types_type number, pointer, pointee;
    Dwarf_Die function = called->function;
    if (!called->described)
        return strstr(name, "(unsigned long") != NULL;
    return types_call_parameter(site, called, 0, &number) && number.shape == TYPES_SCALAR &&
           number.size == 8 && !types_pointee(site->index, &number, &pointee) &&
           types_of(site->index, &function, &pointer) &&
           types_pointee(site->index, &pointer, &pointee) &&
           (pointee.shape == TYPES_VOID || pointee.shape == TYPES_CHARACTER);
}

/* Returns true if the site calls operator new as a function, as containers do:
 * "static_cast<T *>(::operator new(n * sizeof(T)))". A new-expression passes the size of its class,
 * which is a constant. */
static bool calls_new(const struct types_site *site, const struct types_flow *flow,
                      const struct types_call *called, const char *name)
{
    if (!types_is_operator_new(name))
        return flow->size_varies && takes_bytes(site, called, name);
    const enum types_new_statement statement = types_source_new(site);
    return statement == TYPES_NEW_CALL || (statement == TYPES_NEW_UNSTATED && flow->size_varies);
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
    if (choice->named)
        *answer = (struct types_answer){.name = choice->named,
                                        .size = size - choice->offset,
                                        .cookie = choice->offset,
                                        .count = 1};
    else
        answer_with(types, site, &choice->type, size, choice->offset, answer);
    answer->confidence = choice->confidence;
    answer->rule = choice->rule;
    if (choice->one_object)
        answer->count = 1;
}

/* Answers for a function of Rust: by the frames of its library, or else by the code after the call
 * if that names a record of the block's size. The library itself takes all memory for bytes. */
static void answer_rust(struct types_site *site, struct site_frames *around,
                        struct types_frame_answer *found)
{
    struct types *types = around->types;
    struct types_question question = found->question;
    struct types_rust rust;
    types_rust_read(site, open_outer, around, question.size, &rust);
    found->known = !rust.far;
    found->any_size = false;
    if (rust.name) {
        found->answer.size = rust.size;
        found->answer.count = types_count(question.size, rust.size);
        if (rust.defined)
            found->answer.record = types_record_place(rust.file, rust.module, &rust.type);
        found->answer.name = keep(types, rust.name);
        found->answer.element = keep(types, rust.element);
        found->answer.confidence = rust.exact ? TYPES_EXACT : TYPES_INFERRED;
        found->answer.rule = TYPES_RULE_ALLOCATOR;
        return;
    }
    if (types_is_rust_allocator(site)) {
        found->go_on = true;
        return;
    }
    struct types_choice choice = {.wrapper = false};
    const struct types_flow *flow = types_answer_cache_flow(types->cache, site, &question);
    if (flow)
        types_decide(site, flow, &question, &choice);
    if (choice.chosen && choice.type.shape == TYPES_RECORD && choice.type.size == question.size)
        answer_chosen(types, site, &choice, question.size, &found->answer);
}

/* ---- talloc ----------------------------------------------------------------------------- */

/* The bytes before the memory of a block of talloc 2, and the most frames of its functions. */
#define TALLOC_HEADER 96
#define TALLOC_FRAMES 6

static bool is_talloc(const char *function)
{
    static const char *const beginnings[] = {"libtalloc.so", "talloc_", "_talloc", "__talloc"};
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
        if (strncmp(function, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* Returns true if the called function makes text. `*number`: the register in which the macro that
 * calls it passes the type as text, or REGISTER_NONE. */
static bool read_talloc(const char *function, uint8_t *number)
{
    static const struct {
        const char *function;
        uint8_t number;
    } macros[] = {
        {"talloc_named_const", REGISTER_RDX},    {"_talloc_zero", REGISTER_RDX},
        {"_talloc_pooled_object", REGISTER_RDX}, {"_talloc_array", REGISTER_RCX},
        {"_talloc_zero_array", REGISTER_RCX},    {"_talloc_realloc", REGISTER_RCX},
        {"_talloc_memdup", REGISTER_RCX},        {"_talloc_realloc_array", REGISTER_R8},
    };
    *number = REGISTER_NONE;
    for (size_t i = 0; i < sizeof(macros) / sizeof(*macros); i++)
        if (strcmp(function, macros[i].function) == 0)
            *number = macros[i].number;
    return strncmp(function, "talloc_str", 10) == 0 || strstr(function, "asprintf") != NULL;
}

struct text_argument {
    const struct types_site *site;
    uint8_t number;
    const char *text; /* NULL: it is not known */
};

static void look_at_text(void *context, const struct types_flow_state *state,
                         const struct types_place_types *places)
{
    struct text_argument *argument = context;
    const struct types_value value = types_flow_state_register(
        state, places, argument->site->return_address - 1, argument->number);
    const struct symbols_bytes constants =
        symbols_file_section(argument->site->file->elf, ".rodata");
    const uint64_t at = (uint64_t)value.offset - constants.address;
    if (value.kind == TYPES_VALUE_ADDRESS && !value.indexed && constants.data &&
        at < constants.size && memchr(constants.data + at, '\0', constants.size - at))
        argument->text = (const char *)constants.data + at;
}

/* Answers for a function of talloc: by the text that the macro in the program makes of the type.
 * Without it the place that gets the memory behind the header counts, as for malloc. */
static void answer_talloc(struct site_frames *around, struct types_frame_answer *found)
{
    struct types *types = around->types;
    const uint64_t size = found->question.size;
    const struct types_site *site = NULL;
    struct text_argument argument = {.text = NULL};
    struct types_call called;
    struct types_type type;
    found->known = false;
    found->any_size = false;
    for (size_t i = 1; i < TALLOC_FRAMES && (site = open_outer(around, i)); i++)
        if (!is_talloc(site->frames[site->frame_count - 1].function))
            break;
    if (site)
        types_called(site, &called);
    if (site && called.linkage && size > TALLOC_HEADER) {
        if (read_talloc(called.linkage, &argument.number)) {
            buffer_answer(size - TALLOC_HEADER, &found->answer);
            found->answer.cookie = TALLOC_HEADER;
            return;
        }
        argument.site = site;
        if (argument.number != REGISTER_NONE && site->file)
            types_flow_before_call(site, look_at_text, &argument);
        if (argument.text &&
            types_expression_name(site, argument.text, strlen(argument.text), &type) &&
            type.size > 0 && (size - TALLOC_HEADER) % type.size == 0) {
            answer_with(types, site, &type, size, TALLOC_HEADER, &found->answer);
            found->answer.confidence = TYPES_INFERRED;
            found->answer.rule = TYPES_RULE_SOURCE;
            return;
        }
    }
    found->next.offset = TALLOC_HEADER;
    found->go_on = true;
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
    if (types_is_rust(site)) {
        answer_rust(site, around, found);
        return;
    }
    if (is_talloc(function)) {
        answer_talloc(around, found);
        return;
    }
    bool any_size = true;
    if (!site->nameless &&
        infer_by_name(site, around, question.size, &found->answer, &found->known, &any_size)) {
        found->any_size = any_size;
        return;
    }
    /* Without debug information the answer depends on the caller. */
    site->nameless = site->entry_count > 0 && any_size && found->known;
    /* A function that ends in a jump leaves no frame: operator new[], members of strings. */
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
        if (question.by >= TYPES_BY_NEW && !choice.chosen && !choice.ambiguous &&
            calls_new(site, flow, &called, called_name)) {
            question.by = TYPES_BY_FUNCTION;
            if (site->frame_count > 1)
                ask_for_object(site->frames[0].function, &question);
            types_decide(site, flow, &question, &choice);
        }
        question.offset = flow->returned_offset;
        question.in_memory = 0;
        question.opaque = question.opaque || site->entry_count == 0;
    }
    if (choice.chosen)
        answer_chosen(types, site, &choice, question.size, &found->answer);
    if (choice.chosen && choice.type.size > 1 && choice.rule != TYPES_RULE_STATED &&
        types_outer_frames_is_storage(site->index, &choice.type) &&
        answer_for_storage(site, around, &choice.type, question.size, &found->answer, &any_size))
        found->known = false;
    if (found->answer.name && types_language_denies(site, &choice.type, found->answer.name,
                                                    question.size, found->question.opaque))
        found->answer = (struct types_answer){.count = 1};
    if (found->answer.name && types_language_is_ada(site))
        found->answer.name = symbols_ada(types->symbols, found->answer.name);
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

static void find_type(struct types *types, const struct types_frame *frames, size_t count,
                      uint64_t size, uint8_t kind, struct types_answer *answer)
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

static const char *find_linkage(struct types *types, const struct types_frame *frame)
{
    struct types_call called;
    const struct types_site *site = open_site(types, types->sites, frame);
    tell_spent(types, frame, 1);
    if (!site)
        return NULL;
    types_called(site, &called);
    return called.linkage;
}

static unsigned find_form(struct types *types, const struct types_frame *frame,
                          unsigned (*form_of)(const char *linkage))
{
    const struct types_site *site = open_site(types, types->sites, frame);
    const unsigned form = !site ? 0 : types_call_form(site, form_of);
    tell_spent(types, frame, 1);
    return form;
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

static size_t find_candidates(struct types *types, const struct types_frame *frames, size_t count,
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
    tell_spent(types, frames, count < TYPES_CANDIDATE_FRAMES ? count : TYPES_CANDIDATE_FRAMES);
    return found;
}

/* Finds the record of a module that the program named. */
static struct types_place find_declared(struct types *types, uint32_t module, const char *name,
                                        uint64_t size)
{
    const struct symbols_file *file = symbols_module_file(types->symbols, module);
    struct types_index *index = types_modules_of(&types->modules, module, file)->index;
    struct types_type type;
    const bool found = index && types_named(index, name, &type) && type.size == size;
    tell_spent(types, &(struct types_frame){.module = module}, 1);
    return found ? types_record_place(file, module, &type)
                 : (struct types_place){.part = TYPES_PART_NONE};
}

static bool find_members(struct types *types, const struct types_place *place, bool deep,
                         types_member_function *each, void *context)
{
    const struct symbols_file *file = symbols_module_file(types->symbols, place->module);
    struct types_index *index = types_modules_of(&types->modules, place->module, file)->index;
    const bool good = !index || (deep ? types_record_fields(index, file, place, each, context)
                                      : types_record_members(index, file, place, each, context));
    tell_spent(types, &(struct types_frame){.module = place->module}, 1);
    return good;
}

/* The stack of a question about an owner. Two sites are open: sites of odd frames and of even. */
struct owner_frames {
    struct types *types;
    const struct types_frame *frames;
    struct types_flow flow; /* of an object */
};

static const struct types_site *open_owner_frame(void *context, size_t frame)
{
    struct owner_frames *around = context;
    struct types *types = around->types;
    return open_site(types, frame % 2 == 0 ? types->sites : types->outer, &around->frames[frame]);
}

static const struct types_flow *flow_of_owner_frame(void *context, size_t frame)
{
    struct owner_frames *around = context;
    const struct types_site *site = open_owner_frame(around, frame);
    struct types_question question;
    memset(&question, 0, sizeof(question));
    question.module = around->frames[frame].module;
    question.pc = around->frames[frame].pc;
    return !site ? NULL : types_answer_cache_flow(around->types->cache, site, &question);
}

static const struct types_flow *flow_of_owner_object(void *context, size_t frame, uint8_t number,
                                                     bool returned)
{
    struct owner_frames *around = context;
    const struct types_site *site = open_owner_frame(around, frame);
    return site && types_flow_follow_object(site, number, returned, &around->flow) ? &around->flow
                                                                                   : NULL;
}

static void find_owner(struct types *types, const struct types_frame *frames, size_t count,
                       size_t user, size_t level, bool whole, struct types_owner *owner)
{
    struct owner_frames around = {.types = types, .frames = frames};
    const struct types_owner_question question = {.open = open_owner_frame,
                                                  .flow = flow_of_owner_frame,
                                                  .object_flow = flow_of_owner_object,
                                                  .context = &around,
                                                  .count = count,
                                                  .user = user,
                                                  .level = level,
                                                  .whole = whole};
    *owner = (struct types_owner){.name = NULL};
    owner->name = keep(types, types_owner_find(&question, &owner->confidence, &owner->farther));
    tell_spent(types, frames, count);
}

/* ---- questions with answers in the cache ------------------------------------------------ */

static bool is_cached(const struct types *types)
{
    return cache_is_on(symbols_cache(types->symbols));
}

/* Begins a question about frames. Returns false if it is to be answered without the cache. */
static bool begin_question(struct cache_question *question, const struct types *types,
                           enum cache_kind kind, const struct types_frame *frames, size_t count)
{
    if (!is_cached(types))
        return false;
    cache_question_begin(question, symbols_cache(types->symbols), kind);
    coding_put_number(&question->asked, count);
    for (size_t i = 0; i < count; i++) {
        if (!symbols_put_module(types->symbols, frames[i].module, &question->asked)) {
            coding_free(&question->asked);
            return false;
        }
        coding_put_number(&question->asked, frames[i].pc);
    }
    return true;
}

static void put_answer(struct coding *coding, const struct types_answer *answer,
                       const struct types_frame *frames)
{
    const bool placed =
        answer->record.part != TYPES_PART_NONE && answer->record.part != TYPES_PART_SPLIT;
    size_t frame = 0;
    coding_put_text(coding, answer->name);
    coding_put_text(coding, answer->element);
    coding_put_number(coding, answer->size);
    coding_put_number(coding, answer->count);
    coding_put_number(coding, answer->cookie);
    coding_put_number(coding, answer->confidence);
    coding_put_number(coding, answer->rule);
    coding_put_number(coding, answer->any_size);
    coding_put_number(coding, answer->frames);
    coding_put_number(coding, placed ? answer->record.part : TYPES_PART_NONE);
    if (!placed)
        return;
    while (frames[frame].module != answer->record.module)
        frame++;
    coding_put_number(coding, frame);
    coding_put_number(coding, answer->record.offset);
}

static bool take_answer(const struct types *types, struct decoding *decoding,
                        const struct types_frame *frames, size_t count, struct types_answer *answer)
{
    *answer = (struct types_answer){.name = keep_name(types, decoding_text(decoding))};
    answer->element = keep_name(types, decoding_text(decoding));
    answer->size = decoding_number(decoding);
    answer->count = decoding_number(decoding);
    answer->cookie = decoding_number(decoding);
    const uint64_t confidence = decoding_number(decoding), rule = decoding_number(decoding);
    answer->confidence = (enum types_confidence)confidence;
    answer->rule = (enum types_rule)rule;
    answer->any_size = decoding_number(decoding) != 0;
    answer->frames = decoding_number(decoding);
    const uint64_t part = decoding_number(decoding);
    if (part != TYPES_PART_NONE) {
        const uint64_t frame = decoding_number(decoding);
        answer->record = (struct types_place){.part = (enum types_part)part,
                                              .offset = decoding_number(decoding)};
        if (frame >= count)
            return false;
        answer->record.module = frames[frame].module;
    }
    return !decoding->failed && confidence <= TYPES_EXACT && rule <= TYPES_RULE_STATED &&
           part < TYPES_PART_SPLIT;
}

static void infer(struct types *types, const struct types_frame *frames, size_t count,
                  uint64_t size, uint8_t kind, struct types_answer *answer)
{
    find_type(types, frames, count, size, kind, answer);
    answer->name = keep_name(types, answer->name);
    answer->element = keep_name(types, answer->element);
}

/* Asks with the innermost frame, then with one more, until the frames are as many as decided an
 * answer. Otherwise finds it. `sizes` has the bytes of the question for each number of frames. */
static void infer_by_cache(struct types *types, const struct types_frame *frames, size_t count,
                           uint64_t size, uint8_t kind, struct types_answer *answer)
{
    struct cache_question question;
    size_t sizes[FRAMES_MAX + 2] = {0};
    cache_question_begin(&question, symbols_cache(types->symbols), CACHE_INFER);
    coding_put_number(&question.asked, size);
    coding_put_number(&question.asked, kind);
    for (size_t i = 0; i <= count; i++) {
        /* The pc of no frame marks the end of the stack. */
        if (i < count && !symbols_put_module(types->symbols, frames[i].module, &question.asked))
            break;
        coding_put_number(&question.asked, i < count ? frames[i].pc + 1 : 0);
        sizes[i + 1] = question.asked.size;
        if (cache_question_ask(&question))
            break;
    }
    if (!cache_question_accept(&question,
                               take_answer(types, &question.known, frames, count, answer))) {
        infer(types, frames, count, size, kind, answer);
        put_answer(&question.found, answer, frames);
        question.asked.size = answer->frames <= count + 1 ? sizes[answer->frames] : 0;
        question.asked.failed = question.asked.size == 0;
    }
    cache_question_end(&question);
}

void types_infer(struct types *types, const struct types_frame *frames, size_t count, uint64_t size,
                 uint8_t kind, struct types_answer *answer)
{
    if (is_cached(types) && count <= FRAMES_MAX)
        infer_by_cache(types, frames, count, size, kind, answer);
    else
        infer(types, frames, count, size, kind, answer);
    types_records_add(types->records, answer->name, answer->size, &answer->record);
}

static bool take_owner(const struct types *types, struct decoding *decoding,
                       struct types_owner *owner)
{
    owner->name = keep_name(types, decoding_text(decoding));
    const uint64_t confidence = decoding_number(decoding);
    owner->confidence = (enum types_confidence)confidence;
    owner->farther = decoding_number(decoding) != 0;
    return !decoding->failed && confidence <= TYPES_EXACT;
}

void types_owner_of(struct types *types, const struct types_frame *frames, size_t count,
                    size_t user, size_t level, bool whole, struct types_owner *owner)
{
    struct cache_question question;
    if (!begin_question(&question, types, CACHE_OWNER, frames, count)) {
        find_owner(types, frames, count, user, level, whole, owner);
        return;
    }
    coding_put_number(&question.asked, user);
    coding_put_number(&question.asked, level);
    coding_put_number(&question.asked, whole);
    cache_question_ask(&question);
    if (!cache_question_accept(&question, take_owner(types, &question.known, owner))) {
        find_owner(types, frames, count, user, level, whole, owner);
        coding_put_text(&question.found, owner->name);
        coding_put_number(&question.found, owner->confidence);
        coding_put_number(&question.found, owner->farther);
    }
    cache_question_end(&question);
}

const char *types_call_linkage(struct types *types, const struct types_frame *frame)
{
    struct cache_question question;
    if (!begin_question(&question, types, CACHE_LINKAGE, frame, 1))
        return find_linkage(types, frame);
    cache_question_ask(&question);
    const char *linkage = keep_name(types, decoding_text(&question.known));
    if (!cache_question_accept(&question, true)) {
        linkage = find_linkage(types, frame);
        coding_put_text(&question.found, linkage);
    }
    cache_question_end(&question);
    return linkage;
}

unsigned types_frame_call_form(struct types *types, const struct types_frame *frame,
                               unsigned (*form_of)(const char *linkage))
{
    struct cache_question question;
    if (!begin_question(&question, types, CACHE_FORM, frame, 1))
        return find_form(types, frame, form_of);
    /* It is the same whenever this program runs. */
    coding_put_number(&question.asked,
                      (uint64_t)((uintptr_t)form_of - (uintptr_t)types_frame_call_form));
    cache_question_ask(&question);
    unsigned form = (unsigned)decoding_number(&question.known);
    if (!cache_question_accept(&question, true)) {
        form = find_form(types, frame, form_of);
        coding_put_number(&question.found, form);
    }
    cache_question_end(&question);
    return form;
}

static bool take_names(const struct types *types, struct decoding *decoding, const char **names,
                       size_t capacity, size_t *count)
{
    const uint64_t found = decoding_number(decoding);
    if (found > capacity)
        return false;
    for (*count = 0; *count < found; ++*count)
        if (!(names[*count] = keep_name(types, decoding_text(decoding))))
            return false;
    return true;
}

size_t types_candidates(struct types *types, const struct types_frame *frames, size_t count,
                        uint64_t size, const char **names, size_t capacity)
{
    struct cache_question question;
    size_t found = 0;
    if (!begin_question(&question, types, CACHE_CANDIDATES, frames, count))
        return find_candidates(types, frames, count, size, names, capacity);
    coding_put_number(&question.asked, size);
    coding_put_number(&question.asked, capacity);
    cache_question_ask(&question);
    const bool good = take_names(types, &question.known, names, capacity, &found);
    if (!cache_question_accept(&question, good)) {
        found = find_candidates(types, frames, count, size, names, capacity);
        coding_put_number(&question.found, found);
        for (size_t i = 0; i < found; i++)
            coding_put_text(&question.found, names[i]);
    }
    cache_question_end(&question);
    return found;
}

void types_declare(struct types *types, uint32_t module, const char *name, uint64_t size)
{
    struct cache_question question;
    struct types_place place;
    if (!begin_question(&question, types, CACHE_DECLARE, &(struct types_frame){module, 0}, 1)) {
        place = find_declared(types, module, name, size);
    } else {
        coding_put_text(&question.asked, name);
        coding_put_number(&question.asked, size);
        cache_question_ask(&question);
        const uint64_t part = decoding_number(&question.known);
        place = (struct types_place){module, (enum types_part)part,
                                     decoding_number(&question.known), NULL};
        if (!cache_question_accept(&question, part < TYPES_PARTS)) {
            place = find_declared(types, module, name, size);
            coding_put_number(&question.found, place.part);
            coding_put_number(&question.found, place.offset);
        }
        cache_question_end(&question);
    }
    types_records_add(types->records, name, size, &place);
}

static bool put_member(void *context, const struct types_member *member)
{
    struct coding *coding = context;
    coding_put_number(coding, 1); /* one more */
    coding_put_text(coding, member->name);
    coding_put_text(coding, member->type);
    coding_put_number(coding, member->offset);
    coding_put_number(coding, member->size);
    coding_put_number(coding, member->element);
    coding_put_number(coding, member->parent);
    return true;
}

/* Calls `each`, if it is not NULL. Returns false if that did. */
static bool each_member(struct decoding *decoding, types_member_function *each, void *context)
{
    while (decoding_number(decoding) == 1) {
        struct types_member member = {.name = decoding_text(decoding)};
        member.type = decoding_text(decoding);
        member.offset = decoding_number(decoding);
        member.size = decoding_number(decoding);
        member.element = decoding_number(decoding);
        member.parent = decoding_number(decoding);
        if (each && !decoding->failed && !each(context, &member))
            return false;
    }
    return true;
}

bool types_members(struct types *types, const char *name, uint64_t size, bool deep,
                   types_member_function *each, void *context)
{
    const struct types_place *place = types_records_find(types->records, name, size);
    struct cache_question question;
    if (!place)
        return true;
    if (place->part == TYPES_PART_SPLIT ||
        !begin_question(&question, types, CACHE_MEMBERS,
                        &(struct types_frame){place->module, place->offset}, 1))
        return find_members(types, place, deep, each, context);
    coding_put_number(&question.asked, place->part);
    coding_put_number(&question.asked, deep);
    if (!cache_question_ask(&question)) {
        find_members(types, place, deep, put_member, &question.found);
        coding_put_number(&question.found, 0); /* the end */
    }
    struct decoding known = question.known;
    if (!question.is_known)
        known = (struct decoding){question.found.bytes, question.found.bytes + question.found.size,
                                  question.found.failed};
    struct decoding whole = known;
    each_member(&whole, NULL, NULL);
    const bool good = whole.failed || whole.at != whole.end
                          ? find_members(types, place, deep, each, context)
                          : each_member(&known, each, context);
    cache_question_end(&question);
    return good;
}

struct types_work types_work(const struct types *types)
{
    struct types_work work = types->work;
    work.files = types_sources_files_read(types->sources);
    work.functions = types_functions_read(types->functions);
    return work;
}
