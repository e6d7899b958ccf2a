#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The options of each program are one table: the heads of the man page and the completion files are
# made from it (MPROF_REFRESH=1 writes them again), --help lists it, and the program takes every
# option that any of them names, with its letter, and no other. Each fault gets one line.
set -u
failed=0
complain() { printf '%s\n' "$*"; failed=1; }
documents=$MPROF_BUILD/tests/option_documents
work=$PWD/options_documented.work
rm -rf "$work" && mkdir -p "$work" || exit 1

# same MADE FILE WHAT: checks that the file is the one that was made.
same() {
    [ -z "${MPROF_REFRESH:-}" ] || cp "$1" "$2"
    diff "$2" "$1" || complain "$3 is not what the table of options gives; MPROF_REFRESH=1 takes that"
}

# accepted PROGRAM OPTION [VALUE]: checks that the program knows it. --help after it ends the program.
accepted() {
    local program=$1 said
    shift
    said=$("$MPROF_BUILD/bin/$program" "$@" --help 2>&1 </dev/null)
    ! grep -qE "there is no option|needs an argument|takes no argument" <<<"$said"
}

for program in mprof-run mprof-ctl mprof-ingest mprof-tui mprof-report mprof-export; do
    page=$MPROF_SOURCE/docs/man/$program.1
    "$documents" "$program" names >"$work/names" || exit 1
    for shell in bash zsh fish; do
        "$documents" "$program" $shell >"$work/$program.$shell"
        same "$work/$program.$shell" "$MPROF_SOURCE/docs/completion/$program.$shell" "the completion of $program for $shell"
        $shell -n "$work/$program.$shell" || complain "the completion of $program is not a script of $shell"
    done
    if [ "$program" = mprof-tui ]; then
        "$MPROF_BUILD/bin/mprof-tui" --man >"$work/$program.1"
    else
        "$documents" "$program" man <"$page" >"$work/$program.1" || complain "the man page of $program is not whole"
    fi
    same "$work/$program.1" "$page" "the man page of $program"
    complaints=$(MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -l "$page" 2>&1 >/dev/null) || true
    [ -z "$complaints" ] || complain "$page: $complaints"
    ! grep -nE '^[[:alnum:]]$' "$page" || complain "$page has lines of one character"

    help=$("$MPROF_BUILD/bin/$program" --help) || complain "$program --help failed"
    while read -r name letter argument; do
        grep -qE -- "^  (-$letter, |    )$name([=[ ]|\$)" <<<"$help" || complain "$program --help does not list $name"
        case $argument in
        needed)
            accepted "$program" "$name=1" || complain "$program refuses $name=1"
            accepted "$program" "$name" 1 || complain "$program refuses $name 1"
            [ "$letter" = - ] || accepted "$program" "-$letter" 1 || complain "$program refuses -$letter 1"
            ;;
        *)
            accepted "$program" "$name" || complain "$program refuses $name"
            [ "$letter" = - ] || accepted "$program" "-$letter" || complain "$program refuses -$letter"
            ;;
        esac
    done <"$work/names"
    # All words that look like options in the page's section of options are options.
    MANWIDTH=200 LC_ALL=C.UTF-8 man -P cat -l "$page" 2>/dev/null | sed -n '/^OPTIONS/,/^[A-Z]/p' |
        grep -oE '^ +(-[a-zA-Z], )?--?[a-zA-Z][a-z-]*' | grep -oE -- '--?[a-zA-Z][a-z-]*' | sort -u >"$work/documented"
    while read -r option; do
        accepted "$program" "$option" 1 || accepted "$program" "$option" || complain "$program refuses $option, which its page explains"
    done <"$work/documented"
    [ "$(grep -c -- '^--' "$work/documented")" -eq "$(wc -l <"$work/names")" ] ||
        complain "the page of $program explains $(grep -c -- '^--' "$work/documented") options of $(wc -l <"$work/names")"
    for wrong in --nonsense -Z --help=1; do
        said=$("$MPROF_BUILD/bin/$program" $wrong 2>&1 >/dev/null </dev/null)
        status=$?
        [ $status -eq 2 ] || complain "$program $wrong ends with $status, not 2"
        [ "$(wc -l <<<"$said")" -eq 1 ] && grep -q -- "$program --help" <<<"$said" ||
            complain "$program $wrong does not say one line that names --help: $said"
    done
    said=$("$MPROF_BUILD/bin/$program" 2>&1 >/dev/null </dev/null)
    [ "$(wc -l <<<"$said")" -eq 1 ] || complain "$program alone says more than one line: $said"
    for option in --version -V; do
        "$MPROF_BUILD/bin/$program" $option | grep -qE "^$program [0-9]+\.[0-9]+" ||
            complain "$program $option does not name the program and a version"
    done
    cmp -s <("$MPROF_BUILD/bin/$program" -h) <(printf '%s\n' "$help") || complain "$program -h is not --help"
