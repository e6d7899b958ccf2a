/* SPDX-License-Identifier: BSD-2-Clause */
/* libmprof_python.so: hands the functions of CPython over to the recorder. mprof-run --python
 * preloads it.
 *
 * The interpreter is in the program from its start, in the program itself or in a library that it
 * is linked with; then the constructor finds it. Or a library with it is loaded later; then it is
 * noticed when it makes its key of thread-local data, before it runs the first function.
 *
 * When the interpreter begins to end, and when os._exit() ends the process, the types of the
 * objects that are live then are recorded. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include "capture/mprof.h"
#include "capture/os/c_library.h"
#include "capture/os/os.h"

#include "runtimes/common.h"
#include "runtimes/python/layout.h"
#include "runtimes/python/objects.h"
#include "runtimes/python/walk.h"

#define EXPORTED __attribute__((visibility("default")))

static const struct python_layout *const layouts[] = {
#ifdef HAS_PYTHON_3_11
    &python_layout_3_11,
#endif
#ifdef HAS_PYTHON_3_12
    &python_layout_3_12,
#endif
#ifdef HAS_PYTHON_3_13
    &python_layout_3_13,
#endif
    NULL};

static struct {
    struct python_interpreter interpreter;
    int (*is_finalizing)(void);
    mprof_runtime runtime;
    const struct link_map *library;
    int process;
    _Atomic bool told;  /* the types, at this end of the interpreter */
    atomic_flag looked; /* at an interpreter, known or not */
    bool walks;
} python = {.looked = ATOMIC_FLAG_INIT};

/* Returns true if this interpreter was built with objects of the sizes that the layout knows.
 * Builds for debugging and those without a global lock may differ. */
static bool layout_fits(const struct python_layout *layout, const unsigned char *code_type,
                        const unsigned char *frame_type, const void *type_type)
{
    const void *type;
    long code_size, frame_size;
    if (!code_type || !frame_type || !type_type)
        return false;
    memcpy(&type, code_type + layout->object_type, sizeof(type));
    memcpy(&code_size, code_type + layout->type_size, sizeof(code_size));
    memcpy(&frame_size, frame_type + layout->type_size, sizeof(frame_size));
    return type == type_type && code_size == layout->code_size &&
           frame_size == layout->frame_object_size;
}

/* Takes the symbols of the interpreter. Returns false, after a message, if it is not known. */
static bool take_interpreter(void *library, unsigned long version)
{
    struct python_interpreter *interpreter = &python.interpreter;
    char why[128], name[32];
    common_join(name, sizeof(name), OS_DECIMAL(version >> 24), ".",
                OS_DECIMAL(version >> 16 & 0xff), NULL);
    for (size_t i = 0; layouts[i]; i++)
        if (layouts[i]->version == version >> 16)
            interpreter->layout = layouts[i];
    interpreter->own_state =
        (void *(*)(void))c_library_dlsym(library, "PyGILState_GetThisThreadState");
    interpreter->current_state =
        (void *(*)(void))c_library_dlsym(library, "PyThreadState_GetUnchecked");
    if (!interpreter->current_state) /* before 3.13 */
        interpreter->current_state =
            (void *(*)(void))c_library_dlsym(library, "_PyThreadState_UncheckedGet");
    interpreter->is_initialized = (int (*)(void))c_library_dlsym(library, "Py_IsInitialized");
    interpreter->code_type = c_library_dlsym(library, "PyCode_Type");
    interpreter->dict_type = c_library_dlsym(library, "PyDict_Type");
    if (!interpreter->layout)
        common_join(why, sizeof(why), "this mprof was built without the headers of CPython ", name,
                    NULL);
    else if (!interpreter->own_state || !interpreter->current_state ||
             !interpreter->is_initialized ||
             !layout_fits(interpreter->layout, interpreter->code_type,
                          c_library_dlsym(library, "PyFrame_Type"),
                          c_library_dlsym(library, "PyType_Type")))
        common_join(why, sizeof(why), "this CPython ", name,
                    " was built with other objects than usual", NULL);
    else
        return true;
    common_say_none("Python functions", why);
    return false;
}

/* Returns the program or library that holds the address, without the loader's lock. */
static const struct link_map *library_of(const void *address)
{
    struct dl_find_object found;
    return _dl_find_object((void *)(uintptr_t)address, &found) == 0 ? found.dlfo_link_map : NULL;
}

static void after_fork(void)
{
    python.process = os_process_id();
    python_after_fork();
}

/* Looks for an interpreter among the library's symbols, and registers it. Only the first one of a
 * process counts. */
