-- SPDX-License-Identifier: BSD-2-Clause
INSERT OR REPLACE INTO meta VALUES ('clock_alignment', 'real time');
