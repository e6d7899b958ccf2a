/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/nineteen88/scripts.h"

#include <stdlib.h>

#include "session/code_facts.h"
#include "session/user_code.h"

enum place { PLACE_LEFT_OUT, PLACE_STAYS, PLACE_RUNTIME };

/* Stores the places of all functions by id, and whether any is of a runtime: if not, the places are
 * not for use. */
static bool find_places(struct model *model, uint8_t *places, bool *any,
                        struct session_error *error)
{
    bool *own = NULL;
    size_t count;
    *any = false;
    for (uint32_t i = 1; i <= model->function_count; i++) {
        struct session_function function;
        if (!session_function(model->session, i, &function, error))
            return false;
        places[i] = function.role == SESSION_ROLE_RUNTIME ? PLACE_RUNTIME : PLACE_LEFT_OUT;
        *any |= places[i] == PLACE_RUNTIME;
    }
    if (!*any)
        return true;
    if (!session_own_functions(model->session, &own, &count, error))
        return false;
    for (size_t i = 1; i < count && i <= model->function_count; i++)
        if (own[i] && places[i] != PLACE_RUNTIME)
            places[i] = PLACE_STAYS;
    free(own);
    return true;
}

/* The calls as a chain with functions of a runtime has them, by the calls of all. */
struct script {
    bool any;      /* a function of a runtime is here or outward */
    uint32_t call; /* the innermost one that stays; 0: none */
};

/* Finds the innermost calls that stay. Those whose callers all stay are the same. */
static bool cut(struct model *model, const uint8_t *places, struct script *scripts)
{
    const uint32_t count = model->call_count;
    for (uint32_t i = 1; i < count; i++) {
        const struct call call = model->calls[i];
        const struct script *outer = &scripts[call.caller];
        scripts[i].any = outer->any || places[call.function] == PLACE_RUNTIME;
        scripts[i].call = outer->call == call.caller ? i : 0;
        if (places[call.function] == PLACE_LEFT_OUT)
            scripts[i].call = outer->call;
        else if (scripts[i].call == 0 && !model_add_call(model, outer->call, call.function,
                                                         call.frame, call.within, &scripts[i].call))
            return false;
    }
    for (size_t i = 0; i < model->count; i++)
        if (scripts[model->chains[i].call].any)
            model->chains[i].call = scripts[model->chains[i].call].call;
    return true;
}

bool scripts_cut(struct model *model, struct session_error *error)
{
    uint8_t *places = calloc((size_t)model->function_count + 1, sizeof(*places));
    bool any = false;
    bool good = (places || report_fail_memory(error, "the functions")) &&
                find_places(model, places, &any, error);
    struct script *scripts = good && any ? calloc(model->call_count, sizeof(*scripts)) : NULL;
    if (good && any)
        good = (scripts && cut(model, places, scripts)) || report_fail_memory(error, "the stacks");
    free(scripts);
    free(places);
    return good;
}
