-- SPDX-License-Identifier: BSD-2-Clause
-- The members of types, each before those inside it.
SELECT type_id, parent, name, type, offset, size, element FROM type_field ORDER BY type_id, position;
