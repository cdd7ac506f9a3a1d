#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""check-site.py SITE: every link of the site's pages leads to a file of the site, and to a place in it if it names one."""
import html.parser
import os
import sys
import urllib.parse

from tap import Tap


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.places, self.titled = [], set(), False
        with open(path, encoding="utf-8") as stream:
            self.feed(stream.read())

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.titled = self.titled or tag == "title"
        self.places |= {attributes[name] for name in ("id", "name") if attributes.get(name)}
        self.links += [attributes[name] for name in ("href", "src") if attributes.get(name)]


def problems(site, path, pages):
    here = os.path.dirname(path)
    for link in pages[path].links:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme in ("http", "https", "mailto", "data") or link == "javascript:void(0)":  # gi-docgen's buttons
            continue
        if parts.scheme:
            yield f"a link with another scheme: {link}"
            continue
        target = os.path.normpath(os.path.join(here, urllib.parse.unquote(parts.path))) if parts.path else path
        if not os.path.isfile(os.path.join(site, target)):
            yield f"leads nowhere: {link}"
        elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].places:
            yield f"no such place in the page: {link}"


def main():
    tap = Tap()
    site = os.path.realpath(sys.argv[1])
    pages = {}
    for folder, _dirs, names in os.walk(site):
        for path in (os.path.join(folder, name) for name in names if name.endswith(".html")):
            pages[os.path.relpath(path, site)] = Page(path)
    for path in sorted(pages):
        tap.case(f"site/{path}", sorted(set(problems(site, path, pages))) + ([] if pages[path].titled else ["no title"]))
    tap.case("site/guide", [] if "guide/index.html" in pages else ["the guide is missing"])
    tap.finish()


main()
