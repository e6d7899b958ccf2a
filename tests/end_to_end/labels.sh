#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Labels come from the recording into each trace, the session and the exports; a later program replaces those of its keys.
set -euo pipefail
bin=$MPROF_BUILD/bin
rm -rf labels && mkdir labels && cd labels
labels() { sqlite3 "$1" "SELECT group_concat(key || '=' || value, ';') FROM meta WHERE key GLOB 'label.*'"; }
is() { [ "$2" = "$3" ] || { echo "$1: $2, not $3"; exit 1; }; }
refused() { # PATTERN COMMAND…
    local pattern=$1 status=0
    shift
    "$@" >refused.txt 2>&1 || status=$?
    [ $status -eq 2 ] && grep -q -- "$pattern" refused.txt || { echo "$*: ended with $status and said:"; cat refused.txt; exit 1; }
}

# An executed program has them, too. A comma stays a comma.
"$bin/mprof-run" -q --label service=shop --label 'region=eu, west' -o run.bin -- sh -c '/bin/ls / >listed; exit 0'
"$bin/mprof-ingest" -q run.bin
is "from the trace" "$(labels run.db)" "label.region=eu, west;label.service=shop"
for trace in run.bin run.bin.d/*; do
    is "$trace" "$("$bin/mprof-ingest" --dump "$trace" | grep -c ' label text "')" 2
done
"$bin/mprof-ingest" -q -f --label release=1.4 --label service=cart run.bin
is "ingest replaces one" "$(labels run.db)" "label.region=eu, west;label.release=1.4;label.service=cart"
is "the report" "$("$bin/mprof-report" summary --format json run.db | jq -r .facts.labels)" \
    "region=eu, west, release=1.4, service=cart"
"$bin/mprof-export" -f csv --tables tables --label release=1.5 --label host=web1 run.db
is "the tables" "$(grep -o '"label.*' tables/meta.csv | sort | tr '\n' ' ')" \
    '"label.host","web1" "label.region","eu, west" "label.release","1.5" "label.service","cart" '
# More labels than the samples have of their own.
options=()
for i in 1 2 3 4 5 6 7 8; do options+=(--label "key$i=text$i"); done
"$bin/mprof-export" -f pprof "${options[@]}" -o run.pb.gz run.db
python3 - run.pb.gz <<'END'
import gzip, sys
data = gzip.open(sys.argv[1]).read()
missing = [word for word in [b'key1', b'text8', b'region', b'eu, west', b'cart'] if word not in data]
sys.exit(f'not in the profile: {missing}' if missing else 0)
END
# A rotated recording has them in each trace.
cc -x c - -o service <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    while (access("stop", F_OK) != 0) {
        free(malloc(1000));
        usleep(1000);
    }
    return 0;
}
END
"$bin/mprof-run" -q --label service=shop --sample=1K --rotate=60s -o long.bin -- ./service &
until "$bin/mprof-ctl" -q long.bin rotate 2>waiting.txt; do sleep 0.05; done
touch stop
wait
for trace in long.bin long.bin.r1; do
    "$bin/mprof-ingest" -q -f -o long.db $trace
    is "$trace" "$(labels long.db)" "label.service=shop"
done

for label in =x a= 'a b=c' type=x "$(printf 'a=b\nc')"; do
    refused 'label' "$bin/mprof-ingest" --label "$label" run.bin
    refused 'label' "$bin/mprof-run" --label "$label" -o none.bin -- true
done
refused 'no other label has' "$bin/mprof-run" --label a=1 --label a=2 -o none.bin -- true
refused 'more than 8 labels' "$bin/mprof-run" "${options[@]}" --label more=x -o none.bin -- true
refused 'more than 128 bytes' "$bin/mprof-export" -f pprof --label "a=$(printf '%0200d' 0)" run.db
refused 'needs --check' "$bin/mprof-run" --label commit -o none.bin -- true
refused 'not with --compress' "$bin/mprof-ingest" --compress --label a=b run.bin
