#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The drop-in for systemd and the container of docs/fleet.md, as far as they go without systemd and podman: the
# command lines as they stand there, with an empty environment, as a user without rights. The drop-in's server tells
# that it is ready; the container's mprof-run is process 1. Both end by SIGTERM, and leave whole traces.
. "$(dirname "$0")/common.sh"
command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null || exit 77
# block FENCE: the first block of the page after this fence.
block() { awk -v fence="\`\`\`$1" '$0 == "```" && inside { exit } inside; $0 == fence { inside = 1 }' "$MPROF_SOURCE/docs/fleet.md"; }
block ini >mprof.conf
block Dockerfile >Containerfile
[ -s mprof.conf ] && [ -s Containerfile ] || fail "docs/fleet.md has neither"

# A socket's path has at most 107 bytes, which $work may exceed. The server's user must reach all of it.
place=$(mktemp -d)
trap 'for one in $(jobs -p); do kill "$one" 2>/dev/null; done; rm -rf "$place"' EXIT
chmod 755 "$place" && mkdir "$place/state" && printf 'port 0\nunixsocket %s/s\nsave ""\ndir %s/state\n' "$place" "$place" >"$place/redis.conf"
drop=() ends=()
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups "$MPROF_BUILD/bin/mprof-run" --version >/dev/null 2>&1; then
    drop=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all)
    chown 65534:65534 "$place" "$place/state"
fi
# here TEXT: with the paths of this test for those of an installed package.
here() { sed "s,/usr/bin/mprof-run,$MPROF_BUILD/bin/mprof-run,g; s,/var/lib/mprof,$place/state,g; s,/etc/redis/redis.conf,$place/redis.conf,g; s,/usr/bin/redis-server,$(command -v redis-server),g" <<<"$1"; }

if command -v systemd-analyze >/dev/null; then
    mkdir -p redis-server.service.d
    printf '[Unit]\nDescription=a server\n[Service]\nType=notify\nProtectSystem=strict\nExecStart=/bin/true\n' >redis-server.service
    here "$(cat mprof.conf)" >redis-server.service.d/mprof.conf
    systemd-analyze verify --man=no --recursive-errors=no "$work/redis-server.service" >verify.txt 2>&1 || fail "systemd: $(cat verify.txt)"
    ! grep -F redis-server.service verify.txt || fail "systemd has a complaint"
fi

