/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/symbols/symbols.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ingest/base/array.h"
#include "ingest/base/cache.h"
#include "ingest/base/output_file.h"
#include "ingest/symbols/dwarf.h"
#include "ingest/symbols/file.h"
#include "ingest/symbols/intervals.h"
#include "ingest/symbols/table.h"
#include "schemas/array.h"

/* Names of code that a runtime generated. They come from the perf map that the runtime left: lines
 * of "START SIZE NAME" with hexadecimal numbers, as the kernel's
 * tools/perf/Documentation/jit-interface.txt describes them. If two lines overlap, the inner one
 * wins. If they are equal, the later one wins. */

struct code {
    const char *name;
    uint64_t start;
};

struct symbols_perf_map {
    struct code *codes;
    size_t count, capacity;
    struct symbols_intervals addresses; /* the values are indices into `codes` */
};

bool symbols_trust(const struct stat *information)
{
    return S_ISREG(information->st_mode) &&
           (information->st_uid == geteuid() || information->st_uid == 0);
}

/* Opens a perf map. NULL: it is not to be trusted, or older than the process. */
static FILE *open_trusted(const char *path, uint64_t since_ns)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    struct stat information;
    if (descriptor < 0)
        return NULL;
    FILE *file = NULL;
    if (fstat(descriptor, &information) == 0 && symbols_trust(&information) &&
        information.st_mtim.tv_sec >= (time_t)(since_ns / 1000000000U))
        file = fdopen(descriptor, "r");
    if (!file)
        close(descriptor);
    return file;
}

static bool read_number(char **text, uint64_t *number)
{
    char *end;
    if (!isxdigit((unsigned char)**text))
        return false;
    *number = strtoull(*text, &end, 16);
    if (*end != ' ' && *end != '\t')
        return false;
    while (*end == ' ' || *end == '\t')
        end++;
    *text = end;
    return true;
}

static bool add_line(struct symbols_perf_map *map, char *line, struct symbols_strings *strings)
{
    uint64_t start, size;
    line[strcspn(line, "\r\n")] = '\0';
    if (!read_number(&line, &start) || !read_number(&line, &size) || *line == '\0' ||
        start + size <= start)
        return true;
    if (map->count > SYMBOLS_NOWHERE / 2 || !ARRAY_GROW(map->codes, map->count, map->capacity))
        return false;
    if (!symbols_intervals_add(&map->addresses, start, start + size, (uint32_t)map->count))
        return false;
    map->codes[map->count++] = (struct code){symbols_strings_keep(strings, line), start};
    return true;
}

static bool read_lines(struct symbols_perf_map *map, FILE *file, struct symbols_strings *strings)
{
    char *line = NULL;
    size_t size = 0;
    bool good = true;
    while (good && getline(&line, &size, file) > 0)
        good = add_line(map, line, strings);
    free(line);
    return good && symbols_intervals_settle(&map->addresses);
}

static void symbols_perf_map_free(struct symbols_perf_map *map)
{
    if (!map)
        return;
    free(map->codes);
    symbols_intervals_free(&map->addresses);
    free(map);
}

/* Reads the map at `path`. Returns NULL if there is none that can be trusted. It must be a regular
 * file of this user or of root. If it was last written before `since_ns` (nanoseconds of the
 * real-time clock), it belongs to another process and is refused. Lines that are not entries are
 * skipped. `strings` keeps the names. */
static struct symbols_perf_map *symbols_perf_map_open(const char *path, uint64_t since_ns,
                                                      struct symbols_strings *strings)
{
    FILE *file = open_trusted(path, since_ns);
    if (!file)
        return NULL;
    struct symbols_perf_map *map = calloc(1, sizeof(*map));
    if (map && !read_lines(map, file, strings)) {
        symbols_perf_map_free(map);
        map = NULL;
    }
    fclose(file);
    return map;
}

