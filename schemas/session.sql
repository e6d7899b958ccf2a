-- SPDX-License-Identifier: BSD-2-Clause
-- Session schema 2. docs/session-schema.md explains every table and column.
-- Ids of module, source_file, function, frame, stack, thread, type, kind and arena are dense from 1:
-- a reader keeps arrays by id. Some tables also use 0, as noted. Lost parts of a trace leave gaps
-- (schemas/session_ids.h).
-- This file holds the `CREATE`s and the rows of kind; ingest sets application_id and user_version.
-- Ingest runs it before it writes any row.
-- Changes: 2: stack_node and stack_run instead of pieces of stacks, stack.node_id.

CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE module(
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL,
  name TEXT NOT NULL,             -- last component of path
  build_id TEXT,                  -- hexadecimal
  load_bias INTEGER NOT NULL,
  start_address INTEGER NOT NULL,
  end_address INTEGER NOT NULL,
  loaded_ns INTEGER NOT NULL,
  unloaded_ns INTEGER,
  symbols TEXT NOT NULL           -- 'dwarf', 'symtab', 'dynsym', 'none', or why there are none;
                                  -- 'runtime': an interpreter of the program, not a file
);
CREATE TABLE source_file(id INTEGER PRIMARY KEY, path TEXT NOT NULL);
CREATE TABLE function(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,             -- demangled
  linkage_name TEXT,              -- mangled, where it differs
  module_id INTEGER NOT NULL,     -- 0: no module
  source_file_id INTEGER REFERENCES source_file(id),
  line INTEGER,
  role TEXT,                      -- NULL; 'allocator' or 'wrapper': its frames are not call sites;
                                  -- 'runtime': a function of a runtime; 'evaluator': runs such
  start_pc INTEGER                -- where its code begins, as frame.pc; NULL: not known
);
CREATE TABLE frame(
  id INTEGER PRIMARY KEY,
  module_id INTEGER NOT NULL,     -- 0: no module
  pc INTEGER NOT NULL,            -- address in the ELF file, as symbolized
  function_id INTEGER NOT NULL REFERENCES function(id),
  source_file_id INTEGER REFERENCES source_file(id),
  line INTEGER,
  inlined INTEGER NOT NULL DEFAULT 0, -- 1: inlined into the next outer frame
  bare INTEGER NOT NULL DEFAULT 0 -- 1: no unwinding rule covers it; the frame pointer led to its caller
);
CREATE TABLE stack(
  id INTEGER PRIMARY KEY,         -- of allocations and frees; 0: no stack was taken
  depth INTEGER NOT NULL,         -- frames, inlined ones included
  call_site_frame_id INTEGER REFERENCES frame(id),
  function_id INTEGER REFERENCES function(id),  -- of the call site
  user_frame_id INTEGER REFERENCES frame(id),   -- innermost of the user's own code; NULL: none
  owner_id INTEGER REFERENCES owner(id),        -- of its blocks; NULL: unknown
  state TEXT NOT NULL,            -- 'complete', 'depth limit', 'unwind end', 'lost', 'none',
                                  -- 'collector': no function freed, a garbage collector did
  allocations INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  live_count INTEGER NOT NULL DEFAULT 0,        -- at the end
  live_bytes INTEGER NOT NULL DEFAULT 0,
  at_peak_count INTEGER NOT NULL DEFAULT 0,     -- at the program's peak
  at_peak_bytes INTEGER NOT NULL DEFAULT 0,
  peak_bytes INTEGER NOT NULL DEFAULT 0,        -- the stack's own largest live bytes
  peak_ns INTEGER NOT NULL DEFAULT 0,
  lifetime_ns INTEGER NOT NULL DEFAULT 0,       -- sum over freed allocations
  node_id INTEGER REFERENCES stack_node(id)     -- of the innermost frame; NULL: it has no frames
);
CREATE TABLE owner(               -- classes, members and variables that own blocks
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,             -- 'UndoHistory', 'UndoHistory::actions'
  confidence TEXT NOT NULL        -- 'exact', 'inferred'
);
CREATE TABLE runtime_stack(       -- stacks of blocks that the runtime keeps to the end: not leaks
  stack_id INTEGER PRIMARY KEY REFERENCES stack(id),
  kind TEXT NOT NULL,             -- 'C++ exceptions', 'stdio', 'loader', 'locale', 'suppressed'
  pattern TEXT                    -- for 'suppressed': the pattern that matched; otherwise NULL
);
-- All stacks are one tree: a stack is the node of its innermost frame, with its ancestors. Ids are
-- dense, and a node's descendants have lower ids. The innermost frame's node and those outward of it
-- have ascending ids, but for a few steps: stack_run lists the parts between them.
CREATE TABLE stack_node(
  id INTEGER PRIMARY KEY,
  parent_id INTEGER NOT NULL,     -- node of the next outer frame, which is higher; 0: none
  frame_id INTEGER NOT NULL REFERENCES frame(id)
);
CREATE TABLE stack_run(           -- the nodes of a stack, as a few ranges
  stack_id INTEGER NOT NULL,
  depth INTEGER NOT NULL,         -- of the run's innermost frame; 0 innermost
  node_id INTEGER NOT NULL,       -- of that frame; the frame outward of it has the next id
  frames INTEGER NOT NULL,        -- of the run
  PRIMARY KEY(stack_id, depth)
) WITHOUT ROWID;
CREATE TABLE process(             -- one row, or several if the session has traces of several processes
  id INTEGER PRIMARY KEY,         -- from 1, in the order of start
  pid INTEGER NOT NULL,
  parent_pid INTEGER NOT NULL,    -- 0: not known
  program TEXT NOT NULL,
  argv TEXT NOT NULL,
  start_ns INTEGER NOT NULL,      -- when its trace began and ended, in session time
  end_ns INTEGER NOT NULL,
  ending TEXT NOT NULL,           -- as in meta
  trace TEXT NOT NULL,
  allocations INTEGER NOT NULL,   -- this and the next columns count its heap only
  frees INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  live_count INTEGER NOT NULL,    -- at its end
  live_bytes INTEGER NOT NULL,
  peak_bytes INTEGER NOT NULL,    -- its own largest live bytes
  peak_ns INTEGER NOT NULL,
  machine INTEGER NOT NULL DEFAULT 1, -- from 1: one boot of one host, with its own clock and memory
  host TEXT NOT NULL,             -- '': not known
  boot_id TEXT NOT NULL,          -- of the kernel, '': not known
  trace_id INTEGER NOT NULL,      -- as a signed number
  parent_trace_id INTEGER NOT NULL, -- of the process that forked it; 0: that was not recorded
  forked_from INTEGER REFERENCES process(id), -- that process; NULL: it is not in this session
  forked_ns INTEGER,              -- when the fork began in that process and ended in the child
  forked_until_ns INTEGER,
  inherited_count INTEGER,        -- blocks live when the fork began; not its own, in no other sum
  inherited_bytes INTEGER,
  inherited_frees INTEGER NOT NULL DEFAULT 0,
  first_allocation_id INTEGER,    -- its rows of `allocation`; NULL: it has none
  last_allocation_id INTEGER,
  executable TEXT NOT NULL DEFAULT '' -- path of its executable file, '': not known
);
CREATE TABLE inherited_free(      -- blocks inherited by a forked process that it freed
  id INTEGER PRIMARY KEY,
  process_id INTEGER NOT NULL REFERENCES process(id),
  arena_id INTEGER NOT NULL,
  address INTEGER NOT NULL,
  free_ns INTEGER NOT NULL,
  free_thread_id INTEGER NOT NULL,
  free_stack_id INTEGER NOT NULL,
  realloc_to INTEGER,             -- the new block, if realloc freed it
  allocation_id INTEGER           -- the ancestor's block; NULL: that trace is not in the session
);
CREATE INDEX process_pid ON process(pid);
CREATE TABLE thread(
  id INTEGER PRIMARY KEY,         -- recorder's number, from 1; the next process continues the count
  tid INTEGER,
  name TEXT,
  start_ns INTEGER,
  end_ns INTEGER,
  allocations INTEGER NOT NULL DEFAULT 0,
  frees INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  process_id INTEGER NOT NULL DEFAULT 1 REFERENCES process(id)
);
CREATE TABLE type(
  id INTEGER PRIMARY KEY,         -- 0 means unknown and has no row
  name TEXT NOT NULL,
  size INTEGER,
  confidence TEXT NOT NULL,       -- 'exact', 'inferred'
  element TEXT                    -- type of the element in a standard container's node
);
CREATE TABLE type_member(         -- members of types that are records, and their base classes
  type_id INTEGER NOT NULL REFERENCES type(id),
  position INTEGER NOT NULL,      -- in order of declaration, from 0
  name TEXT,                      -- NULL: a base class, or a record without a name
  offset INTEGER NOT NULL,
  size INTEGER NOT NULL,          -- of a bit field: the bytes that it touches
  type TEXT NOT NULL,
  PRIMARY KEY(type_id, position)
) WITHOUT ROWID;
CREATE TABLE type_candidate(      -- possible types of blocks whose type is unknown
  stack_id INTEGER NOT NULL,
  size INTEGER NOT NULL,
  position INTEGER NOT NULL,      -- says nothing about likelihood
  name TEXT NOT NULL,
  PRIMARY KEY(stack_id, size, position)
) WITHOUT ROWID;
CREATE TABLE arena(
  id INTEGER PRIMARY KEY,
  parent_id INTEGER,              -- 0: its memory is not part of another arena
  name TEXT,
  allocations INTEGER NOT NULL DEFAULT 0,   -- of its own blocks, without those of arenas inside it
  objects INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  live_count INTEGER NOT NULL DEFAULT 0,    -- at the end
  live_bytes INTEGER NOT NULL DEFAULT 0,
  peak_bytes INTEGER NOT NULL DEFAULT 0,    -- its largest live bytes
  peak_ns INTEGER NOT NULL DEFAULT 0,
  collected INTEGER NOT NULL DEFAULT 0,     -- blocks that a garbage collector took
  runtime_id INTEGER,             -- module of the runtime whose collections took them; NULL: none
  kept_ns INTEGER,                -- when the last of those that ended began; NULL: none. In a rotated
                                  -- trace it may lie before the beginning, and is negative then
  kept_count INTEGER NOT NULL DEFAULT 0,    -- of the live ones: not younger than kept_ns, if there is one
  kept_bytes INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE collection(          -- garbage collections
  id INTEGER PRIMARY KEY,
  runtime_id INTEGER NOT NULL,    -- module of the runtime
  process_id INTEGER NOT NULL DEFAULT 1 REFERENCES process(id),
  begin_ns INTEGER NOT NULL,
  end_ns INTEGER,                 -- NULL: it had not ended when the recording did
  collected INTEGER NOT NULL,     -- blocks that it took, of arenas
  bytes INTEGER NOT NULL
);
CREATE TABLE mark(id INTEGER PRIMARY KEY, ns INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT,
  process_id INTEGER NOT NULL DEFAULT 1 REFERENCES process(id));
CREATE TABLE rss(ns INTEGER NOT NULL, bytes INTEGER NOT NULL,
  process_id INTEGER NOT NULL DEFAULT 1 REFERENCES process(id));
CREATE TABLE region(              -- with mprof-run --mmap; never part of the heap's sums
  id INTEGER PRIMARY KEY,
  mapping INTEGER NOT NULL,       -- pieces of one call of mmap or mremap have the same number
  address INTEGER NOT NULL,
  size INTEGER NOT NULL,
  protection TEXT NOT NULL,       -- 'rw-'
  shared INTEGER NOT NULL,
  file TEXT,                      -- NULL: anonymous memory
  offset INTEGER NOT NULL,        -- of the piece in the file
  thread_id INTEGER NOT NULL,
  stack_id INTEGER NOT NULL,      -- of the call that began the row: mmap, mremap or mprotect
  map_ns INTEGER NOT NULL,
  unmap_ns INTEGER,               -- NULL: mapped at the end
  unmap_thread_id INTEGER,
  moved_from INTEGER,             -- by mremap: the old address
  changed_from INTEGER,           -- by mprotect: its row before the change
  unmap_stack_id INTEGER,         -- of the call that ended the row: munmap, mremap, mmap over it, mprotect
  resident INTEGER                -- bytes in memory before munmap or mremap ended it; NULL: not known
);
CREATE TABLE free_call(           -- with mprof-run --free-stacks: the function that freed, if known
  stack_id INTEGER PRIMARY KEY,   -- of frees
  function TEXT NOT NULL          -- 'free', 'delete', 'delete[]', with ' sized', ' aligned', ' nothrow'
);
CREATE TABLE mismatch(            -- blocks freed by a function that does not match their allocation
  stack_id INTEGER NOT NULL,      -- of the allocations
  kind INTEGER NOT NULL REFERENCES kind(id),
  free_stack_id INTEGER NOT NULL, -- 0: freed by realloc; its stack is that of the new block
  function TEXT NOT NULL,         -- as in free_call, or 'realloc'
  allocations INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY(stack_id, kind, free_stack_id)
) WITHOUT ROWID;
CREATE TABLE wrong_size(          -- with mprof-run --sized-delete: blocks deleted with another size
  stack_id INTEGER NOT NULL,      -- of the allocations
  free_stack_id INTEGER NOT NULL, -- of the deletes
  size INTEGER NOT NULL,          -- of the block
  stated_size INTEGER NOT NULL,   -- what the delete stated
  allocations INTEGER NOT NULL,
  PRIMARY KEY(stack_id, free_stack_id, size, stated_size)
) WITHOUT ROWID;
CREATE TABLE earlier_block(       -- blocks that were live when a rotated trace began
  allocation_id INTEGER PRIMARY KEY, -- its alloc_ns is when the trace began
  before_ns INTEGER NOT NULL      -- how long before that it was allocated
);
CREATE TABLE named_graph(         -- filter graphs that the user stored
  name TEXT PRIMARY KEY,
  text TEXT NOT NULL,             -- may begin with lines of description, which begin with '#'
  changed INTEGER NOT NULL        -- seconds since 1970, UTC
) WITHOUT ROWID;
CREATE TABLE setting(             -- how the user wants this session to be read
  key TEXT NOT NULL,              -- 'hide', 'show', 'wrapper', 'source'
  value TEXT NOT NULL,
  PRIMARY KEY(key, value)
) WITHOUT ROWID;
CREATE TABLE problem(
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,             -- 'unmatched free', 'double free', 'mismatched free', 'overlap', 'damage', …
  ns INTEGER,
  address INTEGER,
  thread_id INTEGER,
  byte_offset INTEGER,            -- in the trace
  detail TEXT
);

-- A row ends after its last value that is not the default: readers of SQLite get the default. So the
-- values that most rows need come first.
CREATE TABLE allocation(
  id INTEGER PRIMARY KEY,
  address INTEGER NOT NULL,       -- as a signed 64-bit number
  size INTEGER NOT NULL,
  stack_id INTEGER NOT NULL,
  alloc_ns INTEGER NOT NULL,
  free_ns INTEGER,
  free_thread_id INTEGER,
  thread_id INTEGER NOT NULL DEFAULT 1,
  type_id INTEGER NOT NULL DEFAULT 0,       -- 0: unknown
  kind INTEGER NOT NULL DEFAULT 0,
  count INTEGER NOT NULL DEFAULT 1,
  realloc_of INTEGER,
  free_stack_id INTEGER,
  arena_id INTEGER NOT NULL DEFAULT 0,      -- 0: the process heap
  alignment INTEGER NOT NULL DEFAULT 0      -- 0: the allocator's own
);
CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO kind VALUES (0,'malloc'),(1,'calloc'),(2,'realloc'),(3,'reallocarray'),
  (4,'posix_memalign'),(5,'aligned_alloc'),(6,'memalign'),(7,'valloc'),(8,'pvalloc'),
  (9,'new'),(10,'new[]'),(11,'arena'),
  (12,'new nothrow'),(13,'new[] nothrow'),(14,'new aligned'),(15,'new[] aligned'),
  (16,'new aligned nothrow'),(17,'new[] aligned nothrow');

-- Derived: can be rebuilt from the tables above.
CREATE TABLE column_chunk(        -- schemas/columns.md; id = chunk * 32 + column
  id INTEGER PRIMARY KEY,
  rows INTEGER NOT NULL,
  width INTEGER NOT NULL,
  min INTEGER NOT NULL,
  max INTEGER NOT NULL,
  data BLOB NOT NULL
);
CREATE TABLE packed_array(        -- schemas/columns.md, "Packed arrays": what a reader loads as a whole
  id INTEGER PRIMARY KEY,         -- 1: directory of column_chunk; 2 to 4, 7, 8: of stacks; 5: frames; 6: processes
  data BLOB NOT NULL
);
CREATE TABLE sample_chunk(        -- a weighted sample of the rows: schemas/columns.md
  id INTEGER PRIMARY KEY,
  rows INTEGER NOT NULL,
  width INTEGER NOT NULL,
  min INTEGER NOT NULL,
  max INTEGER NOT NULL,
  data BLOB NOT NULL
);
CREATE TABLE timeline(            -- equal slots, as long as meta 'timeline_slot_ns'
  machine INTEGER NOT NULL,       -- as in process: bytes of two machines are never added
  slot INTEGER NOT NULL,
  live_bytes INTEGER NOT NULL,    -- at the slot's end
  live_count INTEGER NOT NULL,
  peak_bytes INTEGER NOT NULL,    -- largest within the slot
  allocated_bytes INTEGER NOT NULL,
  allocated_count INTEGER NOT NULL,
  freed_bytes INTEGER NOT NULL,
  freed_count INTEGER NOT NULL,
  PRIMARY KEY(machine, slot)
) WITHOUT ROWID;
CREATE TABLE function_total(
  function_id INTEGER PRIMARY KEY, -- 0: no call site, only if it has allocations
  self_bytes INTEGER NOT NULL,
  self_count INTEGER NOT NULL,
  total_bytes INTEGER NOT NULL,
  total_count INTEGER NOT NULL,
  live_bytes INTEGER NOT NULL,
  live_count INTEGER NOT NULL,
  at_peak_bytes INTEGER NOT NULL,
  peak_bytes INTEGER NOT NULL,
  short_lived INTEGER NOT NULL    -- of self_count: lived under 1 ms
);
CREATE TABLE call_node(           -- the calling context tree: a function below its callers
  id INTEGER PRIMARY KEY,         -- level by level from the outermost functions
  parent_id INTEGER REFERENCES call_node(id),  -- its caller; NULL: outermost
  function_id INTEGER NOT NULL,   -- 0: no call site
  total_bytes INTEGER DEFAULT 0,  -- of allocations below: in the node, or in one that it leads to
  total_count INTEGER DEFAULT 0,
  total_live_bytes INTEGER DEFAULT 0,    -- at the end
  total_live_count INTEGER DEFAULT 0,
  total_at_peak_bytes INTEGER DEFAULT 0, -- at the program's peak
  total_at_peak_count INTEGER DEFAULT 0,
  self_bytes INTEGER DEFAULT 0,   -- of allocations whose call site is the node
  self_count INTEGER DEFAULT 0,
  self_live_bytes INTEGER DEFAULT 0,
  self_live_count INTEGER DEFAULT 0,
  self_at_peak_bytes INTEGER DEFAULT 0,
  self_at_peak_count INTEGER DEFAULT 0
);
CREATE INDEX call_node_parent ON call_node(parent_id);
CREATE TABLE type_total(          -- process heap only, like all totals
  type_id INTEGER PRIMARY KEY,    -- 0: unknown
  allocations INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  live_count INTEGER NOT NULL,
  live_bytes INTEGER NOT NULL,
  at_peak_count INTEGER NOT NULL, -- at the program's peak
  at_peak_bytes INTEGER NOT NULL,
  peak_bytes INTEGER              -- the type's own largest live bytes; NULL: not known while recording
);
CREATE TABLE size_bin(            -- one row for each distinct size
  size INTEGER PRIMARY KEY,
  allocations INTEGER NOT NULL,
  frees INTEGER NOT NULL,
  live_count INTEGER NOT NULL,
  at_peak_count INTEGER NOT NULL  -- at the program's peak
);
CREATE TABLE stack_type(          -- the types of the blocks of each stack; process heap only
  stack_id INTEGER NOT NULL,
  type_id INTEGER NOT NULL,       -- 0: unknown
  allocations INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  live_count INTEGER NOT NULL,    -- at the end
  live_bytes INTEGER NOT NULL,
  PRIMARY KEY(stack_id, type_id)
) WITHOUT ROWID;
CREATE TABLE size_type(           -- the same of each size
  size INTEGER NOT NULL,
  type_id INTEGER NOT NULL,
  allocations INTEGER NOT NULL,
  live_count INTEGER NOT NULL,
  PRIMARY KEY(size, type_id)
) WITHOUT ROWID;
CREATE TABLE slot_sum(            -- sums by time, function, type, size and address: schemas/slots.md
  key TEXT NOT NULL,              -- 'all', 'function', 'type', 'size', 'tile'
  slots INTEGER NOT NULL,         -- of the whole session: 256, 4096, 65536
  part INTEGER NOT NULL,          -- of 256 slots, from 0
  data BLOB NOT NULL,
  PRIMARY KEY(key, slots, part)
);
CREATE TABLE tile(                -- mebibytes of addresses in which blocks begin
  id INTEGER PRIMARY KEY,
  address INTEGER NOT NULL,       -- as a signed 64-bit number
  largest INTEGER NOT NULL        -- size of the largest block that ever began in it
);
CREATE TABLE sample_weight(       -- one row for each distinct size; empty unless sampled
  size INTEGER PRIMARY KEY,
  weight REAL NOT NULL            -- the number of allocations that a recorded one represents
);
CREATE TABLE estimate(            -- process heap only; empty unless sampled
  stack_id INTEGER PRIMARY KEY,
  allocations REAL NOT NULL,
  bytes REAL NOT NULL,
  live_count REAL NOT NULL,       -- at the end
  live_bytes REAL NOT NULL,
  allocations_variance REAL NOT NULL,
  bytes_variance REAL NOT NULL
);

-- The files that give the names, with mprof-ingest --bundle; otherwise empty.
CREATE TABLE bundle(
  name TEXT PRIMARY KEY,          -- the path on the recorded machine without its first '/', '.' and '..'
  kind TEXT NOT NULL,             -- 'module', 'debug', 'source', 'perf map'
  size INTEGER NOT NULL,
  state TEXT NOT NULL             -- 'copied', or the reason why not
) WITHOUT ROWID;
CREATE TABLE sqlar(               -- an SQLite archive (https://sqlite.org/sqlar.html)
  name TEXT PRIMARY KEY,
  mode INT,
  mtime INT,
  sz INT,                         -- of the file; data shorter than this is compressed by zlib
  data BLOB
);

-- Queries go from names to stacks, and from stacks to allocations. Ingest builds the index for the
-- latter, allocation_stack, after the last row.
CREATE INDEX function_name ON function(name);
CREATE INDEX stack_function ON stack(function_id);
CREATE INDEX type_name ON type(name);

-- The frames of the stacks; depth 0 is innermost. The + keeps SQLite from a join that begins with
-- the frames: it would go over all nodes for each run. The likelihoods say that a run has few nodes:
-- otherwise a join goes over all frames once for each function, so as not to sort them.
CREATE VIEW stack_frame AS
  SELECT r.stack_id AS stack_id, r.depth + n.id - r.node_id AS depth, +n.frame_id AS frame_id
  FROM stack_run r JOIN stack_node n ON likelihood(n.id >= r.node_id, 0.001)
    AND likelihood(n.id < r.node_id + r.frames, 0.001);

CREATE VIEW v_stack AS
  SELECT sf.stack_id AS stack_id, sf.depth AS depth, f.name AS function, m.name AS module,
         s.path AS file, fr.line AS line, fr.inlined AS inlined, fr.pc AS pc,
         fr.bare AS bare
  FROM stack_frame sf JOIN frame fr ON fr.id = sf.frame_id
  JOIN function f ON f.id = fr.function_id
  LEFT JOIN module m ON m.id = fr.module_id
  LEFT JOIN source_file s ON s.id = fr.source_file_id;

CREATE VIEW v_allocation AS
  SELECT a.id AS id, a.address AS address, a.size AS size, a.count AS count, k.name AS kind,
         a.alignment AS alignment, a.arena_id AS arena_id, a.thread_id AS thread_id,
         a.stack_id AS stack_id, a.type_id AS type_id, a.alloc_ns AS alloc_ns,
         a.free_ns AS free_ns, a.free_thread_id AS free_thread_id,
         a.free_stack_id AS free_stack_id, a.realloc_of AS realloc_of,
         f.name AS function, s.path AS file, fr.line AS line, m.name AS module,
         ty.name AS type, COALESCE(ty.confidence, 'unknown') AS confidence, th.name AS thread,
         COALESCE(a.free_ns, (SELECT value FROM meta WHERE key = 'duration_ns')) - a.alloc_ns
           AS lifetime_ns,
         -- Bytes that are not elements: bytes after a record, a length before the elements of new T[n].
         max(0, a.size - a.count * ty.size) AS extra_bytes,
         th.process_id AS process_id, p.pid AS pid, p.program AS process,
         o.name AS owner, uf.name AS user,
         CASE WHEN a.free_ns IS NULL THEN NULL
           WHEN a.free_stack_id IN (SELECT id FROM stack WHERE state = 'collector')
           THEN 'collector' ELSE 'program' END AS freed_by,
         -- Live at the end; in a collected arena, what its last collection left.
         a.free_ns IS NULL AND a.alloc_ns - ifnull((SELECT e.before_ns FROM earlier_block e
           WHERE e.allocation_id = a.id), 0) <= ifnull((SELECT x.kept_ns FROM arena x
           WHERE x.id = a.arena_id), a.alloc_ns) AS kept
  -- Tables that depend on the stack only come before the allocations: the planner can then test a
  -- condition on function, file or module once for each stack, not for each allocation.
  FROM stack st
  LEFT JOIN frame fr ON fr.id = st.call_site_frame_id
  LEFT JOIN function f ON f.id = st.function_id
  LEFT JOIN module m ON m.id = fr.module_id
  LEFT JOIN source_file s ON s.id = fr.source_file_id
  LEFT JOIN owner o ON o.id = st.owner_id
  LEFT JOIN frame ufr ON ufr.id = st.user_frame_id
  LEFT JOIN function uf ON uf.id = ufr.function_id
  JOIN allocation a ON a.stack_id = st.id
  LEFT JOIN kind k ON k.id = a.kind
  LEFT JOIN type ty ON ty.id = a.type_id
  LEFT JOIN thread th ON th.id = a.thread_id
  LEFT JOIN process p ON p.id = th.process_id;

-- The blocks that a forked process had when it began: rows of its ancestors.
CREATE VIEW v_inherited AS
  WITH RECURSIVE line(process_id, depth, ancestor_id, ns) AS (
    SELECT id, 1, forked_from, forked_ns FROM process WHERE forked_from IS NOT NULL
    UNION ALL
    SELECT l.process_id, l.depth + 1, p.forked_from, p.forked_ns
      FROM line l JOIN process p ON p.id = l.ancestor_id WHERE p.forked_from IS NOT NULL)
  SELECT l.process_id AS process_id, a.id AS allocation_id, a.address AS address, a.size AS size,
         a.stack_id AS stack_id, a.type_id AS type_id, a.alloc_ns AS alloc_ns,
         l.ancestor_id AS allocated_by,
         (SELECT f.free_ns FROM inherited_free f
           WHERE f.allocation_id = a.id AND f.process_id = l.process_id) AS free_ns
  FROM line l JOIN process o ON o.id = l.ancestor_id
  JOIN allocation a ON a.id BETWEEN o.first_allocation_id AND o.last_allocation_id
  WHERE a.arena_id = 0 AND a.alloc_ns <= l.ns AND (a.free_ns IS NULL OR a.free_ns > l.ns)
    -- No process in between had freed the block when it forked.
    AND NOT EXISTS (SELECT 1 FROM line between_ JOIN inherited_free f ON f.process_id = between_.ancestor_id
      WHERE between_.process_id = l.process_id AND between_.depth < l.depth
        AND f.allocation_id = a.id AND f.free_ns <= between_.ns);

-- The processes as a tree. A process id that executed several programs has a row for each.
CREATE VIEW v_process AS
  SELECT p.id AS process_id, p.pid AS pid, p.parent_pid AS parent_pid, p.program AS program,
         p.argv AS argv, p.start_ns AS start_ns, p.end_ns AS end_ns, p.ending AS ending,
         p.allocations AS allocations, p.frees AS frees, p.bytes AS bytes,
         p.live_count AS live_count, p.live_bytes AS live_bytes, p.peak_bytes AS peak_bytes,
         p.peak_ns AS peak_ns,
         p.executable AS executable,
         -- Position among the programs of its process id, from 1.
         (SELECT count(*) FROM process q WHERE q.pid = p.pid AND q.id <= p.id
           AND q.machine = p.machine AND q.host = p.host) AS place,
         -- The row of the program that executed this one; NULL: this one is the first.
         (SELECT iif(q.ending = 'exec', q.id, NULL) FROM process q
           WHERE q.pid = p.pid AND q.id < p.id AND q.machine = p.machine AND q.host = p.host
           ORDER BY q.id DESC LIMIT 1) AS executed_from,
         -- The row of the process that started it; NULL: it is not in the session.
         coalesce(p.forked_from, (SELECT q.id FROM process q WHERE q.pid = p.parent_pid
           AND q.id < p.id AND q.machine = p.machine AND q.host = p.host
           ORDER BY q.id DESC LIMIT 1)) AS parent_id,
         p.id = (SELECT value FROM meta WHERE key = 'selected_process') AS selected
  FROM process p;

CREATE VIEW v_function AS
  SELECT f.name AS function, m.name AS module, t.self_bytes AS self_bytes,
         t.self_count AS self_count, t.total_bytes AS total_bytes, t.total_count AS total_count,
         t.live_bytes AS live_bytes, t.live_count AS live_count,
         t.at_peak_bytes AS at_peak_bytes, t.peak_bytes AS peak_bytes,
         t.short_lived AS short_lived
  FROM function_total t JOIN function f ON f.id = t.function_id
  LEFT JOIN module m ON m.id = f.module_id;

-- The calling context tree. Allocators and wrappers inside a call site are left out. Empty while
-- the program is being recorded.
CREATE VIEW v_call_tree AS
  SELECT n.id AS id, n.parent_id AS parent_id, n.function_id AS function_id, f.name AS function,
         m.name AS module, n.self_bytes AS self_bytes, n.self_count AS self_count,
         n.total_bytes AS total_bytes, n.total_count AS total_count,
         n.self_live_bytes AS self_live_bytes, n.self_live_count AS self_live_count,
         n.total_live_bytes AS total_live_bytes, n.total_live_count AS total_live_count,
         n.self_at_peak_bytes AS self_at_peak_bytes, n.self_at_peak_count AS self_at_peak_count,
         n.total_at_peak_bytes AS total_at_peak_bytes,
         n.total_at_peak_count AS total_at_peak_count
  FROM call_node n LEFT JOIN function f ON f.id = n.function_id
  LEFT JOIN module m ON m.id = f.module_id;

-- The sums of a stack, with the names of its call site: nothing is read of the allocations.
CREATE VIEW v_stack_total AS
  SELECT st.id AS stack_id, f.name AS function, m.name AS module, s.path AS file, fr.line AS line,
         uf.name AS user, o.name AS owner, st.allocations AS allocations, st.bytes AS bytes,
         st.live_count AS live_count, st.live_bytes AS live_bytes,
         st.at_peak_count AS at_peak_count, st.at_peak_bytes AS at_peak_bytes,
         st.peak_bytes AS peak_bytes, st.lifetime_ns AS lifetime_ns,
         -- The known ones, those of most blocks first.
         (SELECT group_concat(name, ', ') FROM
           (SELECT ty.name AS name FROM stack_type x JOIN type ty ON ty.id = x.type_id
             WHERE x.stack_id = st.id ORDER BY x.allocations DESC, ty.name)) AS types
  FROM stack st LEFT JOIN frame fr ON fr.id = st.call_site_frame_id
  LEFT JOIN function f ON f.id = st.function_id
  LEFT JOIN module m ON m.id = fr.module_id
  LEFT JOIN source_file s ON s.id = fr.source_file_id
  LEFT JOIN owner o ON o.id = st.owner_id
  LEFT JOIN frame ufr ON ufr.id = st.user_frame_id
  LEFT JOIN function uf ON uf.id = ufr.function_id
  WHERE st.allocations > 0;

-- The same by stack and type: what GROUP BY type, function, file, … over v_allocation gives.
CREATE VIEW v_stack_type AS
  SELECT x.stack_id AS stack_id, x.type_id AS type_id, COALESCE(ty.name, '(unknown)') AS type,
         COALESCE(ty.confidence, 'unknown') AS confidence, f.name AS function, m.name AS module,
         s.path AS file, fr.line AS line, uf.name AS user, o.name AS owner,
         x.allocations AS allocations, x.bytes AS bytes, x.live_count AS live_count,
         x.live_bytes AS live_bytes
  FROM stack_type x LEFT JOIN type ty ON ty.id = x.type_id
  LEFT JOIN stack st ON st.id = x.stack_id
  LEFT JOIN frame fr ON fr.id = st.call_site_frame_id
  LEFT JOIN function f ON f.id = st.function_id
  LEFT JOIN module m ON m.id = fr.module_id
  LEFT JOIN source_file s ON s.id = fr.source_file_id
  LEFT JOIN owner o ON o.id = st.owner_id
  LEFT JOIN frame ufr ON ufr.id = st.user_frame_id
  LEFT JOIN function uf ON uf.id = ufr.function_id;
CREATE VIEW v_user_function AS    -- by the innermost frame of the user's own code
  SELECT f.name AS function, m.name AS module, s.path AS file, f.line AS line, t.stacks AS stacks,
         t.allocations AS allocations, t.bytes AS bytes, t.live_count AS live_count,
         t.live_bytes AS live_bytes, t.at_peak_count AS at_peak_count,
         t.at_peak_bytes AS at_peak_bytes
  FROM (SELECT fr.function_id AS function_id, count(*) AS stacks,
               sum(st.allocations) AS allocations, sum(st.bytes) AS bytes,
               sum(st.live_count) AS live_count, sum(st.live_bytes) AS live_bytes,
               sum(st.at_peak_count) AS at_peak_count, sum(st.at_peak_bytes) AS at_peak_bytes
        FROM stack st LEFT JOIN frame fr ON fr.id = st.user_frame_id
        WHERE st.allocations > 0 GROUP BY fr.function_id) t
  LEFT JOIN function f ON f.id = t.function_id
  LEFT JOIN module m ON m.id = f.module_id
  LEFT JOIN source_file s ON s.id = f.source_file_id;

-- The moments that have a name: marks, and of the whole session its start, peak and end.
CREATE VIEW v_moment AS
  SELECT name AS mark, ns FROM mark WHERE name IS NOT NULL
  UNION SELECT 'start', 0
  UNION SELECT 'peak', CAST(value AS INTEGER) FROM meta WHERE key = 'peak_ns'
  UNION SELECT 'end', CAST(value AS INTEGER) FROM meta WHERE key = 'duration_ns';

-- One pass over the allocations for each moment that a query names.
CREATE VIEW v_live_at_mark AS
  SELECT g.mark AS mark, g.ns AS ns, ty.name AS type, o.name AS owner, g.bytes AS bytes,
         g.count AS count
  FROM (SELECT w.mark AS mark, w.ns AS ns, a.type_id AS type_id, st.owner_id AS owner_id,
               sum(a.size) AS bytes, count(*) AS count
        FROM v_moment w CROSS JOIN allocation a NOT INDEXED CROSS JOIN stack st
        WHERE a.alloc_ns <= w.ns AND (a.free_ns IS NULL OR a.free_ns > w.ns) AND a.arena_id = 0
          AND st.id = a.stack_id
        GROUP BY w.mark, w.ns, a.type_id, st.owner_id) g
  LEFT JOIN type ty ON ty.id = g.type_id LEFT JOIN owner o ON o.id = g.owner_id;

-- Live bytes at `until` minus those at `since`, the moment before: blocks that came and have stayed,
-- minus blocks that were there and have gone.
CREATE VIEW v_growth_by_type AS
  WITH span(since, since_ns, until, until_ns) AS (
    SELECT lag(mark) OVER w, lag(ns) OVER w, mark, ns FROM v_moment
    WINDOW w AS (ORDER BY ns, mark = 'end', mark <> 'start', mark))
  SELECT g.since AS since, g.until AS until, g.since_ns AS since_ns, g.until_ns AS until_ns,
         ty.name AS type, g.born_bytes - g.died_bytes AS bytes,
         g.born_count - g.died_count AS count, g.born_bytes AS born_bytes,
         g.died_bytes AS died_bytes
  FROM (SELECT b.since AS since, b.since_ns AS since_ns, b.until AS until, b.until_ns AS until_ns,
               a.type_id AS type_id,
               sum(a.size * (a.alloc_ns > b.since_ns)) AS born_bytes,
               sum(a.alloc_ns > b.since_ns) AS born_count,
               sum(a.size * (a.alloc_ns <= b.since_ns)) AS died_bytes,
               sum(a.alloc_ns <= b.since_ns) AS died_count
        FROM span b CROSS JOIN allocation a NOT INDEXED
        WHERE a.alloc_ns <= b.until_ns AND a.arena_id = 0
          -- In exactly one of the two moments the block was live.
          AND (a.alloc_ns > b.since_ns) = (a.free_ns IS NULL OR a.free_ns > b.until_ns)
          AND (a.free_ns IS NULL OR a.free_ns > b.since_ns)
        GROUP BY b.since, b.since_ns, b.until, b.until_ns, a.type_id) g
  LEFT JOIN type ty ON ty.id = g.type_id;

CREATE VIEW v_leak AS
  SELECT st.id AS stack_id, st.live_bytes AS live_bytes, st.live_count AS live_count,
         st.bytes AS bytes, st.allocations AS allocations, f.name AS function, m.name AS module,
         s.path AS file, fr.line AS line
  FROM stack st LEFT JOIN frame fr ON fr.id = st.call_site_frame_id
  LEFT JOIN function f ON f.id = st.function_id
  LEFT JOIN module m ON m.id = fr.module_id
  LEFT JOIN source_file s ON s.id = fr.source_file_id
  WHERE st.live_count > 0
    AND NOT EXISTS (SELECT 1 FROM runtime_stack r WHERE r.stack_id = st.id);
CREATE VIEW v_runtime AS
  SELECT r.stack_id AS stack_id, r.kind AS kind, st.live_bytes AS live_bytes,
         st.live_count AS live_count, f.name AS function, r.pattern AS pattern
  FROM runtime_stack r JOIN stack st ON st.id = r.stack_id
  LEFT JOIN function f ON f.id = st.function_id;
CREATE VIEW v_suppression AS      -- the patterns that suppressed blocks live at the end
  SELECT r.pattern AS pattern, count(*) AS stacks, sum(st.live_count) AS live_count,
         sum(st.live_bytes) AS live_bytes
  FROM runtime_stack r JOIN stack st ON st.id = r.stack_id
  WHERE r.kind = 'suppressed' AND st.live_count > 0 GROUP BY r.pattern;

CREATE VIEW v_region AS
  SELECT r.id AS id, r.mapping AS mapping, r.address AS address, r.size AS size,
         r.protection AS protection, r.shared AS shared, r.file AS mapped_file, r.offset AS offset,
         f.name AS function, s.path AS file, fr.line AS line, m.name AS module, t.name AS thread,
         r.map_ns AS map_ns, r.unmap_ns AS unmap_ns, r.moved_from AS moved_from,
         r.stack_id AS stack_id, r.changed_from AS changed_from,
         r.unmap_stack_id AS unmap_stack_id, uf.name AS unmap_function, r.resident AS resident
  FROM region r LEFT JOIN stack us ON us.id = r.unmap_stack_id
  LEFT JOIN function uf ON uf.id = us.function_id
  LEFT JOIN stack st ON st.id = r.stack_id
  LEFT JOIN frame fr ON fr.id = st.call_site_frame_id
  LEFT JOIN function f ON f.id = st.function_id
  LEFT JOIN module m ON m.id = fr.module_id
  LEFT JOIN source_file s ON s.id = fr.source_file_id
  LEFT JOIN thread t ON t.id = r.thread_id;

CREATE VIEW v_wrong_size AS
  SELECT x.size AS size, x.stated_size AS stated_size, x.allocations AS allocations,
         f.name AS function, s.path AS file, fr.line AS line,
         ff.name AS free_function, fs.path AS free_file, ffr.line AS free_line,
         x.stack_id AS stack_id, x.free_stack_id AS free_stack_id
  FROM wrong_size x LEFT JOIN stack st ON st.id = x.stack_id
  LEFT JOIN frame fr ON fr.id = st.call_site_frame_id
  LEFT JOIN function f ON f.id = st.function_id
  LEFT JOIN source_file s ON s.id = fr.source_file_id
  LEFT JOIN stack fst ON fst.id = nullif(x.free_stack_id, 0)
  LEFT JOIN frame ffr ON ffr.id = fst.call_site_frame_id
  LEFT JOIN function ff ON ff.id = fst.function_id
  LEFT JOIN source_file fs ON fs.id = ffr.source_file_id;

CREATE VIEW v_mismatch AS
  SELECT k.name AS kind, x.function AS freed_by, x.allocations AS allocations, x.bytes AS bytes,
         f.name AS function, s.path AS file, fr.line AS line,
         ff.name AS free_function, fs.path AS free_file, ffr.line AS free_line,
         x.stack_id AS stack_id, x.free_stack_id AS free_stack_id
  FROM mismatch x LEFT JOIN kind k ON k.id = x.kind
  LEFT JOIN stack st ON st.id = x.stack_id
  LEFT JOIN frame fr ON fr.id = st.call_site_frame_id
  LEFT JOIN function f ON f.id = st.function_id
  LEFT JOIN source_file s ON s.id = fr.source_file_id
  LEFT JOIN stack fst ON fst.id = nullif(x.free_stack_id, 0)
  LEFT JOIN frame ffr ON ffr.id = fst.call_site_frame_id
  LEFT JOIN function ff ON ff.id = fst.function_id
  LEFT JOIN source_file fs ON fs.id = ffr.source_file_id;

-- The recorded numbers, unless the session was sampled.
CREATE VIEW v_estimate AS
  SELECT st.id AS stack_id, f.name AS function, m.name AS module, s.path AS file, fr.line AS line,
         st.allocations AS recorded, COALESCE(e.allocations, st.allocations) AS allocations,
         COALESCE(e.bytes, st.bytes) AS bytes, COALESCE(e.live_count, st.live_count) AS live_count,
         COALESCE(e.live_bytes, st.live_bytes) AS live_bytes,
         COALESCE(e.allocations_variance, 0) AS allocations_variance,
         COALESCE(e.bytes_variance, 0) AS bytes_variance
  FROM stack st LEFT JOIN estimate e ON e.stack_id = st.id
  LEFT JOIN frame fr ON fr.id = st.call_site_frame_id
  LEFT JOIN function f ON f.id = st.function_id
  LEFT JOIN module m ON m.id = fr.module_id
  LEFT JOIN source_file s ON s.id = fr.source_file_id
  WHERE st.allocations > 0;

-- Estimates for the program's own allocators, by arena and stack.
CREATE VIEW v_arena_estimate AS
  SELECT a.arena_id AS arena_id, r.name AS arena, a.stack_id AS stack_id, count(*) AS recorded,
         sum(COALESCE(w.weight, 1)) AS allocations, sum(COALESCE(w.weight, 1) * a.size) AS bytes,
         total(COALESCE(w.weight, 1)) FILTER (WHERE a.free_ns IS NULL) AS live_count,
         total(COALESCE(w.weight, 1) * a.size) FILTER (WHERE a.free_ns IS NULL) AS live_bytes,
         total(w.weight * (w.weight - 1)) AS allocations_variance,
         total(w.weight * (w.weight - 1) * a.size * a.size) AS bytes_variance
  FROM allocation a JOIN arena r ON r.id = a.arena_id
  LEFT JOIN sample_weight w ON w.size = a.size
  WHERE a.arena_id > 0 GROUP BY a.arena_id, a.stack_id;

CREATE VIEW v_type AS
  SELECT COALESCE(ty.name, '(unknown)') AS type, COALESCE(ty.confidence, 'unknown') AS confidence,
         t.type_id AS type_id, t.allocations AS allocations, t.bytes AS bytes,
         t.live_count AS live_count, t.live_bytes AS live_bytes,
         t.at_peak_count AS at_peak_count, t.at_peak_bytes AS at_peak_bytes,
         t.peak_bytes AS peak_bytes
  FROM type_total t LEFT JOIN type ty ON ty.id = t.type_id;

CREATE VIEW v_size_bin AS
  SELECT size, allocations, allocations * size AS bytes, frees, live_count,
         live_count * size AS live_bytes, at_peak_count, at_peak_count * size AS at_peak_bytes,
         -- The known ones, those of most blocks first.
         (SELECT group_concat(name, ', ') FROM
           (SELECT ty.name AS name FROM size_type x JOIN type ty ON ty.id = x.type_id
             WHERE x.size = b.size ORDER BY x.allocations DESC, ty.name)) AS types
  FROM size_bin b;

CREATE VIEW v_timeline AS
  SELECT slot * (SELECT value FROM meta WHERE key = 'timeline_slot_ns') AS bucket_ns,
         live_bytes, live_count, allocated_bytes, freed_bytes, machine FROM timeline;
