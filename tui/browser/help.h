/* SPDX-License-Identifier: BSD-2-Clause */
/* The help screen, which scrolls, searches, and which any other key closes; and the man page. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tui/screen/cells.h"

struct browser;

struct filter_example {
    const char *text, *meaning;
};
/* Returns the filters that help and man page show; each of them parses. */
const struct filter_example *help_filter_examples(size_t *count);

/* Shows the help of the current view. */
void help_open(struct browser *browser);
/* Shows the part about the user's own keys. Returns false if there are none. */
bool help_open_keys(struct browser *browser);
/* Handles a key while it is shown. */
void help_mode_key(struct browser *browser, uint32_t key);
/* Looks for a text in the help and shows it there. */
void help_search(struct browser *browser, const char *text);
void help_render(const struct browser *browser, const struct area *area);

/* Writes the man page from the tables of options, keys, commands and filters. */
void manual_page(FILE *out); /* in man(7) macros */
