/* SPDX-License-Identifier: BSD-2-Clause */
/* Compiled for each version of CPython: PYTHON_OBJECTS is the name of the function. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_frame.h>
#include <internal/pycore_gc.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_object.h>

#include "runtimes/python/objects.h"
#include "runtimes/python/walk.h"

/* The lowest bits of a link are marks of the collector. */
#define LINK_MASK (~(uintptr_t)3)

struct search {
    const struct python_interpreter *interpreter;
    const struct python_listener *listener;
    struct address_set untracked; /* objects that are in no list of the collector */
};

static void tell(const struct search *search, PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    search->listener->tell(search->listener->context, (char *)object - _PyType_PreHeaderSize(type),
                           type, type->tp_name);
}

static int visit(PyObject *object, void *context)
{
    struct search *search = context;
    if (!object || (_PyObject_IS_GC(object) && _PyObject_GC_IS_TRACKED(object)))
        return 0;
    const size_t known = search->untracked.count;
    const size_t place = address_set_add(&search->untracked, object);
    if (place == SIZE_MAX)
        return 1;
    if (place == known)
        tell(search, object);
    return 0;
}

static void visit_list(struct search *search, const PyGC_Head *head)
{
    for (uintptr_t link = head->_gc_next & LINK_MASK; link && link != (uintptr_t)head;
         link = ((const PyGC_Head *)link)->_gc_next & LINK_MASK) {
        PyObject *object = (PyObject *)(link + sizeof(PyGC_Head));
        tell(search, object);
        if (Py_TYPE(object)->tp_traverse)
            Py_TYPE(object)->tp_traverse(object, visit, search);
    }
}

/* Returns the innermost frame of the calling thread. The state of another thread may point to the
 * stack of a thread that is gone: a daemon thread ends wherever it is. */
static _PyInterpreterFrame *frame_of(const PyThreadState *state)
{
#if PY_VERSION_HEX < 0x030d0000
    return state->cframe ? state->cframe->current_frame : NULL;
#else
    return state->current_frame;
#endif
}

static void visit_frames(struct search *search, const PyThreadState *state)
{
    for (_PyInterpreterFrame *frame = frame_of(state); frame; frame = frame->previous) {
#if PY_VERSION_HEX < 0x030d0000
        PyObject *code = (PyObject *)frame->f_code;
#else
        PyObject *code = frame->f_executable;
#endif
        if (!code || (const void *)Py_TYPE(code) != search->interpreter->code_type)
            continue;
        for (int i = 0; i < ((PyCodeObject *)code)->co_nlocalsplus; i++)
            visit(frame->localsplus[i], search);
    }
}

/* Goes to what tuples and dicts refer to that the collector has dropped from its lists, because it
 * found only objects without references in them. Those of the interpreter's own subclasses, such as
 * sys.float_info, were never in a list. */
static void visit_untracked(struct search *search)
{
    for (size_t i = 0; i < search->untracked.count; i++) {
        PyObject *object = (PyObject *)(uintptr_t)search->untracked.items[i];
        if (PyTuple_Check(object) ||
            (const void *)Py_TYPE(object) == search->interpreter->dict_type)
            Py_TYPE(object)->tp_traverse(object, visit, search);
    }
}

void PYTHON_OBJECTS(const struct python_interpreter *interpreter, void *state,
                    const struct python_listener *listener)
{
    struct search search = {.interpreter = interpreter, .listener = listener};
    const PyInterpreterState *of = ((PyThreadState *)state)->interp;
    if (!of || of->gc.collecting)
        return;
    for (int i = 0; i < NUM_GENERATIONS; i++)
        visit_list(&search, &of->gc.generations[i].head);
    visit_list(&search, &of->gc.permanent_generation.head);
    visit_frames(&search, state);
    visit_untracked(&search);
    address_set_free(&search.untracked);
}
