# Type rules: what was allocated, from debug information and machine code.
add_library(mprof_types STATIC
  types.c
  types_allocators.c
  types_entries.c
  types_index.c
  types_name.c
  types_spelling.c)
target_link_libraries(mprof_types
  PUBLIC mprof_symbols
  PRIVATE mprof_warnings mprof_sanitized PkgConfig::ELFUTILS)
target_include_directories(mprof_types PUBLIC ${CMAKE_SOURCE_DIR})
