-- SPDX-License-Identifier: BSD-2-Clause
-- The blocks and roots that refer to a block, as block_referents.sql.
SELECT x.from_id, coalesce(o.name, (SELECT name FROM type WHERE id = a.type_id)),
  coalesce(coalesce(m.name, o.kind) || iif(x.doubt, ', in doubt', ''), iif(x.doubt, 'a word in doubt', NULL)),
  ifnull(a.size, 0), a.id IS NOT NULL,
  coalesce(r.bytes, o.retained_bytes, 0), coalesce(r.count, o.retained_count, 0)
FROM (SELECT * FROM (%s) WHERE snapshot_id = %lld AND to_id = %lld) x
LEFT JOIN root o ON o.id = -x.from_id LEFT JOIN allocation a ON a.id = x.from_id
LEFT JOIN retained r ON r.snapshot_id = x.snapshot_id AND r.allocation_id = x.from_id
LEFT JOIN reference_member m ON m.id = x.member_id
ORDER BY 6 DESC, x.from_id, x.from_offset;
