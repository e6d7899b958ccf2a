/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/keys/user_keys.h"

static struct user_key keys[USER_KEYS_MOST];
static size_t count;

const struct user_key *user_keys_find(enum view_number view, uint32_t key)
{
    for (size_t i = 0; i < count; i++)
        if (keys[i].key == key && keys[i].view == view)
            return &keys[i];
    return NULL;
}

bool user_keys_bind(const struct user_key *key)
{
    for (size_t i = 0; i < count; i++) {
        if (keys[i].key == key->key && keys[i].view == key->view) {
            keys[i] = *key;
            return true;
        }
    }
    if (count == USER_KEYS_MOST)
        return false;
    keys[count++] = *key;
    return true;
}

void user_keys_clear(void)
{
    count = 0;
}

const struct user_key *user_keys_at(size_t n)
{
    return n < count ? &keys[n] : NULL;
}
