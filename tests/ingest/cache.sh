#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Names and types that are kept between calls: a session is the same, byte for byte, with an empty
# cache, a filled one and none. Questions about changed files are never answered from the cache, and what goes
# wrong with its folder is not an error.
set -u
export PATH="$MPROF_BUILD/bin:/usr/bin:/bin"
command -v gcc g++ objcopy strip readelf sqlite3 >/dev/null || exit 77
unset DEBUGINFOD_URLS
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() { echo "FAILED: $*"; exit 1; }

cat >shapes.cpp <<'END'
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>
struct point { int x, y; char *label; };
struct shape { virtual ~shape() {} std::vector<point> points; };
struct circle : shape { double radius = 1; };
static shape *make(int kind) { return kind % 2 ? new circle : new shape; }
int main(int argc, char **)
{
    std::map<std::string, std::unique_ptr<shape>> all;
    for (int i = 0; i < 20; i++) {
        shape *made = make(i);
        for (int k = 0; k < i; k++)
            made->points.push_back(point{i, k, strdup("a label that is long enough")});
        all["a name that is not in the string " + std::to_string(i)].reset(made);
    }
    if (argc > 1)
        for (int i = 0; i < 5; i++)
            free(calloc(3, sizeof(point)));
    return all.size() == 20 ? 0 : 1;
}
END
build() { g++ -g -O1 -Wl,--build-id "$@" -o shapes shapes.cpp || fail build; }
record() { mprof-run --quiet -o "$1" -- "${@:2}" || fail "record $*"; }
build
record shapes.bin ./shapes
record more.bin ./shapes more
record python.bin /usr/bin/python3 -c 'import json; json.dumps({"a": [1, 2, 3]})'
sleep 3 # files that have just changed are not trusted

make() { mprof-ingest --quiet --force "--cache=$1" -o "$2.db" "${@:3}" >"$2.txt" 2>&1 || fail "ingest $* $(cat "$2.txt")"
    [ ! -s "$2.txt" ] || fail "a message: $(cat "$2.txt")"
    sqlite3 "$2.db" .dump >"$2.sql"; }
