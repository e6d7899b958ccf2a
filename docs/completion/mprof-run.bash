# bash completion for mprof-run, made from the table of its options
_mprof_run()
{
    local word=${COMP_WORDS[COMP_CWORD]} option=
    [ "$COMP_CWORD" -eq 0 ] || option=${COMP_WORDS[COMP_CWORD - 1]}
    # bash takes --name=value for three words.
    [ "$word" != = ] || word=
    [ "$option" != = ] || option=${COMP_WORDS[COMP_CWORD - 2]}
    case $option in
    -p | --pid) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --session) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --unwind) mapfile -t COMPREPLY < <(compgen -W 'auto eh fp instrument off' -- "$word") ;;
    --depth) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --clock) mapfile -t COMPREPLY < <(compgen -W 'exact fast' -- "$word") ;;
    --follow) mapfile -t COMPREPLY < <(compgen -W 'all fork exec none' -- "$word") ;;
    --max-size) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --min-free) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --sample) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --rotate) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --keep) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --start-on) mapfile -t COMPREPLY < <(compgen -W 'signal file: rss> live> allocs> mark: call: call' -- "$word") ;;
    --start-after) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --stop-on) mapfile -t COMPREPLY < <(compgen -W 'signal file: rss> live> allocs> mark: call: call' -- "$word") ;;
    --duration) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --toggle) mapfile -t COMPREPLY < <(compgen -W 'SIGUSR1 SIGUSR2 SIGPROF SIGRTMIN+1' -- "$word") ;;
    *)
        case $word in
        -*) mapfile -t COMPREPLY < <(compgen -W "--pid= --output= --force --open --live --session= --unwind= --depth= --clock= --free-stacks --follow= --max-size= --min-free= --mmap --compress --sample= --rotate= --keep= --start-on= --start-after= --stop-on= --duration= --toggle= --suppressions --sized-delete --python --ecl --quiet --help --version" -- "$word") ;;
        *) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
        esac
        ;;
    esac
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null || true
}
complete -o filenames -F _mprof_run mprof-run
