-- SPDX-License-Identifier: BSD-2-Clause
SELECT m.type_id, t.size, m.offset, m.size
FROM type_member m JOIN type t ON t.id = m.type_id
ORDER BY m.type_id, m.offset;
