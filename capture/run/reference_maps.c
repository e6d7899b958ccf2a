/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/reference_maps.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/run/attach_target.h"
#include "schemas/array.h"

#define PAGE UINT64_C(4096)
#define SPANS REFERENCE_SPANS
#define RED_ZONE 128u
#define THREAD_BLOCK UINT64_C(0x900) /* of the C library, from the thread pointer on */
#define ARENA_ALIGNMENT (UINT64_C(64) << 20)
#define STACK_TOP UINT64_C(8192)  /* where the control block of a stack's thread lies */
#define CONTROL_STEP UINT64_C(64) /* its alignment */
#define CONTROL_KEPT UINT64_C(16) /* what counts of one whose thread has ended */
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)

/* A line of /proc/PID/maps. */
struct reference_region {
    uint64_t start, end, offset, inode;
    bool reads, writes, executes, is_private;
    const char *path;
    uint32_t module; /* index of the module whose file this is, plus 1; 0: none */
};

/* A file that is mapped as code. */
struct reference_module {
    uint64_t start, data_end; /* 0: the end is not known */
    const char *path;
    uint64_t inode;
    bool executes;
};

/* The end of the segments of a module, which was read while the process ran. */
struct reference_known {
    uint64_t start, inode, data_end;
};

static uint64_t read_hex(const char **at)
{
    uint64_t value = 0;
    for (;; ++*at) {
        const char c = **at;
        if (c >= '0' && c <= '9')
            value = value << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        else
            return value;
    }
}

/* Reads the whole list into `text`, which ends with a NUL. */
static bool read_text(struct reference_maps *maps)
{
    char path[64];
    size_t length = 0;
    ssize_t more = 0;
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)maps->process);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    do {
        length += (size_t)more;
        more = -1;
        if (array_grow(&maps->text, &maps->text_capacity, length + 65536, 1))
            more = read(descriptor, maps->text + length, maps->text_capacity - length - 1);
    } while (more > 0);
    const int error = errno;
    close(descriptor);
    errno = error;
    if (more < 0)
        return false;
    maps->text[length] = '\0';
    return true;
}

static bool add_region(struct reference_maps *maps, char *line)
{
    struct reference_region region = {0};
    const char *at = line;
    if (!ARRAY_GROW(maps->regions, maps->region_count, maps->region_capacity))
        return false;
    region.start = read_hex(&at);
    at += *at == '-';
    region.end = read_hex(&at);
    if (strlen(at) < 6)
        return true; /* a damaged line, which the kernel does not write */
    region.reads = at[1] == 'r';
    region.writes = at[2] == 'w';
    region.executes = at[3] == 'x';
    region.is_private = at[4] == 'p';
    at += 6;
    region.offset = read_hex(&at);
    at = strchr(at + (*at == ' '), ' '); /* past the device */
    region.inode = at ? strtoull(at, NULL, 10) : 0;
    at = at ? at + 1 : "";
    at += strspn(at, "0123456789");
    region.path = at + strspn(at, " ");
    maps->regions[maps->region_count++] = region;
    return true;
}

/* Takes the lines, and finds the modules: files of which a part is executable. */
static bool parse(struct reference_maps *maps)
{
    struct reference_module *last = NULL;
    maps->region_count = maps->module_count = 0;
    for (char *line = maps->text, *end; *line; line = end + 1) {
        end = line + strcspn(line, "\n");
        const bool more = *end != '\0';
        *end = '\0';
        if (!add_region(maps, line))
            return false;
        if (!more)
            break;
    }
    for (size_t i = 0; i < maps->region_count; i++) {
        struct reference_region *region = &maps->regions[i];
        if (region->inode == 0 || region->path[0] != '/')
            continue;
        if (!last || last->inode != region->inode || strcmp(last->path, region->path) != 0) {
            if (!ARRAY_GROW(maps->modules, maps->module_count, maps->module_capacity))
                return false;
            last = &maps->modules[maps->module_count++];
            *last = (struct reference_module){
                .start = region->start, .path = region->path, .inode = region->inode};
        }
        last->executes = last->executes || region->executes;
        region->module = (uint32_t)(last - maps->modules) + 1;
    }
    return true;
}

