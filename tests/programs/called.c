/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does what its argument says, character by character: a digit N allocates and frees 6000 + N
 * bytes; 'a' calls watched(), which does so with 6100, and 't' does from a thread of its own; 'b'
 * calls ending(), 6200 bytes; 'n' calls quiet(), which allocates nothing; 'r' calls resizing(),
 * which makes a block of 6001 bytes one of 6400; 'p' calls plugin_called() of the library that
 * the second argument names, loaded just then, for 6300 bytes; 'F' forks: the child does the rest,
 * and its parent waits for it.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif

static volatile int steps;

static APART void use(size_t size)
{
    free(malloc(size));
    steps++; /* after the call, so that it is not a call at the end, which leaves no frame */
}

static APART void watched(void)
{
    use(6100);
    steps++;
}

static APART void ending(void)
{
    use(6200);
    steps++;
}

static APART void quiet(void)
{
    steps++;
}

static APART void *resizing(void *block)
{
    void *resized = realloc(block, 6400);
    steps++;
    return resized;
}

static void *watched_thread(void *unused)
{
    watched();
    steps++;
    return unused;
}

static bool call_plugin(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *(*allocate)(size_t) = NULL;
    if (library)
        *(void **)&allocate = dlsym(library, "plugin_called");
    if (!allocate)
        return false;
    free(allocate(6300));
    return true;
}

static bool do_step(char step, const char *plugin)
{
    pthread_t thread;
    switch (step) {
    case 'a':
        watched();
        return true;
    case 'b':
        ending();
        return true;
    case 'n':
        quiet();
        return true;
    case 'r':
        free(resizing(malloc(6001)));
        return true;
    case 'p':
        return plugin && call_plugin(plugin);
    case 't':
        return pthread_create(&thread, NULL, watched_thread, NULL) == 0 &&
               pthread_join(thread, NULL) == 0;
    default:
        use(6000 + (size_t)(step - '0'));
        return true;
    }
}

int main(int argc, char **argv)
{
    int status = 0;
    for (const char *step = argc > 1 ? argv[1] : ""; *step; step++) {
        if (*step == 'F') {
            pid_t child = fork();
            if (child != 0)
                return child < 0 || waitpid(child, &status, 0) != child || status != 0;
        } else if (!do_step(*step, argc > 2 ? argv[2] : NULL))
            return 1;
    }
    return 0;
}
