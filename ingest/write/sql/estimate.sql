-- SPDX-License-Identifier: BSD-2-Clause
-- Estimates from the weights of all rows of a sampled session what they represent, by stack and in
-- total: Horvitz and Thompson's estimator (1952) and its variance for blocks that are sampled
-- independently, the sums of w * x and of w * (w - 1) * x * x over the sample.
INSERT INTO estimate
  SELECT a.stack_id, sum(w.weight), sum(w.weight * a.size),
    total(w.weight) FILTER (WHERE a.free_ns IS NULL),
    total(w.weight * a.size) FILTER (WHERE a.free_ns IS NULL),
    sum(w.weight * (w.weight - 1)), sum(w.weight * (w.weight - 1) * a.size * a.size)
  FROM allocation a JOIN sample_weight w ON w.size = a.size
  WHERE a.arena_id = 0 GROUP BY a.stack_id;
INSERT INTO meta SELECT 'estimated_allocations', CAST(total(allocations) AS INTEGER)
  FROM estimate;
INSERT INTO meta SELECT 'estimated_bytes', CAST(total(bytes) AS INTEGER) FROM estimate;
INSERT INTO meta SELECT 'estimated_live_count_end', CAST(total(live_count) AS INTEGER)
  FROM estimate;
INSERT INTO meta SELECT 'estimated_live_bytes_end', CAST(total(live_bytes) AS INTEGER)
  FROM estimate;
