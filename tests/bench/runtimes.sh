#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The cost of an event of Python: processor time of a loop that makes and frees blocks below 27 functions,
# for each malloc and free, over that of the same loop unrecorded. tracemalloc is the peer. The least of
# five interleaved runs counts. Then the cost of ECL, as slowdown.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/loop.py" <<'PY'
import itertools
import sys
import time

COUNT = 300000


def work():
    before = time.process_time_ns()
    for _ in itertools.repeat(None, COUNT):
        object()  # one block, which is freed at once
    return time.process_time_ns() - before


def deep(level):
    return work() if level == 1 else deep(level - 1)


print(deep(int(sys.argv[1])) / (2 * COUNT))
PY
run=("$MPROF_BUILD/bin/mprof-run" --quiet --force -o "$work/trace.bin")
names=('python3' 'mprof-run' 'mprof-run --python' 'tracemalloc, 1 frame' 'tracemalloc, 27 frames')
loop() { # NUMBER
    case $1 in
    0) python3 "$work/loop.py" 25 ;;
    1) "${run[@]}" -- python3 "$work/loop.py" 25 ;;
    2) "${run[@]}" --python -- python3 "$work/loop.py" 25 ;;
    3) python3 -X tracemalloc=1 "$work/loop.py" 25 ;;
    4) python3 -X tracemalloc=27 "$work/loop.py" 25 ;;
    esac
}
export PYTHONMALLOC=malloc PATH=/usr/bin:$PATH
least=()
for _ in 1 2 3 4 5; do
    for i in "${!names[@]}"; do
        least[i]=$(printf '%s\n' "$(loop "$i")" ${least[i]:-} | sort -g | head -n 1)
    done
done
printf '%-24s %10s %10s\n' 'an event of Python' 'ns' 'more'
for i in "${!names[@]}"; do
    printf '%-24s %10.0f %10.0f\n' "${names[i]}" "${least[i]}" "$(jq -n "${least[i]} - ${least[0]}")"
done

# ECL: processor time of whole processes. One makes nothing but small objects, the other is a compiler
# in Lisp, which also computes.
command -v ecl >/dev/null && [ -e "$MPROF_BUILD/lib/libmprof_ecl.so" ] || exit 0
cd "$work"
cat >small.lisp <<'LISP'
(defun chain (n)
  (let ((list '()))
    (dotimes (i n (length list))
      (push (list i (* i 1d0)) list))))
(defun run (times)
  (dotimes (i times) (chain 10000)))
LISP
cp "$MPROF_SOURCE"/tests/programs/lisp/compile*.lisp "$MPROF_SOURCE/tests/programs/lisp/programs.scm" .
for name in small compiler; do
    ecl --norc --eval "(progn (compile-file \"$name.lisp\") (ext:quit 0))" >compiled.txt 2>&1
done
small=(ecl --norc --eval '(progn (load "small.fas") (run 200) (ext:quit 0))')
compiler=(ecl --norc --shell compile_programs.lisp compiler.fas programs.scm 100)
names=('ecl' 'mprof-run --ecl --sample=512K' 'mprof-run --ecl --sample=64K' 'mprof-run --ecl --unwind=off' 'mprof-run --ecl')
seconds() { # COMMAND…
    local TIMEFORMAT='%U %S'
    { time "$@" >output.txt 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}
recorded() { # NUMBER COMMAND…
    local number=$1
    shift
    case $number in
    0) seconds "$@" ;;
    1) seconds "${run[@]}" --ecl --sample=512K -- "$@" ;;
    2) seconds "${run[@]}" --ecl --sample=64K -- "$@" ;;
    3) seconds "${run[@]}" --ecl --unwind=off -- "$@" ;;
    4) seconds "${run[@]}" --ecl -- "$@" ;;
    esac
}
compare() { # TITLE COMMAND…
    local title=$1 least=() i
    shift
    for _ in 1 2 3 4 5 6 7; do
        for i in "${!names[@]}"; do
            least[i]=$(printf '%s\n' "$(recorded "$i" "$@")" ${least[i]:-} | sort -g | head -n 1)
        done
    done
    printf '\n%-32s %8s %8s\n' "$title" s times
    for i in "${!names[@]}"; do
        printf '%-32s %8.2f %8.2f\n' "${names[i]}" "${least[i]}" "$(jq -n "${least[i]} / ${least[0]}")"
    done
}
compare 'ECL, 8 million small objects' "${small[@]}"
compare 'ECL, a compiler in Lisp' "${compiler[@]}"
