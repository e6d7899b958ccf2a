/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#include "capture/os/os.h"
#include "capture/os/process_maps.h"
#include "capture/os/trace_name.h"
#include "capture/stack/executable_maps.h"

/* Reads the headers of a loaded ELF file in memory: its segments, build-id and unwind tables. */

/* The most program headers that are read. No file has more. */
#define PROGRAM_HEADERS_MAX 64u
#define NOTES_MAX 512u

static void notes_read(uint64_t address, uint64_t size, struct module_image *image)
{
    uint8_t notes[NOTES_MAX];
    size_t length = os_copy_memory(address, notes, size < sizeof(notes) ? size : sizeof(notes)),
           at = 0;
    while (length - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        memcpy(&note, notes + at, sizeof(note));
        size_t name = at + sizeof(note), rest = length - name;
        uint64_t name_size = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
        uint64_t data_size = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
        if (name_size > rest || data_size > rest - name_size)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            !memcmp(notes + name, "GNU", 4) && note.n_descsz <= MODULE_BUILD_ID_MAX) {
            image->build_id_length = note.n_descsz;
            memcpy(image->build_id, notes + name + name_size, note.n_descsz);
            return;
        }
        at = name + name_size + data_size;
    }
}

static void segment_add(const Elf64_Phdr *header, uint64_t start, struct module_image *image)
{
    if (image->segment_count == 0)
        image->load_bias = start - (header->p_vaddr & ~(uint64_t)(ARCH_PAGE_SIZE - 1));
    uint64_t end = image->load_bias + header->p_vaddr + header->p_memsz;
    if (end > image->end)
        image->end = end;
    if (image->segment_count < sizeof(image->segments) / sizeof(image->segments[0]))
        image->segments[image->segment_count++] =
            (struct stack_segment){header->p_vaddr, header->p_memsz, header->p_flags};
}

/* Finds the unwind tables. Their bounds are those of the loaded segment that holds their header. */
static void unwind_bound(uint64_t header, struct module_image *image)
{
    for (size_t i = 0; i < image->segment_count; i++) {
        uint64_t start = image->load_bias + image->segments[i].address;
        uint64_t size = image->segments[i].size;
        if (header - start < size && (image->segments[i].flags & PF_R))
            image->unwind = (struct unwind_image){
                (const uint8_t *)start, (const uint8_t *)(start + size), (const uint8_t *)header};
    }
}

bool module_image_read(uint64_t start, struct module_image *image)
{
    Elf64_Ehdr file;
    memset(image, 0, sizeof(*image));
    if (os_copy_memory(start, &file, sizeof(file)) != sizeof(file) ||
        memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 || file.e_phentsize != sizeof(Elf64_Phdr))
        return false;
    Elf64_Phdr unwind = {.p_type = PT_NULL}, header;
    unsigned count = file.e_phnum < PROGRAM_HEADERS_MAX ? file.e_phnum : PROGRAM_HEADERS_MAX;
    for (unsigned pass = 0; pass < 2; pass++) /* the bias is known after the first */
        for (unsigned i = 0; i < count; i++) {
            if (os_copy_memory(start + file.e_phoff + i * sizeof(header), &header,
                               sizeof(header)) != sizeof(header))
                return false;
            if (pass == 0 && header.p_type == PT_LOAD)
                segment_add(&header, start, image);
            else if (pass == 0 && header.p_type == PT_GNU_EH_FRAME)
                unwind = header;
            else if (pass == 1 && header.p_type == PT_NOTE && !image->build_id_length)
                notes_read(image->load_bias + header.p_vaddr, header.p_memsz, image);
        }
    if (unwind.p_type == PT_GNU_EH_FRAME)
        unwind_bound(image->load_bias + unwind.p_vaddr, image);
    return image->segment_count > 0;
}

/* The modules are in a fixed table, which is searched from a hash of the module's first address. An
 * entry goes EMPTY → FILLING → LOADED → GONE → FILLING …, and its fields are written in FILLING
 * only. A reader checks afterwards that the id is still the same. */
#define MODULE_CAPACITY 4096u
#define WAIT_TURNS 10000u

enum entry_state { EMPTY, FILLING, LOADED, GONE };
enum announcement { UNKNOWN, IN_HAND, WRITTEN };

struct module_entry {
    _Atomic uint32_t state, id, announcement;
    uint64_t identity; /* hash of build-id and link map: tells loads apart */
    struct module module;
};

