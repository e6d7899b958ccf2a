#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# mprof-tui in a real terminal (tmux on its own socket): starts, answers keys and the mouse, follows a
# resize, stops and goes on by Ctrl-Z and fg, and restores the terminal after q, after a signal, and
# after Ctrl-C. It goes on where the user left the session, reads his configuration, and shows the
# colours of themes, also as true colours.
set -u
command -v tmux >/dev/null || exit 77
export LC_ALL=C.UTF-8 TZ=UTC TERM=xterm-256color HOME=/nonexistent
unset NO_COLOR TMUX
work=$(mktemp -d)
socket=mprof-tui-test-$$
export XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state
unset COLORTERM COLORFGBG
tm() { tmux -L "$socket" -f /dev/null "$@"; }
trap 'tm kill-server 2>/dev/null; rm -rf "$work"' EXIT
"$MPROF_BUILD/tests/make_session" "$work/session.db" 5000 100 50 2 1 || exit 1

fail() { printf 'failed: %s; the screen is:\n' "$1"; tm capture-pane -p; exit 1; }

# wait_for PATTERN: waits until the screen shows it, and gives up after about 20 s.
wait_for() {
    local tries=0
    until tm capture-pane -p | grep -qE -- "$1"; do
        tries=$((tries + 1))
        [ $tries -lt 400 ] || fail "no \"$1\" on the screen"
        read -rt 0.05 <> <(:) || true
    done
}
wait_gone() {
    local tries=0
    while tm capture-pane -p | grep -qE -- "$1"; do
        tries=$((tries + 1))
        [ $tries -lt 400 ] || fail "still \"$1\" on the screen"
        read -rt 0.05 <> <(:) || true
    done
}
alternate() { tm display-message -p '#{alternate_on}'; }
say() { tm send-keys -l -- "$1"; tm send-keys Enter; }

tm new-session -d -x 80 -y 24 "env TERM=xterm-256color PS1='ready> ' bash --norc --noprofile" || exit 1
wait_for '^ready>'
say "stty -a >$work/before; echo sav''ed"
wait_for '^saved'
[ "$(alternate)" = 0 ] || fail 'the alternate screen is on before the start'

say "$MPROF_BUILD/bin/mprof-tui $work/session.db"
wait_for 'Findings'
[ "$(alternate)" = 1 ] || fail 'the browser does not use the alternate screen'
tm send-keys 2
wait_for 'allocated \+'
tm send-keys 5
wait_for 'total▼'
tm set-option -s set-clipboard on
tm send-keys y
wait_for "copied, also to $work/state/mprof/copied.txt: "
grep -q '^main ' "$work/state/mprof/copied.txt" || fail 'no file has what was copied'
tries=0
until [ -n "$(tm show-buffer 2>/dev/null)" ]; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || fail 'the terminal got nothing for its clipboard'
    read -rt 0.05 <> <(:) || true
done
tm send-keys Down Down s
wait_for 'self▼'
tm send-keys f
say 'all | where size > 100'
wait_for 'where size > 100 .* of 5,000'
tm resize-window -x 120 -y 40
wait_for 'where size > 100 {50,}.* of 5,000'
[ "$(tm capture-pane -p | wc -l)" -ge 39 ] || fail 'the screen did not grow'
tm send-keys '?'
wait_for 'Everywhere'
tm send-keys Escape
wait_gone 'Everywhere'
# A click on the third view's tab, as xterm reports it.
column=$(tm capture-pane -p | head -1 | grep -bo '3 ' | tail -1 | cut -d: -f1)
bytes_before=$(tm capture-pane -p | head -1 | cut -b1-"$column" | wc -m)
tm send-keys -l "$(printf '\033[<0;%d;1M' "$bytes_before")"
wait_for 'a cell'

tm send-keys C-z
wait_for 'Stopped'
[ "$(alternate)" = 0 ] || fail 'Ctrl-Z leaves the alternate screen on'
say fg
wait_for 'a cell'
tm send-keys q
wait_for '^ready> *$'
[ "$(alternate)" = 0 ] || fail 'q leaves the alternate screen on'
say "echo status=\$?; stty -a >$work/after; echo do''ne"
wait_for '^done'
tm capture-pane -p | grep -q 'status=0' || fail 'the browser did not end well'
sed 's/rows [0-9]*; columns [0-9]*;//' "$work/before" >"$work/a"
sed 's/rows [0-9]*; columns [0-9]*;//' "$work/after" >"$work/b"
diff "$work/a" "$work/b" || fail 'the terminal is not as it was'

