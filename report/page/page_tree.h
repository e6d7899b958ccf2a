/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls of a selection as one tree of names, cut to what a page can hold. */
#pragma once

#include "report/output/ids.h"
#include "report/output/json.h"
#include "session/session.h"

/* The values of a node, with all nodes below it. */
enum page_value { PAGE_PEAK, PAGE_LIVE, PAGE_ALLOCATED, PAGE_COUNT, PAGE_VALUES };

/* Names that are none of a function. */
#define PAGE_SMALLER (-1) /* the children that were cut off */
#define PAGE_NO_STACK (-3)
#define PAGE_ROOT (-4)

struct page_tree;

/* Makes the tree of a selection, and of that of a base if `base` is a selection. `names` gets the
 * names of functions; it must outlive the tree. Returns NULL with `error` set. */
struct page_tree *page_tree_new(struct session *session, struct selection *selection,
                                struct session *base_session, struct selection *base,
                                struct text_ids *names, struct session_error *error);
void page_tree_free(struct page_tree *tree);

/* Chooses the nodes that are written, at most so many: those with the largest shares of a value of
 * any kind. Returns how many nodes are left out, and stores in `*share` the largest share that one
 * of these may have. */
size_t page_tree_cut(struct page_tree *tree, size_t most, double *share);
/* Marks the names of the nodes that are written. */
void page_tree_mark(const struct page_tree *tree, bool *used);
/* Writes it. `number` has the number on the page of each name. */
void page_tree_put(const struct page_tree *tree, const uint32_t *number, struct json *json);