/* Returns the name of the code at the absolute address `pc` and its *start, or NULL. */
static const char *symbols_perf_map_find(const struct symbols_perf_map *map, uint64_t pc,
                                         uint64_t *start)
{
    uint32_t code = symbols_intervals_find(&map->addresses, pc);
    if (code == SYMBOLS_NOWHERE)
        return NULL;
    *start = map->codes[code].start;
    return map->codes[code].name;
}

/* The vdso: code that the kernel maps into each process and that lies in no file. */

/* Returns the size of the ELF file. Its table of sections comes last. */
static size_t size_of(const void *image)
{
    const Elf64_Ehdr *header = image;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_shoff == 0)
        return 0;
    return header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
}

/* Returns a descriptor of a file in memory that holds this process's own vdso, an ELF library. The
 * caller closes it. Returns -1 if there is no vdso. */
static int symbols_vdso_copy(void)
{
    const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
    size_t size = !image ? 0 : size_of(image);
    int descriptor = size == 0 ? -1 : memfd_create("vdso", MFD_CLOEXEC);
    if (descriptor < 0)
        return -1;
    if (write_whole(descriptor, image, size) == 0)
        return descriptor;
    close(descriptor);
    return -1;
}

/* ---- symbols ------------------------------------------------------------------------------- */

#define BUILD_ID_MAX 64

/* Other paths of a file under which it is opened again. */
enum { OTHER_PATHS_MAX = 8 };

struct module {
    char *path;
    const char *name; /* last component of path */
    uint8_t build_id[BUILD_ID_MAX];
    size_t build_id_length;
    uint32_t number; /* identifies it in all traces */
    uint32_t trace;  /* in which it was registered first */
    uint32_t cached; /* its number in the cache of answers; 0: none yet */
    bool opened;     /* or tried to */
    bool refused;    /* it is the file of too many modules */
    bool spent;      /* another reader of its debug information gave up */
    dev_t device;    /* of the file, if there was one */
    ino_t inode;
    struct symbols_file file;
    struct symbols_table *table; /* NULL: nothing could be opened */
    struct symbols_dwarf *dwarf; /* or NULL */
    char status[512];
};

/* A file's number is this plus its index in `all`. */
#define FILE_NUMBER UINT32_C(0x80000000)
/* The number that means "no file" is this plus the trace's number. */
#define NO_FILE_NUMBER UINT32_C(0xc0000000)

struct symbols {
    struct module **all; /* of all traces; each file once */
    size_t all_count, all_capacity;
    struct index_map by_path, by_inode; /* by_inode: those with a file */
    struct module **modules; /* by id in this trace, owned by `all`; NULL: not registered */
    size_t module_count;
    uint32_t traces;
    struct symbols_strings *strings;
    char *debug_dir, *sysroot;
    struct symbols_options options;    /* with these */
    char *directory;                   /* NULL: unknown */
    struct symbols_perf_map *perf_map; /* or NULL */
    struct symbols_given given;
    struct cache_depends depends;
    struct cache *cache; /* of answers; or NULL */
};

struct symbols *symbols_new(const struct symbols_options *options)
{
    struct symbols *symbols = calloc(1, sizeof(*symbols));
    if (!symbols)
        return NULL;
    symbols->strings = symbols_strings_new();
    bool good = symbols->strings != NULL;
    if (options->debug_dir)
        good = good && (symbols->debug_dir = strdup(options->debug_dir));
    if (options->sysroot)
        good = good && (symbols->sysroot = strdup(options->sysroot));
    symbols->options =
        (struct symbols_options){symbols->debug_dir, symbols->sysroot, options->interrupted};
    if (good)
        return symbols;
    symbols_free(symbols);
    return NULL;
}

static void module_free(struct module *module)
{
    if (!module)
        return;
    symbols_dwarf_free(module->dwarf);
    symbols_table_free(module->table);
    symbols_file_close(&module->file);
    FREE_ALL(module->path, module);
}

