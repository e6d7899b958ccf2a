# SPDX-License-Identifier: BSD-2-Clause
# The sources that take stacks and those that they need. libmprof and the tests build them alike.
set(MPROF_STACK_SOURCES
  ${CMAKE_SOURCE_DIR}/capture/code_regions.c
  ${CMAKE_SOURCE_DIR}/capture/context_tree.c
  ${CMAKE_SOURCE_DIR}/capture/module_image.c
  ${CMAKE_SOURCE_DIR}/capture/modules.c
  ${CMAKE_SOURCE_DIR}/capture/os.c
  ${CMAKE_SOURCE_DIR}/capture/process_maps.c
  ${CMAKE_SOURCE_DIR}/capture/shadow_nodes.c
  ${CMAKE_SOURCE_DIR}/capture/shadow_stack.c
  ${CMAKE_SOURCE_DIR}/capture/shared_table.c
  ${CMAKE_SOURCE_DIR}/capture/stack.c
  ${CMAKE_SOURCE_DIR}/capture/stack_branch.c
  ${CMAKE_SOURCE_DIR}/capture/stack_memory.c
  ${CMAKE_SOURCE_DIR}/capture/stack_walk.c
  ${CMAKE_SOURCE_DIR}/capture/unwind_cache.c
  ${CMAKE_SOURCE_DIR}/capture/unwind_expression.c
  ${CMAKE_SOURCE_DIR}/capture/unwind_full.c
  ${CMAKE_SOURCE_DIR}/capture/unwind_program.c
  ${CMAKE_SOURCE_DIR}/capture/unwind_rule.c
  ${CMAKE_SOURCE_DIR}/capture/unwind_step.c
  ${CMAKE_SOURCE_DIR}/capture/unwind_table.c)

# Compiler options for code that runs inside another program. Vectors would only copy words that
# were just stored one by one, and that stalls.
set(MPROF_CAPTURE_OPTIONS -O2 -fno-tree-vectorize -fno-tree-slp-vectorize -fvisibility=hidden -ftls-model=initial-exec -fno-stack-protector)
