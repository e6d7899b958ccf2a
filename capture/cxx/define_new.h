/* SPDX-License-Identifier: BSD-2-Clause */
/* From here on `new` keeps the type: see mprof_types.h. There is no include guard: it may be
 * included again after each undef_new.h. */
#undef new
#include "mprof_types.h"
#if !defined(MPROF_DISABLED)
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wkeyword-macro"
#endif
#define new NewTrick() * new (UseNewTag_)
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
#endif
