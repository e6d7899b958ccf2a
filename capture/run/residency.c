/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/residency.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/os/clock.h"
#include "capture/os/seccomp/seccomp.h"
#include "schemas/array.h"
#include "schemas/trace_codec.h"

#define PAGE 4096u
#define PAGE_SHIFT 12

/* ---- pages ------------------------------------------------------------------------------ */

struct run_of_pages {
    uint64_t page, count;
    enum trace_page_class kind;
};

struct page_list {
    struct run_of_pages *runs;
    size_t count, capacity;
};

/* Adds pages after all others. */
static bool add_pages(struct page_list *list, uint64_t page, uint64_t count,
                      enum trace_page_class kind)
{
    struct run_of_pages *last = list->count ? &list->runs[list->count - 1] : NULL;
    if (last && last->page + last->count == page && last->kind == kind) {
        last->count += count;
        return true;
    }
    if (!ARRAY_GROW(list->runs, list->count, list->capacity))
        return false;
    list->runs[list->count++] = (struct run_of_pages){page, count, kind};
    return true;
}

/* ---- mappings --------------------------------------------------------------------------- */

struct mapping {
    uint64_t start, end, offset;
    uint64_t device, inode;
    unsigned flags; /* enum trace_mapping_flag */
    char *name;     /* "" for anonymous memory */
};

struct mapping_list {
    struct mapping *mappings;
    size_t count, capacity;
};

static void clear_mappings(struct mapping_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->mappings[i].name);
    list->count = 0;
}

struct run_residency {
    const struct client *client;
    struct run_observer *observer;
    struct run_residency_options options;
    pid_t process;
    int pagemap;
    bool by_file;     /* the kernel has no PAGEMAP_SCAN */
    uint64_t number;  /* of the next moment, from 1 */
    unsigned deltas;  /* since the last full moment */
    uint64_t maximum; /* resident bytes at the largest moment so far, and at the last one */
    uint64_t last;
    double cost;      /* processor seconds of the last moment */
    uint64_t due;     /* ms; the next one that nobody asked for comes then */
    uint64_t allowed; /* no moment for a maximum comes before */
    unsigned moments;
    struct page_list pages, before;
    struct mapping_list maps, maps_before;
    uint8_t *coded;
    size_t coded_length, coded_capacity;
    bool listens;
    pthread_t listener;
    uint32_t heard; /* rings of the bell that are dealt with */
};

#define HUGETLBFS 0x958458f6

/* Returns true for a file of hugetlbfs, which has no block device. */
static bool is_hugetlb(const struct mapping *mapping, const char *name)
{
    struct statfs about;
    if (mapping->inode == 0 || mapping->device >> 32 != 0 || name[0] != '/')
        return false;
    return strncmp(name, "/anon_hugepage", 14) == 0 ||
           (statfs(name, &about) == 0 && about.f_type == HUGETLBFS);
}

/* Returns true for mprof's own libraries. */
static bool own_library(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash && strncmp(slash + 1, "libmprof", 8) == 0 && strstr(slash, ".so");
}

/* Reads one line of /proc/PID/maps. Returns false if it is none of a process. */
static bool read_mapping(const struct run_residency *residency, char *line, struct mapping *mapping)
{
    char access[5];
    unsigned major, minor;
    int at = 0;
    *mapping = (struct mapping){0};
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
               &mapping->start, &mapping->end, access, &mapping->offset, &major, &minor,
               &mapping->inode, &at) < 7 ||
        at == 0 || mapping->start >> 63)
        return false;
    line[strcspn(line, "\n")] = '\0';
    mapping->device = (uint64_t)major << 32 | minor;
    mapping->flags = (access[0] == 'r' ? TRACE_MAPPING_READ : 0u) |
                     (access[1] == 'w' ? TRACE_MAPPING_WRITE : 0u) |
                     (access[2] == 'x' ? TRACE_MAPPING_EXECUTE : 0u) |
                     (access[3] == 's' ? TRACE_MAPPING_SHARED : 0u);
    const char *name = line + at;
    if (own_library(name) ||
        (mapping->inode == (uint64_t)residency->client->inode && access[3] == 's'))
        mapping->flags |= TRACE_MAPPING_RECORDER;
    if (mapping->flags & TRACE_MAPPING_RECORDER)
        mapping->offset = 0; /* another part of the trace is no other mapping */
    if (is_hugetlb(mapping, name))
        mapping->flags |= TRACE_MAPPING_HUGETLB;
    mapping->name = strdup(name);
    return mapping->name != NULL;
}

