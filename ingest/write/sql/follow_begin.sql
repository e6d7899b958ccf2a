-- SPDX-License-Identifier: BSD-2-Clause
-- Begins a transaction without the tables that are made again at each look.
BEGIN IMMEDIATE;
DELETE FROM meta;
DELETE FROM module;
DELETE FROM stack;
DELETE FROM owner;
DELETE FROM runtime_stack;
DELETE FROM process;
DELETE FROM inherited_free;
DELETE FROM thread;
DELETE FROM arena;
DELETE FROM mark;
DELETE FROM rss;
DELETE FROM region;
DELETE FROM free_call;
DELETE FROM mismatch;
DELETE FROM wrong_size;
DELETE FROM earlier_block;
DELETE FROM problem;
DELETE FROM timeline;
DELETE FROM function_total;
DELETE FROM type_total;
DELETE FROM size_bin;
DELETE FROM slot_sum;
DELETE FROM tile;
DELETE FROM sample_weight;
DELETE FROM estimate;
INSERT INTO meta VALUES ('unfinished', 1);
