/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of keys, for footers, help, man page and scripts. */
#ifndef MPROF_TUI_SCREEN_KEY_NAMES_H
#define MPROF_TUI_SCREEN_KEY_NAMES_H

#include <stdint.h>

#define KEY_NAME_SIZE 16
/* Writes "Left", "PgUp", "Ctrl-R", "x" to `out`, of KEY_NAME_SIZE bytes. Returns `out`. */
char *key_spelling(uint32_t key, char *out);
/* Does the same for a footer, with arrows as glyphs. */
char *key_symbol(uint32_t key, char *out);
/* Returns the key with a name from key_spelling(), 0 for an unknown one. */
uint32_t key_from_name(const char *name);

#endif
