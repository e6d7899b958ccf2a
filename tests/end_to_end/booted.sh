#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# docs/fleet.md about systemd, in a small Debian that boots systemd: the drop-in records redis-server from its
# start, the timer's service makes profiles, a server that is killed comes back and is recorded, and without the
# drop-in nothing is. ./dev soak makes the packages in $MPROF_PACKAGES, and the Debian as a tar archive there.
. "$(dirname "$0")/common.sh"
packages=${MPROF_PACKAGES:-}
[ -n "$packages" ] && [ -f "$packages/booted.tar" ] || { echo "skipped: ./dev soak makes packages and a root with systemd"; exit 77; }
[ "$(id -u)" -eq 0 ] && command -v systemd-nspawn >/dev/null || { echo "skipped: only root can boot, by systemd-nspawn"; exit 77; }

# systemd-nspawn refuses a place that anybody may write to, and names of sockets are short.
place=$(mktemp -d)
nspawn='' init=''
trap 'for one in $init $nspawn; do kill -KILL "$one" 2>/dev/null; done; wait; rm -rf --one-file-system "$place"' EXIT
root=$place/root
mkdir "$root" && tar -xf "$packages/booted.tar" -C "$root" --exclude='./dev/*' || fail "unpacking the root"

mkdir -p "$root/var/tmp/packages" && cp "$packages"/mprof_*.deb "$packages"/libmprof0_*.deb "$root/var/tmp/packages" || fail "no packages in $packages"

# Without a systemd outside, nobody makes a unit for it.
unit=()
[ -d /run/systemd/system ] || unit=(--keep-unit)
systemd-nspawn --quiet --register=no "${unit[@]}" --private-network --console=pipe --boot --machine=mprof -D "$root" >boot.txt 2>&1 </dev/null &
nspawn=$!
# inside COMMAND: runs it where systemd has booted.
inside() { nsenter --target "$init" --all /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 /bin/bash -euc "cd /var/tmp; $1"; }
for _ in $(seq 1200); do
    init=$(pgrep -P $nspawn | head -n 1)
    [ -z "$init" ] || case $(inside 'systemctl is-system-running' 2>/dev/null) in running | degraded) break ;; esac
    kill -0 $nspawn 2>/dev/null || { init=''; break; }
    sleep 0.1
done
[ -n "$init" ] && inside 'systemctl is-active --quiet multi-user.target' 2>inside.txt || { echo "skipped: no systemd boots here: $(tail -n 3 boot.txt) $(cat inside.txt)"; exit 77; }

inside 'dpkg -i packages/*.deb' >install.txt 2>&1 || fail "installing the packages: $(tail -n 20 install.txt)"
# The page's files, where their first lines say, and its script.
page=$MPROF_SOURCE/docs/fleet.md
awk -v root="$root" '
    $0 == "```" { file = "" }
    begins && /^# \// { file = root substr($0, 3); system("mkdir -p \"$(dirname " file ")\""); print file }
    { begins = $0 == "```ini" }
    file != "" { print >file }' "$page" >files.txt
is "$(wc -l <files.txt)" -eq 3 "files of the page"
sed -n "/^cat >mprof-profiles <<'END'\$/,/^END\$/p" "$page" | sed '1d;$d' >mprof-profiles
[ -s mprof-profiles ] && install -m 755 mprof-profiles "$root/usr/local/bin/mprof-profiles" || fail "the page has no script"

# server: waits until redis answers. property NAME: of its service. process: the program of the service's main process.
server() { inside 'for _ in $(seq 1200); do [ "$(redis-cli ping 2>/dev/null)" = PONG ] && exit 0; sleep 0.1; done; exit 1' || fail "no server: $(inside 'journalctl --no-pager -u redis-server' | tail -n 20)"; }
property() { inside "systemctl show --value -p $1 redis-server"; }
process() { inside 'cat "/proc/$(systemctl show --value -p MainPID redis-server)/comm"'; }
inside 'systemctl daemon-reload && systemctl restart redis-server' || fail "the drop-in: $(inside 'journalctl --no-pager -u redis-server' | tail -n 20)"
server
[ "$(process)" = mprof-run ] || fail "the service is $(process)"
[ "$(inside 'stat -c %U "/proc/$(pidof redis-server)" /var/lib/mprof' | sort -u)" = redis ] || fail "the server or the folder is not redis's"
# Without a load the sample may have no block.
load='redis-benchmark -q -n 20000 -r 20000 -d 1000 -t set >/dev/null'
inside "$load; mprof-ctl --quiet /var/lib/mprof/redis.bin rotate" || fail "not rotated"

inside 'systemd-analyze verify /etc/systemd/system/mprof-profiles.*' >verify.txt 2>&1 && [ ! -s verify.txt ] || fail "systemd: $(cat verify.txt)"
inside 'systemctl --quiet enable --now mprof-profiles.timer && systemctl start mprof-profiles.service' || fail "profiles: $(inside 'journalctl --no-pager -u mprof-profiles' | tail -n 20)"
[ "$(inside 'systemctl is-active mprof-profiles.timer')" = active ] || fail "the timer does not run"
inside 'gzip -t /var/lib/mprof-profiles/redis.*.r1.pb.gz && ls /var/lib/mprof-profiles/names/*.names' >profiles.txt || fail "no profile, or no names kept: $(inside 'ls -R /var/lib/mprof-profiles')"
inside 'mprof-ingest -q -o first.db /var/lib/mprof/redis.bin.r1 && cat first.db' >first.db || fail "ingest of the first trace"
sane first.db
is "$(ask first.db 'SELECT CAST(sum(bytes) AS INTEGER) FROM v_estimate')" -gt 5000000 "bytes that the server allocated under load"
for unit in mprof-profiles.service redis-server.service; do
    ! inside "journalctl --no-pager -o cat -u $unit" | grep -E 'mprof-(run|ingest|export|profiles): ' || fail "$unit: the journal has a line of mprof"
done
! inside 'journalctl --no-pager -o cat -u mprof-profiles.service' | grep -v '^-- No entries' | grep . || fail "the journal has a line each minute"

inside 'kill -KILL "$(pidof redis-server)"; for _ in $(seq 1200); do [ "$(systemctl show --value -p NRestarts redis-server)" = 1 ] && exit 0; sleep 0.1; done; exit 1' || fail "the service does not come back"
server
[ "$(process)" = mprof-run ] || fail "after a crash the service is $(process)"
inside '[ -e /var/lib/mprof/redis.bin ] && [ ! -e /var/lib/mprof/redis.bin.r1 ]' || fail "traces of the last start: $(inside 'ls -l /var/lib/mprof')"
inside "$load; systemctl stop redis-server" || fail "the service does not stop"
[ "$(property Result) $(property ExecMainStatus)" = "success 0" ] || fail "the service ended: $(property Result) $(property ExecMainStatus)"
inside 'mprof-ingest -q -o last.db /var/lib/mprof/redis.bin && cat last.db' >last.db || fail "ingest of the last trace"
sane last.db
[ "$(meta last.db ending)" = ended ] || fail "the last trace ended: $(meta last.db ending)"

inside 'rm /etc/systemd/system/redis-server.service.d/mprof.conf && systemctl daemon-reload && systemctl restart redis-server' || fail "without the drop-in"
server
[ "$(process)" = redis-server ] || fail "without the drop-in the service is $(process)"
inside 'systemctl poweroff' 2>/dev/null
wait $nspawn
nspawn='' init=''
echo "ok: systemd, as docs/fleet.md says"
