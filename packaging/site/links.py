#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks the links of the files that standard input names, one a line: *.md or *.html.

A link leads to a file or folder below the current folder, and to an anchor of it. Links to other
hosts are not followed. Prints a line for each dead link; exit status 1 if there is one.
"""
import html.parser
import os
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


class Document:
    """The links and anchors of a text in Markdown; the anchors are those that GitHub gives."""

    def __init__(self, text):
        text = re.sub(r"^(```+).*?^\1", "", text, flags=re.S | re.M)
        self.links = re.findall(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)", re.sub(r"`[^`\n]*`", "x", text))
        self.links += re.findall(r"^\[[^\]]+\]:\s*(\S+)", text, re.M)
        self.anchors, seen = set(), {}
        for heading in re.findall(r"^#{1,6} +(.*?)(?: +#+)?$", text, re.M):
            heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
            anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            again = seen.get(anchor, 0)
            seen[anchor] = again + 1
            self.anchors.add(f"{anchor}-{again}" if again else anchor)
        self.anchors.update(re.findall(r'<a (?:id|name)="([^"]+)"', text))


read = {}


def parts(path):
    if path not in read:
        with open(path, encoding="utf-8") as file:
            read[path] = (Document if path.endswith(".md") else Page)(file.read())
    return read[path]


def fault(path, link):
    """Says why the link is dead; None: it is not."""
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", link):
        return None
    target, _, anchor = link.partition("#")
    target = urllib.parse.unquote(target)
    whole = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else os.path.normpath(path)
    if whole.startswith(("..", "/")):
        return "leads out of the project"
    if not os.path.exists(whole):
        return "no such file"
    if anchor and whole.endswith((".md", ".html")) and urllib.parse.unquote(anchor) not in parts(whole).anchors:
        return f"no such heading in {whole}"
    return None


links = dead = 0
for name in sys.stdin.read().splitlines():
    for link in parts(name).links:
        links += 1
        why = fault(name, link)
        if why:
            dead += 1
            print(f"{name}: dead link {link}: {why}")
print(f"{links} links, {dead} dead")
if links == 0:
    print("no link found: name files of documents, one a line, on standard input")
sys.exit(1 if dead or links == 0 else 0)
