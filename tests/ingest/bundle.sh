#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# mprof-ingest --bundle: with only the session and the trace, after all other files have gone, the
# trace is ingested to the same names and types. A message tells which files could not be copied.
set -u
export PATH="$MPROF_BUILD/bin:/usr/bin:/bin"
command -v gcc g++ objcopy sqlite3 >/dev/null || exit 77
unset DEBUGINFOD_URLS
rm -rf bundle && mkdir bundle && cd bundle || exit 1
fail() { echo "FAILED: $*"; exit 1; }
ask() { sqlite3 "$1" "$2"; }

here=$MPROF_SOURCE/tests/ingest/symbols/programs
mkdir place source
cp "$here/keeper.c" "$here/keeper_plug.c" source
gcc -O2 -g -Wl,--build-id -o place/keeper source/keeper.c -ldl || exit 1
gcc -O2 -g -shared -fPIC -Wl,--build-id -o place/plug.so source/keeper_plug.c || exit 1
# The library's debug information lies in a file of its own.
mkdir -p debug/.build-id
id=$(readelf -n place/plug.so | sed -n 's/.*Build ID: //p')
mkdir -p "debug/.build-id/${id:0:2}"
objcopy --only-keep-debug place/plug.so "debug/.build-id/${id:0:2}/${id:2}.debug"
strip -g place/plug.so
(cd place && mprof-run --quiet -o ../trace.bin -- ./keeper ./plug.so) || fail recording

mprof-ingest --quiet --debug-dir "$PWD/debug" -o plain.db trace.bin || fail ingest
[ "$(ask plain.db 'SELECT count(*) FROM bundle')$(ask plain.db 'SELECT count(*) FROM sqlar')" = 00 ] || fail 'a bundle without --bundle'
mprof-ingest --quiet --bundle --debug-dir "$PWD/debug" -o bundled.db trace.bin || fail 'ingest --bundle'
state() { ask bundled.db "SELECT kind || ' ' || state FROM bundle WHERE name LIKE '%$1'"; }
is() { [ "$1" = "$2" ] || fail "$3: '$1', not '$2'"; }
is "$(state place/keeper)" 'module copied' program
is "$(state place/plug.so)" 'module copied' library
is "$(state "${id:2}.debug")" 'debug copied' 'its debug information'
is "$(ask bundled.db "SELECT name FROM bundle WHERE name LIKE '%${id:2}.debug'")" "usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" 'its place'
is "$(state source/keeper.c)" 'source copied' source
is "$(ask bundled.db "SELECT count(*) FROM bundle WHERE name LIKE '%vdso%' AND state LIKE 'copied'")" 0 'the kernel is not a file'
is "$(ask bundled.db "SELECT count(*) FROM bundle JOIN sqlar USING (name)")" "$(ask bundled.db "SELECT count(*) FROM bundle WHERE state = 'copied'")" 'copies'
is "$(ask bundled.db 'PRAGMA integrity_check')" ok integrity
is "$(ask bundled.db "SELECT sqlar_uncompress(data, sz) FROM sqlar WHERE name LIKE '%source/keeper.c'")" "$(cat source/keeper.c)" 'the text of a source'
# Anyone may put a link under the name of the perf map.
map=/tmp/perf-$(ask bundled.db "SELECT value FROM meta WHERE key = 'pid'").map
[ ! -e "$map" ] || fail "$map is there"
ln -s "$PWD/source/keeper.c" "$map"
mprof-ingest --quiet --bundle -o linked.db trace.bin
linked=$(ask linked.db "SELECT count(*) FROM bundle WHERE kind = 'perf map'")
rm "$map" && echo '1000 10 generated' >"$map"
mprof-ingest --quiet --bundle -o mapped.db trace.bin
mapped=$(ask mapped.db "SELECT state FROM bundle WHERE kind = 'perf map'")
rm "$map"
is "$linked $mapped" '0 copied' 'the perf map'
# Everything else is the same as without the bundle.
everything() { sqlite3 "$1" .dump | grep -vE '^INSERT INTO (bundle|sqlar)|^INSERT INTO sqlite_stat'; }
cmp <(everything plain.db) <(everything bundled.db) || fail 'the bundle changed the session'

