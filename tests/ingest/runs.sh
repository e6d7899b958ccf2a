#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A run is one recording. The trace of a wrapper brings the traces of all its processes with it. The
# session knows which process started and executed which, and selects the one that allocated most.
set -u
run=$MPROF_BUILD/bin/mprof-run ingest=$MPROF_BUILD/bin/mprof-ingest
rm -rf run.work && mkdir run.work && cd run.work || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }
ask() { sqlite3 "$1" "$2"; }
# is SESSION WHAT SQL ANSWER
is() {
    local answer
    answer=$(ask "$1" "$3" | tr '\n' ' ')
    [ "$answer" = "$4 " ] || complain "$2: $answer, not $4"
}
selected="SELECT program FROM v_process WHERE selected"

cat >eater.c <<'C'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    int blocks = argc > 1 ? atoi(argv[1]) : 100;
    char *kept = NULL;
    for (int i = 0; i < blocks; i++) {
        kept = malloc(1000);
        if (kept && i % 2 == 0)
            free(kept);
    }
    if (argc > 2 && strcmp(argv[2], "killed") == 0)
        raise(SIGKILL);
    return kept == NULL;
}
C
gcc -g -O0 -fno-builtin -o eater eater.c || exit 1

# Wrappers like those of pyenv and nvm: a script that env starts, which looks around and executes.
cat >wrapper <<'SH'
#!/usr/bin/env sh
here=$(dirname "$(readlink -f "$0")")
exec /usr/bin/env "$here/eater" 20000
SH
chmod +x wrapper
"$run" -o wrapped.bin ./wrapper 2>said.txt || complain "the wrapper failed"
[ "$(wc -l <said.txt)" = 1 ] || complain "more than one line: $(cat said.txt)"
grep -qE 'wrapped\.bin and \.d: [0-9]+ processes that ran [0-9]+ programs, [0-9.]+ MiB' said.txt || complain "not said what the run holds: $(cat said.txt)"
[ "$(ls -d wrapped*)" = "$(printf 'wrapped.bin\nwrapped.bin.d')" ] || complain "files of a run: $(ls -d wrapped*)"
"$ingest" wrapped.bin >out.txt || complain "a run: $(cat out.txt)"
is wrapped.db "the selected one" "$selected" "$PWD/eater"
grep -q "^program      $PWD/eater, " out.txt || complain "the summary is not of the selected one: $(cat out.txt)"
grep -qE '^ +> [0-9]+ env → sh → env → eater +[0-9]+ allocations' out.txt || complain "no chain of programs: $(cat out.txt)"
grep -qE '^allocations  20,0[0-9]{2}, ' out.txt || complain "other sums than the selected one's: $(cat out.txt)"
is wrapped.db "the chain" "WITH RECURSIVE c(id) AS (SELECT process_id FROM v_process WHERE selected UNION ALL
    SELECT executed_from FROM v_process JOIN c ON process_id = c.id WHERE executed_from IS NOT NULL)
    SELECT group_concat(replace(program, rtrim(program, replace(program, '/', '')), ''), ' ') FROM c JOIN process USING (id)" "eater env sh env"
is wrapped.db "who started the helpers" "SELECT count(*) >= 1, min(p.program = 'sh') FROM v_process c
    JOIN v_process p ON p.process_id = c.parent_id WHERE c.executed_from IS NULL" "1|1"
is wrapped.db "processes" "SELECT count(DISTINCT pid) = (SELECT count(*) FROM v_process WHERE executed_from IS NULL) FROM process" 1

