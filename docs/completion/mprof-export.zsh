#compdef mprof-export
# zsh completion for mprof-export, made from the table of its options
_arguments -s -S \
    '(-f --format)'{-f+,--format=}'[the format, see below]:NAME:(pprof pprof-text collapsed speedscope callgrind massif dhat heaptrack svg firefox chrome heapsnapshot csv ndjson parquet)' \
    '(-o --output)'{-o+,--output=}'[write to FILE, which appears when it is complete (default: standard output)]:FILE:_files' \
    '--sql=[instead of exporting a session, write the filter as a query for the tables of many sessions in duckdb, postgresql or clickhouse; a SESSION then only has saved filters]:DATABASE:(duckdb postgresql clickhouse)' \
    '--by=[with --sql: one answer for all sessions that have the same labels or keys of meta, such as service,host]:KEY,…:(service host release program)' \
    '--filter=[export only what this filter selects, a text or the name of a saved filter]:TEXT: ' \
    '--process=[which process of a run to export: its name, PID, PID.N for the Nth program that it executed, or all for their sum (default: the one that used most)]:WHICH:(all)' \
    '--at=[take what is live at TIME instead of at the end: 2.5s, peak, or the name of a mark]:TIME:(peak end)' \
    '--base=[export the difference to this session: what is negative was more there]:SESSION:_files' \
    '--frames=[which frames of a stack to export: from the call site outward, or all, with the allocators inside it (default: site)]:WHICH:(site all)' \
    '--value=[for collapsed and svg: which sum to export: bytes, allocations, live_bytes, live_count, at_peak_bytes or at_peak_count (default: bytes; with --at live_bytes)]:WHICH:(bytes allocations live_bytes live_count at_peak_bytes at_peak_count)' \
    '--pcs=[for pprof-text: write made-up addresses with their names, or the real addresses and the mappings, for a reader that has the binaries (default: made-up)]:WHICH:(made-up real)' \
    '--tables=[for csv, ndjson and parquet: write all tables of the session into the folder DIR, with scripts that load them into PostgreSQL, DuckDB and ClickHouse]:DIR:_files' \
    '--window=[for pprof: write a file for each such part of the run, as 10s: what was allocated in it, and what was live at its end; FILE.pb.gz becomes FILE.0001.pb.gz and so on]:LENGTH: ' \
    '--label=[for pprof, parquet and --tables: give all samples, rows, or the session in the table meta, this label, as service=shop, in place of the session'\''s own of that key; up to 8 times]:KEY=TEXT:(service= host=)' \
    '--events=[for chrome: show the lives of the N largest blocks (default: 1000)]:N: ' \
    '--max-events=[for firefox: refuse to write more than N allocations and frees (default: 2000000)]:N: ' \
    '(-q --quiet)'{-q,--quiet}'[print only errors and warnings]' \
    '(-h --help)'{-h,--help}'[print this text]' \
    '(-V --version)'{-V,--version}'[print the version]' \
    '*:FILE:_files'