static bool read_mappings(struct run_residency *residency)
{
    char path[64], *line = NULL;
    size_t size = 0;
    struct mapping_list *list = &residency->maps;
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)residency->process);
    FILE *file = fopen(path, "re");
    clear_mappings(list);
    if (!file)
        return false;
    setvbuf(file, NULL, _IOFBF, 1 << 16);
    while (getline(&line, &size, file) > 0) {
        struct mapping mapping;
        if (!read_mapping(residency, line, &mapping))
            continue;
        /* A mapping that grew while it was read comes twice. */
        if (list->count > 0 && list->mappings[list->count - 1].end > mapping.start)
            free(list->mappings[--list->count].name);
        if (!ARRAY_GROW(list->mappings, list->count, list->capacity)) {
            free(mapping.name);
            break;
        }
        list->mappings[list->count++] = mapping;
    }
    free(line);
    fclose(file);
    return list->count > 0;
}

/* Returns true for pages that are in page tables and in no resident set. */
static bool is_of_kernel(const struct mapping *mapping)
{
    return strncmp(mapping->name, "[vvar", 5) == 0;
}

/* ---- PAGEMAP_SCAN ----------------------------------------------------------------------- */

struct scan_region {
    uint64_t start, end, categories;
};

struct scan_argument {
    uint64_t size, flags, start, end, walk_end, vec, vec_length, max_pages;
    uint64_t inverted, mask, any_of, wanted;
};
#define PAGES_SCAN _IOWR('f', 16, struct scan_argument)
enum { IS_PRESENT = 8, IS_SWAPPED = 16, IS_ZERO = 32, IS_HUGE = 64 };

/* The regions of one call: if there were more, the kernel's walk_end would be wrong (6.18). */
#define SCAN_REGIONS 512u
/* The most mapped bytes of one call. The program's mmap waits while a call runs. */
#define SCAN_SPAN ((uint64_t)16 << 20)
#define ADDRESSES_END UINT64_C(0x7ffffffff000)

static enum trace_page_class class_of(uint64_t categories)
{
    if (categories & IS_ZERO)
        return TRACE_PAGE_ZERO;
    if (!(categories & IS_PRESENT))
        return TRACE_PAGE_SWAPPED;
    return categories & IS_HUGE ? TRACE_PAGE_HUGE : TRACE_PAGE_PRESENT;
}

/* Returns 0, or the errno. */
static int scan_span(struct run_residency *residency, uint64_t start, uint64_t end)
{
    static struct scan_region regions[SCAN_REGIONS];
    struct scan_argument argument = {.size = sizeof(argument),
                                     .start = start,
                                     .end = end,
                                     .vec = (uint64_t)(uintptr_t)regions,
                                     .vec_length = SCAN_REGIONS,
                                     .any_of = IS_PRESENT | IS_SWAPPED,
                                     .wanted = IS_PRESENT | IS_SWAPPED | IS_ZERO | IS_HUGE};
    while (argument.start < end) {
        const int count = ioctl(residency->pagemap, PAGES_SCAN, &argument);
        if (count < 0)
            return errno;
        for (int i = 0; i < count; i++)
            if (!add_pages(&residency->pages, regions[i].start >> PAGE_SHIFT,
                           (regions[i].end - regions[i].start) >> PAGE_SHIFT,
                           class_of(regions[i].categories)))
                return ENOMEM;
        if ((unsigned)count < SCAN_REGIONS || argument.walk_end <= argument.start)
            break;
        argument.start = argument.walk_end;
    }
    return 0;
}

/* Reads all pages, also of mappings that came since the mappings were read, except the kernel's. */
static int scan_all(struct run_residency *residency)
{
    uint64_t from = 0, mapped = 0;
    int error = 0;
    for (size_t i = 0; error == 0 && i < residency->maps.count; i++) {
        const struct mapping *mapping = &residency->maps.mappings[i];
        if (is_of_kernel(mapping)) {
            error = scan_span(residency, from, mapping->start);
            from = mapping->end;
            mapped = 0;
            continue;
        }
        for (uint64_t at = mapping->start; error == 0 && at < mapping->end;) {
            const uint64_t room = SCAN_SPAN - mapped, left = mapping->end - at;
            at += left < room ? left : room;
            mapped += left < room ? left : room;
            if (mapped < SCAN_SPAN)
                continue;
            error = scan_span(residency, from, at);
            from = at;
            mapped = 0;
        }
    }
    return error ? error : scan_span(residency, from, ADDRESSES_END);
}

/* ---- /proc/PID/pagemap ------------------------------------------------------------------ */

#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)
#define PAGEMAP_FILE (UINT64_C(1) << 61)
#define PAGEMAP_EXCLUSIVE (UINT64_C(1) << 56)

enum { ENTRIES = 16384 };
static uint64_t entries[ENTRIES];

/* Reads the entries of pages from `page` on, up to `end` or as many as there is room for. Returns
 * their number, 0: none can be read. */
