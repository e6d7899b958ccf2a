-- SPDX-License-Identifier: BSD-2-Clause
-- The ways to the references from and to a block. Most holders are dominators.
CREATE INDEX IF NOT EXISTS other_reference_from ON other_reference(from_id, snapshot_id);
CREATE INDEX IF NOT EXISTS other_reference_to ON other_reference(to_id, snapshot_id);
CREATE INDEX IF NOT EXISTS retained_dominator
  ON retained(dominator_id, snapshot_id, holder_id = dominator_id);
CREATE INDEX IF NOT EXISTS retained_holder ON retained(holder_id, snapshot_id)
  WHERE holder_id <> dominator_id;
