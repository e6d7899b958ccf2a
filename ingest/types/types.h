/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the type of an allocation from its stack and size, with the debug information, machine code
 * and source text of the program as it was built.
 *
 * Order of calls: types_new() over a symbolizer whose modules are registered, types_infer() for
 * each distinct combination of the frames that decide, size and kind (the caller caches),
 * types_free() before symbols_free().
 *
 * The rules walk the stack from the innermost frame outward. A frame of a typed allocator names the
 * type (allocators.h), or the compiler states it at the call (choose.h). Otherwise
 * the rules follow the machine code after the call to see where the result goes
 * (types/flow/flow.h): into a constructor's `this`, a table of virtual functions, a variable, a
 * member, a global, or out of the function. A function that returns the result unchanged and
 * without a type is a wrapper, and the rules examine its caller in the same way. If no rule finds a
 * name, the source line may give one (types/source/source.h). */
#pragma once

#include "ingest/symbols/symbols.h"
#include "ingest/types/dwarf/records.h"

struct types;

/* Returns NULL only if memory is exhausted. `symbols` must live as long as the result. */
struct types *types_new(struct symbols *symbols);
void types_free(struct types *types);

/* Starts another trace: names of records that answers gave before have no members any more. */
void types_next_trace(struct types *types);

/* A frame of a stack: the module's id and the ELF address of the call (return address - 1). */
struct types_frame {
    uint32_t module;
    uint64_t pc;
};

struct types_answer {
    const char *name;    /* kept until symbols_free(); NULL: unknown. "buffer" for char and void */
    const char *element; /* what a container's node holds, otherwise NULL */
    struct types_place record; /* where the type is defined, if it is a record */
    uint64_t size;             /* of the type in bytes, 0: unknown */
    uint64_t count;            /* of elements, at least 1 */
    uint64_t cookie;           /* bytes before the first element */
    enum types_confidence confidence;
    enum types_rule rule;
    /* The answer does not depend on the size. It holds for blocks of every size from that stack and
     * kind; types_count() counts their elements. */
    bool any_size;
    /* The number of innermost frames that decided the answer. All stacks that begin with these
     * frames have this answer for a block of that size and kind. A number one above that of the
     * frames means that the end of the stack decided too. */
    size_t frames;
};

/* Returns how many elements of `unit` bytes a block of `size` bytes has; 1 if the unit is 0. */
static inline uint64_t types_count(uint64_t size, uint64_t unit)
{
    return unit > 0 && size >= unit ? size / unit : 1;
}

/* Finds the type of an allocation of `size` bytes. `frames` is its stack, innermost first, without
 * the entry point itself (malloc) but with operator new. `kind` is an enum trace_alloc_kind;
 * posix_memalign returns its result in memory. */
void types_infer(struct types *types, const struct types_frame *frames, size_t count, uint64_t size,
                 uint8_t kind, struct types_answer *answer);

/* The owner of a stack's blocks: a class, or a member of one, or a variable. */
struct types_owner {
    const char *name; /* kept until symbols_free(); NULL: unknown */
    enum types_confidence confidence;
    bool farther; /* frames outside the user's may tell more, if they were not part of the question
                   */
};

/* Finds the owner (types/owner.h). The user's frame of the stack (schemas/code/user_code.h) is the
 * function that lies `level` functions inside frame `user`: 0 is the frame's own function, 1 the
 * function inlined into it. `frames` are as for types_infer(), but if not `whole`, the innermost
 * ones are missing. */
void types_owner_of(struct types *types, const struct types_frame *frames, size_t count,
                    size_t user, size_t level, bool whole, struct types_owner *owner);

/* How many innermost frames' units are searched for candidates: the site and its wrappers. */
#define TYPES_CANDIDATE_FRAMES 4

/* Writes the types that a block of `size` bytes could have if types_infer() knows no answer. These
 * are the names of the records of that size in the units of its innermost frames, at most
 * `capacity`. They live until symbols_free(). Returns their number. Often there are several, and
 * possibly none of them is right. */
size_t types_candidates(struct types *types, const struct types_frame *frames, size_t count,
                        uint64_t size, const char **names, size_t capacity);

/* Adds a type that the program named itself. If module `module` defines a record `name` of `size`
 * bytes, types_members() gives its members from now on. The symbolizer keeps `name`. */
void types_declare(struct types *types, uint32_t module, const char *name, uint64_t size);

/* Calls `each` for the members, in order of declaration, of the record of `size` bytes that an
 * answer or types_declare() named `name`. Without a definition, or if `name` is not a record, there
 * are none. If `deep`, they are those at any depth (dwarf/records.h). Returns false if `each`
 * did. */
bool types_members(struct types *types, const char *name, uint64_t size, bool deep,
                   types_member_function *each, void *context);

/* The work done so far. The same call sites cost nothing when asked again. */
struct types_work {
    uint64_t sites;     /* call sites that were looked up */
    uint64_t steps;     /* steps along stacks; each has a frame and a size */
    uint64_t files;     /* source files read */
    uint64_t functions; /* functions whose variables were read */
};
struct types_work types_work(const struct types *types);

/* Returns form_of() of the function that the frame's call finally reaches (types/flow/calls.h). */
unsigned types_frame_call_form(struct types *types, const struct types_frame *frame,
                               unsigned (*form_of)(const char *linkage));

/* Returns the symbol of the function that the frame calls, or NULL if the code does not tell. */
const char *types_call_linkage(struct types *types, const struct types_frame *frame);

/* ---- types that a program names itself ------------------------------------------------------- */

/* A TYPE record holds the address of a variable, and the symbol there names the type. The C++
 * headers have TYPE_IDENTIFIER<T>::mDummy for each type T, which gives T. Any other variable is a
 * tag with its own name. */

struct types_program_types;

/* Returns NULL only if memory is exhausted. `symbols` must live as long as the result. */
struct types_program_types *types_program_types_new(struct symbols *symbols);
void types_program_types_free(struct types_program_types *tags);

/* Returns the name of the type whose variable lies at the ELF address `address` of module `id`, in
 * the one spelling of spelling.h and without const. It lives until symbols_free(). NULL if
 * the module's symbol tables have no variable there, or memory is exhausted. */
const char *types_program_types_name(struct types_program_types *tags, uint32_t id,
                                     uint64_t address);