static size_t read_entries(const struct run_residency *residency, uint64_t page, uint64_t end)
{
    const size_t wanted = end - page < ENTRIES ? (size_t)(end - page) : (size_t)ENTRIES;
    const ssize_t got = pread(residency->pagemap, entries, wanted * sizeof(*entries),
                              (off_t)(page * sizeof(*entries)));
    return got <= 0 ? 0 : (size_t)got / sizeof(*entries);
}

/* Reads the pages of all mappings, eight bytes a page. */
static int read_all(struct run_residency *residency)
{
    for (size_t i = 0; i < residency->maps.count; i++) {
        const struct mapping *mapping = &residency->maps.mappings[i];
        const uint64_t end = mapping->end >> PAGE_SHIFT;
        for (uint64_t page = mapping->start >> PAGE_SHIFT; page < end && !is_of_kernel(mapping);) {
            const size_t count = read_entries(residency, page, end);
            if (count == 0)
                break;
            for (size_t k = 0; k < count; k++)
                if (entries[k] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED) &&
                    !add_pages(&residency->pages, page + k, 1,
                               entries[k] & PAGEMAP_PRESENT ? TRACE_PAGE_PRESENT
                                                            : TRACE_PAGE_SWAPPED))
                    return ENOMEM;
            page += count;
        }
    }
    return 0;
}

/* MPROF_TEST_PAGEMAP=file in the environment of mprof-run forces the way of older kernels. */
static bool prefers_file(void)
{
    const char *way = getenv("MPROF_TEST_PAGEMAP");
    return way && strcmp(way, "file") == 0;
}

static int read_pages(struct run_residency *residency)
{
    residency->pages.count = 0;
    if (!residency->by_file) {
        const int error = scan_all(residency);
        if (error != ENOTTY && error != EINVAL && error != ENOSYS)
            return error;
        residency->by_file = true;
        residency->pages.count = 0;
    }
    return read_all(residency);
}

#define PAGEMAP_KNOWN (PAGEMAP_PRESENT | PAGEMAP_FILE | PAGEMAP_EXCLUSIVE)

/* Tells the present pages apart that are private memory of another process, too. */
static int find_shared(struct run_residency *residency)
{
    struct page_list list = {0};
    bool good = true;
    for (size_t i = 0; good && i < residency->pages.count; i++) {
        const struct run_of_pages *run = &residency->pages.runs[i];
        uint64_t page = run->page;
        const uint64_t end = run->page + run->count;
        while (good && page < end && run->kind == TRACE_PAGE_PRESENT) {
            const size_t count = read_entries(residency, page, end);
            if (count == 0)
                break;
            for (size_t k = 0; good && k < count; k++)
                good =
                    add_pages(&list, page + k, 1,
                              (entries[k] & PAGEMAP_KNOWN) == PAGEMAP_PRESENT ? TRACE_PAGE_SHARED
                                                                              : TRACE_PAGE_PRESENT);
            page += count;
        }
        good = good && (page == end || add_pages(&list, page, end - page, run->kind));
    }
    free(residency->pages.runs);
    residency->pages = list;
    return good ? 0 : ENOMEM;
}

/* Makes the shared pages pages like others. */
static void forget_shared(struct page_list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct run_of_pages run = list->runs[i];
        struct run_of_pages *last = kept ? &list->runs[kept - 1] : NULL;
        if (run.kind == TRACE_PAGE_SHARED)
            run.kind = TRACE_PAGE_PRESENT;
        if (last && last->kind == run.kind && last->page + last->count == run.page)
            last->count += run.count;
        else
            list->runs[kept++] = run;
    }
    list->count = kept;
}

/* ---- coding ----------------------------------------------------------------------------- */

static bool code_run(struct run_residency *residency, uint64_t gap, uint64_t pages,
                     enum trace_page_class kind)
{
    if (!array_grow(&residency->coded, &residency->coded_capacity, residency->coded_length + 32, 1))
        return false;
    uint8_t *at = residency->coded + residency->coded_length;
    at = trace_put_varint(trace_put_varint(at, gap), pages << 3 | kind);
    residency->coded_length = (size_t)(at - residency->coded);
    return true;
}

static bool code_full(struct run_residency *residency)
{
    uint64_t at = 0;
    residency->coded_length = 0;
    for (size_t i = 0; i < residency->pages.count; i++) {
        const struct run_of_pages *run = &residency->pages.runs[i];
        if (!code_run(residency, run->page - at, run->count, run->kind))
            return false;
        at = run->page + run->count;
    }
    return true;
}

/* The part of a list from a page on: up to `end` the class is the same. */
struct place {
    const struct page_list *list;
    size_t index;
};

