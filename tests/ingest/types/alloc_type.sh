#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The type that a compiler states at a call (DW_AT_LLVM_alloc_type) is exact, and holds for that
# call alone. No compiler that writes it is available, so the debug information is written by hand.
set -u
here=$MPROF_SOURCE/tests/ingest/types
as -o alloc_type.o "$here/alloc_type.s" &&
    gcc -fno-builtin-malloc -I"$MPROF_SOURCE" -o alloc_type "$here/alloc_type.c" alloc_type.o || exit 1
LD_PRELOAD=$MPROF_BUILD/tests/liballocation_logger.so ALLOCATION_LOG=alloc_type.log ./alloc_type || exit 1
"$MPROF_BUILD/tests/check_types" --share 100 alloc_type.log | tee alloc_type.out || exit 1
grep -q '^ok .*box x 3, exact by stated' alloc_type.out
