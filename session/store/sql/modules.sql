-- SPDX-License-Identifier: BSD-2-Clause
SELECT id, path, name, build_id, load_bias, start_address, end_address, loaded_ns, unloaded_ns,
  symbols
FROM module ORDER BY id;
