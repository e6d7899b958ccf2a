# Type rules: what was allocated, from debug information and machine code.
add_library(mprof_types STATIC
  types.c
  types_allocators.c
  types_calls.c
  types_candidates.c
  types_choose.c
  types_code.c
  types_decode.c
  types_entries.c
  types_expression.c
  types_flow.c
  types_globals.c
  types_index.c
  types_layout.c
  types_locals.c
  types_memo.c
  types_name.c
  types_places.c
  types_records.c
  types_source.c
  types_spelling.c
  types_state.c
  types_tags.c
  types_statement.c)
target_link_libraries(mprof_types
  PUBLIC mprof_schemas mprof_symbols
  PRIVATE mprof_warnings mprof_sanitized PkgConfig::ELFUTILS)
target_include_directories(mprof_types PUBLIC ${CMAKE_SOURCE_DIR})
