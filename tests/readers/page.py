# SPDX-License-Identifier: BSD-2-Clause
"""Chromium shows the pages of mprof-report: totals equal SQL, and mouse, keys, search, narrow screens and hostile
names work. No page says anything on the console or asks the network."""
import json
import os
import re
import sqlite3

import common
from browser import Browser
from common import Session, check, finish, name_of, run

checked = 0
LIMIT = 1 << 20


def equal(what, got, wanted):
    global checked
    checked += 1
    check(what, got, wanted)


def page(path, *options, suffix=''):
    os.makedirs('out', exist_ok=True)
    file = f'out/{name_of(path)}{suffix}.html'
    run(f'{common.BUILD}/bin/mprof-report', '--format', 'html', '-o', file, '--process', 'all', *options, path)
    equal(f'{file} is small', os.path.getsize(file) < LIMIT, True)
    return file


def data(file):
    text = open(file, encoding='utf-8').read()
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


def visit(browser, file):
    """Opens a page. It must be silent, and alone."""
    browser.events.clear()
    browser.open(file)
    browser.ask('0')  # what was said before this answer has come
    said = [(m, p) for m, p in browser.events if m in ('Runtime.exceptionThrown', 'Runtime.consoleAPICalled', 'Log.entryAdded')]
    asked = [p['request']['url'] for m, p in browser.events if m == 'Network.requestWillBeSent']
    equal(f'{file} on the console', said, [])
    equal(f'{file} asks for', [url for url in asked if not url.endswith(file)], [])


def totals(browser, path, file):
    """The cards, the root of each measure, and each type, as SQL has them."""
    session = Session(path)
    allocations, size, live_count, live = session.totals()
    shown = browser.ask('Object.fromEntries([...document.querySelectorAll("#cards li")].map(c => '
                        '[c.querySelector(".name").textContent, +c.querySelector(".value").dataset.value]))')
    equal(f'{path} cards', [shown['Allocated'], shown['Blocks'], shown['Live at the end']], [size, allocations, live])
    if len(session.rows('SELECT 1 FROM process')) < 2 and not session.sampled:
        equal(f'{path} peak', shown['Peak'], session.peak_bytes())
        equal(f'{path} leaks', shown['Leaked'], session.one(
            'SELECT coalesce(sum(live_bytes), 0) FROM stack WHERE id NOT IN (SELECT stack_id FROM runtime_stack)')[0])
    for own in 'true', 'false':
        roots = browser.ask(f'tree({own}).root.v')
        equal(f'{path} flame {own}', [roots[1], roots[2], roots[3]], [live, size, allocations])
        # The sum of the children of a node and its own part is the node; its own part is never below 0.
        equal(f'{path} parts {own}', browser.ask(
            f'tree({own}).nodes.filter(n => n.v.some((v, m) => v < n.children.reduce((s, c) => s + c.v[m], 0))).length'), 0)
    if not session.sampled:
        names = {}
        for function, total in session.functions('total_bytes').items():
            names[function] = total
        main = browser.ask('tree(false).nodes.filter(n => n.parent && wholeOf(n) === "main").map(n => n.v[2])')
        if main:
            equal(f'{path} main', sum(main), names['main'])
        types = {common.clean(name): (a, b) for name, a, b in session.rows(
            'SELECT coalesce(t.name, \'(unknown)\'), sum(a.size), count(*) FROM allocation a LEFT JOIN type t ON t.id = a.type_id '
            'WHERE a.arena_id = 0 GROUP BY 1')}
        for entry in data(file)['types']:
            name = entry.get('whole', entry['name'])
            if len(name) < 350 and name in types:
                equal(f'{path} type {name}', (entry['bytes'], entry['count']), types[name])
        sizes = data(file)['sizes']
        equal(f'{path} sizes', [sum(s[2] for s in sizes), sum(s[3] for s in sizes)], [size, allocations])
        for least, most, of_bin, blocks in sizes:
            equal(f'{path} sizes {least} to {most}', (of_bin, blocks), session.one(
                f'SELECT sum(size), count(*) FROM allocation WHERE arena_id = 0 AND size BETWEEN {least} AND {most}'))
        freed = session.one('SELECT count(*), coalesce(sum(size), 0) FROM allocation WHERE arena_id = 0 AND free_ns IS NOT NULL')
        lives = data(file)['lifetimes']
        equal(f'{path} lifetimes', (sum(b[3] for b in lives), sum(b[2] for b in lives)), freed)


