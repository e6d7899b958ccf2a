# SPDX-License-Identifier: BSD-2-Clause
# Sourced by the tests of Python, with their two words: VERSION INTERPRETER.
# shellcheck shell=bash disable=SC2034
command -v sqlite3 >/dev/null || exit 77
version=$1 python=$2
[ -x "$python" ] || { echo "skipped: CPython $version is not installed"; exit 77; }
mkdir -p "$version" && cd "$version" || exit 1
. "$MPROF_SOURCE/tests/end_to_end/common.sh"
export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1
