-- SPDX-License-Identifier: BSD-2-Clause
-- The ways to the references from and to a block.
CREATE INDEX IF NOT EXISTS reference_from ON reference(from_id, snapshot_id);
CREATE INDEX IF NOT EXISTS reference_to ON reference(to_id, snapshot_id);
CREATE INDEX IF NOT EXISTS retained_dominator ON retained(dominator_id, snapshot_id);
