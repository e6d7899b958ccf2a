-- SPDX-License-Identifier: BSD-2-Clause
SELECT key, value FROM setting
WHERE typeof(key) = 'text' AND typeof(value) = 'text'
ORDER BY key, value LIMIT ?1;
