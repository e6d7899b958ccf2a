# SPDX-License-Identifier: BSD-2-Clause
# work_tmux.sh TMUX: starts a server of tmux, uses it by the command TMUX, and ends it.
t=$1
for ((i = 0; i < 100; i++)); do
    $t new-session -d -x 120 -y 40 -s one cat 2>/dev/null && break
    sleep 0.1
done
$t new-window -n two 'seq 1 3000; printf "\033[31mred\033[0m \033]0;title\007"; cat'
$t split-window -h cat \; split-window -v cat \; select-layout tiled
$t set -g status-right '#{?window_active,#[fg=red]a,b} #(echo hi) #{=5:pane_title}' \; set -g @user value
$t bind-key x 'display-message hello' \; bind -n F2 { if-shell true { display ok } { display no } }
$t copy-mode \; send-keys -X history-top \; send-keys -X begin-selection \; send-keys -X cursor-down
$t send-keys -X copy-selection \; paste-buffer \; send-keys hello Enter \; set-buffer abc \; show-buffer
$t list-keys \; choose-tree \; run-shell 'echo x' \; set-environment A b \; show-environment
$t set-hook -g after-new-window 'display hi' \; pipe-pane 'cat >/dev/null' \; capture-pane -p
$t list-windows -F '#{window_layout} #{s/a/b/:window_name} #{e|+|:1,2}'
TERM=xterm timeout 5 script -qc "$t attach" /dev/null </dev/null >/dev/null 2>&1 &
for ((i = 0; i < 50; i++)); do
    [ -n "$($t list-clients)" ] && break
    sleep 0.1
done
$t display-menu a b 'display c' \; display-panes \; refresh-client \; detach-client -a
wait
$t kill-session -t one \; kill-server
