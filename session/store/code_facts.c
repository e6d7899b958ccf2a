/* SPDX-License-Identifier: BSD-2-Clause */
/* The facts about code (session/code_facts.h), read when they are first asked for. */
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/code_facts.h"
#include "session/same_modules.h"
#include "session/store/error.h"
#include "session/store/session_state.h"
#include "arenas_sql.h"
#include "modules_sql.h"

/* The facts of a function that few questions need. */
struct function_facts {
    const char *linkage_name; /* NULL: as its name */
    uint64_t start;           /* 0: not known */
    enum session_role role;
};

struct code_facts {
    struct session_module *modules; /* by id - 1 */
    size_t module_count;
    struct session_arena *arenas;
    size_t arena_count;
    struct function_facts *functions; /* by id; NULL: not read yet */
    bool has_modules, has_arenas;
};

void code_facts_free(struct code_facts *facts)
{
    if (!facts)
        return;
    FREE_ALL(facts->modules, facts->arenas, facts->functions, facts);
}

static struct code_facts *facts_of(struct session *session, struct session_error *error)
{
    if (!session->facts && !(session->facts = calloc(1, sizeof(*session->facts))))
        session_fail_memory(error, "the facts about code");
    return session->facts;
}

static bool fail_id(const struct session *session, const char *what, uint32_t id,
                    struct session_error *error)
{
    return session_fail(error, 0, "%s: there is no %s with the id %" PRIu32,
                        database_path(session->database), what, id);
}

/* ---- modules ---- */

/* Stores a copy of a text, "" for NULL. */
static bool keep(struct session *session, const char *text, const char **kept,
                 struct session_error *error)
{
    *kept = names_keep(&session->names, text, error);
    return *kept != NULL;
}

static bool read_module(void *context, const struct database_row *row, struct session_error *error)
{
    struct session *session = context;
    struct code_facts *facts = session->facts;
    const uint32_t count = session->names.module.count;
    if (!names_id_check(session->database, "module", database_number(row, 0), count, error))
        return false;
    if (facts->module_count == count)
        return session_fail(error, 0, "%s: table module is damaged; ingest the trace again",
                            database_path(session->database));
    struct session_module *module = &facts->modules[facts->module_count++];
    *module = (struct session_module){
        .id = (uint32_t)database_number(row, 0),
        .load_bias = (uint64_t)database_number(row, 4),
        .start = (uint64_t)database_number(row, 5),
        .end = (uint64_t)database_number(row, 6),
        .unloaded_ns = UINT64_MAX,
    };
    return keep(session, database_text(row, 1), &module->path, error) &&
           keep(session, database_text(row, 2), &module->name, error) &&
           keep(session, database_text(row, 3), &module->build_id, error) &&
           keep(session, database_text(row, 9), &module->symbols, error) &&
           database_natural(session->database, row, 7, "table module", &module->loaded_ns, error) &&
           (database_is_null(row, 8) || database_natural(session->database, row, 8, "table module",
                                                         &module->unloaded_ns, error));
}

bool session_modules(struct session *session, const struct session_module **modules, size_t *count,
                     struct session_error *error)
{
    struct code_facts *facts = facts_of(session, error);
    if (!facts)
        return false;
    if (!facts->has_modules) {
        free(facts->modules);
        facts->module_count = 0;
        if (!(facts->modules = calloc(session->names.module.count, sizeof(*facts->modules))))
            return session_fail_memory(error, "the modules");
        if (!database_each(session->database, modules_sql, read_module, session, error))
            return false;
        facts->has_modules = true;
    }
    *modules = facts->modules;
    *count = facts->module_count;
    return true;
}

bool session_module(struct session *session, uint32_t id, struct session_module *module,
                    struct session_error *error)
{
    const struct session_module *modules;
    size_t count, low = 0;
    if (!session_modules(session, &modules, &count, error))
        return false;
    ARRAY_BISECT(low, count, modules[middle].id < id);
    if (low == count || modules[low].id != id)
        return fail_id(session, "module", id, error);
    *module = modules[low];
    return true;
}

/* ---- functions ---- */

static enum session_role role_of(const char *name)
{
    return !name                            ? SESSION_ROLE_NONE
           : strcmp(name, "allocator") == 0 ? SESSION_ROLE_ALLOCATOR
           : strcmp(name, "wrapper") == 0   ? SESSION_ROLE_WRAPPER
           : strcmp(name, "runtime") == 0   ? SESSION_ROLE_RUNTIME
           : strcmp(name, "evaluator") == 0 ? SESSION_ROLE_EVALUATOR
                                            : SESSION_ROLE_NONE;
}