def steer(browser, path):
    """Clicks, keys and the search of the flame graph; the order of types; the timeline."""
    browser.ask('document.querySelector("#frames input[value=\\"1\\"]").click(); '
                'document.querySelector("#measures input[value=\\"2\\"]").click()')
    equal(f'{path} measure', browser.ask('[flame.measure, flame.own, flame.root === tree(false).root]'), [2, False, True])
    width = browser.ask('document.querySelector("#boxes .room").clientWidth')
    # A box is as wide as its share.
    equal(f'{path} widths', browser.ask('[...flame.boxes].every(([n, f]) => Math.abs(parseFloat(f.style.width) - '
                                        f'Math.max({width} * n.v[2] / flame.root.v[2], .8)) < .2)'), True)
    browser.ask('[...document.querySelectorAll("#boxes .f")].find(f => f.node.depth === 1).click()')
    equal(f'{path} click', browser.ask('[flame.root.depth, parseFloat(flame.boxes.get(flame.root).style.width), '
                                       'flame.boxes.get(flame.root.parent).className.includes("above"), $("out").hidden]'),
          [1, width, True, False])
    browser.ask('$("out").click()')
    equal(f'{path} out', browser.ask('[flame.root.depth, $("out").hidden]'), [0, True])
    browser.ask('flame.boxes.get(flame.root).focus()')
    browser.key('ArrowDown')
    equal(f'{path} arrow down', browser.ask('[flame.at === flame.root.children[0], document.activeElement.node === flame.at]'), [True, True])
    browser.key('Enter')
    equal(f'{path} Enter', browser.ask('[flame.root === flame.at, flame.root.depth]'), [True, 1])
    browser.key('Escape')
    equal(f'{path} Escape', browser.ask('flame.root.depth'), 0)
    browser.key('/')
    equal(f'{path} slash', browser.ask('document.activeElement.id'), 'search')
    browser.call('Input.insertText', text='MAIN')
    hits = browser.ask('tree(false).nodes.filter(n => n.parent && wholeOf(n).toLowerCase().includes("main")).length')
    equal(f'{path} search', browser.ask('[document.querySelectorAll("#boxes .hit").length > 0, $("matches").textContent.split(" ")[0]]'),
          [hits > 0, f'{hits:,}'])
    browser.key('Enter')
    equal(f'{path} next', browser.ask('!flame.search || flame.search(flame.at)') if hits else True, True)
    browser.ask('$("search").value = "/^main$/", $("search").dispatchEvent(new Event("input"))')
    equal(f'{path} pattern', browser.ask('tree(false).nodes.filter(n => flame.search(n)).every(n => wholeOf(n) === "main")'), True)
    browser.ask('$("search").value = "/(/", $("search").dispatchEvent(new Event("input"))')
    equal(f'{path} no pattern', browser.ask('$("matches").textContent'), 'not a pattern')
    browser.ask('$("search").value = "", $("search").dispatchEvent(new Event("input"))')
    equal(f'{path} search ends', browser.ask('document.querySelectorAll("#boxes .hit, #boxes .miss").length'), 0)
    browser.ask('document.querySelectorAll("#type-table th button")[3].click()')
    counts = browser.ask('[...document.querySelectorAll("#type-table tbody tr")].map(r => +r.children[4].dataset.value)')
    equal(f'{path} order of types', counts, sorted(counts, reverse=True))
    # The way to a deep box, and no value that has no text.
    browser.ask('zoom(tree(false).nodes.reduce((a, b) => b.depth > a.depth ? b : a))')
    equal(f'{path} way', browser.ask('[flame.at.depth - 1, document.querySelectorAll("#box .path button").length, '
                                     '/\\[object|undefined|NaN/.test(document.body.innerText)]'),
          browser.ask('[flame.at.depth - 1, Math.min(12, flame.at.depth - 1), false]'))
    browser.ask('document.querySelector("#box .path button")?.click()')
    equal(f'{path} way up', browser.ask('flame.root.depth === 1 || flame.root.depth > 1 && flame.at.depth > 1'), True)
    browser.ask('$("out").click(), $("chart").focus()')
    browser.key('Home')
    first = browser.ask('$("slot").textContent')
    browser.key('ArrowRight')
    equal(f'{path} timeline', [first.startswith('at '), browser.ask('$("slot").textContent') != first], [True, True])


