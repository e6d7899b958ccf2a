/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/reference_words.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "capture/os/clock.h"
#include "capture/run/client.h"
#include "schemas/array.h"

#define PAGE UINT64_C(4096)
#define UNIT_PAGES 128u
#define UNIT (UNIT_PAGES * PAGE)
#define WORKERS_MAX 4u
#define BLOCK ((size_t)256 << 10)
#define KEPT_IN_MEMORY ((size_t)64 << 20)
#define LARGE_MAPPING (UINT64_C(64) << 20) /* whose absent parts are asked for at once */
#define MEASURED (UINT64_C(16) << 20)
#define MEASURED_LEAST (UINT64_C(2) << 20) /* with less, the time is that of the threads */

#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)
#define PAGEMAP_FILE (UINT64_C(1) << 61)

struct unit {
    uint64_t start, end;
    uint32_t block, offset, pieces; /* of its words */
    bool skips_file_pages;
};

struct block {
    uint8_t *memory; /* NULL: in the temporary file */
    uint32_t used, next;
};

struct worker {
    struct reference_words *words;
    pthread_t thread;
    bool started;
    uint8_t *buffer;
    uint32_t block;
    uint8_t *memory; /* of that block; NULL: none yet */
    uint32_t used;
    size_t target; /* the last one that an address was in */
    struct reference_sums sums;
    struct trace_references_words piece;
    struct unit *unit;
};

struct reference_words {
    struct reference_maps maps;
    int pagemap, spill;
    struct unit *units;
    size_t unit_count, unit_capacity;
    struct worker *workers;
    size_t worker_count;
    pthread_mutex_t lock; /* of the blocks */
    struct block *blocks;
    size_t block_count, block_capacity, in_memory;
    bool measures; /* words are forgotten */
    _Atomic size_t next_unit;
    _Atomic int outcome; /* enum trace_references_outcome */
    double deadline;
    _Atomic uint32_t *progress;
    struct reference_sums sums;
};

/* ---- kept words ---------------------------------------------------------------------------- */

/* Before the pairs of a piece. */
struct piece_head {
    uint32_t used, count;
};

/* Puts the worker's block away and gets it another one. False: there is no room. */
static bool next_block(struct worker *worker)
{
    struct reference_words *words = worker->words;
    pthread_mutex_lock(&words->lock);
    bool good = ARRAY_GROW(words->blocks, words->block_count, words->block_capacity);
    if (good) {
        const uint32_t index = (uint32_t)words->block_count++;
        words->blocks[index] = (struct block){0};
        if (worker->memory) {
            words->blocks[worker->block].used = worker->used;
            words->blocks[worker->block].next = index;
        }
        if (worker->memory && words->in_memory * BLOCK >= KEPT_IN_MEMORY) {
            good = words->spill >= 0 &&
                   pwrite(words->spill, worker->memory, worker->used,
                          (off_t)(worker->block * BLOCK)) == (ssize_t)worker->used;
            words->blocks[worker->block].memory = NULL;
        } else {
            worker->memory = malloc(BLOCK);
            words->in_memory++;
        }
        good = good && worker->memory;
        words->blocks[index].memory = worker->memory;
        worker->block = index;
        worker->used = 0;
    }
    pthread_mutex_unlock(&words->lock);
    return good;
}

/* Puts the piece into the block. False: there is no room. */
static bool flush(struct worker *worker)
{
    struct trace_references_words *piece = &worker->piece;
    const struct piece_head head = {(uint32_t)piece->used, (uint32_t)piece->count};
    if (head.count == 0)
        return true;
    worker->sums.words += head.count;
    if (!worker->words->measures) {
        if ((!worker->memory || worker->used + sizeof(head) + head.used > BLOCK) &&
            !next_block(worker))
            return false;
        if (worker->unit->pieces++ == 0) {
            worker->unit->block = worker->block;
            worker->unit->offset = worker->used;
        }
        memcpy(worker->memory + worker->used, &head, sizeof(head));
        memcpy(worker->memory + worker->used + sizeof(head), piece->pairs, head.used);
        worker->used += (uint32_t)sizeof(head) + head.used;
    }
    piece->count = piece->used = 0;
    piece->last = (struct trace_references_word){0};
    return true;
}

