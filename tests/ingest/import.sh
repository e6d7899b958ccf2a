#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# mprof-ingest reads the data of heaptrack. The sums are those that heaptrack_print finds in the same
# recording. A file that cannot be read gives one line and leaves no session.
set -u
export PATH="$MPROF_BUILD/bin:/usr/bin:/bin"
rm -rf import && mkdir import && cd import || exit 1
failed=0
complain() { echo "FAILED: $*"; failed=1; }
same() { [ "$2" = "$3" ] || complain "$1: $2, not $3"; }
meta() { sqlite3 "$1" "SELECT value FROM meta WHERE key = '$2'"; }

cat >words.cc <<'CC'
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>
#include <unistd.h>
static void *kept[1000];
__attribute__((noinline)) static void *make_block(int number)
{
    return malloc(16 + number % 50);
}
__attribute__((noinline)) static int depth(int number)
{
    std::vector<int> *numbers = new std::vector<int>(number);
    const int sum = number == 0 ? 0 : depth(number - 1) + (int)numbers->size();
    delete numbers;
    return sum;
}
static void work(int thread)
{
    std::map<int, std::string> names;
    for (int i = 0; i < 3000; i++)
        names[i % 700] = std::string(20 + i % 300, 'x');
    for (int i = 0; i < 250; i++)
        kept[thread * 250 + i] = make_block(i);
}
int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(work, i);
    for (std::thread &thread : threads)
        thread.join();
    usleep(60000);
    for (int i = 0; i < 1000; i += 3) {
        free(kept[i]);
        kept[i] = i % 2 ? realloc(make_block(i), 500) : NULL;
    }
    return depth(40) == 1;
}
CC
g++ -g -O1 -o words words.cc -pthread || exit 1
heaptrack -r -o words ./words >log 2>&1 || { cat log; exit 1; }
zstd -qdc words.raw.zst >raw && gzip -kc raw >raw.gz || exit 1
/usr/lib/heaptrack/libexec/heaptrack_interpret <raw >interpreted 2>statistics || { cat log; exit 1; }
gzip -kc interpreted >interpreted.gz && zstd -qc interpreted >interpreted.zst || exit 1

# Prints one sum of heaptrack_print, which rounds them everywhere else.
theirs() {
    heaptrack_print -a 0 -T 0 -p 0 -l 0 -F stacks --flamegraph-cost-type "$1" interpreted >/dev/null
    awk '{ sum += $NF } END { printf "%d\n", sum }' stacks
}
for cost in allocations leaked peak; do
    theirs $cost >"$cost.expected"
    [ "$(cat $cost.expected)" -gt 0 ] || complain "heaptrack_print knows no $cost"
done
# By address in raw data, and by equal blocks in interpreted data, which counts a few more: a thread
# may free one of two equal blocks after another thread has allocated the other. heaptrack_print also
# counts each free of the first kind of block that no allocation precedes.
raw_temporary=$(sed -n 's/.*temporary allocations:[^0-9]*//p' statistics)
counted=$(heaptrack_print interpreted | sed -n 's/^temporary memory allocations: \([0-9]*\).*/\1/p')
also=$(awk '$1 == "-" { n += $2 == "0" && last != "0"; last = "" } $1 == "+" { last = $2 } END { print n + 0 }' interpreted)
interpreted_temporary=$((${counted:-0} - also))
[ "${raw_temporary:-0}" -gt 0 ] && [ "$interpreted_temporary" -ge "$raw_temporary" ] || complain "heaptrack counts no temporary allocations"
calls=$(heaptrack_print interpreted | sed -n 's/^calls to allocation functions: \([0-9]*\).*/\1/p')

