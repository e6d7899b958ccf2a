#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Types and user's frames in programs of Rust, Fortran, D, Ada, Objective-C, Nim, Pascal and Go: see languages.py.
set -u
rm -rf languages && MPROF_SOURCE=$MPROF_SOURCE exec python3 "$(dirname "$0")/languages.py" "$@"