static enum trace_page_class class_at(struct place *place, uint64_t page, uint64_t *end)
{
    const struct page_list *list = place->list;
    while (place->index < list->count &&
           list->runs[place->index].page + list->runs[place->index].count <= page)
        place->index++;
    const struct run_of_pages *run = place->index < list->count ? &list->runs[place->index] : NULL;
    *end = !run ? UINT64_MAX : page < run->page ? run->page : run->page + run->count;
    return run && page >= run->page ? run->kind : TRACE_PAGE_NONE;
}

/* Codes what differs from the moment before. */
static bool code_delta(struct run_residency *residency)
{
    struct place old = {&residency->before, 0}, new = {&residency->pages, 0};
    struct page_list changes = {0};
    bool good = true;
    for (uint64_t page = 0; good && page != UINT64_MAX;) {
        uint64_t old_end, new_end;
        const enum trace_page_class was = class_at(&old, page, &old_end),
                                    is = class_at(&new, page, &new_end);
        const uint64_t end = old_end < new_end ? old_end : new_end;
        if (was != is)
            good = add_pages(&changes, page, end - page, is);
        page = end;
    }
    uint64_t at = 0;
    residency->coded_length = 0;
    for (size_t i = 0; good && i < changes.count; i++) {
        good = code_run(residency, changes.runs[i].page - at, changes.runs[i].count,
                        changes.runs[i].kind);
        at = changes.runs[i].page + changes.runs[i].count;
    }
    free(changes.runs);
    return good;
}

/* Returns the pages between two runs of present pages. UINT64_MAX: one is of another class. */
static uint64_t gap_between(const struct run_of_pages *one, const struct run_of_pages *next)
{
    return one->kind == TRACE_PAGE_PRESENT && next->kind == TRACE_PAGE_PRESENT
               ? next->page - (one->page + one->count)
               : UINT64_MAX;
}

/* Joins runs of present pages with fewer than `gap` pages between them, `wanted` of them at most,
 * from all over the list. Returns the pages added. */
static uint64_t join_runs(struct page_list *list, uint64_t gap, size_t wanted)
{
    uint64_t added = 0;
    size_t kept = 0, candidates = 0, seen = 0;
    for (size_t i = 1; i < list->count; i++)
        candidates += gap_between(&list->runs[i - 1], &list->runs[i]) < gap;
    wanted = wanted < candidates ? wanted : candidates;
    for (size_t i = 0; i < list->count; i++) {
        const struct run_of_pages run = list->runs[i];
        struct run_of_pages *last = kept ? &list->runs[kept - 1] : NULL;
        const uint64_t between = last ? gap_between(last, &run) : UINT64_MAX;
        bool joins = false;
        if (between < gap) {
            joins = seen * wanted / candidates != (seen + 1) * wanted / candidates;
            seen++;
        }
        if (joins) {
            added += between;
            last->count = run.page + run.count - last->page;
        } else
            list->runs[kept++] = run;
    }
    list->count = kept;
    return added;
}

/* Codes the pages. *delta is set if only the changes were coded, *coarse to the pages that were
 * added because the runs were too many; *shares is cleared if they were too many to tell shared
 * pages apart. */
static bool code_pages(struct run_residency *residency, bool *delta, bool *shares, uint64_t *coarse)
{
    enum { DELTAS_MOST = 15, JOIN_MOST = 30 };
    *coarse = 0;
    *delta = residency->number > 1 && residency->deltas < DELTAS_MOST;
    if (*delta && !code_delta(residency))
        return false;
    if (*delta && residency->coded_length <= TRACE_PAGES_MAX)
        return true;
    *delta = false;
    if (!code_full(residency))
        return false;
    if (*shares && residency->coded_length > TRACE_PAGES_MAX) {
        *shares = false;
        forget_shared(&residency->pages);
        if (!code_full(residency))
            return false;
    }
    for (unsigned shift = 1; residency->coded_length > TRACE_PAGES_MAX && shift < JOIN_MOST;
         shift++) {
        /* Each run has two bytes at least. */
        const size_t wanted = (residency->coded_length - TRACE_PAGES_MAX) / 2 + 1;
        *coarse += join_runs(&residency->pages, UINT64_C(1) << shift, wanted);
        if (!code_full(residency))
            return false;
    }
    return true;
}

/* ---- records ---------------------------------------------------------------------------- */

bool run_observer_room(struct run_observer *observer, const struct client *client, size_t length)
{
    if (client_chunk_reserve(&observer->chunk, client, length))
        return true;
    client_chunk_leave(&observer->chunk);
    return client_chunk_begin(&observer->chunk, client, TRACE_THREAD_OUTSIDE,
                              observer->sequence++) &&
           client_chunk_reserve(&observer->chunk, client, length);
}

