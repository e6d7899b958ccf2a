# SPDX-License-Identifier: BSD-2-Clause
"""usage: screens.py FOLDER PAGE...: compares the screens in pages with what the browser shows.

A screen in a page is a text block after a line

    <!-- screen SESSION WIDTHxHEIGHT: KEYS => WORDS -->

It is what mprof-tui shows of FOLDER/SESSION.db after KEYS: names of keys, and what is typed in double
quotes. All WORDS are on the screen. A line <!-- answer SESSION: KEYS => WORDS --> stands for a screen that
the page does not show. If the page is docs/tour.md, the same keys also show the same
screen in a terminal of tmux, and at 200x60 what the browser writes for that size.

A picture of the browser in a page,

    <!-- picture SESSION WIDTHxHEIGHT: KEYS => WORDS -->
    ![TEXT](FILE.svg)

is what `:w FILE.svg` writes after KEYS. It has all WORDS, and so has the one that the browser writes now,
if there is such a session here.

Times, addresses, process numbers and the resident set vary between runs; charts vary with the times.
They are left out of the comparison, and so are lines that name functions of the system's libraries:
their names depend on the debug packages. If a screen differs, its program is recorded again, twice at
most, because a program that waits for a processor may have gone through its steps at other moments.
MPROF_REFRESH=1 writes the screens.
"""
import itertools
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

SCREEN = re.compile(r'<!-- screen (\S+) (\d+)x(\d+): (.*?) => (.*?) -->\n```text\n(.*?)```\n', re.S)
ANSWER = re.compile(r'<!-- answer (\S+): (.*?) => (.*?) -->')
PICTURE = re.compile(r'<!-- picture (\S+) (\d+x\d+): ?(.*?) ?=> (.*?) -->\n!\[[^\]]*\]\((\S+?\.svg)\)')
SYSTEM = re.compile(r'libs\S*\+0x|libstd|libc[-_]start|__libc|_start$|call_init|dl-init|_dl_')
VARIES = [
    # Bytes of blocks that came and went in one slot, which slow machines make longer.
    (r'█ gone within.*', ''),
    (r'\b[0-9a-f]{12}\b|\b[0-9a-f]{6,11}…', 'ADDRESS'),
    (r'[▁▂▃▄▅▆▇█·]{5,}', ''),  # of tenths of a run, some of them empty
    (r'[▁▂▃▄▅▆▇█─═▲┬]', ''),
    (r'events of the slot|[0-9.]+ (ns|µs|ms|s) [+−]\S+ +\w+$', ''),
    (r'[0-9.]+ (ns|µs|ms|s)\b|[0-9.]+ ?…', 'TIME'),
    (r'· pid \d+', ''),
    # A short run may have its peak before the first sample of RSS. With it the sizes before it are short.
    (r'^ Outside blocks.*', lambda line: re.sub(r'  RSS .*| (?=[KMG]?i?B\b)|(?<=[KMG])iB\b|B\b', '', line[0])),
    (r'(RSS(?:, above)?) +[\d.]+ ?[KMG]?i?B?', r'\1'),
    (r'\b\d+ of 10\b', 'N of 10'),
    # The view of the resident set: its readings, and parts that depend on the libraries.
    (r'at TIME · (?:start|maximum|mark \w+|parted|interval|end) · [\dN]+ of \d+ · kernel .*', 'at TIME'),
    (r'^ +[\d.]+[KMG]? +(?:<?[\d.]+%|beside) +[█▏▎▍▌▋▊▉]* *(?=(?:live, |headers|holes beside|free whole|stacks$|files$|other an|the rec))', ''),
    (r' +', ' '),
    (r'(TIME )+TIME', 'TIME'),
]
servers = itertools.count()


def essence(screen):
    """Returns the lines of a screen without what varies between runs."""
    lines = []
    for line in screen.splitlines():
        line = line.rstrip()
        if SYSTEM.search(line):
            continue
        for pattern, instead in VARIES:
            line = re.sub(pattern, instead, line)
        lines.append(line.strip())
    return lines


def parts(keys):
    """Returns (text, is typed) for each part of KEYS."""
    return [(typed or key, bool(typed)) for typed, key in re.findall(r'"([^"]+)"|(\S+)', keys)]


def browser(session, size, steps):
    """Returns the screen after some steps, each as parts() gives it."""
    lines = [('type ' if typed else 'key ') + text for text, typed in steps] + ['dump']
    shown = subprocess.run(['mprof-tui', '--script', '-', '--size', size, session],
                           input='\n'.join(lines) + '\n', text=True, capture_output=True)
    if shown.returncode != 0:
        sys.exit(f'the browser failed on {steps}: {shown.stderr}')
    rows = [line.rstrip() for line in shown.stdout.splitlines()[1:]]
    return '\n'.join(rows) + '\n'


