-- SPDX-License-Identifier: BSD-2-Clause
-- The file is not protected from a power cut.
PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
PRAGMA cache_size = -65536;
