#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# mprof-ingest --compress: the records stay the same, in place and elsewhere. It leaves alone what
# it refuses. The golden compressed traces still load.
set -u
golden=$MPROF_SOURCE/tests/golden/trace ingest=$MPROF_BUILD/bin/mprof-ingest
rm -rf compressed && mkdir compressed && cd compressed || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }

expect() { # STATUS PATTERN COMMAND...
    local status=$1 pattern=$2 got
    shift 2
    "$@" >out.txt 2>&1
    got=$?
    [ $got -eq "$status" ] || complain "status $got, not $status: $*: $(cat out.txt)"
    grep -qE "$pattern" out.txt || complain "no '$pattern': $*: $(cat out.txt)"
}
records() { "$ingest" --dump "$1" | tail -n +2; } # without the line of the file header
same() { cmp <(records "$1") <(records "$2") || complain "$2 holds other records than $1"; }

# Made once and kept, with records as the recorder wrote them then: dense, with a container among
# its slots, and dense with predicted records.
for kept in "$golden"/packed/*.bin; do
    records "$kept" | sed 's/ open$/ sealed/' | cmp - "$golden/packed/records.txt" ||
        complain "$kept holds other records"
done

# In place: the mode stays, the size does not.
"$MPROF_BUILD/tests/synthetic_trace" large.bin 60000 3 500 || exit 1
chmod 640 large.bin
cp -p large.bin before.bin
expect 0 'large\.bin: [0-9]+ bytes, before [0-9]+' "$ingest" --compress large.bin
same before.bin large.bin
[ "$(stat -c %a large.bin)" = 640 ] || complain "the mode changed"
[ "$(stat -c %s large.bin)" -lt "$(($(stat -c %s before.bin) * 3 / 4))" ] || complain "not smaller"
[ ! -e large.bin.part ] || complain "large.bin.part was left behind"
expect 0 . "$ingest" --compress large.bin
same before.bin large.bin

# The session is the same, except for the bytes of the trace and its name.
"$ingest" --quiet -o plain.db before.bin && "$ingest" --quiet -o packed.db large.bin || complain "no session"
for db in plain packed; do
    sqlite3 $db.db .dump | grep -vE "'trace(_bytes)?'" | sed "/INTO process/s/'[a-z]*\\.bin'//" >$db.sql
done
cmp plain.sql packed.sql || complain "the compressed trace gives another session"

"$ingest" --compress --quiet -o other.bin before.bin >out.txt 2>&1 || complain "--quiet: $(cat out.txt)"
[ ! -s out.txt ] || complain "--quiet is not"
cmp other.bin large.bin || complain "elsewhere it is another file than in its place"
expect 1 'exists already' "$ingest" --compress -o other.bin before.bin
expect 0 . "$ingest" --compress --force -o other.bin before.bin
expect 2 'not both' "$ingest" --compress --dump before.bin
expect 1 'not a.* trace' "$ingest" --compress plain.db

# A damaged trace stays as it is.
for bad in chunk-magic record sum cut; do
    cp "$golden/bad-$bad.bin" bad.bin
    "$ingest" --compress bad.bin >out.txt 2>&1
    status=$?
    case $bad in
    record | sum) # every byte is kept, including the damage
        [ $status -eq 0 ] || complain "bad-$bad: $(cat out.txt)"
        "$ingest" --dump bad.bin | grep -q '^damage' || complain "bad-$bad: the damage is gone" ;;
    *)
        [ $status -eq 1 ] && grep -q 'as it is' out.txt || complain "bad-$bad: $status: $(cat out.txt)"
        cmp bad.bin "$golden/bad-$bad.bin" || complain "bad-$bad changed" ;;
    esac
    [ ! -e bad.bin.part ] || complain "bad.bin.part was left behind"
done

# A trace that a process is still recording is not replaced. This shell plays that process.
cp before.bin growing.bin
python3 - growing.bin $$ <<'PYTHON'
import struct, subprocess, sys
with open(sys.argv[1], 'r+b') as f:
    head = bytearray(f.read(136))
    struct.pack_into('<I', head, 72, int(sys.argv[2]))
    struct.pack_into('<I', head, 88, 0)
    data, mask = bytes(head[:80]), (1 << 64) - 1
    prime, lane = 0x9E3779B185EBCA87, [1, 2, 3, 4]
    for i in range(0, 64, 8):
        k = i // 8 % 4
        lane[k] = (lane[k] ^ int.from_bytes(data[i:i + 8], 'little')) * prime & mask
        lane[k] ^= lane[k] >> 29
    for i in range(64, 80, 8):
        lane[0] = (lane[0] ^ int.from_bytes(data[i:i + 8], 'little')) * prime & mask
        lane[0] ^= lane[0] >> 29
    total = 80
    for k in range(4):
        total = (total ^ lane[k]) * prime & mask
        total ^= total >> 32
    struct.pack_into('<Q', head, 80, total)
    f.seek(0)
    f.write(head)
PYTHON
expect 1 'still records it' "$ingest" --compress growing.bin
expect 0 . "$ingest" --compress -o grown.bin growing.bin
same before.bin grown.bin

# No room: nothing is left behind, and the trace is as it was.
cp before.bin full.bin
(ulimit -f 8; trap '' XFSZ; "$ingest" --compress full.bin) >out.txt 2>&1 && complain "no room, and no error"
grep -q 'cannot be written' out.txt || complain "no room: $(cat out.txt)"
cmp full.bin before.bin && [ ! -e full.bin.part ] || complain "no room: something changed"
exit $failed
