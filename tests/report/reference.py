# SPDX-License-Identifier: BSD-2-Clause
"""The numbers of any blocks by their definitions: from plain rows of a session, without mprof's sums."""
import collections
import re

Block = collections.namedtuple('Block', 'id size count born died stack type arena function user path files')
NEVER, UNITS_NS = 1 << 62, {'ns': 1, 'µs': 10**3, 'ms': 10**6, 's': 10**9}


def read_blocks(database, filter):
    """All blocks that a filter selects. A path has the functions from the call site outwards."""
    ids = {row[0] for row in database.execute('SELECT id FROM graph(?)', (filter,))}
    sites = dict(database.execute('SELECT s.id, min(f.depth) FROM stack s JOIN stack_frame f ON f.stack_id = s.id'
                                  ' AND f.frame_id = s.call_site_frame_id GROUP BY s.id'))
    paths, files = collections.defaultdict(tuple), collections.defaultdict(frozenset)
    for stack, depth, function, file, line in database.execute(
            'SELECT stack_id, depth, function, file, line FROM main.v_stack ORDER BY stack_id, depth'):
        if file:
            files[stack] |= {file, (file, line)} | ({('site', file, line)} if depth == sites.get(stack) else set())
        if depth >= sites.get(stack, 0):
            paths[stack] += function,
    return [Block(*row[:10], paths[row[5]], files[row[5]]) for row in database.execute(
        "SELECT a.id, a.size, a.count, a.alloc_ns, coalesce(a.free_ns, ?), a.stack_id, coalesce(a.type, '(unknown)'),"
        ' r.name, a.function, a.user FROM main.v_allocation a LEFT JOIN arena r ON r.id = a.arena_id', (NEVER,))
        if row[0] in ids]


def bytes_of(blocks):
    return sum(block.size for block in blocks)


def peak_of(blocks, begin, end):
    """The most bytes that were live at one time of a span."""
    events = sorted([(block.born, block.size) for block in blocks] + [(block.died, -block.size) for block in blocks])
    live = most = sum(size for ns, size in events if ns < begin)
    for ns, size in events:
        if begin <= ns < end:
            live += size
            most = max(most, live)
    return most


class Span:
    """Some blocks in a part of the run, or in all of it, and what is then compared are A and B."""
    def __init__(self, blocks, moments, time=None):
        def there(ns):
            return [block for block in blocks if block.born < ns <= block.died]
        self.blocks, (self.begin, self.end) = blocks, time or (0, NEVER)
        self.born = [block for block in blocks if self.begin <= block.born < self.end]
        self.died = [block for block in blocks if self.begin <= block.died < self.end]
        self.live, self.at_peak = there(self.end), there(moments['peak'] + 1)
        self.before, self.after = map(there, time or (moments['A'] + 1, moments['B'] + 1))


# Every measure by its name.
MEASURES = {
    'bytes': lambda span: bytes_of(span.born), 'allocations': lambda span: len(span.born),
    'objects': lambda span: sum(block.count for block in span.born),
    'freed_bytes': lambda span: bytes_of(span.died), 'freed_count': lambda span: len(span.died),
    'live_bytes': lambda span: bytes_of(span.live), 'live_count': lambda span: len(span.live),
    'at_peak_bytes': lambda span: bytes_of(span.at_peak), 'at_peak_count': lambda span: len(span.at_peak),
    'peak_bytes': lambda span: peak_of(span.blocks, span.begin, span.end),
    'short_lived': lambda span: sum(block.died - block.born < 10**6 for block in span.born),
    'avg_size': lambda span: bytes_of(span.born) // max(len(span.born), 1),
    'born_bytes': lambda span: bytes_of(set(span.after) - set(span.before)),
    'died_bytes': lambda span: bytes_of(set(span.before) - set(span.after)),
    'lifetime_ns': lambda span: sum(block.died - block.born for block in span.died),
    'from_bytes': lambda span: bytes_of(span.before), 'to_bytes': lambda span: bytes_of(span.after),
    'net_bytes': lambda span: bytes_of(span.after) - bytes_of(span.before),
    'net_count': lambda span: len(span.after) - len(span.before),
}


def lived(block, lifetime):
    """Tells whether a block's lifetime is within a row's, as '1 µs to 2 µs', 'never freed'."""
    bounds = [int(number) * UNITS_NS[unit] for number, unit in re.findall(r'(\d+) (\w+)', lifetime)]
    return block.died == NEVER if not bounds else block.died < NEVER and bounds[0] <= block.died - block.born < bounds[1]
