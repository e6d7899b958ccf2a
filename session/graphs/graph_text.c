/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/graphs/graph_text.h"

#include <ctype.h>
#include <string.h>

#include "schemas/printable.h"
#include "session/data/error.h"
#include "session/graphs.h"

/* The words that the language uses at or near the places of a graph's name. */
static const char *const reserved[] = {
    "all",      "and",      "asc",    "at",      "avg",     "by",     "color", "count",
    "desc",     "end",      "false",  "fold",    "frame",   "growth", "has",   "in",
    "is",       "join",     "leaked", "live",    "max",     "min",    "not",   "null",
    "or",       "outlived", "peak",   "process", "session", "sort",   "start", "sum",
    "survived", "top",      "true",   "ungroup", "where",   "write",
};

bool session_graph_name_check(const char *name, struct session_error *error)
{
    const size_t length = strnlen(name, SESSION_GRAPH_NAME_MAX + 1);
    if (length == 0 || length > SESSION_GRAPH_NAME_MAX)
        return session_fail(error, 0, "a graph's name has 1 to %d bytes", SESSION_GRAPH_NAME_MAX);
    bool good = !isdigit((unsigned char)name[0]);
    for (const char *at = name; good && *at; at += printable_glyph(at))
        good = printable_glyph(at) > 1 || isalnum((unsigned char)*at) || *at == '_';
    if (!good) {
        char shown[4 * SESSION_GRAPH_NAME_MAX + 1];
        session_printable(shown, sizeof(shown), name);
        return session_fail(error, 0,
                            "\"%s\" cannot be a graph's name: use letters, digits and _, and "
                            "begin with a letter",
                            shown);
    }
    for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
        if (strcmp(name, reserved[i]) == 0)
            return session_fail(error, 0, "\"%s\" is a word of the language: choose another name",
                                name);
    return true;
}

bool graph_text_is_plain(const char *text)
{
    for (unsigned length; *text; text += length) {
        /* A carriage return alone would let a terminal write over the line. */
        length = strchr("\t\n", *text) || (text[0] == '\r' && text[1] == '\n')
                     ? 1
                     : printable_glyph(text);
        if (length == 0)
            return false;
    }
    return true;
}

bool graph_text_check(const char *text, struct session_error *error)
{
    if (strlen(text) > SESSION_GRAPH_TEXT_MAX)
        return session_fail(error, 0, "a graph has %d bytes at most", SESSION_GRAPH_TEXT_MAX);
    if (!graph_text_is_plain(text))
        return session_fail(error, 0, "a graph is UTF-8 text without control characters");
    return true;
}

const char *graph_text_body(const char *text)
{
    for (;;) {
        const char *line = text + strspn(text, " \t\r\n");
        if (*line != '#')
            return line;
        text = line + strcspn(line, "\n");
    }
}

char *graph_text_about(const char *text)
{
    const char *line = text + strspn(text, " \t\r\n");
    if (*line != '#')
        return strdup("");
    line += strspn(line, "# \t");
    return strndup(line, strcspn(line, "\r\n"));
}