static void look_into(void *library)
{
    struct mprof_runtime_calls calls = {NULL, python_name};
    const char *(*text_of)(void) = (const char *(*)(void))c_library_dlsym(library, "Py_GetVersion");
    const unsigned long *version = c_library_dlsym(library, "Py_Version");
    unsigned long value = version ? *version : 0;
    if (!text_of || atomic_flag_test_and_set(&python.looked))
        return;
    if (!version) { /* before 3.11 */
        const char *text = text_of();
        value = common_number(&text) << 24;
        text += *text == '.';
        value |= common_number(&text) << 16;
    }
    if (!MPROF_HAS(runtime_create) || !take_interpreter(library, value))
        return;
    calls.frames = python.interpreter.layout->frames;
    python.is_finalizing = (int (*)(void))c_library_dlsym(library, "Py_IsFinalizing");
    if (!python.is_finalizing) /* before 3.13 */
        python.is_finalizing = (int (*)(void))c_library_dlsym(library, "_Py_IsFinalizing");
    /* A program that is linked at a fixed place has copies of the library's data. */
    python.library = library_of((const void *)(uintptr_t)python.is_finalizing);
    python.process = os_process_id();
    pthread_atfork(NULL, NULL, after_fork);
    python.runtime = mprof_runtime_create("Python", &calls, &python.interpreter);
    python.walks = true;
}

static struct {
    int (*key_create)(pthread_key_t *, void (*)(void *));
    int (*key_delete)(pthread_key_t);
    int (*sem_wait)(sem_t *);
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    void (*exit)(int);
} next;

static void find_next(void)
{
    if (next.exit)
        return;
    next.key_create = (int (*)(pthread_key_t *, void (*)(void *)))c_library_dlsym(
        RTLD_NEXT, "pthread_key_create");
    next.key_delete = (int (*)(pthread_key_t))c_library_dlsym(RTLD_NEXT, "pthread_key_delete");
    next.sem_wait = (int (*)(sem_t *))c_library_dlsym(RTLD_NEXT, "sem_wait");
    next.sigaction = (int (*)(int, const struct sigaction *, struct sigaction *))c_library_dlsym(
        RTLD_NEXT, "sigaction");
    next.exit = (void (*)(int))c_library_dlsym(RTLD_NEXT, "_exit");
}

/* Returns true if the interpreter itself is the caller, and its objects may be looked at. A process
 * that shares its memory with its parent must not do that. */
static bool may_tell(const void *caller)
{
    return python.walks && library_of(caller) == python.library &&
           python.process == os_process_id() && python_holds_lock(&python.interpreter);
}

static void tell_types(void)
{
    const int error = errno;
    python_tell_types(&python.interpreter, python.runtime);
    errno = error;
}

/* Does that once when the interpreter begins to end. Everything is still there: it has called the
 * functions of atexit, and frees no objects yet. */
static void tell_at_end(const void *caller)
{
    if (!python.walks || !python.is_finalizing)
        return;
    if (!python.is_finalizing()) {
        if (atomic_load_explicit(&python.told, memory_order_relaxed))
            atomic_store(&python.told, false); /* it has begun again */
    } else if (may_tell(caller) && !atomic_exchange(&python.told, true))
        tell_types();
}

/* CPython calls this first when it makes its thread states known. The caller is looked up without
 * the loader's lock, because allocators call this function, too. */
EXPORTED int pthread_key_create(pthread_key_t *key, void (*destroy)(void *))
{
    find_next();
    const struct link_map *caller = library_of(__builtin_return_address(0));
    const int result = next.key_create(key, destroy);
    if (caller && strstr(caller->l_name, "/libpython")) {
        void *library = c_library_dlopen(caller->l_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library)
            look_into(library);
    }
    return result;
}

/* An interpreter that ends calls this before it frees the states of its threads. */
EXPORTED int pthread_key_delete(pthread_key_t key)
{
    find_next();
    if (python.walks)
        python_wait(&python.interpreter);
    return next.key_delete(key);
}

/* An interpreter that ends calls this (until 3.12) when it takes the lock of its list of threads.
 */
EXPORTED int sem_wait(sem_t *semaphore)
{
    find_next();
    tell_at_end(__builtin_return_address(0));
    return next.sem_wait(semaphore);
}

/* An interpreter that ends calls this for each signal that it handles. */
EXPORTED int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    find_next();
    tell_at_end(__builtin_return_address(0));
    return next.sigaction(number, action, old);
}

/* os._exit() calls this. */
EXPORTED _Noreturn void _exit(int status)
{
    find_next();
    if (may_tell(__builtin_return_address(0)))
        tell_types();
    next.exit(status);
    __builtin_unreachable();
}

__attribute__((constructor)) static void begin(void)
{
    find_next();
    look_into(RTLD_DEFAULT);
}
