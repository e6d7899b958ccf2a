/* SPDX-License-Identifier: BSD-2-Clause */
/* The tasks of stored_graphs.h that are about settings. */
#include <string.h>

#include "tui/browser/stored_graphs.h"

/* Splits "KIND VALUE". Returns false with `error` set if there is no such kind, or no value. */
static bool split(const char *text, enum session_setting_kind *kind, const char **value,
                  struct session_error *error)
{
    static const enum session_setting_kind kinds[] = {SESSION_HIDE, SESSION_SHOW, SESSION_WRAPPER,
                                                      SESSION_SOURCE};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        const char *name = session_setting_name(kinds[i]);
        const size_t length = strlen(name);
        if (strncmp(text, name, length) == 0 && text[length] == ' ') {
            *kind = kinds[i];
            *value = text + length + strspn(text + length, " ");
            return true;
        }
    }
    char shown[200];
    session_printable(shown, sizeof(shown), text);
    snprintf(error->message, sizeof(error->message),
             "\"%s\" is not a setting: expected hide, show, wrapper or source, and a word after it",
             shown);
    return false;
}

bool stored_settings_list(struct session *session, FILE *out, struct session_error *error)
{
    struct session_setting *settings;
    size_t count;
    if (!session_settings(session, &settings, &count, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        char value[4 * SESSION_SETTING_MAX + 1];
        session_printable(value, sizeof(value), settings[i].value);
        fprintf(out, "%-8s %-12s %s\n", session_setting_name(settings[i].kind),
                session_place_name(settings[i].place), value);
    }
    session_settings_free(settings, count);
    return true;
}

bool stored_settings_add(struct session *session, const char *text, char note[1024],
                         struct session_error *error)
{
    enum session_setting_kind kind;
    const char *value;
    struct session_storing storing = {.place =
                                          session ? SESSION_PLACE_SESSION : SESSION_PLACE_FOLDER};
    if (!split(text, &kind, &value, error) ||
        !session_setting_store(session, kind, value, &storing, error))
        return false;
    if (storing.note[0] != '\0')
        snprintf(note, 1024, "%s; the setting is stored in your folder", storing.note);
    return true;
}

bool stored_settings_delete(struct session *session, const char *text, struct session_error *error)
{
    enum session_setting_kind kind;
    const char *value;
    return split(text, &kind, &value, error) &&
           session_setting_delete(session, session ? SESSION_PLACE_SESSION : SESSION_PLACE_FOLDER,
                                  kind, value, error);
}
