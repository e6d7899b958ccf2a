#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The packages record, ingest and report in a root that has only what they depend on, with and
# without /proc. ./dev soak makes both: the packages in $MPROF_PACKAGES, the root as a tar archive.
. "$(dirname "$0")/common.sh"
packages=${MPROF_PACKAGES:-}
[ -n "$packages" ] && [ -f "$packages/root.tar" ] || { echo "skipped: ./dev soak makes packages and a root"; exit 77; }
[ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null || { echo "skipped: only root can enter another root"; exit 77; }
mkdir root && tar -xf "$packages/root.tar" -C root --exclude='./dev/*' || fail "unpacking the root"
cp "$packages"/mprof_*.deb "$packages"/libmprof0_*.deb "$packages"/libmprof-dev_*.deb root/tmp/ || fail "no packages in $packages"

# A mount namespace of its own: nothing stays mounted after it.
# within PROC COMMAND: runs the command in the root, with /proc (yes) or without it (no).
within() {
    unshare -m bash -c '[ "$1" = no ] || mount -t proc none "$2/proc" && exec chroot "$2" /bin/bash -euc "$3"' \
        bash "$1" "$work/root" "export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root; cd /tmp; $2"
}
[ -e root/dev/null ] || mknod -m 666 root/dev/null c 1 3 || fail "no /dev/null"
within yes 'dpkg -i ./*.deb' >install.txt 2>&1 || fail "installing the packages: $(tail -n 20 install.txt)"
within no '[ ! -e /proc/self ]' || fail "there is a /proc"
for program in root/usr/bin/mprof-* root/usr/lib/*/mprof/*.so; do
    is "$(stat -c %s "$program")" -le 1000000 "bytes of ${program##*/}"
done
for proc in yes no; do
    within $proc "
        mprof-run --quiet -o $proc.bin -- /bin/ls -l /usr/bin >/dev/null
        mprof-ingest -q -o $proc.db $proc.bin
        mprof-report $proc.db >$proc.txt
        mprof-export --format collapsed -o $proc.collapsed $proc.db" >"said.$proc" 2>&1 ||
        fail "/proc $proc: $(cat "said.$proc")"
    sane "root/tmp/$proc.db"
    [ "$(meta "root/tmp/$proc.db" program | sed 's,.*/,,')" = ls ] || fail "/proc $proc: the program is called '$(meta "root/tmp/$proc.db" program)'"
    grep -q 'ls' "root/tmp/$proc.txt" || fail "/proc $proc: the report does not name ls"
    [ -s "root/tmp/$proc.collapsed" ] || fail "/proc $proc: nothing is exported"
done
within yes 'dpkg -r libmprof-dev mprof libmprof0' >remove.txt 2>&1 || fail "removing the packages: $(tail -n 20 remove.txt)"
left=$(find root/usr -name '*mprof*' ! -path '*/share/doc/*')
[ -z "$left" ] || fail "removed packages leave: $left"
rm -rf root
