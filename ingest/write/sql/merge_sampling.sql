-- SPDX-License-Identifier: BSD-2-Clause
-- 1: the session `part` was sampled in another way.
SELECT (SELECT value FROM part.meta WHERE key = 'sample_interval')
  IS NOT (SELECT value FROM main.meta WHERE key = 'sample_interval');
