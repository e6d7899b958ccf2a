PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
INSERT INTO meta VALUES('allocations',11);
INSERT INTO meta VALUES('ambiguous_pairs',0);
INSERT INTO meta VALUES('arena_allocations',7);
INSERT INTO meta VALUES('arena_bytes',284);
INSERT INTO meta VALUES('arena_live_bytes_end',20);
INSERT INTO meta VALUES('arena_live_count_end',1);
INSERT INTO meta VALUES('arenas',2);
INSERT INTO meta VALUES('argv','worked --name ''it''\''''s "x"''');
INSERT INTO meta VALUES('bytes_allocated',8314);
INSERT INTO meta VALUES('clock','tsc');
INSERT INTO meta VALUES('clock_alignment','one clock');
INSERT INTO meta VALUES('damaged_bytes',0);
INSERT INTO meta VALUES('directory','/home/user');
INSERT INTO meta VALUES('double_frees',1);
INSERT INTO meta VALUES('dropped_events',2);
INSERT INTO meta VALUES('duration_ns',1000);
INSERT INTO meta VALUES('ending','ended');
INSERT INTO meta VALUES('events',16);
INSERT INTO meta VALUES('executable','/opt/worked/bin');
INSERT INTO meta VALUES('failed_allocations',1);
INSERT INTO meta VALUES('frees',5);
INSERT INTO meta VALUES('host','host');
INSERT INTO meta VALUES('inherited_frees',0);
INSERT INTO meta VALUES('kernel','6.1.0');
INSERT INTO meta VALUES('late_modules','/opt/game/plugin.so');
INSERT INTO meta VALUES('live_bytes_end',3353);
INSERT INTO meta VALUES('live_count_end',5);
INSERT INTO meta VALUES('machines',1);
INSERT INTO meta VALUES('mismatched_frees',0);
INSERT INTO meta VALUES('missing_chunks',0);
INSERT INTO meta VALUES('orphaned_stacks',0);
INSERT INTO meta VALUES('overlaps',1);
INSERT INTO meta VALUES('page_size',4096);
INSERT INTO meta VALUES('parent_pid',1);
INSERT INTO meta VALUES('peak_bytes',4596);
INSERT INTO meta VALUES('peak_count',2);
INSERT INTO meta VALUES('peak_ns',400);
INSERT INTO meta VALUES('pid',4242);
INSERT INTO meta VALUES('presumed_inherited_frees',0);
INSERT INTO meta VALUES('program','worked');
INSERT INTO meta VALUES('reallocs',2);
INSERT INTO meta VALUES('rows',18);
INSERT INTO meta VALUES('sample_interval',0);
INSERT INTO meta VALUES('sampled',0);
INSERT INTO meta VALUES('stacks',5);
INSERT INTO meta VALUES('start_monotonic_ns',5000000);
INSERT INTO meta VALUES('start_time','2023-11-14T22:13:20.123Z');
INSERT INTO meta VALUES('threads',3);
INSERT INTO meta VALUES('timeline_slot_ns',1);
INSERT INTO meta VALUES('trace','worked.bin');
INSERT INTO meta VALUES('trace_bytes',16384);
INSERT INTO meta VALUES('trace_version',1);
INSERT INTO meta VALUES('typed_allocations',0);
INSERT INTO meta VALUES('typed_bytes',0);
INSERT INTO meta VALUES('unknown_records',1);
INSERT INTO meta VALUES('unmatched_frees',1);
INSERT INTO meta VALUES('unseen_frees',0);
INSERT INTO meta VALUES('unseen_modules','/opt/game/pool.so (bound to another allocator)');
INSERT INTO meta VALUES('wrong_sizes',1);
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
  symbols TEXT NOT NULL           -- 'dwarf', 'symtab', 'dynsym', 'none', or why there are none
);
INSERT INTO module VALUES(1,'/opt/worked/bin','bin','01234567',4194304,4194304,4259840,0,615,'cannot open /opt/worked/bin: No such file or directory');
CREATE TABLE source_file(id INTEGER PRIMARY KEY, path TEXT NOT NULL);
CREATE TABLE function(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,             -- demangled
  linkage_name TEXT,              -- mangled, where it differs
  module_id INTEGER NOT NULL REFERENCES module(id),  -- 0: no module
  source_file_id INTEGER REFERENCES source_file(id),
  line INTEGER,
  role TEXT                       -- NULL; 'allocator' or 'wrapper': its frames are not call sites
);
INSERT INTO function VALUES(1,'bin+0x1142',NULL,1,NULL,NULL,NULL);
INSERT INTO function VALUES(2,'bin+0x111f',NULL,1,NULL,NULL,NULL);
INSERT INTO function VALUES(3,'bin+0x115f',NULL,1,NULL,NULL,NULL);
INSERT INTO function VALUES(4,'bin+0x1150',NULL,1,NULL,NULL,NULL);
INSERT INTO function VALUES(5,'?+0x7f0000001233',NULL,0,NULL,NULL,NULL);
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
INSERT INTO frame VALUES(1,1,4418,1,NULL,NULL,0,0);
INSERT INTO frame VALUES(2,1,4383,2,NULL,NULL,0,0);
INSERT INTO frame VALUES(3,1,4447,3,NULL,NULL,0,0);
INSERT INTO frame VALUES(4,1,4432,4,NULL,NULL,0,0);
INSERT INTO frame VALUES(5,0,139637976732211,5,NULL,NULL,0,0);
CREATE TABLE stack(
  id INTEGER PRIMARY KEY,         -- of allocations and frees; 0: no stack was taken
  depth INTEGER NOT NULL,         -- frames, inlined ones included
  call_site_frame_id INTEGER REFERENCES frame(id),
  function_id INTEGER REFERENCES function(id),  -- of the call site
  state TEXT NOT NULL,            -- 'complete', 'depth limit', 'unwind end', 'lost', 'none'
  allocations INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  live_count INTEGER NOT NULL DEFAULT 0,        -- at the end
  live_bytes INTEGER NOT NULL DEFAULT 0,
  at_peak_count INTEGER NOT NULL DEFAULT 0,     -- at the program's peak
  at_peak_bytes INTEGER NOT NULL DEFAULT 0,
  peak_bytes INTEGER NOT NULL DEFAULT 0,        -- the stack's own largest live bytes
  peak_ns INTEGER NOT NULL DEFAULT 0,
  lifetime_ns INTEGER NOT NULL DEFAULT 0        -- sum over freed allocations
);
INSERT INTO stack VALUES(0,0,NULL,NULL,'none',1,3,1,3,0,0,3,510,0);
INSERT INTO stack VALUES(1,2,1,1,'complete',2,64,0,0,0,0,64,150,250);
INSERT INTO stack VALUES(2,2,3,3,'complete',3,2000,2,1300,1,500,1300,610,5);
INSERT INTO stack VALUES(3,1,2,2,'complete',3,6244,1,2048,1,4096,4096,400,50);
INSERT INTO stack VALUES(4,1,4,4,'depth limit',1,1,0,0,0,0,1,500,50);
INSERT INTO stack VALUES(5,1,5,5,'unwind end',1,2,1,2,0,0,2,505,0);
CREATE TABLE runtime_stack(       -- stacks of blocks that the runtime keeps to the end: not leaks
  stack_id INTEGER PRIMARY KEY REFERENCES stack(id),
  kind TEXT NOT NULL,             -- 'C++ exceptions', 'stdio', 'loader', 'locale', 'suppressed'
  pattern TEXT                    -- for 'suppressed': the pattern that matched; otherwise NULL
);
CREATE TABLE stack_frame(
  stack_id INTEGER NOT NULL,
  depth INTEGER NOT NULL,         -- 0 innermost
  frame_id INTEGER NOT NULL,
  PRIMARY KEY(stack_id, depth)
) WITHOUT ROWID;
INSERT INTO stack_frame VALUES(1,0,1);
INSERT INTO stack_frame VALUES(1,1,2);
INSERT INTO stack_frame VALUES(2,0,3);
INSERT INTO stack_frame VALUES(2,1,2);
INSERT INTO stack_frame VALUES(3,0,2);
INSERT INTO stack_frame VALUES(4,0,4);
INSERT INTO stack_frame VALUES(5,0,5);
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
INSERT INTO process VALUES(1,4242,1,'worked','worked --name ''it''\''''s "x"''',0,1000,'ended','worked.bin',11,5,8314,5,3353,4596,400,1,'host','',1234605616436508552,0,NULL,NULL,NULL,NULL,NULL,0,1,18,'/opt/worked/bin');
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
INSERT INTO thread VALUES(1,4242,'worked',0,NULL,8,4,6314,1);
INSERT INTO thread VALUES(2,4243,'helper',100,560,1,1,500,1);
INSERT INTO thread VALUES(3,NULL,NULL,600,NULL,2,0,1500,1);
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
  peak_ns INTEGER NOT NULL DEFAULT 0
);
INSERT INTO arena VALUES(1,0,'pool',4,9,224,0,0,128,525);
INSERT INTO arena VALUES(2,1,'part of pool',3,6,60,1,20,24,532);
CREATE TABLE mark(id INTEGER PRIMARY KEY, ns INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT,
  process_id INTEGER NOT NULL DEFAULT 1 REFERENCES process(id));
INSERT INTO mark VALUES(1,350,'mark','load',1);
INSERT INTO mark VALUES(2,540,'snapshot','before "threads"',1);
INSERT INTO mark VALUES(3,546,'pause',NULL,1);
INSERT INTO mark VALUES(4,547,'resume',NULL,1);
INSERT INTO mark VALUES(5,610,'snapshot','autosave',1);
CREATE TABLE rss(ns INTEGER NOT NULL, bytes INTEGER NOT NULL,
  process_id INTEGER NOT NULL DEFAULT 1 REFERENCES process(id));
INSERT INTO rss VALUES(545,8192,1);
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
INSERT INTO region VALUES(1,1,139637976735744,4096,'rw-',0,'/var/data',16384,1,1,537,538,1,NULL,NULL,1,4096);
INSERT INTO region VALUES(2,1,139637976727552,4096,'rw-',0,'/var/data',8192,1,1,537,538,1,NULL,NULL,0,NULL);
INSERT INTO region VALUES(3,1,139637976739840,4096,'rw-',0,'/var/data',20480,1,1,537,539,1,NULL,NULL,1,NULL);
INSERT INTO region VALUES(4,1,139637976731648,4096,'rw-',0,'/var/data',12288,1,1,537,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO region VALUES(5,1,139637976739840,4096,'r--',0,'/var/data',20480,1,1,539,NULL,NULL,NULL,3,NULL,NULL);
INSERT INTO region VALUES(6,1,139637976743936,8192,'rw-',0,'/var/data',24576,1,1,537,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO region VALUES(7,2,139706696204288,8192,'rw-',0,'/var/data',8192,1,3,539,NULL,NULL,139637976727552,NULL,NULL,NULL);
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
INSERT INTO wrong_size VALUES(5,1,2,4,1);
CREATE TABLE problem(
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,             -- 'unmatched free', 'double free', 'mismatched free', 'overlap', 'damage', …
  ns INTEGER,
  address INTEGER,
  thread_id INTEGER,
  byte_offset INTEGER,            -- in the trace
  detail TEXT
);
INSERT INTO problem VALUES(1,'failed allocation',440,NULL,1,4365,'70368744177664 bytes were asked for');
INSERT INTO problem VALUES(2,'unmatched free',450,2147418128,1,4377,'not seen to be allocated: before recording began, or elsewhere');
INSERT INTO problem VALUES(3,'wrong size',510,4216864,1,4417,'2 bytes, deleted as 4');
INSERT INTO problem VALUES(4,'dropped',548,NULL,1,4841,'2 events: inside the recorder itself');
INSERT INTO problem VALUES(5,'double free',555,4216832,2,8290,'freed before, and not allocated in between');
INSERT INTO problem VALUES(6,'overlap',610,8258304,3,8319,'allocated while it was live: the previous block ends here');
CREATE TABLE allocation(
  id INTEGER PRIMARY KEY,
  address INTEGER NOT NULL,       -- as a signed 64-bit number
  size INTEGER NOT NULL,
  count INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  alignment INTEGER NOT NULL,     -- 0: the allocator's own
  arena_id INTEGER NOT NULL,      -- 0: the process heap
  thread_id INTEGER NOT NULL,
  stack_id INTEGER NOT NULL,
  type_id INTEGER NOT NULL,       -- 0: unknown
  alloc_ns INTEGER NOT NULL,
  free_ns INTEGER,
  free_thread_id INTEGER,
  free_stack_id INTEGER,
  realloc_of INTEGER
);
INSERT INTO allocation VALUES(1,4215456,32,1,0,0,0,1,1,0,50,200,1,NULL,NULL);
INSERT INTO allocation VALUES(2,4215504,32,1,4,64,0,1,1,0,150,250,1,NULL,NULL);
INSERT INTO allocation VALUES(3,4215552,100,1,2,0,0,1,3,0,325,350,1,1,2);
INSERT INTO allocation VALUES(4,4215808,4096,1,1,0,0,1,3,0,400,425,1,NULL,NULL);
INSERT INTO allocation VALUES(5,4215808,64,4,11,0,1,1,1,0,520,530,1,NULL,NULL);
INSERT INTO allocation VALUES(6,4215872,16,2,11,0,2,1,1,0,531,532,1,NULL,NULL);
INSERT INTO allocation VALUES(7,4215872,64,1,11,0,1,1,1,0,525,535,1,NULL,NULL);
INSERT INTO allocation VALUES(8,4215888,24,3,11,0,2,1,3,0,532,535,1,NULL,6);
INSERT INTO allocation VALUES(9,4215808,48,3,11,0,1,1,1,0,535,535,1,NULL,NULL);
INSERT INTO allocation VALUES(10,4215856,48,1,11,0,1,1,1,0,535,535,1,NULL,NULL);
INSERT INTO allocation VALUES(11,4216832,1,1,0,0,0,1,4,0,500,550,2,NULL,NULL);
INSERT INTO allocation VALUES(12,8258304,700,1,0,0,0,3,2,0,605,610,NULL,NULL,NULL);
INSERT INTO allocation VALUES(13,8257552,500,1,0,0,0,2,2,0,125,NULL,NULL,NULL,NULL);
INSERT INTO allocation VALUES(14,4215808,2048,1,2,0,0,1,3,0,430,NULL,NULL,NULL,4);
INSERT INTO allocation VALUES(15,4216864,2,1,0,0,0,1,5,0,505,NULL,NULL,NULL,NULL);
INSERT INTO allocation VALUES(16,4216896,3,1,0,0,0,1,0,0,510,NULL,NULL,NULL,NULL);
INSERT INTO allocation VALUES(17,8258304,800,1,0,0,0,3,2,0,610,NULL,NULL,NULL,NULL);
INSERT INTO allocation VALUES(18,4215872,20,1,11,0,2,1,3,0,535,NULL,NULL,NULL,NULL);
CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO kind VALUES(0,'malloc');
INSERT INTO kind VALUES(1,'calloc');
INSERT INTO kind VALUES(2,'realloc');
INSERT INTO kind VALUES(3,'reallocarray');
INSERT INTO kind VALUES(4,'posix_memalign');
INSERT INTO kind VALUES(5,'aligned_alloc');
INSERT INTO kind VALUES(6,'memalign');
INSERT INTO kind VALUES(7,'valloc');
INSERT INTO kind VALUES(8,'pvalloc');
INSERT INTO kind VALUES(9,'new');
INSERT INTO kind VALUES(10,'new[]');
INSERT INTO kind VALUES(11,'arena');
INSERT INTO kind VALUES(12,'new nothrow');
INSERT INTO kind VALUES(13,'new[] nothrow');
INSERT INTO kind VALUES(14,'new aligned');
INSERT INTO kind VALUES(15,'new[] aligned');
INSERT INTO kind VALUES(16,'new aligned nothrow');
INSERT INTO kind VALUES(17,'new[] aligned nothrow');
CREATE TABLE column_chunk(        -- schemas/columns.md; id = chunk * 32 + column
  id INTEGER PRIMARY KEY,
  rows INTEGER NOT NULL,
  width INTEGER NOT NULL,
  min INTEGER NOT NULL,
  max INTEGER NOT NULL,
  data BLOB NOT NULL
);
INSERT INTO column_chunk VALUES(0,18,3,4215456,8258304,X'000000300000600000600100600100a00100a00100b0010060010090010060050060b03d70ad3d600100800500a0050060b03da001000000000000000000');
INSERT INTO column_chunk VALUES(1,18,2,1,4096,X'1f001f006300ff0f3f000f003f0017002f002f000000bb02f301ff07010002001f0313000000000000000000');
INSERT INTO column_chunk VALUES(2,18,2,50,610,X'0000640013015e01d601e101db01e201e501e501c2012b024b007c01c701cc013002e5010000000000000000');
INSERT INTO column_chunk VALUES(3,18,1,0,151,X'97651a1a0b020b04010133060000000000000000000000000000');
INSERT INTO column_chunk VALUES(4,18,1,0,5,X'0101030301010103010104020203050002030000000000000000');
INSERT INTO column_chunk VALUES(5,18,1,1,3,X'0000000000000000000000020100000002000000000000000000');
INSERT INTO column_chunk VALUES(6,18,1,0,2,X'0101010101010101010102000000000000000000000000000000');
INSERT INTO column_chunk VALUES(7,18,1,0,11,X'000402010b0b0b0b0b0b000000020000000b0000000000000000');
INSERT INTO column_chunk VALUES(8,18,0,0,0,X'');
INSERT INTO column_chunk VALUES(9,18,1,0,2,X'0000000001020102010100000000000000020000000000000000');
INSERT INTO column_chunk VALUES(10,18,1,1,4,X'0000000003010002020000000000000000000000000000000000');
INSERT INTO column_chunk VALUES(11,18,1,0,64,X'0040000000000000000000000000000000000000000000000000');
INSERT INTO column_chunk VALUES(12,18,1,0,6,X'0000020000000006000000000004000000000000000000000000');
INSERT INTO column_chunk VALUES(13,18,1,0,1,X'0000010000000000000000000000000000000000000000000000');
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
INSERT INTO timeline VALUES(1,0,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,1,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,2,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,3,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,4,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,5,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,6,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,7,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,8,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,9,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,10,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,11,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,12,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,13,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,14,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,15,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,16,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,17,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,18,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,19,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,20,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,21,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,22,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,23,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,24,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,25,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,26,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,27,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,28,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,29,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,30,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,31,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,32,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,33,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,34,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,35,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,36,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,37,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,38,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,39,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,40,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,41,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,42,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,43,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,44,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,45,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,46,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,47,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,48,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,49,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,50,32,1,32,32,1,0,0);
INSERT INTO timeline VALUES(1,51,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,52,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,53,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,54,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,55,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,56,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,57,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,58,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,59,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,60,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,61,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,62,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,63,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,64,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,65,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,66,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,67,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,68,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,69,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,70,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,71,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,72,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,73,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,74,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,75,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,76,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,77,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,78,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,79,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,80,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,81,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,82,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,83,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,84,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,85,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,86,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,87,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,88,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,89,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,90,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,91,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,92,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,93,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,94,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,95,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,96,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,97,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,98,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,99,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,100,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,101,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,102,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,103,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,104,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,105,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,106,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,107,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,108,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,109,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,110,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,111,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,112,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,113,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,114,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,115,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,116,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,117,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,118,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,119,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,120,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,121,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,122,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,123,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,124,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(1,125,532,2,532,500,1,0,0);
INSERT INTO timeline VALUES(1,126,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,127,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,128,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,129,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,130,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,131,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,132,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,133,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,134,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,135,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,136,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,137,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,138,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,139,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,140,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,141,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,142,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,143,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,144,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,145,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,146,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,147,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,148,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,149,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,150,564,3,564,32,1,0,0);
INSERT INTO timeline VALUES(1,151,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,152,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,153,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,154,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,155,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,156,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,157,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,158,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,159,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,160,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,161,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,162,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,163,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,164,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,165,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,166,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,167,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,168,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,169,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,170,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,171,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,172,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,173,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,174,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,175,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,176,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,177,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,178,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,179,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,180,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,181,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,182,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,183,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,184,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,185,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,186,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,187,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,188,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,189,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,190,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,191,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,192,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,193,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,194,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,195,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,196,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,197,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,198,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,199,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(1,200,532,2,564,0,0,32,1);
INSERT INTO timeline VALUES(1,201,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,202,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,203,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,204,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,205,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,206,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,207,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,208,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,209,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,210,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,211,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,212,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,213,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,214,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,215,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,216,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,217,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,218,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,219,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,220,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,221,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,222,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,223,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,224,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,225,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,226,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,227,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,228,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,229,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,230,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,231,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,232,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,233,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,234,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,235,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,236,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,237,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,238,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,239,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,240,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,241,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,242,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,243,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,244,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,245,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,246,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,247,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,248,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,249,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(1,250,500,1,532,0,0,32,1);
INSERT INTO timeline VALUES(1,251,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,252,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,253,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,254,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,255,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,256,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,257,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,258,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,259,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,260,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,261,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,262,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,263,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,264,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,265,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,266,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,267,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,268,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,269,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,270,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,271,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,272,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,273,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,274,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,275,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,276,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,277,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,278,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,279,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,280,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,281,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,282,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,283,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,284,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,285,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,286,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,287,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,288,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,289,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,290,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,291,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,292,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,293,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,294,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,295,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,296,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,297,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,298,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,299,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,300,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,301,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,302,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,303,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,304,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,305,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,306,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,307,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,308,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,309,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,310,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,311,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,312,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,313,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,314,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,315,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,316,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,317,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,318,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,319,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,320,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,321,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,322,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,323,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,324,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,325,600,2,600,100,1,0,0);
INSERT INTO timeline VALUES(1,326,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,327,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,328,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,329,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,330,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,331,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,332,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,333,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,334,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,335,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,336,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,337,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,338,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,339,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,340,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,341,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,342,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,343,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,344,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,345,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,346,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,347,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,348,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,349,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(1,350,500,1,600,0,0,100,1);
INSERT INTO timeline VALUES(1,351,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,352,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,353,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,354,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,355,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,356,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,357,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,358,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,359,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,360,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,361,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,362,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,363,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,364,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,365,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,366,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,367,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,368,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,369,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,370,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,371,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,372,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,373,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,374,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,375,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,376,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,377,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,378,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,379,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,380,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,381,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,382,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,383,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,384,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,385,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,386,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,387,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,388,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,389,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,390,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,391,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,392,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,393,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,394,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,395,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,396,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,397,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,398,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,399,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,400,4596,2,4596,4096,1,0,0);
INSERT INTO timeline VALUES(1,401,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,402,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,403,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,404,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,405,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,406,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,407,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,408,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,409,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,410,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,411,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,412,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,413,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,414,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,415,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,416,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,417,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,418,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,419,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,420,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,421,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,422,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,423,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,424,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(1,425,500,1,4596,0,0,4096,1);
INSERT INTO timeline VALUES(1,426,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,427,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,428,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,429,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(1,430,2548,2,2548,2048,1,0,0);
INSERT INTO timeline VALUES(1,431,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,432,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,433,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,434,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,435,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,436,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,437,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,438,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,439,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,440,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,441,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,442,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,443,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,444,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,445,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,446,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,447,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,448,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,449,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,450,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,451,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,452,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,453,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,454,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,455,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,456,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,457,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,458,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,459,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,460,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,461,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,462,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,463,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,464,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,465,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,466,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,467,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,468,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,469,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,470,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,471,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,472,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,473,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,474,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,475,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,476,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,477,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,478,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,479,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,480,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,481,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,482,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,483,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,484,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,485,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,486,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,487,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,488,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,489,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,490,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,491,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,492,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,493,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,494,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,495,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,496,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,497,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,498,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,499,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(1,500,2549,3,2549,1,1,0,0);
INSERT INTO timeline VALUES(1,501,2549,3,2549,0,0,0,0);
INSERT INTO timeline VALUES(1,502,2549,3,2549,0,0,0,0);
INSERT INTO timeline VALUES(1,503,2549,3,2549,0,0,0,0);
INSERT INTO timeline VALUES(1,504,2549,3,2549,0,0,0,0);
INSERT INTO timeline VALUES(1,505,2551,4,2551,2,1,0,0);
INSERT INTO timeline VALUES(1,506,2551,4,2551,0,0,0,0);
INSERT INTO timeline VALUES(1,507,2551,4,2551,0,0,0,0);
INSERT INTO timeline VALUES(1,508,2551,4,2551,0,0,0,0);
INSERT INTO timeline VALUES(1,509,2551,4,2551,0,0,0,0);
INSERT INTO timeline VALUES(1,510,2554,5,2554,3,1,0,0);
INSERT INTO timeline VALUES(1,511,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,512,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,513,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,514,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,515,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,516,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,517,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,518,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,519,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,520,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,521,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,522,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,523,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,524,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,525,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,526,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,527,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,528,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,529,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,530,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,531,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,532,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,533,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,534,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,535,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,536,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,537,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,538,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,539,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,540,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,541,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,542,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,543,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,544,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,545,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,546,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,547,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,548,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,549,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(1,550,2553,4,2554,0,0,1,1);
INSERT INTO timeline VALUES(1,551,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,552,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,553,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,554,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,555,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,556,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,557,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,558,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,559,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,560,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,561,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,562,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,563,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,564,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,565,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,566,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,567,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,568,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,569,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,570,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,571,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,572,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,573,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,574,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,575,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,576,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,577,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,578,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,579,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,580,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,581,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,582,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,583,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,584,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,585,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,586,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,587,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,588,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,589,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,590,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,591,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,592,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,593,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,594,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,595,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,596,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,597,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,598,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,599,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,600,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,601,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,602,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,603,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,604,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(1,605,3253,5,3253,700,1,0,0);
INSERT INTO timeline VALUES(1,606,3253,5,3253,0,0,0,0);
INSERT INTO timeline VALUES(1,607,3253,5,3253,0,0,0,0);
INSERT INTO timeline VALUES(1,608,3253,5,3253,0,0,0,0);
INSERT INTO timeline VALUES(1,609,3253,5,3253,0,0,0,0);
INSERT INTO timeline VALUES(1,610,3353,5,3353,800,1,700,1);
INSERT INTO timeline VALUES(1,611,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,612,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,613,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,614,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,615,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,616,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,617,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,618,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,619,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,620,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,621,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,622,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,623,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,624,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,625,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,626,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,627,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,628,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,629,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,630,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,631,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,632,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,633,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,634,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,635,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,636,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,637,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,638,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,639,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,640,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,641,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,642,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,643,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,644,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,645,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,646,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,647,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,648,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,649,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,650,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,651,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,652,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,653,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,654,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,655,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,656,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,657,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,658,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,659,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,660,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,661,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,662,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,663,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,664,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,665,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,666,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,667,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,668,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,669,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,670,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,671,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,672,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,673,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,674,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,675,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,676,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,677,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,678,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,679,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,680,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,681,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,682,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,683,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,684,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,685,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,686,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,687,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,688,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,689,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,690,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,691,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,692,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,693,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,694,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,695,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,696,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,697,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,698,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,699,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,700,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,701,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,702,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,703,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,704,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,705,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,706,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,707,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,708,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,709,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,710,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,711,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,712,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,713,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,714,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,715,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,716,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,717,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,718,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,719,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,720,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,721,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,722,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,723,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,724,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,725,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,726,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,727,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,728,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,729,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,730,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,731,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,732,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,733,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,734,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,735,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,736,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,737,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,738,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,739,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,740,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,741,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,742,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,743,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,744,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,745,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,746,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,747,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,748,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,749,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,750,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,751,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,752,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,753,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,754,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,755,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,756,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,757,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,758,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,759,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,760,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,761,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,762,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,763,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,764,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,765,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,766,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,767,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,768,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,769,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,770,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,771,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,772,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,773,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,774,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,775,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,776,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,777,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,778,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,779,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,780,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,781,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,782,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,783,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,784,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,785,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,786,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,787,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,788,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,789,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,790,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,791,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,792,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,793,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,794,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,795,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,796,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,797,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,798,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,799,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,800,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,801,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,802,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,803,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,804,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,805,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,806,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,807,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,808,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,809,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,810,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,811,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,812,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,813,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,814,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,815,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,816,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,817,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,818,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,819,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,820,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,821,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,822,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,823,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,824,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,825,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,826,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,827,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,828,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,829,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,830,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,831,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,832,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,833,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,834,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,835,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,836,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,837,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,838,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,839,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,840,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,841,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,842,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,843,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,844,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,845,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,846,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,847,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,848,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,849,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,850,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,851,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,852,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,853,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,854,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,855,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,856,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,857,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,858,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,859,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,860,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,861,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,862,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,863,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,864,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,865,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,866,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,867,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,868,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,869,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,870,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,871,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,872,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,873,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,874,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,875,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,876,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,877,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,878,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,879,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,880,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,881,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,882,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,883,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,884,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,885,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,886,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,887,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,888,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,889,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,890,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,891,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,892,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,893,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,894,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,895,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,896,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,897,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,898,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,899,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,900,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,901,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,902,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,903,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,904,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,905,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,906,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,907,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,908,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,909,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,910,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,911,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,912,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,913,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,914,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,915,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,916,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,917,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,918,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,919,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,920,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,921,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,922,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,923,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,924,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,925,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,926,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,927,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,928,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,929,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,930,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,931,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,932,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,933,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,934,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,935,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,936,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,937,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,938,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,939,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,940,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,941,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,942,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,943,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,944,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,945,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,946,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,947,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,948,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,949,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,950,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,951,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,952,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,953,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,954,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,955,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,956,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,957,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,958,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,959,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,960,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,961,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,962,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,963,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,964,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,965,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,966,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,967,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,968,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,969,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,970,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,971,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,972,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,973,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,974,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,975,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,976,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,977,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,978,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,979,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,980,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,981,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,982,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,983,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,984,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,985,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,986,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,987,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,988,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,989,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,990,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,991,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,992,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,993,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,994,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,995,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,996,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,997,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,998,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,999,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1,1000,3353,5,3353,0,0,0,0);
CREATE TABLE function_total(
  function_id INTEGER PRIMARY KEY,
  self_bytes INTEGER NOT NULL,
  self_count INTEGER NOT NULL,
  total_bytes INTEGER NOT NULL,
  total_count INTEGER NOT NULL,
  live_bytes INTEGER NOT NULL,
  live_count INTEGER NOT NULL,
  at_peak_bytes INTEGER NOT NULL,
  peak_bytes INTEGER NOT NULL
);
INSERT INTO function_total VALUES(1,64,2,64,2,0,0,0,64);
INSERT INTO function_total VALUES(2,6244,3,8308,8,2048,1,4096,4096);
INSERT INTO function_total VALUES(3,2000,3,2000,3,1300,2,500,1300);
INSERT INTO function_total VALUES(4,1,1,1,1,0,0,0,1);
INSERT INTO function_total VALUES(5,2,1,2,1,2,1,0,2);
CREATE TABLE type_total(          -- process heap only, like all totals
  type_id INTEGER PRIMARY KEY,    -- 0: unknown
  allocations INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  live_count INTEGER NOT NULL,
  live_bytes INTEGER NOT NULL
);
INSERT INTO type_total VALUES(0,11,8314,5,3353);
CREATE TABLE size_bin(            -- one row for each distinct size
  size INTEGER PRIMARY KEY,
  allocations INTEGER NOT NULL,
  frees INTEGER NOT NULL,
  live_count INTEGER NOT NULL
);
INSERT INTO size_bin VALUES(1,1,1,0);
INSERT INTO size_bin VALUES(2,1,0,1);
INSERT INTO size_bin VALUES(3,1,0,1);
INSERT INTO size_bin VALUES(32,2,2,0);
INSERT INTO size_bin VALUES(100,1,1,0);
INSERT INTO size_bin VALUES(500,1,0,1);
INSERT INTO size_bin VALUES(700,1,1,0);
INSERT INTO size_bin VALUES(800,1,0,1);
INSERT INTO size_bin VALUES(2048,1,0,1);
INSERT INTO size_bin VALUES(4096,1,1,0);
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
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 VALUES('stack','stack_function','6 2');
INSERT INTO sqlite_stat1 VALUES('function','function_name','5 1');
INSERT INTO sqlite_stat1 VALUES('type','type_name','1 1');
INSERT INTO sqlite_stat1 VALUES('allocation',NULL,18);
INSERT INTO sqlite_stat1 VALUES('allocation','allocation_stack','18 11 4');
CREATE INDEX process_pid ON process(pid);
CREATE INDEX function_name ON function(name);
CREATE INDEX stack_function ON stack(function_id);
CREATE INDEX type_name ON type(name);
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
         th.process_id AS process_id, p.pid AS pid, p.program AS process
  -- Tables that depend on the stack only come before the allocations: the planner can then test a
  -- condition on function, file or module once for each stack, not for each allocation.
  FROM stack st
  LEFT JOIN frame fr ON fr.id = st.call_site_frame_id
  LEFT JOIN function f ON f.id = st.function_id
  LEFT JOIN module m ON m.id = fr.module_id
  LEFT JOIN source_file s ON s.id = fr.source_file_id
  JOIN allocation a ON a.stack_id = st.id
  LEFT JOIN kind k ON k.id = a.kind
  LEFT JOIN type ty ON ty.id = a.type_id
  LEFT JOIN thread th ON th.id = a.thread_id
  LEFT JOIN process p ON p.id = th.process_id
;
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
        AND f.allocation_id = a.id AND f.free_ns <= between_.ns)
;
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
  FROM process p
;
CREATE VIEW v_function AS
  SELECT f.name AS function, m.name AS module, t.self_bytes AS self_bytes,
         t.self_count AS self_count, t.total_bytes AS total_bytes, t.total_count AS total_count,
         t.live_bytes AS live_bytes, t.live_count AS live_count,
         t.at_peak_bytes AS at_peak_bytes, t.peak_bytes AS peak_bytes
  FROM function_total t JOIN function f ON f.id = t.function_id
  LEFT JOIN module m ON m.id = f.module_id;
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
  WHERE r.kind = 'suppressed' AND st.live_count > 0 GROUP BY r.pattern
;
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
         t.live_count AS live_count, t.live_bytes AS live_bytes
  FROM type_total t LEFT JOIN type ty ON ty.id = t.type_id;
CREATE VIEW v_size_bin AS
  SELECT size, allocations, allocations * size AS bytes, frees, live_count,
         live_count * size AS live_bytes FROM size_bin;
CREATE VIEW v_timeline AS
  SELECT slot * (SELECT value FROM meta WHERE key = 'timeline_slot_ns') AS bucket_ns,
         live_bytes, live_count, allocated_bytes, freed_bytes, machine FROM timeline;
CREATE INDEX allocation_stack ON allocation(stack_id, type_id);
COMMIT;
