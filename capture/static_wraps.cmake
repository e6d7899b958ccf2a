# The options that link a program with libmprof.a, as mprof.h tells them to users.
file(STRINGS ${CMAKE_SOURCE_DIR}/capture/mprof.h lines REGEX "--wrap=")
string(REGEX MATCHALL "--wrap=[a-zA-Z_]+" MPROF_STATIC_WRAPS "${lines}")
list(TRANSFORM MPROF_STATIC_WRAPS PREPEND -Wl,)
