/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts the stored settings in force. */
#include <string.h>

#include "schemas/code/user_code.h"
#include "session/data/error.h"
#include "session/graphs.h"
#include "session/graphs/graph_text.h"
#include "session/user_code.h"

static enum user_code_list list_of(enum session_setting_kind kind)
{
    static const enum user_code_list lists[] = {
        [SESSION_HIDE] = USER_CODE_HIDE,
        [SESSION_SHOW] = USER_CODE_SHOW,
        [SESSION_WRAPPER] = USER_CODE_WRAPPER,
    };
    return lists[kind];
}

/* Returns true if an earlier setting of another kind has the same word: the session's are first. */
static bool is_overruled(const struct session_setting *settings, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (settings[i].place != settings[n].place && settings[i].kind != settings[n].kind &&
            strcmp(settings[i].value, settings[n].value) == 0)
            return true;
    return false;
}

/* The names given to session_hide_always(). */
static struct user_code always;

bool session_hide_always(const char *word, struct session_error *error)
{
    if (!*word || strlen(word) > SESSION_SETTING_MAX || !graph_text_is_plain(word) ||
        strpbrk(word, "\t\r\n"))
        return session_fail(error, 0, "expected a word of 1 to %d printable characters",
                            SESSION_SETTING_MAX);
    return user_code_add(&always, USER_CODE_HIDE, word) || session_fail_memory(error, "a setting");
}

/* Adds these words, except those that a stored setting is about. */
static bool add_always(struct user_code *code, const struct session_setting *settings, size_t count)
{
    const struct user_code_words *words = &always.lists[USER_CODE_HIDE];
    for (size_t i = 0; i < words->count; i++) {
        bool stored = false;
        for (size_t k = 0; k < count && !stored; k++)
            stored = strcmp(settings[k].value, words->words[i]) == 0;
        if (!stored && !user_code_add(code, USER_CODE_HIDE, words->words[i]))
            return false;
    }
    return true;
}

bool session_settings_apply(struct session *session, struct session_error *error)
{
    struct session_setting *settings;
    struct user_code code = {0};
    size_t count;
    if (!session_settings(session, &settings, &count, error))
        return false;
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        if (settings[i].kind != SESSION_SOURCE && !is_overruled(settings, i))
            good = user_code_add(&code, list_of(settings[i].kind), settings[i].value);
    good = good && add_always(&code, settings, count);
    session_settings_free(settings, count);
    if (!good)
        session_fail_memory(error, "the settings");
    else if (!user_code_is_default(&code) || !user_code_is_default(session_user_code(session)))
        good = session_set_user_code(session, &code, error);
    user_code_free(&code);
    return good;
}
