# bash completion for mprof-export, made from the table of its options
_mprof_export()
{
    local word=${COMP_WORDS[COMP_CWORD]} option=
    [ "$COMP_CWORD" -eq 0 ] || option=${COMP_WORDS[COMP_CWORD - 1]}
    # bash takes --name=value for three words.
    [ "$word" != = ] || word=
    [ "$option" != = ] || option=${COMP_WORDS[COMP_CWORD - 2]}
    case $option in
    -f | --format) mapfile -t COMPREPLY < <(compgen -W 'pprof pprof-text collapsed speedscope callgrind massif dhat heaptrack svg firefox chrome heapsnapshot csv ndjson parquet' -- "$word") ;;
    -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --sql) mapfile -t COMPREPLY < <(compgen -W 'duckdb postgresql clickhouse' -- "$word") ;;
    --by) mapfile -t COMPREPLY < <(compgen -W 'service host release program' -- "$word") ;;
    --filter) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --process) mapfile -t COMPREPLY < <(compgen -W 'all' -- "$word") ;;
    --at) mapfile -t COMPREPLY < <(compgen -W 'peak end' -- "$word") ;;
    --base) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --frames) mapfile -t COMPREPLY < <(compgen -W 'site all' -- "$word") ;;
    --value) mapfile -t COMPREPLY < <(compgen -W 'bytes allocations live_bytes live_count at_peak_bytes at_peak_count' -- "$word") ;;
    --pcs) mapfile -t COMPREPLY < <(compgen -W 'made-up real' -- "$word") ;;
    --tables) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --window) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --label) mapfile -t COMPREPLY < <(compgen -W 'service= host=' -- "$word") ;;
    --events) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --max-events) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    *)
        case $word in
        -*) mapfile -t COMPREPLY < <(compgen -W "--format= --output= --sql= --by= --filter= --process= --at= --base= --frames= --value= --pcs= --tables= --window= --label= --events= --max-events= --quiet --help --version" -- "$word") ;;
        *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        esac
        ;;
    esac
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null || true
}
complete -o filenames -F _mprof_export mprof-export