void symbols_free(struct symbols *symbols)
{
    if (!symbols)
        return;
    for (size_t i = 0; i < symbols->all_count; i++)
        module_free(symbols->all[i]);
    free(symbols->all);
    index_map_free(&symbols->by_path);
    index_map_free(&symbols->by_inode);
    free(symbols->modules);
    symbols_strings_free(symbols->strings);
    FREE_ALL(symbols->debug_dir, symbols->sysroot, symbols->directory);
    symbols_perf_map_free(symbols->perf_map);
    cache_depends_free(&symbols->depends);
    free(symbols);
}

bool symbols_set_program(struct symbols *symbols, const struct symbols_program *program)
{
    char *path = NULL;
    free(symbols->directory);
    symbols->directory = NULL;
    if (program->directory && !(symbols->directory = strdup(program->directory)))
        return false;
    symbols_perf_map_free(symbols->perf_map);
    symbols->perf_map = NULL;
    if (program->pid == 0)
        return true;
    if (asprintf(&path, "%s/tmp/perf-%llu.map", symbols->sysroot ? symbols->sysroot : "",
                 (unsigned long long)program->pid) < 0)
        return false;
    symbols->perf_map = symbols_perf_map_open(path, program->start_ns, symbols->strings);
    free(path);
    return true;
}

void symbols_set_given(struct symbols *symbols, struct symbols_given given)
{
    symbols->given = given;
}

/* Module ids of a trace are dense. A damaged id must not make the table huge. */
#define MODULE_ID_MAX (1U << 24)

static bool reserve_module(struct symbols *symbols, uint32_t id)
{
    return id < MODULE_ID_MAX && array_reserve(&symbols->modules, &symbols->module_count,
                                               (size_t)id + 1, sizeof(struct module *));
}

static uint64_t hash_of(const char *path, const uint8_t *build_id, size_t length)
{
    return hash_bytes(hash_text(path), build_id, length < BUILD_ID_MAX ? length : BUILD_ID_MAX);
}

/* Finds a module with this path and build-id, so the same file. Returns NULL if there is none. A
 * file without a build-id may be another one in the next trace. */
static struct module *find_module(const struct symbols *symbols, const char *path,
                                  const uint8_t *build_id, size_t length)
{
    uint64_t hash = hash_of(path, build_id, length);
    size_t probe = index_map_begin(&symbols->by_path, hash);
    uint32_t index;
    /* A relative path may mean another file in each trace. */
    if (path[0] != '/' && path[0] != '[')
        return NULL;
    while ((index = index_map_next(&symbols->by_path, hash, &probe)) != INDEX_NONE) {
        struct module *module = symbols->all[index];
        if (module->build_id_length == length &&
            (length == 0 ? module->trace == symbols->traces
                         : memcmp(module->build_id, build_id, length) == 0) &&
            strcmp(module->path, path) == 0)
            return module;
    }
    return NULL;
}

static bool remember_module(struct symbols *symbols, struct module *module)
{
    if (symbols->all_count >= NO_FILE_NUMBER - FILE_NUMBER ||
        !array_reserve(&symbols->all, &symbols->all_capacity, symbols->all_count + 1,
                       sizeof(struct module *)) ||
        !index_map_insert(&symbols->by_path,
                          hash_of(module->path, module->build_id, module->build_id_length),
                          (uint32_t)symbols->all_count))
        return false;
    module->number = FILE_NUMBER | (uint32_t)symbols->all_count;
    module->trace = symbols->traces;
    symbols->all[symbols->all_count++] = module;
    return true;
}

/* Returns the path of the module's file; free() it. NULL: it has none that is known. */
static char *path_of(const struct symbols *symbols, const struct module *module)
{
    const bool absolute = module->path[0] == '/';
    char *path = NULL;
    /* The program may have loaded a library by a path relative to its working directory. */
    if (!absolute && (!strchr(module->path, '/') || !symbols->directory))
        return NULL;
    return asprintf(&path, "%s%s%s%s", symbols->sysroot ? symbols->sysroot : "",
                    absolute ? "" : symbols->directory, absolute ? "" : "/", module->path) < 0
               ? NULL
               : path;
}

/* Notes the file of a new module. It is refused if the trace has given the same file to so many
 * modules before, because it may have any number of paths that lead to it. Then all is asked
 * without a cache: whether a module is refused depends on the others. */
