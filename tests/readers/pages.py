# SPDX-License-Identifier: BSD-2-Clause
"""Chromium shows svg, dhat in Valgrind's own page, and speedscope and collapsed in speedscope's."""
import base64
import json
import os
import re

import common
from browser import Browser
from common import Session, check, clean, export, finish, run

VIEWER = '/usr/libexec/valgrind/dh_view.html'
SPEEDSCOPE = f'{common.BUILD}-npm/node_modules/speedscope/dist/release'
checked = 0


def picture(browser, path):
    """The svg: every box by name and value; a click shows a part, a search marks names."""
    global checked
    session = Session(path)
    file = export(path, 'svg')
    run('xmllint', '--noout', file)
    browser.open(file)
    check(f'{path} root', int(browser.ask('document.querySelector("g.box").dataset.bytes')),
          session.totals()[1])
    titles = browser.ask('boxes.map(b => [b.title, +b.g.dataset.bytes, b.width])')
    check(f'{path} widths', all(abs(w - v * 1200 / titles[0][1]) < 0.01 for _, v, w in titles), True)
    # It fills the window, and names that do not fit lose their middle.
    check(f'{path} window', browser.ask('Math.abs(boxes[0].rect.getAttribute("width") - visualViewport.width) <= 1 && '
                                        'boxes.every(b => [...b.text.textContent].length * 7 <= Math.max(0, +b.rect.getAttribute("width")))'), True)
    check(f'{path} middle', browser.ask('[middle("a_long_name", 7), middle("short", 7), middle("ab", 1)]'), ['a_l\u2026ame', 'short', ''])
    # Every box that is wide enough has the inclusive bytes of the functions that lead to it.
    main = [v for t, v, _ in titles if re.match(r'main \(', t)]
    if main and not session.sampled:
        check(f'{path} main', sum(main), session.functions('total_bytes')['main'])
    hit = browser.ask('boxes.filter(b => b.depth === 1)[0].g.dispatchEvent(new MouseEvent("click")), '
                      'boxes.filter(b => b.depth === 1)[0].rect.getAttribute("width")')
    check(f'{path} click', float(hit), browser.ask('full'))
    hidden = browser.ask('boxes.filter(b => b.g.style.display === "none").length')
    shown = browser.ask('(b => boxes.filter(c => c.x + c.width <= b.x + 1e-6 || c.x >= b.x + b.width - 1e-6)'
                        '.length)(boxes.filter(b => b.depth === 1)[0])')
    check(f'{path} hidden', hidden, shown)
    browser.ask('document.getElementById("reset").dispatchEvent(new MouseEvent("click"))')
    check(f'{path} reset', browser.ask('boxes.filter(b => b.g.style.display === "none").length'), 0)
    found = browser.ask('find("main")')
    check(f'{path} search', found, sum('main' in t for t, _, _ in titles))
    check(f'{path} marked', browser.ask('document.querySelectorAll("g.found").length'), found)
    checked += 9


def change(browser):
    """The svg of a difference: values of both sides, colours, and room for what went away."""
    global checked
    file = export('sessions/shop.db', 'svg', '--base', 'sessions/widgets.db', suffix='.base')
    os.rename(file, 'out/change.svg')
    run('xmllint', '--noout', 'out/change.svg')
    browser.open('out/change.svg')
    own, base = Session('sessions/shop.db').totals(), Session('sessions/widgets.db').totals()
    check('svg of a change', browser.ask('[+boxes[0].g.dataset.bytes, +boxes[0].g.dataset.base]'), [own[1], base[1]])
    gone = browser.ask('(b => [+b.g.dataset.bytes, b.g.dataset.base > 0, b.width > 100, b.rect.getAttribute("fill")])'
                       '(boxes.find(b => b.title.startsWith("make_widget ")))')
    check('svg of what went away', gone, [0, True, True, '#589ee4'])
    new = browser.ask('(b => [+b.g.dataset.base, b.g.dataset.bytes > 0, b.rect.getAttribute("fill"), /, \\+[\\d.]+ /.test(b.title)])'
                      '(boxes.find(b => b.title.startsWith("shop::")))')
    check('svg of what is new', new, [0, True, '#e45858', True])
    parts = browser.ask('boxes.every(b => b.width + 0.01 >= boxes.filter(c => c.depth === b.depth + 1 && c.x > b.x - 1e-3 && '
                        'c.x + c.width < b.x + b.width + 1e-3).reduce((s, c) => s + c.width, 0))')
    check('svg parts of a change', parts, True)
    checked += 4


