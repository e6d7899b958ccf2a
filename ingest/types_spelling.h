/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One spelling for a type's name, whichever compiler wrote it.
 *
 * gcc says "vector<long unsigned int, std::allocator<long unsigned int> >" where clang says
 * "vector<unsigned long, std::allocator<unsigned long> >"; both become
 * "std::vector<unsigned long>" here (with the namespace in front, which the caller gives).
 */
#ifndef MPROF_INGEST_TYPES_SPELLING_H
#define MPROF_INGEST_TYPES_SPELLING_H

/*
 * The name in its one spelling: integer words in the usual order, `const` in front of what it
 * qualifies, one space before `*` and `&`, no inline namespaces of the standard libraries, no
 * template arguments of the standard library that are the default, no suffixes of literals. What
 * cannot be parsed is left as it is. The result belongs to the caller, free(); NULL where memory
 * is exhausted.
 */
char *types_spelling(const char *name);

/*
 * Template argument `index` (from 0) of the outermost template of `name`, in its one spelling;
 * NULL where there is none. "std::allocator<int>" has "int". Belongs to the caller.
 */
char *types_spelling_argument(const char *name, unsigned index);

#endif