# Another machine, which has none of the files.
mkdir elsewhere && mv place source debug elsewhere
mprof-ingest --quiet -o nameless.db trace.bin || fail 'ingest without the files'
names='SELECT function, file, line, symbols, confidence, type FROM v_allocation JOIN module ON name = module ORDER BY size, alloc_ns'
[ "$(ask nameless.db "$names")" != "$(ask plain.db "$names")" ] || fail 'the files were not needed'
mkdir root && (cd root && sqlite3 ../bundled.db -Ax) || fail unpacking
mprof-ingest --quiet --sysroot "$PWD/root" -o again.db trace.bin || fail 'ingest of the unpacked bundle'
is "$(ask again.db "$names")" "$(ask plain.db "$names")" 'names and types'
cmp <(everything plain.db) <(everything again.db) || fail 'another session'
cmp "root$PWD/place/keeper" elsewhere/place/keeper || fail 'another program'
mprof-tui --script /dev/null --size 80x24 bundled.db >screen.txt || fail 'the browser'

# A message tells which files have changed or gone, and nothing leads out of the folder into which
# the bundle is unpacked.
mkdir place && echo changed >place/keeper
mprof-ingest --quiet --bundle -o missing.db trace.bin || fail 'ingest --bundle without the files'
ask missing.db "SELECT state FROM bundle WHERE name LIKE '%place/keeper'" | grep -q 'not a readable ELF file' || fail "keeper: $(ask missing.db 'SELECT * FROM bundle')"
ask missing.db "SELECT state FROM bundle WHERE name LIKE '%place/plug.so'" | grep -q 'No such file' || fail 'plug.so'
is "$(ask missing.db "SELECT count(*) FROM sqlar WHERE name LIKE '/%' OR name LIKE '%..%'")" 0 'names that lead out'

# Split debug information: one file for each unit, named from where the compiler ran.
mkdir objects && cp elsewhere/source/* objects
for way in '-gdwarf-5 -gsplit-dwarf' '-gdwarf-4 -gsplit-dwarf'; do
    rm -rf place root away split*.db split.bin && mkdir place away
    # shellcheck disable=SC2086
    gcc -O2 $way -Wl,--build-id -o place/keeper objects/keeper.c -ldl || exit 1
    # shellcheck disable=SC2086
    gcc -O2 $way -shared -fPIC -Wl,--build-id -o place/plug.so objects/keeper_plug.c || exit 1
    (cd place && mprof-run --quiet -o ../split.bin -- ./keeper ./plug.so) || fail recording
    mprof-ingest --quiet -o split.db split.bin || fail "ingest $way"
    mprof-ingest --quiet --bundle -o split-bundled.db split.bin || fail "ingest --bundle $way"
    is "$(ask split-bundled.db "SELECT count(*) FROM bundle WHERE name LIKE '%.dwo' AND state = 'copied' AND kind = 'debug'")" 2 ".dwo files, $way"
    # The program alone is not enough.
    mkdir alone && mv place/*.dwo alone && mprof-ingest --quiet --bundle -o split-alone.db split.bin
    is "$(ask split-alone.db "SELECT count(*) FROM bundle WHERE name LIKE '%.dwo' AND state LIKE '%No such file%'")" 2 'missing .dwo files'
    [ "$(ask split-alone.db "$names")" != "$(ask split.db "$names")" ] || fail "the .dwo files were not needed, $way"
    mv alone place objects/* away/
    mkdir root && (cd root && sqlite3 ../split-bundled.db -Ax) || fail unpacking
    mprof-ingest --quiet --sysroot "$PWD/root" -o split-again.db split.bin || fail 'ingest of the unpacked bundle'
    is "$(ask split-again.db "$names")" "$(ask split.db "$names")" "names and types, $way"
    cmp <(everything split.db) <(everything split-again.db) || fail "another session, $way"
    mv away/*.c objects
done

# A type that only the source text names is found in the unpacked text.
rm -rf place root away && mkdir place away
cat >objects/coin.c <<'TEXT'
#include <stdlib.h>
struct coin {
    long value, year, mint;
} first;
void *volatile sink;
int main(void)
{
    sink = malloc(sizeof(struct coin));
    return (int)first.value;
}
TEXT
gcc -O1 -g -Wl,--build-id -o place/coin objects/coin.c && mprof-run --quiet -o coin.bin -- place/coin || fail recording
type() { ask "$1" 'SELECT type FROM v_allocation WHERE size = 24'; }
mprof-ingest --quiet --bundle -o coin.db coin.bin || fail 'ingest --bundle of coin'
is "$(type coin.db)" coin 'a type by its source'
mkdir root && (cd root && sqlite3 ../coin.db -Ax) && mv objects away/ || fail unpacking
mprof-ingest --quiet -o coin-sourceless.db coin.bin || fail 'ingest of coin'
[ "$(type coin-sourceless.db)" != coin ] || fail 'the source was not needed'
mv place away/
mprof-ingest --quiet --sysroot "$PWD/root" -o coin-again.db coin.bin || fail 'ingest of the unpacked coin'
is "$(type coin-again.db)" coin 'a type by its unpacked source'
