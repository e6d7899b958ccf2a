/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers things in the order in which they first occur: 0, 1, 2, …. Formats use such numbers for
 * strings, places and stacks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- pairs of numbers ---- */

struct pair_ids;

/* Returns NULL if memory is exhausted. */
struct pair_ids *pair_ids_new(void);
void pair_ids_free(struct pair_ids *ids);
/* Stores the number of a pair, which may be new. Returns false if memory is exhausted. */
bool pair_ids_find(struct pair_ids *ids, uint64_t first, uint64_t second, uint32_t *id,
                   bool *is_new);
size_t pair_ids_count(const struct pair_ids *ids);
/* Return the numbers of the pair with a number that was given. */
uint64_t pair_ids_first(const struct pair_ids *ids, uint32_t id);
uint64_t pair_ids_second(const struct pair_ids *ids, uint32_t id);

/* ---- texts ---- */

struct text_ids;

struct text_ids *text_ids_new(void);
void text_ids_free(struct text_ids *ids);
/* Does the same for texts, which must live as long as `ids`. */
bool text_ids_find(struct text_ids *ids, const char *text, uint32_t *id, bool *is_new);
size_t text_ids_count(const struct text_ids *ids);
/* Returns the text of a number that was given. */
const char *text_ids_text(const struct text_ids *ids, uint32_t id);

/* Names from outside for formats that cannot hold any byte: valid UTF-8 without control characters.
 * Each byte that is neither becomes U+FFFD. */

struct clean;

/* Returns NULL if memory is exhausted. */
struct clean *clean_new(void);
void clean_free(struct clean *clean);

/* Returns `text` itself if nothing is wrong with it, otherwise a copy that lives as long as
 * `clean`. `text` must live as long, too. Returns "?" if memory is exhausted; clean_failed() then
 * tells so. */
const char *clean_text(struct clean *clean, const char *text);
bool clean_failed(const struct clean *clean);