done

# The completion as bash calls it: of --unwind=e, which are three words for bash, and of --fol.
completed() {
    bash -c '. "$1"; COMP_WORDS=("${@:2}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _mprof_run; echo "${COMPREPLY[*]}"' \
        bash "$work/mprof-run.bash" "$@"
}
[ "$(completed mprof-run --unwind = e)" = eh ] || complain "--unwind=e is not completed: $(completed mprof-run --unwind = e)"
[ "$(completed mprof-run --fol)" = --follow= ] || complain "--fol is not completed"

# The others complete lines as they do for a user. The first word is what a Tab after the second one
# makes of it.
mkdir -p "$work/functions" "$work/home" && : >"$work/filename-of-session.db"
for program in mprof-run mprof-ctl mprof-ingest mprof-tui mprof-report mprof-export; do
    cp "$work/$program.zsh" "$work/functions/_$program"
done
while IFS='|' read -r wanted typed; do
    # A terminal of its own, where a Tab completes and Ctrl-X prints the line.
    made=$(cd "$work" && HOME=$work/home zsh -f -c '
        zmodload zsh/zpty
        zpty terminal zsh -f -i
        zpty -w terminal "PS1= RPS1= PS2=; unsetopt zle_bracketed_paste prompt_sp; unset zle_bracketed_paste; fpath=($1 \$fpath)"
        zpty -w terminal "autoload -Uz compinit && compinit -D -u; stty -echo"
        zpty -w terminal "show() { print -r -- \"<\${BUFFER}>\"; BUFFER=; }; zle -N show; bindkey ^X show"
        zpty -w terminal "print rea\"\"dy"
        zpty -r -m terminal text "*ready*" || exit 1
        zpty -w -n terminal "$2"$'"'\t\x18'"'
        zpty -r -m terminal text "*<*>*" || exit 1
        print -r -- "$text"
        zpty -d terminal
    ' zsh "$work/functions" "$typed" | tr -d '\r' | sed -n 's/.*<\(.*\)>.*/\1/p' | sed 's/ *$//' | tail -n 1)
    [ "$made" = "$wanted" ] || complain "zsh completes $typed to $made, not $wanted"
done <<'LINES'
mprof-run --unwind=eh|mprof-run --unwind=e
mprof-run --follow=|mprof-run --fol
mprof-run --start-on=signal|mprof-run --start-on=si
mprof-run --quiet seq --equal-width|mprof-run --quiet seq --equal-width
mprof-ctl 1 snapshot|mprof-ctl 1 sn
mprof-ingest --index=stack|mprof-ingest --index=s
mprof-report fragmentation|mprof-report frag
mprof-report peak filename-of-session.db|mprof-report peak filen
mprof-export --format speedscope|mprof-export --format sp
mprof-tui --version|mprof-tui --vers
LINES
while IFS='|' read -r wanted typed; do
    made=$(cd "$work" && HOME=$work/home fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$work/${typed%% *}.fish" "$typed" | cut -f 1 | paste -sd ' ')
    [ "$made" = "$wanted" ] || complain "fish completes $typed by $made, not $wanted"
done <<'LINES'
--unwind=eh|mprof-run --unwind=e
--follow|mprof-run --fol
--start-on=rss>|mprof-run --start-on=rs
|mprof-run seq --fol
snapshot|mprof-ctl 1 sn
--index=stack|mprof-ingest --index=s
fragmentation|mprof-report frag
filename-of-session.db|mprof-report peak filen
speedscope|mprof-export --format sp
--version|mprof-tui --vers
LINES
exit $failed
