#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Symbolizing 50,000 distinct addresses of a large program with debug information. The program is
# one unit of C++ that is linked 60 times, each time with symbols of its own.
set -euo pipefail
command -v g++ objcopy nm readelf python3 >/dev/null
here=$MPROF_SOURCE/tests/bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
g++ -O2 -g -c -o unit.o "$here/symbols_unit.cpp"
nm --defined-only --format=posix unit.o | awk '$2 != "N" && $1 ~ /^[A-Za-z_]/ {print $1}' | sort -u >names.txt
for copy in $(seq 60); do
    awk -v copy="$copy" '{print $1, "copy" copy "_" $1}' names.txt >renamed.txt
    objcopy --redefine-syms=renamed.txt unit.o "unit$copy.o"
done
echo 'int main() { return 0; }' >main.cpp
g++ -O2 -g -o large main.cpp unit?*.o
rm -f unit*.o
python3 "$here/symbols.py" "$MPROF_BUILD/tests/symbolize" large