def narrow(browser, file):
    """At the width of a phone nothing is cut off, and names lose their middle."""
    for width in 390, 1280:
        browser.call('Emulation.setDeviceMetricsOverride', width=width, height=900, deviceScaleFactor=1, mobile=True)
        visit(browser, file)
        equal(f'{file} at {width}', browser.ask('document.documentElement.scrollWidth'), width)
        equal(f'{file} drawn at {width}', browser.ask('document.querySelector("#chart svg").clientWidth <= innerWidth && '
                                                      'document.querySelectorAll("#boxes .f").length > 0'), True)
    browser.call('Emulation.setDeviceMetricsOverride', width=1280, height=900, deviceScaleFactor=1, mobile=False)
    equal('middle', browser.ask('[middle("a_long_name_of_a_function", 11), middle("short", 11), middle("ab", 1)]'),
          ['a_lon…ction', 'short', ''])


def hostile(browser):
    """Names that would end the script, run code or load things, were they not text."""
    evil = '</script><script>window.evil=1</script><img src=x onerror="window.evil=2">\'"`${1}\x1b[31m\u2028'
    path = 'evil.db'
    source = sqlite3.connect('sessions/shop.db')
    db = sqlite3.connect(path)
    source.backup(db)
    for sql in ('UPDATE function SET name = ? || id', 'UPDATE type SET name = ? || id', 'UPDATE source_file SET path = ? || id',
                "UPDATE meta SET value = ? WHERE key IN ('program', 'argv', 'start_time', 'ending', 'unseen_modules')",
                'UPDATE module SET name = ? || id', 'UPDATE thread SET name = ?', 'UPDATE process SET program = ?'):
        db.execute(sql, (evil,))
    db.execute("INSERT OR REPLACE INTO meta VALUES ('unseen_modules', ?)", (evil,))
    db.execute("INSERT INTO mark (ns, kind, name) VALUES (1000, 'mark', ?)", (evil,))
    db.commit()
    db.close()
    file = page(path)
    equal('evil bytes', [c for c in open(file, 'rb').read() if c < 32 and c not in (9, 10)], [])
    visit(browser, file)
    browser.ask('document.querySelectorAll("details").forEach(d => { d.open = true; })')
    equal('evil runs', browser.ask('[typeof evil, document.images.length, document.scripts.length]'), ['undefined', 0, 2])
    equal('evil steers', browser.ask('/[\\x1b\\u2028\\u202e]/.test(document.body.textContent.replace($("data").textContent, ""))'), False)
    equal('evil shows', browser.ask('document.body.innerText.includes("<img src=x onerror=")'), True)
    os.remove(path)


def against(browser):
    """A base: the difference of the roots, colours, and what went away keeps a box."""
    file = page('sessions/shop.db', '--base', 'sessions/widgets.db', suffix='.base')
    visit(browser, file)
    own, base = Session('sessions/shop.db').totals(), Session('sessions/widgets.db').totals()
    roots = browser.ask('[tree(false).root.v, tree(false).root.b]')
    equal('base', [roots[0][2], roots[1][2], roots[0][3], roots[1][3]], [own[1], base[1], own[0], base[0]])
    browser.ask('document.querySelector("#frames input[value=\\"1\\"]").click(); document.querySelector("#measures input[value=\\"2\\"]").click()')
    gone = browser.ask('(n => n && [n.v[2], n.b[2] > 0, colour(n).startsWith("hsl(212")])(tree(false).nodes.find(n => n.parent && wholeOf(n) === "make_widget"))')
    equal('gone', gone, [0, True, True])
    new = browser.ask('(n => [n.b[2], n.v[2] > 0, colour(n).startsWith("hsl(4 "), label(n).includes("base 0")])'
                      '(tree(false).nodes.find(n => n.parent && wholeOf(n).startsWith("shop::")))')
    equal('new', new, [0, True, True, True])
    equal('sum of widths', browser.ask('tree(false).nodes.every(n => n.w + 1e-6 >= n.children.reduce((s, c) => s + c.w, 0))'), True)
    same = page('sessions/shop.db', '--base', 'sessions/shop.db', suffix='.same')
    visit(browser, same)
    equal('the same', browser.ask('[document.querySelectorAll("#cards .up, #cards .down").length, '
                                  'tree(false).nodes.some(n => n.v.join() !== n.b.join())]'), [0, False])