/* Puts the `when` of a record: `ticks`, or the chunk's beginning if that is later. */
static uint8_t *put_when(const struct run_residency *residency, uint8_t *at, uint64_t ticks)
{
    const uint64_t base = residency->observer->chunk.ticks;
    return trace_put_varint(at, ticks > base ? ticks - base : 0);
}

static uint64_t ticks_now(const struct client *client)
{
    clock_is_tsc = client->header->clock == TRACE_CLOCK_TSC;
    return clock_before();
}

static bool put_mapping(struct run_residency *residency, uint64_t ticks,
                        const struct mapping *mapping)
{
    uint8_t payload[TRACE_EXTENDED_MAX], *p;
    const size_t length = strnlen(mapping->name, TRACE_EXTENDED_MAX - 80);
    if (!run_observer_room(residency->observer, residency->client, length + 80))
        return false;
    p = put_when(residency, payload, ticks);
    p = trace_put_varint(p, mapping->start);
    p = trace_put_varint(p, mapping->end - mapping->start);
    p = trace_put_varint(p, mapping->flags);
    p = trace_put_varint(p, mapping->offset);
    p = trace_put_string(p, mapping->name, length);
    client_chunk_put(&residency->observer->chunk, TRACE_EXT_MAPPING, payload,
                     (size_t)(p - payload));
    return true;
}

static bool is_same_mapping(const struct mapping *one, const struct mapping *other)
{
    return one->start == other->start && one->end == other->end && one->flags == other->flags &&
           one->offset == other->offset && strcmp(one->name, other->name) == 0;
}

/* Puts the mappings that have changed: first those that have gone. */
static bool put_mappings(struct run_residency *residency, uint64_t ticks)
{
    const struct mapping_list *old = &residency->maps_before, *new = &residency->maps;
    bool good = true;
    /* Address space that was mapped before and is not now. */
    for (size_t i = 0, k = 0; good && i < old->count; i++) {
        uint64_t at = old->mappings[i].start;
        const uint64_t end = old->mappings[i].end;
        while (good && at < end) {
            while (k < new->count &&new->mappings[k].end <= at)
                k++;
            const bool mapped = k < new->count &&new->mappings[k].start <= at;
            uint64_t to = mapped           ? new->mappings[k].end
                          : k < new->count ? new->mappings[k].start
                                           : end;
            to = to < end ? to : end;
            if (!mapped)
                good = put_mapping(
                    residency, ticks,
                    &(struct mapping){
                        .start = at, .end = to, .flags = TRACE_MAPPING_NONE, .name = ""});
            at = to;
        }
    }
    for (size_t i = 0, k = 0; good && i < new->count; i++) {
        const struct mapping *mapping = &new->mappings[i];
        while (k < old->count && old->mappings[k].start < mapping->start)
            k++;
        if (k == old->count || !is_same_mapping(&old->mappings[k], mapping))
            good = put_mapping(residency, ticks, mapping);
    }
    return good;
}

static bool put_pages(struct run_residency *residency, uint64_t ticks)
{
    enum { PIECE = TRACE_EXTENDED_MAX - 32 };
    uint8_t payload[TRACE_EXTENDED_MAX], *p;
    for (size_t at = 0; at < residency->coded_length;) {
        const size_t left = residency->coded_length - at, length = left < PIECE ? left : PIECE;
        if (!run_observer_room(residency->observer, residency->client, length + 32))
            return false;
        p = put_when(residency, payload, ticks);
        p = trace_put_string(p, (const char *)residency->coded + at, length);
        client_chunk_put(&residency->observer->chunk, TRACE_EXT_PAGES, payload,
                         (size_t)(p - payload));
        at += length;
    }
    return true;
}

static void put_no_resident(const struct client *client, struct run_observer *observer,
                            enum trace_no_resident reason)
{
    uint8_t payload[32], *p;
    const uint64_t now = ticks_now(client);
    if (!run_observer_room(observer, client, sizeof(payload)))
        return;
    const uint64_t base = observer->chunk.ticks;
    p = trace_put_varint(payload, now > base ? now - base : 0);
    p = trace_put_varint(p, reason);
    client_chunk_put(&observer->chunk, TRACE_EXT_NO_RESIDENT, payload, (size_t)(p - payload));
}

/* ---- a moment --------------------------------------------------------------------------- */

static uint64_t resident_now(const struct run_residency *residency)
{
    char text[128], *end;
    if (process_read(residency->process, "statm", text, sizeof(text)) == 0)
        return 0;
    strtoull(text, &end, 10);
    return strtoull(end, NULL, 10) * PAGE;
}

