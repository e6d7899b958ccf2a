#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Packages that are built again, in a folder of another name, are the same byte by byte. ./dev soak
# makes the first ones in $MPROF_PACKAGES.
. "$(dirname "$0")/common.sh"
packages=${MPROF_PACKAGES:-}
[ -n "$packages" ] && ls "$packages"/mprof_*.deb >/dev/null 2>&1 || { echo "skipped: ./dev soak makes packages"; exit 77; }
MPROF_BUILD_DIR=$work/built-once-more bash "$MPROF_SOURCE/dev" package >made.txt 2>&1 || fail "building once more: $(tail -n 20 made.txt)"
for package in "$packages"/*.deb "$packages"/*/*.rpm "$packages"/*.pkg.tar.zst; do
    again=$work/built-once-more-packages/${package#"$packages"/}
    cmp "$package" "$again" || fail "$(basename "$package") is another one"
done
