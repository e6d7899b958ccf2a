/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/user/user_frames.h"

#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/user/user.h"
#include "function_names_sql.h"

/* The kind of a function, as a byte by its id. */
enum {
    OWN = USER_CODE_OWN,
    RUNTIME = USER_CODE_RUNTIME,
    HIDDEN = USER_CODE_HIDDEN,
    WRAPPER = USER_CLASS_WRAPPER,
};

/* Answers of ingest that are read by stack. */
struct stored_loading {
    const struct stacks *stacks;
    uint32_t bound;        /* answers are ids from 1 and below it */
    const uint32_t *first; /* by id: the id that stands for it; NULL: itself */
    uint32_t *answers;     /* by stack, 0: none */
};

static bool read_stored(void *context, const struct database_row *row, struct session_error *error)
{
    const struct stored_loading *loading = context;
    const struct stacks *stacks = loading->stacks;
    const int64_t stack = database_number(row, 0), id = database_number(row, 1);
    if (!names_id_check(stacks->database, "stack", stack, stacks->count, error))
        return false;
    const uint32_t answer = id > 0 && id < loading->bound ? (uint32_t)id : 0;
    loading->answers[stack] = loading->first ? loading->first[answer] : answer;
    return true;
}

bool user_frames_stored(struct session *session, uint32_t *frames, struct session_error *error)
{
    struct stored_loading loading = {
        .stacks = &session->stacks, .bound = session->stacks.frame_count, .answers = frames};
    return database_each(session->database,
                         "SELECT id, user_frame_id FROM stack WHERE user_frame_id IS NOT NULL",
                         read_stored, &loading, error);
}

bool user_owners_stored(struct session *session, uint32_t *owners, struct session_error *error)
{
    if (!names_load_owners(&session->names, session->database, error))
        return false;
    uint32_t *first = name_table_first(&session->names.owner, error);
    struct stored_loading loading = {.stacks = &session->stacks,
                                     .bound = session->names.owner.count,
                                     .first = first,
                                     .answers = owners};
    static const char sql[] = "SELECT id, owner_id FROM stack WHERE owner_id IS NOT NULL";
    const bool good = first && database_each(session->database, sql, read_stored, &loading, error);
    free(first);
    return good;
}

bool user_frames_are_stored(const struct session *session)
{
    return session_meta_number(session, "user_code_version") == (int64_t)user_code_version();
}

struct class_loading {
    struct session *session;
    const struct user_code *code;
    struct user_code_module module;
    int64_t module_id; /* of `module`; -1: none yet */
    uint8_t *classes;
};

static bool read_class(void *context, const struct database_row *row, struct session_error *error)
{
    struct class_loading *loading = context;
    const int64_t function = database_number(row, 0), module = database_number(row, 4);
    const char *name = database_text(row, 1);
    if (!names_id_check(loading->session->database, "function", function,
                        loading->session->names.function_count, error))
        return false;
    if (module != loading->module_id)
        loading->module = user_code_module(loading->code, database_text(row, 5));
    loading->module_id = module;
    uint8_t class = HIDDEN;
    const char *role = database_is_null(row, 3) ? "" : database_text(row, 3);
    const bool of_runtime = strcmp(role, "runtime") == 0;
    if ((role[0] && !of_runtime && strcmp(role, "evaluator") != 0) ||
        user_code_is_wrapper(loading->code, name ? name : ""))
        class = WRAPPER;
    else if (!role[0] || of_runtime)
        class = (uint8_t)user_code_function(loading->code, &loading->module, name ? name : "",
                                            database_text(row, 2));
    loading->classes[function] = class;
    return true;
}

uint8_t *user_classes_compute(struct session *session, const struct user_code *code,
                              struct session_error *error)
{
    struct class_loading loading = {.session = session, .code = code, .module_id = -1};
    loading.classes = malloc(session->names.function_count);
    if (!loading.classes) {
        session_fail_memory(error, "the functions' classes");
        return NULL;
    }
    memset(loading.classes, HIDDEN, session->names.function_count);
    if (database_each(session->database, function_names_sql, read_class, &loading, error))
        return loading.classes;
    free(loading.classes);
    return NULL;
}

/* Returns the class of each frame by id; free() them. NULL with `error` set. */
static uint8_t *frame_classes(struct session *session, const struct user_code *code,
                              struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    uint8_t *of_function = user_classes_compute(session, code, error), *of_frame = NULL;
    if (of_function && !(of_frame = malloc(stacks->frame_count)))
        session_fail_memory(error, "the frames' classes");
    for (uint32_t frame = 0; of_frame && frame < stacks->frame_count; frame++) {
        const uint32_t function = stacks->frame_table[frame].function;
        of_frame[frame] = function == 0 ? HIDDEN : of_function[function];
    }
    free(of_function);
    return of_frame;
}

bool user_frames_compute(struct session *session, const struct user_code *code, uint32_t *frames,
                         struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    if (!stacks_frames(&session->stacks, error))
        return false;
    uint8_t *classes = frame_classes(session, code, error);
    uint32_t *of_node = classes ? calloc(stacks->all.count, sizeof(*of_node)) : NULL;
    if (classes && !of_node)
        session_fail_memory(error, "the user's frames");
    /* The innermost frame of the user's own code, or if there is none, of a runtime. */
    for (uint32_t node = of_node ? stacks->all.count : 0; node-- > 1;) {
        const uint32_t frame = stacks_frame(stacks, node);
        const uint32_t outer = of_node[stacks_caller(stacks, node)];
        const bool hides = outer != 0 && classes[outer] == OWN;
        of_node[node] =
            classes[frame] == OWN || (classes[frame] == RUNTIME && !hides) ? frame : outer;
    }
    for (uint32_t stack = 0; of_node && stack < stacks->count; stack++)
        frames[stack] = of_node[stacks_node(stacks, stack)];
    const bool good = of_node != NULL;
    free(of_node);
    free(classes);
    return good;
}

bool user_call_sites_compute(struct session *session, const struct user_code *code,
                             const uint32_t *stored, uint32_t *call_sites,
                             struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    if (!stacks_frames(&session->stacks, error))
        return false;
    uint8_t *classes = frame_classes(session, code, error);
    uint32_t *sites = classes ? stacks_sites(stacks, stored, error) : NULL;
    /* By node: the first frame from there outward that is not a wrapper, or the outermost one. */
    uint32_t *of_node = sites ? calloc(stacks->all.count, sizeof(*of_node)) : NULL;
    if (sites && !of_node)
        session_fail_memory(error, "the call sites");
    for (uint32_t node = of_node ? stacks->all.count : 0; node-- > 1;) {
        const uint32_t frame = stacks_frame(stacks, node), caller = stacks_caller(stacks, node);
        of_node[node] = classes[frame] == WRAPPER && caller != 0 ? of_node[caller] : frame;
    }
    for (uint32_t stack = 0; of_node && stack < stacks->count; stack++)
        call_sites[stack] = stored[stack] == 0 || classes[stored[stack]] != WRAPPER
                                ? stored[stack]
                                : of_node[sites[stack]];
    const bool good = of_node != NULL;
    free(of_node);
    free(sites);
    free(classes);
    return good;
}
