/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/executable_maps.h"

#include <stdatomic.h>

#include "capture/os/os.h"
#include "capture/os/process_maps.h"

/* The most maps that are known. Stacks end at others, as without this table. */
#define MAPS_MAX 8192u
/* The most questions that are answered without a look after one found nothing. */
#define PATIENCE_MAX 65536u
#define WAIT_TURNS 10000u
/* A look takes milliseconds, and thousands of yields take no time where no other thread wants this
 * processor. */
#define LOOK_TURNS 1000000u

/* A list of maps, by ascending address. A reader discards words that changed while it read. */
struct map_list {
    _Atomic uint64_t count;
    struct map_words {
        _Atomic uint64_t start, end, file, offset;
    } maps[MAPS_MAX];
};

/* The lowest bit of `version` says which of the two lists is current. A writer fills the other one,
 * then raises the version. A reader that finds the same version before and after has read what
 * nobody changed. */
static struct {
    struct map_list *_Atomic lists; /* two; NULL before the first look */
    _Atomic uint64_t version;
    _Atomic uint32_t looking; /* a thread fills the other list */
    _Atomic uint32_t patience, questions;
    _Atomic uint64_t looks;
} table;

static uint64_t word(const _Atomic uint64_t *at)
{
    return atomic_load_explicit(at, memory_order_relaxed);
}

static void word_set(_Atomic uint64_t *at, uint64_t value)
{
    atomic_store_explicit(at, value, memory_order_relaxed);
}

static struct executable_map read_map(const struct map_words *words)
{
    return (struct executable_map){word(&words->start), word(&words->end), word(&words->file),
                                   word(&words->offset)};
}

static bool list_find(const struct map_list *list, uint64_t address, struct executable_map *map)
{
    uint64_t low = 0, high = word(&list->count);
    if (high > MAPS_MAX)
        return false;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (word(&list->maps[middle].end) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low >= MAPS_MAX)
        return false;
    *map = read_map(&list->maps[low]);
    return address - map->start < map->end - map->start;
}

/* Returns the current list and its version. NULL if there is none. */
static const struct map_list *list_current(uint64_t *version)
{
    const struct map_list *lists = atomic_load_explicit(&table.lists, memory_order_acquire);
    *version = atomic_load_explicit(&table.version, memory_order_acquire);
    return lists ? &lists[*version & 1] : NULL;
}

static bool list_is_current(uint64_t version)
{
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&table.version, memory_order_relaxed) == version;
}

bool executable_maps_find(uint64_t address, struct executable_map *map)
{
    for (unsigned turn = 0; turn < WAIT_TURNS; turn++) {
        uint64_t version;
        const struct map_list *list = list_current(&version);
        if (!list)
            return false;
        const bool found = list_find(list, address, map);
        if (list_is_current(version))
            return found;
    }
    return false;
}

uint64_t executable_maps_twin(const struct executable_map *map, uint64_t address, unsigned index)
{
    const uint64_t offset = map->offset + (address - map->start);
    uint64_t version, twin = 0;
    const struct map_list *list = list_current(&version);
    const uint64_t count = list ? word(&list->count) : 0;
    for (uint64_t i = 0; map->file && !twin && i < count && i < MAPS_MAX; i++) {
        const struct executable_map other = read_map(&list->maps[i]);
        if (other.file == map->file && other.start != map->start &&
            offset - other.offset < other.end - other.start && index-- == 0)
            twin = other.start + (offset - other.offset);
    }
    return twin && list_is_current(version) ? twin : 0;
}

/* Hashes the path of a file. 0 if it is not one: paths of files begin with a slash. */
static uint64_t file_hash(const char *path)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if (path[0] != '/')
        return 0;
    for (; *path; path++)
        hash = (hash ^ (uint8_t)*path) * UINT64_C(0x100000001b3);
    return hash | 1;
}

static void list_add(struct map_list *list, const struct executable_map *map)
{
    const uint64_t count = word(&list->count);
    if (count == MAPS_MAX)
        return;
    word_set(&list->maps[count].start, map->start);
    word_set(&list->maps[count].end, map->end);
    word_set(&list->maps[count].file, map->file);
    word_set(&list->maps[count].offset, map->offset);
    word_set(&list->count, count + 1);
}

