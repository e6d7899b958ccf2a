-- SPDX-License-Identifier: BSD-2-Clause
-- The number of functions, -1 if their ids have gaps.
SELECT iif(ifnull(max(id), 0) = count(*) AND ifnull(min(id), 1) = 1, count(*), -1) FROM function;
