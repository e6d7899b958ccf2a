-- SPDX-License-Identifier: BSD-2-Clause
-- Session schema 3. docs/session-schema.md explains every table and column.
-- Ids of module, source_file, function, frame, stack, thread, type, kind and arena are dense from 1:
-- a reader keeps arrays by id. Some tables also use 0, as noted. Lost parts of a trace leave gaps
-- (schemas/session_ids.h).
-- This file holds the `CREATE`s and the rows of kind; ingest sets application_id and user_version.
-- Ingest runs it before it writes any row.
-- Changes: 2: stack_node and stack_run instead of pieces of stacks, stack.node_id. 3: residency and its
-- tables.

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
CREATE TABLE type_field(          -- members at any depth, if there are snapshots of references
  type_id INTEGER NOT NULL REFERENCES type(id),
  position INTEGER NOT NULL,      -- from 1; each before those inside it
  parent INTEGER NOT NULL,        -- position of the field in which it lies; 0: the type itself
  name TEXT,                      -- NULL: a base class, or a record without a name
  offset INTEGER NOT NULL,        -- in the parent, or in an element of it
  size INTEGER NOT NULL,
  element INTEGER NOT NULL,       -- bytes of an element; 0: not an array
  type TEXT NOT NULL,             -- of an array: of its elements
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
CREATE TABLE residency(           -- moments at which the pages in memory were read
  id INTEGER PRIMARY KEY,         -- in the order of process_id and ns
  process_id INTEGER NOT NULL DEFAULT 1 REFERENCES process(id),
  ns INTEGER NOT NULL,            -- the middle of the reading: blocks live then are those of the ledger
  begin_ns INTEGER NOT NULL,      -- when the reading began and ended
  end_ns INTEGER NOT NULL,
  reason TEXT NOT NULL,           -- 'start', 'mark', 'snapshot', 'maximum', 'parted', 'interval', 'end'
  mark TEXT,                      -- name of the mark or snapshot
  rss_before INTEGER NOT NULL,    -- resident bytes by /proc/PID/statm, before and after the reading
  rss_after INTEGER NOT NULL,
  present INTEGER NOT NULL,       -- bytes of the pages counted: the sum of the classes in RSS
  swapped INTEGER NOT NULL,
  zero_known INTEGER NOT NULL,    -- 0: zero pages and huge pages cannot be told apart from others here
  coarse INTEGER NOT NULL,        -- runs of pages were joined: bytes between them that may be in no memory
  allocator TEXT NOT NULL,        -- 'glibc', 'jemalloc', 'tcmalloc', 'mimalloc'; '': unknown
  huge INTEGER NOT NULL,          -- of present: bytes in transparent huge pages
  live_huge INTEGER NOT NULL,     -- of live_resident: bytes there; whether they were touched is not known
  pss INTEGER,                    -- bytes, shared pages by share; NULL: not read at this moment
  lazy_free INTEGER,              -- of present: bytes that the kernel may take back; NULL: not read
  cgroup_bytes INTEGER,           -- memory of the process's cgroup, and its limit; NULL: none
  cgroup_limit INTEGER
);
CREATE TABLE residency_class(     -- the ledger of a moment: each byte is in one class
  residency_id INTEGER NOT NULL,
  class TEXT NOT NULL,
  detail TEXT NOT NULL,           -- '', or the thread, module, file or mapping
  bytes INTEGER NOT NULL,
  blocks INTEGER,                 -- NULL: a class that has none
  in_rss INTEGER NOT NULL,        -- 0: beside the resident set
  PRIMARY KEY(residency_id, class, detail)
) WITHOUT ROWID;
CREATE TABLE residency_stack(     -- live blocks and holes of a moment, by stack and type
  residency_id INTEGER NOT NULL,
  stack_id INTEGER NOT NULL,
  type_id INTEGER NOT NULL,       -- 0: unknown
  live_bytes INTEGER NOT NULL,
  live_count INTEGER NOT NULL,
  resident INTEGER NOT NULL,      -- resident, untouched and swapped add up to live_bytes
  untouched INTEGER NOT NULL,
  swapped INTEGER NOT NULL,
  headers INTEGER NOT NULL,       -- resident bytes of the allocator around the blocks
  pinned INTEGER NOT NULL,        -- bytes of resident holes on pages that the blocks pin
  pinned_pages INTEGER NOT NULL,
  last_owned INTEGER NOT NULL,    -- bytes of resident holes where its blocks lived last
  PRIMARY KEY(residency_id, stack_id, type_id)
) WITHOUT ROWID;
CREATE TABLE residency_run(       -- the pages of a moment: schemas/columns.md, "Runs of pages"
  residency_id INTEGER NOT NULL,
  position INTEGER NOT NULL,      -- from 0, by ascending address
  data BLOB NOT NULL,
  PRIMARY KEY(residency_id, position)
) WITHOUT ROWID;
CREATE TABLE residency_missing(   -- processes whose pages could not be read, or not at all moments
  process_id INTEGER NOT NULL REFERENCES process(id),
  why TEXT NOT NULL
);
CREATE TABLE heap_snapshot(       -- moments at which mprof-run took the references between blocks
  id INTEGER PRIMARY KEY,         -- in the order of process_id and ns
  process_id INTEGER NOT NULL DEFAULT 1 REFERENCES process(id),
  ns INTEGER NOT NULL,            -- when the threads were stopped
  reason TEXT NOT NULL,           -- 'asked', 'end', 'signal', 'mark', 'time'
  name TEXT,
  partial INTEGER NOT NULL,       -- 1: the recording began later than the program; blocks are missing
  threads INTEGER NOT NULL,       -- that were stopped
  stopped_ns INTEGER NOT NULL,    -- for how long
  read_bytes INTEGER NOT NULL,    -- of memory that was searched
  left_out INTEGER NOT NULL,      -- bytes that were not: swapped out, shared or unreadable
  words INTEGER NOT NULL,         -- that hold an address inside a heap mapping
  why TEXT                        -- words are missing; NULL: they are complete
);
CREATE TABLE heap_range(          -- memory that was searched, and heap mappings, at such a moment
  snapshot_id INTEGER NOT NULL REFERENCES heap_snapshot(id),
  address INTEGER NOT NULL,
  size INTEGER NOT NULL,
  protection TEXT NOT NULL,       -- 'rw-'
  kind TEXT NOT NULL,             -- 'heap', 'anonymous', 'data', 'stack', 'file'
  path TEXT NOT NULL,             -- of the module or file; '': none
  offset INTEGER NOT NULL,        -- in the file
  PRIMARY KEY(snapshot_id, address)
) WITHOUT ROWID;
CREATE TABLE heap_thread(         -- the threads, where they stood
  snapshot_id INTEGER NOT NULL REFERENCES heap_snapshot(id),
  tid INTEGER NOT NULL,
  stack_pointer INTEGER NOT NULL,
  thread_pointer INTEGER NOT NULL, -- of its thread-local storage
  PRIMARY KEY(snapshot_id, tid)
) WITHOUT ROWID;
CREATE TABLE heap_register(       -- registers that hold an address inside a heap mapping
  snapshot_id INTEGER NOT NULL REFERENCES heap_snapshot(id),
  tid INTEGER NOT NULL,
  position INTEGER NOT NULL,
  number INTEGER NOT NULL,        -- as DWARF counts registers
  value INTEGER NOT NULL,
  PRIMARY KEY(snapshot_id, tid, position)
) WITHOUT ROWID;
CREATE TABLE heap_variable(       -- variables in the data of modules that hold such words
  snapshot_id INTEGER NOT NULL REFERENCES heap_snapshot(id),
  address INTEGER NOT NULL,
  size INTEGER NOT NULL,
  name TEXT NOT NULL,             -- demangled
  tid INTEGER,                    -- of the thread whose own variable it is; NULL: in a module's data
  PRIMARY KEY(snapshot_id, address)
) WITHOUT ROWID;
CREATE TABLE heap_words(          -- the words: schemas/columns.md, "Words of a snapshot"
  snapshot_id INTEGER NOT NULL REFERENCES heap_snapshot(id),
  position INTEGER NOT NULL,      -- from 0, by ascending address
  data BLOB NOT NULL,
  PRIMARY KEY(snapshot_id, position)
) WITHOUT ROWID;
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
-- Address and end are computed from the shorter numbers that are stored. The tools accept no other
-- computed columns, and know these by their text from the first line on, with any number for the first 0.
CREATE TABLE allocation(
  id INTEGER PRIMARY KEY,
  address INTEGER NOT NULL AS (ifnull(0 + CASE WHEN address_code & 1 THEN address_code >> 1 ELSE address_code << 3 END, whole_address)),
  size INTEGER NOT NULL,
  stack_id INTEGER NOT NULL,
  alloc_ns INTEGER NOT NULL,
  free_ns INTEGER AS (alloc_ns + lived_ns),
  free_thread_id INTEGER AS (CASE WHEN lived_ns IS NOT NULL THEN nullif(ifnull(freed_by_id, thread_id), 0) END),
  address_code INTEGER,           -- of the address, from the number above; NULL: whole_address has it
  lived_ns INTEGER,               -- NULL: never freed
  thread_id INTEGER NOT NULL DEFAULT 1,
  type_id INTEGER NOT NULL DEFAULT 0,       -- 0: unknown
  kind INTEGER NOT NULL DEFAULT 0,
  count INTEGER NOT NULL DEFAULT 1,
  freed_by_id INTEGER,            -- thread that freed, 0: unknown; NULL: thread_id
  realloc_of INTEGER,
  free_stack_id INTEGER,
  arena_id INTEGER NOT NULL DEFAULT 0,      -- 0: the process heap
  alignment INTEGER NOT NULL DEFAULT 0,     -- 0: the allocator's own
  whole_address INTEGER           -- as a signed 64-bit number
);
CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO kind VALUES (0,'malloc'),(1,'calloc'),(2,'realloc'),(3,'reallocarray'),
  (4,'posix_memalign'),(5,'aligned_alloc'),(6,'memalign'),(7,'valloc'),(8,'pvalloc'),
  (9,'new'),(10,'new[]'),(11,'arena'),
  (12,'new nothrow'),(13,'new[] nothrow'),(14,'new aligned'),(15,'new[] aligned'),
  (16,'new aligned nothrow'),(17,'new[] aligned nothrow');

-- Derived: can be rebuilt from the tables above.
CREATE TABLE root(                -- places outside the heap that hold references, at a snapshot
  id INTEGER PRIMARY KEY,
  snapshot_id INTEGER NOT NULL REFERENCES heap_snapshot(id),
  kind TEXT NOT NULL,             -- 'data', 'stack', 'register', 'thread-local', 'mapping', 'file'
  name TEXT NOT NULL,             -- of the variable, module, thread or file; 'rbx of THREAD'
  module TEXT,                    -- path; NULL: none
  tid INTEGER,                    -- of the thread; NULL: none
  address INTEGER,
  retained_bytes INTEGER NOT NULL, -- of the blocks that only it keeps
  retained_count INTEGER NOT NULL
);
CREATE TABLE reference_member(id INTEGER PRIMARY KEY, name TEXT NOT NULL); -- 'App::history', 'Node::next'
CREATE TABLE retained(            -- live blocks at a snapshot
  snapshot_id INTEGER NOT NULL REFERENCES heap_snapshot(id),
  allocation_id INTEGER NOT NULL,
  state INTEGER NOT NULL,         -- 1 reachable, 2 possibly, 3 unreachable, 4 by unreachable blocks only;
                                  -- 0: not reached, but words or blocks of the snapshot are missing
  dominator_id INTEGER NOT NULL,  -- a row of allocation; below 0: -1 times the id of a root; 0: several
                                  -- roots together, or unreachable
  holder_id INTEGER NOT NULL,     -- the next one on a shortest path to a root, as dominator_id; 0: unreachable
  bytes INTEGER NOT NULL,         -- of the blocks that would be free without it, itself included
  count INTEGER NOT NULL,
  referrers INTEGER NOT NULL,     -- references to it from other blocks and roots
  from_offset INTEGER,            -- the first reference from the holder, as in other_reference, rather one
  to_offset INTEGER,              -- without doubt; NULL: there is no holder
  member_id INTEGER,
  doubt INTEGER,
  PRIMARY KEY(snapshot_id, allocation_id)
) WITHOUT ROWID;
CREATE TABLE other_reference(     -- from a live block or a root to a live block, but those in retained
  snapshot_id INTEGER NOT NULL REFERENCES heap_snapshot(id),
  from_id INTEGER NOT NULL,       -- as retained.dominator_id
  from_offset INTEGER NOT NULL,   -- of the word in the block; of a root: its address, or a register
  to_id INTEGER NOT NULL,         -- a row of allocation
  to_offset INTEGER NOT NULL,
  member_id INTEGER NOT NULL,     -- 0: not known
  doubt INTEGER NOT NULL          -- 0; 1: it leads into the middle of the block, and no layout says why;
                                  -- 2: its upper 16 bits hold something else; 3: it lies in characters
);
CREATE TABLE retained_group(      -- the same of a set of blocks: nothing counts twice
  snapshot_id INTEGER NOT NULL REFERENCES heap_snapshot(id),
  kind TEXT NOT NULL,             -- 'type', 'function', 'user', 'owner', 'thread', 'state'
  key INTEGER NOT NULL,           -- id there; 0: unknown; of 'state': as retained.state
  own_bytes INTEGER NOT NULL,
  own_count INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY(snapshot_id, kind, key)
) WITHOUT ROWID;
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

-- Queries go from names to stacks. For queries that go on from stacks to allocations,
-- `mprof-ingest --index=stack` builds the index allocation_stack after the last row.
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
  -- CROSS: the planner begins with the allocations. It would go over them once for each stack if a
  -- condition on the stack seemed to leave few.
  FROM allocation a CROSS JOIN stack st ON st.id = a.stack_id
  LEFT JOIN frame fr ON fr.id = st.call_site_frame_id
  LEFT JOIN function f ON f.id = st.function_id
  LEFT JOIN module m ON m.id = fr.module_id
  LEFT JOIN source_file s ON s.id = fr.source_file_id
  LEFT JOIN owner o ON o.id = st.owner_id
  LEFT JOIN frame ufr ON ufr.id = st.user_frame_id
  LEFT JOIN function uf ON uf.id = ufr.function_id
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

-- Who keeps blocks alive, at the snapshots of references.
CREATE VIEW v_retained AS
  SELECT r.snapshot_id AS snapshot_id, r.allocation_id AS allocation_id,
         CASE r.state WHEN 0 THEN 'unknown' WHEN 1 THEN 'reachable' WHEN 2 THEN 'possibly'
           ELSE 'unreachable' END
           AS reachability,
         a.size AS size, r.bytes AS retained_bytes, r.count AS retained_count,
         COALESCE(ty.name, '(unknown)') AS type, f.name AS function, uf.name AS user,
         o.name AS owner, r.dominator_id AS dominator_id, r.holder_id AS holder_id,
         r.referrers AS referrers, a.address AS address
  FROM retained r JOIN allocation a ON a.id = r.allocation_id
  LEFT JOIN type ty ON ty.id = a.type_id LEFT JOIN stack st ON st.id = a.stack_id
  LEFT JOIN function f ON f.id = st.function_id LEFT JOIN owner o ON o.id = st.owner_id
  LEFT JOIN frame fr ON fr.id = st.user_frame_id LEFT JOIN function uf ON uf.id = fr.function_id;
CREATE VIEW reference AS          -- all of them; an index leads from each from_id and to_id
  SELECT snapshot_id, dominator_id AS from_id, from_offset, allocation_id AS to_id, to_offset, member_id, doubt
  FROM retained WHERE (holder_id = dominator_id) = 1 AND holder_id <> 0
  UNION ALL
  SELECT snapshot_id, holder_id, from_offset, allocation_id, to_offset, member_id, doubt
  FROM retained WHERE holder_id <> dominator_id AND holder_id <> 0
  UNION ALL
  SELECT snapshot_id, from_id, from_offset, to_id, to_offset, member_id, doubt FROM other_reference;
CREATE VIEW v_reference AS
  SELECT x.snapshot_id AS snapshot_id, x.from_id AS from_id,
         COALESCE(ro.name, fty.name, '(unknown)') AS holder, ro.kind AS root_kind,
         m.name AS member, x.from_offset AS from_offset, x.to_id AS to_id,
         COALESCE(tty.name, '(unknown)') AS type, x.to_offset AS to_offset, x.doubt AS doubt
  FROM reference x LEFT JOIN root ro ON ro.id = -x.from_id
  LEFT JOIN allocation fa ON fa.id = x.from_id LEFT JOIN type fty ON fty.id = fa.type_id
  LEFT JOIN allocation ta ON ta.id = x.to_id LEFT JOIN type tty ON tty.id = ta.type_id
  LEFT JOIN reference_member m ON m.id = x.member_id;
CREATE VIEW v_retained_by_type AS
  SELECT g.snapshot_id AS snapshot_id, COALESCE(ty.name, '(unknown)') AS type,
         g.own_bytes AS own_bytes, g.own_count AS own_count, g.bytes AS retained_bytes,
         g.count AS retained_count
  FROM retained_group g LEFT JOIN type ty ON ty.id = g.key WHERE g.kind = 'type';
CREATE VIEW v_retained_by_user AS
  SELECT g.snapshot_id AS snapshot_id, COALESCE(f.name, '(none)') AS user,
         g.own_bytes AS own_bytes, g.own_count AS own_count, g.bytes AS retained_bytes,
         g.count AS retained_count
  FROM retained_group g LEFT JOIN function f ON f.id = g.key WHERE g.kind = 'user';
CREATE VIEW v_retained_by_owner AS
  SELECT g.snapshot_id AS snapshot_id, COALESCE(o.name, '(unknown)') AS owner,
         g.own_bytes AS own_bytes, g.own_count AS own_count, g.bytes AS retained_bytes,
         g.count AS retained_count
  FROM retained_group g LEFT JOIN owner o ON o.id = g.key WHERE g.kind = 'owner';
CREATE VIEW v_retained_by_root AS
  SELECT snapshot_id, id AS root_id, kind, name, module, retained_bytes, retained_count FROM root;
CREATE VIEW v_unreachable AS
  SELECT r.snapshot_id AS snapshot_id, r.allocation_id AS allocation_id, r.state = 3 AS direct,
         a.size AS size, r.bytes AS retained_bytes, r.count AS retained_count,
         COALESCE(ty.name, '(unknown)') AS type, f.name AS function, uf.name AS user,
         a.stack_id AS stack_id
  FROM retained r JOIN allocation a ON a.id = r.allocation_id
  LEFT JOIN type ty ON ty.id = a.type_id LEFT JOIN stack st ON st.id = a.stack_id
  LEFT JOIN function f ON f.id = st.function_id LEFT JOIN frame fr ON fr.id = st.user_frame_id
  LEFT JOIN function uf ON uf.id = fr.function_id
  WHERE r.state >= 3;
-- A shortest way, from the block outward. Ask for one allocation_id: each row is a walk of its own.
CREATE VIEW v_path_to_root AS
  SELECT r.snapshot_id AS snapshot_id, r.allocation_id AS allocation_id,
    (WITH RECURSIVE v_way(step, node, next) AS (
       SELECT 0, r.allocation_id, r.holder_id
       UNION ALL
       SELECT w.step + 1, w.next,
              (SELECT h.holder_id FROM retained h
                WHERE h.snapshot_id = r.snapshot_id AND h.allocation_id = w.next)
       FROM v_way w WHERE w.next <> 0)
     SELECT group_concat(text, ' ← ') FROM (
       SELECT CASE WHEN w.node < 0
                THEN (SELECT name || ' (' || kind || ')' FROM root WHERE id = -w.node)
                ELSE COALESCE((SELECT ty.name FROM allocation a JOIN type ty ON ty.id = a.type_id
                                WHERE a.id = w.node), '(unknown)') END
              || COALESCE(CASE WHEN w.next IS NOT NULL AND w.next <> 0 THEN
                   (SELECT ' ← ' || m.name FROM retained h
                      JOIN reference_member m ON m.id = h.member_id
                     WHERE h.snapshot_id = r.snapshot_id AND h.allocation_id = w.node) END, '')
              AS text
       FROM v_way w ORDER BY w.step)) AS path
  FROM retained r;

-- Why the resident set is what it is: at each moment the classes with in_rss add up to residency.present.
CREATE VIEW v_rss AS
  SELECT r.id AS residency_id, r.process_id AS process_id, r.ns AS ns, r.reason AS reason,
         r.mark AS mark, c.class AS class, sum(c.bytes) AS bytes, c.in_rss AS in_rss
  FROM residency r JOIN residency_class c ON c.residency_id = r.id GROUP BY r.id, c.class;
CREATE VIEW v_rss_by_type AS
  SELECT x.residency_id AS residency_id, COALESCE(ty.name, '(unknown)') AS type,
         sum(x.live_bytes) AS live_bytes, sum(x.live_count) AS live_count,
         sum(x.resident) AS resident, sum(x.untouched) AS untouched, sum(x.swapped) AS swapped,
         sum(x.pinned) AS pinned, sum(x.last_owned) AS last_owned
  FROM residency_stack x LEFT JOIN type ty ON ty.id = x.type_id
  GROUP BY x.residency_id, COALESCE(ty.name, '(unknown)');
CREATE VIEW v_rss_by_user AS      -- by the innermost frame of the user's own code; NULL: none
  SELECT x.residency_id AS residency_id, f.name AS user, sum(x.live_bytes) AS live_bytes,
         sum(x.live_count) AS live_count, sum(x.resident) AS resident,
         sum(x.untouched) AS untouched, sum(x.swapped) AS swapped, sum(x.pinned) AS pinned,
         sum(x.last_owned) AS last_owned
  FROM residency_stack x LEFT JOIN stack st ON st.id = x.stack_id
  LEFT JOIN frame fr ON fr.id = st.user_frame_id LEFT JOIN function f ON f.id = fr.function_id
  GROUP BY x.residency_id, f.id;
CREATE VIEW v_pinned_page AS      -- whose blocks keep holes in memory
  SELECT x.residency_id AS residency_id, x.stack_id AS stack_id, f.name AS function,
         uf.name AS user, COALESCE(ty.name, '(unknown)') AS type, x.pinned_pages AS pages,
         x.pinned AS bytes
  FROM residency_stack x LEFT JOIN type ty ON ty.id = x.type_id
  LEFT JOIN stack st ON st.id = x.stack_id LEFT JOIN function f ON f.id = st.function_id
  LEFT JOIN frame fr ON fr.id = st.user_frame_id LEFT JOIN function uf ON uf.id = fr.function_id
  WHERE x.pinned > 0;
CREATE VIEW v_last_owner AS       -- whose blocks lived last in the holes that are in memory
  SELECT x.residency_id AS residency_id, x.stack_id AS stack_id, f.name AS function,
         uf.name AS user, COALESCE(ty.name, '(unknown)') AS type, x.last_owned AS bytes
  FROM residency_stack x LEFT JOIN type ty ON ty.id = x.type_id
  LEFT JOIN stack st ON st.id = x.stack_id LEFT JOIN function f ON f.id = st.function_id
  LEFT JOIN frame fr ON fr.id = st.user_frame_id LEFT JOIN function uf ON uf.id = fr.function_id
  WHERE x.last_owned > 0;

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
