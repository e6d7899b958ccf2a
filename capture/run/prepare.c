/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/run/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "capture/os/elf_symbols.h"
#include "capture/os/options.h"
#include "capture/os/program_image.h"
#include "capture/os/trace_name.h"
#include "capture/run/sandbox.h"
#include "capture/run/sibling_traces.h"
#include "cli/say.h"

/* Writes this program's folder, without the program's name, into PATH_MAX bytes. */
static bool sibling_program_folder(char *folder)
{
    char name[PATH_MAX];
    /* A sandbox may allow readlink, which every shell needs, and kill for readlinkat, which
     * executable_name() uses. */
    const ssize_t length = readlink("/proc/self/exe", name, sizeof(name) - 1);
    if (length > 0)
        name[length] = 0;
    else if (executable_name(name, sizeof(name)) == 0)
        return false;
    /* Without /proc the name may lead through links; a deleted file's leads nowhere. */
    if (!realpath(name, folder))
        memcpy(folder, name, sizeof(name));
    char *slash = strrchr(folder, '/');
    if (!slash)
        return false;
    *slash = 0;
    return true;
}

_Noreturn void sibling_program_become(const char *const argv[])
{
    char folder[PATH_MAX], path[PATH_MAX + 32];
    if (sibling_program_folder(folder)) {
        snprintf(path, sizeof(path), "%s/%s", folder, argv[0]);
        execv(path, (char *const *)(uintptr_t)argv);
        say("mprof-run", "%s: cannot be run: %s; install it beside mprof-run", path,
            strerror(errno));
    }
    _exit(127);
}

int sibling_program_run(const char *const argv[])
{
    const pid_t process = fork();
    if (process == 0)
        sibling_program_become(argv);
    return process < 0 ? 127 : sibling_program_wait(process);
}

int sibling_program_wait(pid_t process)
{
    int status;
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR)
            return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Finds the libraries with which a program would be loaded. */

/* Finds the loader that the file names. Returns false unless that loader knows --list, because
 * another one might run the program. */
