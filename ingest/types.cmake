# SPDX-License-Identifier: BSD-2-Clause
# Growing arrays, hashing and caches for all of ingest.
add_library(mprof_array STATIC array.c recent.c)
target_link_libraries(mprof_array PRIVATE mprof_warnings mprof_sanitized)
target_include_directories(mprof_array PUBLIC ${CMAKE_SOURCE_DIR})

# The type rules find the types of allocations from debug information and machine code.
add_library(mprof_types STATIC
  types.c
  types_alias.c
  types_allocators.c
  types_calls.c
  types_candidates.c
  types_choose.c
  types_code.c
  types_containers.c
  types_decide.c
  types_decode.c
  types_entries.c
  types_expression.c
  types_facts.c
  types_flow.c
  types_folded.c
  types_function.c
  types_globals.c
  types_index.c
  types_jumps.c
  types_layout.c
  types_library.c
  types_locals.c
  types_memo.c
  types_modules.c
  types_name.c
  types_outer.c
  types_objects.c
  types_places.c
  types_receiver.c
  types_records.c
  types_sites.c
  types_sizeof.c
  types_source.c
  types_spelling.c
  types_state.c
  types_stated.c
  types_statement.c
  types_surround.c
  types_tags.c
  types_text.c
  types_way.c)
target_link_libraries(mprof_types
  PUBLIC mprof_schemas mprof_symbols mprof_array
  PRIVATE mprof_warnings mprof_sanitized PkgConfig::ELFUTILS)
target_include_directories(mprof_types PUBLIC ${CMAKE_SOURCE_DIR})
