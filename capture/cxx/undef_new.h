/* SPDX-License-Identifier: BSD-2-Clause */
/* From here on `new` is C++'s own, for placement new and the like, until define_new.h is included
 * again. There is no include guard. */
#undef new