static bool read_function(void *context, const struct database_row *row,
                          struct session_error *error)
{
    struct session *session = context;
    const int64_t id = database_number(row, 0);
    if (!names_id_check(session->database, "function", id, session->names.function_count, error))
        return false;
    struct function_facts *function = &session->facts->functions[id];
    function->role = role_of(database_text(row, 2));
    function->start = (uint64_t)database_number(row, 3);
    if (database_is_null(row, 1))
        return true;
    function->linkage_name = names_keep(&session->names, database_text(row, 1), error);
    return function->linkage_name != NULL;
}

/* Reads what names_load() leaves out. Sessions of earlier builds have no starts. */
static bool load_functions(struct session *session, struct session_error *error)
{
    struct code_facts *facts = facts_of(session, error);
    int64_t starts = 0;
    if (!facts || facts->functions)
        return facts != NULL;
    if (!(facts->functions = calloc(session->names.function_count, sizeof(*facts->functions))))
        return session_fail_memory(error, "the functions");
    if (database_each(session->database,
                      "SELECT count(*) FROM pragma_table_info('function') WHERE name = 'start_pc'",
                      database_take_number, &starts, error) &&
        database_each(session->database,
                      starts ? "SELECT id, linkage_name, role, start_pc FROM function"
                             : "SELECT id, linkage_name, role, NULL FROM function",
                      read_function, session, error))
        return true;
    free(facts->functions);
    facts->functions = NULL;
    return false;
}

uint32_t session_function_count(const struct session *session)
{
    return session->names.function_count - 1;
}

bool session_function(struct session *session, uint32_t id, struct session_function *function,
                      struct session_error *error)
{
    const struct names *names = &session->names;
    if (id == 0 || id >= names->function_count)
        return fail_id(session, "function", id, error);
    if (!load_functions(session, error))
        return false;
    const struct name_function *known = &names->function[id];
    const struct function_facts *facts = &session->facts->functions[id];
    *function = (struct session_function){
        .id = id,
        .name = known->name,
        .linkage_name = facts->linkage_name ? facts->linkage_name : known->name,
        .module = known->module,
        .file = known->file == 0 ? "" : names->file.name[known->file],
        .line = known->line,
        .role = facts->role,
        .has_start = facts->start != 0,
        .start = facts->start,
    };
    return true;
}

bool session_function_start(struct session *session, uint32_t id, uint64_t *address)
{
    struct session_function function;
    struct session_error ignored;
    if (!session_function(session, id, &function, &ignored) || !function.has_start)
        return false;
    *address = function.start;
    return true;
}

/* ---- frames ---- */

bool session_code_frame(const struct session *session, uint32_t id,
                        struct session_code_frame *frame, struct session_error *error)
{
    if (id == 0 || id >= session->stacks.frame_count)
        return fail_id(session, "frame", id, error);
    const struct stack_frame *known = &session->stacks.frame_table[id];
    *frame = (struct session_code_frame){
        .id = id,
        .function = known->function,
        .module = known->module,
        .pc = known->pc,
        .file = known->file == 0 ? "" : session->names.file.name[known->file],
        .line = known->line,
        .inlined = known->inlined,
        .bare = known->bare,
    };
    return true;
}

bool session_load_stacks(struct session *session, struct session_error *error)
{
    return stacks_frames(&session->stacks, error);
}

uint32_t session_stack_largest(const struct session *session)
{
    return session->stacks.count - 1;
}

bool session_stack_frames(struct session *session, uint32_t stack, const uint32_t **frames,
                          size_t *count, struct session_error *error)
{
    static const uint32_t none[1];
    struct session_error failed = {.message = ""};
    *frames = none;
    if (stack >= session->stacks.count)
        return fail_id(session, "stack", stack, error);
    *count = stacks_frames_of(&session->stacks, stack, frames, &failed);
    return failed.message[0] == '\0' || session_fail(error, 0, "%s", failed.message);
}

uint32_t session_stack_nodes(const struct session *session)
{
    return session->stacks.all.count - 1;
}

struct session_stack_node session_stack_node(const struct session *session, uint32_t node)
{
    const struct stack_frames_node *known = &session->stacks.all.nodes[node];
    return (struct session_stack_node){known->parent, known->frame};
}

uint32_t session_stack_innermost(const struct session *session, uint32_t stack)
{
    return stack < session->stacks.count ? stacks_node(&session->stacks, stack) : 0;
}

