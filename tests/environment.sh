# SPDX-License-Identifier: BSD-2-Clause
# Sourced by bash before each test script (BASH_ENV): what a user may have set up for himself is kept out.

# Not ~/.sqliterc, which may change how answers look.
sqlite3() { command sqlite3 -init /dev/null "$@"; }
