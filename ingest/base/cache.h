/* SPDX-License-Identifier: BSD-2-Clause */
/* The answers of the symbolizer and of the type rules, from earlier calls, in the user's folder,
 * and from this one.
 *
 * An answer depends on its question alone, and on files: on the programs and libraries that it
 * names, and on their debug information and source text. All answers of a program are one entry.
 * Its key are facts that are told before the first question. The entry is used only while all files
 * that its answers depend on are as they were.
 *
 * Order of calls for a question: cache_question_begin(), put the rest of the question into `asked`,
 * cache_question_ask(), take the answer from `known`. If cache_question_accept() returns false,
 * find the answer and put it into `found`. Then cache_question_end(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/base/array.h"

/* ---- coding -------------------------------------------------------------------------------- */

/* Numbers and texts as bytes, and back. A reader trusts no byte: after the end, and from the first
 * text that does not end, it gives zeros and NULL, and sets `failed`. */

/* Zero-initialized, it is empty. Release it with coding_free(). */
struct coding {
    uint8_t *bytes;
    size_t size, capacity;
    bool failed; /* memory is exhausted */
};

void coding_put(struct coding *coding, const void *bytes, size_t size);
void coding_put_number(struct coding *coding, uint64_t number);
/* NULL is another text than "". */
void coding_put_text(struct coding *coding, const char *text);
void coding_free(struct coding *coding);

struct decoding {
    const uint8_t *at, *end;
    bool failed;
};

uint64_t decoding_number(struct decoding *decoding);
/* Returns a text in the bytes that are read, or NULL for the text NULL. */
const char *decoding_text(struct decoding *decoding);

/* ---- depends ------------------------------------------------------------------------------- */

/* The files that answers depend on: those that were read, and those that would have been read if
 * they had been there. If one of them changes, comes or goes, the answers may be others. */

/* A zero-initialized list is empty. */
struct cache_depends {
    struct cache_depend *rows;
    size_t count, capacity;
    struct index_map by_path;
    bool special; /* one of those added was a FIFO, a device or a socket; the caller resets it */
    bool unknown; /* the list is not complete, or a file is too young to see that it changes */
};

/* Adds a file, with what identifies it now. Call it before the file is opened. */
void cache_depends_add(struct cache_depends *depends, const char *path);
/* Adds a path made as by printf(). */
__attribute__((format(printf, 2, 3))) void cache_depends_add_path(struct cache_depends *depends,
                                                                  const char *format, ...);
void cache_depends_free(struct cache_depends *depends);

/* ---- cache --------------------------------------------------------------------------------- */

struct cache;

/* The first byte of a question. */
enum cache_kind {
    CACHE_MODULE, /* has a number as its answer, for other questions */
    CACHE_LOOKUP,
    CACHE_STATUS,
    CACHE_INFER,
    CACHE_LINKAGE,
    CACHE_FORM,
    CACHE_CANDIDATES,
    CACHE_DECLARE,
    CACHE_MEMBERS,
    CACHE_OWNER,
    CACHE_KINDS
};

/* Begins without answers. `folder` is cache_folder_open()'s. It is used, not closed. Returns NULL
 * if memory is exhausted. */
struct cache *cache_new(int folder);
void cache_free(struct cache *cache);

/* Appends to a fact what every answer depends on: the programs and libraries of this process, its
 * user and the kernel. Returns false if they cannot be known. */
bool cache_machine(struct coding *fact);

/* Adds a fact to the key. After the first question it adds nothing. */
void cache_tell(struct cache *cache, const struct coding *fact);

/* Returns true if answers are looked for and kept. False for NULL. */
bool cache_is_on(const struct cache *cache);

/* Ends it: nothing is known from now on, and nothing will be saved. Accepts NULL. */
void cache_stop(struct cache *cache);

/* Returns the number that stands for a module in questions, at least 1. 0: there is none. */
uint32_t cache_module(struct cache *cache, const char *path, const uint8_t *build_id,
                      size_t build_id_length);

/* Writes the entry if there are new answers. `depends` lists the files on which they depend. */
void cache_save(struct cache *cache, struct cache_depends *depends);

struct cache_question {
    struct cache *cache;
    struct coding asked;
    struct decoding known; /* gives zeros and NULL, and fails, if the answer is not known */
    struct coding found;
    bool is_known;
};

void cache_question_begin(struct cache_question *question, struct cache *cache,
                          enum cache_kind kind);

/* Returns true if the answer is known. The bytes of `known` are valid until the next question. */
bool cache_question_ask(struct cache_question *question);

/* Returns true if the answer was known and whole, and `good`: the caller understood it. */
static inline bool cache_question_accept(const struct cache_question *question, bool good)
{
    return question->is_known && good && !question->known.failed;
}

/* Keeps what was found, if the answer was not known, and frees the memory. */
void cache_question_end(struct cache_question *question);

/* ---- folder -------------------------------------------------------------------------------- */

/* Entries of a cache in a folder of the user's. Each is a file under the name of its key. Nothing
 * that goes wrong here is an error: the entry is then not there, or not kept. */

/* The limit of the bytes of all entries. The entries that were used longest ago go first. */
#define CACHE_FOLDER_LIMIT (UINT64_C(512) << 20)
/* The bytes of the largest entry that is kept. */
#define CACHE_ENTRY_MAX ((size_t)32 << 20)

struct cache_key {
    uint64_t words[2];
};

/* Opens the folder `path` (NULL: mprof in $XDG_CACHE_HOME or ~/.cache). Makes it, for its owner
 * alone, if it is not there. Returns -1 if that fails, or if the folder is another user's or others
 * may write to it. Close it with close(). */
int cache_folder_open(const char *path);

/* Returns the `*size` bytes of the entry; free() them. NULL: there is no sound one. */
uint8_t *cache_folder_read(int folder, const struct cache_key *key, size_t *size);

/* Replaces the entry, and removes old entries beyond `limit` bytes. */
void cache_folder_write(int folder, const struct cache_key *key, const void *bytes, size_t size,
                        uint64_t limit);
