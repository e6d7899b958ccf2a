#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that is linked with libmprof.a may have functions, variables and hooks of the names that
# the recorder uses inside: both have their own.
command -v sqlite3 >/dev/null || exit 77
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
archive=$MPROF_BUILD/lib/libmprof.a
wrap=-Wl$(grep -o -- '--wrap=[A-Za-z_]*' "$MPROF_SOURCE/docs/other-allocators.md" | sed 's/^/,/' | tr -d '\n')

nm -g --defined-only "$archive" | awk 'NF == 3 { print $3 }' | LC_ALL=C sort >global
grep -vE '^(__wrap_|mprof_|set_mprof_autosave$|__cyg_profile_func_)' global >others && fail "other names are global: $(cat others)"
is "$(grep -cE '^(__wrap_malloc|mprof_mark)$' global)" -eq 2 "the names that programs use"

# A program with a function of each name that is a function of the recorder, in words of C.
nm --defined-only "$archive" | awk '$2 == "t" && $3 ~ /^[a-z]+_[a-z_]+$/ { print $3 }' |
    grep -vxE 'at_quick_exit|dl_iterate_phdr|pthread_(atfork|self)|secure_getenv' | LC_ALL=C sort -u >inside
is "$(wc -l <inside)" -gt 300 "functions inside the recorder"
{
    echo '#include <stdlib.h>'
    echo 'long calls, hooks, last;'
    # They differ, so that no compiler makes one of them.
    awk '{ print "__attribute__((noinline)) void *" $0 "(size_t size);"
           print "void *" $0 "(size_t size) { calls++; last = " NR "; return malloc(size); }" }' inside
    echo 'int real = 7, thread_self = 8;'
    echo '#define HOOK __attribute__((no_instrument_function))'
    echo 'HOOK void __cyg_profile_func_enter(void *function, void *site); HOOK void __cyg_profile_func_exit(void *function, void *site);'
    echo 'HOOK void __cyg_profile_func_enter(void *function, void *site) { (void)function; (void)site; hooks++; }'
    echo 'HOOK void __cyg_profile_func_exit(void *function, void *site) { (void)function; (void)site; }'
    echo 'int main(void) { free(malloc(77));'
    awk '{ print "free(" $0 "(" NR + 1000 "));" }' inside
    echo 'return real == 7 && thread_self == 8 && calls == hooks - 1 ? 0 : 1; }'
} >names.c
for kind in "cc -static" "cc -static-pie -fPIE" "cc -O2 -static -flto" "clang -static"; do
    command -v "${kind%% *}" >/dev/null || { echo "$kind: not installed"; continue; }
    # shellcheck disable=SC2086 # words
    $kind -g -fno-builtin -finstrument-functions -o names names.c "$archive" "$wrap" -Wl,--eh-frame-hdr 2>linker ||
        { fail "$kind: is not linked"; cat linker; continue; }
    rm -f names.bin names.db
    MPROF_OUTPUT=names.bin ./names || fail "$kind: the program gives $?"
    mprof-run --force -o run.bin sh -c './names; exit $?' 2>said || fail "$kind: executed, the program gives $?"
    grep -q "recorded .*: 2 processes" said && ! grep -q "not recorded" said || fail "$kind: $(cat said)"
    mprof-ingest --quiet -o names.db names.bin
    ask names.db "SELECT DISTINCT function FROM v_allocation WHERE size BETWEEN 1001 AND 1000 + $(wc -l <inside)" |
        LC_ALL=C sort | diff inside - >differ || fail "$kind: other functions allocate: $(head -5 differ)"
done

# Without hooks of its own the recorder's report the calls.
cat >hooked.c <<'C'
#include <stdlib.h>
static void *outer(size_t size) { return malloc(size); }
int main(void) { free(outer(123)); return 0; }
C
cc -g -O0 -fno-builtin -static -finstrument-functions -o hooked hooked.c "$archive" "$wrap" -Wl,--eh-frame-hdr || fail "no program with hooks"
MPROF_OPTIONS=unwind=instrument MPROF_OUTPUT=hooked.bin ./hooked || fail "the program with hooks gives $?"
mprof-ingest --quiet -o hooked.db hooked.bin
is "$(ask hooked.db "SELECT count(*) FROM v_allocation WHERE size = 123 AND function = 'outer'")" -eq 1 "the recorder's hooks"
exit $failed
