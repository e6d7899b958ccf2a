# SPDX-License-Identifier: BSD-2-Clause
"""usage: site.py FOLDER: follows all links of the site in FOLDER from its index.html, in Chromium.

Every page opens, is styled, has a title, a heading and text, and is not wider than a window of 800
pixels. Every link within the site leads to a page or file that opens, and to a place that is there.
Every page of FOLDER is reached. Prints a line for each fault; exit status 1 if there is one.
"""
import os
import sys
import urllib.parse

from browser import Browser

PAGE = '''(() => ({
    address: location.href.split('#')[0], title: document.title,
    links: [...document.querySelectorAll('a[href], link[href]')].map(e => e.href),
    places: [...document.querySelectorAll('[id], a[name]')].map(e => e.id || e.name),
    heading: !!document.querySelector('h1'), text: document.body ? document.body.innerText.length : 0,
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    styled: document.body ? getComputedStyle(document.body).maxWidth !== 'none' : false
}))()'''

root = os.path.abspath(sys.argv[1])
faults, pages, links = [], {}, 0


def path_of(address):
    return urllib.parse.unquote(urllib.parse.urlsplit(address).path)


def name_of(path):
    return os.path.relpath(path, root)


with Browser() as browser:
    browser.call('Emulation.setDeviceMetricsOverride', width=800, height=600, deviceScaleFactor=1, mobile=False)
    waiting = [(f'{root}/index.html', 'the start')]
    while waiting:
        path, origin = waiting.pop()
        if path in pages:
            continue
        browser.open(path)
        page = pages[path] = browser.ask(PAGE)
        if not page['address'].startswith('file://') or path_of(page['address']) != path:
            faults.append(f'{name_of(path)}: does not open (from {origin})')
            continue
        if not path.endswith('.html'):
            continue
        for wanted, fault in (('title', 'no title'), ('heading', 'no heading'), ('text', 'no text'), ('styled', 'no style')):
            if not page[wanted]:
                faults.append(f'{name_of(path)}: {fault}')
        if page['wide'] > 0:
            faults.append(f'{name_of(path)}: {page["wide"]} pixels too wide')
        for link in page['links']:
            if link.startswith('file:') and (path_of(link) + '/').startswith(root + '/'):
                waiting.append((path_of(link), name_of(path)))
            elif link.startswith('file:'):
                faults.append(f'{name_of(path)}: {link} leads out of the site')

for path, page in pages.items():
    for link in page['links']:
        links += 1
        place = urllib.parse.unquote(urllib.parse.urlsplit(link).fragment)
        target = pages.get(path_of(link))
        if link.startswith('file:') and place and target and place not in target['places']:
            faults.append(f'{name_of(path_of(link))}#{place}: no such place (from {name_of(path)})')
for folder, _, files in os.walk(root):
    for file in files:
        if file.endswith('.html') and os.path.join(folder, file) not in pages:
            faults.append(f'{name_of(os.path.join(folder, file))}: no link leads to it')
print('\n'.join(sorted(set(faults))))
print(f'{len(pages)} pages and files, {links} links, {len(set(faults))} faults')
sys.exit(1 if faults or len(pages) < 20 else 0)
