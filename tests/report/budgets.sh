#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Budgets: verdicts against SQL, messages with their place, exit status, and the XML as xmllint and
# junitxml-to-javascript read it. The example for ctest passes, and fails when its program leaks.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
session=$MPROF_BUILD/tests/readers/sessions/widgets.db
other=$MPROF_BUILD/tests/readers/sessions/shop.db

# check STATUS FILE [OPTIONS…]: checks a file of budgets; verdicts.json and said.txt have the results.
check() {
    local wanted=$1 status=0
    mprof-report --check "$2" --format json --junit verdicts.xml "${@:3}" "$session" >verdicts.json 2>said.txt || status=$?
    [ "$status" = "$wanted" ] || fail "$(cat "$2"): exit status $status, not $wanted: $(cat said.txt)"
}
verdict() { jq -r ".tables.budgets.rows[] | select(.name == \"$1\") | \"\(.verdict) \(.value) \(.limit)\"" "${2:-verdicts.json}"; } # NAME [FILE]
# judged NAME WANTED: the verdict, value and limit of a budget.
judged() { [ "$(verdict "$1")" = "$2" ] || fail "$1: '$(verdict "$1")', not '$2'"; }
# wrong MESSAGE LINE…: a file with these lines is refused with a message that contains this.
wrong() {
    local message=$1
    shift
    printf '%s\n' "$@" >wrong.budgets
    check 2 wrong.budgets
    grep -qF -- "wrong.budgets:$message" said.txt || fail "$*: said '$(cat said.txt)', not 'wrong.budgets:$message'"
}

peak=$(meta "$session" peak_bytes) kept=$(meta "$session" live_count_end) bytes=$(meta "$session" bytes_allocated)
cat >all.budgets <<END
# Comments, also "with quotes
red = all | where stack has make_red_widget;   # behind a definition
blue = all
  | where stack has "make_blue_widget" # in the middle of one
  ;
peak: all | where function ~ "^make" | peak <= $peak
peak too high: all | peak < $peak
"quoted": all | where function != "a#b:c=d|e" | count == 10000  # a comment
sum: red + blue | sum size == $bytes
kept: leaked | count == $kept
leaks: leaked | count == 0
grown: growth start..end > -1K
groups: join size | count == 1
average: all | avg size == 204
none: all | where size > 1G | avg size <= 3
life: all | max lifetime < 1s
lives: all | where stack has make_blue_widget | max lifetime == 0
last: all | max alloc_time <= end
only: count >= 0x2710
END
check 3 all.budgets
judged peak "kept $peak $peak"
judged "peak too high" "exceeded $peak $peak"
judged '\"quoted\"' "kept 10000 10000"
judged sum "kept $bytes $bytes"
judged kept "kept $kept $kept"
judged leaks "exceeded $kept 0"
judged grown "kept $(meta "$session" live_bytes_end) -1024"
judged groups "kept 1 1"
judged average "kept 204 204"
judged none "exceeded null 3"
[ "$(jq -r '[.tables.budgets.rows[] | select(.verdict == "exceeded")] | length' verdicts.json)" = 4 ] || fail "four are exceeded"
# Who holds: the user's function and type, as SQL has them, with the line of the call.
holder=$(jq -r '.tables.holders.rows[] | select(.name == "leaks") | "\(.value) \(.function) \(.type) \(.line) \(.kept)"' verdicts.json)
[ "$holder" = "$kept make_widget widget $(grep -n 'malloc(' "$MPROF_SOURCE/tests/programs/widgets.c" | head -1 | cut -d: -f1) false" ] ||
    fail "who holds the leaks: $holder"

