# bash completion for mprof-ingest, made from the table of its options
_mprof_ingest()
{
    local word=${COMP_WORDS[COMP_CWORD]} option=
    [ "$COMP_CWORD" -eq 0 ] || option=${COMP_WORDS[COMP_CWORD - 1]}
    # bash takes --name=value for three words.
    [ "$word" != = ] || word=
    [ "$option" != = ] || option=${COMP_WORDS[COMP_CWORD - 2]}
    case $option in
    -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --process) mapfile -t COMPREPLY < <(compgen -W 'all' -- "$word") ;;
    --index) mapfile -t COMPREPLY < <(compgen -W 'none stack all' -- "$word") ;;
    --label) mapfile -t COMPREPLY < <(compgen -W 'service= release=' -- "$word") ;;
    --suppressions) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --debug-dir) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --sysroot) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --cache) mapfile -t COMPREPLY < <(compgen -W 'off' -- "$word") ;;
    *)
        case $word in
        -*) mapfile -t COMPREPLY < <(compgen -W "--output= --force --quiet --process= --live --index= --bundle --redact --label= --suppressions= --debug-dir= --sysroot= --cache= --dump --compress --rebuild --help --version" -- "$word") ;;
        *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        esac
        ;;
    esac
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null || true
}
complete -o filenames -F _mprof_ingest mprof-ingest
