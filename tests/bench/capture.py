# SPDX-License-Identifier: BSD-2-Clause
"""Times workloads under recorders, interleaved, and prints a table (see capture.sh)."""
import json, math, os, resource, shutil, statistics, subprocess, sys, tempfile, time

BUILD = os.environ['MPROF_BUILD']
RUNS = int(os.environ.get('RUNS', '5'))
RUN = f'{BUILD}/bin/mprof-run'
INGEST = f'{BUILD}/bin/mprof-ingest'
PRELOAD = '/usr/lib/heaptrack/libheaptrack_preload.so'
work = tempfile.mkdtemp(prefix='mprof-bench-')

MICRO = r'''
#include <pthread.h>
#include <stdlib.h>
static int depth, rounds;
static void *volatile sink;
static __attribute__((noinline)) void work(void)
{
    void *blocks[8];
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < 8; k++) blocks[k] = malloc(24 + 16 * (size_t)((i + k) % 10));
        for (int k = 0; k < 8; k++) free(blocks[k]);
    }
}
static __attribute__((noinline)) int down(int n)
{
    volatile char frame[32];
    frame[0] = (char)n;
    if (n == 0) work(); else down(n - 1);
    return frame[0];
}
static void *run(void *unused) { down(depth); return unused; }
int main(int argc, char **argv)
{
    int threads = argc > 3 ? atoi(argv[3]) : 1;
    depth = atoi(argv[1]); rounds = atoi(argv[2]);
    pthread_t t[16];
    for (int i = 1; i < threads; i++) pthread_create(&t[i], 0, run, 0);
    run(0);
    for (int i = 1; i < threads; i++) pthread_join(t[i], 0);
    return 0;
}
'''

TREES = r'''
#include <stdlib.h>
struct tree { struct tree *left, *right; };
static struct tree *grow(int depth)
{
    struct tree *tree = malloc(sizeof *tree);
    tree->left = depth ? grow(depth - 1) : 0;
    tree->right = depth ? grow(depth - 1) : 0;
    return tree;
}
static void fell(struct tree *tree)
{
    if (!tree) return;
    fell(tree->left);
    fell(tree->right);
    free(tree);
}
int main(void)
{
    for (int i = 0; i < 15000; i++) fell(grow(6));
    return 0;
}
'''

# The cost of the clock alone: each event reads it and does nothing else.
CLOCK = r'''
#include <stddef.h>
#include <stdint.h>
#include <x86intrin.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
static __thread uint64_t last __attribute__((tls_model("initial-exec")));
void *malloc(size_t size) { void *block = __libc_malloc(size); last = __rdtsc(); return block; }
void *calloc(size_t count, size_t size) { void *block = __libc_calloc(count, size); last = __rdtsc(); return block; }
void *realloc(void *old, size_t size)
{
    last = __rdtsc();
    void *block = __libc_realloc(old, size);
    last = __rdtsc();
    return block;
}
void free(void *block) { if (block) last = __rdtsc(); __libc_free(block); }
'''

# Templates that make the compiler work for some seconds.
CXX = '''
#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>
struct words {
    std::map<int, std::vector<std::string>> by_length;
    bool take(const std::string &word)
    {
        by_length[(int)word.size()].push_back(word);
        return std::regex_match(word, std::regex("a0b*"));
    }
};
bool take(words &all) { return all.take("x"); }
'''


