# bash completion for mprof-ctl, made from the table of its options
_mprof_ctl()
{
    local word=${COMP_WORDS[COMP_CWORD]} option=
    [ "$COMP_CWORD" -eq 0 ] || option=${COMP_WORDS[COMP_CWORD - 1]}
    # bash takes --name=value for three words.
    [ "$word" != = ] || word=
    [ "$option" != = ] || option=${COMP_WORDS[COMP_CWORD - 2]}
    case $option in
    -w | --wait) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    --references-stop) mapfile -t COMPREPLY < <(compgen -W '' -- "$word") ;;
    *)
        case $word in
        -*) mapfile -t COMPREPLY < <(compgen -W "--wait= --references-stop= --partial --quiet --help --version" -- "$word") ;;
        *) mapfile -t COMPREPLY < <(if [ "$COMP_CWORD" -eq 1 ]; then compgen -f -- "$word"; pgrep -x mprof-run; else compgen -W 'status pause resume mark snapshot references rotate stop' -- "$word"; fi) ;;
        esac
        ;;
    esac
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null || true
}
complete -o filenames -F _mprof_ctl mprof-ctl
