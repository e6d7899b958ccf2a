-- SPDX-License-Identifier: BSD-2-Clause
UPDATE process SET inherited_frees = ?2, inherited_count = ?3, inherited_bytes = ?4 WHERE id = ?1;
