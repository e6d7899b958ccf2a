# SPDX-License-Identifier: BSD-2-Clause
# The symbolizer: turns a module's pc into functions, files and lines.
find_package(PkgConfig REQUIRED)
pkg_check_modules(ELFUTILS REQUIRED IMPORTED_TARGET libdw libelf)

add_library(mprof_symbols STATIC
  symbols.c
  symbols_dwarf.c
  symbols_entries.c
  symbols_file.c
  symbols_intervals.c
  symbols_lines.c
  symbols_paths.c
  symbols_perf_map.c
  symbols_qualified.c
  symbols_scopes.c
  symbols_strings.c
  symbols_table.c
  symbols_vdso.c
  symbols_walk.c)
target_link_libraries(mprof_symbols
  PUBLIC mprof_array
  PRIVATE mprof_warnings mprof_sanitized PkgConfig::ELFUTILS iberty)
target_include_directories(mprof_symbols PUBLIC ${CMAKE_SOURCE_DIR})
