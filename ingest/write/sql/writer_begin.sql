-- SPDX-License-Identifier: BSD-2-Clause
-- No other process uses the file before it is complete, so it needs no protection.
PRAGMA page_size = 8192;
PRAGMA journal_mode = OFF;
PRAGMA secure_delete = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -65536;
BEGIN;