for file in words.raw.zst raw raw.gz interpreted interpreted.gz interpreted.zst; do
    mprof-ingest -q -o $file.db $file || { complain "$file"; continue; }
    same "$file: allocations" "$(meta $file.db allocations)" "$calls"
    same "$file: allocations by stack" "$(meta $file.db allocations)" "$(cat allocations.expected)"
    temporary=$raw_temporary
    [ "${file#interpreted}" = "$file" ] || temporary=$interpreted_temporary
    same "$file: temporary" "$(meta $file.db imported_temporary)" "$temporary"
    same "$file: leaked" "$(meta $file.db live_bytes_end)" "$(cat leaked.expected)"
    same "$file: peak" "$(meta $file.db peak_bytes)" "$(cat peak.expected)"
    same "$file: rows" "$(sqlite3 $file.db 'SELECT count(*) FROM allocation')" "$calls"
    same "$file: oddities" "$(sqlite3 $file.db "SELECT sum(value) FROM meta WHERE key IN ('unmatched_frees', 'double_frees', 'overlaps', 'damaged_bytes', 'orphaned_stacks')")" 0
    same "$file: program" "$(meta $file.db program)" ./words
    # The sleep lies between two frees, and c lines tell of it.
    [ "$(meta $file.db duration_ns)" -ge 60000000 ] || complain "$file: duration $(meta $file.db duration_ns)"
    same "$file: times out of order" "$(sqlite3 $file.db 'SELECT count(*) - count(DISTINCT alloc_ns) FROM v_allocation')" 0
    echo dump | mprof-tui --size 200x40 --script - $file.db | grep -q "! imported from heaptrack's" ||
        complain "$file: the overview does not say that it is imported"
    mprof-report $file.db >report || complain "$file: report"
    grep -q "imported from *heaptrack's" report || complain "$file: the summary does not say that it is imported"
done
meta raw.db imported | grep -q 'raw data: threads' || complain "meta.imported of raw data: $(meta raw.db imported)"
meta interpreted.db imported | grep -q 'oldest block' || complain "meta.imported of interpreted data"

# Made-up addresses tell nothing of holes.
mprof-report fragmentation raw.db >report || complain "fragmentation of raw data"
mprof-report fragmentation interpreted.db >report 2>said && complain "fragmentation of interpreted data"
grep -q 'has no addresses' said || complain "fragmentation: $(cat said)"
echo dump | mprof-tui --size 200x40 --script - interpreted.db >screen
grep -q 'Outside blocks at .*peak *not known' screen || complain "holes at made-up addresses"
! grep -q ' fragmentation ' screen || complain "the overview finds fragmentation at made-up addresses"

# Frames with files and lines, inlined ones too, are the same both ways.
frames="SELECT function, file, line, inlined, count(*) FROM v_stack WHERE file LIKE '%words.cc' GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
sqlite3 raw.db "$frames" >frames.raw
sqlite3 interpreted.db "$frames" >frames.interpreted
[ "$(grep -c . frames.raw)" -ge 5 ] || complain "few frames: $(cat frames.raw)"
grep -q '^make_block(int)|.*words.cc|1[01]|0' frames.raw || complain "make_block: $(cat frames.raw)"
cut -d'|' -f2- frames.raw | sort >a
cut -d'|' -f2- frames.interpreted | sort >b
cmp -s a b || complain "frames differ: $(diff a b)"

# In raw data a free ends the block at its address, and in interpreted data the oldest equal one.
cat >order <<'T'
v 10400 3
X ./order a  b
I 1000 100
m 1 -
m 6 /a b c 1000 0 100 200 100
t 1010 0
t 1210 1
t 1150 0
+ 10 2 5000
+ 10 2 6000
c a
+ 20 1 7000
+ 8 3 8000
- 6000
- 9000
c 1e
R 2
T
mprof-ingest -q -o order.db order || complain order
same "raw: pairs" "$(sqlite3 order.db "SELECT group_concat(address || ' ' || size || ' ' || alloc_ns || ' ' || coalesce(free_ns, '-'), ',') FROM (SELECT * FROM v_allocation ORDER BY alloc_ns)")" \
    '20480 16 1 -,24576 16 2 10000002,28672 32 10000000 -,32768 8 10000001 -'
same "raw: unmatched" "$(meta order.db unmatched_frees)" 1
same "raw: arguments" "$(meta order.db argv)" './order a b'
same "raw: duration" "$(meta order.db duration_ns)" 30000000
same "raw: module" "$(sqlite3 order.db "SELECT path, printf('%x %x %x', load_bias, start_address, end_address) FROM module WHERE path LIKE '/a%'")" '/a b c|1000 1000 1300'
same "raw: outside of the ranges" "$(sqlite3 order.db "SELECT count(*) FROM v_stack WHERE module IS NULL AND pc = 4432")" 1
printf '%s\n' 'v 10400 3' 's 1 m' 's 1 f' 'i 10 1 2' 't 1 0' 'a 10 1' 'a 20 1' '+ 0' '+ 1' '+ 0' 'c a' '- 0' '- 0' '- 1' '+ 0' >oldest
mprof-ingest -q -o oldest.db oldest || complain oldest
same "interpreted: pairs" "$(sqlite3 oldest.db "SELECT group_concat(size || ' ' || alloc_ns || ' ' || coalesce(free_ns, '-'), ',') FROM (SELECT * FROM v_allocation ORDER BY alloc_ns)")" \
    '16 1 10000000,32 2 10000002,16 3 10000001,16 10000003 -'