/* Adds the parts of the maps of `old` that lie in `mapping`, which is not executable now. A runtime
 * that writes code makes it so for that time, and stacks still lead through it. */
static void list_carry(struct map_list *list, const struct map_list *old, uint64_t *next,
                       const struct process_map *mapping)
{
    for (; *next < word(&old->count) && word(&old->maps[*next].start) < mapping->end; ++*next) {
        struct executable_map known = read_map(&old->maps[*next]);
        const uint64_t end = known.end;
        if (known.end <= mapping->start)
            continue;
        if (known.start < mapping->start) {
            known.offset += mapping->start - known.start;
            known.start = mapping->start;
        }
        if (known.end > mapping->end)
            known.end = mapping->end;
        list_add(list, &known);
        if (end > mapping->end)
            return; /* its rest lies in mappings that follow */
    }
}

static void lists_fill(struct map_list *list, const struct map_list *old, struct process_maps *maps)
{
    struct process_map mapping;
    uint64_t next = 0;
    word_set(&list->count, 0);
    while (process_maps_next(maps, &mapping)) {
        if (mapping.executable)
            list_add(list, &(struct executable_map){mapping.start, mapping.end,
                                                    file_hash(mapping.path), mapping.offset});
        else if (mapping.path[0] == 0)
            list_carry(list, old, &next, &mapping);
    }
}

/* Reads the mappings into the other list and makes it current. False if there is no memory, or the
 * mappings cannot be read. */
static bool lists_renew(void)
{
    struct map_list *lists = atomic_load_explicit(&table.lists, memory_order_acquire);
    struct process_maps *maps = process_maps_open();
    if (!maps)
        return false;
    if (!lists)
        lists = os_map(2 * sizeof(*lists));
    if (lists) {
        const uint64_t version = atomic_load_explicit(&table.version, memory_order_relaxed);
        /* Threads must see that the other list is not current before its words change. */
        atomic_thread_fence(memory_order_seq_cst);
        lists_fill(&lists[(version + 1) & 1], &lists[version & 1], maps);
        atomic_store_explicit(&table.lists, lists, memory_order_release);
        atomic_store_explicit(&table.version, version + 1, memory_order_release);
    }
    process_maps_close(maps);
    return lists != NULL;
}

/* Returns true if a look is allowed. After looks that found nothing, none is for a while. */
static bool patience_ends(void)
{
    const uint32_t questions = atomic_fetch_add_explicit(&table.questions, 1, memory_order_relaxed);
    return questions >= atomic_load_explicit(&table.patience, memory_order_relaxed);
}

static void patience_set(bool found)
{
    const uint32_t patience = atomic_load_explicit(&table.patience, memory_order_relaxed);
    const uint32_t more = patience ? 2 * patience : 1;
    atomic_store_explicit(&table.questions, 0, memory_order_relaxed);
    atomic_store_explicit(&table.patience,
                          found                 ? patience / 2
                          : more > PATIENCE_MAX ? PATIENCE_MAX
                                                : more,
                          memory_order_relaxed);
}

/* Begins a look. Waits, within reason, while another thread looks. False if that takes too long. */
static bool look_begin(void)
{
    uint32_t none = 0;
    for (unsigned turn = 0; turn < LOOK_TURNS; turn++) {
        if (atomic_compare_exchange_strong(&table.looking, &none, 1))
            return true;
        none = 0;
        os_yield();
    }
    return false;
}

bool executable_maps_hold(uint64_t address)
{
    struct executable_map map;
    if (executable_maps_find(address, &map))
        return true;
    if (!patience_ends())
        return false;
    /* If a handler left by longjmp, the look would stay begun forever. */
    const uint64_t signals = os_block_signals();
    bool found = false;
    if (look_begin()) {
        found = executable_maps_find(address, &map); /* another thread may have looked */
        if (!found) {
            atomic_fetch_add_explicit(&table.looks, 1, memory_order_relaxed);
            found = lists_renew() && executable_maps_find(address, &map);
            patience_set(found);
        }
        atomic_store_explicit(&table.looking, 0, memory_order_release);
    }
    os_restore_signals(signals);
    return found;
}

uint64_t executable_maps_looks(void)
{
    return atomic_load_explicit(&table.looks, memory_order_relaxed);
}

void executable_maps_after_fork(void)
{
    atomic_store(&table.looking, 0);
}
