#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# --suppressions: blocks from stacks that a pattern names are live at the end and no leaks, in
# v_leak, in the filter `leaked` and in the browser's finding. The session and the summary tell
# which patterns hit. The patterns mean the same as in LeakSanitizer, which the test asks where it
# runs.
set -u
run=$MPROF_BUILD/bin/mprof-run ingest=$MPROF_BUILD/bin/mprof-ingest
rm -rf suppressions && mkdir suppressions && cd suppressions || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }
same() { [ "$2" = "$3" ] || complain "$1: '$2', not '$3'"; }

# wrap() makes all requests, so suppressed and other blocks have the same call site.
cat >plugin.c <<'C'
#include <stdlib.h>
void plugin_keep(void);
void plugin_keep(void) { ((char *volatile *)malloc(3000))[0] = NULL; }
C
cat >third_party.c <<'C'
void *wrap(unsigned long);
void third(void);
void third(void) { wrap(500); wrap(600); }
C
cat >main.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
void plugin_keep(void), third(void);
__attribute__((noinline)) void *wrap(unsigned long size)
{
    return memset(malloc(size), 0, size);
}
__attribute__((noinline)) static void known_once(void) { *(volatile char *)wrap(100) = 1; }
__attribute__((noinline)) static void known_twice(void) { *(volatile char *)wrap(200) = 1; }
__attribute__((noinline)) static void real_leak(void) { *(volatile char *)wrap(40) = 1; }
/* Wipes what registers and the stack still hold of the blocks. */
__attribute__((noinline)) static void forget(void)
{
    volatile char stack[8192];
    for (unsigned i = 0; i < sizeof stack; i++)
        stack[i] = 0;
}
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        if (fork() == 0) {
            known_once();
            real_leak();
            exit(0);
        }
        wait(NULL);
    }
    known_once();
    for (int i = 0; i < 2; i++)
        known_twice();
    real_leak();
    third();
    plugin_keep();
    forget();
    return 0;
}
C
build() { # FOLDER FLAGS...
    mkdir -p "$1"
    gcc -O0 -g "${@:2}" -shared -fPIC -o "$1/libplugin.so" plugin.c &&
        gcc -O0 -g "${@:2}" -o "$1/program" main.c third_party.c -L"$1" -lplugin -Wl,-rpath,"$PWD/$1" ||
        exit 1
}
build plain
"$run" --quiet -o one.bin -- ./plain/program || complain "recording"

suppress() { # SESSION: ingests one.bin with the patterns of standard input, without comment
    printf 'leak:%s\n' "${@:2}" >patterns
    "$ingest" --force --suppressions=patterns -o "$1" one.bin >summary 2>notes ||
        complain "ingest with: ${*:2}: $(cat notes)"
    [ ! -s notes ] || complain "notes with: ${*:2}: $(cat notes)"
    "$MPROF_BUILD/tests/check_session" "$1" || complain "check_session with: ${*:2}"
}
leaks() { # SESSION
    sqlite3 "$1" "SELECT live_bytes FROM v_leak ORDER BY 1" | tr '\n' ' '
}

# The blocks that each pattern leaves: once 100, twice 400, real 40, third 500 and 600, plugin 3000.
pattern() { # LEFT PATTERN...
    suppress pattern.db "${@:2}"
    same "left by ${*:2}" "$(leaks pattern.db)" "$1"
}
all='40 100 400 500 600 3000 '
pattern "$all" nothing_of_that_name
pattern '40 500 600 3000 ' known
pattern '40 500 600 3000 ' '^known_*e$'
pattern '40 100 500 600 3000 ' 'n*_tw*ce$'
pattern "$all" '^nown_' '^known$' 'once$x'
pattern '40 100 400 3000 ' third_party.c
pattern '40 100 400 500 600 ' libplugin.so
pattern '40 100 400 500 600 ' '*/libplugin.so$'
pattern "$all" '^libplugin.so'
pattern '3000 ' '^wrap$'
pattern '' '*'
pattern '40 500 600 3000 ' once twice

# The session and the summary tell which patterns hit. Blocks are still live.
cat >comments <<'FILE'
# from the test suite
   leak:known_twice  

leak:third_party.c
race:known_once
leak:never_there
FILE
printf 'leak:libplugin\r\n' >>comments
"$ingest" --suppressions=comments -o said.db one.bin >summary 2>notes || complain "comments: $(cat notes)"
same "hits" "$(sqlite3 said.db 'SELECT * FROM v_suppression ORDER BY pattern' | tr '\n' ' ')" \
    'known_twice|1|2|400 libplugin|1|1|3000 third_party.c|2|2|1100 '
