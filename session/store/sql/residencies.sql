-- SPDX-License-Identifier: BSD-2-Clause
SELECT id, process_id, ns, end_ns, rss_before, rss_after, present, swapped, zero_known, coarse,
       live_huge, pss, lazy_free, cgroup_bytes, cgroup_limit, reason, mark, allocator
FROM residency ORDER BY process_id, ns, id;
