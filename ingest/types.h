/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was allocated: the type of an allocation from its stack and size, by debug information,
 * machine code and source text of the program as it was built.
 *
 * Order of calls: types_new() over a symbolizer whose modules are registered, types_infer() for
 * each distinct (frames that have a say, size, kind) (the caller caches), types_free() before
 * symbols_free().
 *
 * How: the stack is walked from the innermost frame outward. A frame of a typed allocator names
 * the type (types_allocators.h), or the compiler states it at the call (types_stated.h). Otherwise
 * the machine code behind the call is followed to see where the result goes (types_flow.h): into a
 * constructor's `this` or a table of virtual functions, a variable, a member, a global, or out of
 * the function. A function that returns the result as it is, under no type, is a wrapper, and its
 * caller is asked in the same way. What no rule names, the source line may (types_source.h).
 */
#ifndef MPROF_INGEST_TYPES_H
#define MPROF_INGEST_TYPES_H

#include "ingest/symbols.h"

struct types;

/* NULL only where memory is exhausted. `symbols` must live as long. */
struct types *types_new(struct symbols *symbols);
void types_free(struct types *types);

/* A frame of a stack: the module's id and the ELF address of the call (return address - 1). */
struct types_frame {
    uint32_t module;
    uint64_t pc;
};

enum types_confidence {
    TYPES_UNKNOWN,
    TYPES_CANDIDATE, /* one of several of that size; never the answer */
    TYPES_INFERRED,
    TYPES_EXACT
};

/* Which rule gave the answer; for tests and statistics. */
enum types_rule {
    TYPES_RULE_NONE,
    TYPES_RULE_ALLOCATOR,   /* a frame of std::allocator<T>::allocate or the like */
    TYPES_RULE_LIBRARY,     /* a symbol of a library without debug information */
    TYPES_RULE_CONSTRUCTOR, /* a constructor or a table of virtual functions */
    TYPES_RULE_THROWN,      /* the class that is thrown */
    TYPES_RULE_RECEIVER,    /* variable, member or global that holds the result */
    TYPES_RULE_RETURN,      /* declared return type of the function */
    TYPES_RULE_ARGUMENT,    /* parameter that the result is passed as */
    TYPES_RULE_SOURCE,      /* cast, sizeof or new on the source line */
    TYPES_RULE_STATED       /* the compiler's word about the call */
};

struct types_answer {
    const char *name;    /* kept until symbols_free(); NULL: unknown. "buffer" for char and void */
    const char *element; /* what a container's node holds, otherwise NULL */
    uint64_t size;       /* of the type in bytes, 0: unknown */
    uint64_t count;      /* of elements, at least 1 */
    uint64_t cookie;     /* bytes in front of the first element */
    enum types_confidence confidence;
    enum types_rule rule;
    /*
     * The size asked for had no say: the same holds for blocks of every size by that stack and
     * kind, their count by types_count().
     */
    bool any_size;
    /*
     * How many of the innermost frames had a say: all stacks that begin with them have this answer
     * for a block of that size and kind. One more than there are says that the stack's end did.
     */
    size_t frames;
};

/* Elements of `unit` bytes in a block of `size` bytes; 1 where the unit is unknown (0). */
static inline uint64_t types_count(uint64_t size, uint64_t unit)
{
    return unit > 0 && size >= unit ? size / unit : 1;
}

/*
 * The type of an allocation of `size` bytes whose stack is `frames`, innermost first; the entry
 * point itself (malloc) is not among them, operator new is. `kind` is an enum trace_alloc_kind:
 * posix_memalign hands its result over in memory.
 */
void types_infer(struct types *types, const struct types_frame *frames, size_t count, uint64_t size,
                 uint8_t kind, struct types_answer *answer);

/* Innermost frames whose units are searched for candidates: the site and wrappers within it. */
#define TYPES_CANDIDATE_FRAMES 4

/*
 * What a block of `size` bytes could be where types_infer() knows no answer: names of the records
 * of that size in the units of its innermost frames, at most `capacity`, kept until
 * symbols_free(). Returns how many. Often there are several, and none need be right.
 */
size_t types_candidates(struct types *types, const struct types_frame *frames, size_t count,
                        uint64_t size, const char **names, size_t capacity);

/*
 * A type that the program named itself: where module `module` defines a record `name` of `size`
 * bytes, types_members() has its members from now on. `name` is kept by the symbolizer.
 */
void types_declare(struct types *types, uint32_t module, const char *name, uint64_t size);

/* A member of a record, or a base class (no name). Bit fields have the bytes that they touch. */
struct types_member {
    const char *name; /* NULL: a base class, or a record without a name */
    const char *type;
    uint64_t offset, size; /* bytes */
};

/* False: no more of them. What `member` points to is gone when it returns. */
typedef bool types_member_function(void *context, const struct types_member *member);

/*
 * The members of the record that an answer or types_declare() named `name`, of `size` bytes, in
 * order of declaration. None where it is no record, or its definition is not at hand. False where
 * `each` said so.
 */
bool types_members(struct types *types, const char *name, uint64_t size,
                   types_member_function *each, void *context);

/* What was read and asked so far: the same call sites again cost none of it. */
struct types_work {
    uint64_t sites; /* call sites that were looked up */
    uint64_t steps; /* of the walk along a stack that the rules were asked for, frame and size */
    uint64_t files; /* sources that were read */
    uint64_t functions; /* whose variables were read */
};
struct types_work types_work(const struct types *types);

/* What `form_of` says of the function that the frame calls in the end: types_jumps.h. */
unsigned types_frame_call_form(struct types *types, const struct types_frame *frame,
                               unsigned (*form_of)(const char *linkage));

/* The symbol of the function that the frame calls, NULL where the code does not say. */
const char *types_call_linkage(struct types *types, const struct types_frame *frame);

#endif