same() { cmp "$1.sql" "$2.sql" || fail "$3"; }
state() { stat -c '%i %n' "$1"/* 2>/dev/null; }
used() { stat -c %y "$1"/*; }

# warm CACHE NAME ARGUMENTS...: cold, then warm, like no cache; the second call asks nothing new.
warm() {
    local cache=$1 name=$2 before when
    shift 2
    make off "$name" "$@"
    make "$cache" cold "$@" && same "$name" cold "$name: cold"
    before=$(state "$cache") when=$(used "$cache")
    [ -n "$before" ] || fail "$name: nothing was kept"
    make "$cache" warm "$@" && same "$name" warm "$name: warm"
    [ "$(state "$cache")" = "$before" ] || fail "$name: the kept answers did not do"
    [ "$(used "$cache")" != "$when" ] || fail "$name: the kept answers were not used"
}
warm "$work/c1" python python.bin
warm "$work/c2" shapes shapes.bin
[ "$(sqlite3 shapes.db "SELECT count(*) FROM type WHERE name IN ('shape', 'circle', 'point', 'std::string')")" -ge 3 ] ||
    fail "types: $(sqlite3 shapes.db 'SELECT name FROM type')"
[ "$(sqlite3 shapes.db 'SELECT count(*) FROM type_member')" -ge 5 ] || fail 'members'
[ "$(stat -c %a c2)$(stat -c %a c2/*)" = 700600 ] || fail 'modes'
# Another run of the program, which begins alike and then asks other questions.
warm "$work/c2" more more.bin
make "$work/c2" warm shapes.bin && same shapes warm 'both runs are kept'
[ "$(ls c2 | wc -l)" = 1 ] || fail 'one program, one entry'
warm "$work/c2" several shapes.bin more.bin python.bin
make "$work/c2" warm python.bin && same python warm 'the first of several'

# The default is the user's folder, and tests have one of their own.
[[ ${XDG_CACHE_HOME-} = "$MPROF_BUILD"/* ]] || fail "XDG_CACHE_HOME=${XDG_CACHE_HOME-}"
XDG_CACHE_HOME=$work/xdg mprof-ingest --quiet --force -o x.db shapes.bin || fail XDG_CACHE_HOME
ls xdg/mprof/*.names >/dev/null || fail 'the folder below XDG_CACHE_HOME'
env -u XDG_CACHE_HOME HOME="$work/home" mprof-ingest --quiet --force -o x.db shapes.bin || fail HOME
[ ! -e home ] || fail 'a home was made'
mkdir home && env -u XDG_CACHE_HOME HOME="$work/home" mprof-ingest --quiet --force -o x.db shapes.bin
ls home/.cache/mprof/*.names >/dev/null || fail 'the folder below HOME'
XDG_CACHE_HOME=$work/no mprof-ingest --quiet --force --cache=off -o x.db shapes.bin || fail off
[ ! -e no ] || fail '--cache=off'

# Damage: the entry is not used, and is replaced.
entry=$(ls c2/*.names | head -n 1)
size=$(stat -c %s "$entry")
cp "$entry" kept
for ((at = 0; at < size; at += size / 12 + 1)); do
    cp kept "$entry"
    printf '\xa5\x5a' | dd of="$entry" bs=1 seek="$at" conv=notrunc status=none
    make "$work/c2" warm shapes.bin && same shapes warm "flipped at $at"
    head -c "$at" kept >"$entry"
    make "$work/c2" warm shapes.bin && same shapes warm "cut at $at"
done

# Folders that cannot be used are not an error.
touch file
mkdir open && chmod 777 open
for folder in /proc/none "$work/file" "$work/file/below" /dev/null "$work/open"; do
    make "$folder" warm shapes.bin && same shapes warm "the folder $folder"
done
[ -z "$(ls open)" ] || fail 'a folder that others may write to'
if [ "$(id -u)" = 0 ]; then
    mkdir other && cp c2/*.names other && chmod 700 other && chown -R 1:1 other
    before=$(state other)
    make "$work/other" warm shapes.bin && same shapes warm 'the folder of another user'
    [ "$(state other)" = "$before" ] || fail 'the folder of another user was written'
    if mkdir full && mount -t tmpfs -o size=8k none full 2>/dev/null; then
        make "$work/full" warm shapes.bin && same shapes warm 'a full folder'
        [ -z "$(ls full)" ] || fail 'a full folder has a part of an entry'
        mount -o remount,ro full
        make "$work/full" warm shapes.bin && same shapes warm 'a read-only folder'
        umount full
    fi
fi

# Several at once.
for i in 1 2 3 4 5 6; do
    mprof-ingest --quiet --force "--cache=$work/c3" -o "at_once$i.db" shapes.bin &
done
wait
for i in 1 2 3 4 5 6; do
    sqlite3 "at_once$i.db" .dump >at_once.sql && same shapes at_once 'several at once'
done
[ "$(ls c3 | wc -l)" = 1 ] || fail "left over: $(ls c3)"

# Debug information that comes later, and goes.
id=$(readelf -n shapes | sed -n 's/.*Build ID: //p')
cp shapes whole
mkdir -p "debug/.build-id/${id:0:2}"
objcopy --only-keep-debug whole later.debug
strip -g shapes
sleep 3
warm "$work/c2" stripped --debug-dir "$work/debug" shapes.bin
cmp -s shapes.sql stripped.sql && fail 'the debug information was not needed'
mv later.debug "debug/.build-id/${id:0:2}/${id:2}.debug"
make off separate --debug-dir "$work/debug" shapes.bin
cmp -s separate.sql stripped.sql && fail 'the debug information was not found'
make "$work/c2" warm --debug-dir "$work/debug" shapes.bin && same separate warm 'debug information that came'
rm -r debug/.build-id
make "$work/c2" warm --debug-dir "$work/debug" shapes.bin && same stripped warm 'debug information that went'

# The program built again at its path, first by the same source: with the same build-id, other lines.
cp whole shapes
sleep 3
warm "$work/c4" again shapes.bin
sed -i '1i // one line more' shapes.cpp
build -Wl,--build-id="0x$id"
make off rebuilt shapes.bin
cmp -s rebuilt.sql again.sql && fail 'the program is the same'
make "$work/c4" warm shapes.bin && same rebuilt warm 'a program of the same build-id'
build
make off other shapes.bin
make "$work/c4" warm shapes.bin && same other warm 'another program at its path'
rm shapes
make off gone shapes.bin
make "$work/c4" warm shapes.bin && same gone warm 'a program that is gone'
echo 'kept and not kept: the same sessions'
