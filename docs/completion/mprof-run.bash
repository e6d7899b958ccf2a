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
    --follow) mapfile -t COMPREPLY < <(compgen -W 'all fork exec none' -- "$word") ;;
    -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --rotate) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --keep) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --max-size) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --min-free) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --sample) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --unwind) mapfile -t COMPREPLY < <(compgen -W 'auto eh fp instrument off' -- "$word") ;;
    --depth) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --clock) mapfile -t COMPREPLY < <(compgen -W 'exact fast' -- "$word") ;;
    --residency) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --references) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --references-stop) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --start-on) mapfile -t COMPREPLY < <(compgen -W 'signal file: rss> live> allocs> mark: call: call' -- "$word") ;;
    --start-after) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --stop-on) mapfile -t COMPREPLY < <(compgen -W 'signal file: rss> live> allocs> mark: call: call' -- "$word") ;;
    --duration) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --toggle) mapfile -t COMPREPLY < <(compgen -W 'SIGUSR1 SIGUSR2 SIGPROF SIGRTMIN+1' -- "$word") ;;
    --session) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --check) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --base) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --format) mapfile -t COMPREPLY < <(compgen -W 'text csv json markdown github sarif' -- "$word") ;;
    --verdict) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --junit) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --history) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --label) mapfile -t COMPREPLY < <(compgen -W 'service= release=' -- "$word") ;;
    *)
        case $word in
        -*) mapfile -t COMPREPLY < <(compgen -W "--pid= --follow= --output= --force --compress --rotate= --keep= --max-size= --min-free= --sample= --mmap --free-stacks --unwind= --depth= --clock= --python --ecl --sized-delete --suppressions --residency= --references= --references-stop= --partial --start-on= --start-after= --stop-on= --duration= --toggle= --open --live --session= --check= --base= --format= --verdict= --junit= --history= --label= --quiet --help --version" -- "$word") ;;
        *) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
        esac
        ;;
    esac
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null || true
}
complete -o filenames -F _mprof_run mprof-run
