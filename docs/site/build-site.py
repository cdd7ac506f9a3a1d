#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""build-site.py DOCS OUTPUT DEPFILE [API]: the documents as a site of HTML, for people who do not read them in the source.

Each page of DOCS becomes a page at the same place below OUTPUT; links between pages go with it. A link to a file outside of DOCS
becomes its name, since the source is not there. A paragraph of nothing but links to docs/examples becomes the programs, side by
side. API is a folder of gi-docgen's, which is put into OUTPUT/api. The text is made by Python-Markdown; no page needs a script.
"""
import html
import os
import re
import shutil
import sys
import urllib.parse

import markdown

LANGUAGES = {"c": "C", "py": "Python", "js": "JavaScript (GJS)", "vala": "Vala", "go": "Go"}
SKIPPED = ("benchmarks/notes", "man", "site", "examples")
EXTENSIONS = ["fenced_code", "tables", "toc", "sane_lists", "attr_list"]
LINK = re.compile(r'(<(?:a|img) [^>]*?(?:href|src)=")([^"]+)(")')
EXAMPLES = re.compile(r'<p>((?:<a href="(?:\.\./)*examples/[^"]+">[^<]*</a>[\s·,]*)+)</p>')


def title_of(text):
    return re.search(r"^# (.+)$", text, re.M).group(1).replace("`", "")


class Site:
    def __init__(self, docs, output):
        self.docs, self.output, self.read = docs, output, []
        with open(os.path.join(docs, "site/template.html"), encoding="utf-8") as stream:
            self.template = stream.read()
        self.pages = sorted(self.find_pages())
        self.titles = {page: title_of(self.text(page)) for page in self.pages}

    def find_pages(self):
        for folder, _dirs, names in os.walk(self.docs):
            inside = os.path.relpath(folder, self.docs)
            if not inside.startswith(SKIPPED):
                yield from (os.path.normpath(os.path.join(inside, name)) for name in names if name.endswith(".md"))

    def text(self, path):
        full = os.path.join(self.docs, path)
        self.read.append(full)
        with open(full, encoding="utf-8") as stream:
            return re.sub(r"\A<!--.*?-->\n", "", stream.read(), flags=re.S)

    @staticmethod
    def target(page):
        """README.md is what a folder shows, but the site itself begins with the guide."""
        return re.sub(r"README\.md$", "index.md", page).removesuffix(".md") + ".html"

    def link(self, page, url):
        """What @url of @page is on the site; None if it is not there."""
        parts = urllib.parse.urlsplit(url)
        if parts.scheme or not parts.path:
            return url
        here = os.path.dirname(page)
        path = os.path.normpath(os.path.join(here, parts.path))
        fragment = "#" + parts.fragment if parts.fragment else ""
        if path.startswith("api/"):
            return url
        if path not in self.titles and os.path.join(path, "README.md") in self.titles:
            path = os.path.join(path, "README.md")
        if path in self.titles:
            return os.path.relpath(self.target(path), here or ".") + fragment
        if path.startswith("..") or not os.path.isfile(os.path.join(self.docs, path)) or path.endswith(".md"):
            return None
        os.makedirs(os.path.join(self.output, os.path.dirname(path)), exist_ok=True)
        shutil.copyfile(os.path.join(self.docs, path), os.path.join(self.output, path))
        self.read.append(os.path.join(self.docs, path))
        return url

    def side_by_side(self, page, paragraph):
        programs = []
        for path in re.findall(r'href="([^"]+)"', paragraph):
            path = os.path.normpath(os.path.join(os.path.dirname(page), path))
            code = re.sub(r"\A(/\*|//|#).*?SPDX.*\n", "", self.text(path).removeprefix("#!/usr/bin/python3\n"))
            language = LANGUAGES[path.rsplit(".", 1)[1]]
            programs.append(f'<figure><figcaption>{language}: <code>{os.path.basename(path)}</code></figcaption>'
                            f'<pre><code>{html.escape(code)}</code></pre></figure>')
        return f'<div class="languages">{"".join(programs)}</div>'

    def body(self, page):
        body = markdown.markdown(self.text(page), extensions=EXTENSIONS, output_format="html5")
        body = EXAMPLES.sub(lambda match: self.side_by_side(page, match.group(1)), body)

        def replace(match):
            url = self.link(page, html.unescape(match.group(2)))
            return f"{match.group(1)}{html.escape(url)}{match.group(3)}" if url else f"{match.group(1)}#NOWHERE{match.group(3)}"

        body = LINK.sub(replace, body)
        body = re.sub(r'<a [^>]*href="#NOWHERE"[^>]*>(.*?)</a>', r"\1", body, flags=re.S)
        return body.replace("<table>", '<div class="table"><table>').replace("</table>", "</table></div>")

    def navigation(self, page):
        """Lists of the guide, in its order, and of the reference; @api is the library's own."""
        here = os.path.dirname(page)
        order = re.findall(r"^\d+\. \[.*?\]\(([\w-]+\.md)\)", self.text("guide/README.md"), re.M)
        groups = [("Guide", ["guide/README.md"] + [f"guide/{path}" for path in order]),
                  ("Reference", [p for p in self.pages if "/" not in p]),
                  ("Background", ["decisions/README.md", "benchmarks/README.md"])]
        for name, pages in groups:
            yield f"<h2>{name}</h2><ul>"
            for other in pages:
                mark = ' aria-current="page"' if other == page else ""
                url = os.path.relpath(self.target(other), here or ".")
                yield f'<li><a href="{html.escape(url)}"{mark}>{html.escape(self.titles[other])}</a></li>'
            yield "</ul>"
        if self.api:
            url = os.path.relpath("api/index.html", here or ".")
            yield f'<h2>Library</h2><ul><li><a href="{url}">API of libquery-client</a></li></ul>'

    def write(self, page):
        top = os.path.relpath(".", os.path.dirname(page) or ".")
        values = {"title": html.escape(self.titles[page]), "body": self.body(page), "top": top,
                  "navigation": "\n".join(self.navigation(page))}
        path = os.path.join(self.output, self.target(page))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(re.sub(r"@(\w+)@", lambda match: values[match.group(1)], self.template))

    def build(self, api):
        self.api = api
        shutil.rmtree(self.output, ignore_errors=True)
        os.makedirs(self.output)
        if api:
            shutil.copytree(api, os.path.join(self.output, "api"))
        shutil.copyfile(os.path.join(self.docs, "site/style.css"), os.path.join(self.output, "style.css"))
        for page in self.pages:
            self.write(page)
        with open(os.path.join(self.output, "index.html"), "w", encoding="utf-8") as stream:
            stream.write('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>queryd</title>'
                         '<meta http-equiv="refresh" content="0; url=guide/index.html"></head>'
                         '<body><a href="guide/index.html">The guide to queryd</a></body></html>\n')


def main():
    docs, output, depfile = sys.argv[1:4]
    site = Site(docs, output)
    site.build(sys.argv[4] if len(sys.argv) > 4 else None)
    with open(depfile, "w", encoding="utf-8") as stream:
        inputs = " ".join(path.replace(" ", "\\ ") for path in sorted(set(site.read)))
        stream.write(f"{os.path.basename(output)}: {inputs}\n")


main()
