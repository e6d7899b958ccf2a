/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the names that Rust's compiler gives to functions: demangled as libiberty and rustfilt
 * write them, and as the linker knows them in the legacy and in the v0 form.
 *
 * A method of a trait is <Type as Trait>::method. Its code is in the crate of the trait if the
 * trait has a body for it, and otherwise in the crate of the `impl` block, which is that of the
 * type or of the trait. Only the v0 form tells which: rustc's symbol-mangling/v0.md. */
#include "schemas/code/function_name.h"

#include <string.h>

bool rust_name_is(const char *linkage_name)
{
    if (!linkage_name)
        return false;
    if (strncmp(linkage_name, "_R", 2) == 0)
        return true;
    const char *hash = strncmp(linkage_name, "_ZN", 3) == 0 ? strstr(linkage_name, "17h") : NULL;
    for (; hash; hash = strstr(hash + 1, "17h"))
        if (strspn(hash + 3, "0123456789abcdef") == 16 && hash[19] == 'E')
            return true;
    return false;
}

/* ---- the v0 form ------------------------------------------------------------------------ */

/* The limits for paths in one another, for their parts, and for the length of a part. */
enum { NESTING_MAX = 100, STEPS_MAX = 4096, LENGTH_MAX = 65536 };

struct reader {
    const char *begin, *at; /* `begin` is after "_R" */
    unsigned depth, steps;
    bool failed;
    struct function_name crate; /* of the path that was read last */
};

static bool take(struct reader *reader, char letter)
{
    if (*reader->at != letter)
        return false;
    reader->at++;
    return true;
}

/* Reads a number of base 62, which ends with '_'. A hash may be larger than a size_t, and wraps. */
static size_t read_base_62(struct reader *reader)
{
    size_t value = 0;
    if (take(reader, '_'))
        return 0;
    while (!take(reader, '_')) {
        const char c = *reader->at;
        if (c >= '0' && c <= '9')
            value = value * 62 + (size_t)(c - '0');
        else if (c >= 'a' && c <= 'z')
            value = value * 62 + (size_t)(c - 'a') + 10;
        else if (c >= 'A' && c <= 'Z')
            value = value * 62 + (size_t)(c - 'A') + 36;
        else
            reader->failed = true;
        if (reader->failed)
            return 0;
        reader->at++;
    }
    return value + 1;
}

static void skip_disambiguator(struct reader *reader)
{
    if (take(reader, 's'))
        read_base_62(reader);
}

static struct function_name read_identifier(struct reader *reader)
{
    size_t length = 0;
    skip_disambiguator(reader);
    take(reader, 'u');
    if (*reader->at < '0' || *reader->at > '9')
        reader->failed = true;
    if (!take(reader, '0'))
        while (*reader->at >= '0' && *reader->at <= '9' && length < LENGTH_MAX)
            length = length * 10 + (size_t)(*reader->at++ - '0');
    take(reader, '_');
    if (reader->failed || strnlen(reader->at, length) < length) {
        reader->failed = true;
        return (struct function_name){reader->at, reader->at};
    }
    reader->at += length;
    return (struct function_name){reader->at - length, reader->at};
}

/* Returns true if the reader stops here: the name is damaged, or too deep. */
static bool stops(struct reader *reader)
{
    reader->failed = reader->failed || reader->depth > NESTING_MAX || reader->steps++ > STEPS_MAX;
    return reader->failed;
}

static void read_path(struct reader *reader);
static void skip_type(struct reader *reader);

/* Reads what a back reference means, and goes on after it. */
static void follow(struct reader *reader, void (*read)(struct reader *))
{
    const char *from = reader->at;
    const size_t place = read_base_62(reader);
    const char *after = reader->at;
    /* It leads back, so that it ends. */
    if (reader->failed || place >= (size_t)(from - reader->begin)) {
        reader->failed = true;
        return;
    }
    reader->at = reader->begin + place;
    read(reader);
    reader->at = after;
}

