-- SPDX-License-Identifier: BSD-2-Clause
SELECT name, text FROM named_graph
WHERE typeof(name) = 'text' AND typeof(text) = 'text'
ORDER BY name LIMIT ?1;
