/* SPDX-License-Identifier: BSD-2-Clause */
/* Trace format 1: the layout of the file, and the numbers that it uses.
 * schemas/trace-format.md is normative; schemas/trace_codec.h reads and writes the records. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TRACE_VERSION 1u
/* Appended to a trace's name: the folder of the other traces of its run, PID and PID.N. */
#define TRACE_FOLDER ".d"
#define TRACE_MAGIC "\x89MPROF\r\n"   /* 8 bytes, without the terminating NUL */
#define TRACE_CHUNK_MAGIC 0x4b43504du /* "MPCK" as stored */
#define TRACE_FILE_HEADER_SIZE 4096u
#define TRACE_CHUNK_HEADER_SIZE 64u
#define TRACE_CHUNK_SIZE_DEFAULT 65536u
#define TRACE_CHUNK_SIZE_MIN 4096u
#define TRACE_CHUNK_SIZE_MAX 16777216u

/* The longest alloc, free, realloc or node record. Extended records bring their own length. */
#define TRACE_RECORD_MAX 96u
/* The longest payload of an extended record. Longer text (argv) is cut, and marked as cut. */
#define TRACE_EXTENDED_MAX 2048u
/* The most labels of a trace, and the most bytes of one. */
#define TRACE_LABELS_MOST 8u
#define TRACE_LABEL_MOST 128u

enum trace_clock { TRACE_CLOCK_NANOSECONDS = 0, TRACE_CLOCK_TSC = 1 };

enum trace_file_flag {
    TRACE_FILE_CLOCK_FAST =
        1u << 0,                  /* stamps are taken every few events: intervals, not instants */
    TRACE_FILE_SAMPLED = 1u << 1, /* only a sample of the allocations was recorded */
    TRACE_FILE_FREE_STACKS = 1u << 2, /* frees carry stacks */
    TRACE_FILE_PACKED = 1u << 3,      /* there may be containers of packed chunks */
    TRACE_FILE_DENSE = 1u << 4,       /* there are only containers, without slots */
};

/* The state of the recording. The recorder writes it into the file header. */
enum trace_state {
    TRACE_STATE_RECORDING = 0, /* still running, or killed */
    TRACE_STATE_ENDED = 1,     /* sealed at exit or by mprof_stop() */
    TRACE_STATE_DISK_FULL = 2, /* no space: later events are counted in dropped_events only */
    TRACE_STATE_LIMIT = 3,     /* RLIMIT_FSIZE or --max-size reached: counted in the same way */
    TRACE_STATE_ERROR = 4,     /* another error, see stop_errno */
    TRACE_STATE_EXEC = 5,      /* the process has executed another program */
};

/* The progress of a request from outside; trace-format.md, "Control from outside". */
enum trace_control {
    TRACE_CONTROL_NONE = 0,
    TRACE_CONTROL_ASKED = 1,
    TRACE_CONTROL_TAKEN = 2,
    TRACE_CONTROL_DONE = 3,
};

enum trace_request {
    TRACE_REQUEST_PAUSE = 1,
    TRACE_REQUEST_RESUME = 2,
    TRACE_REQUEST_MARK = 3,
    TRACE_REQUEST_SNAPSHOT = 4,
    TRACE_REQUEST_STOP = 5,
    TRACE_REQUEST_ROTATE = 6,
};

enum trace_answer {
    TRACE_ANSWER_DONE = 0,
    TRACE_ANSWER_ALREADY = 1, /* the recording was in that state already */
    TRACE_ANSWER_NOT_DONE = 2,
};

/* The instruction for programs that a run executes later. */
enum trace_run { TRACE_RUN_RECORD = 0, TRACE_RUN_NOT_YET = 1, TRACE_RUN_OVER = 2 };
enum trace_paused { TRACE_PAUSED_NOT = 0, TRACE_PAUSED = 1, TRACE_PAUSED_FROM_START = 2 };

