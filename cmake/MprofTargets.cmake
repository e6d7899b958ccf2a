# SPDX-License-Identifier: BSD-2-Clause
# The warnings with which all C targets are built.
add_library(mprof_warnings INTERFACE)
target_compile_options(mprof_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wno-missing-field-initializers -Wno-unused-parameter -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes>
  $<$<AND:$<COMPILE_LANGUAGE:C>,$<BOOL:${MPROF_WERROR}>>:-Werror>)
target_compile_definitions(mprof_warnings INTERFACE _GNU_SOURCE MPROF_VERSION="${PROJECT_VERSION}")

# Sanitizers, for everything that does not run inside another program's process.
add_library(mprof_sanitized INTERFACE)
if(MPROF_SANITIZE)
  target_compile_options(mprof_sanitized INTERFACE -fsanitize=${MPROF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(mprof_sanitized INTERFACE -fsanitize=${MPROF_SANITIZE})
  if(MPROF_SANITIZE MATCHES "address.*undefined")
    # The address sanitizer finds these at the access. The second check takes a tenth of the compile time.
    target_compile_options(mprof_sanitized INTERFACE -fno-sanitize=null,object-size)
  endif()
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # The checks hide from gcc which values a variable can have.
    target_compile_options(mprof_sanitized INTERFACE -Wno-maybe-uninitialized -Wno-clobbered -Wno-format-truncation)
  endif()
endif()

# Fuzz targets see into the libraries only if these are instrumented as well.
option(MPROF_FUZZ "Build fuzz targets for libFuzzer (clang)" OFF)
if(MPROF_FUZZ)
  target_compile_options(mprof_sanitized INTERFACE -fsanitize=fuzzer-no-link)
endif()

# mprof_fuzz(NAME SOURCES... LIBS... SEEDS files...): a fuzz target. With clang and -DMPROF_FUZZ=ON
# it is a libFuzzer program in build/fuzz, with a list of its seeds beside it. Otherwise it is a test
# NAME_corpus that replays the seeds.
function(mprof_fuzz name)
  cmake_parse_arguments(F "" "" "SOURCES;LIBS;SEEDS" ${ARGN})
  if(MPROF_FUZZ)
    add_executable(${name} ${F_SOURCES})
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    string(REPLACE ";" "\n" seeds "${F_SEEDS}")
    file(WRITE ${CMAKE_BINARY_DIR}/fuzz/${name}.seeds "${seeds}\n")
  else()
    add_executable(${name} ${F_SOURCES} ${CMAKE_SOURCE_DIR}/tests/fuzz_replay.c)
    add_test(NAME ${name}_corpus COMMAND ${name} ${F_SEEDS})
    mprof_faults(${name}_corpus NEEDS ${name})
  endif()
  target_link_libraries(${name} PRIVATE mprof_warnings mprof_sanitized mprof_schemas ${F_LIBS})
endfunction()

# No test sees the settings of a user. The limits on time end tests that hang, and measure nothing:
# on a loaded machine a test may take many times as long as it does alone.
set(MPROF_TEST_ENVIRONMENT "MPROF_BUILD=${CMAKE_BINARY_DIR};MPROF_SOURCE=${CMAKE_SOURCE_DIR};LC_ALL=C.UTF-8;TZ=UTC;DEBUGINFOD_URLS=;XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/cache;XDG_CONFIG_HOME=${CMAKE_BINARY_DIR}/config;XDG_STATE_HOME=${CMAKE_BINARY_DIR}/state;BASH_ENV=${CMAKE_SOURCE_DIR}/tests/environment.sh")
set(MPROF_TEST_TIMEOUT 1800)

# mprof_helper(NAME SOURCES... [LIBS ...]): a program that scripts of tests run.
function(mprof_helper name)
  cmake_parse_arguments(H "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${H_SOURCES})
  target_link_libraries(${name} PRIVATE mprof_warnings mprof_sanitized mprof_schemas ${H_LIBS})
endfunction()

# mprof_test(NAME SOURCES... [LIBS ...]): a cmocka program that ctest runs under its name.
function(mprof_test name)
  mprof_helper(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE cmocka)
  set_property(GLOBAL APPEND PROPERTY MPROF_UNIT_PROGRAMS ${name})
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${MPROF_TEST_TIMEOUT} LABELS unit)
endfunction()

# mprof_script_test(NAME SCRIPT [args...]): a shell script that ctest runs. $MPROF_BUILD is the
# folder of the build and $MPROF_SOURCE that of the sources. Exit status 77 skips the test.
function(mprof_script_test name script)
  add_test(NAME ${name} COMMAND bash ${script} ${ARGN} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${MPROF_TEST_TIMEOUT} SKIP_RETURN_CODE 77
    ENVIRONMENT "${MPROF_TEST_ENVIRONMENT}")
endfunction()

# mprof_daily(NAME... [NEEDS targets...]): ./dev test runs these beside the unit tests, and builds the
# helpers that they need. All others are for ./dev test --rest.
macro(mprof_daily)
  mprof_labelled(daily ${ARGN})
endmacro()

# mprof_faults(NAME... [NEEDS targets...]): tests that try very many damaged inputs. ./dev test --rest
# runs them, in the build with sanitizers.
macro(mprof_faults)
  mprof_labelled(faults ${ARGN})
endmacro()

# The third label is "rest", for unit tests that no build with sanitizers has.
function(mprof_labelled label)
  cmake_parse_arguments(L "" "" "NEEDS" ${ARGN})
  set_tests_properties(${L_UNPARSED_ARGUMENTS} PROPERTIES LABELS ${label})
  set_property(GLOBAL APPEND PROPERTY MPROF_${label}_PROGRAMS ${L_NEEDS})
endfunction()

# mprof_targets(FOLDER NAMES): the names of all programs, shared libraries and commands of a folder and of those
# in it.
function(mprof_targets folder names)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  set(found)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY|UTILITY)$")
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(inner ${folders})
    mprof_targets(${inner} below)
    list(APPEND found ${below})
  endforeach()
  set(${names} ${found} PARENT_SCOPE)
endfunction()

# mprof_embed(TARGET PATTERNS...): files as C strings. The target's sources find NAME_EXT.h without a
# path: the array NAME_EXT has the text of NAME.EXT, without the line of its licence.
function(mprof_embed target)
  file(GLOB files CONFIGURE_DEPENDS ${ARGN})
  foreach(file ${files})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    cmake_path(GET file FILENAME title)
    string(REPLACE "." "_" name ${title})
    file(READ ${file} text)
    string(REGEX REPLACE "^[^\n]* SPDX-License-Identifier: [^\n]*\n" "" text "${text}")
    string(HEX "${text}" hex)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.h
      CONTENT "/* ${title} */\nstatic const char ${name}[] = {${bytes}0};\n" @ONLY)
  endforeach()
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

# mprof_session_program(NAME ROOMS...): a program that reads sessions. The shared library comes first,
# so that the linker takes nothing from the rooms of session/ on which ROOMS depend. The program finds
# it by the distance from its own folder, and without /proc in the folder built in.
function(mprof_session_program name)
  target_link_libraries(${name} PRIVATE session_shared mprof_warnings mprof_sanitized ${ARGN})
  target_link_options(${name} PRIVATE -Wl,--no-as-needed)
  set_target_properties(${name} PROPERTIES
    INSTALL_RPATH "$ORIGIN/${MPROF_PRIVATE_DISTANCE};${MPROF_PRIVATE_FULL_FOLDER}")
  install(TARGETS ${name})
endfunction()
