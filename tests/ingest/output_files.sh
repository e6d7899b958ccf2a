#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A file that ingest writes replaces only regular files, follows no link, and is its user's alone.
# Names from outside reach the terminal in their printable form.
set -u
export PATH="$MPROF_BUILD/bin:/usr/bin:/bin"
rm -rf output_files && mkdir output_files && cd output_files || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }
"$MPROF_BUILD/tests/synthetic_trace" small.bin 2000 3 50 || exit 1
mprof-ingest --quiet -o plain.db small.bin || exit 1

# refused TARGET WORDS: --force does not replace it.
refused() {
    local before after
    before=$(stat -c '%F %i %t:%T' "$1")
    for command in "mprof-ingest --quiet --force -o" "mprof-ingest --quiet --force --compress -o"; do
        timeout 200 $command "$1" small.bin >out.txt 2>&1
        [ $? -eq 1 ] && grep -q "$2" out.txt || complain "$command $1: $(cat out.txt)"
    done
    timeout 200 mprof-ingest --quiet --force -o "$1" small.bin small.bin >out.txt 2>&1
    [ $? -eq 1 ] && grep -q "$2" out.txt || complain "two traces into $1: $(cat out.txt)"
    after=$(stat -c '%F %i %t:%T' "$1")
    [ "$before" = "$after" ] || complain "$1 was $before, and is $after"
}
mkfifo fifo
refused fifo 'is not a regular file'
mkdir folder
refused folder 'is a directory'
ln -s plain.db link.db
refused link.db 'is a symbolic link'
ln -s nowhere dangling.db
refused dangling.db 'is a symbolic link'
# A device like /dev/null, made here so that nothing else can be hit. Making it takes rights.
mknod null c 1 3 2>/dev/null && refused null 'is not a regular file'
mprof-ingest --quiet -o plain.db small.bin 2>out.txt
[ $? -eq 1 ] && grep -q 'exists already' out.txt || complain "replaced without --force: $(cat out.txt)"

# Files that others put beside the session are neither written nor followed.
echo precious >precious
for name in part part.1; do ln -s precious "planted.db.$name"; done
mprof-ingest --quiet -o planted.db small.bin || complain "with links beside it"
[ "$(cat precious)" = precious ] || complain "a link beside the session was followed"
cmp -s plain.db planted.db || complain "with links beside it the session is another one"

# Modes: what the umask allows.
mode() { [ "$(stat -c %a "$2")" = "$1" ] || complain "$2 has mode $(stat -c %a "$2"), not $1"; }
(
    umask 000
    mprof-ingest --quiet -o open.db small.bin
    mprof-ingest --quiet -o both.db small.bin small.bin
    mprof-ingest --quiet --compress -o packed.bin small.bin
    mprof-ingest --quiet --bundle -o bundle.db small.bin
    mprof-run --quiet -o true.bin -- /bin/true
)
for file in open.db both.db packed.bin bundle.db true.bin; do mode 600 $file; done
# A trace opened to others still is after --compress.
cp small.bin shared.bin && chmod 640 shared.bin && mprof-ingest --quiet --compress shared.bin && mode 640 shared.bin

# A FIFO or device cannot hold a trace. The program runs on, and a line tells why nothing is
# recorded.
for place in fifo null folder; do
    [ -e $place ] || continue
    MPROF_OUTPUT=$place LD_PRELOAD="$MPROF_BUILD/lib/libmprof.so" timeout 200 /bin/echo ran >out.txt 2>err.txt ||
        complain "MPROF_OUTPUT=$place: status $?"
    [ "$(cat out.txt)" = ran ] && grep -q "$place is not a regular file: nothing is recorded" err.txt ||
        complain "MPROF_OUTPUT=$place: $(cat out.txt err.txt)"
    timeout 200 mprof-run --force -o $place -- /bin/echo ran >out.txt 2>&1
    [ $? -eq 1 ] && grep -q "$place: is not a regular file" out.txt || complain "mprof-run -o $place: $(cat out.txt)"
    [ -z "$(ls $place.* 2>/dev/null)" ] || complain "beside $place: $(ls $place.*)"
done

# Control characters in names: of traces, sessions, programs.
odd=$'e\033[2Jv\ril\x9b\n\xe2\x80\xae'
cp small.bin "$odd.bin"
cp /bin/true "./$odd"
{
    mprof-ingest -o "$odd.db" "$odd.bin"
    mprof-ingest -o "$odd.db" "$odd.bin"
    mprof-ingest "$odd.nothing"
    mprof-ingest -o "$odd/x.db" small.bin
    mprof-ingest --quiet -o rest.db small.bin "$odd.nothing"
    mprof-run --quiet -o odd.bin -- "./$odd" && mprof-ingest odd.bin
    mprof-run -- "./$odd"
    mprof-run -o "$odd/x.bin" -- /bin/true
    mprof-run -o odd2.bin -- "./$odd.nothing"
    mprof-run "--unwind=$odd" -- /bin/true
    mprof-run "--$odd" -- /bin/true
    mprof-ctl "$odd.bin" status
    mprof-ctl "$odd.nothing" status
    mprof-ctl "$odd.bin" "$odd"
    mprof-ingest "--$odd" small.bin
    mprof-ingest "--index=$odd" small.bin
    mprof-ingest --compress -o "$odd.packed" small.bin
    mprof-tui "--$odd"
    mprof-tui --script /dev/null "$odd.nothing"
    mprof-tui --script /dev/null --filter "type == $odd" plain.db
    mprof-tui --script "$odd.script" plain.db
    MPROF_OUTPUT="$odd/no/such/folder" LD_PRELOAD="$MPROF_BUILD/lib/libmprof.so" /bin/true
} >out.txt 2>&1
[ "$(grep -c 'e\\x1b\[2Jv\\x0dil\\x9b\\x0a\\xe2\\x80\\xae' out.txt)" -ge 20 ] || complain "not shown: $(cat -v out.txt)"
if LC_ALL=C grep -n $'[\x01-\x09\x0b-\x1f\x7f\x9b]' out.txt | cat -v | grep .; then complain "control characters were printed"; fi
exit $failed
