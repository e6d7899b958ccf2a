/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/nineteen88/scripts.h"

#include <stdlib.h>

#include "schemas/code/user_code.h"
#include "session/code_facts.h"
#include "session/user_code.h"

enum place { PLACE_LEFT_OUT, PLACE_STAYS, PLACE_RUNTIME };

/* Stores what becomes of a function in a chain of a script. */
static bool find_place(struct model *model, uint32_t id, uint8_t *place,
                       struct session_error *error)
{
    const struct user_code *code = session_user_code(model->session);
    struct session_function function;
    struct session_module module = {.path = ""};
    if (!session_function(model->session, id, &function, error))
        return false;
    if (function.module != 0 && !session_module(model->session, function.module, &module, error))
        return false;
    const struct user_code_module about = user_code_module(code, module.path);
    const bool is_own =
        function.role == SESSION_ROLE_NONE &&
        user_code_function(code, &about, function.name, function.linkage_name) == USER_CODE_OWN;
    *place = function.role == SESSION_ROLE_RUNTIME ? PLACE_RUNTIME
             : is_own                              ? PLACE_STAYS
                                                   : PLACE_LEFT_OUT;
    return true;
}

/* Stores the places of all functions by id, and whether any is of a runtime. */
static bool find_places(struct model *model, uint8_t *places, bool *any,
                        struct session_error *error)
{
    *any = false;
    for (uint32_t i = 1; i <= model->function_count; i++) {
        if (!find_place(model, i, &places[i], error))
            return false;
        *any |= places[i] == PLACE_RUNTIME;
    }
    return true;
}

static void cut(struct model *model, struct chain *chain, const uint8_t *places)
{
    uint32_t *functions = model->functions + chain->first, *frames = model->frames + chain->first;
    size_t stay = 0;
    bool is_script = false;
    for (size_t i = 0; i < chain->depth && !is_script; i++)
        is_script = places[functions[i]] == PLACE_RUNTIME;
    for (size_t i = 0; is_script && i < chain->depth; i++) {
        if (places[functions[i]] == PLACE_LEFT_OUT)
            continue;
        functions[stay] = functions[i];
        frames[stay++] = frames[i];
    }
    if (is_script)
        chain->depth = stay;
}

bool scripts_cut(struct model *model, struct session_error *error)
{
    uint8_t *places = calloc((size_t)model->function_count + 1, sizeof(*places));
    bool any = false;
    bool good = (places || report_fail_memory(error, "the functions")) &&
                find_places(model, places, &any, error);
    for (size_t i = 0; good && any && i < model->count; i++)
        cut(model, &model->chains[i], places);
    free(places);
    return good;
}
