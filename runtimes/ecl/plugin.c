/* SPDX-License-Identifier: BSD-2-Clause */
/* libmprof_ecl.so: hands the functions of ECL, and the blocks of its heap with their types, over to
 * the recorder. mprof-run --ecl preloads it.
 *
 * ECL calls its allocator and the collector by symbols that this library has, too (allocate.c). */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "capture/mprof.h"
#include "runtimes/common.h"
#include "runtimes/ecl/record.h"

/* ---- the walk --------------------------------------------------------------------------- */

/* The Lisp functions that a thread runs: ECL's invocation history stack. Its frames lie on the
 * native stack, each in the native frame of the evaluator that runs the function. Functions that
 * are compiled are not on it, but have native frames of their own. */

#define DEPTH_MAX 1000000u /* more frames than this is a cycle */

extern void *__libc_stack_end __attribute__((weak));

/* Returns the end of the thread's stack. The C library keeps what it knows of a thread above its
 * stack, but that of the first thread elsewhere. */
static uintptr_t end_of_stack(uintptr_t frame)
{
    const uintptr_t self = (uintptr_t)arch_thread_pointer();
    if (frame < self)
        return self;
    return &__libc_stack_end ? (uintptr_t)__libc_stack_end : 0;
}

static bool is_object(cl_object object)
{
    return object && ECL_IMMEDIATE(object) == 0;
}

/* Returns the function in the closure of bytecodes, or the object itself. */
static cl_object function_of(cl_object object)
{
    return is_object(object) && object->d.t == t_bclosure ? object->bclosure.code : object;
}

/* Tells functions apart that use the same memory one after the other. */
static uint64_t check_of(cl_object function)
{
    if (!is_object(function) || function->d.t != t_bytecodes)
        return 0;
    /* The code of each function is a block of its own. */
    return ((uintptr_t)function->bytecodes.name ^ (uintptr_t)function->bytecodes.code << 17) | 1;
}

/* As in struct mprof_runtime_calls. */
static unsigned ecl_frames(void *data, struct mprof_frame *out, unsigned max)
{
    uintptr_t below = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t end = end_of_stack(below);
    cl_env_ptr env = record_present ? record_present : record_environment();
    unsigned count = 0, steps = 0;
    if (!env)
        return 0;
    for (const struct ecl_ihs_frame *frame = env->ihs_top; count < max && steps < DEPTH_MAX;
         frame = frame->next, steps++) {
        const uintptr_t at = (uintptr_t)frame;
        /* The outermost one lies in the environment, and has no function. */
        if (at <= below || at > end - sizeof(*frame) || at % sizeof(void *) != 0)
            break;
        cl_object function = function_of(frame->function);
        if (function && function != ECL_NIL)
            out[count++] = (struct mprof_frame){
                .key = function, .check = check_of(function), .address = frame};
        below = at;
    }
    return count;
}

/* The place to which a name is written. */
struct text {
    char *at, *end; /* `end`: room for the zero byte */
};

static void put_byte(struct text *text, char byte)
{
    if (text->at < text->end)
        *text->at++ = byte;
}

/* Writes a character as UTF-8, or nothing if it does not fit. */
static void put_character(struct text *text, uint32_t character)
{
    char bytes[4];
    const unsigned count = common_put_utf8(character, bytes);
    if (text->end - text->at < (ptrdiff_t)count)
        text->end = text->at;
    for (unsigned i = 0; i < count; i++)
        put_byte(text, bytes[i]);
}

static void put_literal(struct text *text, const char *literal)
{
    while (*literal)
        put_byte(text, *literal++);
}

static void put_string(struct text *text, cl_object string)
{
    if (!is_object(string))
        return;
    if (string->d.t == t_base_string)
        for (cl_index i = 0; i < string->base_string.fillp; i++)
            put_character(text, string->base_string.self[i]);
    else if (string->d.t == t_string)
        for (cl_index i = 0; i < string->string.fillp; i++)
            put_character(text, (uint32_t)string->string.self[i]);
}

static bool string_is(cl_object string, const char *wanted)
{
    const size_t length = strlen(wanted);
    return is_object(string) && string->d.t == t_base_string &&
           string->base_string.fillp == length &&
           memcmp(string->base_string.self, wanted, length) == 0;
}

