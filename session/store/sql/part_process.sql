-- SPDX-License-Identifier: BSD-2-Clause
-- Sets the first and the last row of a process, and counts what it has inherited.
UPDATE process SET first_allocation_id = ?2, last_allocation_id = ?3,
  inherited_frees = (SELECT count(*) FROM inherited_free WHERE process_id = ?1)
WHERE id = ?1;