same "interpreted: function" "$(sqlite3 oldest.db 'SELECT DISTINCT function FROM v_stack')" f

# Damage: one line with the place, status 1, and no file.
refuses() {
    local words=$1
    mprof-ingest -q -o no.db bad >said 2>&1
    same "$words: status" $? 1
    same "$words: lines" "$(wc -l <said)" 1
    grep -q -- "$words" said || complain "$words: $(cat said)"
    [ ! -e no.db ] || complain "$words: a file is left"
}
bad() {
    printf '%b' "$1" >bad
    refuses "$2"
}
bad 'v 10400 2\n' 'line 1: not version 3'
bad 'v 10400 3\n+ 10 1 5000\n' 'line 2: a number is too large'
bad 'v 10400 3\n+ 10 0\n' 'line 2: a number is missing'
bad 'v 10400 3\n+ 10 0 50x0\n' 'line 2: not a hexadecimal number'
bad 'v 10400 3\n+ ffffffffffffffffff 0 5000\n' 'line 2: a number is too large'
bad 'v 10400 3\nc ffffffffffffffff\n' 'line 2: a number is too large'
bad 'v 10400 3\nt 10 1\n' 'line 2: a number is too large'
bad 'v 10400 3\nm ff /short 1000\n' 'line 2: a text is shorter'
bad 'v 10400 3\n+ 10 0 5000\n- 50' 'line 3: the file is cut'
bad 'v 10400 3\n\n?\n' 'line 3: no such line'
bad 'v 10400 3\n+ 10 0 5000\ns 1 a\n' 'line 3: a line of raw data among'
bad 'v 10400 3\ns 1 a\na 10 0\n+ 0\n- 0\n- 0\n' 'line 6: a free of what is not live'
bad 'v 10400 3\ns 1 a\n+ 0\n' 'line 3: an allocation that was not defined'
bad 'v 10400 3\ns 1 a\nt 1 0\n' 'line 3: an address that was not defined'
bad 'v 10400 3\n+ 10 0 50\0000\n' 'line 2: a zero byte'
head -c 3000 words.raw.zst >bad && refuses 'the zstd data is cut'
head -c 3000 raw.gz >bad && refuses 'the gzip data is cut'
{ head -c 3000 words.raw.zst && head -c 3000 /dev/zero && tail -c +6001 words.raw.zst; } >bad && refuses 'the zstd data is damaged'
# Few bytes that become much text.
{ printf 'v 10400 3\nX /bin/true\n'; head -c 400M /dev/zero | tr '\0' '\n'; } | zstd -q >bad && refuses '100 times the size'
{ printf 'v 10400 3\nX /bin/true\nI 1000 0\na 10 0\n'; yes '+ 0' | head -n 12000000; } | zstd -q >bad && refuses 'blocks are live at once'

# Sums without events.
for text in 'heap profile:    1:   10 [    1:   10] @ heapprofile\n' 'heap_v2/524288\n  t*: 1: 2 [0: 0]\n' '--- symbol\nbinary=/bin/a\n---\n'; do
    bad "$text" 'go tool pprof or jeprof'
done
mprof-export -f pprof -o profile.gz raw.db || complain "pprof"
cp profile.gz bad
refuses 'go tool pprof or jeprof'
printf '\012\004\010\001\020\002\022\004' | gzip >bad && refuses 'go tool pprof or jeprof'

# Data of heaptrack that mprof-export wrote has the same sums.
mprof-export -f heaptrack -o back raw.db && mprof-ingest -q -o back.db back || complain "exported and imported"
for key in allocations frees bytes_allocated live_bytes_end peak_bytes; do
    same "exported and imported: $key" "$(meta back.db $key)" "$(meta raw.db $key)"
done

# Other files are still told from traces as before.
printf 'v1 of a text\n' >bad && refuses 'not an mprof trace'
exit $failed
