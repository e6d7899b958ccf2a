/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads modules and has them allocate: deepbind HOW PLUGIN [TIMES]
 *
 * HOW is a list of letters: d RTLD_DEEPBIND, n RTLD_NOW (otherwise lazy), s in a namespace of its
 * own, o the plugin opens another by its run path, t threads of the plugin allocate all the time,
 * q no dlsym: only the constructor runs. Per time: 100 blocks of 5001 and more bytes, and 10 texts.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *make_function(size_t);
typedef void drop_function(void *);
typedef char *text_function(size_t);
typedef void *open_function(int);
typedef long work_function(int);

static void *need(void *found)
{
    if (found)
        return found;
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
}

static void use(void *plugin)
{
    make_function *make = (make_function *)need(dlsym(plugin, "plugin_make"));
    drop_function *drop = (drop_function *)need(dlsym(plugin, "plugin_drop"));
    text_function *text = (text_function *)need(dlsym(plugin, "plugin_text"));
    for (size_t i = 0; i < 100; i++) {
        void *block = make(5001 + i);
        memset(block, 1, 5001 + i);
        drop(block);
    }
    for (size_t i = 0; i < 10; i++)
        free(text(4000 + i));
}

static void work(void *plugin)
{
    work_function *command = (work_function *)need(dlsym(plugin, "plugin_work"));
    long before, after;
    /* The threads run before the first look, and while there are looks. */
    while ((before = command('c')) == 0)
        usleep(50);
    for (int i = 0; i < 50 || command('c') == before; i++) {
        need(dlsym(plugin, "plugin_make"));
        usleep(50);
    }
    after = command('c');
    command('e');
    printf("before %ld, meanwhile %ld\n", before, after - before);
}

int main(int count, char **arguments)
{
    const char *how = arguments[1];
    int mode = (strchr(how, 'd') ? RTLD_DEEPBIND : 0) | (strchr(how, 'n') ? RTLD_NOW : RTLD_LAZY);
    for (int times = count > 3 ? atoi(arguments[3]) : 1; times > 0; times--) {
        void *plugin = need(strchr(how, 's') ? dlmopen(LM_ID_NEWLM, arguments[2], mode)
                                             : dlopen(arguments[2], mode));
        if (strchr(how, 't')) {
            usleep(3000);
            work(plugin);
        } else if (strchr(how, 'o')) {
            open_function *open_other = (open_function *)need(dlsym(plugin, "plugin_open"));
            void *other = need(open_other(mode));
            use(other);
            dlclose(other);
        } else if (strchr(how, 's')) {
            drop_function *drop = (drop_function *)need(dlsym(plugin, "plugin_drop"));
            make_function *make = (make_function *)need(dlsym(plugin, "plugin_make"));
            drop(make(5001));
        } else if (!strchr(how, 'q')) {
            use(plugin);
        }
        if (!strchr(how, 't'))
            dlclose(plugin);
    }
    return 0;
}