/* Reads a number of a file of a cgroup. Returns it plus 1, or 0: there is none, or no limit. */
static uint64_t cgroup_number(const char *tree, const char *group, const char *file)
{
    enum { MEMORY_MOST_LOG2 = 60 };
    char path[PATH_MAX], text[64] = "";
    snprintf(path, sizeof(path), "/sys/fs/cgroup%s%s/%s", tree, group, file);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return 0;
    const ssize_t length = read(descriptor, text, sizeof(text) - 1);
    close(descriptor);
    const uint64_t number =
        length > 0 && isdigit((unsigned char)*text) ? strtoull(text, NULL, 10) + 1 : 0;
    return number >> MEMORY_MOST_LOG2 ? 0 : number;
}

struct moment {
    uint64_t before, middle, after; /* ticks */
    uint64_t rss_before, rss_after, coarse;
    uint64_t pss, lazy_free, cgroup, limit; /* plus 1; 0: not known */
    enum trace_resident_reason reason;
    bool delta, shares;
};

/* Returns the path of the process's cgroup after these words of a line of `text`, or NULL. */
static const char *cgroup_after(const char *text, const char *words, char path[PATH_MAX])
{
    const char *line = strstr(text, words);
    if (!line)
        return NULL;
    snprintf(path, PATH_MAX, "%.*s", (int)strcspn(line + strlen(words), "\n"),
             line + strlen(words));
    return path;
}

static void read_cgroup(const struct run_residency *residency, struct moment *moment)
{
    char text[PATH_MAX], path[PATH_MAX];
    const char *group;
    if (process_read(residency->process, "cgroup", text, sizeof(text)) == 0)
        return;
    if ((group = cgroup_after(text, "0::", path))) {
        moment->cgroup = cgroup_number("", group, "memory.current");
        moment->limit = cgroup_number("", group, "memory.max");
    }
    /* Version 1 has a tree for memory alone. */
    if (!moment->cgroup && (group = cgroup_after(text, ":memory:", path))) {
        moment->cgroup = cgroup_number("/memory", group, "memory.usage_in_bytes");
        moment->limit = cgroup_number("/memory", group, "memory.limit_in_bytes");
    }
}

/* Returns the bytes of a line of the kernel's sum, plus 1. 0: it has no such line. */
static uint64_t rollup_bytes(const char *text, const char *line)
{
    const char *found = strstr(text, line);
    return found ? strtoull(found + strlen(line), NULL, 10) * 1024 + 1 : 0;
}

/* Reads what only the kernel's sum over all mappings tells. */
static void read_rollup(const struct run_residency *residency, struct moment *moment)
{
    char text[2048];
    if (process_read(residency->process, "smaps_rollup", text, sizeof(text)) == 0)
        return;
    moment->pss = rollup_bytes(text, "\nPss:");
    moment->lazy_free = rollup_bytes(text, "\nLazyFree:");
    moment->shares = rollup_bytes(text, "\nPss_Anon:") < rollup_bytes(text, "\nAnonymous:");
}

static bool put_moment(struct run_residency *residency, const struct moment *moment)
{
    uint8_t payload[256], *p;
    if (!put_mappings(residency, moment->middle) ||
        !run_observer_room(residency->observer, residency->client, sizeof(payload)))
        return false;
    const uint64_t numbers[] = {
        residency->number,
        moment->middle - moment->before,
        moment->after - moment->middle,
        moment->reason,
        (moment->delta ? TRACE_RESIDENT_DELTA : 0u) |
            (residency->by_file ? TRACE_RESIDENT_INDISTINCT : 0u) |
            (moment->shares ? TRACE_RESIDENT_SHARES : 0u),
        moment->rss_before,
        moment->rss_after,
        residency->coded_length,
        moment->coarse,
        moment->pss,
        moment->lazy_free,
        moment->cgroup,
        moment->limit,
    };
    p = put_when(residency, payload, moment->middle);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        p = trace_put_varint(p, numbers[i]);
    client_chunk_put(&residency->observer->chunk, TRACE_EXT_RESIDENT, payload,
                     (size_t)(p - payload));
    return put_pages(residency, moment->middle);
}

/* Makes this moment the one before. */
static void keep_moment(struct run_residency *residency, bool delta)
{
    const struct page_list pages = residency->before;
    const struct mapping_list maps = residency->maps_before;
    residency->before = residency->pages;
    residency->pages = pages;
    residency->maps_before = residency->maps;
    residency->maps = maps;
    residency->number++;
    residency->deltas = delta ? residency->deltas + 1 : 0;
}

static double processor_seconds(void)
{
    return (double)clock_nanoseconds(CLOCK_THREAD_CPUTIME_ID) * 1e-9;
}