static bool find_loader(const char *binary, char loader[PATH_MAX])
{
    static const char known[] = "/ld-linux-x86-64.so.2";
    int descriptor = open(binary, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    bool named = program_image_loader(descriptor, loader, PATH_MAX);
    const char *name = named ? strrchr(loader, '/') : NULL;
    close(descriptor);
    return name && strcmp(name, known) == 0;
}

/* Returns the standard output of `loader --list binary`, or NULL if that cannot be started. */
static FILE *list_libraries(const char *loader, const char *binary, pid_t *process)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    *process = fork();
    if (*process == 0) {
        int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (dup2(nothing, STDIN_FILENO) >= 0 && dup2(ends[1], STDOUT_FILENO) >= 0 &&
            dup2(nothing, STDERR_FILENO) >= 0)
            execl(loader, loader, "--list", binary, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *list = *process > 0 ? fdopen(ends[0], "r") : NULL;
    if (!list) {
        close(ends[0]);
        if (*process > 0)
            waitpid(*process, NULL, 0);
    }
    return list;
}

/* Returns the path in "  name => /path (0x…)" or "  /path (0x…)", or NULL. */
static char *path_of(char *line)
{
    char *path = strchr(line, '/');
    char *end = path ? strstr(path, " (0x") : NULL;
    char *arrow = path ? strstr(path, " => ") : NULL;
    if (arrow)
        path = arrow + 4;
    if (!end)
        return NULL;
    *end = 0;
    return path;
}

/* The last list: paths, each with a line feed after it. */
static struct {
    char *binary, *paths;
} last;

/* Sets the paths of `last`. Returns false if they cannot be told. */
static bool read_list(const char *binary)
{
    char loader[PATH_MAX], line[PATH_MAX + 256];
    pid_t process;
    size_t size;
    FILE *list = find_loader(binary, loader) ? list_libraries(loader, binary, &process) : NULL;
    FILE *paths = list ? open_memstream(&last.paths, &size) : NULL;
    while (paths && fgets(line, sizeof(line), list)) {
        const char *path = path_of(line);
        if (path)
            fprintf(paths, "%s\n", path);
    }
    if (list) {
        fclose(list);
        waitpid(process, NULL, 0);
    }
    /* Without memory a stream has an error, or no text. */
    const bool whole = paths && !ferror(paths);
    return paths && fclose(paths) == 0 && whole && last.paths;
}

/* Asks the loader which libraries, linked or preloaded, the ELF file `binary` would run with, and
 * calls note() with the path of each. Runs no code of theirs. Returns false if that cannot be found
 * out. */
static bool run_libraries(const char *binary, void (*note)(void *context, const char *path),
                          void *context)
{
    if (!last.binary || strcmp(last.binary, binary) != 0) {
        free(last.binary);
        free(last.paths);
        last.paths = NULL;
        last.binary = read_list(binary) ? strdup(binary) : NULL;
    }
    if (!last.binary)
        return false;
    for (const char *at = last.paths, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        char path[PATH_MAX + 256];
        snprintf(path, sizeof(path), "%.*s", (int)(end - at), at);
        note(context, path);
    }
    return true;
}

/* Returns true if the name of the file at `path` begins with a text. */
static bool run_library_is(const char *path, const char *beginning)
{
    const char *name = strrchr(path, '/');
    return name && strncmp(name + 1, beginning, strlen(beginning)) == 0;
}

/* ---- one function or library ------------------------------------------------------------ */

struct search {
    const char *function, *library;
    bool found;
};

static void note_function(void *context, const char *name, uint64_t address, uint64_t size)
{
    struct search *search = context;
    search->found = search->found || strcmp(name, search->function) == 0;
}

static void note_library(void *context, const char *path)
{
    struct search *search = context;
    search->found = search->found || run_library_is(path, search->library);
}

/* Returns true if the ELF file `binary` exports the function, or is linked with a library whose
 * name begins so. Not if it loads the library while it runs. */
static bool run_is_linked(const char *binary, const char *function, const char *library)
{
    struct search search = {function, library, false};
    elf_symbols_of(binary, note_function, &search);
    if (!search.found)
        run_libraries(binary, note_library, &search);
    return search.found;
}

/* ---- the program ------------------------------------------------------------------------ */

/* Checks the program before mprof-run starts it: where it is, and whether the loader will take a
 * preloaded library into it. */

enum run_program_verdict {
    RUN_PROGRAM_GOOD,
    RUN_PROGRAM_NOT_FOUND,
    RUN_PROGRAM_NOT_IN_PATH, /* a file of the working directory, named without a slash */
    RUN_PROGRAM_NOT_EXECUTABLE,
    RUN_PROGRAM_STATIC,    /* no loader runs, so nothing is preloaded */
    RUN_PROGRAM_SETUID,    /* the loader ignores preloaded libraries */
    RUN_PROGRAM_SANITIZED, /* the shared runtime of a sanitizer must come first */
    RUN_PROGRAM_OTHER_LIBC,
    RUN_PROGRAM_FOREIGN, /* another word size or architecture than the library's */
};

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Finds `name` as execvp does. Writes its path (PATH_MAX bytes). */
static enum run_program_verdict find_program(const char *name, char *path)
{
    struct program_search search;
    bool seen = false;
    program_search_begin(&search, name);
    while (program_search_next(&search, path, PATH_MAX))
        if (is_file(path)) {
            if (access(path, X_OK) == 0)
                return RUN_PROGRAM_GOOD;
            seen = true;
        }
    return seen            ? RUN_PROGRAM_NOT_EXECUTABLE
           : is_file(name) ? RUN_PROGRAM_NOT_IN_PATH
                           : RUN_PROGRAM_NOT_FOUND;
}

static bool changes_identity(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return false;
    return ((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
           ((status.st_mode & S_ISGID) && status.st_gid != getegid()) ||
           (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

/* Judges a script by its interpreter, whose path goes into `path` (PATH_MAX bytes); any other
 * program by itself. */
static enum run_program_verdict check_file(const char *start, char *path)
{
    static const enum run_program_verdict verdicts[] = {
        [PROGRAM_DYNAMIC] = RUN_PROGRAM_GOOD,         [PROGRAM_CXX] = RUN_PROGRAM_GOOD,
        [PROGRAM_STATIC] = RUN_PROGRAM_STATIC,        [PROGRAM_LINKED] = RUN_PROGRAM_GOOD,
        [PROGRAM_FOREIGN] = RUN_PROGRAM_FOREIGN,      [PROGRAM_SANITIZED] = RUN_PROGRAM_SANITIZED,
        [PROGRAM_OTHER_LIBC] = RUN_PROGRAM_OTHER_LIBC};
    snprintf(path, PATH_MAX, "%s", start);
    for (int depth = 0; depth < PROGRAM_SCRIPTS_MAX; depth++) {
        int descriptor = open(path, O_RDONLY | O_CLOEXEC);
        if (descriptor < 0) /* the kernel may run a file that cannot be read: let it say */
            return changes_identity(path) ? RUN_PROGRAM_SETUID : RUN_PROGRAM_GOOD;
        enum run_program_verdict verdict = verdicts[program_image_read(descriptor)];
        const bool script = program_image_interpreter(descriptor, path, PATH_MAX);
        close(descriptor);
        if (!script)
            return verdict == RUN_PROGRAM_GOOD && changes_identity(path) ? RUN_PROGRAM_SETUID
                                                                         : verdict;
    }
    return RUN_PROGRAM_GOOD;
}

/* The verdicts for the user, in words that follow "PROGRAM: ". */
static const char *const run_program_explanations[] = {
    [RUN_PROGRAM_NOT_FOUND] = "there is no such program; name a file or a program in PATH",
    [RUN_PROGRAM_NOT_IN_PATH] = "is in this folder but not in PATH; write ./ before its name",
    [RUN_PROGRAM_NOT_EXECUTABLE] = "not executable; chmod +x makes it so, if it is a program",
    [RUN_PROGRAM_STATIC] =
        "statically linked, so nothing can be preloaded; link it with libmprof.a to record it",
    [RUN_PROGRAM_SETUID] =
        "runs with other rights than yours (setuid, setgid or capabilities), so nothing is "
        "preloaded; record a copy without them, or run it as the user who has them",
    [RUN_PROGRAM_SANITIZED] = "built with a sanitizer, which has its own malloc and must come "
                              "before other libraries; record a build without -fsanitize",
    [RUN_PROGRAM_OTHER_LIBC] =
        "its C library is neither glibc nor musl, which the recorder needs; record a build for "
        "one of them",
    [RUN_PROGRAM_FOREIGN] = "not a 64-bit x86 program, the only kind that can be recorded here; "
                            "record a build for x86-64",
};

/* ---- operators of C++ ------------------------------------------------------------------- */

/* Finds out whether libmprof_operators.so is needed beside the recorder (see cxx_operators.c). */

struct operators_found {
    bool has_malloc, has_new;
};

static void note_symbol(void *context, const char *name, uint64_t address, uint64_t size)
{
    struct operators_found *found = context;
    found->has_malloc = found->has_malloc || strcmp(name, "malloc") == 0;
    found->has_new = found->has_new || strcmp(name, "_Znwm") == 0;
}

/* The facts about the program so far. */
struct operators_search {
    bool is_cxx, has_both;
};

static void look(void *context, const char *path)
{
    struct operators_search *search = context;
    struct operators_found found = {0};
    search->is_cxx =
        search->is_cxx || run_library_is(path, "libstdc++.") || run_library_is(path, "libc++.");
    /* Skips the libraries that every program has. */
    if (search->has_both || run_library_is(path, "libc.so") || run_library_is(path, "libm.so") ||
        run_library_is(path, "libstdc++.") || run_library_is(path, "libgcc_s.") ||
        run_library_is(path, "ld-linux"))
        return;
    elf_symbols_of(path, note_symbol, &found);
    search->has_both = found.has_malloc && found.has_new;
}

/* Returns true if the ELF file `binary` is a C++ program that runs with a library that has both
 * malloc and C++'s operators, linked or preloaded. It asks the loader what it would load, and runs
 * none of that. Returns false also if that cannot be found out. */
static bool run_operators_are_needed(const char *binary)
{
    struct operators_search search = {0};
    return run_libraries(binary, look, &search) && search.is_cxx && search.has_both;
}

/* Finds the recorder: at the configured distance from this program, beside it, or in the folder
 * where it was installed. Stores its path. */
static bool find_library(char *library)
{
    static const char *const places[] = {"/" MPROF_LIBRARY_DISTANCE, ""};
    char own[PATH_MAX], folder[PATH_MAX], place[PATH_MAX + sizeof("/" MPROF_LIBRARY_DISTANCE)];
    for (size_t i = 0; sibling_program_folder(own) && i < sizeof(places) / sizeof(*places); i++) {
        snprintf(place, sizeof(place), "%s%s", own, places[i]);
        if (realpath(place, folder) &&
            snprintf(library, PATH_MAX, "%s/libmprof.so", folder) < PATH_MAX &&
            access(library, R_OK) == 0)
            return true;
    }
    snprintf(library, PATH_MAX, "%s", MPROF_LIBRARY_FOLDER "/libmprof.so");
    return access(library, R_OK) == 0;
}

int run_prepare_trace(const char *trace, bool force)
{
    char folder[TRACE_NAME_SIZE];
    struct stat about;
    const bool there = lstat(trace, &about) == 0;
    if (there && !S_ISREG(about.st_mode)) {
        say("mprof-run",
            "%s: is not a regular file, and only regular files are replaced; name "
            "another with -o",
            trace);
        return 1;
    }
    if (!trace_name_folder(trace, folder))
        folder[0] = 0;
    /* Takes an empty folder. */
    const bool others = rmdir(folder) != 0 && lstat(folder, &about) == 0;
    if ((there || others) && !force) {
        say("mprof-run", "%s: exists already; replace it with --force, or name another with -o",
            there ? trace : folder);
        return 1;
    }
    if (others && !sibling_traces_remove(trace)) {
        say("mprof-run", "%s: cannot be replaced: %s; name another trace with -o", folder,
            errno == ENOTEMPTY ? "it contains other files" : strerror(errno));
        return 1;
    }
    if (force && there)
        sibling_traces_remove_rotated(trace);
    if (there && unlink(trace) != 0) {
        say("mprof-run", "%s: cannot be replaced: %s; name another with -o", trace,
            strerror(errno));
        return 1;
    }
    return 0;
}

int run_prepare_library(char *library)
{
    if (find_library(library))
        return 0;
    say("mprof-run",
        "libmprof.so is neither in %s, seen from this program, nor in %s; install it there",
        MPROF_LIBRARY_DISTANCE, MPROF_LIBRARY_FOLDER);
    return 1;
}

int run_prepare(const struct run_arguments *arguments, struct run_places *places)
{
    const char *library = places->library, *name = arguments->program[0];
    if (run_prepare_library(places->library) != 0)
        return 1;
    if (strpbrk(library, " :")) {
        say("mprof-run",
            "%s: the loader allows no space or colon in the path of a preloaded library; "
            "move the installation",
            library);
        return 1;
    }
    enum run_program_verdict verdict = find_program(name, places->program);
    if (verdict == RUN_PROGRAM_GOOD)
        verdict = check_file(places->program, places->binary);
    if (verdict != RUN_PROGRAM_GOOD) {
        say("mprof-run", "%s: %s", name, run_program_explanations[verdict]);
        return verdict == RUN_PROGRAM_NOT_FOUND || verdict == RUN_PROGRAM_NOT_IN_PATH ? 127
               : verdict == RUN_PROGRAM_NOT_EXECUTABLE                                ? 126
                                                                                      : 1;
    }
    return arguments->trace ? run_prepare_trace(arguments->trace, arguments->force) : 0;
}

bool run_prepare_sandbox(struct run_arguments *arguments)
{
    char without[OPTIONS_WITHOUT * 4];
    run_sandbox_look();
    const char *call = run_sandbox_forbids_recording();
    if (call) {
        say("mprof-run",
            "the sandbox kills programs for the system call %s, which recording needs; %s "
            "runs unrecorded. Allow the call in the sandbox.",
            call, arguments->program[0]);
        return false;
    }
    run_sandbox_without(without, sizeof(without));
    return !*without || run_arguments_add(arguments, "without", without);
}

/* Writes the path of a library that lies beside the recorder. */
static void name_beside(const char *library, const char *name, char path[RUN_LIBRARY_MAX])
{
    const char *slash = strrchr(library, '/');
    snprintf(path, RUN_LIBRARY_MAX, "%.*s/%s", (int)(slash - library), library, name);
}

/* Finds the library that an option needs. Returns false, after a message, if it is missing. */
static bool find_beside(const struct run_places *places, const char *name, const char *option,
                        char path[RUN_LIBRARY_MAX])
{
    name_beside(places->library, name, path);
    if (access(path, R_OK) == 0)
        return true;
    say("mprof-run", "%s: %s; %s needs it", path, strerror(errno), option);
    return false;
}

/* Returns true if the loader gives the program the library of C++. */
static bool is_of_cxx(const char *binary)
{
    const int descriptor = open(binary, O_RDONLY | O_CLOEXEC);
    const bool is = descriptor >= 0 && program_image_read(descriptor) == PROGRAM_CXX;
    if (descriptor >= 0)
        close(descriptor);
    return is;
}

bool run_prepare_sized(const struct run_arguments *arguments, struct run_places *places)
{
    places->sized[0] = '\0';
    if (!arguments->sized_delete)
        return true;
    if (!is_of_cxx(places->binary)) {
        say("mprof-run",
            "%s is not linked with the shared library of C++: --sized-delete sees "
            "nothing of it",
            places->program);
        return true;
    }
    return find_beside(places, "libmprof_sized.so", "--sized-delete", places->sized);
}

/* A library that hands the frames of a runtime over to the recorder. */
struct plugin {
    const char *option, *library;
    const char *runtime; /* its name for the user */
    const char *symbol;  /* that the runtime defines */
    const char *file;    /* how the name of its library begins */
};

/* Finds a plug-in, which may have nothing to do: the program may have no such runtime. */
static bool find_plugin(const struct run_places *places, const struct plugin *plugin,
                        char path[RUN_LIBRARY_MAX])
{
    const char *name = strrchr(places->binary, '/');
    /* env finds the interpreter of a script. */
    if (!run_is_linked(places->binary, plugin->symbol, plugin->file) &&
        (!name || strcmp(name, "/env") != 0))
        say("mprof-run",
            "%s has no %s: %s sees only that of libraries that it loads, and of programs that it "
            "starts",
            places->program, plugin->runtime, plugin->option);
    return find_beside(places, plugin->library, plugin->option, path);
}

bool run_prepare_plugins(const struct run_arguments *arguments, struct run_places *places)
{
    static const struct plugin python = {"--python", "libmprof_python.so", "CPython",
                                         "Py_GetVersion", "libpython"};
    static const struct plugin ecl = {"--ecl", "libmprof_ecl.so", "ECL", "ecl_alloc_object",
                                      "libecl.so"};
    places->python[0] = places->ecl[0] = '\0';
    return (!arguments->python || find_plugin(places, &python, places->python)) &&
           (!arguments->ecl || find_plugin(places, &ecl, places->ecl));
}

void run_prepare_operators(struct run_places *places)
{
    name_beside(places->library, "libmprof_operators.so", places->operators);
    /* The standard library's streams on descriptors call fcntl. */
    if (!run_sandbox_allows(SYS_fcntl) || access(places->operators, R_OK) != 0 ||
        !run_operators_are_needed(places->binary))
        places->operators[0] = '\0';
}
