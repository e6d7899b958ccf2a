-- SPDX-License-Identifier: BSD-2-Clause
-- The blocks to which a block refers. The caller puts in what the view `reference` selects, the snapshot and the block.
SELECT x.to_id, (SELECT name FROM type WHERE id = a.type_id),
  coalesce(m.name || iif(x.doubt, ', in doubt', ''), iif(x.doubt, 'a word in doubt', NULL)), a.size, 1, r.bytes, r.count
FROM (SELECT * FROM (%s) WHERE snapshot_id = %lld AND from_id = %lld) x
JOIN allocation a ON a.id = x.to_id
JOIN retained r ON r.snapshot_id = x.snapshot_id AND r.allocation_id = x.to_id
LEFT JOIN reference_member m ON m.id = x.member_id
ORDER BY 6 DESC, x.to_id, x.from_offset;