bool session_each_stack_node(struct session *session,
                             bool (*visit)(void *context, uint32_t node,
                                           const struct session_code_frame *frame, bool recurs),
                             void *context, struct session_error *error)
{
    /* By function: how many nodes from the present one outward have it. */
    uint32_t *open = calloc((size_t)session_function_count(session) + 1, sizeof(*open));
    const struct stack_frames_node *nodes = session->stacks.all.nodes;
    bool good = open || session_fail_memory(error, "the stacks");
    for (uint32_t node = session_stack_nodes(session), at = 0; good && node > 0; at = node--) {
        struct session_code_frame frame;
        for (; at != nodes[node].parent; at = nodes[at].parent)
            open[session->stacks.frame_table[nodes[at].frame].function]--;
        good = session_code_frame(session, nodes[node].frame, &frame, error) &&
               visit(context, node, &frame, open[frame.function]++ > 0);
    }
    free(open);
    return good;
}

bool session_stack_sites(struct session *session, uint32_t **nodes, struct session_error *error)
{
    *nodes = stacks_sites(&session->stacks, session->stacks.call_site, error);
    return *nodes;
}

bool session_stack_site_frame(struct session *session, uint32_t stack, uint32_t *frame,
                              struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    const uint32_t *frames;
    size_t count = 0;
    *frame = stack < stacks->count ? stacks->call_site[stack] : 0;
    if (*frame != 0)
        return true;
    if (stack < stacks->count && stacks->loaded) {
        *frame = stacks_frame(stacks, stacks_node(stacks, stack));
        return true;
    }
    if (!session_stack_frames(session, stack, &frames, &count, error))
        return false;
    *frame = count > 0 ? frames[0] : 0;
    return true;
}

/* ---- arenas ---- */

static bool read_arena(void *context, const struct database_row *row, struct session_error *error)
{
    struct session *session = context;
    struct code_facts *facts = session->facts;
    const uint32_t count = session->names.arena.count;
    if (!names_id_check(session->database, "arena", database_number(row, 0), count, error))
        return false;
    if (facts->arena_count == count)
        return session_fail(error, 0, "%s: table arena is damaged; ingest the trace again",
                            database_path(session->database));
    struct session_arena *arena = &facts->arenas[facts->arena_count++];
    *arena = (struct session_arena){.id = (uint32_t)database_number(row, 0)};
    const int64_t parent = database_number(row, 1);
    arena->parent = parent > 0 && parent < count ? (uint32_t)parent : 0;
    uint64_t *const numbers[] = {&arena->allocations, &arena->objects,    &arena->bytes,
                                 &arena->live_count,  &arena->live_bytes, &arena->peak_bytes,
                                 &arena->peak_ns};
    for (int i = 0; i < 7; i++)
        if (!database_natural(session->database, row, i + 3, "table arena", numbers[i], error))
            return false;
    return keep(session, database_text(row, 2), &arena->name, error);
}

bool session_arenas(struct session *session, const struct session_arena **arenas, size_t *count,
                    struct session_error *error)
{
    struct code_facts *facts = facts_of(session, error);
    if (!facts)
        return false;
    if (!facts->has_arenas) {
        free(facts->arenas);
        facts->arena_count = 0;
        if (!(facts->arenas = calloc(session->names.arena.count, sizeof(*facts->arenas))))
            return session_fail_memory(error, "the arenas");
        if (!database_each(session->database, arenas_sql, read_arena, session, error))
            return false;
        facts->has_arenas = true;
    }
    *arenas = facts->arenas;
    *count = facts->arena_count;
    return true;
}

/* ---- same modules ---- */

/* Pairs the modules of two sessions by build-id and name: session/same_modules.h. */

enum { THREAD_NAME_MOST = 15 }; /* bytes of a thread's name that the kernel keeps */

struct same_modules {
    size_t count;
    struct same_module list[];
};

struct modules {
    const struct session_module *list;
    size_t count;
};

/* Returns the end of the version that begins at `at`: digits with dots between them, after '-', '_'
 * or '.' and maybe a 'v', or with a dot at least. `at` itself: none begins there. */
static const char *version_end(const char *at)
{
    const char *digits = at;
    const bool apart = *digits == '-' || *digits == '_' || *digits == '.';
    if (apart)
        digits += digits[1] == 'v' ? 2 : 1;
    const char *end = digits;
    bool dotted = false;
    while (isdigit((unsigned char)*end) ||
           (end > digits && *end == '.' && isdigit((unsigned char)end[1]))) {
        dotted |= *end == '.';
        end++;
    }
    return end > digits && (apart || dotted) ? end : at;
}

