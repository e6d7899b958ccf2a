/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of one symbolizer. Each distinct string is kept once and lives until
 * symbols_strings_free(), so equal names are equal pointers. */
#include "ingest/symbols/file.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "ingest/base/array.h"

/* Demangling can take more than linear time. Longer names stay as they are. */
#define MANGLED_LENGTH_MAX 16384

struct entry {
    struct entry *next;
    uint64_t hash;
    const char *demangled; /* NULL: not demangled yet */
    char text[];
};

struct symbols_strings {
    struct entry **buckets;
    size_t bucket_count; /* a power of two */
    size_t count;
};

struct symbols_strings *symbols_strings_new(void)
{
    struct symbols_strings *strings = calloc(1, sizeof(*strings));
    if (!strings)
        return NULL;
    strings->bucket_count = 1024;
    strings->buckets = calloc(strings->bucket_count, sizeof(struct entry *));
    if (!strings->buckets) {
        free(strings);
        return NULL;
    }
    return strings;
}

void symbols_strings_free(struct symbols_strings *strings)
{
    if (!strings)
        return;
    for (size_t bucket = 0; bucket < strings->bucket_count; bucket++) {
        for (struct entry *entry = strings->buckets[bucket]; entry;) {
            struct entry *next = entry->next;
            free(entry);
            entry = next;
        }
    }
    free(strings->buckets);
    free(strings);
}

/* Doubles the buckets. Without memory for it, the chains just grow longer. */
static void grow(struct symbols_strings *strings)
{
    size_t bucket_count = strings->bucket_count * 2;
    struct entry **buckets = calloc(bucket_count, sizeof(struct entry *));
    if (!buckets)
        return;
    for (size_t bucket = 0; bucket < strings->bucket_count; bucket++) {
        for (struct entry *entry = strings->buckets[bucket]; entry;) {
            struct entry *next = entry->next;
            entry->next = buckets[entry->hash & (bucket_count - 1)];
            buckets[entry->hash & (bucket_count - 1)] = entry;
            entry = next;
        }
    }
    free(strings->buckets);
    strings->buckets = buckets;
    strings->bucket_count = bucket_count;
}

static struct entry *entry_of(struct symbols_strings *strings, const char *text)
{
    uint64_t hash = hash_text(text);
    struct entry *entry = strings->buckets[hash & (strings->bucket_count - 1)];
    for (; entry; entry = entry->next)
        if (entry->hash == hash && strcmp(entry->text, text) == 0)
            return entry;
    size_t size = strlen(text) + 1;
    entry = malloc(sizeof(*entry) + size);
    if (!entry)
        return NULL;
    if (strings->count++ >= strings->bucket_count)
        grow(strings);
    memcpy(entry->text, text, size);
    entry->hash = hash;
    entry->demangled = NULL;
    entry->next = strings->buckets[hash & (strings->bucket_count - 1)];
    strings->buckets[hash & (strings->bucket_count - 1)] = entry;
    return entry;
}

const char *symbols_strings_keep(struct symbols_strings *strings, const char *text)
{
    struct entry *entry = entry_of(strings, text);
    return !entry ? "" : entry->text;
}

/* Returns the name of the function to which a thunk of D jumps, as gdc ("_DTi16_D4core…") and ldc
 * ("_DThn16_4core…") call it. The caller frees it. NULL: it is not such a thunk. */
static char *behind_thunk(const char *name)
{
    const bool ldc = strncmp(name, "_DTh", 4) == 0;
    if (!ldc && strncmp(name, "_DTi", 4) != 0)
        return NULL;
    const char *at = name + 4;
    at += ldc && *at == 'n';
    at += strspn(at, "0123456789");
    char *function = NULL;
    if (*at != '_' || asprintf(&function, "_D%s", at + (ldc ? 1 : 2)) < 0)
        return NULL;
    return function;
}

/* Does not try the demangler of D on every name, because "_D" also begins names in C. */
static char *demangle(const char *name)
{
    bool d_name = strncmp(name, "_D", 2) == 0;
    char *function = behind_thunk(name);
    if (function) {
        char *demangled = dlang_demangle(function, DMGL_PARAMS);
        free(function);
        return demangled;
    }
    if ((d_name && name[2] >= '1' && name[2] <= '9') || strcmp(name, "_Dmain") == 0)
        return dlang_demangle(name, DMGL_PARAMS);
    return cplus_demangle(name, DMGL_AUTO | DMGL_ANSI | DMGL_PARAMS);
}

const char *symbols_strings_demangle(struct symbols_strings *strings, const char *linkage_name)
{
    struct entry *entry = entry_of(strings, linkage_name);
    if (!entry)
        return "";
    if (entry->demangled)
        return entry->demangled;
    char *demangled = NULL;
    if (strlen(entry->text) <= MANGLED_LENGTH_MAX)
        demangled = demangle(entry->text);
    entry->demangled = !demangled ? entry->text : symbols_strings_keep(strings, demangled);
    free(demangled);
    return entry->demangled;
}

const char *symbols_strings_ada(struct symbols_strings *strings, const char *name)
{
    char *source = ada_demangle(name, 0);
    /* Names that it does not know come back in <>. */
    if (source && *source != '<')
        name = symbols_strings_keep(strings, source);
    free(source);
    return name;
}
