#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A recorded program whose debug information, or the program itself, is elsewhere: debuginfod, dwz,
# --debug-dir, --sysroot, a library with a relative path, a file that was built again.
set -u
here=$MPROF_SOURCE/tests/ingest/symbols
ingest=$MPROF_BUILD/bin/mprof-ingest
command -v gcc g++ objcopy strip readelf sqlite3 >/dev/null || exit 77
work=$(mktemp -d) || exit 1
server=
trap '[ -z "$server" ] || { kill $server; wait $server; } 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
unset DEBUGINFOD_URLS
bad=0
complain() { echo "FAILED: $*"; bad=1; }
die() { echo "$*"; exit 1; }

# names TRACE [OPTIONS...]: function, file and line of each frame of the largest allocation
names() {
    "$ingest" --quiet --force -o session.db "${@:2}" "$1" >ingest.txt 2>&1 || complain "$* $(cat ingest.txt)"
    sqlite3 -separator ' ' session.db "SELECT function, coalesce(replace(file, rtrim(file, replace(file, '/', '')), ''), '-'),
        coalesce(line, 0) FROM v_stack WHERE stack_id = (SELECT stack_id FROM allocation ORDER BY size DESC LIMIT 1)
        AND (module LIKE 'plug%' OR module = 'keeper') AND function != '_start' ORDER BY depth"
}
status() { sqlite3 session.db "SELECT symbols FROM module WHERE name = '$1'"; }
same() { [ "$1" = "$2" ] || complain "$3: expected '$2', got '$1'"; }
has() { [[ $1 = *"$2"* ]] || complain "$3: no '$2' in '$1'"; }
build_id() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
record() { "$MPROF_BUILD/bin/mprof-run" -o "$1" -- "${@:2}" >run.txt 2>&1 || die "mprof-run: $(cat run.txt)"; }

mkdir -p place/plug source
cp "$here/programs/keeper.c" "$here/programs/keeper_plug.c" source
gcc -O2 -g -Wl,--build-id -o whole source/keeper.c -ldl || exit 1
gcc -O2 -g -shared -fPIC -Wl,--build-id -o plug.so source/keeper_plug.c || exit 1
cp whole place/keeper && cp plug.so place/plug/plug.so
(cd place && record ../trace.bin ./keeper plug/plug.so) || exit 1
want="plug_keep keeper_plug.c 9
keep_by keeper.c 11
main keeper.c 19"
same "$(names trace.bin)" "$want" "a library of a relative path"
same "$(status plug.so)" dwarf "its status"

# The program is below another root, and nothing is where it was.
mkdir -p "root$work/place"
mv place/keeper place/plug "root$work/place/"
has "$(names trace.bin)" "keeper+0x" "a program that is gone"
has "$(status keeper)" "No such file" "its status"
same "$(names trace.bin --sysroot "$work/root")" "$want" "--sysroot"

# Only symbols, and nothing.
at() { (cd "root$work/place" && cp "$work/whole" keeper && cp "$work/plug.so" plug/plug.so && "$@" keeper && "$@" plug/plug.so); }
at strip -g
same "$(names trace.bin --sysroot "$work/root")" "plug_keep - 0
keep_by - 0
main - 0" "symbols only"
same "$(status keeper)" symtab "symbols only, status"
at strip
got=$(names trace.bin --sysroot "$work/root")
has "$got" "keeper+0x" "stripped"
has "$got" "plug_keep - 0" "the dynamic symbol of a stripped library"

# Debug files by build-id, below --debug-dir, then with common parts moved out by dwz.
for file in whole plug.so; do
    id=$(build_id $file)
    mkdir -p "debug/.build-id/${id:0:2}"
    objcopy --only-keep-debug $file "debug/.build-id/${id:0:2}/${id:2}.debug" || exit 1