# The next run goes on there; --fresh does not.
say "$MPROF_BUILD/bin/mprof-tui $work/session.db"
wait_for 'as you left it; --fresh'
wait_for 'a cell'
wait_for 'where size > 100 .* of 5,000'
tm send-keys q
wait_for '^ready> *$'
mkdir -p "$XDG_CONFIG_HOME/mprof"
printf 'theme light\nkey Z view-2\nkey x\n' >"$XDG_CONFIG_HOME/mprof/tui.conf"
say "clear; $MPROF_BUILD/bin/mprof-tui --fresh $work/session.db"
wait_for 'tui.conf:3: expected key, its name, an action'
wait_for 'Findings'
colour() { tm capture-pane -pe | grep -qE "38[;:]$1"; } # one that tmux shows, as 5;N or 2;R;G;B
colour '5;25m' || fail 'no colour of the light theme'
tm send-keys Z
wait_for 'allocated \+'
say ':theme dark'
wait_for 'theme dark'
colour '5;74m' || fail 'no colour of the dark theme'
tm send-keys q
wait_for '^ready> *$'
rm "$XDG_CONFIG_HOME/mprof/tui.conf"

# True colours: of a kind of terminal that terminfo knows, named outright or by COLORTERM.
cat >"$work/direct.ti" <<'END'
xterm-direct|xterm with direct colours,
    RGB, colors#0x1000000, pairs#0x7FFF, use=xterm-256color,
    setab=\E[%?%p1%{8}%<%t4%p1%d%e48\:2\:\:%p1%{65536}%/%d\:%p1%{256}%/%{255}%&%d\:%p1%{255}%&%d%;m,
    setaf=\E[%?%p1%{8}%<%t3%p1%d%e38\:2\:\:%p1%{65536}%/%d\:%p1%{256}%/%{255}%&%d\:%p1%{255}%&%d%;m,
END
tic -x -o "$work/terminfo" "$work/direct.ti" 2>"$work/tic" || fail "no terminfo entry: $(cat "$work/tic")"
for kind in 'TERM=xterm-direct' 'TERM=xterm-256color COLORTERM=truecolor'; do
    say "clear; env TERMINFO_DIRS=$work/terminfo:/etc/terminfo:/lib/terminfo:/usr/share/terminfo $kind $MPROF_BUILD/bin/mprof-tui --fresh --view functions $work/session.db"
    wait_for 'total▼'
    colour '2[;:][:;]?95[;:]175[;:]215m' || fail "no true colour with $kind" # colour 74 of 256
    tm send-keys q
    wait_for '^ready> *$'
done

# Signals: the handler restores the terminal.
for signal in TERM SEGV INT; do
    say 'clear'
    wait_gone 'status='
    say "$MPROF_BUILD/bin/mprof-tui --fresh $work/session.db"
    wait_for 'Findings'
    if [ $signal = INT ]; then
        tm send-keys C-c
    else
        kill -$signal "$(pgrep -P "$(tm display-message -p '#{pane_pid}')" mprof-tui)"
    fi
    wait_for '^ready> *$'
    [ "$(alternate)" = 0 ] || fail "SIG$signal leaves the alternate screen on"
    say "stty -a >$work/after; echo do''ne-$signal"
    wait_for "^done-$signal"
    sed 's/rows [0-9]*; columns [0-9]*;//' "$work/after" >"$work/b"
    diff "$work/a" "$work/b" || fail "the terminal is not as it was after SIG$signal"
done
# Simpler terminals: no colour and hardly any cursor keys; sixteen colours; ASCII.
for less in 'TERM=vt100' 'TERM=linux' 'TERM=xterm-256color NO_COLOR=1' 'TERM=xterm LC_ALL=C'; do
    say clear
    wait_gone 'done-'
    say "env $less $MPROF_BUILD/bin/mprof-tui --view grid $work/session.db"
    wait_for 'a cell'
    tm send-keys 2
    wait_for 'allocated \+'
    case $less in
    *LC_ALL=C) ! tm capture-pane -p | LC_ALL=C grep -q '[^ -~]' || fail 'not only ASCII' ;;
    *NO_COLOR*) ! tm capture-pane -pe | grep -qE $'\033\\[([0-9;]*;)?[34]8;5' || fail 'colours in spite of NO_COLOR' ;;
    esac
    tm send-keys q
    wait_for '^ready> *$'
    say 'echo do''ne-$?'
    wait_for '^done-0'
done
# A trace is ingested after a question, and a terminal without a cursor is refused.
"$MPROF_BUILD/bin/mprof-run" --quiet -o "$work/ls.bin" -- /bin/ls / >/dev/null
say clear
wait_gone 'done-'
say "$MPROF_BUILD/bin/mprof-tui $work/ls.bin; echo do''ne-\$?"
wait_for 'ls.bin is a trace. Make the session .*ls.db'
say n
wait_for '^done-1'
[ ! -e "$work/ls.db" ] || fail 'a session was made in spite of n'
say "clear; $MPROF_BUILD/bin/mprof-tui $work/ls.bin"
wait_for 'Make the session'
say y
wait_for 'Findings'
tm send-keys q
wait_for '^ready> *$'
say "clear; TERM=dumb $MPROF_BUILD/bin/mprof-tui $work/session.db"
wait_for 'TERM=dumb cannot move its cursor'
echo 'the terminal is given back in every case'
