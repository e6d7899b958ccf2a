/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: embed LIBRARY: a program that starts the interpreter twice, in two threads each time. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static const char *texts[] = {"kept = []\ndef inside(size):\n    kept.append(bytearray(size))\n",
                              "inside(103000)\n", "inside(103100)\n"};

static void (*initialize)(int), (*restore_thread)(void *), (*release)(int);
static int (*finalize)(void), (*run)(const char *, void *), (*ensure)(void);
static void *(*save_thread)(void);

static void *find(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found)
        exit(2);
    return found;
}

static void *in_thread(void *unused)
{
    void *block = malloc(103200);
    (void)unused;
    int state = ensure();
    if (run(texts[2], NULL) != 0)
        exit(4);
    release(state);
    return block;
}

int main(int argc, char **argv)
{
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    initialize = (void (*)(int))find(library, "Py_InitializeEx");
    finalize = (int (*)(void))find(library, "Py_FinalizeEx");
    run = (int (*)(const char *, void *))find(library, "PyRun_SimpleStringFlags");
    ensure = (int (*)(void))find(library, "PyGILState_Ensure");
    release = (void (*)(int))find(library, "PyGILState_Release");
    *(int *)find(library, "Py_NoSiteFlag") = 1;
    save_thread = (void *(*)(void))find(library, "PyEval_SaveThread");
    restore_thread = (void (*)(void *))find(library, "PyEval_RestoreThread");
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        void *state, *block;
        initialize(0);
        if (run(texts[0], NULL) != 0 || run(texts[1], NULL) != 0)
            return 3;
        state = save_thread();
        pthread_create(&thread, NULL, in_thread, NULL);
        pthread_join(thread, &block);
        free(block);
        restore_thread(state);
        if (finalize() != 0)
            return 5;
    }
    return 0;
}