# Doubts: an estimate near its limit, far from it, of nothing; values of recorded blocks; lost events.
sampled=$MPROF_BUILD/tests/readers/sessions/sampled.db
echo 'all: all | sum size >= 0' >sum.budgets
mprof-report --check sum.budgets --format json "$sampled" >sum.json 2>/dev/null || fail "the sum of a sample"
read -r value error < <(jq -r '.tables.budgets.rows[0] | "\(.value) \(.value_error | floor)"' sum.json)
echo 'none: all | count == 0' >none.budgets
mprof-report --check none.budgets --format json "$sampled" >none.json 2>/dev/null
[ "$(jq '[.tables.holders.rows[].value_error] | length > 0 and all(. > 0)' none.json)" = true ] || fail "who holds most has no error: $(cat none.json)"
[ "$error" -gt 0 ] || fail "the sum of a sample has no error"
cat >doubt.budgets <<END
near: all | sum size <= $((value + error))
beyond: all | sum size <= $((value - error))
far: all | sum size <= $((value + 3 * error))
nothing: all | where size > 1G | count == 0
longest: all | max lifetime <= 1000s
END
mprof-report --check doubt.budgets "$sampled" >/dev/null 2>said.txt
[ "$(grep -oE '^mprof-report: [a-z]+: in doubt' said.txt | cut -d' ' -f2 | paste -sd' ')" = "near: beyond: nothing: longest:" ] ||
    fail "doubts of a sample: $(cat said.txt)"
printf 'same: all | sum size <= +0%%\nlonger: all | sum size <= +100%%\n' >base.budgets
mprof-report --check base.budgets --base "$sampled" "$sampled" >/dev/null 2>said.txt || fail "a sample is itself"
[ "$(wc -l <said.txt)" = 1 ] && grep -q '^mprof-report: same: in doubt' said.txt || fail "doubts of two samples: $(cat said.txt)"
mprof-report --check sum.budgets "$session" 2>&1 >/dev/null | grep 'in doubt' && fail "a whole recording is in doubt"
cp "$session" lossy.db
sqlite3 lossy.db "UPDATE meta SET value = 7 WHERE key = 'dropped_events'; UPDATE meta SET value = 'killed or running' WHERE key = 'ending'"
mprof-report --check sum.budgets lossy.db >/dev/null 2>said.txt || fail "the budgets of a lossy session"
grep -q 'lossy.db: in doubt: 7 events were dropped' said.txt && grep -q 'in doubt: the recording has no end' said.txt ||
    fail "doubts of a lossy session: $(cat said.txt)"
sqlite3 lossy.db "UPDATE meta SET value = 0 WHERE key = 'dropped_events'; UPDATE meta SET value = 'stopped' WHERE key = 'ending'"
mprof-report --check sum.budgets lossy.db >/dev/null 2>said.txt || fail "the budgets of a stopped recording"
[ "$(cat said.txt)" = 'mprof-report: lossy.db: in doubt: the recording stopped before the program ended; what was live then need not be leaked' ] ||
    fail "doubts of a stopped recording: $(cat said.txt)"
# Nobody knows the leaks of a stopped recording, also not by way of a graph or of the base.
cat >stopped.budgets <<END
lost = leaked | where size > 1;
direct: leaked | count <= 1000000
named: lost | count == 0
stored: leaks_by_type | count >= 0
live: live | count >= 0
END
status=0
mprof-report --check stopped.budgets --format json --junit stopped.xml lossy.db >stopped.json 2>said.txt || status=$?
[ "$status" = 1 ] || fail "leaks of a stopped recording: exit status $status: $(cat said.txt)"
for name in direct named stored; do [ "$(verdict $name stopped.json)" = 'not judged null null' ] || fail "$name is judged: $(verdict $name stopped.json)"; done
[ "$(verdict live stopped.json | cut -d' ' -f1)" = kept ] || fail "live of a stopped recording"
[ "$(grep -c 'not judged: a recording stopped' said.txt)" = 3 ] || fail "what is not judged: $(cat said.txt)"
[ "$(grep -c '<error type="session"' stopped.xml)" = 3 ] && grep -q 'errors="3"' stopped.xml && xmllint --noout stopped.xml ||
    fail "the XML of what is not judged: $(cat stopped.xml)"
echo 'change: leaked | count <= +5%' >stopped.budgets
status=0
mprof-report --check stopped.budgets --base lossy.db "$session" >stopped.txt 2>said.txt || status=$?
[ "$status" = 1 ] && grep -q 'not judged' stopped.txt || fail "leaks of a stopped base: $status"
echo 'all: live | count < 0' >>stopped.budgets
mprof-report --check stopped.budgets --base lossy.db "$session" >/dev/null 2>&1; [ $? = 3 ] || fail "one is exceeded, one is not judged"
mprof-report leaks lossy.db >stopped.txt || fail "the leaks of a stopped recording"
mprof-report summary lossy.db >>stopped.txt || fail "the summary of a stopped recording"
[ "$(grep -ci 'live when the recording stopped' stopped.txt)" = 6 ] && ! grep -iqE 'leaked|never freed' stopped.txt ||
    fail "leaks of a stopped recording: $(cat stopped.txt)"
