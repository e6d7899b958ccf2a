-- SPDX-License-Identifier: BSD-2-Clause
-- The modules of allocators other than that of the C library.
SELECT count(*) FROM module
WHERE path GLOB '*/libjemalloc.so*' OR path GLOB '*/libtcmalloc*.so*'
  OR path GLOB '*/libmimalloc*.so*' OR path GLOB '*/libtbbmalloc*.so*';