/* Reads the pages now and writes them. False if the process has ended, or no room. */
static bool take_moment(struct run_residency *residency, enum trace_resident_reason reason)
{
    const double began = processor_seconds();
    /* Begins a chunk now if one is needed, not between the stamps. */
    if (!run_observer_room(residency->observer, residency->client, TRACE_EXTENDED_MAX))
        return false;
    struct moment moment = {.reason = reason, .before = ticks_now(residency->client)};
    moment.rss_before = resident_now(residency);
    if (moment.rss_before == 0 || !read_mappings(residency))
        return false;
    const uint64_t pages_from = ticks_now(residency->client);
    const int error = read_pages(residency);
    const uint64_t pages_to = ticks_now(residency->client);
    moment.middle = pages_from + (pages_to - pages_from) / 2;
    moment.rss_after = resident_now(residency);
    moment.after = ticks_now(residency->client);
    if (error || moment.rss_after == 0 || residency->pages.count == 0)
        return false;
    read_cgroup(residency, &moment);
    if (reason == TRACE_RESIDENT_MARK || reason == TRACE_RESIDENT_SNAPSHOT ||
        reason == TRACE_RESIDENT_END)
        read_rollup(residency, &moment);
    if (moment.shares && find_shared(residency) != 0)
        return false;
    if (!code_pages(residency, &moment.delta, &moment.shares, &moment.coarse) ||
        !put_moment(residency, &moment))
        return false;
    keep_moment(residency, moment.delta);
    residency->last = moment.rss_after;
    if (moment.rss_after > residency->maximum)
        residency->maximum = moment.rss_after;
    residency->cost = processor_seconds() - began;
    return true;
}

/* ---- the bell --------------------------------------------------------------------------- */

#define BELL_OBSERVER 0x80000000u

static int bell = -1;

int run_residency_bell(void)
{
    return bell;
}

void run_residency_bell_heard(void)
{
    uint64_t rings;
    if (bell >= 0 && read(bell, &rings, sizeof(rings)) < 0)
        return;
}

/* Passes the rings of one trace on. */
static void *listen_to(void *context)
{
    struct trace_file_header *header = context;
    uint32_t heard = 0, now;
    const uint64_t one = 1;
    while (!((now = atomic_load((_Atomic uint32_t *)&header->bell)) & BELL_OBSERVER)) {
        if (now != heard && write(bell, &one, sizeof(one)) < 0)
            return NULL;
        heard = now;
        syscall(SYS_futex, &header->bell, FUTEX_WAIT, now, NULL, NULL, 0);
    }
    return NULL;
}