/* Reads bytes of a block, from memory or the temporary file. */
static bool read_block(const struct reference_words *words, uint32_t block, uint32_t offset,
                       void *to, size_t size)
{
    if (words->blocks[block].memory) {
        memcpy(to, words->blocks[block].memory + offset, size);
        return true;
    }
    return pread(words->spill, to, size, (off_t)(block * BLOCK + offset)) == (ssize_t)size;
}

bool reference_words_each(struct reference_words *words, reference_words_piece *each, void *context)
{
    static struct trace_references_words piece;
    for (size_t i = 0; i < words->unit_count; i++) {
        uint32_t block = words->units[i].block, offset = words->units[i].offset;
        for (uint32_t k = 0; k < words->units[i].pieces; k++) {
            struct piece_head head;
            if (offset >= words->blocks[block].used) {
                block = words->blocks[block].next;
                offset = 0;
            }
            if (!read_block(words, block, offset, &head, sizeof(head)) ||
                head.used > sizeof(piece.pairs) ||
                !read_block(words, block, offset + (uint32_t)sizeof(head), piece.pairs, head.used))
                return false;
            piece.used = head.used;
            piece.count = head.count;
            if (!each(context, &piece))
                return false;
            offset += (uint32_t)sizeof(head) + head.used;
        }
    }
    return true;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Eight words. */
typedef uint64_t lanes __attribute__((vector_size(64)));
#define LANES 8u
#define ADDRESS_MASK ((UINT64_C(1) << 48) - 1)

static bool keep(struct worker *worker, uint64_t where, uint64_t word)
{
    const uint64_t to = word & ADDRESS_MASK;
    const size_t target = reference_maps_target(&worker->words->maps, to, worker->target);
    if (target == worker->words->maps.target_count)
        return true;
    worker->target = target;
    const struct trace_references_word pair = {where, to, word != to};
    return trace_references_add(&worker->piece, pair) ||
           (flush(worker) && trace_references_add(&worker->piece, pair));
}

/* Keeps the words that lead into a target. `words` has `count`, which is a multiple of LANES. The
 * difference to the bounds of a span tells by its highest bit which side a word is on. */
static bool search(struct worker *worker, const uint64_t *words, size_t count, uint64_t where)
{
    const struct reference_range *spans = worker->words->maps.spans;
    const size_t span_count = worker->words->maps.span_count;
    for (size_t i = 0; i < count; i += LANES) {
        lanes group, inside = {0};
        memcpy(&group, words + i, sizeof(group));
        group &= ADDRESS_MASK;
        for (size_t k = 0; k < span_count; k++)
            inside |= ~(group - spans[k].start) & (group - spans[k].end);
        const uint64_t any = inside[0] | inside[1] | inside[2] | inside[3] | inside[4] | inside[5] |
                             inside[6] | inside[7];
        if ((int64_t)any >= 0)
            continue;
        for (size_t k = 0; k < LANES; k++)
            if ((int64_t)inside[k] < 0 && !keep(worker, where + (i + k) * 8, words[i + k]))
                return false;
    }
    return true;
}

/* Returns the pages of the unit that can be read, as runs. */
static size_t find_runs(struct worker *worker, const struct unit *unit, struct iovec *runs)
{
    uint64_t pages[UNIT_PAGES + 1];
    const uint64_t first = unit->start / PAGE, last = (unit->end + PAGE - 1) / PAGE;
    size_t count = 0;
    const ssize_t got =
        pread(worker->words->pagemap, pages, (last - first) * 8, (off_t)(first * 8));
    for (size_t i = 0; got > 0 && i < (size_t)got / 8; i++) {
        const uint64_t start = i == 0 ? unit->start : (first + i) * PAGE;
        const uint64_t end =
            (first + i + 1) * PAGE < unit->end ? (first + i + 1) * PAGE : unit->end;
        if (pages[i] & PAGEMAP_SWAPPED)
            worker->sums.swapped += end - start;
        if (!(pages[i] & PAGEMAP_PRESENT) || (unit->skips_file_pages && (pages[i] & PAGEMAP_FILE)))
            continue;
        if (count > 0 &&
            (uint64_t)(uintptr_t)runs[count - 1].iov_base + runs[count - 1].iov_len == start)
            runs[count - 1].iov_len += end - start;
        else
            runs[count++] = (struct iovec){(void *)(uintptr_t)start, end - start};
    }
    return count;
}

/* Reads the unit and keeps its words. Returns TRACE_REFERENCES_COMPLETE to go on. */
static enum trace_references_outcome read_unit(struct worker *worker, struct unit *unit)
{
    struct iovec runs[UNIT_PAGES + 1];
    size_t count = find_runs(worker, unit, runs);
    struct iovec *left = runs;
    worker->unit = unit;
    while (count > 0) {
        struct iovec here = {worker->buffer, UNIT};
        const ssize_t got = process_vm_readv(worker->words->maps.process, &here, 1, left, count, 0);
        if (got < 0 && errno == ESRCH)
            return TRACE_REFERENCES_ENDED;
        if (got < 0 && errno != EFAULT)
            return TRACE_REFERENCES_UNREADABLE;
        const uint8_t *bytes = worker->buffer;
        size_t rest = got < 0 ? 0 : (size_t)got;
        while (count > 0 && rest > 0) {
            const size_t size = left->iov_len < rest ? left->iov_len : rest;
            const uint64_t where = (uint64_t)(uintptr_t)left->iov_base;
            uint64_t words[LANES] = {0};
            const size_t whole = size / 64 * LANES;
            if (!search(worker, (const uint64_t *)(const void *)bytes, whole, where))
                return TRACE_REFERENCES_NO_MEMORY;
            memcpy(words, bytes + whole * 8, size - whole * 8);
            if (size > whole * 8 && !search(worker, words, LANES, where + whole * 8))
                return TRACE_REFERENCES_NO_MEMORY;
            worker->sums.bytes += size;
            bytes += size;
            rest -= size;
            left->iov_base = (uint8_t *)left->iov_base + size;
            left->iov_len -= size;
            if (left->iov_len > 0)
                break;
            left++;
            count--;
        }
        if (count == 0)
            break;
        /* The page here cannot be read, as that of a device cannot. */
        const uint64_t at = (uint64_t)(uintptr_t)left->iov_base;
        const uint64_t next = (at & ~(PAGE - 1)) + PAGE;
        const size_t skipped = next - at < left->iov_len ? next - at : left->iov_len;
        worker->sums.unreadable += skipped;
        left->iov_base = (uint8_t *)left->iov_base + skipped;
        left->iov_len -= skipped;
        if (left->iov_len == 0) {
            left++;
            count--;
        }
    }
    return flush(worker) ? TRACE_REFERENCES_COMPLETE : TRACE_REFERENCES_NO_MEMORY;
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct reference_words *words = worker->words;
    size_t index;
    while (words->outcome == TRACE_REFERENCES_COMPLETE &&
           (index = atomic_fetch_add(&words->next_unit, 1)) < words->unit_count) {
        const enum trace_references_outcome outcome = run_steer_now() > words->deadline
                                                          ? TRACE_REFERENCES_TOO_LONG
                                                          : read_unit(worker, &words->units[index]);
        if (outcome != TRACE_REFERENCES_COMPLETE)
            atomic_store(&words->outcome, outcome);
        if (words->progress)
            atomic_fetch_add(words->progress, 1);
    }
    return NULL;
}

static bool add_units(struct reference_words *words, const struct reference_mapping *mapping,
                      uint64_t start, uint64_t end)
{
    while (start < end) {
        const uint64_t next = (start / UNIT + 1) * UNIT < end ? (start / UNIT + 1) * UNIT : end;
        if (!ARRAY_GROW(words->units, words->unit_count, words->unit_capacity))
            return false;
        words->units[words->unit_count++] =
            (struct unit){.start = start,
                          .end = next,
                          .skips_file_pages = mapping->kind == TRACE_REFERENCES_DATA ||
                                              mapping->kind == TRACE_REFERENCES_FILE};
        start = next;
    }
    return true;
}

/* PAGEMAP_SCAN of Linux 6.7, whose header may be older. */
struct page_region {
    uint64_t start, end, categories;
};
struct page_scan {
    uint64_t size, flags, start, end, walk_end, vector, vector_length, pages_most, inverted, mask,
        any_of, returned;
};
#define PAGE_SCAN _IOWR('f', 16, struct page_scan)
#define PAGE_SCAN_PRESENT (UINT64_C(1) << 3)
#define PAGE_SCAN_SWAPPED (UINT64_C(1) << 4)
#define PAGE_REGIONS 512u

/* Adds the units of a large mapping in which pages are present or swapped out, in ascending order.
 * Older kernels do not tell: then it adds all. */
static bool add_present(struct reference_words *words, const struct reference_mapping *mapping)
{
    static struct page_region found[PAGE_REGIONS];
    uint64_t at = mapping->from & ~(PAGE - 1), done = mapping->from;
    while (at < mapping->end) {
        struct page_scan scan = {.size = sizeof(scan),
                                 .start = at,
                                 .end = mapping->end,
                                 .vector = (uint64_t)(uintptr_t)found,
                                 .vector_length = PAGE_REGIONS,
                                 .any_of = PAGE_SCAN_PRESENT | PAGE_SCAN_SWAPPED,
                                 .returned = PAGE_SCAN_PRESENT};
        const int count = ioctl(words->pagemap, PAGE_SCAN, &scan);
        if (count < 0)
            return add_units(words, mapping, done, mapping->end);
        for (int i = 0; i < count; i++) {
            const uint64_t first = found[i].start / UNIT * UNIT;
            const uint64_t last = (found[i].end + UNIT - 1) / UNIT * UNIT;
            const uint64_t start = first > done ? first : done;
            const uint64_t end = last < mapping->end ? last : mapping->end;
            if (end > start && !add_units(words, mapping, start, end))
                return false;
            done = end > done ? end : done;
        }
        if (scan.walk_end <= at)
            break;
        at = scan.walk_end;
    }
    return true;
}

static void run(struct reference_words *words)
{
    sigset_t all, before;
    atomic_store(&words->next_unit, 0);
    atomic_store(&words->outcome, TRACE_REFERENCES_COMPLETE);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (size_t i = 1; i < words->worker_count && i < words->unit_count; i++) {
        struct worker *worker = &words->workers[i];
        worker->started = pthread_create(&worker->thread, NULL, work, worker) == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    work(&words->workers[0]);
    words->sums = (struct reference_sums){.shared = words->maps.shared};
    for (size_t i = 0; i < words->worker_count; i++) {
        struct worker *worker = &words->workers[i];
        if (worker->started)
            pthread_join(worker->thread, NULL);
        worker->started = false;
        words->sums.words += worker->sums.words;
        words->sums.bytes += worker->sums.bytes;
        words->sums.swapped += worker->sums.swapped;
        words->sums.unreadable += worker->sums.unreadable;
        worker->sums = (struct reference_sums){0};
        if (worker->memory)
            words->blocks[worker->block].used = worker->used;
    }
}

double reference_words_measure(struct reference_words *words)
{
    uint64_t left = MEASURED;
    words->unit_count = 0;
    for (size_t i = 0; i < words->maps.mapping_count && left > 0; i++) {
        struct reference_mapping mapping = words->maps.mappings[i];
        if (!(mapping.kind == TRACE_REFERENCES_HEAP || mapping.kind == TRACE_REFERENCES_ANONYMOUS))
            continue;
        if (mapping.end - mapping.from > left)
            mapping.end = mapping.from + left;
        left -= mapping.end - mapping.from;
        if (!add_units(words, &mapping, mapping.from, mapping.end))
            return 0;
    }
    words->measures = true;
    words->deadline = 1e18;
    words->progress = NULL;
    const uint64_t begun = clock_nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
    run(words);
    words->measures = false;
    /* The time that others take of the processors does not count. */
    const uint64_t spent = clock_nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - begun;
    if (words->sums.bytes < MEASURED_LEAST || spent == 0)
        return 0;
    return (double)words->sums.bytes / (double)spent * 1e9 * (double)words->worker_count;
}

enum trace_references_outcome reference_words_read(struct reference_words *words, double deadline,
                                                   uint32_t *progress)
{
    words->unit_count = 0;
    for (size_t i = 0; i < words->maps.mapping_count; i++) {
        const struct reference_mapping *mapping = &words->maps.mappings[i];
        if (!(mapping->end - mapping->from > LARGE_MAPPING
                  ? add_present(words, mapping)
                  : add_units(words, mapping, mapping->from, mapping->end)))
            return TRACE_REFERENCES_NO_MEMORY;
    }
    words->deadline = deadline;
    words->progress = (_Atomic uint32_t *)progress;
    run(words);
    return (enum trace_references_outcome)words->outcome;
}

struct reference_sums reference_words_sums(const struct reference_words *words)
{
    return words->sums;
}

/* Opens a file without a name. -1: the folder takes none. */
static int open_spill(const char *folder)
{
    char path[PATH_MAX];
    int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0 || snprintf(path, sizeof(path), "%s/.mprof.XXXXXX", folder) >= PATH_MAX)
        return descriptor;
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0)
        unlink(path);
    return descriptor;
}