# The browser opens on the selected process: title, numbers, peak and time are its own.
screen() { # ARGUMENTS…
    LC_ALL=C.UTF-8 "$MPROF_BUILD/bin/mprof-tui" --script keys --size 120x40 "$@" >screen.txt 2>&1 || complain "mprof-tui $*: $(cat screen.txt)"
}
shows() { grep -qF -- "$1" screen.txt || complain "$2: no \"$1\" in: $(head -12 screen.txt)"; }
number() { ask wrapped.db "SELECT printf('%,d', $1) FROM process WHERE $2"; }
echo dump >keys
eater=$(number allocations "program LIKE '%/eater'")
readlink=$(number 'max(allocations)' "program = 'readlink'") all=$(number 'sum(allocations)' 1)
screen wrapped.db
shows ' eater · 1 of ' "the title"
shows "$eater of $eater allocations" "the numbers"
shows "peak $(ask wrapped.db "SELECT printf('%.2f', peak_bytes / 1048576.0) FROM v_process WHERE selected") MiB" "the peak"
shows "1 thread" "threads"
screen --process readlink wrapped.db
shows ' readlink · 1 of ' "--process"
shows "$readlink of $readlink allocations" "--process"
screen --process all wrapped.db
shows "$all of $all allocations" "all"
# A filter that names processes applies to all of them.
screen --filter 'process readlink' wrapped.db
shows "$readlink of $all allocations" "a filter by process"
printf 'key :\ntype process readlink\nkey Enter\ndump\n' >keys
screen wrapped.db
shows "$readlink of $readlink allocations" ":process"
for view in timeline grid functions; do
    printf 'key :\ntype process readlink\nkey Enter\ndump\nkey :\ntype process all\nkey Enter\ndump\n' >keys
    screen --view $view wrapped.db
    shows "$readlink of $readlink allocations" ":process in $view"
    shows "$all of $all allocations" ":process all in $view"
done
LC_ALL=C "$MPROF_BUILD/bin/mprof-tui" --script keys --process nobody wrapped.db 2>err.txt
[ $? -eq 2 ] && grep -q 'no process of the session is called "nobody"' err.txt || complain "--process nobody: $(cat err.txt)"

# Another one is selected by its name or by its number, and also all of them.
pid=$(ask wrapped.db "SELECT pid FROM process WHERE program = 'readlink'")
for which in readlink "$pid.2"; do
    "$ingest" -q --force --process "$which" wrapped.bin || complain "--process $which"
    is wrapped.db "--process $which" "$selected" readlink
done
"$ingest" --force --process env wrapped.bin >out.txt || complain "--process env"
grep -q 'which allocated most of 2;' out.txt || complain "two are called env: $(grep selected out.txt)"
"$ingest" --force --process all wrapped.bin >out.txt || complain "--process all"
is wrapped.db "all of them" "SELECT count(*) FROM v_process WHERE selected" 0
grep -q "^allocations  $(ask wrapped.db "SELECT printf('%,d', sum(allocations)) FROM process")," out.txt || complain "no sum: $(cat out.txt)"
cp wrapped.db before.db
"$ingest" -q --force --process nobody wrapped.bin 2>err.txt
[ $? -eq 2 ] && grep -q 'no process of the session is called "nobody"' err.txt && cmp -s wrapped.db before.db || complain "--process nobody: $(cat err.txt)"