def dhat(browser, path):
    """The page checks the whole file and shows totals and the tree."""
    global checked
    session = Session(path)
    file = export(path, 'dhat')
    browser.open(VIEWER)
    browser.choose_file('input[type=file]', file)
    # The tree comes some time after the page's own texts.
    browser.wait(r'/At t-end:\s+[\d,]+ bytes/.test(document.body.innerText)')
    text = browser.ask('document.body.innerText')
    allocations, size, live_count, live = session.totals()
    found = {}
    for kind, a, b in re.findall(r'(Total|At t-gmax|At t-end):\s+([\d,]+) bytes.*? in ([\d,]+) blocks', text):
        # The first ones are those of the root.
        found.setdefault(kind, (int(a.replace(',', '')), int(b.replace(',', ''))))
    check(f'{path} total', found.get('Total'), (size, allocations))
    check(f'{path} end', found.get('At t-end'), (live, live_count))
    if not session.sampled:
        check(f'{path} peak', found.get('At t-gmax', (0, 0))[0], session.peak_bytes())
        peaks = {tuple(r) for r in session.rows('SELECT bytes, allocations, peak_bytes FROM stack WHERE allocations > 0')}
        points = json.load(open(file, encoding='utf-8'))['pps']
        check(f'{path} places', len({tuple(p['fs']) for p in points}), len(points))
        check(f'{path} own peaks', {(p['tb'], p['tbk'], p['mb']) for p in points}, peaks)
        lifetimes = session.one('SELECT sum(coalesce(free_ns, (SELECT end_ns FROM process p WHERE p.id = '
                                't.process_id)) - alloc_ns) FROM allocation JOIN thread t ON t.id = thread_id '
                                'WHERE arena_id = 0')[0]
        if len(session.rows('SELECT 1 FROM process')) < 2:
            check(f'{path} lifetimes', sum(p['tl'] for p in points), lifetimes)
    checked += 5


def shown(number):
    """Bytes as speedscope's page shows them."""
    for unit in ('B', 'KB', 'MB'):
        if number < 1024:
            return f'{number:.2f} {unit}' if unit != 'B' else f'{number} {unit}'
        number /= 1024


def speedscope(browser, path, form):
    """speedscope's page lists the functions with their own sums, the largest ones first."""
    global checked
    session = Session(path)
    # Another test writes collapsed stacks at the same time.
    file = export(path, form, suffix='.page')
    with open(file, 'rb') as data, open('out/load.js', 'w') as script:
        script.write(f'speedscope.loadFileFromBase64("{form}", '
                     f'{json.dumps(base64.b64encode(data.read()).decode())})')
    browser.open('about:blank')
    browser.open(f'{SPEEDSCOPE}/index.html', f'#localProfilePath={os.path.abspath("out/load.js")}')
    browser.wait('document.body.innerText.includes("Sandwich")')
    browser.key('3')
    # The list appears first, then its rows.
    browser.wait('/%\\)\\n[^]*%\\)/.test(document.body.innerText)')
    rows = re.findall(r'^\s*(\S+ ?[KMG]?B?) \([^)]*%\)\n\s*(\S+ ?[KMG]?B?) \([^)]*%\)\n\s*(.*)$',
                      browser.ask('document.body.innerText'), re.M)
    wanted, listed = {}, set()
    if form == 'collapsed':
        # Collapsed stacks have no unit there.
        wanted = session.functions('self_bytes', lambda name: name.replace(';', ':'))
        listed = {(name, str(size)) for name, size in wanted.items()}
    else:
        # A row is a function at a line.
        for function, size in session.rows(
                'SELECT f.function_id, sum(s.bytes) FROM stack s JOIN frame f ON f.id = call_site_frame_id '
                'GROUP BY f.function_id, f.source_file_id, f.line'):
            name = session.names[function]
            wanted[name] = wanted.get(name, 0) + size
            listed.add((name, shown(size)))
    for _, own, name in rows:
        if own not in ('0', '0 B'):
            check(f'{path} {form} {name} {own}', (name, own.replace(',', '')) in listed, True)
            checked += 1
    check(f'{path} {form} largest', sorted(wanted, key=wanted.get)[-1] in [r[2] for r in rows], True)
    checked += 1


def schema():
    """The files of speedscope by its own JSON schema, and their sums."""
    global checked
    files = []
    for path in common.SESSIONS:
        session = Session(path)
        files.append(export(path, 'speedscope'))
        data = json.load(open(files[-1], encoding='utf-8'))
        names = [f['name'] for f in data['shared']['frames']]
        totals = session.totals()
        wanted = [totals[1], totals[0], totals[3]]
        check(f'{path} speedscope', [p['endValue'] for p in data['profiles']][:3], wanted)
        for profile, column in zip(data['profiles'], ('self_bytes', 'self_count', 'live_bytes')):
            sums = {}
            for stack, weight in zip(profile['samples'], profile['weights']):
                sums[names[stack[-1]]] = sums.get(names[stack[-1]], 0) + weight
            check(f'{path} {column}', sums, session.functions(column))
        checked += 4
    run('node', f'{common.SOURCE}/tests/readers/speedscope.js', f'{SPEEDSCOPE}/file-format-schema.json',
        *files, env=common.node_environment())


schema()
with Browser() as browser:
    for path in common.SESSIONS:
        picture(browser, path)
        dhat(browser, path)
    change(browser)
    for name in ('shop', 'widgets', 'hostile'):
        speedscope(browser, f'sessions/{name}.db', 'speedscope')
        speedscope(browser, f'sessions/{name}.db', 'collapsed')
finish(checked)
