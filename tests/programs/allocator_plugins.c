/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks for the functions of other allocators in all ways that a program has: weak names, dlsym, a
 * plugin that it loads, calls and closes so many times, and a forked child.
 * Usage: allocator_plugins COUNT PLUGIN…
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void *mallocx(size_t, int) __attribute__((weak));
void *mi_malloc(size_t) __attribute__((weak));

int main(int count, char **arguments)
{
    printf("%d %d\n", mallocx != NULL, mi_malloc != NULL);
    printf("%d %d\n", dlsym(RTLD_DEFAULT, "mallocx") != NULL,
           dlsym(RTLD_DEFAULT, "mi_malloc") != NULL);
    for (int i = 2; i < count; i++)
        for (int turn = 0; turn < atoi(arguments[1]); turn++) {
            void *plugin = dlopen(arguments[i], turn % 2 ? RTLD_NOW : RTLD_LAZY);
            if (!plugin) {
                puts(dlerror());
                return 1;
            }
            void (*const run)(void) = (void (*)(void))dlsym(plugin, "plugin_runs");
            void *(*const give)(size_t) = (void *(*)(size_t))dlsym(plugin, "scalable_malloc");
            void (*const end)(void *) = (void (*)(void *))dlsym(plugin, "scalable_free");
            if (give && end)
                end(give(30000));
            run();
            fflush(stdout);
            const pid_t child = fork();
            if (child == 0) {
                run();
                _exit(0);
            }
            waitpid(child, NULL, 0);
            dlclose(plugin);
        }
    return 0;
}