mprof-report summary --format json lossy.db | jq -e '(.facts // .) | has("leaked_bytes") | not' >/dev/null ||
    fail "a stopped recording has leaks in JSON"

# The XML, by two readers.
xmllint --noout verdicts.xml || fail "xmllint does not read the verdicts"
[ "$(xmllint --xpath 'count(//testcase)' verdicts.xml) $(xmllint --xpath 'count(//failure)' verdicts.xml)" = "14 4" ] ||
    fail "cases and failures by xmllint"
NODE_PATH=$MPROF_BUILD-npm/node_modules node "$MPROF_SOURCE/tests/report/junit.js" verdicts.xml >junit.json || fail "the reader of npm"
[ "$(jq -r '.testsuites[0] | "\(.tests) \(.succeeded) \(.errors)"' junit.json)" = "14 10 4" ] || fail "cases by npm: $(cat junit.json)"
jq -e '.testsuites[0].testCases[] | select(.name == "leaks") | .result == "failed" and (.message | contains("count is"))' \
    junit.json >/dev/null || fail "the failure by npm: $(cat junit.json)"
[ "$(xmllint --xpath 'string(//testcase[@name="leaks"]/failure)' verdicts.xml | grep -c make_widget)" = 1 ] &&
    ! xmllint --xpath 'string(//failure[1]/@message)' verdicts.xml | grep -q make_widget || fail "the XML says a thing twice"

# Durations as the filter language writes them.
cat >times.budgets <<'END'
half: all | max lifetime != 50%
whole: all | max lifetime != end - start
twice: all | max lifetime != 1s + 2ms
behind: all | max lifetime != end - peak + 100%
END
check 0 times.budgets
run=$(meta "$session" duration_ns) peak_at=$(meta "$session" peak_ns)
for limit in "half $((run / 2))" "whole $run" "twice 1002000000" "behind $((2 * run - peak_at))"; do
    is "$(verdict "${limit% *}" | cut -d' ' -f3)" -eq "${limit#* }" "a limit of time: $limit"
done

# A base: its own sentence, 5 % more, and 0.
printf 'up: all | sum size <= +5%%\ndown: all | sum size <= -0.5%%\n' >percent.budgets
check 3 percent.budgets --base "$session"
judged up "kept $bytes $((bytes * 105 / 100))"
judged down "exceeded $bytes $((bytes * 995 / 1000))"
xmllint --xpath 'string(//testcase[@name="down"]/failure/@message)' verdicts.xml | tr -d , |
    grep -qx "sum size is $bytes bytes the limit is <= -0.5% which is $((bytes * 995 / 1000)) bytes: the base has $bytes bytes" ||
    fail "the limit of a change in XML: $(cat verdicts.xml)"
printf 'zero: all | where function == make_widget | count <= +5%%\nnone: all | where size == 1 | count >= -5%%\n' >zero.budgets
check 3 zero.budgets --base "$other"
judged zero "exceeded 10000 0"
judged none "kept 0 0"

# A change is the session minus its base, by function and type. The sums of all rows are the measure.
cat >changed.budgets <<'END'
bytes: all | sum size <= +0%
blocks: all | count == +0%
END
check 3 changed.budgets --base "$other" || fail "two programs are equal"
for name in bytes blocks; do
    measure=bytes; [ $name = bytes ] || measure=allocations
    mprof-report diff --by user --base "$other" --top all --format json "$session" >diff.json || fail "diff"
    jq -e --arg name $name --arg measure $measure --slurpfile diff diff.json '
        ([.tables.changes.rows[] | select(.name == $name and .unit == $measure)] | length > 0)
        and all(.tables.changes.rows[] | select(.name == $name); .change == .value - .base and .change != 0)
        and ([.tables.changes.rows[] | select(.name == $name and (.kept | not)) | .change] | . == (sort | reverse))' verdicts.json >/dev/null ||
        fail "changes of $name: $(jq -c .tables.changes.rows verdicts.json)"
done
# Every change of a function by itself, where it has one type: as diff has it.
jq -r '.tables.changes.rows[] | select(.name == "bytes" and .kept == false) | "\(.function) \(.value) \(.base)"' verdicts.json |
    sort >changes.txt