static void note_file(struct symbols *symbols, struct module *module)
{
    char *path = path_of(symbols, module);
    struct stat about;
    const bool exists = path && stat(path, &about) == 0;
    free(path);
    if (!exists)
        return;
    const uint64_t hash = hash_combine(hash_combine(hash_seed(), about.st_ino), about.st_dev);
    size_t probe = index_map_begin(&symbols->by_inode, hash);
    uint32_t index, count = 0;
    while ((index = index_map_next(&symbols->by_inode, hash, &probe)) != INDEX_NONE) {
        const struct module *other = symbols->all[index];
        count += other->inode == about.st_ino && other->device == about.st_dev &&
                 other->trace == symbols->traces &&
                 other->build_id_length == module->build_id_length &&
                 memcmp(other->build_id, module->build_id, module->build_id_length) == 0;
    }
    module->inode = about.st_ino;
    module->device = about.st_dev;
    index_map_insert(&symbols->by_inode, hash, module->number - FILE_NUMBER);
    module->refused = count >= OTHER_PATHS_MAX;
    if (module->refused)
        cache_stop(symbols->cache);
}

/* A list of folders, a server of debug files, or a folder beside each module: nobody can say which
 * files answers depend on. */
static bool is_unknown_place(const char *folder)
{
    return folder && (folder[0] != '/' || strchr(folder, ':'));
}

void symbols_set_cache(struct symbols *symbols, struct cache *cache)
{
    struct coding fact = {0};
    const char *servers = getenv("DEBUGINFOD_URLS");
    symbols->cache = cache;
    coding_put_text(&fact, symbols->debug_dir);
    coding_put_text(&fact, symbols->sysroot);
    if (is_unknown_place(symbols->debug_dir) || is_unknown_place(symbols->sysroot) ||
        (servers && *servers) || !cache_machine(&fact))
        cache_stop(cache);
    cache_tell(cache, &fact);
    coding_free(&fact);
}

/* Makes the module a part of the cache's key, unless questions were asked already. */
static void tell_module(struct symbols *symbols, uint32_t id, const char *path,
                        const uint8_t *build_id, size_t build_id_length)
{
    struct coding fact = {0};
    if (!cache_is_on(symbols->cache))
        return;
    /* Another trace may have another folder for it. */
    if (path[0] != '/' && strchr(path, '/')) {
        cache_stop(symbols->cache);
        return;
    }
    coding_put_number(&fact, id);
    coding_put_text(&fact, path);
    coding_put_number(&fact, build_id_length);
    coding_put(&fact, build_id, build_id_length);
    cache_tell(symbols->cache, &fact);
    coding_free(&fact);
}

void symbols_module(struct symbols *symbols, uint32_t id, const char *path, const uint8_t *build_id,
                    size_t build_id_length)
{
    if (id == 0 || !reserve_module(symbols, id))
        return;
    tell_module(symbols, id, path, build_id, build_id_length);
    symbols->modules[id] = find_module(symbols, path, build_id, build_id_length);
    if (symbols->modules[id])
        return;
    struct module *module = calloc(1, sizeof(*module));
    if (module && build_id_length > 0) {
        module->build_id_length = build_id_length < BUILD_ID_MAX ? build_id_length : BUILD_ID_MAX;
        memcpy(module->build_id, build_id, module->build_id_length);
    }
    if (!module || !(module->path = strdup(path)) || !remember_module(symbols, module)) {
        module_free(module);
        return;
    }
    const char *slash = strrchr(module->path, '/');
    module->name = !slash || slash[1] == '\0' ? module->path : slash + 1;
    symbols->modules[id] = module;
    note_file(symbols, module);
}