def prepare():
    open(f'{work}/micro.c', 'w').write(MICRO)
    subprocess.run(['cc', '-O2', '-fno-builtin', '-fomit-frame-pointer', '-pthread', '-o', f'{work}/micro', f'{work}/micro.c'], check=True)
    open(f'{work}/clock.c', 'w').write(CLOCK)
    subprocess.run(['cc', '-O2', '-fno-builtin', '-fPIC', '-shared', '-o', f'{work}/clock.so', f'{work}/clock.c'], check=True)
    open(f'{work}/trees.c', 'w').write(TREES)
    for name, options in (('trees', []), ('trees-reporting', ['-finstrument-functions'])):
        subprocess.run(['cc', '-O2', '-fno-builtin', *options, '-o', f'{work}/{name}', f'{work}/trees.c'], check=True)
    open(f'{work}/big.cpp', 'w').write(CXX)
    json.dump([{'id': i, 'name': f'item {i}', 'tags': ['a', 'b', str(i % 7)], 'value': i * 1.5} for i in range(160000)], open(f'{work}/big.json', 'w'))
    open(f'{work}/bulk.sql', 'w').write(
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<1200000) INSERT INTO t SELECT i, 'text '||i, i*0.5 FROM n;"
        "SELECT count(*), sum(length(b)) FROM t WHERE b LIKE '%7%'; SELECT b, count(*) FROM t GROUP BY substr(b, 1, 7) ORDER BY 2 DESC LIMIT 3;")
    open(f'{work}/work.py', 'w').write(
        'import json, ast\nd = json.load(open("%s/big.json"))\ns = json.dumps(d)\n'
        'src = "\\n".join(f"x{i} = [a * {i} for a in range({i})]" for i in range(4000))\nast.parse(src)\n' % work)
    open(f'{work}/work.pl', 'w').write(
        'my %h; for my $i (1..1200000) { push @{$h{$i % 5000}}, "value $i"; } my $n = 0;'
        'for (sort keys %h) { $n += scalar(grep { /7/ } @{$h{$_}}); } print "$n\\n";')
    cc1plus = subprocess.run(['g++', '-print-prog-name=cc1plus'], capture_output=True, text=True).stdout.strip()
    real = [
        ('sqlite3', ['/usr/bin/sqlite3', ':memory:', f'.read {work}/bulk.sql'], {}),
        ('python3', ['/usr/bin/python3', f'{work}/work.py'], {'PYTHONMALLOC': 'malloc', 'PYTHONHASHSEED': '0'}),
        ('jq', ['/usr/bin/jq', '[.[] | {id, n: (.name|length)}] | length', f'{work}/big.json'], {}),
        ('perl', ['/usr/bin/perl', f'{work}/work.pl'], {'PERL_HASH_SEED': '0'}),
        ('cc1plus', [cc1plus, '-quiet', '-imultiarch', 'x86_64-linux-gnu', '-D_GNU_SOURCE', '-O2', f'{work}/big.cpp', '-o', '/dev/null'], {}),
    ]
    if shutil.which('redis-server'):
        real.append(('redis-server', ['redis-server', '--port', '0', '--unixsocket', REDIS, '--save', '', '--dir', work], {}))
    micro = [(f'micro depth {d}', [f'{work}/micro', str(d), '250000'], {}) for d in (10, 30, 100, 300)]
    micro.append(('micro depth 30, 2 threads', [f'{work}/micro', '30', '250000', '2'], {}))
    return real, micro


REDIS = f'{work}/redis.socket'


