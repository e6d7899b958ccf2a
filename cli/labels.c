/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/labels.h"

#include <string.h>

size_t label_key_length(const char *label)
{
    return strcspn(label, "=");
}

static const char key_bytes[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/";

static bool is_label(const char *text)
{
    const size_t key = label_key_length(text);
    if (key == 0 || !text[key] || !text[key + 1])
        return false;
    for (const char *c = text + key + 1; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return false;
    return strspn(text, key_bytes) == key;
}

static bool same_key(const char *a, const char *b)
{
    const size_t length = label_key_length(a);
    return length == label_key_length(b) && memcmp(a, b, length) == 0;
}

int labels_take(struct labels *labels, const struct command_line *line, const char *text)
{
    static const char *const own[] = {"bytes", "thread", "type", "arena"};
    if (!is_label(text))
        return command_line_wrong(line,
                                  "--label needs a key and a text, as in service=shop, not "
                                  "\"%.80s\"",
                                  text);
    if (strlen(text) > TRACE_LABEL_MOST)
        return command_line_wrong(line, "--label: \"%.40s…\" has more than %u bytes", text,
                                  TRACE_LABEL_MOST);
    bool taken = false;
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        taken = taken || same_key(text, own[i]);
    for (size_t i = 0; i < labels->count; i++)
        taken = taken || same_key(text, labels->text[i]);
    if (taken)
        return command_line_wrong(
            line, "--label needs a key that no other label has, not \"%.80s\"", text);
    if (labels->count == TRACE_LABELS_MOST)
        return command_line_wrong(line, "there are more than %u labels", TRACE_LABELS_MOST);
    labels->text[labels->count++] = text;
    return -1;
}

bool label_keys_good(const char *text, size_t most)
{
    const char *key = text;
    for (;; key++) {
        const size_t length = strspn(key, key_bytes);
        if (length == 0 || most-- == 0)
            return false;
        for (const char *before = text; before < key; before += strspn(before, key_bytes) + 1)
            if (strspn(before, key_bytes) == length && memcmp(before, key, length) == 0)
                return false;
        key += length;
        if (*key != ',')
            return *key == '\0';
    }
}