static void module_build_tables(struct symbols *symbols, struct module *module)
{
    module->table = symbols_table_new(&module->file, symbols->strings);
    const char *status =
        !module->table ? "out of memory for the symbols" : symbols_table_source(module->table);
    module->dwarf = symbols_dwarf_new(&module->file, symbols->strings);
    if (module->dwarf)
        status = "dwarf";
    else if (errno == ENOMEM)
        status = "out of memory for the debug information";
    const char *unreadable = module->dwarf ? NULL : module->file.unreadable;
    snprintf(module->status, sizeof(module->status), "%s%s%s", status,
             unreadable ? "; " SYMBOLS_UNREADABLE : "", unreadable ? unreadable : "");
}

/* The vdso belongs to the kernel. It is known only if the kernel of the recording runs here. */
static void module_open_vdso(struct symbols *symbols, struct module *module)
{
    char path[64], reason[512];
    int descriptor = symbols_vdso_copy();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
    if (descriptor >= 0 &&
        symbols_file_open(&module->file, &symbols->options, &symbols->depends, path,
                          module->build_id, module->build_id_length, reason, sizeof(reason)))
        module_build_tables(symbols, module);
    else
        snprintf(module->status, sizeof(module->status),
                 "none: %s is of another kernel than the one that runs here", module->path);
    if (descriptor >= 0)
        close(descriptor);
}

/* Nobody says which files were opened for units whose entries lie in files of their own. */
static void note_split(struct symbols *symbols, const struct module *module)
{
    if (module->file.dwarf && (!module->dwarf || symbols_dwarf_is_split(module->dwarf) ||
                               symbols_dwarf_spent(module->dwarf)))
        symbols->depends.unknown = true;
}

static void module_open_file(struct symbols *symbols, struct module *module)
{
    if (module->build_id_length > 0 && strcmp(module->path, "[vdso]") == 0) {
        module_open_vdso(symbols, module);
        return;
    }
    char *path = path_of(symbols, module);
    if (!path) {
        snprintf(module->status, sizeof(module->status), "none: %s is not a file",
                 module->path[0] == '\0' ? "a module without a name" : module->path);
        return;
    }
    cache_depends_add(&symbols->depends, path);
    if (module->refused)
        snprintf(module->status, sizeof(module->status), "none: it is the file of %d other modules",
                 OTHER_PATHS_MAX);
    else if (symbols_file_open(&module->file, &symbols->options, &symbols->depends, path,
                               module->build_id, module->build_id_length, module->status,
                               sizeof(module->status)))
        module_build_tables(symbols, module);
    note_split(symbols, module);
    free(path);
}

/* Returns the module of a trace's id or of a file's number. NULL: there is none. */
static struct module *registered(const struct symbols *symbols, uint32_t id)
{
    if (id >= NO_FILE_NUMBER)
        return NULL;
    if (id >= FILE_NUMBER)
        return id - FILE_NUMBER < symbols->all_count ? symbols->all[id - FILE_NUMBER] : NULL;
    return id < symbols->module_count ? symbols->modules[id] : NULL;
}

void symbols_next_trace(struct symbols *symbols)
{
    if (symbols->module_count > 0)
        memset(symbols->modules, 0, symbols->module_count * sizeof(struct module *));
    symbols->traces++;
}

static uint32_t no_file(const struct symbols *symbols)
{
    return NO_FILE_NUMBER | (symbols->traces & (NO_FILE_NUMBER - FILE_NUMBER - 1));
}

uint32_t symbols_file_number(const struct symbols *symbols, uint32_t id)
{
    const struct module *module = registered(symbols, id);
    return !module ? no_file(symbols) : module->number;
}

uint64_t symbols_bytes(const struct symbols *symbols)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < symbols->all_count; i++)
        if (symbols->all[i]->file.dwarf)
            bytes += symbols_file_debug_size(symbols->all[i]->file.dwarf);
    return bytes;
}

size_t symbols_files(const struct symbols *symbols)
{
    size_t files = 0;
    for (size_t i = 0; i < symbols->all_count; i++)
        files += symbols->all[i]->file.dwfl != NULL;
    return files;
}

static struct module *module_of(struct symbols *symbols, uint32_t id)
{
    struct module *module = registered(symbols, id);
    if (!module)
        return NULL;
    if (!module->opened) {
        module->opened = true;
        module_open_file(symbols, module);
    }
    return module;
}