static void skip_constant(struct reader *reader)
{
    if (stops(reader))
        return;
    reader->depth++;
    if (take(reader, 'B')) {
        follow(reader, skip_constant);
    } else if (!take(reader, 'p')) {
        skip_type(reader);
        take(reader, 'n');
        reader->at += strspn(reader->at, "0123456789abcdef");
        if (!take(reader, '_'))
            reader->failed = true; /* a text, or a record */
    }
    reader->depth--;
}

static void skip_arguments(struct reader *reader)
{
    while (!stops(reader) && !take(reader, 'E'))
        if (take(reader, 'L'))
            read_base_62(reader);
        else if (take(reader, 'K'))
            skip_constant(reader);
        else
            skip_type(reader);
}

/* Skips the traits of dyn Trait<Name = Type>. */
static void skip_traits(struct reader *reader)
{
    if (take(reader, 'G'))
        read_base_62(reader);
    while (!stops(reader) && !take(reader, 'E')) {
        read_path(reader);
        while (!stops(reader) && take(reader, 'p')) {
            read_identifier(reader);
            skip_type(reader);
        }
    }
    if (take(reader, 'L'))
        read_base_62(reader);
}

static void skip_function_type(struct reader *reader)
{
    if (take(reader, 'G'))
        read_base_62(reader);
    take(reader, 'U');
    if (take(reader, 'K') && !take(reader, 'C'))
        read_identifier(reader);
    while (!stops(reader) && !take(reader, 'E'))
        skip_type(reader);
    skip_type(reader);
}

static void skip_type(struct reader *reader)
{
    if (stops(reader))
        return;
    reader->depth++;
    const char kind = *reader->at;
    if (kind >= 'a' && kind <= 'z') {
        reader->at++;
    } else if (take(reader, 'A')) {
        skip_type(reader);
        skip_constant(reader);
    } else if (take(reader, 'S') || take(reader, 'P') || take(reader, 'O')) {
        skip_type(reader);
    } else if (take(reader, 'R') || take(reader, 'Q')) {
        if (take(reader, 'L'))
            read_base_62(reader);
        skip_type(reader);
    } else if (take(reader, 'T')) {
        while (!stops(reader) && !take(reader, 'E'))
            skip_type(reader);
    } else if (take(reader, 'F')) {
        skip_function_type(reader);
    } else if (take(reader, 'D')) {
        skip_traits(reader);
    } else if (take(reader, 'B')) {
        follow(reader, skip_type);
    } else {
        read_path(reader);
    }
    reader->depth--;
}

static void read_path(struct reader *reader)
{
    if (stops(reader))
        return;
    reader->depth++;
    struct function_name crate;
    const char kind = *reader->at;
    reader->at += kind != '\0';
    switch (kind) {
    case 'C':
        reader->crate = read_identifier(reader);
        break;
    case 'N':
        reader->at += *reader->at != '\0'; /* the kind of what is in the path */
        read_path(reader);
        read_identifier(reader);
        break;
    case 'M': /* of a type itself */
    case 'X': /* of a trait, in an impl block */
        skip_disambiguator(reader);
        read_path(reader);
        crate = reader->crate;
        skip_type(reader);
        if (kind == 'X')
            read_path(reader);
        reader->crate = crate;
        break;
    case 'Y': /* of the trait itself */
        skip_type(reader);
        read_path(reader);
        break;
    case 'I':
        read_path(reader);
        crate = reader->crate;
        skip_arguments(reader);
        reader->crate = crate;
        break;
    case 'B':
        follow(reader, read_path);
        break;
    default:
        reader->failed = true;
    }
    reader->depth--;
}

/* Returns the crate that holds the code of a function, empty if the name does not tell. */
static struct function_name crate_of(const char *linkage_name)
{
    static const char none[] = "";
    if (!linkage_name || strncmp(linkage_name, "_R", 2) != 0)
        return (struct function_name){none, none};
    struct reader reader = {.begin = linkage_name + 2, .at = linkage_name + 2};
    read_path(&reader);
    return reader.failed ? (struct function_name){none, none} : reader.crate;
}