/* Why the program of a trace runs without the recorder; trace-format.md, "Unrecorded programs". */
enum trace_unrecorded {
    TRACE_UNRECORDED_NOT = 0, /* it is recorded */
    TRACE_UNRECORDED_STATIC = 1,
    TRACE_UNRECORDED_FOREIGN = 2,
    TRACE_UNRECORDED_OTHER_LIBC = 3,
    TRACE_UNRECORDED_SANITIZED = 4,
    TRACE_UNRECORDED_CONFINED = 5,
    TRACE_UNRECORDED_UNREACHABLE = 6,
    TRACE_UNRECORDED_RIGHTS = 7,
    TRACE_UNRECORDED_OWN_ALLOCATOR = 8,
    TRACE_UNRECORDED_ESCAPED = 9,
};

/* Returns why a program runs without the recorder (schemas/trace-format.md, "Unrecorded programs"):
 * words that follow "PROGRAM: ". */
static inline const char *trace_unrecorded_text(uint32_t reason)
{
    static const char *const texts[] = {
        [TRACE_UNRECORDED_NOT] = "recorded",
        [TRACE_UNRECORDED_STATIC] = "statically linked",
        [TRACE_UNRECORDED_FOREIGN] = "not a 64-bit x86 program",
        [TRACE_UNRECORDED_OTHER_LIBC] = "its C library is neither glibc nor musl",
        [TRACE_UNRECORDED_SANITIZED] = "built with a sanitizer",
        [TRACE_UNRECORDED_CONFINED] = "a seccomp filter forbids what recording needs",
        [TRACE_UNRECORDED_UNREACHABLE] = "it cannot read the recorder's library",
        [TRACE_UNRECORDED_RIGHTS] = "it runs with more rights than its caller",
        [TRACE_UNRECORDED_OWN_ALLOCATOR] = "it has its own allocator",
        [TRACE_UNRECORDED_ESCAPED] = "it was executed without the recorder's variables",
    };
    return reason < sizeof(texts) / sizeof(*texts) ? texts[reason] : "for an unknown reason";
}
/* How the process ended, as mprof-run saw it. */
enum trace_outcome {
    TRACE_OUTCOME_NOT_KNOWN = 0, /* it may still run */
    TRACE_OUTCOME_EXITED = 1,
    TRACE_OUTCOME_KILLED = 2, /* by a signal */
    TRACE_OUTCOME_GONE = 3,   /* it has ended; nobody saw how */
};

/* The progress of a snapshot of references; trace-format.md, "References". */
enum trace_take {
    TRACE_TAKE_NONE = 0,
    TRACE_TAKE_ASKED = 1,
    TRACE_TAKE_TAKEN = 2,
    TRACE_TAKE_DONE = 3
};

#define TRACE_REQUEST_NAME 256u