void symbols_set_spent(struct symbols *symbols, uint32_t id)
{
    struct module *module = registered(symbols, id);
    if (module)
        module->spent = true;
}

struct cache *symbols_cache(const struct symbols *symbols)
{
    return symbols->cache;
}

bool symbols_put_module(struct symbols *symbols, uint32_t id, struct coding *coding)
{
    struct module *module = registered(symbols, id);
    if (!module) {
        /* Names from elsewhere are the trace's own. */
        coding_put_number(coding, 0);
        return !symbols->perf_map && !symbols->given.lookup;
    }
    if (module->cached == 0)
        module->cached =
            cache_module(symbols->cache, module->path, module->build_id, module->build_id_length);
    coding_put_number(coding, module->cached);
    return module->cached != 0;
}

/* Returns true if a reader of its debug information gave up. */
static bool is_spent(const struct module *module)
{
    return module->spent || (module->dwarf && symbols_dwarf_spent(module->dwarf));
}

struct cache_depends *symbols_depends(struct symbols *symbols)
{
    /* Earlier questions decide which parts were given up. */
    for (size_t i = 0; i < symbols->all_count; i++) {
        const struct module *module = symbols->all[i];
        if (is_spent(module))
            symbols->depends.unknown = true;
    }
    return &symbols->depends;
}

/* Says which file with the debug information of a unit is missing, and what helps. */
static void describe_missing(struct module *module)
{
    const char *help = "keep the .dwo files where they were made";
    const char *name = symbols_dwarf_missing(module->dwarf), *own = NULL, *debug = NULL;
    char package[sizeof(module->status)];
    dwfl_module_info(module->file.module, NULL, NULL, NULL, NULL, NULL, &own, &debug);
    for (size_t i = 0; i < 2; i++) {
        const char *from = i == 0 ? own : debug;
        snprintf(package, sizeof(package), "%.400s.dwp", from ? from : "");
        if (from && access(package, R_OK) == 0) {
            const char *slash = strrchr(package, '/');
            name = slash ? slash + 1 : package;
            help = "install elfutils 0.191 or newer, or keep the .dwo files";
        }
    }
    snprintf(module->status, sizeof(module->status),
             "dwarf, in part: " SYMBOLS_UNREADABLE "a part of it lies in %.200s; %s", name, help);
}

static const char *find_status(struct symbols *symbols, uint32_t id)
{
    struct module *module = module_of(symbols, id);
    if (!module)
        return "none";
    if (module->dwarf && is_spent(module))
        snprintf(module->status, sizeof(module->status),
                 "dwarf, in part: " SYMBOLS_UNREADABLE "it asks for more than its size allows");
    else if (module->dwarf && symbols_dwarf_missing(module->dwarf))
        describe_missing(module);
    return module->status;
}

/* Returns "module+0x1234", where the address is the function's start if its bounds are known,
 * otherwise the pc. */
static const char *nameless(struct symbols *symbols, const char *module, uint64_t address)
{
    char name[512];
    snprintf(name, sizeof(name), "%.400s+0x%llx", module, (unsigned long long)address);
    return symbols_strings_keep(symbols->strings, name);
}

/* Names a frame by the symbol that covers it, if DWARF gave at most file and line. */
static void name_by_symbol(struct symbols *symbols, const struct module *module, uint64_t pc,
                           struct symbols_frame *frame)
{
    const struct symbols_symbol *symbol =
        !module->table ? NULL : symbols_table_find(module->table, pc);
    if (!symbol) {
        frame->function = nameless(symbols, module->name, pc);
        return;
    }
    frame->start = symbol->start;
    if (!symbol->name) {
        frame->function = nameless(symbols, module->name, symbol->start);
        return;
    }
    frame->function = symbols_strings_demangle(symbols->strings, symbol->name);
    frame->linkage_name = frame->function == symbol->name ? NULL : symbol->name;
}