done
same "$(names trace.bin --sysroot "$work/root" --debug-dir "$work/debug")" "$want" "--debug-dir"
if command -v dwz >/dev/null; then
    cp -r debug dwz
    dwz -m "$work/dwz/common.debug" -r dwz/.build-id/*/*.debug || complain "dwz"
    [ -s dwz/common.debug ] || complain "dwz moved nothing out"
    same "$(names trace.bin --sysroot "$work/root" --debug-dir "$work/dwz")" "$want" ".gnu_debugaltlink"
    mv dwz/common.debug dwz/gone.debug
    names trace.bin --sysroot "$work/root" --debug-dir "$work/dwz" >without.txt
    has "$(cat without.txt)" "keeper" "a common file that is gone"
fi

# A real server, which is asked only if the variable is set.
if command -v debuginfod >/dev/null; then
    port=
    for port in $(shuf -i 20000-60000 -n 10 --random-source=<(yes "$$")); do
        debuginfod -d "$work/server.sqlite" -p "$port" -F "$work/debug" >server.txt 2>&1 &
        server=$!
        url=http://127.0.0.1:$port
        while kill -0 $server 2>/dev/null; do
            DEBUGINFOD_URLS=$url DEBUGINFOD_CACHE_PATH=$work/look-$RANDOM debuginfod-find debuginfo "$(build_id plug.so)" >/dev/null 2>&1 && break 2
        done
        wait $server
        server=
    done
    [ -n "$server" ] || die "debuginfod does not run: $(cat server.txt)"
    export DEBUGINFOD_CACHE_PATH=$work/cache
    has "$(names trace.bin --sysroot "$work/root")" "keeper+0x" "debuginfod without the variable"
    [ ! -e cache ] || complain "debuginfod was asked without the variable"
    export DEBUGINFOD_URLS=$url
    same "$(names trace.bin --sysroot "$work/root")" "$want" "debuginfod"
    same "$(status keeper)" dwarf "status by debuginfod"
    kill $server
    wait $server 2>/dev/null
    server=
    rm -rf cache
    has "$(names trace.bin --sysroot "$work/root")" "keeper+0x" "a server that is down"
    # A server that takes questions and never answers: ingest gives up, and a signal ends the wait.
    rm -rf cache
    : >silent.txt
    python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
kept = []
while True:
    kept.append(s.accept())
    print("asked", flush=True)' >silent.txt &
    server=$!
    asked() { while [ "$(wc -l <silent.txt)" -lt "$1" ]; do sleep 0.05; done; }
    asked 1
    export DEBUGINFOD_URLS=http://127.0.0.1:$(head -n 1 silent.txt)
    has "$(DEBUGINFOD_TIMEOUT=2 "$ingest" -f -o silent.db --sysroot "$work/root" trace.bin 2>&1)" \
        "no server of DEBUGINFOD_URLS answered in time" "a silent server"
    rm -rf cache
    questions=$(wc -l <silent.txt)
    DEBUGINFOD_TIMEOUT=600 "$ingest" -f -o silent.db --sysroot "$work/root" trace.bin >stopped.txt 2>&1 &
    waiting=$!
    asked $((questions + 1))
    kill -TERM $waiting
    wait $waiting
    has "$(cat stopped.txt)" interrupted "a signal while a server is silent"
    kill $server
    wait $server 2>/dev/null
    # One that sends more than any disk holds.
    rm -rf cache
    : >endless.txt
    python3 -c 'import http.server, time
class Endless(http.server.BaseHTTPRequestHandler):
    def log_message(self, *rest): pass
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 44))
        self.end_headers()
        while True:
            self.wfile.write(bytes(1 << 16))
            time.sleep(0.2)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
print(server.server_port, flush=True)
server.serve_forever()' >endless.txt 2>/dev/null &
    server=$!
    while [ ! -s endless.txt ]; do sleep 0.05; done
    export DEBUGINFOD_URLS=http://127.0.0.1:$(cat endless.txt)
    has "$(timeout 60 "$ingest" -f -o endless.db --sysroot "$work/root" trace.bin 2>&1)" \
        "sends more than 16 GiB for one module" "an endless answer"
    kill $server
    wait $server 2>/dev/null
    server=
    unset DEBUGINFOD_URLS
fi

# Built again: the file does not have the recorded build-id, so its names would be lies.
gcc -O1 -g -Wl,--build-id -DANOTHER -o "root$work/place/keeper" source/keeper.c -ldl || exit 1
has "$(names trace.bin --sysroot "$work/root")" "keeper+0x" "a file that was built again"
has "$(status keeper)" "changed since the recording: its build-id is" "a file that was built again"

# Code that a runtime generated gets its names from the map that it left, if that dates from the
# recording.
if [ "$(uname -m)" = x86_64 ]; then
    gcc -O2 -g -o generated "$here/programs/generated.c" || exit 1
    record generated.bin ./generated
    names generated.bin >/dev/null
    pid=$(sqlite3 session.db "SELECT value FROM meta WHERE key = 'pid'")
    generated() {
        names generated.bin >/dev/null
        sqlite3 session.db "SELECT function FROM v_stack WHERE module IS NULL AND depth = 0 AND stack_id =
            (SELECT stack_id FROM allocation ORDER BY size DESC LIMIT 1)"
    }
    same "$(generated)" "script::keep:line 7" "perf map"
    touch -d '2 hours ago' "/tmp/perf-$pid.map"
    has "$(generated)" "?+0x" "a perf map of an earlier process"
    rm -f "/tmp/perf-$pid.map"
    has "$(generated)" "?+0x" "no perf map"
fi

# Each way of writing debug information, from the recording on.
for way in "gcc -O2 -g -flto" "clang -O2 -gline-tables-only" "clang -O2 -g -flto" "gcc -O2 -g1" "gcc -O2 -g -gsplit-dwarf" "clang -O2 -gdwarf-4"; do
    # shellcheck disable=SC2086
    command -v ${way%% *} >/dev/null || continue
    # shellcheck disable=SC2086
    $way -o place/keeper source/keeper.c -ldl || complain "$way"
    cp plug.so place/plug.so
    (cd place && record ../way.bin ./keeper ./plug.so) || exit 1
    same "$(names way.bin)" "$want" "$way"
    rm -f way.bin
done
exit $bad
