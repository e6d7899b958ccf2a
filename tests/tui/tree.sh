#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The tree view on a recorded C++ program with templates and recursion: its rows count what SQL
# counts; two questions are answered in a real terminal by few keys, at two sizes; a function that is
# marked as a wrapper is one from then on; hostile names stay names.
set -u
command -v tmux >/dev/null || exit 77
export LC_ALL=C.UTF-8 TZ=UTC TERM=xterm-256color HOME=/nonexistent
unset NO_COLOR TMUX
work=$(mktemp -d)
socket=mprof-tree-test-$$
export XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state
tm() { tmux -L "$socket" -f /dev/null "$@"; }
trap 'tm kill-server 2>/dev/null; rm -rf "$work"' EXIT
bin=$MPROF_BUILD/bin
"$bin/mprof-run" -o "$work/trace.bin" -- "$MPROF_BUILD/tests/recursion" >"$work/out" 2>&1 || exit 1
"$bin/mprof-ingest" -o "$work/session.db" "$work/trace.bin" >"$work/summary" || exit 1
python3 "$MPROF_SOURCE/tests/tui/tree.py" "$bin/mprof-tui" "$work/session.db" || exit 1

fail() { printf 'failed: %s; the screen is:\n' "$1"; tm capture-pane -p; exit 1; }
wait_for() {
    local tries=0
    until tm capture-pane -p | grep -qE -- "$1"; do
        tries=$((tries + 1))
        [ $tries -lt 400 ] || fail "no \"$1\" on the screen"
        read -rt 0.05 <> <(:) || true
    done
}

for size in '80 24' '200 60'; do
    # shellcheck disable=SC2086
    set -- $size
    # A server that ends must not meet the next session: each size has its own.
    socket=mprof-tree-test-$$-$1
    tm new-session -d -x "$1" -y "$2" "$bin/mprof-tui --fresh '$work/session.db'" || exit 1
    wait_for 'Findings'
    # Who owns the memory at the peak, by own code, with the path?
    tm send-keys 4
    wait_for '▾ main'
    wait_for '76% .*▾ calc::Parser::parse_expr ⇄ 2 more'
    wait_for '33% .*→ make_unique<calc::Node>'
    # And how much of that do the functions of the row allocate themselves?
    wait_for "^ self 153 KiB of 353 KiB at the program's peak in 980 of 4,160 blocks"
    # Which path under walk() allocates most?
    tm send-keys /
    tm send-keys -l walk
    tm send-keys Enter
    wait_for '^ main > calc::walk'
    tm send-keys .
    wait_for 'below main > calc::walk'
    wait_for '▾ calc::walk'
    wait_for '^ .* {8}→ vector<string>::push_back'
    tm send-keys F
    wait_for '▸calc::walk'
    tm send-keys q
    tm kill-server 2>/dev/null
done

# A wrapper is stored in the session, and its caller allocates.
played() { # SIZE FILE COMMAND…: runs one script.
    printf '%s\n' "${@:3}" >"$work/script"
    "$bin/mprof-tui" --script "$work/script" --size "$1" "$2" 2>"$work/err"
}
played 100x30 "$work/session.db" 'key 4 b / m a k e _ u n i q u e Enter M' dump >"$work/marked" || exit 1
sqlite3 "$work/session.db" 'SELECT value FROM setting WHERE key = "wrapper"' | grep -q make_unique || {
    echo 'M stored no wrapper'
    exit 1
}
if grep -q '% .*make_unique' "$work/marked"; then
    echo 'a wrapper is still a row:'
    cat "$work/marked"
    exit 1
fi

# The focus stays when libraries come and go, as long as its row is there. If not, that is said.
played 100x30 "$work/session.db" 'key 4 Home Down .' 'key S' dump 'key S' dump 'key Esc b Home .' 'key S' dump \
    'key Home Down . b b' dump \
    >"$work/focus" || exit 1
for kept in 'top-down .* below .*main > calc::Parser::parse_expr ⇄ 2 more' \
    'by user code .* below .*main > calc::Parser::parse_expr ⇄ 2 more' \
    'everything again: this tree has no _start there' 'everything again: this tree has no calc::Parser'; do
    grep -qE "$kept" "$work/focus" || { echo "no \"$kept\":"; cat "$work/focus"; exit 1; }
done

# Names that would steer the terminal or end a string of the filter language.
cp "$work/session.db" "$work/hostile.db"
sqlite3 "$work/hostile.db" "UPDATE function SET name = char(27) || '[2J\"' || char(10) || name || '\\\"'
    WHERE name LIKE 'calc::walk%' OR name LIKE '%push_back%'"
played 100x30 "$work/hostile.db" 'key 4 / w a l k Enter l' 'dump' 'key Esc 4 F' 'dump' 'key y M' 'dump' \
    >"$work/hostile" || { echo 'hostile names:'; cat "$work/err"; exit 1; }
if LC_ALL=C grep -q "$(printf '[\001-\011\013-\037]')" "$work/hostile"; then
    echo 'a control character is on the screen'
    exit 1
fi
grep -q '330 of 53,601' "$work/hostile" || { echo 'no list of what a hostile name allocated'; cat "$work/hostile"; exit 1; }