/* The place of a module that has no entry yet. */
struct location {
    uint64_t start, end, load_bias;
    const struct link_map *link_map; /* NULL if only the maps are known */
    uint64_t twin; /* the same place of the file in a loaded module; 0: this one is loaded */
};

static struct {
    struct module_entry *entries;
    _Atomic uint32_t last_id;
    _Atomic uint64_t announced;
    bool by_maps;
    uint64_t vdso;
    char executable[PATH_MAX];
} modules;

#if __GLIBC_PREREQ(2, 35)
/* NOLINTNEXTLINE(readability-redundant-declaration): it makes the symbol weak */
extern __typeof(_dl_find_object) _dl_find_object __attribute__((weak));

static bool loader_known(void)
{
    struct dl_find_object own;
    return &_dl_find_object != NULL && _dl_find_object((void *)loader_known, &own) == 0;
}

#ifdef MPROF_STATIC
/* Symbols that the linker defines. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* Finds a program without a loader. The C library knows its segments one by one. */
static bool locate_program(uint64_t pc, struct location *location)
{
    const uint64_t start = (uint64_t)__ehdr_start, end = (uint64_t)_end;
    if (pc - start >= end - start)
        return false;
    *location = (struct location){.start = start, .end = end};
    return true;
}
#else
static bool locate_program(uint64_t pc, struct location *location)
{
    return false;
}
#endif

static bool locate_by_loader(uint64_t pc, struct location *location)
{
    struct dl_find_object object;
    if (locate_program(pc, location))
        return true;
    if (_dl_find_object((void *)pc, &object) != 0)
        return false;
    *location = (struct location){
        .start = (uint64_t)object.dlfo_map_start,
        .end = (uint64_t)object.dlfo_map_end,
        .load_bias = object.dlfo_link_map ? object.dlfo_link_map->l_addr : 0,
        .link_map = object.dlfo_link_map,
    };
    return true;
}
#else
static bool loader_known(void)
{
    return false;
}

static bool locate_by_loader(uint64_t pc, struct location *location)
{
    return false;
}
#endif

void modules_init(bool by_maps)
{
    if (!modules.entries)
        modules.entries = os_map(MODULE_CAPACITY * sizeof(*modules.entries));
    modules.by_maps = by_maps || !loader_known();
    modules.vdso = getauxval(AT_SYSINFO_EHDR);
    executable_name(modules.executable, sizeof(modules.executable));
}

/* Finds the file that is mapped at `pc`. It begins at the nearest first page of a file below that.
 * Copies its path into `path` (PATH_MAX bytes), unless that is NULL. */
static bool locate_by_maps(uint64_t pc, struct location *location, char *path)
{
    struct process_maps *maps = process_maps_open();
    struct process_map map;
    uint64_t start = 0;
    bool found = false;
    while (maps && !found && process_maps_next(maps, &map)) {
        if (map.offset == 0 && map.path[0]) /* other files may lie between its mappings */
            start = map.start;
        if (pc - map.start >= map.end - map.start)
            continue;
        struct module_image image;
        found = module_image_read(start, &image) && pc < image.end;
        *location =
            (struct location){.start = start, .end = image.end, .load_bias = image.load_bias};
        if (path) {
            size_t length = strnlen(map.path, PATH_MAX - 1);
            memcpy(path, map.path, length);
            path[length] = 0;
        }
        break;
    }
    if (maps)
        process_maps_close(maps);
    return found;
}

static bool locate_loaded(uint64_t pc, struct location *location)
{
    return modules.by_maps ? locate_by_maps(pc, location, NULL) : locate_by_loader(pc, location);
}

/* Finds code of a loaded module that the program has mapped again elsewhere. Runtimes do so to have
 * their own code near the code that they generate. */
static bool locate_twin(uint64_t pc, struct location *location)
{
    struct executable_map region;
    struct location loaded = {0};
    uint64_t twin;
    if (!executable_maps_find(pc, &region))
        return false;
    for (unsigned i = 0; (twin = executable_maps_twin(&region, pc, i)) != 0; i++)
        if (locate_loaded(twin, &loaded)) {
            *location = (struct location){.start = region.start,
                                          .end = region.end,
                                          .load_bias = loaded.load_bias + pc - twin,
                                          .twin = twin};
            return true;
        }
    return false;
}

static bool locate(uint64_t pc, struct location *location)
{
    return locate_loaded(pc, location) || locate_twin(pc, location);
}

/* Reads the headers of a module. If its segments leave gaps between them, the loader gives it piece
 * by piece. The header of such a piece lies elsewhere, as does that of code that is mapped
 * again. */
