/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/types/flow/function.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/base/generation_cache.h"
#include "ingest/types/flow/decode.h"

/* The number of last used functions that are certainly kept. */
#define FUNCTIONS 64
/* The most jumps in the code before a call that are examined. */
#define TARGETS_MAX 8192

struct kept_function {
    uint64_t start;
    uint32_t module;
    struct types_function *function; /* NULL: an item without content (generation_cache.h) */
};

struct types_functions {
    struct generation_cache recent;
    uint64_t read;
};

static void drop(void *item)
{
    const struct kept_function *kept = item;
    if (!kept->function)
        return;
    types_locals_free(&kept->function->locals);
    free(kept->function->targets);
    free(kept->function);
}

static bool same_function(const void *item, const void *key)
{
    const struct kept_function *kept = item, *wanted = key;
    return kept->function && kept->start == wanted->start && kept->module == wanted->module;
}

struct types_functions *types_functions_new(void)
{
    struct types_functions *functions = calloc(1, sizeof(*functions));
    if (functions)
        functions->recent = (struct generation_cache){
            .item_size = sizeof(struct kept_function), .limit = FUNCTIONS, .drop = drop};
    return functions;
}

void types_functions_free(struct types_functions *functions)
{
    if (functions)
        generation_cache_free(&functions->recent);
    free(functions);
}

struct types_function *types_functions_find(struct types_functions *functions,
                                            const struct types_site *site, uint64_t start)
{
    struct kept_function wanted = {.start = start, .module = site->module};
    uint64_t hash = hash_combine(hash_combine(hash_seed(), start), site->module);
    const struct kept_function *kept =
        generation_cache_find(&functions->recent, hash, same_function, &wanted);
    if (kept)
        return kept->function;
    wanted.function = calloc(1, sizeof(*wanted.function));
    if (!wanted.function)
        return NULL;
    functions->read++;
    wanted.function->start = wanted.function->scanned = start;
    if (types_locals_read(&wanted.function->locals, site) &&
        generation_cache_add(&functions->recent, hash, &wanted))
        return wanted.function;
    drop(&wanted);
    return NULL;
}

uint64_t types_functions_read(const struct types_functions *functions)
{
    return functions->read;
}

static int compare_addresses(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* Forgets everything about the code. */
static void begin_again(struct types_function *function)
{
    function->scanned = function->start;
    function->target_count = 0;
    function->reached = 0;
}

bool types_function_scan(struct types_function *function, const uint8_t *code, uint64_t end)
{
    if (end < function->scanned)
        begin_again(function); /* later jumps tell nothing about an earlier call */
    size_t known = function->target_count;
    bool good = true;
    while (good && function->scanned < end) {
        struct decode_instruction in;
        const uint64_t at = function->scanned - function->start;
        good = function->target_count < TARGETS_MAX &&
               types_decode_branch(code + at, end - function->scanned, function->scanned, &in) &&
               array_reserve(&function->targets, &function->target_capacity,
                             function->target_count + 1, sizeof(*function->targets));
        if (!good)
            break;
        if (in.operation == DECODE_BRANCH || in.operation == DECODE_JUMP) {
            function->targets[function->target_count++] = in.target;
            if (in.target <= function->reached)
                function->reached = 0;
        }
        function->scanned += in.length;
    }
    if (function->target_count > known)
        qsort(function->targets, function->target_count, sizeof(*function->targets),
              compare_addresses);
    return good;
}

bool types_function_is_target(const struct types_function *function, uint64_t address)
{
    return function->target_count > 0 &&
           bsearch(&address, function->targets, function->target_count, sizeof(address),
                   compare_addresses);
}
