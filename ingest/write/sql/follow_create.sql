-- SPDX-License-Identifier: BSD-2-Clause
PRAGMA page_size = 8192;
PRAGMA journal_mode = OFF;
BEGIN;
