#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Live blocks and stacks bound ingest's memory. Four times the events take no more of it, except for
# the blocks that are never freed. Sorting the index by stack takes a bounded part of it. Only
# with MPROF_SOAK=1.
set -u
[ "${MPROF_SOAK:-0}" = 1 ] || exit 77
rm -rf memory && mkdir memory && cd memory || exit 1
small=4000000 large=16000000

peak() { # TRACE INDEX: KiB
    python3 - "$MPROF_BUILD/bin/mprof-ingest" "$@" <<'PYTHON'
import resource, subprocess, sys
subprocess.run([sys.argv[1], '-q', '--force', '--index=' + sys.argv[3], '-o', 's.db', sys.argv[2]], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PYTHON
}

"$MPROF_BUILD/tests/synthetic_trace" small.bin $small 4 2000 200000 || exit 1
"$MPROF_BUILD/tests/synthetic_trace" large.bin $large 4 2000 200000 || exit 1
few=$(peak small.bin none) many=$(peak large.bin none) indexed=$(peak large.bin stack)
[ "$(sqlite3 s.db 'PRAGMA quick_check')" = ok ] || { echo "FAILED: quick_check"; exit 1; }
rm -rf ../memory
echo "peak KiB: $few with $small allocations, $many with $large, $indexed with the index"
# 1 in 200 is never freed and takes up to four places of 64 bytes; 8 bytes per row are sorted at
# once. The heaps of the two threads differ by up to 15 MiB from run to run of one trace. The rest
# of the limit is less than 3 bytes for each further allocation.
never_freed=$(((large - small) / 200 * 4 * 64 / 1024))
[ "$many" -le $((few + never_freed + 32768)) ] || { echo "FAILED: memory grew with the events"; exit 1; }
[ "$indexed" -le $((many + 16 * 8 * 1024 + 32768)) ] || { echo "FAILED: the index took more memory"; exit 1; }