def redis_load(server):
    """Loads the server once it listens, and stops it. Returns the seconds of the load alone."""
    ask = ['redis-cli', '-s', REDIS]
    while subprocess.run([*ask, 'ping'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        if server.poll() is not None:
            sys.exit(f'redis-server ended by itself: {server.args}')
        time.sleep(0.01)
    before = time.monotonic()
    subprocess.run(['redis-benchmark', '-s', REDIS, '-q', '-n', '200000', '-c', '10', '-P', '16', '-r', '50000',
                    '-t', 'set,lpush,lpop,sadd,hset,zadd'], stdout=subprocess.DEVNULL, check=True)
    seconds = time.monotonic() - before
    subprocess.run([*ask, 'shutdown', 'nosave'], stdout=subprocess.DEVNULL)
    return seconds


def timed(command, extra):
    """Wall seconds; of a server: of its load."""
    before = time.monotonic()
    child = subprocess.Popen(command, env=dict(os.environ, **extra), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    load = redis_load(child) if REDIS in command else None
    child.wait()
    return load or time.monotonic() - before


def resident(command, extra):
    """The largest resident set of its processes, in KiB. time forks it from a small process: what a
    process has before its exec counts, too, and this one is large."""
    timed(['time', '-f', '%M', '-o', f'{work}/resident', *command], extra)
    return int(open(f'{work}/resident').read().split()[-1])


def ways(command):
    trace = f'{work}/t.bin'
    found = [('alone', command, {}),
             # heaptrack knows only the C library's allocator, and redis-server has another.
             ('clock alone', command, {} if REDIS in command else {'LD_PRELOAD': f'{work}/clock.so'}),
             ('mprof', [RUN, '--force', '-o', trace, '--', *command], {}),
             ('mprof fast clock', [RUN, '--force', '--clock=fast', '-o', trace, '--', *command], {})]
    if os.path.exists(PRELOAD):
        found.append(('heaptrack raw', command, {'LD_PRELOAD': PRELOAD, 'DUMP_HEAPTRACK_OUTPUT': f'{work}/h.raw'}))
    if shutil.which('heaptrack'):
        found.append(('heaptrack', ['heaptrack', '-o', f'{work}/h', *command], {}))
    return found


def events_of(command, extra):
    """Events and bytes of one recording, as written and compressed; the events by ingest's own count."""
    trace = f'{work}/count.bin'
    recorded = resident([RUN, '--force', '-o', trace, '--', *command], extra)
    # The committed bytes of all chunks. The bytes after them are reserved but not written.
    size = events = 0
    with open(trace, 'rb') as f:
        header = f.read(4096)
        chunk = int.from_bytes(header[16:20], 'little')
        while head := f.read(64):
            commit = int.from_bytes(head[44:48], 'little')
            size += commit
            f.seek(chunk - 64, 1)
    dump = subprocess.run(f"{INGEST} --dump {trace} | awk '/ (alloc|free) /{{n++}} / realloc kind/{{n+=2}} / node id/{{c++}} END{{print n, c}}'", shell=True, capture_output=True, text=True)
    events, contexts = map(int, dump.stdout.split())
    subprocess.run([INGEST, '--compress', '--quiet', trace], check=True)
    return events, size, os.path.getsize(trace), contexts, recorded


MEMORY = []


def print_memory():
    print('\n| workload | distinct contexts | resident set alone, MiB | added by mprof, MiB | 64 MiB + 48 bytes a context |')
    print('|---' * 5 + '|')
    for name, contexts, alone, added in MEMORY:
        print(f'| {name} | {contexts} | {alone / 1024:.1f} | {added / 1024:.1f} | {64 + contexts * 48 / 2**20:.1f} |')


def bench(name, command, extra):
    table = ways(command)
    times = {way: [] for way, _, _ in table}
    for run in range(RUNS + 1):
        for way, line, more in table:
            for left in ('t.bin', 'h.raw'):
                if os.path.exists(f'{work}/{left}'):
                    os.remove(f'{work}/{left}')
            seconds = timed(line, dict(extra, **more))
            if run:  # the first round warms up
                times[way].append(seconds)
    events, size, packed, contexts, recorded = events_of(command, extra)
    alone = statistics.median(times['alone'])
    print(f'| {name} | {events/1e6:.2f} M | {size/max(events,1):.1f} | {packed/max(events,1):.2f} |', end='')
    added = {}
    for way in times:
        t = times[way]
        added[way] = (statistics.median(t) - alone) / max(events, 1) * 1e9
        if way == 'alone':
            print(f' {alone:.3f} ({min(t):.3f}–{max(t):.3f}) |', end='')
        elif way == 'clock alone' and REDIS in command:
            print(' – |', end='')
        else:
            print(f' ×{statistics.median(t)/alone:.2f} ({min(t)/alone:.2f}–{max(t)/alone:.2f}), {added[way]:.0f} |', end='')
    print(flush=True)
    before = resident(command, extra)
    MEMORY.append((name, contexts, before, recorded - before))
    return added


OPTIONS = [[], ['--clock=fast'], ['--unwind=fp'], ['--unwind=off'], ['--free-stacks'], ['--depth=16'],
           ['--sample=512K'], ['--mmap'], ['--compress']]


def profilers(command):
    """Other profilers of Debian, as their users run them, each with the file that it leaves."""
    lib = '/usr/lib/x86_64-linux-gnu'
    return [('alone', command, {}, None),
            ('mprof', [RUN, '--force', '-o', f'{work}/p.bin', '--', *command], {}, 'p.bin'),
            ('mprof --compress', [RUN, '--force', '--compress', '-o', f'{work}/p.bin', '--', *command], {}, 'p.bin'),
            ('mprof --sample=512K', [RUN, '--force', '--sample=512K', '-o', f'{work}/p.bin', '--', *command], {}, 'p.bin'),
            ('heaptrack', ['heaptrack', '-o', f'{work}/p.heaptrack', *command], {}, 'p.heaptrack'),
            ('massif', ['valgrind', '-q', '--tool=massif', f'--massif-out-file={work}/p.massif', *command], {}, 'p.massif'),
            ('DHAT', ['valgrind', '-q', '--tool=dhat', f'--dhat-out-file={work}/p.dhat', *command], {}, 'p.dhat'),
            # Its dumps begin with the file's name.
            ('gperftools', command, {'LD_PRELOAD': f'{lib}/libtcmalloc.so.4', 'HEAPPROFILE': f'{work}/p.tcmalloc'}, 'p.tcmalloc'),
            ('jemalloc', command, {'LD_PRELOAD': f'{lib}/libjemalloc.so.2',
                                   'MALLOC_CONF': f'prof:true,prof_final:true,prof_prefix:{work}/p.jemalloc'}, 'p.jemalloc')]


def bench_profilers(name, command, extra):
    """Prints processor time and wall time under each profiler as ratios, and the bytes on the disk after it."""
    table = profilers(command)
    times, work_times, sizes = {way: [] for way, *_ in table}, {way: [] for way, *_ in table}, {}
    for run in range(RUNS + 1):
        for way, line, more, left in table:
            for old in (f for f in os.listdir(work) if f.startswith('p.')):
                os.remove(f'{work}/{old}')
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = timed(line, dict(extra, **more))
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            files = [f'{work}/{f}' for f in os.listdir(work) if left and f.startswith(left)]
            if left and not files:
                sys.exit(f'{way} leaves no file {left}')
            # The blocks of a trace that was never written cost nothing.
            sizes[way] = sum(os.stat(f).st_blocks * 512 for f in files)
            if run:  # the first round warms up
                times[way].append(seconds)
                work_times[way].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    base, base_work = (statistics.median(t['alone']) for t in (times, work_times))
    print(f'\n{name}: {base_work:.2f} s of processor time alone\n\n| profiler | processor time | wall time | on disk, MiB |')
    print('|---' * 4 + '|')
    for way, *_ in table[1:]:
        print('|', way, end=' |')
        for taken, alone in ((work_times[way], base_work), (times[way], base)):
            print(f' ×{statistics.median(taken) / alone:.1f} ({min(taken) / alone:.1f}–{max(taken) / alone:.1f}) |', end='')
        print(f' {sizes[way] / 2**20:.1f} |', flush=True)


# A program with many calls, built with and without -finstrument-functions.
UNWIND_OPTIONS = [[], ['--unwind=eh'], ['--unwind=instrument'], ['--unwind=off']]


def bench_options(name, command, extra, all_options=OPTIONS):
    """Prints the cost of each option of mprof-run against the program alone, in one run."""
    trace = f'{work}/t.bin'
    times = {tuple(options): [] for options in all_options}
    sizes, alone = {}, []
    for run in range(RUNS + 1):
        seconds = [timed(command, extra)]
        for options in all_options:
            seconds.append(timed([RUN, '--force', *options, '-o', trace, '--', *command], extra))
            sizes[tuple(options)] = os.stat(trace).st_blocks * 512
        if run:  # the first round warms up
            alone.append(seconds[0])
            for options, taken in zip(all_options, seconds[1:]):
                times[tuple(options)].append(taken)
    events = events_of(command, extra)[0]
    base = statistics.median(alone)
    for options, taken in times.items():
        middle = statistics.median(taken)
        print(f'| {name} | {" ".join(options) or "(default)"} | ×{middle / base:.2f} ({min(taken) / base:.2f}–{max(taken) / base:.2f}) '
              f'| {(middle - base) / events * 1e9:.0f} | {sizes[options] / events:.1f} |', flush=True)


def main():
    real, micro = prepare()
    only = os.environ.get('PARTS', '').split()
    if 'profilers' in only:
        for name, command, extra in real:
            if name in (only[1:] or ('sqlite3', 'jq')):
                bench_profilers(name, command, extra)
        return
    print(f'{RUNS} interleaved runs after a warm-up; seconds alone as median (min–max); recorded: wall ratio, median (min–max), then nanoseconds added per event (a malloc and a free count one each).\n')
    heads = [w for w, _, _ in ways(['true'])]
    print('| workload | events | bytes/event | compressed | ' + ' | '.join(heads) + ' |')
    print('|---' * (4 + len(heads)) + '|')
    added = [(name, bench(name, command, extra)) for name, command, extra in real if not only or name in only]
    for name, command, extra in micro:
        if not only or 'micro' in only:
            bench(name, command, extra)
    if not only or 'options' in only:
        print('\n| workload | options | wall ratio | ns added per event | bytes on disk per event |')
        print('|---' * 5 + '|')
        for name, command, extra in real:
            if name in ('sqlite3', 'python3'):
                bench_options(name, command, extra)
    if not only or 'options' in only or 'unwind' in only:
        print('\n| workload | options | wall ratio | ns added per event | bytes on disk per event |')
        print('|---' * 5 + '|')
        for name, program in (('trees', 'trees'), ('trees, -finstrument-functions', 'trees-reporting')):
            bench_options(name, [f'{work}/{program}'], {}, UNWIND_OPTIONS)
    print_memory()
    for peer in ('heaptrack raw', 'heaptrack'):
        ratios = {name: a['mprof'] / a[peer] for name, a in added if a.get(peer, 0) > 0 and a['mprof'] > 0}
        programs = [ratio for name, ratio in ratios.items() if name != 'redis-server']
        if programs:
            mean = math.exp(sum(map(math.log, programs)) / len(programs))
            print(f'\nAdded time per event, mprof against {peer}: geometric mean of the programs but redis-server {mean:.2f}; ' + ', '.join(f'{n} {r:.2f}' for n, r in ratios.items()))


try:
    main()
finally:
    shutil.rmtree(work, ignore_errors=True)