/* The header at offset 0, little-endian. Its `dynamic` fields change while the program records. */
struct trace_file_header {
    uint8_t magic[8];
    uint32_t version;
    uint32_t header_size;
    uint32_t chunk_size;
    uint32_t flags;        /* enum trace_file_flag */
    uint32_t clock;        /* enum trace_clock */
    uint32_t architecture; /* ELF e_machine: 62 for x86_64 */
    uint64_t trace_id;     /* random, repeated in every chunk */
    uint64_t start_ticks;
    uint64_t start_monotonic_ns;
    uint64_t start_realtime_ns;
    uint64_t sample_interval; /* bytes; 0: everything is recorded */
    uint32_t pid;
    uint32_t page_size;
    uint64_t header_sum; /* trace_sum() of the bytes before this field */
    /* dynamic from here on */
    uint32_t state; /* enum trace_state */
    int32_t stop_errno;
    uint32_t chunk_count;    /* chunk slots handed out so far */
    uint32_t control;        /* enum trace_control */
    uint64_t dropped_events; /* events that came while nothing could be recorded */
    uint64_t end_ticks;      /* clock pair at the end; 0 while recording or if killed */
    uint64_t end_monotonic_ns;
    uint32_t next_slot; /* each process counts it up atomically when it takes a slot */
    uint32_t paused;    /* enum trace_paused */
    uint32_t request;   /* enum trace_request */
    uint32_t answer;    /* enum trace_answer */
    char request_name[TRACE_REQUEST_NAME];
    uint32_t run;         /* enum trace_run */
    uint32_t sealed;      /* not 0: an observer has ended the recording */
    uint64_t freed_bytes; /* space of slots that was given back or not taken */
    uint32_t told;        /* not 0: a process of the run has said that the disk is full */
    uint32_t rotated;     /* N of the name TRACE.rN that this trace got when the next one began */
    uint32_t outcome;     /* enum trace_outcome */
    uint32_t outcome_number;   /* exit status or signal */
    uint32_t unrecorded;       /* enum trace_unrecorded */
    uint32_t unnamed;          /* unrecorded programs for which no trace could be made */
    uint32_t references;       /* snapshots of references that were begun */
    uint32_t reference_chunks; /* the next sequence of TRACE_THREAD_REFERENCES */
    uint32_t observer;         /* pid of the process that takes them when asked; 0: there is none */
    uint32_t take;             /* enum trace_take */
    uint32_t take_reason;      /* enum trace_references_reason */
    uint32_t take_progress;    /* counted up by the observer while it works */
    uint64_t own_ranges;       /* address of the recorder's list of its own memory; 0: none */
    uint32_t own_range_count;
    uint32_t reserved;
    uint32_t attends; /* not 0: an observer waits at `bell`, and reads which pages are in memory */
    uint32_t bell_reason; /* enum trace_resident_reason of the last ring */
    uint32_t bell;        /* rings so far; the highest bit is the observer's own */
    uint32_t answered;    /* of these, the observer has dealt with so many */
};

/* Thread number of the chunks that another process writes: not a thread of the program. */
#define TRACE_THREAD_OUTSIDE 0xffffffffu
/* Thread number of containers: chunks that hold other chunks, packed. */
#define TRACE_THREAD_PACKED 0xfffffffeu
/* Thread number of the chunks with references, which a process outside writes, too. */
#define TRACE_THREAD_REFERENCES 0xfffffffdu

/* Returns true if these are chunks of an observer, with extended records only. */
static inline bool trace_thread_is_outside(uint32_t thread)
{
    return thread == TRACE_THREAD_OUTSIDE || thread == TRACE_THREAD_REFERENCES;
}

/* The most bytes of records that one PACKED record holds, and the most bytes of its container. */
#define TRACE_PACKED_MAX TRACE_CHUNK_SIZE_MAX

enum trace_chunk_flag {
    TRACE_CHUNK_SEALED = 1u << 0, /* `sum` is valid */
    TRACE_CHUNK_LEFT = 1u << 1,   /* nobody will write into it again */
};

/* The first bytes of every chunk slot. A slot whose first 64 bytes are zero was never used. */
struct trace_chunk_header {
    uint32_t magic;
    uint32_t slot;     /* index of this slot: the chunk lies at header_size + slot * chunk_size */
    uint32_t thread;   /* recorder's thread number, from 1 */
    uint32_t sequence; /* 0, 1, 2, … per thread: a gap is a lost chunk */
    uint64_t trace_id;
    uint64_t base_ticks; /* clock pair at the beginning of the chunk */
    uint64_t base_monotonic_ns;
    uint32_t header_sum; /* low half of trace_sum() of the bytes before this field */
    uint32_t commit;     /* dynamic: bytes of this chunk that are valid, header included */
    uint32_t flags;      /* dynamic: enum trace_chunk_flag */
    uint32_t look;       /* dynamic: set from outside, so that the writer reads `control` */
    uint64_t sum;        /* dynamic: trace_sum() of the bytes [64, commit), if sealed */
};

_Static_assert(sizeof(struct trace_file_header) == 496, "file header layout");
_Static_assert(sizeof(struct trace_chunk_header) == TRACE_CHUNK_HEADER_SIZE, "chunk header layout");