/* Writes a symbol with its package, but without that of Lisp itself and that of users. */
static void put_symbol(struct text *text, cl_object symbol)
{
    cl_object package = symbol->symbol.hpack;
    if (is_object(package) && package->d.t == t_package &&
        !string_is(package->pack.name, "COMMON-LISP") &&
        !string_is(package->pack.name, "COMMON-LISP-USER")) {
        put_string(text, package->pack.name);
        put_literal(text, "::");
    }
    put_string(text, symbol->symbol.name);
}

static void put_name(struct text *text, cl_object name, unsigned depth);

/* Writes a list of names, such as (SETF CAR). */
static void put_list(struct text *text, cl_object list, unsigned depth)
{
    put_byte(text, '(');
    for (unsigned i = 0; list && ECL_CONSP(list); i++, list = ECL_CONS_CDR(list)) {
        if (i > 0)
            put_byte(text, ' ');
        if (i == 8) {
            put_literal(text, "…");
            break;
        }
        put_name(text, ECL_CONS_CAR(list), depth + 1);
    }
    put_byte(text, ')');
}

static void put_name(struct text *text, cl_object name, unsigned depth)
{
    if (!name)
        return;
    if (name == ECL_NIL)
        put_literal(text, "NIL");
    else if (ECL_CONSP(name) && depth < 4)
        put_list(text, name, depth);
    else if (ECL_IMMEDIATE(name) != 0)
        put_byte(text, '?');
    else if (name->d.t == t_symbol)
        put_symbol(text, name);
    else
        put_string(text, name);
}

/* Returns true if bytecodes of that name are a form that is loaded or typed in. */
static bool is_form(cl_object name)
{
    return is_object(name) && name->d.t == t_symbol && string_is(name->symbol.name, "BYTECODES") &&
           is_object(name->symbol.hpack) && name->symbol.hpack->d.t == t_package &&
           string_is(name->symbol.hpack->pack.name, "SI");
}

static void put_function(struct text *text, cl_object function)
{
    if (!is_object(function)) {
        put_name(text, function, 0);
        return;
    }
    switch (function->d.t) {
    case t_bytecodes:
        if (function->bytecodes.name == ECL_NIL)
            put_literal(text, "LAMBDA");
        else if (is_form(function->bytecodes.name))
            put_literal(text, "top-level form");
        else
            put_name(text, function->bytecodes.name, 0);
        break;
    case t_cfun:
    case t_cfunfixed:
        put_name(text, function->cfun.name, 0);
        break;
    case t_cclosure:
        put_literal(text, "LAMBDA");
        break;
    default:
        put_name(text, function, 0);
    }
}

static void ecl_name(void *data, const void *key, struct mprof_frame_name *out)
{
    cl_object function = (cl_object)(uintptr_t)key;
    struct text text = {out->function, out->function + sizeof(out->function) - 1};
    put_function(&text, function);
    *text.at = '\0';
    if (!is_object(function) || function->d.t != t_bytecodes)
        return;
    text = (struct text){out->file, out->file + sizeof(out->file) - 1};
    put_string(&text, function->bytecodes.file);
    *text.at = '\0';
}

/* Returns true if the library is of the version that the headers are of. Writes its name. */
static bool version_fits(char library[REAL_LIBRARY_SIZE])
{
    Dl_info about;
    real_library(library);
    return dladdr(REAL(ecl_alloc_object), &about) && about.dli_fname &&
           strstr(about.dli_fname, library);
}

void plugin_begin(void)
{
    static const struct mprof_runtime_calls calls = {ecl_frames, ecl_name};
    static atomic_flag begun = ATOMIC_FLAG_INIT;
    char library[REAL_LIBRARY_SIZE], why[128];
    if (!MPROF_HAS(collection) || atomic_flag_test_and_set(&begun))
        return;
    if (!version_fits(library)) {
        common_join(why, sizeof(why), "this mprof was built with the headers of ", library, NULL);
        common_say_none("Lisp functions and types", why);
        return;
    }
    const mprof_runtime runtime = mprof_runtime_create("ECL", &calls, NULL);
    if (runtime != 0)
        record_begin(runtime);
}

__attribute__((constructor)) static void begin(void)
{
    if (real_is_there())
        plugin_begin();
}