static bool image_read(const struct location *location, struct module_image *image)
{
    struct location whole;
    if (!location->twin && module_image_read(location->start, image))
        return true;
    const uint64_t inside = location->twin ? location->twin : location->start;
    memset(image, 0, sizeof(*image));
    return locate_by_maps(inside, &whole, NULL) && module_image_read(whole.start, image);
}

static uint64_t identity(const struct location *location, const struct module_image *image)
{
    uint64_t hash = (uint64_t)location->link_map ^ location->load_bias ^ location->end << 1;
    for (size_t i = 0; i < image->build_id_length; i++)
        hash = (hash ^ image->build_id[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static bool entry_read(struct module_entry *entry, uint64_t start, struct module *module)
{
    uint32_t id = atomic_load_explicit(&entry->id, memory_order_acquire);
    if (atomic_load_explicit(&entry->state, memory_order_acquire) != LOADED)
        return false;
    *module = entry->module;
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&entry->id, memory_order_relaxed) == id && module->id == id &&
           module->start == start;
}

static struct module_entry *entry_at(uint64_t start, unsigned probe)
{
    uint64_t hash = start * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return &modules.entries[(hash + probe) % MODULE_CAPACITY];
}

static void entry_fill(struct module_entry *entry, const struct location *location)
{
    struct module_image image;
    struct module *module = &entry->module;
    bool known = image_read(location, &image);
    *module = (struct module){
        .id = atomic_fetch_add(&modules.last_id, 1) + 1,
        .start = location->start,
        .end = location->end,
        .load_bias = location->link_map || location->twin ? location->load_bias : image.load_bias,
        .image = location->twin ? (struct unwind_image){0} : image.unwind,
    };
    (void)known; /* without a header the image is all zero: no unwind tables, no build-id */
    entry->identity = identity(location, &image);
    atomic_store_explicit(&entry->announcement, UNKNOWN, memory_order_relaxed);
    atomic_store_explicit(&entry->id, module->id, memory_order_release);
    atomic_store_explicit(&entry->state, LOADED, memory_order_release);
}

/* Returns the state of the entry. Waits, within reason, while another thread fills it. */
static uint32_t entry_settled(struct module_entry *entry)
{
    uint32_t state = atomic_load_explicit(&entry->state, memory_order_acquire);
    for (unsigned turn = 0; state == FILLING && turn < WAIT_TURNS; turn++) {
        os_yield();
        state = atomic_load_explicit(&entry->state, memory_order_acquire);
    }
    return state;
}

static bool entry_find(uint64_t start, struct module *module)
{
    for (unsigned probe = 0; probe < MODULE_CAPACITY; probe++) {
        struct module_entry *entry = entry_at(start, probe);
        if (entry_settled(entry) == EMPTY)
            return false;
        if (entry_read(entry, start, module))
            return true;
    }
    return false;
}

/* Fills the first free entry. If two threads want to make the same module, they meet there, and the
 * second finds it filled. */
static bool entry_make(const struct location *location, struct module *module)
{
    for (unsigned probe = 0; probe < MODULE_CAPACITY; probe++) {
        struct module_entry *entry = entry_at(location->start, probe);
        uint32_t state = entry_settled(entry);
        if (state == EMPTY || state == GONE) {
            /* If a handler left by longjmp, the entry would stay half filled forever. */
            uint64_t signals = os_block_signals();
            if (atomic_compare_exchange_strong(&entry->state, &state, FILLING))
                entry_fill(entry, location);
            os_restore_signals(signals);
        }
        entry_settled(entry);
        if (entry_read(entry, location->start, module))
            return true;
    }
    return false;
}

/* Searches the known modules first where each look at the maps opens a file. */
static bool known_find(uint64_t pc, struct module *module)
{
    for (unsigned i = 0; i < MODULE_CAPACITY; i++) {
        struct module_entry *entry = &modules.entries[i];
        if (atomic_load_explicit(&entry->state, memory_order_acquire) == LOADED &&
            pc - entry->module.start < entry->module.end - entry->module.start &&
            entry_read(entry, entry->module.start, module))
            return true;
    }
    return false;
}

bool modules_find(uint64_t pc, struct module *module)
{
    struct location location;
    if (!modules.entries)
        return false;
    if (modules.by_maps && known_find(pc, module))
        return true;
    return locate(pc, &location) &&
           (entry_find(location.start, module) || entry_make(&location, module));
}

static const char *path_of(const struct module *module, const struct location *location,
                           char *buffer)
{
    struct location unused;
    if (module->start == modules.vdso)
        return "[vdso]";
    if (!location->link_map) {
        buffer[0] = 0;
        locate_by_maps(module->start, &unused, buffer);
        return buffer;
    }
    const char *name = location->link_map->l_name;
    return name && name[0] ? name : modules.executable;
}

static bool announce(const struct module *module, const struct stack_sink *sink, void *context)
{
    struct location location = {.start = module->start};
    struct module_image image;
    if (modules.by_maps)
        locate_twin(module->start, &location);
    else if (!locate(module->start, &location))
        return false;
    char *buffer = os_map(PATH_MAX);
    if (!buffer)
        return false;
    image_read(&location, &image);
    struct stack_module record = {
        .id = module->id,
        .load_bias = module->load_bias,
        .start = module->start,
        .end = module->end,
        .path = path_of(module, &location, buffer),
        .build_id = image.build_id,
        .build_id_length = image.build_id_length,
        .segment_count = image.segment_count,
    };
    memcpy(record.segments, image.segments, sizeof(record.segments));
    bool written = sink->module(context, &record);
    os_unmap(buffer, PATH_MAX);
    return written;
}

static struct module_entry *entry_of(const struct module *module)
{
    for (unsigned probe = 0; probe < MODULE_CAPACITY; probe++) {
        struct module_entry *entry = entry_at(module->start, probe);
        uint32_t state = atomic_load_explicit(&entry->state, memory_order_acquire);
        if (state == EMPTY)
            return NULL;
        if (state == LOADED && atomic_load(&entry->id) == module->id)
            return entry;
    }
    return NULL;
}

bool modules_announce(const struct module *module, const struct stack_sink *sink, void *context)
{
    struct module_entry *entry = entry_of(module);
    if (entry && atomic_load_explicit(&entry->announcement, memory_order_acquire) == WRITTEN)
        return true;
    for (unsigned turn = 0; entry && turn < WAIT_TURNS; turn++) {
        uint32_t state = UNKNOWN;
        uint64_t signals = os_block_signals();
        if (atomic_compare_exchange_strong(&entry->announcement, &state, IN_HAND)) {
            bool written = announce(module, sink, context);
            atomic_fetch_add_explicit(&modules.announced, written, memory_order_relaxed);
            atomic_store_explicit(&entry->announcement, written ? WRITTEN : UNKNOWN,
                                  memory_order_release);
            os_restore_signals(signals);
            return written;
        }
        os_restore_signals(signals);
        if (state == WRITTEN)
            return true;
        os_yield();
    }
    return false;
}

void modules_sweep(void (*gone)(const struct module *module, bool announced, void *argument),
                   void *argument)
{
    for (unsigned i = 0; modules.entries && i < MODULE_CAPACITY; i++) {
        struct module_entry *entry = &modules.entries[i];
        struct location location = {0};
        struct module_image image;
        uint32_t state = LOADED;
        if (atomic_load_explicit(&entry->state, memory_order_acquire) != LOADED)
            continue;
        if (locate(entry->module.start, &location) && location.start == entry->module.start) {
            image_read(&location, &image);
            if (identity(&location, &image) == entry->identity)
                continue;
        }
        uint64_t signals = os_block_signals();
        if (atomic_compare_exchange_strong(&entry->state, &state, FILLING)) {
            bool announced = atomic_load(&entry->announcement) == WRITTEN;
            gone(&entry->module, announced, argument);
            atomic_store_explicit(&entry->state, GONE, memory_order_release);
        }
        os_restore_signals(signals);
    }
}

void modules_reset(void)
{
    for (unsigned i = 0; modules.entries && i < MODULE_CAPACITY; i++) {
        struct module_entry *entry = &modules.entries[i];
        if (atomic_load(&entry->state) == FILLING)
            atomic_store(&entry->state, GONE);
        atomic_store(&entry->announcement, UNKNOWN);
    }
    atomic_store(&modules.announced, 0);
}

void modules_announce_again(void)
{
    for (unsigned i = 0; modules.entries && i < MODULE_CAPACITY; i++)
        atomic_store(&modules.entries[i].announcement, UNKNOWN);
    atomic_store(&modules.announced, 0);
}

uint32_t modules_take_id(void)
{
    return atomic_fetch_add(&modules.last_id, 1) + 1;
}

uint64_t modules_announced(void)
{
    return atomic_load_explicit(&modules.announced, memory_order_relaxed);
}
