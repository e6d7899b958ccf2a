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
  role TEXT                       -- NULL, 'allocator' or 'wrapper': such a frame is no call site
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
  inlined INTEGER NOT NULL DEFAULT 0 -- 1: inlined into the next outer frame
);
INSERT INTO frame VALUES(1,1,4418,1,NULL,NULL,0);
INSERT INTO frame VALUES(2,1,4383,2,NULL,NULL,0);
INSERT INTO frame VALUES(3,1,4447,3,NULL,NULL,0);
INSERT INTO frame VALUES(4,1,4432,4,NULL,NULL,0);
INSERT INTO frame VALUES(5,0,139637976732211,5,NULL,NULL,0);
CREATE TABLE stack(
  id INTEGER PRIMARY KEY,         -- 0: no stack taken; the stacks of allocations and frees
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
CREATE TABLE process(             -- one, unless a session was made of the traces of several
  id INTEGER PRIMARY KEY,         -- from 1, in the order of start
  pid INTEGER NOT NULL,
  parent_pid INTEGER NOT NULL,    -- 0: not known
  program TEXT NOT NULL,
  argv TEXT NOT NULL,
  start_ns INTEGER NOT NULL,      -- when its trace began and ended, in the time of the session
  end_ns INTEGER NOT NULL,
  ending TEXT NOT NULL,           -- as in meta
  trace TEXT NOT NULL,
  allocations INTEGER NOT NULL,   -- of its heap, as all that follows
  frees INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  live_count INTEGER NOT NULL,    -- at its end
  live_bytes INTEGER NOT NULL,
  peak_bytes INTEGER NOT NULL,    -- its own largest live bytes
  peak_ns INTEGER NOT NULL,
  host TEXT NOT NULL,             -- '': not known
  boot_id TEXT NOT NULL,          -- of the kernel, '': not known
  trace_id INTEGER NOT NULL,      -- as a signed number
  parent_trace_id INTEGER NOT NULL, -- of the process that forked it; 0: none that was recorded
  forked_from INTEGER REFERENCES process(id), -- the same in this session, NULL: it is not here
  forked_ns INTEGER,              -- that process's fork began and, in the child, ended
  forked_until_ns INTEGER,
  inherited_count INTEGER,        -- live when the fork began; not its own, and in no other sum
  inherited_bytes INTEGER,
  inherited_frees INTEGER NOT NULL DEFAULT 0,
  first_allocation_id INTEGER,    -- its rows of `allocation`, NULL: it has none
  last_allocation_id INTEGER
);
INSERT INTO process VALUES(1,4242,1,'worked','worked --name ''it''\''''s "x"''',0,1000,'ended','worked.bin',11,5,8314,5,3353,4596,400,'host','',1234605616436508552,0,NULL,NULL,NULL,NULL,NULL,0,1,18);
CREATE TABLE inherited_free(      -- what a forked process freed of the blocks that it had from the fork
  id INTEGER PRIMARY KEY,
  process_id INTEGER NOT NULL REFERENCES process(id),
  arena_id INTEGER NOT NULL,
  address INTEGER NOT NULL,
  free_ns INTEGER NOT NULL,
  free_thread_id INTEGER NOT NULL,
  free_stack_id INTEGER NOT NULL,
  realloc_to INTEGER,             -- the block that it became, where it was realloc
  allocation_id INTEGER           -- the block, of an ancestor; NULL: whose trace is not in the session
);
CREATE TABLE thread(
  id INTEGER PRIMARY KEY,         -- recorder's number, from 1; counted on from process to process
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
  id INTEGER PRIMARY KEY,         -- 0 is unknown and has no row
  name TEXT NOT NULL,
  size INTEGER,
  confidence TEXT NOT NULL,       -- 'exact', 'inferred'
  element TEXT                    -- what the node of a standard container holds
);
CREATE TABLE type_member(         -- of the records among them, base classes too
  type_id INTEGER NOT NULL REFERENCES type(id),
  position INTEGER NOT NULL,      -- 0 the first that is declared
  name TEXT,                      -- NULL: a base class, or a record without a name
  offset INTEGER NOT NULL,
  size INTEGER NOT NULL,          -- of a bit field: the bytes that it touches
  type TEXT NOT NULL,
  PRIMARY KEY(type_id, position)
) WITHOUT ROWID;
CREATE TABLE type_candidate(      -- what blocks of unknown type could be
  stack_id INTEGER NOT NULL,
  size INTEGER NOT NULL,
  position INTEGER NOT NULL,      -- no order of likelihood
  name TEXT NOT NULL,
  PRIMARY KEY(stack_id, size, position)
) WITHOUT ROWID;
CREATE TABLE arena(
  id INTEGER PRIMARY KEY,
  parent_id INTEGER,              -- 0: its memory is no part of another arena
  name TEXT,
  allocations INTEGER NOT NULL DEFAULT 0,   -- of its own blocks; those of arenas under it are apart
  objects INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  live_count INTEGER NOT NULL DEFAULT 0,    -- at the end
  live_bytes INTEGER NOT NULL DEFAULT 0,
  peak_bytes INTEGER NOT NULL DEFAULT 0,    -- the most that was live in it
  peak_ns INTEGER NOT NULL DEFAULT 0
);
INSERT INTO arena VALUES(1,0,'pool',4,9,224,0,0,128,525);
INSERT INTO arena VALUES(2,1,'part of pool',3,6,60,1,20,24,532);
CREATE TABLE mark(id INTEGER PRIMARY KEY, ns INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT);
INSERT INTO mark VALUES(1,350,'mark','load');
INSERT INTO mark VALUES(2,540,'snapshot','before "threads"');
INSERT INTO mark VALUES(3,546,'pause',NULL);
INSERT INTO mark VALUES(4,547,'resume',NULL);
INSERT INTO mark VALUES(5,610,'snapshot','autosave');
CREATE TABLE rss(ns INTEGER NOT NULL, bytes INTEGER NOT NULL);
INSERT INTO rss VALUES(545,8192);
CREATE TABLE region(              -- mprof-run --mmap; never part of the heap's sums
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
  changed_from INTEGER            -- by mprotect: the row that it was until then
);
INSERT INTO region VALUES(1,1,139637976735744,4096,'rw-',0,'/var/data',16384,1,1,537,538,1,NULL,NULL);
INSERT INTO region VALUES(2,1,139637976727552,4096,'rw-',0,'/var/data',8192,1,1,537,538,1,NULL,NULL);
INSERT INTO region VALUES(3,1,139637976739840,4096,'rw-',0,'/var/data',20480,1,1,537,539,1,NULL,NULL);
INSERT INTO region VALUES(4,1,139637976731648,4096,'rw-',0,'/var/data',12288,1,1,537,NULL,NULL,NULL,NULL);
INSERT INTO region VALUES(5,1,139637976739840,4096,'r--',0,'/var/data',20480,1,1,539,NULL,NULL,NULL,3);
INSERT INTO region VALUES(6,1,139637976743936,8192,'rw-',0,'/var/data',24576,1,1,537,NULL,NULL,NULL,NULL);
INSERT INTO region VALUES(7,2,139706696204288,8192,'rw-',0,'/var/data',8192,1,3,539,NULL,NULL,139637976727552,NULL);
CREATE TABLE free_call(           -- mprof-run --free-stacks: what freed the blocks, where that is known
  stack_id INTEGER PRIMARY KEY,   -- of frees
  function TEXT NOT NULL          -- 'free', 'delete', 'delete[]', with ' sized', ' aligned', ' nothrow'
);
CREATE TABLE mismatch(            -- blocks that were freed otherwise than they were allocated
  stack_id INTEGER NOT NULL,      -- of the allocations
  kind INTEGER NOT NULL REFERENCES kind(id),
  free_stack_id INTEGER NOT NULL, -- 0: by realloc, whose stack is that of the block it made
  function TEXT NOT NULL,         -- as in free_call, or 'realloc'
  allocations INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY(stack_id, kind, free_stack_id)
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
INSERT INTO problem VALUES(1,'failed allocation',440,NULL,1,4365,'70368744177664 bytes were asked for');
INSERT INTO problem VALUES(2,'unmatched free',450,2147418128,1,4377,'not seen to be allocated: before recording began, or elsewhere');
INSERT INTO problem VALUES(3,'dropped',548,NULL,1,4775,'2 events: inside the recorder itself');
INSERT INTO problem VALUES(4,'double free',555,4216832,2,8290,'freed before, and not allocated in between');
INSERT INTO problem VALUES(5,'overlap',610,8258304,3,8319,'allocated while it was live: the block before ends here');
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
CREATE TABLE timeline(            -- equal slots of meta 'timeline_slot_ns'
  slot INTEGER PRIMARY KEY,
  live_bytes INTEGER NOT NULL,    -- at the slot's end
  live_count INTEGER NOT NULL,
  peak_bytes INTEGER NOT NULL,    -- largest within the slot
  allocated_bytes INTEGER NOT NULL,
  allocated_count INTEGER NOT NULL,
  freed_bytes INTEGER NOT NULL,
  freed_count INTEGER NOT NULL
);
INSERT INTO timeline VALUES(0,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(1,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(2,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(3,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(4,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(5,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(6,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(7,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(8,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(9,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(10,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(11,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(12,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(13,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(14,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(15,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(16,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(17,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(18,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(19,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(20,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(21,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(22,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(23,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(24,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(25,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(26,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(27,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(28,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(29,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(30,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(31,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(32,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(33,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(34,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(35,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(36,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(37,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(38,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(39,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(40,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(41,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(42,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(43,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(44,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(45,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(46,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(47,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(48,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(49,0,0,0,0,0,0,0);
INSERT INTO timeline VALUES(50,32,1,32,32,1,0,0);
INSERT INTO timeline VALUES(51,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(52,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(53,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(54,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(55,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(56,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(57,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(58,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(59,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(60,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(61,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(62,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(63,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(64,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(65,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(66,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(67,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(68,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(69,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(70,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(71,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(72,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(73,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(74,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(75,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(76,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(77,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(78,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(79,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(80,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(81,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(82,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(83,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(84,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(85,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(86,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(87,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(88,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(89,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(90,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(91,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(92,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(93,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(94,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(95,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(96,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(97,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(98,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(99,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(100,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(101,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(102,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(103,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(104,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(105,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(106,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(107,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(108,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(109,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(110,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(111,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(112,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(113,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(114,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(115,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(116,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(117,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(118,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(119,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(120,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(121,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(122,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(123,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(124,32,1,32,0,0,0,0);
INSERT INTO timeline VALUES(125,532,2,532,500,1,0,0);
INSERT INTO timeline VALUES(126,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(127,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(128,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(129,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(130,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(131,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(132,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(133,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(134,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(135,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(136,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(137,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(138,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(139,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(140,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(141,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(142,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(143,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(144,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(145,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(146,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(147,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(148,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(149,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(150,564,3,564,32,1,0,0);
INSERT INTO timeline VALUES(151,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(152,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(153,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(154,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(155,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(156,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(157,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(158,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(159,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(160,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(161,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(162,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(163,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(164,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(165,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(166,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(167,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(168,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(169,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(170,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(171,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(172,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(173,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(174,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(175,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(176,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(177,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(178,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(179,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(180,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(181,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(182,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(183,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(184,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(185,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(186,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(187,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(188,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(189,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(190,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(191,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(192,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(193,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(194,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(195,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(196,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(197,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(198,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(199,564,3,564,0,0,0,0);
INSERT INTO timeline VALUES(200,532,2,564,0,0,32,1);
INSERT INTO timeline VALUES(201,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(202,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(203,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(204,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(205,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(206,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(207,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(208,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(209,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(210,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(211,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(212,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(213,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(214,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(215,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(216,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(217,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(218,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(219,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(220,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(221,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(222,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(223,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(224,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(225,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(226,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(227,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(228,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(229,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(230,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(231,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(232,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(233,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(234,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(235,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(236,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(237,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(238,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(239,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(240,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(241,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(242,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(243,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(244,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(245,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(246,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(247,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(248,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(249,532,2,532,0,0,0,0);
INSERT INTO timeline VALUES(250,500,1,532,0,0,32,1);
INSERT INTO timeline VALUES(251,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(252,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(253,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(254,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(255,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(256,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(257,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(258,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(259,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(260,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(261,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(262,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(263,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(264,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(265,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(266,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(267,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(268,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(269,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(270,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(271,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(272,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(273,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(274,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(275,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(276,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(277,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(278,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(279,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(280,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(281,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(282,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(283,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(284,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(285,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(286,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(287,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(288,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(289,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(290,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(291,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(292,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(293,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(294,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(295,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(296,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(297,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(298,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(299,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(300,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(301,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(302,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(303,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(304,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(305,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(306,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(307,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(308,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(309,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(310,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(311,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(312,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(313,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(314,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(315,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(316,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(317,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(318,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(319,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(320,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(321,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(322,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(323,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(324,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(325,600,2,600,100,1,0,0);
INSERT INTO timeline VALUES(326,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(327,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(328,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(329,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(330,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(331,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(332,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(333,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(334,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(335,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(336,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(337,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(338,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(339,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(340,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(341,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(342,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(343,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(344,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(345,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(346,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(347,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(348,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(349,600,2,600,0,0,0,0);
INSERT INTO timeline VALUES(350,500,1,600,0,0,100,1);
INSERT INTO timeline VALUES(351,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(352,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(353,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(354,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(355,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(356,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(357,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(358,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(359,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(360,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(361,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(362,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(363,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(364,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(365,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(366,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(367,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(368,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(369,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(370,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(371,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(372,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(373,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(374,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(375,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(376,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(377,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(378,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(379,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(380,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(381,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(382,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(383,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(384,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(385,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(386,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(387,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(388,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(389,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(390,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(391,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(392,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(393,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(394,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(395,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(396,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(397,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(398,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(399,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(400,4596,2,4596,4096,1,0,0);
INSERT INTO timeline VALUES(401,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(402,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(403,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(404,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(405,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(406,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(407,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(408,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(409,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(410,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(411,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(412,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(413,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(414,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(415,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(416,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(417,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(418,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(419,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(420,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(421,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(422,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(423,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(424,4596,2,4596,0,0,0,0);
INSERT INTO timeline VALUES(425,500,1,4596,0,0,4096,1);
INSERT INTO timeline VALUES(426,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(427,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(428,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(429,500,1,500,0,0,0,0);
INSERT INTO timeline VALUES(430,2548,2,2548,2048,1,0,0);
INSERT INTO timeline VALUES(431,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(432,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(433,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(434,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(435,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(436,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(437,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(438,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(439,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(440,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(441,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(442,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(443,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(444,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(445,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(446,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(447,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(448,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(449,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(450,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(451,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(452,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(453,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(454,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(455,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(456,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(457,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(458,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(459,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(460,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(461,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(462,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(463,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(464,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(465,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(466,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(467,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(468,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(469,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(470,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(471,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(472,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(473,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(474,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(475,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(476,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(477,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(478,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(479,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(480,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(481,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(482,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(483,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(484,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(485,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(486,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(487,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(488,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(489,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(490,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(491,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(492,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(493,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(494,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(495,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(496,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(497,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(498,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(499,2548,2,2548,0,0,0,0);
INSERT INTO timeline VALUES(500,2549,3,2549,1,1,0,0);
INSERT INTO timeline VALUES(501,2549,3,2549,0,0,0,0);
INSERT INTO timeline VALUES(502,2549,3,2549,0,0,0,0);
INSERT INTO timeline VALUES(503,2549,3,2549,0,0,0,0);
INSERT INTO timeline VALUES(504,2549,3,2549,0,0,0,0);
INSERT INTO timeline VALUES(505,2551,4,2551,2,1,0,0);
INSERT INTO timeline VALUES(506,2551,4,2551,0,0,0,0);
INSERT INTO timeline VALUES(507,2551,4,2551,0,0,0,0);
INSERT INTO timeline VALUES(508,2551,4,2551,0,0,0,0);
INSERT INTO timeline VALUES(509,2551,4,2551,0,0,0,0);
INSERT INTO timeline VALUES(510,2554,5,2554,3,1,0,0);
INSERT INTO timeline VALUES(511,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(512,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(513,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(514,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(515,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(516,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(517,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(518,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(519,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(520,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(521,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(522,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(523,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(524,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(525,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(526,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(527,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(528,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(529,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(530,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(531,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(532,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(533,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(534,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(535,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(536,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(537,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(538,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(539,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(540,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(541,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(542,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(543,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(544,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(545,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(546,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(547,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(548,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(549,2554,5,2554,0,0,0,0);
INSERT INTO timeline VALUES(550,2553,4,2554,0,0,1,1);
INSERT INTO timeline VALUES(551,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(552,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(553,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(554,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(555,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(556,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(557,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(558,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(559,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(560,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(561,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(562,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(563,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(564,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(565,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(566,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(567,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(568,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(569,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(570,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(571,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(572,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(573,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(574,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(575,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(576,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(577,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(578,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(579,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(580,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(581,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(582,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(583,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(584,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(585,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(586,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(587,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(588,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(589,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(590,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(591,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(592,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(593,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(594,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(595,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(596,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(597,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(598,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(599,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(600,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(601,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(602,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(603,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(604,2553,4,2553,0,0,0,0);
INSERT INTO timeline VALUES(605,3253,5,3253,700,1,0,0);
INSERT INTO timeline VALUES(606,3253,5,3253,0,0,0,0);
INSERT INTO timeline VALUES(607,3253,5,3253,0,0,0,0);
INSERT INTO timeline VALUES(608,3253,5,3253,0,0,0,0);
INSERT INTO timeline VALUES(609,3253,5,3253,0,0,0,0);
INSERT INTO timeline VALUES(610,3353,5,3353,800,1,700,1);
INSERT INTO timeline VALUES(611,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(612,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(613,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(614,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(615,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(616,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(617,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(618,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(619,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(620,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(621,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(622,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(623,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(624,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(625,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(626,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(627,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(628,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(629,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(630,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(631,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(632,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(633,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(634,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(635,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(636,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(637,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(638,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(639,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(640,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(641,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(642,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(643,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(644,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(645,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(646,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(647,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(648,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(649,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(650,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(651,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(652,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(653,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(654,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(655,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(656,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(657,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(658,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(659,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(660,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(661,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(662,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(663,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(664,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(665,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(666,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(667,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(668,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(669,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(670,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(671,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(672,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(673,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(674,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(675,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(676,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(677,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(678,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(679,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(680,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(681,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(682,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(683,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(684,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(685,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(686,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(687,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(688,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(689,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(690,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(691,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(692,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(693,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(694,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(695,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(696,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(697,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(698,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(699,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(700,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(701,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(702,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(703,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(704,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(705,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(706,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(707,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(708,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(709,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(710,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(711,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(712,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(713,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(714,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(715,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(716,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(717,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(718,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(719,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(720,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(721,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(722,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(723,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(724,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(725,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(726,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(727,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(728,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(729,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(730,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(731,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(732,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(733,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(734,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(735,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(736,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(737,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(738,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(739,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(740,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(741,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(742,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(743,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(744,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(745,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(746,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(747,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(748,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(749,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(750,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(751,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(752,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(753,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(754,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(755,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(756,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(757,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(758,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(759,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(760,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(761,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(762,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(763,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(764,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(765,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(766,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(767,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(768,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(769,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(770,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(771,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(772,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(773,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(774,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(775,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(776,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(777,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(778,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(779,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(780,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(781,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(782,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(783,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(784,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(785,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(786,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(787,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(788,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(789,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(790,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(791,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(792,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(793,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(794,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(795,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(796,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(797,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(798,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(799,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(800,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(801,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(802,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(803,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(804,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(805,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(806,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(807,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(808,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(809,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(810,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(811,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(812,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(813,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(814,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(815,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(816,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(817,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(818,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(819,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(820,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(821,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(822,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(823,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(824,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(825,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(826,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(827,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(828,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(829,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(830,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(831,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(832,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(833,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(834,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(835,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(836,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(837,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(838,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(839,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(840,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(841,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(842,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(843,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(844,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(845,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(846,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(847,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(848,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(849,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(850,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(851,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(852,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(853,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(854,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(855,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(856,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(857,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(858,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(859,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(860,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(861,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(862,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(863,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(864,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(865,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(866,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(867,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(868,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(869,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(870,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(871,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(872,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(873,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(874,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(875,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(876,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(877,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(878,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(879,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(880,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(881,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(882,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(883,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(884,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(885,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(886,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(887,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(888,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(889,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(890,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(891,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(892,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(893,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(894,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(895,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(896,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(897,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(898,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(899,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(900,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(901,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(902,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(903,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(904,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(905,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(906,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(907,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(908,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(909,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(910,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(911,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(912,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(913,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(914,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(915,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(916,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(917,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(918,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(919,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(920,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(921,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(922,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(923,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(924,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(925,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(926,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(927,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(928,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(929,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(930,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(931,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(932,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(933,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(934,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(935,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(936,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(937,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(938,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(939,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(940,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(941,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(942,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(943,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(944,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(945,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(946,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(947,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(948,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(949,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(950,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(951,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(952,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(953,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(954,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(955,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(956,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(957,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(958,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(959,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(960,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(961,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(962,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(963,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(964,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(965,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(966,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(967,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(968,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(969,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(970,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(971,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(972,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(973,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(974,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(975,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(976,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(977,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(978,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(979,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(980,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(981,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(982,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(983,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(984,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(985,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(986,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(987,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(988,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(989,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(990,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(991,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(992,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(993,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(994,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(995,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(996,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(997,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(998,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(999,3353,5,3353,0,0,0,0);
INSERT INTO timeline VALUES(1000,3353,5,3353,0,0,0,0);
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
CREATE TABLE type_total(          -- process heap only, as all totals
  type_id INTEGER PRIMARY KEY,    -- 0: unknown
  allocations INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  live_count INTEGER NOT NULL,
  live_bytes INTEGER NOT NULL
);
INSERT INTO type_total VALUES(0,11,8314,5,3353);
CREATE TABLE size_bin(            -- one row a distinct size
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
CREATE TABLE sample_weight(       -- of each distinct size; empty where nothing was sampled
  size INTEGER PRIMARY KEY,
  weight REAL NOT NULL            -- how many allocations a recorded one stands for
);
CREATE TABLE estimate(            -- process heap only; empty where nothing was sampled
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
  state TEXT NOT NULL             -- 'copied', or why it is not
) WITHOUT ROWID;
CREATE TABLE sqlar(               -- an SQLite archive (https://sqlite.org/sqlar.html)
  name TEXT PRIMARY KEY,
  mode INT,
  mtime INT,
  sz INT,                         -- of the file; data is compressed by zlib where it is shorter
  data BLOB
);
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 VALUES('stack','stack_function','6 2');
INSERT INTO sqlite_stat1 VALUES('function','function_name','5 1');
INSERT INTO sqlite_stat1 VALUES('type','type_name','1 1');
INSERT INTO sqlite_stat1 VALUES('allocation',NULL,18);
INSERT INTO sqlite_stat1 VALUES('allocation','allocation_stack','18 11 4');
CREATE INDEX function_name ON function(name);
CREATE INDEX stack_function ON stack(function_id);
CREATE INDEX type_name ON type(name);
CREATE VIEW v_stack AS
  SELECT sf.stack_id AS stack_id, sf.depth AS depth, f.name AS function, m.name AS module,
         s.path AS file, fr.line AS line, fr.inlined AS inlined, fr.pc AS pc
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
         -- What is no element: bytes behind a record, a length in front of new T[n].
         max(0, a.size - a.count * ty.size) AS extra_bytes,
         th.process_id AS process_id, p.pid AS pid, p.program AS process
  -- All that a stack decides stands before the allocations, so that the planner can test a
  -- condition on function, file or module once a stack and not once an allocation.
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
    -- Who stands between had not freed it when it forked.
    AND NOT EXISTS (SELECT 1 FROM line between_ JOIN inherited_free f ON f.process_id = between_.ancestor_id
      WHERE between_.process_id = l.process_id AND between_.depth < l.depth
        AND f.allocation_id = a.id AND f.free_ns <= between_.ns)
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
  WHERE st.live_count > 0;
CREATE VIEW v_region AS
  SELECT r.id AS id, r.mapping AS mapping, r.address AS address, r.size AS size,
         r.protection AS protection, r.shared AS shared, r.file AS mapped_file, r.offset AS offset,
         f.name AS function, s.path AS file, fr.line AS line, m.name AS module, t.name AS thread,
         r.map_ns AS map_ns, r.unmap_ns AS unmap_ns, r.moved_from AS moved_from,
         r.stack_id AS stack_id, r.changed_from AS changed_from
  FROM region r LEFT JOIN stack st ON st.id = r.stack_id
  LEFT JOIN frame fr ON fr.id = st.call_site_frame_id
  LEFT JOIN function f ON f.id = st.function_id
  LEFT JOIN module m ON m.id = fr.module_id
  LEFT JOIN source_file s ON s.id = fr.source_file_id
  LEFT JOIN thread t ON t.id = r.thread_id;
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
         live_bytes, live_count, allocated_bytes, freed_bytes FROM timeline;
CREATE INDEX allocation_stack ON allocation(stack_id, type_id);
COMMIT;