/* Reads from the module's file where its last segment ends in memory. 0: that is not known. */
static uint64_t read_data_end(pid_t process, const struct reference_module *module)
{
    char path[PATH_MAX + 64];
    struct stat about;
    Elf64_Ehdr header;
    Elf64_Phdr segments[32];
    uint64_t first = UINT64_MAX, end = 0;
    snprintf(path, sizeof(path), "/proc/%d/root%s", (int)process, module->path);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return 0;
    const size_t entry = sizeof(*segments);
    if (fstat(descriptor, &about) == 0 && about.st_ino == module->inode &&
        pread(descriptor, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
        memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_phentsize == entry &&
        header.e_phnum <= sizeof(segments) / entry &&
        pread(descriptor, segments, header.e_phnum * entry, (off_t)header.e_phoff) ==
            (ssize_t)(header.e_phnum * entry))
        for (size_t i = 0; i < header.e_phnum; i++) {
            const Elf64_Phdr *segment = &segments[i];
            if (segment->p_type != PT_LOAD)
                continue;
            if (first == UINT64_MAX)
                first = segment->p_vaddr & ~(PAGE - 1);
            if (segment->p_vaddr + segment->p_memsz > end)
                end = segment->p_vaddr + segment->p_memsz;
        }
    close(descriptor);
    return end > first ? module->start + ((end - first + PAGE - 1) & ~(PAGE - 1)) : 0;
}

/* Learns the modules that are new. Called while the process runs, since it reads files. */
static bool learn_modules(struct reference_maps *maps)
{
    maps->known_count = 0;
    for (size_t i = 0; i < maps->module_count; i++) {
        const struct reference_module *module = &maps->modules[i];
        if (!module->executes)
            continue;
        if (!ARRAY_GROW(maps->known, maps->known_count, maps->known_capacity))
            return false;
        maps->known[maps->known_count++] = (struct reference_known){
            module->start, module->inode, read_data_end(maps->process, module)};
    }
    return true;
}

static void find_data_ends(struct reference_maps *maps)
{
    size_t known = 0; /* both lists ascend */
    for (size_t i = 0; i < maps->module_count; i++) {
        struct reference_module *module = &maps->modules[i];
        while (known < maps->known_count && maps->known[known].start < module->start)
            known++;
        if (known < maps->known_count && maps->known[known].start == module->start &&
            maps->known[known].inode == module->inode)
            module->data_end = maps->known[known].data_end;
    }
}

ARRAY_ORDER(compare_ranges, struct reference_range, ORDER(a->start, b->start))

/* Reads the recorder's list of its own memory. A part that cannot be read counts as the program's.
 */
static bool read_own(struct reference_maps *maps, uint64_t list, uint32_t count)
{
    uint64_t pairs[64][2];
    maps->own_count = 0;
    for (uint32_t done = 0, now; list != 0 && done < count; done += now) {
        now = count - done < 64 ? count - done : 64;
        if (!attach_read(maps->process, list + (uint64_t)done * 16, pairs, (size_t)now * 16))
            break;
        for (uint32_t i = 0; i < now; i++) {
            if (pairs[i][0] < PAGE || pairs[i][1] == 0)
                continue;
            if (!ARRAY_GROW(maps->own, maps->own_count, maps->own_capacity))
                return false;
            maps->own[maps->own_count++] =
                (struct reference_range){pairs[i][0], pairs[i][0] + pairs[i][1]};
        }
    }
    qsort(maps->own, maps->own_count, sizeof(*maps->own), compare_ranges);
    return true;
}

/* Adds a mapping, and to the targets if it is one. */
static bool add_mapping(struct reference_maps *maps, struct reference_mapping mapping)
{
    if (mapping.start >= mapping.end)
        return true;
    if (mapping.from < mapping.start)
        mapping.from = mapping.start;
    if (!ARRAY_GROW(maps->mappings, maps->mapping_count, maps->mapping_capacity) ||
        !ARRAY_GROW(maps->targets, maps->target_count, maps->target_capacity))
        return false;
    maps->mappings[maps->mapping_count++] = mapping;
    if (mapping.kind != TRACE_REFERENCES_HEAP && mapping.kind != TRACE_REFERENCES_ANONYMOUS)
        return true;
    struct reference_range *last = maps->targets + maps->target_count - 1;
    if (maps->target_count > 0 && last->end == mapping.start)
        last->end = mapping.end;
    else
        maps->targets[maps->target_count++] = (struct reference_range){mapping.start, mapping.end};
    return true;
}

/* Adds a mapping without the memory of the recorder. */
static bool add_others(struct reference_maps *maps, struct reference_mapping mapping)
{
    struct reference_mapping part = mapping;
    for (size_t i = 0; i < maps->own_count; i++) {
        const struct reference_range *own = &maps->own[i];
        if (own->end <= part.start || own->start >= mapping.end)
            continue;
        part.end = own->start;
        if (!add_mapping(maps, part))
            return false;
        part.offset += own->end - part.start;
        part.start = own->end;
        part.end = mapping.end;
        if (part.start >= mapping.end)
            return true;
    }
    return add_mapping(maps, part);
}

/* Returns the one stack in the region, NULL if there is none or more than one. `lowest` gets the
 * lowest stack pointer there, 0 if there is none. */
static const struct reference_stack *stack_in(const struct reference_region *region,
                                              const struct reference_stack *stacks, size_t count,
                                              uint64_t *lowest)
{
    const struct reference_stack *found = NULL;
    size_t number = 0;
    *lowest = 0;
    for (size_t i = 0; i < count; i++) {
        if (stacks[i].stack_pointer < region->start || stacks[i].stack_pointer >= region->end)
            continue;
        found = &stacks[i];
        number++;
        if (*lowest == 0 || stacks[i].stack_pointer < *lowest)
            *lowest = stacks[i].stack_pointer;
    }
    return number == 1 ? found : NULL;
}

/* Returns the end of a thread's stack that begins with the region, 0 if it is none. The C library
 * maps a stack with a guard below, and puts the thread's control block at its end. A stack that
 * lies elsewhere, as a coroutine's does in a block of the heap, is read with all that lies around
 * it. */
static uint64_t stack_end(const struct reference_region *region,
                          const struct reference_region *below, const struct reference_stack *stack)
{
    if (!stack || !below || below->end != region->start || below->reads || below->writes ||
        region->start % ARENA_ALIGNMENT == 0 || stack->thread_pointer <= stack->stack_pointer ||
        stack->thread_pointer >= region->end)
        return 0;
    const uint64_t end = (stack->thread_pointer + THREAD_BLOCK + PAGE - 1) & ~(PAGE - 1);
    return end < region->end ? end : region->end;
}

/* Returns true if the pages from the address on are in memory. */
static bool is_present(const struct reference_maps *maps, uint64_t start, uint64_t end)
{
    char path[64];
    uint64_t pages[STACK_TOP / PAGE];
    const size_t size = (end - start) / PAGE * sizeof(*pages);
    snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)maps->process);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    bool present =
        descriptor >= 0 &&
        pread(descriptor, pages, size, (off_t)(start / PAGE * sizeof(*pages))) == (ssize_t)size;
    for (size_t i = 0; present && i < size / sizeof(*pages); i++)
        present = (pages[i] & PAGEMAP_PRESENT) != 0;
    if (descriptor >= 0)
        close(descriptor);
    return present;
}

