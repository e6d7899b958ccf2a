/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion of what is typed in a prompt. Tab puts in the only word that fits, or what all that
 * fit have in common; Tab again goes through them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tui/screen/cells.h"

struct browser;

#define COMPLETIONS_MOST 256

struct completion {
    char *words[COMPLETIONS_MOST]; /* as they are put in, in order, each once */
    size_t count;
    bool more;   /* words that are not among them */
    int at;      /* the one that was put in; -1: none yet */
    int written; /* code points before the cursor that the next one replaces */
};

/* Completes the word at the cursor of the prompt that is open. */
void complete(struct browser *browser);
/* Forgets the words, after any other key. */
void completion_clear(struct completion *completion);
/* Draws the words in one row. */
void completion_render(const struct completion *completion, const struct area *row);