def limited(browser):
    """--filter and --at limit everything; a redacted session stays so."""
    size = 64
    file = page('sessions/shop.db', '--filter', f'all | where size >= {size}', suffix='.filter')
    visit(browser, file)
    wanted = Session('sessions/shop.db').one(f'SELECT count(*), sum(size) FROM allocation WHERE arena_id = 0 AND size >= {size}')
    facts = data(file)['facts']
    equal('filter', (facts['allocations'], facts['bytes']), wanted)
    equal('filter of the tree', browser.ask('[tree(true).root.v[3], tree(true).root.v[2]]'), list(wanted))
    equal('filter of sizes', all(s[1] >= size for s in data(file)['sizes']), True)
    equal('filter is told', browser.ask('$("foot").textContent.includes("size >= 64")'), True)
    at = data(page('sessions/shop.db', '--at', 'end', suffix='.at'))['facts']
    totals_ = Session('sessions/shop.db').totals()
    equal('at', (at['allocations'], at['bytes']), (totals_[2], totals_[3]))
    # The folder of the test is above the sources: no page of a redacted session has it.
    run(f'{common.BUILD}/bin/mprof-run', '-q', '-f', '-o', 'redacted.bin', '--', f'{common.BUILD}/tests/widgets', 'secret-argument')
    run(f'{common.BUILD}/bin/mprof-ingest', '-q', '-f', '--redact', '-o', 'redacted.db', 'redacted.bin')
    text = open(page('redacted.db'), encoding='utf-8').read()
    equal('redacted', [word for word in ('secret-argument', common.SOURCE, common.BUILD, os.uname().nodename + '"') if word in text], [])


def many_runs(browser):
    """A history: a picture for each budget, with its last value."""
    with open('runs.ndjson', 'w', encoding='utf-8') as out:
        for i in range(150):
            print(json.dumps({'schema': 1, 'time': f'2026-01-01T00:{i // 60:02}:{i % 60:02}Z', 'label': f'</script>{i}', 'program': 'x', 'measures': [
                {'name': 'peak <b>', 'unit': 'bytes', 'value': 1 << 20 | i}, {'name': 'count', 'unit': 'number', 'value': None if i == 3 else i}]}), file=out)
    file = page('sessions/shop.db', '--history', 'runs.ndjson', suffix='.runs')
    visit(browser, file)
    equal('runs', browser.ask('[$("trend").hidden, ...[...document.querySelectorAll("#trends figure")].map(f => '
                              '[+f.querySelector("[data-value]").dataset.value, f.querySelectorAll("circle").length, f.querySelector("figcaption").textContent.slice(0, 8)])]'),
          [False, [1 << 20 | 149, 100, 'peak <b>'], [149, 100, 'count 14']])


def wrong():
    report = f'{common.BUILD}/bin/mprof-report'
    for options, message in (((('leaks', '--format', 'html')), b'takes no report'), (('--format', 'html', '--by', 'type'), b'takes no --by'),
                             (('--format', 'html', '--filter', 'all | wheer'), b'column')):
        done = run(report, *options, 'sessions/shop.db', status=2)
        equal(str(options), message in done.stderr and done.stdout == b'', True)


script = os.path.getsize(f'{common.SOURCE}/report/page/page.js')
equal('the script is small', script <= 60 * 1024, True)
wrong()
with Browser() as browser:
    for domain in 'Runtime', 'Log', 'Network':
        browser.call(f'{domain}.enable')
    browser.call('Emulation.setDeviceMetricsOverride', width=1280, height=900, deviceScaleFactor=1, mobile=False)
    for path in common.SESSIONS:
        file = page(path)
        visit(browser, file)
        totals(browser, path, file)
        steer(browser, path)
    narrow(browser, 'out/hostile.html')
    narrow(browser, 'out/shop.html')
    against(browser)
    limited(browser)
    many_runs(browser)
    hostile(browser)
finish(checked)