/* Low three bits of a record's first byte. 0 is never a record. */
enum trace_kind {
    TRACE_ALLOC = 1,      /* malloc */
    TRACE_ALLOC_ATTR = 2, /* allocation with an attribute byte: any other way to allocate */
    TRACE_FREE = 3,
    TRACE_REALLOC = 4,
    TRACE_NODE = 5,       /* one node of the calling context tree */
    TRACE_FREE_STACK = 6, /* free with its stack */
    TRACE_EXTENDED = 7,   /* type, length, payload: a reader may skip it; or a short record */
};

/* The function that allocated the block. */
enum trace_alloc_kind {
    TRACE_KIND_MALLOC = 0,
    TRACE_KIND_CALLOC = 1,
    TRACE_KIND_REALLOC = 2, /* realloc(NULL, n), and the allocation half of a realloc */
    TRACE_KIND_REALLOCARRAY = 3,
    TRACE_KIND_POSIX_MEMALIGN = 4,
    TRACE_KIND_ALIGNED_ALLOC = 5,
    TRACE_KIND_MEMALIGN = 6,
    TRACE_KIND_VALLOC = 7,
    TRACE_KIND_PVALLOC = 8,
    TRACE_KIND_COUNT
};

enum trace_realloc_outcome {
    TRACE_REALLOC_MOVED = 0,
    TRACE_REALLOC_IN_PLACE = 1,
    TRACE_REALLOC_FAILED = 2, /* nothing changed: not an allocation and not a free */
};

enum trace_node_frame {
    TRACE_FRAME_RETURN = 0,      /* value: return address, as module offset */
    TRACE_FRAME_EXACT = 1,       /* value: the instruction itself (interrupted by a signal) */
    TRACE_FRAME_DEPTH_LIMIT = 2, /* marker: the depth limit cut off outer frames */
    TRACE_FRAME_UNWIND_END = 3,  /* marker: outer frames are missing, no rule was found */
};

enum trace_extended {
    TRACE_EXT_PROCESS = 1,
    TRACE_EXT_THREAD = 2,
    TRACE_EXT_SWITCH = 3, /* the only extended record that changes the coding state */
    TRACE_EXT_THREAD_END = 4,
    TRACE_EXT_MODULE = 5,
    TRACE_EXT_MODULE_END = 6,
    TRACE_EXT_ARENA = 7,
    TRACE_EXT_ARENA_ALLOC = 8,
    TRACE_EXT_ARENA_FREE = 9,
    TRACE_EXT_ARENA_RESET = 10,
    TRACE_EXT_TYPE = 11,
    TRACE_EXT_MARK = 12,
    TRACE_EXT_SNAPSHOT = 13,
    TRACE_EXT_RSS = 14,
    TRACE_EXT_DROPPED = 15,
    TRACE_EXT_RECORDING = 16,
    TRACE_EXT_FAILED = 17,
    TRACE_EXT_END = 18,
    TRACE_EXT_ARENA_REALLOC = 19,
    TRACE_EXT_AUTOSAVE = 20,
    TRACE_EXT_CLOCK = 21,
    TRACE_EXT_MAP = 22,
    TRACE_EXT_UNMAP = 23,
    TRACE_EXT_PROTECT = 24,
    TRACE_EXT_BYPASS = 25,
    TRACE_EXT_BARE_CODE = 26,
    TRACE_EXT_SUPPRESSIONS = 27,
    TRACE_EXT_SIZED_DELETE = 28,
    TRACE_EXT_CONTINUED = 29,
    TRACE_EXT_LIVE = 30,
    TRACE_EXT_BEFORE = 31,
    TRACE_EXT_RUNTIME = 32,
    TRACE_EXT_RUNTIME_NAME = 33,
    TRACE_EXT_KIND = 34,
    TRACE_EXT_COLLECTION = 35,
    TRACE_EXT_RESIDENT = 36,
    TRACE_EXT_PAGES = 37,
    TRACE_EXT_MAPPING = 38,
    TRACE_EXT_RECORDER_MEMORY = 39,
    TRACE_EXT_NO_RESIDENT = 40,
    TRACE_EXT_LABEL = 41,
    TRACE_EXT_MAPPED = 42,
    TRACE_EXT_REFERENCES = 44,
    TRACE_EXT_REFERENCES_MAPPING = 45,
    TRACE_EXT_REFERENCES_THREAD = 46,
    TRACE_EXT_REFERENCES_WORDS = 47,
    TRACE_EXT_REFERENCES_END = 48,
    TRACE_EXT_LAST = TRACE_EXT_REFERENCES_END, /* higher numbers are unknown */
    TRACE_EXT_PACKED = 64,                     /* in containers only: anywhere else it is unknown */
};

