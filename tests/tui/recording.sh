#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The browser on a session that is being recorded: it says so, shows new data when it checks again,
# keeps its position, and changes to the finished session. First by a script, then by
# mprof-run --open --live in a real terminal.
set -u
command -v tmux >/dev/null || exit 77
export LC_ALL=C.UTF-8 TZ=UTC TERM=xterm-256color HOME=/nonexistent PATH="$MPROF_BUILD/bin:/usr/bin:/bin"
unset NO_COLOR TMUX
work=$(mktemp -d)
socket=mprof-recording-test-$$
tm() { tmux -L "$socket" -f /dev/null "$@"; }
trap 'tm kill-server 2>/dev/null; exec 3>&- 5>&-; rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() { printf 'failed: %s; the screen is:\n%s\n' "$1" "${screen:-}"; exit 1; }
pause() { read -rt 0.05 <> <(:) || true; }

mkfifo to from keys
mprof-run --quiet -o steps.bin -- "$MPROF_BUILD/tests/stages" <to >from 3>&- 5>&- &
exec 3>to 4<from
step() { echo >&3 && read -r answer <&4 && [ "$answer" = "$1" ] || fail "step $1"; }
step 1
mprof-ingest --quiet --live -o steps.db steps.bin 3>&- 4<&- &
watcher=$!
seen() { sqlite3 -readonly steps.db 'SELECT count(*) FROM allocation WHERE size BETWEEN 17 AND 99' 2>/dev/null || echo 0; }
until_seen() {
    until [ "$(seen)" -ge "$1" ]; do
        kill -0 $watcher || fail 'mprof-ingest has ended'
        pause
    done
}
until_seen 1000

# Its keys come from this script. A FIFO makes it wait while the program and mprof-ingest go on.
mprof-tui --script keys --size 100x30 --view functions steps.db >screens.txt 3>&- 4<&- &
browser=$!
exec 5>keys
printf '%s\n' 'key Down Down' 'dump' >&5
step 2
until_seen 2000
printf '%s\n' 'key P' 'tick' 'dump' 'key P' 'tick' 'dump' 'type 2' 'dump' >&5
exec 3>&-
wait $watcher || fail 'mprof-ingest'
printf '%s\n' 'tick' 'dump' 'type 5' 'dump' 'tick' 'dump' >&5
exec 5>&-
wait $browser || fail 'the browser'
csplit -s -z -f screen. screens.txt '/^== /' '{*}'
[ "$(echo screen.*)" = 'screen.00 screen.01 screen.02 screen.03 screen.04 screen.05 screen.06' ] || fail "dumps: $(echo screen.*)"
for n in 00 02 03; do
    screen=$(cat screen.$n)
    [[ $screen = *'● recording'* ]] || fail "no mark on screen $n"
done
for n in 04 05 06; do
    screen=$(cat screen.$n)
    [[ $screen != *'● recording'* ]] || fail "still a mark on screen $n"
done
count() { sed -n 's/.* of \([0-9,]*\) allocations.*/\1/p' "screen.$1" | tr -d ,; }
screen=$(cat screen.01)
[[ $screen = *'● not following'* ]] || fail 'no pause is shown'
[ "$(count 01)" -eq "$(count 00)" ] || fail "counts: $(count 00), while paused $(count 01)"
[ "$(count 00)" -ge 1000 ] && [ "$(count 02)" -ge $(($(count 00) + 1000)) ] || fail "counts: $(count 00), $(count 02)"
[ "$(count 06)" -eq "$(sqlite3 steps.db "SELECT value FROM meta WHERE key = 'rows'")" ] || fail "in the end $(count 06)"
# The row selected on the first screen is selected on all screens.
selected() { awk '/^ *callers( |$)/ { split(before, word, " "); print word[1] } { before = $0 }' "screen.$1"; }
[ -n "$(selected 00)" ] || fail 'no function is selected'
for n in 01 02 05 06; do
    [ "$(selected $n)" = "$(selected 00)" ] || fail "selected: $(selected 00), on screen $n $(selected $n)"
done
echo 'ok: a script sees the recording and its end'

# The browser follows a trace by itself. When it is left, the session has what was recorded.
mkfifo held
mprof-run --quiet -o held.bin -- sh -c 'read -r line <held' &
recorder=$!
until [ -s held.bin ]; do pause; done
printf '%s\n' tick dump | mprof-tui --live --script - held.bin >held.txt 2>held.err || fail "--live: $(cat held.err)"
grep -q '● recording' held.txt || fail "--live shows $(cat held.txt)"
grep -q 'held.db gets what was recorded until now' held.err || fail "--live said: $(cat held.err)"
[ "$(sqlite3 -readonly held.db "SELECT count(*) FROM meta WHERE key = 'unfinished'")" = 0 ] || fail 'held.db is unfinished'
echo >held
wait $recorder || fail 'the program that was followed'
echo 'ok: --live follows a trace'

# The same by one command in a terminal, at two sizes.
wait_for() {
    local tries=0
    until tm capture-pane -p | grep -qE -- "$1"; do
        tries=$((tries + 1))
        screen=$(tm capture-pane -p)
        [ $tries -lt 600 ] || fail "no \"$1\" on the screen"
        pause
    done
}
mkfifo go
cat >program.sh <<'C'
read -r line <go
C
tm new-session -d -x 80 -y 24 "env TERM=xterm-256color PS1='ready> ' bash --norc --noprofile" || exit 1
wait_for '^ready>'
tm send-keys -l "mprof-run --open --live -o all.bin -- sh ./program.sh"
tm send-keys Enter
wait_for '^ sh · ● recording '
tm resize-window -x 200 -y 60
wait_for '● recording .* Timeline'
[ "$(tm capture-pane -p | wc -l)" -ge 59 ] || fail 'the screen did not grow'
tm send-keys 2
wait_for 'allocated \+'
# While no newer state comes, the title says how old this one is. mprof-ingest, stopped, makes none.
for follower in $(pgrep -x mprof-ingest); do
    [ "$(readlink "/proc/$follower/cwd")" = "$work" ] && break
done
wait_for '● recording · '
kill -STOP "$follower"
wait_for '● recording, [0-9.]+ s behind'
kill -CONT "$follower"
wait_for '● recording · '
echo >go
wait_for '^ sh · peak '
tm send-keys q
wait_for '^mprof-run: recorded .*all.bin'
[ -e all.bin.out ] || fail 'the program had the terminal'
echo 'ok: a terminal sees them too'
