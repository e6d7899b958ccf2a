#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# --suppressions=program: blocks that the program's own __lsan_default_suppressions lists are no
# leaks, but only if mprof-run was asked for it. The function runs in a process of its own, so the
# program stays as it was, no matter what the function does. One line tells and counts what is
# missing. LeakSanitizer, where it runs, hits the same blocks.
set -u
run=$MPROF_BUILD/bin/mprof-run ingest=$MPROF_BUILD/bin/mprof-ingest
rm -rf program_suppressions && mkdir program_suppressions && cd program_suppressions || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }
same() { [ "$2" = "$3" ] || complain "$1: '$2', not '$3'"; }

cat >function.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern int asked;
int asked;
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    char *text = malloc(200000);
    asked++;
    if (getenv("CRASH"))
        abort();
    if (getenv("SPIN"))
        for (;;)
            pause();
    strcpy(text, "# of the program\nleak:known_once\n  leak:^known_twice$\r\nleak:nobody");
    if (getenv("LINES"))
        strcat(text, "\nrace:known_once\nrubbish\nleak:\n");
    if (getenv("LONG")) {
        strcat(text, "\n");
        memset(text + strlen(text), '#', 70000);
    }
    if (getenv("PIECES")) {
        memset(text, '#', 5000);
        strcpy(text + 5000, "\nleak:known_once");
    }
    return text;
}
C
cat >main.c <<'C'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern int asked;
static volatile int children;
static void child_ended(int number) { children += number != 0; }
__attribute__((noinline)) static void known_once(void) { *(volatile char *)malloc(100) = 1; }
__attribute__((noinline)) static void known_twice(void) { *(volatile char *)malloc(200) = 1; }
__attribute__((noinline)) static void real_leak(void) { *(volatile char *)malloc(40) = 1; }
__attribute__((noinline)) static void forget(void)
{
    volatile char stack[8192];
    for (unsigned i = 0; i < sizeof stack; i++)
        stack[i] = 0;
}
int main(int argc, char **argv)
{
    signal(SIGCHLD, child_ended);
    if (wait(NULL) > 0 || children || (asked && !getenv("SANITIZED"))) {
        puts("the program has seen it");
        return 1;
    }
    known_once();
    for (int i = 0; i < 2; i++)
        known_twice();
    real_leak();
    forget();
    if (argc > 1 && fork() == 0) {
        known_once();
        forget();
        execl(argv[1], argv[1], (char *)NULL);
    }
    if (argc > 1)
        wait(NULL);
    return 0;
}
C
cat >other.c <<'C'
#include <stdlib.h>
__attribute__((noinline)) static void known_once(void) { *(volatile char *)malloc(300) = 1; }
int main(void) { known_once(); return 0; }
C
build() { # NAME FLAGS...
    gcc -O0 -g -o "$1" main.c "${@:2}" || exit 1
}
gcc -O0 -shared -fPIC -o libfunction.so function.c || exit 1
build executable function.c
build exported -rdynamic function.c
cp exported stripped && strip stripped
build hidden -fvisibility=hidden function.c
build linked -L. -lfunction -Wl,-rpath,"$PWD"
gcc -O0 -g -o other other.c || exit 1

record() { # NAME PROGRAM [OPTION...]: the program's status and output are its own
    "$run" --quiet --force "${@:3}" -o "$1.bin" -- "./$2" >"$1.out" 2>&1 || complain "$1: status $?"
    [ ! -s "$1.out" ] || complain "$1: $(cat "$1.out")"
}
session() { # NAME OPTION...
    "$ingest" --force "${@:2}" -o "$1.db" "$1.bin" >"$1.summary" 2>"$1.notes" || complain "$1: $(cat "$1.notes")"
    [ ! -s "$1.notes" ] || complain "$1: notes: $(cat "$1.notes")"
    "$MPROF_BUILD/tests/check_session" "$1.db" || complain "check_session $1"
}
leaks() { sqlite3 "$1.db" "SELECT live_bytes FROM v_leak ORDER BY 1" | tr '\n' ' '; }
fact() { sqlite3 "$1.db" "SELECT value FROM meta WHERE key = '$2'"; }

