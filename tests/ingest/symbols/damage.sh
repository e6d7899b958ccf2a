#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Damaged ELF and DWARF, of the two versions and the two compilers.
set -u
here=$MPROF_SOURCE/tests/ingest/symbols
command -v g++ clang++ readelf nm /usr/bin/python3 >/dev/null || exit 77
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
bad=0
for way in "g++ -gdwarf-5" "clang++ -gdwarf-5" "g++ -gdwarf-4"; do
    # shellcheck disable=SC2086
    (cd "$here/programs" && $way -O2 -w -o "$work/program" shapes.cpp second.cpp) || exit 1
    /usr/bin/python3 "$here/damage.py" "$MPROF_BUILD/tests/symbolize" "$work/program" 40 || bad=1
done
exit $bad
