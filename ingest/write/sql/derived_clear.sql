-- SPDX-License-Identifier: BSD-2-Clause
DELETE FROM timeline;
DELETE FROM size_bin;
DELETE FROM function_total;
DELETE FROM call_node;
DELETE FROM stack_type;
DELETE FROM size_type;
DELETE FROM type_total;
DELETE FROM slot_sum;
DELETE FROM tile;
DELETE FROM meta WHERE key = 'slot_ns';
DELETE FROM root;
DELETE FROM reference_member;
DELETE FROM other_reference;
DELETE FROM retained;
DELETE FROM retained_group;
