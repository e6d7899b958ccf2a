#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A disk that fills up, and kills, at many points of an ingest. No half session appears under its
# name, and the earlier session is as it was.
set -u
export PATH="$MPROF_BUILD/bin:/usr/bin:/bin"
rm -rf no_room && mkdir no_room && cd no_room || exit 1
fail() { echo "FAILED: $*"; exit 1; }
"$MPROF_BUILD/tests/synthetic_trace" small.bin 20000 3 50 || exit 1
"$MPROF_BUILD/tests/synthetic_trace" large.bin 400000 3 5000 || exit 1
mprof-ingest --quiet -o old.db small.bin && mprof-ingest --quiet -o whole.db large.bin || fail ingest
size=$(stat -c %s whole.db)

# Ingest tells first how much room it needs, for a compressed trace too; with --quiet only if that
# may not fit.
cp large.bin packed.bin && mprof-ingest --quiet --compress packed.bin || fail compress
for trace in large packed; do
    mprof-ingest --force -o told.db $trace.bin 2>told.txt >/dev/null || fail "$trace: $(cat told.txt)"
    told=$(sed -n 's/^mprof-ingest: told.db will take about \([0-9]*\) MiB; .* are free on its disk$/\1/p' told.txt)
    [ -n "$told" ] && [ $((told << 20)) -gt $((size * 2 / 3)) ] && [ $((told << 20)) -lt $((size * 3 / 2)) ] ||
        fail "$trace: $size bytes, and it said: $(cat told.txt)"
done
# Stacks take room, too: many of them in a small trace.
"$MPROF_BUILD/tests/synthetic_trace" stacks.bin 350000 3 20000 && mprof-ingest --force -o told.db stacks.bin 2>told.txt >/dev/null ||
    fail "stacks: $(cat told.txt)"
told=$(sed -n 's/^mprof-ingest: told.db will take about \([0-9]*\) MiB; .*/\1/p' told.txt)
[ -n "$told" ] && [ $((told << 20)) -gt $(($(stat -c %s told.db) * 2 / 3)) ] ||
    fail "stacks: $(stat -c %s told.db) bytes, and it said: $(cat told.txt)"
rm stacks.bin
said=$(mprof-ingest --quiet --force -o told.db large.bin 2>&1) && [ -z "$said" ] || fail "--quiet: $said"
said=$(mprof-ingest --force -o told.db small.bin 2>&1 >/dev/null) && [ -z "$said" ] || fail "a small one: $said"
rm told.db

# intact FOLDER WHAT: the old session, alone.
intact() {
    cmp -s old.db "$1/session.db" || fail "$2: the old session is not as it was"
    [ "$(ls "$1")" = session.db ] || fail "$2: left behind: $(ls "$1")"
}

# A file system with too little room. Without the right to mount one, this part is skipped.
mkdir disk
if mount -t tmpfs -o size=1m none disk 2>/dev/null; then
    trap 'umount disk' EXIT
    for part in 2 10 30 50 70 90 99; do
        mount -o remount,size=$(($(stat -c %s old.db) + size * part / 100)) disk
        cp old.db disk/session.db
        mprof-ingest --quiet --force -o disk/session.db large.bin 2>message.txt
        [ $? -eq 1 ] || fail "room for $part %: status $?"
        grep -q 'is the disk full' message.txt || fail "room for $part %: $(cat message.txt)"
        [ "$part" -gt 30 ] || grep -q 'and may not fit: .* are free' message.txt ||
            fail "room for $part %, and it did not say so before: $(cat message.txt)"
        intact disk "room for $part %"
    done
    # A session that is written while the program runs keeps its contents.
    rm -f disk/*
    mount -o remount,size=8m disk
    mkfifo to from
    mprof-run --quiet -o steps.bin -- "$MPROF_BUILD/tests/stages" <to >from &
    exec 3>to 4<from
    echo >&3 && read -r _ <&4
    mprof-ingest --quiet --live -o disk/live.db steps.bin 2>message.txt 3>&- 4<&- &
    watcher=$!
    rows() { sqlite3 -readonly disk/live.db 'SELECT count(*) FROM allocation' 2>/dev/null || echo 0; }
    until [ "$(rows)" -ge 1000 ]; do
        kill -0 $watcher 2>/dev/null || fail "live: $(cat message.txt)"
        sleep 0.05
    done
    (while kill -0 $watcher 2>/dev/null; do echo; sleep 0.01; done) >&3 &
    cat <&4 >/dev/null 3>&- &
    wait $watcher
    [ $? -eq 1 ] || fail "live, the disk full: status $?"
    grep -q 'it holds what was loaded before' message.txt || fail "live: $(cat message.txt)"
    exec 3>&- 4<&-
    [ "$(rows)" -ge 1000 ] || fail 'live: what was loaded is gone'
    [ "$(sqlite3 -readonly disk/live.db 'PRAGMA quick_check')" = ok ] || fail 'live: damaged'
    wait
    echo 'ok: full disks'
else
    echo 'no right to mount: full disks are left out'
fi

# A limit on the size of files.
mkdir limit
for part in 5 50 95; do
    cp old.db limit/session.db
    (ulimit -f $((size * part / 100 / 1024)); exec mprof-ingest --quiet --force -o limit/session.db large.bin) 2>message.txt
    [ $? -eq 1 ] || fail "a limit of $part %: status $?, $(cat message.txt)"
    intact limit "a limit of $part %"
done
# The message of a run names the session, not the file in which it is being made: the first trace is
# written in the beginning, and the others are merged into it later.
for part in 5 85; do
    (ulimit -f $((size * part / 100 / 1024)); exec mprof-ingest --quiet --force -o limit/session.db large.bin small.bin) 2>message.txt
    [ $? -eq 1 ] || fail "a run, a limit of $part %: status $?, $(cat message.txt)"
    grep -q '^mprof-ingest: limit/session\.db: cannot be written: ' message.txt || fail "a run, a limit of $part %: $(cat message.txt)"
    intact limit "a run, a limit of $part %"
done

# SIGKILL at many sizes. The part file stays, and the next run takes it over.
mkdir kill
cp old.db kill/session.db
for part in 1 5 20 40 60 80 90 97; do
    mprof-ingest --quiet --force -o kill/session.db large.bin &
    pid=$!
    while kill -0 $pid 2>/dev/null && [ "$(stat -c %s kill/session.db.part.* 2>/dev/null | sort -n | tail -1 | grep . || echo 0)" -lt $((size * part / 100)) ]; do sleep 0.005; done
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ $? -eq 137 ] || { echo "it was done before $part %"; break; }
    # The kill may come just after the whole new session has taken its place.
    cmp -s whole.db kill/session.db && cp old.db kill/session.db
    cmp -s old.db kill/session.db || fail "killed at $part %: the old session is not as it was"
done
mprof-ingest --quiet --force -o kill/session.db large.bin || fail 'the run after the kills'
cmp -s whole.db kill/session.db || fail 'the run after the kills gave another session'
[ "$(ls kill)" = session.db ] || fail "left behind: $(ls kill)"
