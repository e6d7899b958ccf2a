/*
 * What can be told of the libraries that a program is run with, without asking its loader: that
 * takes a process of its own.
 */
#ifndef MPROF_CAPTURE_RUN_LIBRARIES_H
#define MPROF_CAPTURE_RUN_LIBRARIES_H

#include <stdbool.h>

#define RUN_LIBRARIES_CACHE "/etc/ld.so.cache"

/*
 * Whether it is certain that the system's loader brings the ELF file behind `descriptor` no C++
 * library: libstdc++ or libc++. False: it may. `cache` is the loader's list of where libraries are.
 *
 * All files that stand in the cache for a name are looked into, so that what is seen is what the
 * loader loads, or more. A file or variable that leads the loader elsewhere, a name that is not in
 * the cache, and a library that cannot be read leave it uncertain.
 */
bool run_libraries_are_without_cxx(int descriptor, const char *cache);

#endif