struct reference_words *reference_words_open(pid_t process, const char *folder, ino_t trace)
{
    char path[64];
    struct reference_words *words = calloc(1, sizeof(*words));
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (!words)
        return NULL;
    pthread_mutex_init(&words->lock, NULL);
    words->maps.process = process;
    words->maps.trace = trace;
    words->spill = open_spill(folder);
    words->worker_count = processors < 1                   ? 1
                          : processors > (long)WORKERS_MAX ? WORKERS_MAX
                                                           : (size_t)processors;
    words->workers = calloc(words->worker_count, sizeof(*words->workers));
    snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)process);
    words->pagemap = open(path, O_RDONLY | O_CLOEXEC);
    bool good = words->pagemap >= 0 && words->workers;
    for (size_t i = 0; good && i < words->worker_count; i++) {
        words->workers[i].words = words;
        words->workers[i].buffer = aligned_alloc(PAGE, UNIT);
        good = words->workers[i].buffer != NULL;
        if (good)
            memset(words->workers[i].buffer, 1, UNIT); /* it takes no page faults later */
    }
    if (good)
        return words;
    const int error = errno;
    reference_words_close(words);
    errno = error;
    return NULL;
}

struct reference_maps *reference_words_maps(struct reference_words *words)
{
    return &words->maps;
}

void reference_words_close(struct reference_words *words)
{
    for (size_t i = 0; words->workers && i < words->worker_count; i++)
        free(words->workers[i].buffer);
    for (size_t i = 0; i < words->block_count; i++)
        free(words->blocks[i].memory);
    if (words->pagemap >= 0)
        close(words->pagemap);
    if (words->spill >= 0)
        close(words->spill);
    pthread_mutex_destroy(&words->lock);
    FREE_ALL(words->workers, words->blocks, words->units);
    reference_maps_free(&words->maps);
    free(words);
}