for program in executable exported stripped hidden linked; do
    record $program $program --suppressions
    session $program --suppressions=program
    want='40 '
    [ $program = stripped ] && want='40 100 400 ' # its own functions have no names
    same "leaks of $program" "$(leaks $program)" "$want"
    same "patterns of $program" "$(fact $program suppressions)/$(fact $program lost_suppressions)" 3/0
done
same "hits" "$(sqlite3 executable.db 'SELECT pattern, live_count, live_bytes FROM v_suppression ORDER BY 1' | tr '\n' ' ')" \
    '^known_twice$|2|400 known_once|1|100 '

# Only on request, of both programs; and together with a file, whose patterns come first.
session executable
same "without the option" "$(leaks executable)" '40 100 400 '
same "nothing said" "$(fact executable suppressions)$(fact executable lost_suppressions)" ''
printf 'leak:real\nleak:once\n' >file
session executable --suppressions=program --suppressions=file
same "with a file" "$(leaks executable)/$(fact executable suppressions)" '/5'
same "the file first" "$(sqlite3 executable.db "SELECT live_bytes FROM v_suppression WHERE pattern = 'once'")" 100
printf 'leak:real\n' >program
session executable --suppressions=./program
same "a file of that name" "$(leaks executable)" '100 400 '
record unasked executable
session unasked --suppressions=program
same "unasked" "$(leaks unasked)/$(fact unasked lost_suppressions)" '40 100 400 /1'
grep -q 'lost suppressions: the trace has none of the program.s: record it with mprof-run --suppressions' unasked.summary ||
    complain "unasked: $(cat unasked.summary)"
record other other --suppressions
session other --suppressions=program
same "a program without" "$(leaks other)/$(fact other lost_suppressions)" '300 /0'

# The function may do all this.
lost() { # VARIABLE LOST LEAKS SAID
    export "$1=1"
    record "$1" executable --suppressions
    unset "$1"
    session "$1" --suppressions=program
    same "leaks with $1" "$(leaks "$1")" "$3"
    same "lost with $1" "$(fact "$1" lost_suppressions)" "$2"
    same "problems with $1" "$(sqlite3 "$1.db" "SELECT count(*) FROM problem WHERE kind = 'lost suppressions'")" "$2"
    same "lines of $1" "$(grep -c 'lost suppressions: ' "$1.summary")" "$(($2 > 0))"
    [ "$2" = 0 ] || grep -q "lost suppressions: .*$4" "$1.summary" || complain "$1: $(cat "$1.summary")"
}
lost CRASH 1 '40 100 400 ' 'ended the process'
lost SPIN 1 '40 100 400 ' 'did not return'
lost LINES 3 '40 ' "line 5 of the program's names no leaks: 'race:known_once'"
lost LONG 1 '40 ' 'too long'
lost PIECES 0 '40 400 '
[ ! -e core ] || complain "a core"

# In a static-pie program with libmprof.a no header tells where the program lies.
# The options to link with are those of the page.
wrap=-Wl$(grep -o -- '--wrap=[A-Za-z_]*' "$MPROF_SOURCE/docs/other-allocators.md" | sed 's/^/,/' | tr -d '\n')
if gcc -static-pie -x c -o try - <<<'int main(void) { return 0; }' 2>linker && ./try; then
    build static_pie -fno-builtin -fPIE -static-pie function.c "$MPROF_BUILD/lib/libmprof.a" "$wrap" -Wl,--eh-frame-hdr
    MPROF_OPTIONS=suppressions MPROF_OUTPUT=$PWD/static_pie.bin ./static_pie >static_pie.out 2>&1 ||
        complain "static_pie: status $?"
    [ ! -s static_pie.out ] || complain "static_pie: $(cat static_pie.out)"
    session static_pie --suppressions=program
    same "leaks of static-pie" "$(leaks static_pie)" '40 '
    same "patterns of static-pie" "$(fact static_pie suppressions)/$(fact static_pie lost_suppressions)" 3/0
else
    echo "(gcc links no static-pie program here: not tried)"
fi