# A trace that is named twice comes once, and a session has no process twice.
"$ingest" -q -o twice.db wrapped.bin wrapped.bin.d wrapped.bin.d/* || complain "named twice"
[ "$(ask twice.db 'SELECT count(*) FROM process')" = "$(ask wrapped.db 'SELECT count(*) FROM process')" ] || complain "named twice: it is there twice"

# A shell script is a run too. A process that is killed in it is there with what it had.
"$run" -q -o killed.bin sh -c './eater 300 killed; ./eater 200; ./eater 50' 2>/dev/null
"$ingest" -q killed.bin || complain "with one that was killed"
is killed.db "the killed one is selected" "SELECT argv, ending LIKE 'killed%' FROM v_process WHERE selected" "./eater 300 killed|1"
is killed.db "all three" "SELECT argv FROM process WHERE program = './eater' ORDER BY id" "./eater 300 killed ./eater 200 ./eater 50"

# One program that executes itself again and again under one number.
cat >again.sh <<'SH'
[ "$1" -gt 0 ] || exec ./eater 1000
exec sh again.sh $(($1 - 1))
SH
"$run" -q -o again.bin sh again.sh 4 || complain "again"
"$ingest" -q again.bin || complain "a chain"
is again.db "one process, six programs" "SELECT count(DISTINCT pid), count(*), max(place), count(executed_from) FROM v_process" "1|6|6|5"
is again.db "the last one is selected" "SELECT place FROM v_process WHERE selected" 6

# Deleted files of a run are reported as missing, and the rest is a session.
mkdir part && cp -r again.bin again.bin.d part && rm part/again.bin part/again.bin.d/*.3
"$ingest" part/again.bin >out.txt 2>err.txt || complain "a run without its first trace: $(cat err.txt)"
grep -q '^problems .*1 traces left out' out.txt || complain "missing, problems: $(cat out.txt)"
is part/again.db "the missing one is a problem" "SELECT kind FROM problem WHERE detail LIKE '%again.bin: there is no such trace:%'" "trace left out"
grep -q 'left out: part/again.bin: there is no such trace' err.txt || complain "missing in silence: $(cat err.txt)"
is part/again.db "the rest" "SELECT count(*) FROM process" 4
printf 'no trace' >part/again.bin.d/"$(basename part/again.bin.d/*.2)"
"$ingest" -q --force part/again.bin 2>err.txt || complain "a run with a damaged trace"
[ "$(grep -c 'left out' err.txt)" = 2 ] || complain "damaged in silence: $(cat err.txt)"
rm -r part/again.bin.d
"$ingest" -q --force part/again.bin 2>err.txt && complain "a session of nothing"

# A program whose heap is in mappings of its own is selected by its resident set.
cat >mapped.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
    const size_t size = (size_t)64 << 20;
    char *heap = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(heap, 1, size);
    for (int i = 0; i < 300; i++) {
        char *block = malloc(10);
        block[0] = heap[i];
        free(block);
        usleep(1000);
    }
    return 0;
}
C
gcc -O1 -fno-builtin -o mapped mapped.c || exit 1
"$run" -q -o mapped.bin sh -c 'ls -lR /usr/include/linux >ls.txt; ./mapped; true' || complain "mapped"
"$ingest" mapped.bin >out.txt || complain "mapped"
grep -q '^selected .*mapped.*, which used most of 3;' out.txt || complain "a heap in mappings: $(grep selected out.txt)"

# So is one of two programs with one name, by all that take a name.
mkdir twin && cp "$(command -v ls)" twin/mapped
"$run" -q -f -o mapped.bin sh -c 'twin/mapped -lR /usr/include/linux >ls.txt; ./mapped; true' || complain "twins"
"$ingest" -f --process mapped mapped.bin >out.txt || complain "twins"
grep -q '^selected .*mapped.*most of 2;' out.txt || complain "twins: $(grep selected out.txt)"
"$MPROF_BUILD/bin/mprof-export" -f csv --process mapped mapped.db >mapped.csv || complain "twins"
[ "$(grep -c ,10, mapped.csv)" -ge 300 ] && [ "$(wc -l <mapped.csv)" -lt 400 ] || complain "a name: $(wc -l <mapped.csv) blocks"

# Programs that write titles over their arguments are known by the arguments they were started with.
gcc -O1 -fno-builtin -o titles "$MPROF_SOURCE/tests/programs/titles.c" || exit 1
"$run" -q -o titles.bin ./titles one two || complain "titles"
"$ingest" -q titles.bin || complain "titles"
is titles.db "titles" "SELECT program, argv, executable = '$PWD/titles' FROM process" "./titles|./titles one two|1 ./titles|./titles one two|1"

# A program that runs without the recorder is named by all: mprof-run, the summary, the session, the browser.
cp "$MPROF_BUILD/tests/own_malloc" owner
"$run" -o owner.bin sh -c './owner; ls >/dev/null' 2>said.txt || complain "owner"
grep -q 'not recorded: .*owner: it has its own allocator' said.txt || complain "mprof-run said of owner: $(cat said.txt)"
"$ingest" owner.bin >out.txt || complain "owner"
grep -q 'not recorded: ./owner: it has its own allocator' out.txt || complain "the summary of owner: $(cat out.txt)"
is owner.db "owner" "SELECT detail FROM problem WHERE kind = 'program not recorded'" './owner: it has its own allocator'
echo dump | "$MPROF_BUILD/bin/mprof-tui" --script=- --size=120x20 owner.db | grep -q '! not recorded: ./owner: it has' ||
    complain "the overview does not name owner"

# One process alone is as it was.
"$run" -o alone.bin ./eater 2>said.txt || complain "alone"
grep -q "recorded $PWD/alone.bin; mprof-ingest makes a session of it\$" said.txt || complain "said of one process: $(cat said.txt)"
"$ingest" alone.bin >out.txt || complain "alone"
[ "$(ls -d alone*)" = "$(printf 'alone.bin\nalone.db')" ] || complain "files of one process: $(ls -d alone*)"
grep -qE '^(run|selected) ' out.txt && complain "a run of one process: $(cat out.txt)"
exit $failed