same "v_runtime" "$(sqlite3 said.db "SELECT total(live_bytes) FROM v_runtime WHERE kind = 'suppressed'")" 4500.0
same "live" "$(sqlite3 said.db "SELECT sum(live_bytes) FROM stack WHERE live_bytes > 0")" 4640
same "patterns" "$(sqlite3 said.db "SELECT value FROM meta WHERE key = 'suppressions'")" 4
grep -q '^suppressed   2.9 KiB (3,000 bytes) in 1 block by leak:libplugin$' summary || complain "summary: $(cat summary)"
grep -q '^             400 bytes in 2 blocks by leak:known_twice$' summary || complain "summary: $(cat summary)"
same "notes" "$(cat notes)" "mprof-ingest: comments:5: 'race:' names no leaks: ignored"
before=$(leaks said.db)
"$ingest" --quiet --rebuild said.db || complain "rebuild"
same "rebuilt" "$(leaks said.db)" "$before"

# The browser's finding, if leaks and suppressed blocks have the same call site.
finding() { # SESSION
    echo dump >keys
    "$MPROF_BUILD/bin/mprof-tui" --script keys --size 160x50 --view overview "$1"
}
finding said.db >found
grep -q '140 B leaked in 2' found || complain "finding: $(cat found)"
suppress all.db '*'
finding all.db | grep -q 'nothing leaked: suppressions' || complain "finding of all: $(finding all.db)"

# A bad line, and a file that is not there: the place, status 1, no session.
bad() { # WHAT FILE
    local status=0
    "$ingest" --suppressions="$2" -o bad.db one.bin >out 2>err || status=$?
    same "status of $2" "$status" 1
    grep -q -- "$1" err || complain "$2: $(cat err)"
    [ ! -e bad.db ] || complain "$2: a session is there"
}
printf 'leak:good\n\nknown_once\n' >no_kind && bad 'no_kind:3: ' no_kind
printf 'leak:\n' >empty && bad 'empty:1: ' empty
printf 'leak:a\nleak:b\0c\n' >zero && bad 'zero:2: ' zero
printf '\033]0;x\007\n' >escape && bad 'escape:1: .*\\x1b' escape
yes leak:x | head -c 100000 | tr -d '\n' >long && bad 'long:1: the line is longer than 64 KiB' long
(ulimit -v 1000000 && bad 'zero:1: a zero byte' /dev/zero && [ $failed = 0 ]) || complain 'a device'
bad 'cannot be read' not_there
bad 'cannot be read' .
"$ingest" --suppressions=comments --rebuild said.db 2>/dev/null
same "with --rebuild" $? 2

# Patterns are compared with names before these are redacted, and are redacted themselves.
printf 'leak:%s/plugin.c$\n' "$PWD" >patterns
"$ingest" --quiet --redact=/nowhere --suppressions=patterns -o redacted.db one.bin || complain "redacted"
same "hits where redacted" "$(sqlite3 redacted.db 'SELECT * FROM v_suppression')" 'plugin.c$|1|1|3000'

# All processes of a run.
"$run" --quiet -o two.bin -- ./plain/program fork || complain "recording two"
"$ingest" --process=all --suppressions=comments -o two.db two.bin >summary 2>notes || complain "two: $(cat notes)"
same "of two" "$(leaks two.db)" '40 40 100 100 '
same "hits of two" "$(sqlite3 two.db "SELECT sum(live_bytes) FROM v_suppression")" 4500
printf 'leak:known_once\n' >patterns
"$ingest" --force --process=all --suppressions=patterns -o two.db two.bin >/dev/null || complain "two again"
same "of both" "$(sqlite3 two.db 'SELECT * FROM v_suppression')" 'known_once|2|2|200'

# LeakSanitizer counts the same with the same file.
grep -v race comments >for_lsan
if gcc -fsanitize=leak -x c -o try - <<<'int main(void) { return 0; }' 2>/dev/null && ./try 2>/dev/null; then
    build checked -fsanitize=leak
    LSAN_OPTIONS=suppressions=for_lsan ./checked/program 2>lsan
    same "LeakSanitizer's hits" \
        "$(sed -n '/Suppressions used/,$p' lsan | awk '$1 ~ /^[0-9]+$/ {print $3 "|" $1 "|" $2}' | sort | tr '\n' ' ')" \
        "$(sqlite3 said.db 'SELECT pattern, live_count, live_bytes FROM v_suppression ORDER BY 1' | tr '\n' ' ')"
else
    echo "(LeakSanitizer does not run here: not compared)"
fi
[ $failed -eq 0 ] && echo "suppressions hold"
exit $failed