/* Type 43 is reserved. */
static inline bool trace_extended_is_known(uint64_t type)
{
    return (type >= TRACE_EXT_PROCESS && type <= TRACE_EXT_MAPPED) ||
           (type >= TRACE_EXT_REFERENCES && type <= TRACE_EXT_LAST);
}

/* The occasion of a snapshot of references. */
enum trace_references_reason {
    TRACE_REFERENCES_ASKED = 0,
    TRACE_REFERENCES_AT_END = 1,
    TRACE_REFERENCES_SIGNAL = 2,
    TRACE_REFERENCES_MARK = 3,
    TRACE_REFERENCES_TIME = 4,
};

enum trace_references_flag {
    TRACE_REFERENCES_PARTIAL = 1u << 0, /* the recording began later than the program */
};

enum trace_references_read {
    TRACE_REFERENCES_READ_HEAP = 1u << 0,
    TRACE_REFERENCES_READ_DATA = 1u << 1,
    TRACE_REFERENCES_READ_STACKS = 1u << 2,
    TRACE_REFERENCES_READ_REGISTERS = 1u << 3,
};

enum trace_references_kind {
    TRACE_REFERENCES_HEAP = 1, /* below the program's break */
    TRACE_REFERENCES_ANONYMOUS = 2,
    TRACE_REFERENCES_DATA = 3, /* of a module */
    TRACE_REFERENCES_STACK = 4,
    TRACE_REFERENCES_FILE = 5, /* mapped privately */
};

enum trace_references_outcome {
    TRACE_REFERENCES_COMPLETE = 0,
    TRACE_REFERENCES_ENDED = 1,    /* the process ended first */
    TRACE_REFERENCES_NO_ROOM = 2,  /* for the trace */
    TRACE_REFERENCES_TOO_LONG = 3, /* the stop */
    TRACE_REFERENCES_NO_MEMORY = 4,
    TRACE_REFERENCES_UNREADABLE = 5,
};

/* A frame of a runtime: the value of its node is a number of RUNTIME_NAME and a line. */
#define TRACE_RUNTIME_LINE_BITS 22u
#define TRACE_RUNTIME_LINE_MAX ((1u << TRACE_RUNTIME_LINE_BITS) - 1)
/* The most names of runtimes that a trace has. */
#define TRACE_RUNTIME_NAMES (1u << 20)

/* Why a block of an arena ended. */
enum trace_free_reason {
    TRACE_FREED_BY_PROGRAM = 0,
    TRACE_FREED_BY_COLLECTOR = 1,
};

/* The news of a COLLECTION. */
enum trace_collection {
    TRACE_COLLECTION_ENDED = 0,
    TRACE_COLLECTION_BEGINS = 1,
    TRACE_COLLECTION_BEFORE = 2, /* it ended before this trace began */
};

/* Why the pages in memory were read. */
enum trace_resident_reason {
    TRACE_RESIDENT_START = 0,
    TRACE_RESIDENT_MARK = 1,
    TRACE_RESIDENT_SNAPSHOT = 2,
    TRACE_RESIDENT_MAXIMUM = 3, /* the resident set grew by 5 % */
    TRACE_RESIDENT_PARTED = 4,  /* it shrank by 5 % */
    TRACE_RESIDENT_INTERVAL = 5,
    TRACE_RESIDENT_END = 6,
    TRACE_RESIDENT_REASONS
};

