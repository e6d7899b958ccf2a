/* SPDX-License-Identifier: BSD-2-Clause */
/* The rule that gave a type, and how sure it is. */
#ifndef MPROF_INGEST_TYPES_SOURCE_RULE_H
#define MPROF_INGEST_TYPES_SOURCE_RULE_H

enum types_confidence {
    TYPES_UNKNOWN,
    TYPES_CANDIDATE, /* one of several types of that size; never the answer */
    TYPES_INFERRED,
    TYPES_EXACT
};

/* For tests and statistics. */
enum types_rule {
    TYPES_RULE_NONE,
    TYPES_RULE_ALLOCATOR,   /* a frame of std::allocator<T>::allocate or the like */
    TYPES_RULE_LIBRARY,     /* a symbol of a library without debug information */
    TYPES_RULE_CONSTRUCTOR, /* a constructor, or a table of virtual functions */
    TYPES_RULE_THROWN,      /* the class that is thrown */
    TYPES_RULE_RECEIVER,    /* the variable, member or global that holds the result */
    TYPES_RULE_RETURN,      /* the declared return type of the function */
    TYPES_RULE_ARGUMENT,    /* a parameter that gets the result */
    TYPES_RULE_SOURCE,      /* a cast, sizeof or new on the source line */
    TYPES_RULE_STATED       /* the compiler's statement at the call */
};

#endif
