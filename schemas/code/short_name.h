/* SPDX-License-Identifier: BSD-2-Clause */
/* Shortens the names of C++ functions and types so that people can read them: std::vector<Token,
 * std::allocator<Token> >::push_back(Token&&) becomes vector<Token>::push_back. */
#pragma once

#include <stddef.h>

/* Writes the short form of a name. It leaves out:
 * - parameters, the return type, "const" and the compiler's suffixes of a function;
 * - std:: and the namespaces inside it, (anonymous namespace)::, [abi:…];
 * - default arguments of templates: allocators, traits, comparisons, hashes, deleters, lock
 *   policies; a string is string and not basic_string<char>;
 * - the arguments of a member function that is a template, and long ones of other functions;
 * - the parameters of lambdas, and the hash of Rust's functions.
 * A name that it does not understand stays as it is. Two functions may get the same short name.
 * Cuts what does not fit into `size` bytes (at least 1). Returns `out`. */
#define SHORT_NAME_SIZE 1024
char *short_name(char *out, size_t size, const char *name);
/* Writes a longer form, which has the template arguments of the function and its parameters, to
 * tell functions apart that have one short name. */
char *short_name_with_parameters(char *out, size_t size, const char *name);
/* Does the same as short_name(), but ends what does not fit in an ellipsis (`size` at least 4). */
char *short_name_cut(char *out, size_t size, const char *name);

/* One of the parts of a name between "::". */
struct name_part {
    const char *begin;
    size_t length; /* bytes */
    size_t bare;   /* bytes without template arguments at its end */
};
/* Splits a short name, the last `most` parts. A lambda belongs to the function that has it. Returns
 * how many there are, at least 1. */
size_t short_name_split(const char *name, struct name_part *parts, size_t most);
