# SPDX-License-Identifier: BSD-2-Clause
# The options that link a program with libmprof.a, as docs/other-allocators.md gives them.
file(STRINGS ${CMAKE_SOURCE_DIR}/docs/other-allocators.md lines REGEX "--wrap=")
string(REGEX MATCHALL "--wrap=[a-zA-Z_]+" MPROF_STATIC_WRAPS "${lines}")
list(TRANSFORM MPROF_STATIC_WRAPS PREPEND -Wl,)