/* "_Z3addi.cold" is a part of "_Z3addi". Both are the function that DWARF describes. */
static const char *without_clone_suffix(struct symbols *symbols, const char *name)
{
    char cut[4096];
    size_t length = strcspn(name, ".");
    if (strncmp(name, "_Z", 2) != 0 || name[length] == '\0' || length >= sizeof(cut))
        return name;
    memcpy(cut, name, length);
    cut[length] = '\0';
    return symbols_strings_keep(symbols->strings, cut);
}

/* Prefers the linkage name, which demangles to the full name. If a compiler left it out (clang with
 * -gline-tables-only, gcc for functions of one unit), the symbol at the function's start has it.
 * This also works for an inlined function that has code of its own in its unit. */
static void name_by_dwarf(struct symbols *symbols, const struct module *module,
                          struct symbols_frame *frame)
{
    const char *linkage_name = frame->linkage_name;
    uint64_t start = frame->inlined ? frame->alone : frame->start;
    if (!linkage_name && start != 0 && module->table) {
        const struct symbols_symbol *symbol = symbols_table_find(module->table, start);
        if (symbol && symbol->start == start && symbol->name &&
            (!frame->function ||
             symbols_strings_demangle(symbols->strings, symbol->name) != symbol->name))
            linkage_name = without_clone_suffix(symbols, symbol->name);
    }
    if (linkage_name) {
        const char *name = symbols_strings_demangle(symbols->strings, linkage_name);
        /* A linkage name that does not demangle is an assembler label. The source name says
         * more. */
        if (name != linkage_name || !frame->function)
            frame->function = name;
    }
    if (!frame->function)
        frame->function = nameless(symbols, module->name, frame->start);
    frame->linkage_name = linkage_name == frame->function ? NULL : linkage_name;
}

size_t symbols_find(struct symbols *symbols, uint32_t id, uint64_t pc, struct symbols_frame *frames)
{
    memset(frames, 0, sizeof(*frames));
    const struct module *module = module_of(symbols, id);
    if (!module) {
        const size_t given = symbols->given.lookup ? symbols->given.lookup(symbols->given.context,
                                                                           symbols, pc, frames)
                                                   : 0;
        if (given > 0)
            return given;
        if ((id == 0 || id == no_file(symbols)) && symbols->perf_map)
            frames->function = symbols_perf_map_find(symbols->perf_map, pc, &frames->start);
        if (!frames->function)
            frames->function = nameless(symbols, "?", pc);
        return 1;
    }
    size_t count = !module->dwarf ? 0 : symbols_dwarf_lookup(module->dwarf, pc, frames);
    for (size_t i = 0; i < count; i++)
        name_by_dwarf(symbols, module, &frames[i]);
    if (count == 0) {
        name_by_symbol(symbols, module, pc, frames);
        count = 1;
    }
    return count;
}

const struct symbols_file *symbols_module_file(struct symbols *symbols, uint32_t id)
{
    const struct module *module = module_of(symbols, id);
    return !module || !module->file.elf ? NULL : &module->file;
}

struct symbols_dwarf *symbols_module_dwarf(struct symbols *symbols, uint32_t id)
{
    const struct module *module = module_of(symbols, id);
    return !module ? NULL : module->dwarf;
}

const char *symbols_sysroot(const struct symbols *symbols)
{
    return symbols->sysroot;
}

bool symbols_place(struct symbols *symbols, uint32_t id, uint64_t pc, struct symbols_place *place)
{
    const struct module *module = module_of(symbols, id);
    const struct symbols_symbol *symbol =
        !module || !module->table ? NULL : symbols_table_find(module->table, pc);
    if (!symbol)
        return false;
    *place = (struct symbols_place){symbol->name, symbol->start, symbol->end};
    return true;
}

const char *symbols_keep(struct symbols *symbols, const char *text)
{
    return symbols_strings_keep(symbols->strings, text);
}

const char *symbols_ada(struct symbols *symbols, const char *name)
{
    return symbols_strings_ada(symbols->strings, symbols_strings_keep(symbols->strings, name));
}

