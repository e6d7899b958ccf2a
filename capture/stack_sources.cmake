# What takes stacks, and what it stands on; libmprof and the tests build it alike.
set(MPROF_STACK_SOURCES
  ${CMAKE_SOURCE_DIR}/capture/os.c)
