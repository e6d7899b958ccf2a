# SPDX-License-Identifier: BSD-2-Clause
# The code that takes stacks as a library of its own, for the tests.
include(${CMAKE_SOURCE_DIR}/capture/stack_sources.cmake)

add_library(mprof_stacks STATIC ${MPROF_STACK_SOURCES})
set_target_properties(mprof_stacks PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(mprof_stacks PRIVATE ${MPROF_CAPTURE_OPTIONS})
target_link_libraries(mprof_stacks PRIVATE mprof_warnings PUBLIC mprof_schemas)