ask_redis() { redis-cli -s "$place/s" "$@"; }
# gives_up WORD…: runs a program whose output nobody reads at first. It waits there, and has given up its rights by then.
gives_up() {
    python3 - "$@" <<'PY' || fail "$1 keeps its rights"
import fcntl, os, subprocess, sys, time
ends, begins = os.pipe()
os.write(begins, bytes(fcntl.fcntl(begins, 1032)))  # F_GETPIPE_SZ: full
program = subprocess.Popen(sys.argv[1:], stdout=begins, stderr=begins)
os.close(begins)
def rights():
    return dict(line.split(":\t") for line in open(f"/proc/{program.pid}/status").read().splitlines() if ":\t" in line)
until = time.monotonic() + 120
while rights().get("NoNewPrivs") != "1" and program.poll() is None and time.monotonic() < until:
    time.sleep(0.01)
now = rights()
said = open(ends, "rb").read().lstrip(b"\0").decode()
if program.wait() or not said or now.get("NoNewPrivs") != "1" or int(now["CapAmb"], 16):
    sys.exit(f"{program.returncode}, {now.get('NoNewPrivs')}: {said[:300]}")
PY
    echo "ok: $1 gives up rights"
}
declare -A ending=([redis.bin.r1]=stopped [redis.bin]=ended)
# serve NAME WORD…: runs the words, fills the server, rotates once, ends it by SIGTERM to mprof-run.
serve() {
    local name=$1 server target inside
    shift
    (cd "$place/state" && exec env -i PATH="$MPROF_BUILD/bin:/usr/bin:/bin" NOTIFY_SOCKET="$place/notify" "$@") >"$name.txt" 2>&1 &
    server=$!
    for _ in $(seq 1200); do ask_redis ping 2>/dev/null | grep -q PONG && break; kill -0 $server 2>/dev/null || break; sleep 0.05; done
    ask_redis ping | grep -q PONG || fail "$name: no server: $(cat "$name.txt")"
    target=$server
    [ $name = dropin ] || target=$(pgrep -P $server) || fail "$name: no process 1"
    [ $name = dropin ] || is "$(awk '/^NSpid:/ { print $NF }' /proc/"$target"/status)" -eq 1 "$name: mprof-run's number inside"
    tr '\0' ' ' </proc/"$target"/cmdline | grep -q '^[^ ]*mprof-run ' || fail "$name: process $target is not mprof-run"
    [ ${#drop[@]} -eq 0 ] || is "$(stat -c %u /proc/"$target")" -eq 65534 "$name: user"
    redis-benchmark -s "$place/s" -q -n 20000 -r 20000 -d 1000 -t set >/dev/null || fail "$name: no load"
    inside=()
    [ $name = dropin ] || inside=(nsenter --target "$target" --pid --mount) # as "podman exec" does
    [ $name != dropin ] || gives_up mprof-ctl "$place/state/redis.bin" mark loaded
    "${inside[@]}" mprof-ctl --quiet "$place/state/redis.bin" rotate || fail "$name: not rotated: $(cat "$name.txt")"
    kill -TERM "$target"
    wait $server
    is $? -eq 0 "$name: status after SIGTERM"
    [ "$(ls "$place/state" | grep -c '^redis.bin')" -eq 2 ] || fail "$name: traces: $(ls -l "$place/state")"
    is "$(stat -c %a "$place/state/redis.bin.r1")" -eq 600 "$name: mode of a trace"
    ! grep 'mprof-run: ' "$name.txt" || fail "$name: mprof-run says something"
    for trace in redis.bin.r1 redis.bin; do
        mprof-ingest -q --force -o $name.db "$place/state/$trace" || fail "$name: ingest of $trace"
        is "$(meta $name.db allocations)" -gt 0 "$name: allocations of $trace"
        is "$(meta $name.db damaged_bytes)" -eq 0 "$name: damaged bytes of $trace"
        [ "$(meta $name.db ending)" = "${ending[$trace]}" ] || fail "$name: $trace ended: $(meta $name.db ending)"
    done
}

# The drop-in: the words of its last ExecStart=, with its continuation lines.
words=$(sed -e ':next' -e '/\\$/{N; s/\\\n *//; b next' -e '}' mprof.conf | sed -n 's/^ExecStart=\(..*\)/\1/p')
python3 - "$place/notify" >ready.txt <<'PY' &
import os, socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
listener.settimeout(120)
while True:
    said = listener.recv(4096).decode()
    print(said, flush=True)
    if "READY=1" in said:
        break
PY
ready=$!
for _ in $(seq 600); do [ -S "$place/notify" ] && break; sleep 0.05; done
read -ra words <<<"$(here "$words")"
serve dropin "${drop[@]}" "${words[@]}"
gives_up mprof-ingest --force -o dropin.db "$place/state/redis.bin"
gives_up mprof-export --format csv dropin.db
wait $ready || fail "the server did not tell that it is ready"

# The container: its entry point and command, as process 1 of its own.
if [ ${#drop[@]} -gt 0 ] && unshare --pid --fork --mount-proc true 2>/dev/null; then
    rm -rf "$place/state"/*
    command=$(python3 -c '
import json, re, sys
text = sys.stdin.read()
print("\n".join(word for part in ("ENTRYPOINT", "CMD") for word in json.loads(re.search("(?m)^" + part + " (.*)", text)[1])))' <Containerfile) || fail "no words in the Containerfile"
    mapfile -t words <<<"$(here "$command")"
    serve container unshare --pid --fork --kill-child --mount-proc "${drop[@]}" "${words[@]}" --port 0 --unixsocket "$place/s" --save ''
else
    echo "no process 1 can be made here"
fi
