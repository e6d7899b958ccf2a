/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts about the function that a site calls, and arguments of called or inlined ones. */
#pragma once

#include <stdbool.h>

#include "ingest/types/dwarf/site.h"

struct types_call {
    bool returns_first;  /* memcpy and its kin, and functions that do nothing else */
    bool no_return;      /* ends the program or raises an exception */
    bool returns_second; /* placement new */
    bool constructor;    /* of a class; the first argument is the object */
    const char *linkage; /* NULL: no symbol; without "@plt" */
    bool described;      /* `function` is valid */
    Dwarf_Die function;
};

/* The function that a site calls, which types_called() reads once. */
struct types_called_once {
    bool known;
    struct types_call call;
};

/* Describes the function whose code begins at `target` in the site's module. */
void types_call_target(const struct types_site *site, uint64_t target, struct types_call *call);

/* Describes the function that the site's call calls. All empty: not known. */
void types_called(const struct types_site *site, struct types_call *call);

/* Returns form_of() of the linkage name of the function that is called before the site's return
 * address. If that is 0, returns form_of() of the only function to which that one can have jumped,
 * through up to three functions of the module. A function whose last act is a call often jumps
 * there and leaves no frame. Returns 0 if it may be another function or is not known. */
unsigned types_call_form(const struct types_site *site, unsigned (*form_of)(const char *linkage));

/* Returns the type of the parameter passed in the n-th integer register. False: not known. */
bool types_call_parameter(const struct types_site *site, const struct types_call *call,
                          unsigned number, struct types_type *type);

/* Returns false if the first argument of the constructor is known not to be its object. */
bool types_call_takes_object(const struct types_site *site, const struct types_call *call);

/* Returns true if `function`, inlined or not, is a constructor. */
bool types_is_constructor(struct types_index *index, Dwarf_Die *function);

/* Goes from an inlined or out-of-line instance to the function as it was declared. */
void types_declared_function(Dwarf_Die *entry, Dwarf_Die *declared);

/* Returns the unit in which the function of the site's `frame` was compiled. Link-time optimization
 * puts the function's code into another unit, which has no types. NULL if memory is exhausted. */
const struct types_unit *types_home_unit(const struct types_site *site, size_t frame);

/* Returns true if the symbol is that of a function with which a coroutine of clang's goes on:
 * "_Z5countl.resume". Its address begins the coroutine's frame. */
bool types_is_resuming(const char *linkage);

/* Recognizes C++'s operator new by the demangled name of a function. */

/* Returns true if it is a global operator new. The rules then look at its caller. */
bool types_is_operator_new(const char *function);
/* Returns true if it is an operator new that a class defines for itself. */
bool types_is_class_operator_new(const char *function);
/* Returns true if that operator takes a number besides the size: of bytes for more than the object.
 */
bool types_is_class_operator_new_larger(const char *function);
/* Returns true if it is an operator for arrays, global or of a class. */
bool types_is_operator_new_array(const char *function);
