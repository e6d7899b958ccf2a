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

static void cut(struct model *model, struct chain *chain, const uint8_t *places)
{
    uint32_t *functions = model->functions + chain->first, *frames = model->frames + chain->first;
    uint32_t *within = model->within + chain->first;
    size_t stay = 0;
    bool is_script = false;
    for (size_t i = 0; i < chain->depth && !is_script; i++)
        is_script = places[functions[i]] == PLACE_RUNTIME;
    for (size_t i = 0; is_script && i < chain->depth; i++) {
        if (places[functions[i]] == PLACE_LEFT_OUT)
            continue;
        functions[stay] = functions[i];
        within[stay] = within[i];
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
