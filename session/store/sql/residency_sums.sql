-- SPDX-License-Identifier: BSD-2-Clause
SELECT residency_id, class, sum(bytes) FROM residency_class GROUP BY residency_id, class;