def in_terminal(session, width, height, steps):
    """Returns "" if a terminal shows after each step what a script shows, or else what it shows."""
    # A server of its own for each screen: one that ends refuses the next.
    tmux = ['tmux', '-L', f'mprof-screens-{os.getpid()}-{next(servers)}', '-f', '/dev/null']
    run = lambda *words: subprocess.run([*tmux, *words], check=True, text=True, capture_output=True)
    run('new-session', '-d', '-x', str(width), '-y', str(height), 'mprof-tui', session)
    names = {'Esc': 'Escape'}
    for done in range(len(steps) + 1):
        if done > 0:
            text, typed = steps[done - 1]
            run('send-keys', *(['-l'] if typed else []), '--', text if typed else names.get(text, text))
        wanted = browser(session, f'{width}x{height}', steps[:done])
        for _ in range(400):
            seen = run('capture-pane', '-p').stdout
            if good := essence(seen) == essence(wanted):
                break
            time.sleep(0.05)
        if not good:
            break
    run('kill-server')
    return '' if good else f'{seen}instead of\n{wanted}'


def record(folder, name):
    free_stacks = ['--free-stacks'] if name == 'calculator' else []
    for command in (['mprof-run', '--quiet', '--force', *free_stacks, '-o', name + '.bin', './' + name],
                    ['mprof-ingest', '--quiet', '--force', '-o', name + '.db', name + '.bin']):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f'{" ".join(command)} failed: {done.stderr}')


def check_words(folder, name, keys, words):
    """Returns what is wrong with the words of an answer, "" if nothing is."""
    for size in ('80x24', '200x60'):
        screen = browser(f'{folder}/{name}.db', size, parts(keys))
        for word in words.split():
            if word not in screen:
                return f'no "{word}" on the screen\n{screen}'
    return ''


def check(page, folder, match):
    """Returns what is wrong with a screen of a page, "" if nothing is."""
    name, width, height, keys, words, written = match.groups()
    session, size = f'{folder}/{name}.db', f'{width}x{height}'
    steps = parts(keys)
    shown = browser(session, size, steps)
    if essence(shown) != essence(written):
        return f'the page has\n{written}\nthe browser shows\n{shown}'
    large = browser(session, '200x60', steps)
    for screen in (shown, large):
        for word in words.split():
            if word not in screen:
                return f'no "{word}" on the screen\n{screen}'
    if page.endswith('/tour.md'):
        for w, h in ((width, height), (200, 60)):
            if seen := in_terminal(session, w, h, steps):
                return f'a terminal of {w}x{h} shows\n{seen}'
    return ''


def draw(folder, name, size, keys):
    """Returns the picture that the browser writes, None without the session."""
    if not os.path.exists(f'{folder}/{name}.db'):
        return None
    path = f'{folder}/picture-{next(servers)}.svg'
    browser(f'{folder}/{name}.db', size, [*parts(keys), (':', False), (f'w {path}', True), ('Enter', False)])
    return open(path).read()


def check_picture(picture, words):
    """Returns what is wrong with a picture, "" if nothing is."""
    text = ' '.join(''.join(row.itertext()) for row in xml.etree.ElementTree.fromstring(picture).iter())
    missing = [word for word in words.split() if word not in text]
    return f'no "{missing[0]}" in {text[:2000]}' if missing else ''


folder, failed, count = sys.argv[1], 0, 0
for page in sys.argv[2:]:
    text = open(page).read()
    pictures = PICTURE.findall(text)
    if len(pictures) != text.count('<!-- picture '):
        sys.exit(f'{page}: {text.count("<!-- picture ")} pictures, {len(pictures)} of the right form')
    for name, size, keys, words, file in pictures:
        path, drawn = os.path.join(os.path.dirname(page), file), draw(folder, name, size, keys)
        if os.environ.get('MPROF_REFRESH') and drawn:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, 'w').write(drawn)
        for picture in (drawn, open(path).read()):
            wrong = check_picture(picture, words) if picture else ''
            if wrong:
                failed = 1
                print(f'{page}, {file}: {wrong}')
        count += 1
    if os.environ.get('MPROF_REFRESH'):
        fresh = lambda m: m.group(0)[:m.start(6) - m.start()] + browser(
            f'{folder}/{m.group(1)}.db', f'{m.group(2)}x{m.group(3)}', parts(m.group(4))) + '```\n'
        open(page, 'w').write(SCREEN.sub(fresh, text))
        continue
    for name, keys, words in ANSWER.findall(text):
        count += 1
        wrong = check_words(folder, name, keys, words)
        if wrong:
            failed = 1
            print(f'{page}, keys {keys}: {wrong}')
    screens = list(SCREEN.finditer(text))
    if len(screens) != text.count('<!-- screen ') or not screens:
        sys.exit(f'{page}: {text.count("<!-- screen ")} screens, {len(screens)} of the right form')
    for match in screens:
        count += 1
        for again in range(3):
            if again > 0:
                record(folder, match.group(1))
            wrong = check(page, folder, match)
            if not wrong:
                break
        if wrong:
            failed = 1
            print(f'{page}, keys {match.group(4)}: {wrong}')
print(f'{count} screens compared')
sys.exit(failed)
