# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the tests beside it.

# sources PATTERN...: lists the project's files whose paths match one of the patterns (all files
# without one), from the root of the sources. A `*` matches `/`, too. In a repository git knows the
# files; in an unpacked tarball they are all files outside the build folders.
sources() {
    [ ! -e .git ] || ! git ls-files -- "$@" 2>/dev/null || return 0
    local pattern matches=()
    for pattern in "${@:-*}"; do matches+=(-o -path "./$pattern"); done
    find . \( -path ./.git -o -path './build*' -o -path "./${MPROF_BUILD#"$PWD"/}" \) -prune -o \
        -type f ! -name '*.o' ! -name '*.db' ! -name '*.db-*' \( "${matches[@]:1}" \) -print | sed 's,^\./,,'
}