const char *symbols_demangle(struct symbols *symbols, const char *linkage_name)
{
    return symbols_strings_demangle(symbols->strings, linkage_name);
}

/* ---- questions with answers in the cache ------------------------------------------------ */

static void put_frames(struct coding *coding, const struct symbols_frame *frames, size_t count)
{
    coding_put_number(coding, count);
    for (size_t i = 0; i < count; i++) {
        const struct symbols_frame *frame = &frames[i];
        coding_put_text(coding, frame->function);
        coding_put_text(coding, frame->linkage_name);
        coding_put_text(coding, frame->file);
        coding_put_text(coding, frame->decl_file);
        coding_put_number(coding, frame->start);
        coding_put_number(coding, frame->alone);
        coding_put_number(coding, frame->line);
        coding_put_number(coding, frame->decl_line);
        coding_put_number(coding, frame->inlined);
    }
}

static const char *take_text(struct symbols *symbols, struct decoding *decoding)
{
    const char *text = decoding_text(decoding);
    return !text ? NULL : symbols_keep(symbols, text);
}

/* Returns the number of frames. 0: the bytes are damaged. */
static size_t take_frames(struct symbols *symbols, struct decoding *decoding,
                          struct symbols_frame *frames)
{
    const uint64_t count = decoding_number(decoding);
    for (uint64_t i = 0; i < count && i < SYMBOLS_FRAMES_MAX; i++) {
        frames[i] = (struct symbols_frame){.function = take_text(symbols, decoding)};
        frames[i].linkage_name = take_text(symbols, decoding);
        frames[i].file = take_text(symbols, decoding);
        frames[i].decl_file = take_text(symbols, decoding);
        frames[i].start = decoding_number(decoding);
        frames[i].alone = decoding_number(decoding);
        frames[i].line = (uint32_t)decoding_number(decoding);
        frames[i].decl_line = (uint32_t)decoding_number(decoding);
        frames[i].inlined = decoding_number(decoding) != 0;
        if (!frames[i].function)
            return 0;
    }
    return decoding->failed || count > SYMBOLS_FRAMES_MAX ? 0 : count;
}

/* Begins a question about a module. Returns false if it is to be answered without the cache. */
static bool begin_question(struct cache_question *question, struct symbols *symbols,
                           enum cache_kind kind, uint32_t id)
{
    /* Code outside of modules is named by the trace's own perf map, which is read anyway. */
    if (!cache_is_on(symbols->cache) || !registered(symbols, id))
        return false;
    cache_question_begin(question, symbols->cache, kind);
    if (symbols_put_module(symbols, id, &question->asked))
        return true;
    coding_free(&question->asked);
    return false;
}

size_t symbols_lookup(struct symbols *symbols, uint32_t id, uint64_t pc,
                      struct symbols_frame *frames)
{
    struct cache_question question;
    if (!begin_question(&question, symbols, CACHE_LOOKUP, id))
        return symbols_find(symbols, id, pc, frames);
    coding_put_number(&question.asked, pc);
    cache_question_ask(&question);
    size_t count = take_frames(symbols, &question.known, frames);
    if (!cache_question_accept(&question, count > 0)) {
        count = symbols_find(symbols, id, pc, frames);
        put_frames(&question.found, frames, count);
    }
    cache_question_end(&question);
    return count;
}

const char *symbols_status(struct symbols *symbols, uint32_t id)
{
    struct cache_question question;
    /* Questions before this one decide it. */
    const struct module *module = registered(symbols, id);
    if (module && module->dwarf && (is_spent(module) || symbols_dwarf_missing(module->dwarf)))
        return find_status(symbols, id);
    if (!begin_question(&question, symbols, CACHE_STATUS, id))
        return find_status(symbols, id);
    cache_question_ask(&question);
    const char *status = take_text(symbols, &question.known);
    if (!cache_question_accept(&question, status != NULL)) {
        status = find_status(symbols, id);
        coding_put_text(&question.found, status);
    }
    cache_question_end(&question);
    return status;
}
