-- SPDX-License-Identifier: BSD-2-Clause
CREATE TEMP TABLE inherit_part AS SELECT * FROM tables.inherit_part;