enum trace_resident_flag {
    TRACE_RESIDENT_DELTA = 1,      /* the runs change those of the moment before */
    TRACE_RESIDENT_INDISTINCT = 2, /* zero pages and huge pages look like others */
    TRACE_RESIDENT_SHARES = 4,     /* pages of TRACE_PAGE_SHARED are told apart */
    TRACE_RESIDENT_FLAGS_KNOWN = 7,
};

/* A run of pages is two varints: the pages before it, and its pages times 8 plus one of these. */
enum trace_page_class {
    TRACE_PAGE_PRESENT = 0,
    TRACE_PAGE_HUGE = 1, /* present, in a transparent huge page */
    TRACE_PAGE_ZERO = 2, /* the kernel's page of zeros, which is not in the resident set */
    TRACE_PAGE_SWAPPED = 3,
    TRACE_PAGE_NONE = 4,   /* in deltas: neither present nor swapped any more */
    TRACE_PAGE_SHARED = 5, /* present, private memory that another process has, too */
    TRACE_PAGE_CLASSES
};

/* The most bytes of the runs of one moment; then near runs are joined. */
#define TRACE_PAGES_MAX 65536u

enum trace_mapping_flag {
    TRACE_MAPPING_READ = 1,
    TRACE_MAPPING_WRITE = 2,
    TRACE_MAPPING_EXECUTE = 4,
    TRACE_MAPPING_SHARED = 8,
    TRACE_MAPPING_RECORDER = 16, /* of the recorder: its library, the trace */
    TRACE_MAPPING_HUGETLB = 32,  /* its pages are in no resident set */
    TRACE_MAPPING_NONE = 64,     /* nothing is mapped there any more */
};

enum trace_no_resident {
    TRACE_NO_RESIDENT_OFF = 1,      /* not wanted */
    TRACE_NO_RESIDENT_RIGHTS = 2,   /* the process may not be looked at */
    TRACE_NO_RESIDENT_PROC = 3,     /* there is no /proc/PID/pagemap */
    TRACE_NO_RESIDENT_CONFINED = 4, /* mprof-run may not do so itself */
};

enum trace_drop_reason {
    TRACE_DROP_REENTRANT = 1, /* inside another event: by the allocator or a signal handler */
    TRACE_DROP_NO_THREAD = 2, /* the thread had no state: too early, or memory exhausted */
};

/* The reason why calls of a module are missing. */
enum trace_bypass {
    TRACE_BYPASS_LATE = 1,      /* missing up to this record; later calls are recorded */
    TRACE_BYPASS_NAMESPACE = 2, /* loaded by dlmopen, with a C library of its own */
    TRACE_BYPASS_OTHER = 3,     /* bound to another allocator */
    TRACE_BYPASS_REFUSED = 4,   /* its slots cannot be written */
    TRACE_BYPASS_MISSED = 5,    /* found when the program ended */
    TRACE_BYPASS_FUNCTION = 6,  /* only of one function of another allocator */
};

/* The result of the question for the program's own suppressions. */
enum trace_suppressions {
    TRACE_SUPPRESSIONS_TEXT = 0,      /* its text */
    TRACE_SUPPRESSIONS_NONE = 1,      /* the program has no such function */
    TRACE_SUPPRESSIONS_CRASHED = 2,   /* the function ended its process */
    TRACE_SUPPRESSIONS_LATE = 3,      /* it did not return in time */
    TRACE_SUPPRESSIONS_NOT_ASKED = 4, /* no process could be had that calls it */
};

/* The most bytes of such a text; what is longer is cut. */
#define TRACE_SUPPRESSIONS_MAX 65536u

enum trace_end_reason {
    TRACE_END_EXIT = 0,
    TRACE_END_QUICK_EXIT = 1, /* _exit, _Exit, quick_exit */
    TRACE_END_SIGNAL = 2,
    TRACE_END_EXEC = 3,
    TRACE_END_STOP = 4,
    TRACE_END_ROTATED = 5,
};
