#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Random keys, clicks, sizes and commands, always the same ones: the browser must not fail, and every
# screen must have the right height and stay within its width.
set -u
export LC_ALL=C.UTF-8 TZ=UTC
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$MPROF_BUILD/tests/make_session" "$work/session.db" 3000 100 60 3 1 || exit 1

# events SEED COUNT: writes a script.
events() {
    awk -v seed="$1" -v count="$2" '
    function pick(list, n) { n = split(list, part, " "); return part[1 + int(rand() * n)] }
    BEGIN {
        srand(seed)
        keys = "Left Right Up Down PgUp PgDn Home End Enter Esc + - 0 H L p v [ ] n N { } a s < > r w c 1 2 3 4 5 6 7 8 9 e . b S F C M l x u U Tab Shift-Tab ?"
        for (i = 0; i < count; i++) {
            x = rand()
            if (x < 0.88) print "key " pick(keys)
            else if (x < 0.91) printf "resize %dx%d\n", 1 + rand() * 220, 1 + rand() * 70
            else if (x < 0.93) printf "click %d %d\n", rand() * 200, rand() * 60
            else if (x < 0.95) printf "wheel %s %d %d\n", pick("up down"), rand() * 200, rand() * 60
            else if (x < 0.97) { print "key g"; print "type " pick("0 ffffffffffffffff 7f3a40001000 1ms 9s x"); print "key Enter" }
            else if (x < 0.98) { print "key /"; print "type " pick("e render zzz"); print "key Enter" }
            else if (x < 0.99) { print "key f Ctrl-U"; print "type " pick("leaked x all live"); print "key Enter Esc Esc" }
            else { print "key :"; print "type filter all | where size > " int(rand() * 5000); print "key Enter" }
            if (rand() < 0.2) print "dump"
        }
    }'
}

failed=0
for seed in 1 2 3; do
    events $seed 400 >"$work/script"
    if ! "$MPROF_BUILD/bin/mprof-tui" --script "$work/script" "$work/session.db" >"$work/out" 2>"$work/err"; then
        echo "seed $seed: the browser failed"
        cat "$work/err"
        failed=1
    fi
    # Columns are the bytes that do not continue a character: the session has no wide glyphs.
    LC_ALL=C awk -v seed="$seed" '
        function check() { if (wanted && rows != wanted) { print "seed " seed ": screen " n " has " rows " rows, not " wanted; bad = 1 } }
        /^== [0-9]+x[0-9]+ ==$/ { check(); n++; split($2, size, "x"); wanted = size[2]; width = size[1]; rows = 0; next }
        { rows++; line = $0; gsub(/[\200-\277]/, "", line)
          if (length(line) > width) { print "seed " seed ": screen " n " is wider than " width ": " $0; bad = 1 } }
        END { check(); exit bad || n < 20 }' "$work/out" || failed=1
done
exit $failed
