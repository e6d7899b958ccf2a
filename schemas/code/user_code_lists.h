/* SPDX-License-Identifier: BSD-2-Clause */
/* The built-in lists of what is not the user's own code; private to this room. */
#ifndef MPROF_SCHEMAS_CODE_USER_CODE_LISTS_H
#define MPROF_SCHEMAS_CODE_USER_CODE_LISTS_H

enum user_code_built_in_list {
    USER_CODE_NAMESPACES,
    USER_CODE_MODULES,
    USER_CODE_FUNCTIONS,
    USER_CODE_RUNTIMES, /* modules */
    USER_CODE_BUILT_IN_LISTS,
};

/* The words of each list; NULL ends a list. */
extern const char *const *const user_code_built_in_lists[USER_CODE_BUILT_IN_LISTS];

#endif