# A trace that goes on with another has the text, too.
cat >turns.c <<'C'
#include <poll.h>
#include <stdlib.h>
int main(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    while (poll(&input, 1, 1) == 0)
        free(malloc(24)); /* the recorder answers in a heap call */
    return 0;
}
C
gcc -O0 -g -o turns turns.c function.c && mkfifo hold || exit 1
"$run" --quiet --force --suppressions --sample=64 -o turns.bin -- ./turns <hold >turns.out 2>&1 &
exec 9>hold
until "$MPROF_BUILD/bin/mprof-ctl" --quiet --wait=30 turns.bin rotate 2>ctl.out; do
    kill -0 $! 2>/dev/null || { complain "turns: $(cat turns.out ctl.out)"; break; }
    sleep 0.01
done
exec 9>&-
wait $! || complain "turns: status $?"
"$ingest" --force --suppressions=program -o turns.db turns.bin >turns.summary 2>&1 || complain "turns: $(cat turns.summary)"
same "patterns after a rotation" "$(fact turns suppressions)/$(fact turns lost_suppressions)/$(fact turns rotation)" 3/0/2

# The first process of a new namespace must be the program's own child: after the end of the first
# one, no other can be made there.
cat >forks.c <<'C'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
    int status = 1;
    const pid_t child = fork();
    if (child == 0)
        _exit(getpid() == 1 ? 0 : 3);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 2;
    return WEXITSTATUS(status);
}
C
gcc -O0 -g -o forks forks.c function.c || exit 1
if unshare --pid ./forks; then
    timeout 60 "$run" --quiet --force --suppressions -o forks.bin -- unshare --pid ./forks >forks.out 2>&1 ||
        complain "forks: status $?"
    [ ! -s forks.out ] || complain "forks: $(cat forks.out)"
    "$ingest" --force --process=all --suppressions=program -o forks.db forks.bin >forks.summary || complain "ingest of forks"
    grep -q 'lost suppressions: .*could not start a process' forks.summary || complain "forks: $(cat forks.summary)"
else
    echo "(unshare --pid is not permitted here: not tried)"
fi

# A piece whose offset is damaged is lost, and so are the pieces after it.
"$ingest" --dump PIECES.bin | grep -c ' suppressions outcome 0 bytes 5016 offset' | grep -qx 3 || complain "pieces"
python3 - <<'PY' || complain "python"
import re
data = bytearray(open("PIECES.bin", "rb").read())
# total 5016, offset 3800, length 1216: varints
at = data.index(bytes([0x98, 0x27, 0xD8, 0x1D, 0xC0, 0x09]))
data[at + 2] ^= 1
open("damaged.bin", "wb").write(data)
PY
session damaged --suppressions=program
same "damaged" "$(leaks damaged)/$(fact damaged lost_suppressions)" '40 100 400 /1'
grep -q 'lost suppressions: pieces of the program.s text are missing' damaged.summary || complain "damaged: $(cat damaged.summary)"

# In a run each process has its own: the forked child has its parent's, the program it executes has
# none.
"$run" --quiet --force --suppressions -o run.bin -- ./executable "$PWD/other" || complain "run"
"$ingest" --force --process=all --suppressions=program -o run.db run.bin >run.summary || complain "ingest of the run"
same "of the run" "$(leaks run)/$(fact run suppressions)/$(fact run lost_suppressions)" '40 300 /3/0'

# mprof-run --open passes it on.
"$run" --quiet --force --suppressions --open --session=open.db -o open.bin -- ./executable </dev/null >open.out 2>&1 ||
    complain "open: $(cat open.out)"
same "opened" "$(leaks open)" '40 '
"$ingest" --rebuild --suppressions=program open.db 2>/dev/null
same "with --rebuild" $? 2


# LeakSanitizer hits the same blocks with the same function.
if gcc -fsanitize=leak -x c -o try - <<<'int main(void) { return 0; }' 2>/dev/null && ./try 2>/dev/null; then
    build checked -fsanitize=leak function.c
    SANITIZED=1 ./checked >lsan 2>&1
    session executable --suppressions=program
    same "LeakSanitizer's hits" \
        "$(sed -n '/Suppressions used/,$p' lsan | awk '$1 ~ /^[0-9]+$/ {print $3 "|" $1 "|" $2}' | sort | tr '\n' ' ')" \
        "$(sqlite3 executable.db 'SELECT pattern, live_count, live_bytes FROM v_suppression' | sort | tr '\n' ' ')"
else
    echo "(LeakSanitizer does not run here: not compared)"
fi
[ $failed -eq 0 ] && echo "the program's own suppressions hold"
exit $failed
