-- SPDX-License-Identifier: BSD-2-Clause
-- The members of types, in their order.
SELECT type_id, name, type, offset, size FROM type_member ORDER BY type_id, position;
