-- SPDX-License-Identifier: BSD-2-Clause
-- The processes whose rows may be wanted, or that forked.
SELECT ancestor FROM wanted
UNION SELECT forked_from FROM process WHERE forked_from IS NOT NULL;
