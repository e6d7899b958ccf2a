-- SPDX-License-Identifier: BSD-2-Clause
-- The indexes of `--index=all`, beside the one by stack.
CREATE INDEX allocation_alloc_ns ON allocation(alloc_ns);
CREATE INDEX allocation_free_ns ON allocation(free_ns);
CREATE INDEX allocation_address ON allocation(address);
CREATE INDEX allocation_size ON allocation(size);