/* Returns the end of what the next thread takes over from one that has ended, whose stack is the
 * region, 0 if it is none. The C library keeps the stack with a guard below and a control block at
 * its end, which has its own address in its first and third word; the second one holds the table of
 * thread-local storage, a block. */
static uint64_t ended_stack(const struct reference_maps *maps,
                            const struct reference_region *region,
                            const struct reference_region *below,
                            const struct reference_stack *stacks, size_t count)
{
    uint64_t words[STACK_TOP / 8];
    if (count == 0 || !below || below->end != region->start || below->reads || below->writes ||
        !region->writes || region->start % ARENA_ALIGNMENT == 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        if ((stacks[i].stack_pointer >= region->start && stacks[i].stack_pointer < region->end) ||
            (stacks[i].thread_pointer >= region->start && stacks[i].thread_pointer < region->end))
            return 0;
    for (uint64_t size = PAGE; size <= STACK_TOP && size <= region->end - region->start;
         size += PAGE) {
        const uint64_t start = region->end - size;
        if (!is_present(maps, start, start + PAGE) ||
            !attach_read(maps->process, start, words, PAGE))
            return 0;
        for (uint64_t at = start; at < start + PAGE; at += CONTROL_STEP)
            if (words[(at - start) / 8] == at && words[(at - start) / 8 + 2] == at)
                return at + CONTROL_KEPT;
    }
    return 0;
}

static uint64_t from_stack_pointer(uint64_t stack_pointer)
{
    return stack_pointer ? (stack_pointer - RED_ZONE) & ~UINT64_C(7) : 0;
}

static bool is_recorder(const char *path)
{
    const char *name = strrchr(path, '/');
    return name && strncmp(name, "/libmprof", strlen("/libmprof")) == 0;
}

/* Takes anonymous memory: a part of a module's data, of a stack, or neither. */
static bool take_anonymous(struct reference_maps *maps, const struct reference_region *region,
                           const struct reference_module *module,
                           const struct reference_stack *stacks, size_t count)
{
    const struct reference_region *below = region > maps->regions ? region - 1 : NULL;
    struct reference_mapping mapping = {.start = region->start,
                                        .end = region->end,
                                        .protection = (region->reads ? PROT_READ : 0u) |
                                                      (region->writes ? PROT_WRITE : 0u) |
                                                      (region->executes ? PROT_EXEC : 0u),
                                        .kind = TRACE_REFERENCES_ANONYMOUS,
                                        .path = ""};
    uint64_t lowest;
    if (module && module->data_end > region->start) {
        struct reference_mapping data = mapping;
        data.end = module->data_end < region->end ? module->data_end : region->end;
        data.kind = TRACE_REFERENCES_DATA;
        data.path = module->path;
        if (!is_recorder(module->path) && !add_mapping(maps, data))
            return false;
        mapping.start = data.end;
        return add_others(maps, mapping);
    }
    const uint64_t ended = ended_stack(maps, region, below, stacks, count);
    const uint64_t end =
        ended ? ended : stack_end(region, below, stack_in(region, stacks, count, &lowest));
    if (end) {
        struct reference_mapping stack = mapping;
        stack.end = end;
        stack.from = ended ? ended - CONTROL_KEPT : from_stack_pointer(lowest);
        stack.kind = TRACE_REFERENCES_STACK;
        if (!add_mapping(maps, stack))
            return false;
        mapping.start = ended ? mapping.end : end;
    }
    return add_others(maps, mapping);
}

/* Takes memory that has a name. */
static bool take_named(struct reference_maps *maps, const struct reference_region *region,
                       const struct reference_module *module, const struct reference_stack *stacks,
                       size_t count)
{
    struct reference_mapping mapping = {.start = region->start,
                                        .end = region->end,
                                        .offset = region->offset,
                                        .protection = (region->reads ? PROT_READ : 0u) |
                                                      (region->writes ? PROT_WRITE : 0u) |
                                                      (region->executes ? PROT_EXEC : 0u),
                                        .path = region->path};
    uint64_t lowest;
    if (strcmp(region->path, "[heap]") == 0) {
        mapping.kind = TRACE_REFERENCES_HEAP;
    } else if (strcmp(region->path, "[stack]") == 0) {
        mapping.kind = TRACE_REFERENCES_STACK;
        stack_in(region, stacks, count, &lowest);
        mapping.from = from_stack_pointer(lowest);
    } else if (region->path[0] != '/' || !region->writes ||
               (strncmp(region->path, "/dev/", 5) == 0 &&
                strncmp(region->path, "/dev/zero", 9) != 0)) {
        return true; /* of the kernel or a device, or as the file has it */
    } else {
        mapping.kind = module && module->executes ? TRACE_REFERENCES_DATA : TRACE_REFERENCES_FILE;
        if (is_recorder(region->path))
            return true;
    }
    return mapping.kind == TRACE_REFERENCES_HEAP ? add_others(maps, mapping)
                                                 : add_mapping(maps, mapping);
}

/* Chooses at most SPANS ranges that hold all targets, and little else: splits at the largest gaps.
 */
static void choose_spans(struct reference_maps *maps)
{
    size_t splits[SPANS - 1], count = 0; /* indexes of targets that begin a span */
    for (size_t i = 1; i < maps->target_count; i++) {
        const uint64_t gap = maps->targets[i].start - maps->targets[i - 1].end;
        size_t at = count;
        for (; at > 0; at--) {
            const size_t before = splits[at - 1];
            if (maps->targets[before].start - maps->targets[before - 1].end >= gap)
                break;
            if (at < SPANS - 1)
                splits[at] = before;
        }
        if (at < SPANS - 1) {
            splits[at] = i;
            count += count < SPANS - 1;
        }
    }
    maps->span_count = 0;
    if (maps->target_count == 0)
        return;
    maps->spans[maps->span_count++] =
        (struct reference_range){maps->targets[0].start, maps->targets[maps->target_count - 1].end};
    for (size_t i = 0; i < count; i++) { /* in ascending order */
        const size_t at = splits[i];
        size_t span = maps->span_count++;
        for (; span > 0 && maps->spans[span - 1].start > maps->targets[at].start; span--)
            maps->spans[span] = maps->spans[span - 1];
        maps->spans[span] = (struct reference_range){maps->targets[at].start, 0};
    }
    for (size_t i = 0; i < maps->span_count; i++) {
        const uint64_t next = i + 1 < maps->span_count ? maps->spans[i + 1].start : UINT64_MAX;
        for (size_t k = 0; k < maps->target_count && maps->targets[k].start < next; k++)
            maps->spans[i].end = maps->targets[k].end;
    }
}

bool reference_maps_read(struct reference_maps *maps, const struct reference_stack *stacks,
                         size_t count, uint64_t own, uint32_t own_count)
{
    const struct reference_module *module = NULL; /* of the last file */
    uint64_t end = 0; /* of the last region of that module and its data */
    maps->mapping_count = maps->target_count = 0;
    maps->shared = 0;
    if (!read_own(maps, own, own_count) || !read_text(maps) || !parse(maps) ||
        (count == 0 && !learn_modules(maps)))
        return false;
    find_data_ends(maps);
    for (size_t i = 0; i < maps->region_count; i++) {
        const struct reference_region *region = &maps->regions[i];
        const bool anonymous =
            !*region->path || strncmp(region->path, "[anon:", strlen("[anon:")) == 0;
        bool good = true;
        if (region->module)
            module = &maps->modules[region->module - 1];
        else if (region->start != end)
            module = NULL;
        end = region->end;
        if (!region->is_private) {
            if (region->writes && region->inode != maps->trace)
                maps->shared += region->end - region->start;
        } else if (region->reads) {
            good = anonymous ? take_anonymous(maps, region, module, stacks, count)
                             : take_named(maps, region, module, stacks, count);
        }
        if (!good)
            return false;
    }
    choose_spans(maps);
    return true;
}

size_t reference_maps_target(const struct reference_maps *maps, uint64_t address, size_t hint)
{
    const struct reference_range *targets = maps->targets;
    if (hint < maps->target_count && address >= targets[hint].start && address < targets[hint].end)
        return hint;
    size_t low = 0, high = maps->target_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (targets[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < maps->target_count && address >= targets[low].start ? low : maps->target_count;
}

bool reference_maps_leads(const struct reference_maps *maps, uint64_t address)
{
    return reference_maps_target(maps, address, 0) < maps->target_count;
}

void reference_maps_free(struct reference_maps *maps)
{
    FREE_ALL(maps->own, maps->targets, maps->mappings, maps->known, maps->modules, maps->regions,
             maps->text);
}
