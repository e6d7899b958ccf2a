#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Answers from the sums of ingest, compared with answers from the rows: of real programs, of a large
# trace, of several processes, of arenas and of a sample. Estimates from the stored sample of rows.
. "$MPROF_SOURCE/tests/end_to_end/common.sh"

check() { # NAME [SPANS]: the session NAME.db
    "$MPROF_BUILD/tests/check_summed" "$1.db" ${2:+"$2"} >out.txt 2>&1 && echo "ok: $1: $(cat out.txt)" && return
    echo "$1:"; head -20 out.txt
    failed=1
}
part() { # NAME SELECTION ALL [LOST]: a part of the session NAME.db
    "$MPROF_SOURCE/tests/session/part.sh" "$1.db" "${@:2}" && echo "ok: a part of $1" || failed=1
}
record() { # NAME OPTIONS… -- COMMAND…
    local name=$1
    shift
    mprof-run --quiet -o "$name.bin" "$@" >out.txt 2>&1 || fail "$name is not recorded: $(cat out.txt)"
    mprof-ingest --quiet -o "$name.db" "$name.bin" || fail "$name is not ingested"
}

record script -- perl -e 'my %h; for (1..70000) { $h{$_ % 997} .= "x" x ($_ % 50); push @{$l[$_ % 7]}, [$_] } print scalar keys %h'
check script spans
part script 'where size in 200..600' all at_peak_bytes,climb,replaced
cp script.db none.db && sqlite3 none.db "DELETE FROM slot_sum; DELETE FROM tile; DELETE FROM meta WHERE key = 'slot_ns'"
check none
# Tables of an earlier version, whose sums have fewer columns.
for column in function_total.short_lived type_total.at_peak_bytes size_bin.at_peak_count; do
    cp script.db earlier.db
    sqlite3 earlier.db "DROP VIEW v_function; DROP VIEW v_type; DROP VIEW v_size_bin;
        ALTER TABLE ${column%.*} DROP COLUMN ${column#*.}" || fail "$column is not dropped"
    check earlier
done
# Sums by stack come from packed arrays if these fit, otherwise from the table: here one of them is wrong.
stacks() { # WRONG SQL
    cp script.db "$1.db" && sqlite3 "$1.db" "$2" || fail "$1"
    check "$1"
}
stacks table 'UPDATE stack SET at_peak_count = at_peak_count + 1, at_peak_bytes = at_peak_bytes + 1'
for change in 'data = substr(data, 1, length(data) - 1)' "data = CAST(substr(data, 1, 4) || x'ffffffffffffff7f' || substr(data, 13) AS BLOB)" \
    'data = CAST(substr(data, 37) || substr(data, 1, 36) AS BLOB)' "data = CAST(x'ffffffff' || substr(data, 5) AS BLOB)"; do
    stacks array "UPDATE packed_array SET $change WHERE id = 9"
done
stacks array 'DELETE FROM packed_array WHERE id = 9'
stacks array 'UPDATE packed_array SET data = zeroblob(length(data)) WHERE id = 7'
# A sample of all rows gives exact estimates, or three times as much.
for times in 1 3; do
    cp script.db all.db
    sqlite3 all.db "INSERT INTO sample_chunk SELECT * FROM column_chunk WHERE id % 32 <> 12;
        INSERT INTO sample_chunk SELECT id, rows, 0, $times * 65536, $times * 65536, x'' FROM column_chunk WHERE id % 32 = 12"
    check all $times
done
record list -- ls -lR /usr/include
check list
record arena -- "$MPROF_BUILD/tests/arena"
check arena
part arena 'where arena is null or arena is not null' 'where arena is null or arena is not null' ''
part arena 'where arena is not null' 'where arena is not null'
record sample --sample=4096 -- perl -e 'push @l, "x" x ($_ % 500) for 1..20000'
check sample
# A recorded block stands for a whole number of blocks, which is rounded by its id.
part sample 'where size > 40' all \
    'at_peak_bytes,allocations,objects,live_count,avg_size,avg_lifetime,share,climb,wasted,count,avg lifetime,growth 25%..75%'
"$MPROF_BUILD/tests/synthetic_trace" one.bin 90000 4 20 && "$MPROF_BUILD/tests/synthetic_trace" two.bin 5000 &&
    mprof-ingest --quiet one.bin && mprof-ingest --quiet --process=all -o both.db one.bin two.bin || fail "the traces"
check one spans
check both spans
part both 'where thread != 1' 'where process is null or process is not null' at_peak_bytes,climb,replaced
exit $failed
