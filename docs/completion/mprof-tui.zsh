#compdef mprof-tui
# zsh completion for mprof-tui, made from the table of its options
_arguments -s -S \
    '--filter=[begin with this filter, a text or the name of a saved filter]:TEXT: ' \
    '--view=[begin with this view: overview, timeline, memory, tree, functions, types, leaks, allocations, sizes, rss, retained, lifetimes, threads, arenas, source, diff, graphs, sql or detail]:NAME:(overview timeline memory tree functions types leaks allocations sizes rss retained lifetimes threads arenas source diff graphs sql detail)' \
    '--process=[which process of a run to show: its name, PID, PID.N for the Nth program that it executed, or all for their sum (default: the one that used most)]:WHICH:(all)' \
    '--theme=[the colours: dark or light, for such a ground; colour-blind, for a dark ground; mono, with patterns in place of colours (default: mono with NO_COLOR, light if COLORFGBG names a light ground, otherwise dark)]:NAME:(dark light colour-blind mono)' \
    '--ascii[show only ASCII characters]' \
    '--fresh[begin with the overview of everything, not where you left the session]' \
    '--live[SESSION is the trace of a program that still runs: show it as it grows]' \
    '(-y --yes)'{-y,--yes}'[if SESSION is a trace, make the session without a question; with --live replace one that exists]' \
    '--script=[read keys from FILE (- is standard input) and write screens as text, without a terminal]:FILE:_files' \
    '--size=[screen size for --script (default: 80x24)]:WxH: ' \
    '--graph=[do a task with saved filters, and end: '\''list'\'' prints those of SESSION, of your folder and those that ship; '\''export NAME'\'' prints one; '\''import FILE'\'' stores the graph of the file NAME.graph in SESSION, or in your folder if none is named or it cannot be written; '\''delete NAME'\'' and '\''rename OLD=NEW'\'' take the one of SESSION, or of your folder if it is not stored there; '\''run TEXT'\'' runs a text of the filter language, whose steps '\''write "FILE"'\'' make files, and prints its number or how many rows it has; '\''run-all TEXT'\'' lets the saved filters that it uses write files, too. All but the last two work without SESSION]:TASK:(list export import delete rename run run-all)' \
    '--setting=[do a task with settings, and end: '\''list'\'' prints those of SESSION and of your folder; '\''add SETTING'\'' and '\''delete SETTING'\'' change those of SESSION, or without SESSION those of your folder for all sessions. A SETTING is '\''hide WORD'\'' (a namespace, class, module or function is not your own code), '\''show WORD'\'' (it is, although it is hidden by default), '\''wrapper FUNCTION'\'' (it only wraps an allocator, so the call site is its caller) or '\''source FROM=TO'\'' (source files whose path begins with FROM lie under TO here)]:TASK:(list add delete)' \
    '--print-config[print a configuration with all keys and actions, for $XDG_CONFIG_HOME/mprof/tui.conf, in which every line is a comment, and end]' \
    '--man[print the manual page, for man -l]' \
    '(-h --help)'{-h,--help}'[print this text]' \
    '(-V --version)'{-V,--version}'[print the version]' \
    '*:FILE:_files'