/* ---- paths ------------------------------------------------------------------------------ */

/* Returns where the first path of `name` begins: a type may be a reference or a slice. */
static const char *skip_signs(const char *at, const char *end)
{
    while (at < end)
        if (*at == '<' || *at == '&' || *at == '*' || *at == '[' || *at == '(')
            at++;
        else if (strncmp(at, "mut ", 4) == 0 || strncmp(at, "dyn ", 4) == 0)
            at += 4;
        else if (strncmp(at, "const ", 6) == 0)
            at += 6;
        else
            break;
    return at;
}

/* Returns the " as " of <Type as Trait>, not one inside the type, or NULL. */
static const char *find_as(struct function_name name)
{
    int depth = 0;
    for (const char *at = name.begin; at < name.end; at++)
        if (*at == '-' && at[1] == '>')
            at++;
        else if (*at == '<')
            depth++;
        else if (*at == '>' && --depth == 0)
            return NULL;
        else if (depth == 1 && strncmp(at, " as ", 4) == 0)
            return at;
    return NULL;
}

/* Returns true if the path begins with a crate or module of that name, or is one. */
static bool is_in(struct function_name path, const char *module, size_t length)
{
    const size_t room = (size_t)(path.end - path.begin);
    return room >= length && strncmp(path.begin, module, length) == 0 &&
           (room == length || strncmp(path.begin + length, "::", 2) == 0);
}

struct rust_paths rust_name_paths(struct function_name name, const char *linkage_name)
{
    struct rust_paths paths = {{name}, 1};
    if (name.begin == name.end || *name.begin != '<')
        return paths;
    const char *as = find_as(name), *type = skip_signs(name.begin, name.end);
    const size_t letters = strspn(type, "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789");
    paths.count = 0;
    /* A parameter such as T, or a type of the language itself, has no path. */
    if (strncmp(type + letters, "::", 2) == 0 || !as)
        paths.paths[paths.count++] = (struct function_name){type, name.end};
    if (as)
        paths.paths[paths.count++] = (struct function_name){skip_signs(as + 4, name.end), name.end};
    const struct function_name crate = crate_of(linkage_name);
    if (crate.begin == crate.end)
        return paths;
    struct function_name path = crate;
    for (size_t i = 0; i < paths.count && path.begin == crate.begin; i++)
        if (is_in(paths.paths[i], crate.begin, (size_t)(crate.end - crate.begin)))
            path = paths.paths[i];
    return (struct rust_paths){{path}, 1};
}

bool rust_paths_are_in(const struct rust_paths *paths, const char *const *modules)
{
    for (size_t i = 0; i < paths->count; i++) {
        bool found = false;
        for (const char *const *module = modules; *module && !found; module++)
            found = is_in(paths->paths[i], *module, strlen(*module));
        if (!found)
            return false;
    }
    return true;
}

bool rust_name_is_allocator(const char *name, const char *linkage_name)
{
    static const char *const modules[] = {
        "alloc",           "core",    "hashbrown", "std::collections", "std::alloc",
        "std::sys::alloc", "__rustc", NULL};
    static const char *const functions[] = {"__rust_*", "__rdl_*", "__rg_*",
                                            /* The program's own global allocator. */
                                            "<* as core::alloc::*GlobalAlloc>::*",
                                            "*::<impl core::alloc::*GlobalAlloc for *>::*", NULL};
    const struct function_name bare = function_name_bare(name);
    for (const char *const *function = functions; *function; function++)
        if (function_name_matches(*function, bare))
            return true;
    if (!rust_name_is(linkage_name))
        return false;
    const struct rust_paths paths = rust_name_paths(bare, linkage_name);
    return rust_paths_are_in(&paths, modules);
}