[ -s changes.txt ] || fail "nothing changed"
sql_of() { # SESSION FUNCTION TYPE
    sqlite3 "$1" "SELECT coalesce(sum(size), 0) FROM v_allocation WHERE function = '$2' AND coalesce(type, '') = '$3' AND arena_id = 0"
}
while IFS=$'\t' read -r function type value base; do
    [ "$(sql_of "$session" "$function" "$type") $(sql_of "$other" "$function" "$type")" = "$value $base" ] ||
        fail "$function of $type: $value $base, and by SQL $(sql_of "$session" "$function" "$type") $(sql_of "$other" "$function" "$type")"
done < <(jq -r '.tables.changes.rows[] | select(.name == "bytes" and (.function | test("make_|add_"))) |
    [.function, .type // "", .value, .base] | @tsv' verdicts.json)
# A session is its own base: nothing changed, and so nothing is to blame.
echo 'more: all | count > +1%' >own.budgets
check 3 own.budgets --base "$session"
[ "$(jq '.tables.changes.rows | length' verdicts.json)" = 0 ] || fail "a session differs from itself"

# The formats of servers.
for format in github sarif markdown; do
    mprof-report --check changed.budgets --base "$other" --format $format -o out.$format "$session"
    [ $? = 3 ] || fail "$format"
done
[ "$(grep -c '^::error file=[^:,]*,line=[0-9]*,title=mprof%3A budget [a-z]* exceeded::' out.github)" = 2 ] &&
    [ "$(wc -l <out.github)" = 2 ] || fail "annotations: $(cat out.github)"
[ "$(wc -c <out.markdown)" -lt 4000 ] && grep -q '^| \*\*bytes\*\* |' out.markdown || fail "Markdown: $(cat out.markdown)"
readers=$MPROF_BUILD-npm/node_modules
mprof-report --check all.budgets --format sarif -o all.sarif "$session"
printf '\033[31m<&>\xff%%,: all | where size > 0 | count == 0\n' >hostile.budgets
mprof-report --check hostile.budgets --format sarif -o hostile.sarif "$MPROF_BUILD/tests/readers/sessions/hostile.db" 2>/dev/null
mprof-report --check hostile.budgets --format github -o hostile.github "$MPROF_BUILD/tests/readers/sessions/hostile.db" 2>/dev/null
[ "$(wc -l <hostile.github)" = 1 ] && ! grep -q "$(printf '\033')" hostile.github || fail "hostile annotations: $(cat -v hostile.github)"
node "$MPROF_SOURCE/tests/report/sarif.js" "$readers/@microsoft/jest-sarif" out.sarif all.sarif hostile.sarif >schema.txt ||
    fail "SARIF by its schema: $(cat schema.txt)"
jq '.runs[0].results[0].level = "worst"' out.sarif >wrong.sarif
! node "$MPROF_SOURCE/tests/report/sarif.js" "$readers/@microsoft/jest-sarif" wrong.sarif >schema.txt || fail "the schema lets pass what is wrong"
[ "$(jq -r '.runs[0] | "\(.results | length) \(.tool.driver.rules | length)"' all.sarif)" = "4 14" ] || fail "results and rules of SARIF"
jq -e '.runs[0].results[] | select(.ruleId == "leaks").locations[0].physicalLocation |
    .region.startLine > 0 and (.artifactLocation.uri | endswith("widgets.c"))' all.sarif >/dev/null || fail "the place of a result"

# mprof-run --check: the program's own status comes first, then 3.
cat >program.c <<'END'
#include <signal.h>
#include <stdlib.h>
int main(int count, char **values)
{
    char *volatile block = malloc(1000 * (size_t)count);
    int status = count > 1 ? atoi(values[1]) : 0;
    if (!block)
        return 1;
    if (status < 0)
        raise(-status);
    return status;
}
END
gcc -g -O1 -o program program.c
echo 'all: all | sum size <= 1500' >run.budgets
run() { # STATUS WORDS OPTIONS…: runs, and looks for words in what it says
    local wanted=$1 words=$2 status=0
    mprof-run -f -o run.bin --check "${@:3}" >run.txt 2>&1 || status=$?
    [ "$status" = "$wanted" ] && grep -q -- "$words" run.txt || fail "mprof-run --check ${*:3}: $status: $(cat run.txt)"
}
run 0 'kept  *all' run.budgets -- ./program
run 3 'exceeded  *all' run.budgets -- ./program 0
run 7 'failed: run.budgets is not checked' run.budgets -- ./program 7
run 137 'failed: run.budgets is not checked' run.budgets -- ./program -9
run 1 'no.budgets: cannot be read' no.budgets -- ./program
run 1 'no.db: cannot be read' run.budgets --base no.db -- ./program
run 2 'takes one of' run.budgets --format html -- ./program
cp run.db first.db
echo 'all: all | sum size <= +5%' >run.budgets
run 3 ':5' run.budgets --base first.db --format github -- ./program 0 0
run 3 recorded run.budgets --base first.db --verdict run.json --format json --junit run.xml --session own.db -- ./program 0 0
[ "$(jq -r '.tables.changes.rows[] | "\(.change) \(.value) \(.base) \(.function) \(.line)"' run.json)" = '1000 3000 2000 main 5' ] ||
    fail "what changed: $(cat run.json)"
xmllint --noout run.xml && [ -s own.db ] || fail "what a check leaves"
mprof-run --check run.budgets --open -- ./program >/dev/null 2>&1; [ $? = 2 ] || fail "--check with --open"
mprof-run --verdict x -- ./program >/dev/null 2>&1; [ $? = 2 ] || fail "--verdict without --check"

# A history: a line for each run that was checked, medians of the last ones, and their trend.
rm -f history.ndjson
echo 'all: all | sum size <= median(last 3) + 50 %' >median.budgets
history() { # STATUS ARGUMENTS…: a run of so many arguments allocates 1000 bytes for each word
    local wanted=$1 status=0
    shift
    mprof-run -q -f -o run.bin --check median.budgets --history history.ndjson --label "run $*" -- ./program "$@" >run.txt 2>&1 || status=$?
    [ "$status" = "$wanted" ] || fail "a run of the history: $status, not $wanted: $(cat run.txt)"
}
history 0 0
grep -q 'all: not limited yet: the history has no run' run.txt || fail "the first run: $(cat run.txt)"
history 0 0 x
history 3 0 x y
grep -qE '4,000 +3,000 +2,000 +bytes +exceeded' run.txt || fail "the median of two runs: $(cat run.txt)"
history 7 7
history 0 0 x y
[ "$(jq -r '"\(.label) \(.measures[0].value) \(.measures[0].verdict)"' history.ndjson | paste -sd,)" = \
    'run 0 2000 kept,run 0 x 3000 kept,run 0 x y 4000 exceeded,run 0 x y 4000 kept' ] || fail "the history: $(cat history.ndjson)"
mprof-report --check median.budgets --history history.ndjson --format markdown run.db | grep -q 'median' || true
mprof-report trend --format json kept.ndjson >/dev/null 2>&1; [ $? = 1 ] || fail "the trend of nothing"
head -4 history.ndjson >four.ndjson
[ "$(mprof-report trend --format json four.ndjson | jq -c '.tables.trend.rows[] | [.runs, .first, .least, .most, .median, .last, .unit, .trend, .name]')" = \
    '[4,2000,2000,4000,3000,4000,"bytes","▁▄██","all"]' ] || fail "the trend: $(mprof-report trend --format json four.ndjson)"
mprof-report trend four.ndjson | grep -q '▁▄██ *all' || fail "the trend as text"
for i in 1 2 3 4 5 6 7 8; do mprof-report --check median.budgets --history four.ndjson run.db >/dev/null & done
wait
[ "$(jq -s length four.ndjson)" = 12 ] || fail "eight runs at a time: $(cat four.ndjson)"
for damage in 'x\n' '{"measures": 3' '[]\n'; do
    { head -2 history.ndjson; printf "$damage"; } >damaged.ndjson
    cp damaged.ndjson before.ndjson
    mprof-report --check median.budgets --history damaged.ndjson run.db >/dev/null 2>said.txt; [ $? = 1 ] || fail "a damaged history"
    grep -q 'damaged.ndjson:3: this line is not a run' said.txt && cmp -s damaged.ndjson before.ndjson || fail "a damaged history: $(cat said.txt)"
done
mprof-report --check median.budgets run.db >/dev/null 2>said.txt; [ $? = 2 ] && grep -q '1:24: a median needs --history' said.txt ||
    fail "a median without a history: $(cat said.txt)"
wrong '1:16: expected' 'a: all | where x > 1 | count == 0'
wrong '2:17: expected' 'a: all | count == 0' 'b = all | where x;' 'c: b | count > 3'
wrong '1:19: a percentage needs --base' 'a: all | count <= +3%'
wrong '1:22: expected median(last N)' 'a: all | sum size <= median(last 0)'
wrong '1:22: expected a percentage with a sign after the median' 'a: all | sum size <= median(last 3) 5%'
wrong '1:22: expected a size' 'a: all | sum size <= 5x'
wrong '1:22: expected a size' 'a: all | sum size <= 5%'
wrong '1:19: expected a whole number' 'a: all | count <= 5.5'
wrong '1:10: expected a measure' 'a: all | where size > 3'
wrong '1:15: expected == != <' 'a: all | count'
wrong '1:25: expected a duration' 'a: all | max lifetime < end'
wrong '1:25: this duration is below 0' 'a: all | max lifetime < start - end'
wrong '1:18: expected a limit' 'a: all | count <='
wrong '1:1: expected NAME' 'all | count'
wrong '1:1: expected ; at the end' 'x = all'
wrong '1:3: this quote has no second one on its line' 'my"name: all | count == 0'
wrong '2:28: this quote has no second one on its line' 'a: all | count >= 0 # "' 'b: all | where function == "x | count == 0'
wrong '2:1: a second budget' 'a: all | count > 1' 'a: all | count > 2'
wrong '1:29: expected' 'ö: all | where type == "öé" + 1 | count > 1'
wrong ' there is no budget' '# nothing'
check 1 /no/such/file
head -c 2000 /dev/urandom | tr -d '\n' >noise.budgets
check 1 noise.budgets || check 2 noise.budgets
# An error in one sentence leaves the verdicts of the others, and is an error in the XML.
printf 'good: all | count == 10000\nbad: all | wheer | count == 0\n' >half.budgets
check 2 half.budgets
judged good "kept 10000 10000"
judged bad "error null null"
[ "$(xmllint --xpath 'count(//error)' verdicts.xml)" = 1 ] || fail "an error in the XML"
# Hostile names in the file of budgets and in the session.
printf '\033[31m<&>\xff: all | where size > 0 | count == 0\n' >names.budgets
mprof-report --check names.budgets --junit verdicts.xml "$MPROF_BUILD/tests/readers/sessions/hostile.db" >names.txt 2>said.txt
[ $? = 3 ] || fail "hostile names"
xmllint --noout verdicts.xml || fail "hostile names in XML"
! grep -q "$(printf '\033')" names.txt || fail "an escape reaches the terminal"
# A name that nothing has is a warning.
printf 'renamed: all | where function == mak_widget | count == 0\n' >renamed.budgets
check 0 renamed.budgets
grep -q 'did you mean "make_widget"' said.txt || fail "no warning about a name: $(cat said.txt)"
# An output that cannot be written leaves what was there.
echo before >verdicts.xml
echo 'a: all | count > 1' >one.budgets
mprof-report --check one.budgets --junit verdicts.xml "$session" >/dev/full 2>said.txt
[ $? = 1 ] && [ "$(wc -l <said.txt)" = 1 ] && [ "$(cat verdicts.xml)" = before ] || fail "a full disk: $(cat said.txt)"

# The example for ctest.
example=$MPROF_SOURCE/docs/examples/budgets
cmake -S "$example" -B example >cmake.txt && cmake --build example >>cmake.txt || fail "the example is not built: $(cat cmake.txt)"
ctest --test-dir example >ctest.txt || fail "the example fails: $(cat ctest.txt)"
xmllint --noout example/verdicts.xml || fail "its verdicts"
mkdir leaky && cp "$example"/* leaky/
sed -i 's/        free(line);/        if (next) free(line);/' leaky/program.c
cmake -S leaky -B leaky/build >cmake.txt && cmake --build leaky/build >>cmake.txt || fail "the leaky example is not built"
! ctest --test-dir leaky/build --output-on-failure >ctest.txt || fail "a leak passes"
grep -q 'heap_budgets.*Failed' ctest.txt && grep -q 'exceeded  *leaks' ctest.txt || fail "a leak: $(cat ctest.txt)"
exit 0