/* Without a listener, rings are noticed at the next step. */
static void begin_to_listen(struct run_residency *residency)
{
    struct trace_file_header *header = residency->client->header;
    pthread_attr_t attributes;
    sigset_t all, before;
    if (bell < 0)
        bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    residency->heard =
        atomic_fetch_and((_Atomic uint32_t *)&header->bell, ~BELL_OBSERVER) & ~BELL_OBSERVER;
    atomic_store((_Atomic uint32_t *)&header->attends, 1);
    if (bell < 0 || pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setstacksize(&attributes, (size_t)64 << 10);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    residency->listens = pthread_create(&residency->listener, &attributes, listen_to, header) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

static void answer(struct run_residency *residency)
{
    _Atomic uint32_t *answered = (_Atomic uint32_t *)&residency->client->header->answered;
    atomic_store(answered, residency->heard);
    syscall(SYS_futex, answered, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void stop_listening(struct run_residency *residency)
{
    struct trace_file_header *header = residency->client->header;
    atomic_store((_Atomic uint32_t *)&header->attends, 0);
    atomic_fetch_or((_Atomic uint32_t *)&header->bell, BELL_OBSERVER);
    syscall(SYS_futex, &header->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    if (residency->listens)
        pthread_join(residency->listener, NULL);
    atomic_fetch_and((_Atomic uint32_t *)&header->bell, ~BELL_OBSERVER);
    residency->listens = false;
}

/* ---- when ------------------------------------------------------------------------------- */

/* A moment costs at most this share of a core. */
#define COST_SHARE 100
/* The first interval, in ms; it doubles after each MOMENTS_PER_INTERVAL moments, up to the last. */
#define FIRST_INTERVAL 250u
#define LAST_INTERVAL 16000u
#define MOMENTS_PER_INTERVAL 32u
/* Changes of less than this are of no interest. */
#define CHANGE_LEAST ((uint64_t)1 << 20)

/* Traces share what mprof-run may spend. */
static unsigned followed_traces;

bool run_residency_parse(const char *text, struct run_residency_options *options)
{
    char *end;
    *options = (struct run_residency_options){.off = strcmp(text, "off") == 0};
    if (options->off)
        return true;
    options->interval = strtod(text, &end);
    if (end == text || !(options->interval > 0) || options->interval > 1e6)
        return false;
    if (strcmp(end, "ms") == 0)
        options->interval /= 1000;
    else if (strcmp(end, "m") == 0)
        options->interval *= 60;
    else if (strcmp(end, "h") == 0)
        options->interval *= 3600;
    else
        return strcmp(end, "s") == 0 || *end == '\0';
    return true;
}

/* Notes why the pages of a process cannot be read, unless it has ended. */
static void say_why(const struct client *client, struct run_observer *observer, int error)
{
    if (error == EACCES || error == EPERM)
        put_no_resident(client, observer, TRACE_NO_RESIDENT_RIGHTS);
    else if (access("/proc/self/pagemap", F_OK) != 0)
        put_no_resident(client, observer, TRACE_NO_RESIDENT_PROC);
}

struct run_residency *run_residency_begin(const struct client *client,
                                          struct run_observer *observer,
                                          const struct run_residency_options *options)
{
    char path[64];
    if (options->off || seccomp_is_on()) {
        put_no_resident(client, observer,
                        options->off ? TRACE_NO_RESIDENT_OFF : TRACE_NO_RESIDENT_CONFINED);
        return NULL;
    }
    snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)client->process);
    const int pagemap = open(path, O_RDONLY | O_CLOEXEC);
    struct run_residency *residency = pagemap < 0 ? NULL : calloc(1, sizeof(*residency));
    if (!residency) {
        if (pagemap >= 0)
            close(pagemap);
        else
            say_why(client, observer, errno);
        return NULL;
    }
    residency->client = client;
    residency->observer = observer;
    residency->options = *options;
    residency->process = client->process;
    residency->pagemap = pagemap;
    residency->by_file = prefers_file();
    residency->number = 1;
    followed_traces++;
    begin_to_listen(residency);
    return residency;
}

/* Returns why a moment is due, or TRACE_RESIDENT_REASONS: none is. */
static enum trace_resident_reason reason_now(struct run_residency *residency, uint64_t resident,
                                             uint64_t now)
{
    const struct trace_file_header *header = residency->client->header;
    const uint32_t rings = atomic_load((_Atomic uint32_t *)&header->bell) & ~BELL_OBSERVER;
    if (rings != residency->heard) {
        const uint32_t reason = atomic_load((_Atomic uint32_t *)&header->bell_reason);
        residency->heard = rings;
        return reason == TRACE_RESIDENT_END || reason == TRACE_RESIDENT_SNAPSHOT
                   ? (enum trace_resident_reason)reason
                   : TRACE_RESIDENT_MARK;
    }
    if (residency->number == 1)
        return TRACE_RESIDENT_START;
    if (now >= residency->due)
        return TRACE_RESIDENT_INTERVAL;
    if (now < residency->allowed || residency->options.interval > 0)
        return TRACE_RESIDENT_REASONS;
    if (resident > residency->maximum + CHANGE_LEAST &&
        resident > residency->maximum + residency->maximum / 20)
        return TRACE_RESIDENT_MAXIMUM;
    if (resident + CHANGE_LEAST < residency->last &&
        resident < residency->last - residency->last / 20)
        return TRACE_RESIDENT_PARTED;
    return TRACE_RESIDENT_REASONS;
}

static void plan_next(struct run_residency *residency, uint64_t now)
{
    const unsigned doublings = residency->moments++ / MOMENTS_PER_INTERVAL;
    uint64_t interval = FIRST_INTERVAL << (doublings < 6 ? doublings : 6);
    const uint64_t rest = (uint64_t)(residency->cost * 1e3 * COST_SHARE * followed_traces) + 1;
    if (residency->options.interval > 0)
        interval = (uint64_t)(residency->options.interval * 1e3) + 1;
    else if (interval > LAST_INTERVAL)
        interval = LAST_INTERVAL;
    residency->allowed = now + rest;
    residency->due = now + (interval > rest ? interval : rest);
}

uint64_t run_residency_step(struct run_residency *residency, uint64_t resident, uint64_t now)
{
    const enum trace_resident_reason reason = reason_now(residency, resident, now);
    if (reason == TRACE_RESIDENT_REASONS)
        return residency->due;
    if (resident > 0)
        take_moment(residency, reason);
    answer(residency);
    plan_next(residency, now);
    return residency->due;
}

void run_residency_now(struct run_residency *residency, enum trace_resident_reason reason)
{
    take_moment(residency, reason);
}

void run_residency_end(struct run_residency *residency)
{
    if (!residency)
        return;
    stop_listening(residency);
    followed_traces--;
    close(residency->pagemap);
    clear_mappings(&residency->maps);
    clear_mappings(&residency->maps_before);
    FREE_ALL(residency->maps.mappings, residency->maps_before.mappings, residency->pages.runs,
             residency->before.runs, residency->coded, residency);
}
