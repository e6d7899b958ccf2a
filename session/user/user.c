/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/user/user.h"

#include <stdlib.h>
#include <string.h>

#include "schemas/code/user_code.h"
#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/user/user_frames.h"

struct user {
    struct user_code code;
    /* By stack: */
    uint32_t *frames;     /* NULL: not computed yet */
    uint32_t *nodes;      /* of those frames; NULL: not found yet */
    uint32_t *owners;     /* NULL: not read yet */
    uint8_t *classes;     /* of functions, by id; NULL: not computed yet */
    uint32_t *call_sites; /* as ingest stored them; NULL: they are where ingest put them */
};

void user_free(struct user *user)
{
    if (!user)
        return;
    user_code_free(&user->code);
    free(user->frames);
    free(user->nodes);
    free(user->owners);
    free(user->classes);
    free(user->call_sites);
    free(user);
}

static struct user *user_of(struct session *session, struct session_error *error)
{
    if (!session->user && !(session->user = calloc(1, sizeof(*session->user))))
        session_fail_memory(error, "the user's settings");
    return session->user;
}

const struct user_code *session_user_code(const struct session *session)
{
    static const struct user_code built_in;
    return session->user ? &session->user->code : &built_in;
}

bool session_call_sites_moved(const struct session *session)
{
    return session->user && session->user->call_sites;
}

bool user_frames(struct session *session, const uint32_t **frames, struct session_error *error)
{
    struct user *user = user_of(session, error);
    if (!user)
        return false;
    if (!user->frames) {
        uint32_t *made = calloc(session->stacks.count, sizeof(*made));
        if (!made)
            return session_fail_memory(error, "the user's frames");
        const bool stored = user_code_is_default(&user->code) && user_frames_are_stored(session);
        if (!(stored ? user_frames_stored(session, made, error)
                     : user_frames_compute(session, &user->code, made, error))) {
            free(made);
            return false;
        }
        user->frames = made;
    }
    *frames = user->frames;
    return true;
}

bool user_classes(struct session *session, const uint8_t **classes, struct session_error *error)
{
    struct user *user = user_of(session, error);
    if (!user)
        return false;
    if (!user->classes)
        user->classes = user_classes_compute(session, &user->code, error);
    *classes = user->classes;
    return user->classes != NULL;
}

bool session_own_functions(struct session *session, bool **own, size_t *count,
                           struct session_error *error)
{
    const uint8_t *classes;
    if (!user_classes(session, &classes, error))
        return false;
    *count = session->names.function_count;
    *own = calloc(*count + 1, sizeof(**own));
    if (!*own)
        return session_fail_memory(error, "the functions");
    for (size_t function = 1; function < *count; function++)
        (*own)[function] = classes[function] == USER_CODE_OWN;
    return true;
}

bool user_owners(struct session *session, const uint32_t **owners, struct session_error *error)
{
    struct user *user = user_of(session, error);
    if (!user)
        return false;
    if (!user->owners) {
        uint32_t *made = calloc(session->stacks.count, sizeof(*made));
        if (!made)
            return session_fail_memory(error, "the owners");
        if (!user_owners_stored(session, made, error)) {
            free(made);
            return false;
        }
        user->owners = made;
    }
    *owners = user->owners;
    return true;
}

/* Puts the call sites of all stacks. Stacks without one keep their function. */
static void put_call_sites(struct stacks *stacks, const uint32_t *call_sites)
{
    for (uint32_t stack = 0; stack < stacks->count; stack++) {
        if (stacks->call_site[stack] == call_sites[stack])
            continue;
        stacks->call_site[stack] = call_sites[stack];
        stacks->function[stack] = stacks->frame_table[call_sites[stack]].function;
    }
}

/* Puts the call sites back to where ingest put them. */
static void restore_call_sites(struct session *session, struct user *user)
{
    if (user->call_sites)
        put_call_sites(&session->stacks, user->call_sites);
    free(user->call_sites);
    user->call_sites = NULL;
}

/* Moves the call sites to where the settings want them. On failure all stay. */
static bool move_call_sites(struct session *session, struct user *user,
                            const struct user_code *code, struct session_error *error)
{
    struct stacks *stacks = &session->stacks;
    const size_t size = stacks->count * sizeof(*stacks->call_site);
    uint32_t *wanted = malloc(size), *stored = malloc(size);
    bool good = false;
    if (!wanted || !stored) {
        session_fail_memory(error, "the call sites");
    } else {
        memcpy(stored, user->call_sites ? user->call_sites : stacks->call_site, size);
        good = user_call_sites_compute(session, code, stored, wanted, error);
    }
    if (good) {
        put_call_sites(stacks, wanted);
        free(user->call_sites);
        user->call_sites = stored;
        stored = NULL;
    }
    free(stored);
    free(wanted);
    return good;
}

bool session_set_user_code(struct session *session, const struct user_code *code,
                           struct session_error *error)
{
    struct user *user = user_of(session, error);
    struct user_code copy = {0};
    if (!user)
        return false;
    if (code && !user_code_copy(&copy, code))
        return session_fail_memory(error, "the user's settings");
    if (copy.lists[USER_CODE_WRAPPER].count == 0) {
        restore_call_sites(session, user);
    } else if (!move_call_sites(session, user, &copy, error)) {
        user_code_free(&copy);
        return false;
    }
    user_code_free(&user->code);
    user->code = copy;
    session->user_code_changes++;
    free(user->frames);
    free(user->nodes);
    free(user->classes);
    user->frames = user->nodes = NULL;
    user->classes = NULL;
    return true;
}

size_t session_stack_user(struct session *session, uint32_t stack)
{
    const struct stacks *stacks = &session->stacks;
    const uint32_t *frames = NULL;
    if (stack >= stacks->count || !user_frames(session, &frames, NULL) || !frames ||
        frames[stack] == 0 || !stacks_frames(&session->stacks, NULL))
        return SESSION_NO_FRAME;
    struct user *user = session->user;
    if (!user->nodes && !(user->nodes = stacks_sites(stacks, frames, NULL)))
        return SESSION_NO_FRAME;
    const uint32_t node = stacks_node(stacks, stack), found = user->nodes[stack];
    return stacks_frame(stacks, found) != frames[stack]
               ? SESSION_NO_FRAME
               : stacks_depth(stacks, node) - stacks_depth(stacks, found);
}