/* Returns true if two names are equal but for their versions. Something must be left of them. */
static bool alike(const char *left, const char *right)
{
    const char *a = left, *b = right;
    for (;;) {
        const char *a_end = a > left ? version_end(a) : a;
        const char *b_end = b > right ? version_end(b) : b;
        if (a_end != a || b_end != b) {
            a = a_end;
            b = b_end;
        } else if (*a != *b || *a == '\0') {
            return *a == *b && a > left;
        } else {
            a++;
            b++;
        }
    }
}

static const struct session_module *find_name(const struct modules *modules, const char *name)
{
    for (size_t i = 0; i < modules->count; i++)
        if (strcmp(modules->list[i].name, name) == 0)
            return &modules->list[i];
    return NULL;
}

static const struct session_module *find_build(const struct modules *modules, const char *build)
{
    for (size_t i = 0; *build && i < modules->count; i++)
        if (strcmp(modules->list[i].build_id, build) == 0)
            return &modules->list[i];
    return NULL;
}

/* Returns the only module with a name like this one, and which the other session does not have by
 * its name. NULL: there is none, or several. */
static const struct session_module *find_alike(const struct modules *modules,
                                               const struct modules *others, const char *name)
{
    const struct session_module *found = NULL;
    for (size_t i = 0; i < modules->count; i++) {
        const struct session_module *module = &modules->list[i];
        if (!alike(module->name, name) || find_name(others, module->name))
            continue;
        if (found && strcmp(found->name, module->name) != 0)
            return NULL;
        found = module;
    }
    return found;
}

/* Finds what a module of `from` is called in `to`. Returns false if that is its own name. */
static bool find_other(const struct session_module *module, const struct modules *from,
                       const struct modules *to, struct same_module *other)
{
    const struct session_module *named = find_name(to, module->name);
    const struct session_module *built = find_build(to, module->build_id);
    *other = (struct same_module){.from = module->name, .by_build = built != NULL};
    if (named && (!built || strcmp(named->build_id, module->build_id) == 0))
        return false;
    if (!built && find_alike(from, to, module->name))
        built = find_alike(to, from, module->name);
    other->to = built ? built->name : NULL;
    return built && strcmp(built->name, module->name) != 0;
}

struct same_modules *same_modules_find(struct session *from, struct session *to,
                                       struct session_error *error)
{
    struct modules here, there;
    if (!session_modules(from, &here.list, &here.count, error) ||
        !session_modules(to, &there.list, &there.count, error))
        return NULL;
    struct same_modules *same = malloc(sizeof(*same) + here.count * sizeof(*same->list));
    if (!same)
        return session_fail_memory_null(error, "the modules");
    same->count = 0;
    for (size_t i = 0; i < here.count; i++) {
        const struct session_module *module = &here.list[i];
        if (find_name(&here, module->name) == module && /* its first mapping */
            find_other(module, &here, &there, &same->list[same->count]))
            same->count++;
    }
    return same;
}

void same_modules_free(struct same_modules *same)
{
    free(same);
}

size_t same_modules_list(const struct same_modules *same, const struct same_module **list)
{
    *list = same->list;
    return same->count;
}

const char *same_module_text(const struct same_module *module, char *out, size_t size)
{
    snprintf(out, size, "%.80s is compared as %.80s, by its %s", module->from, module->to,
             module->by_build ? "build-id" : "name without the version");
    return out;
}

/* Returns the length of the part of `name` that is the module's name, 0: it has none. */
static size_t part_of(const struct same_module *module, const char *field, const char *name)
{
    const size_t length = strlen(module->from);
    const size_t kept = length < THREAD_NAME_MOST ? length : THREAD_NAME_MOST;
    if (strcmp(field, "module") == 0 || strcmp(field, "process") == 0)
        return strcmp(name, module->from) == 0 ? length : 0;
    if (strcmp(field, "thread") == 0 || strcmp(field, "free_thread") == 0)
        return strlen(name) == kept && strncmp(name, module->from, kept) == 0 ? kept : 0;
    /* Another build has other code at this place. */
    return module->by_build && strncmp(name, module->from, length) == 0 &&
                   strncmp(name + length, "+0x", 3) == 0
               ? length
               : 0;
}

char *same_modules_name(const struct same_modules *same, const char *field, const char *name)
{
    for (size_t i = 0; i < same->count; i++) {
        const struct same_module *module = &same->list[i];
        const size_t part = part_of(module, field, name);
        const int most = strstr(field, "thread") ? THREAD_NAME_MOST : INT_MAX;
        char *text = NULL;
        if (part > 0)
            return asprintf(&text, "%.*s%s", most, module->to, name + part) < 0 ? NULL : text;
    }
    return strdup(name);
}
