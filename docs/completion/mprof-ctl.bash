# bash completion for mprof-ctl
_mprof_ctl()
{
    local word=${COMP_WORDS[COMP_CWORD]}
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "--wait --quiet --help --version" -- "$word") ;;
    *)
        if [ "$COMP_CWORD" -eq 1 ]; then
            mapfile -t COMPREPLY < <(compgen -f -- "$word"; pgrep -x mprof-run)
        else
            mapfile -t COMPREPLY < <(compgen -W 'status pause resume mark snapshot stop' -- "$word")
        fi
        ;;
    esac
}
complete -o filenames -F _mprof_ctl mprof-ctl
