#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Includes against the table of rooms (docs/architecture.md): project headers, third-party headers, unique base names.

A folder is a room of one layer. A room may include itself and the rooms that its row names, all of which stand above it in the
table; so no circle between rooms can be written down. A header may not drag in more than MAX_DRAGGED others, a room has at most
MAX_FILES. Files of a room that call one another in a circle are at most MAX_CIRCLE, but in RECURSIVE rooms.
"""
import collections
import os
import re

from tap import Tap, c_files, public_headers, read

PUBLIC = "client-lib/query-client.h"
PUBLIC_HEADERS = public_headers()
MAX_FILES = 40
MAX_DRAGGED = 15
MAX_CIRCLE = 4
RECURSIVE = ("daemon/sparql", "daemon/plan")  # the grammar and the algebra contain themselves
TREE = "daemon/sparql/ast.h"  # its room sees it, and what leads from a text to its plan; SQL is made of the algebra

# room: (rooms below it that it includes, third-party groups)
ROOMS = {
    "wire": ("", "", ),
    "text": ("wire", "glib"),
    "arrow": ("wire text", "glib"),
    "base": ("wire", "glib nettle sd-event sd-journal"),
    "rdf": ("wire base", "glib"),
    "jsonld": ("wire base rdf", "glib"),
    "rdfio": ("wire base rdf jsonld", "glib libxml2"),
    "sqlite": ("wire base rdf", "glib sqlite3"),
    "quads": ("wire base rdf rdfio sqlite daemon/tally/tally-changes.h", "glib sqlite3"),
    "payload": ("wire base sqlite", "glib sqlite3"),
    "recover": ("wire base rdf sqlite quads payload", "glib sqlite3"),
    "store": ("wire base sqlite quads payload recover", "glib sqlite3"),
    "functions": ("wire base rdf daemon/sqlite/sqlite-error.h daemon/sqlite/virtual-table.h", "glib sqlite3 pcre2"),
    "tally": ("wire base rdf daemon/sqlite/sqlite-error.h daemon/sqlite/virtual-table.h", "glib sqlite3"),
    "service": ("wire base rdf daemon/functions/resolver.h daemon/functions/sql-call.h "
                "daemon/sqlite/sqlite-error.h daemon/sqlite/virtual-table.h", "glib sqlite3"),
    "sparql": ("wire base rdf rdfio daemon/sqlite/catalog.h", "glib"),
    "plan": ("wire base rdf rdfio daemon/sqlite/catalog.h daemon/service/service-columns.h sparql", "glib"),
    "read": ("wire base rdf rdfio sqlite quads payload functions tally service sparql plan", "glib sqlite3"),
    "format": ("wire text arrow base rdf rdfio", "glib libxml2"),
    "notify": ("wire base rdf sqlite quads payload sparql", "glib sqlite3"),
    "results": ("wire base read notify", "glib"),
    "runtime": ("wire base read", "glib"),
    "write": ("wire base rdf sqlite quads payload recover store functions tally plan read notify results runtime", "glib sqlite3"),
    "channel": ("wire base rdfio sqlite read format notify results runtime write", "glib sqlite3"),
    "call": ("wire text base rdf sqlite quads payload store plan read format notify runtime write channel", "glib sqlite3"),
    "job": ("wire text base rdf rdfio sqlite quads payload recover store read format notify runtime write call",
            "glib sqlite3"),
    "tracker": ("wire text base rdf rdfio sqlite read plan write runtime channel call", "glib sqlite3"),
    "engine": ("wire base sqlite quads payload recover store read notify results runtime write channel call job", "glib sqlite3"),
    "bus": ("wire base read notify runtime call job tracker engine", "glib sd-bus sd-event"),
    "main": ("wire base store read bus engine", "glib sd-bus sd-event sd-daemon sd-journal"),
    # the library
    "core": ("wire text", "glib gio"),
    "direct": ("wire core", "glib gio"),
    # the module: what reads in the daemon (reader_lib of daemon/meson.build) and nothing else of it
    "direct-module": ("wire core direct read daemon/base/error.h daemon/base/limits.h daemon/sqlite/file-check.h",
                      "glib gio sqlite3"),
    # the module for endpoints: of the daemon only what reads and writes RDF
    "remote-module": ("wire text core direct rdf rdfio daemon/base/error.h", "glib gio libsoup"),
    "client-lib/channel/": ("wire core", "glib gio"),
    "request": ("wire core client-lib/channel/ direct", "glib gio"),
    "objects": ("wire text arrow core client-lib/channel/ direct request", "glib gio"),
    "calls": ("wire core objects", "glib gio"),
    "transaction": ("wire core client-lib/channel/ direct request objects", "glib gio"),
    "list": ("wire text core objects", "glib gio"),
    "client-lib/rdf/": ("", "glib gio"),
}
FOLDERS = {"wire": "client-lib/wire/", "text": "client-lib/text/", "arrow": "client-lib/arrow/",
           "core": "client-lib/core/", "direct": "client-lib/direct/",
           "direct-module": "client-lib/direct-module/",
           "remote-module": "client-lib/remote-module/", "request": "client-lib/request/", "calls": "client-lib/calls/",
           "transaction": "client-lib/transaction/",
           "list": "client-lib/list/", "objects": "client-lib/query-"}
LIBRARY = ("core", "client-lib/channel/", "direct", "direct-module", "remote-module", "request", "objects", "calls", "transaction",
           "list", "client-lib/rdf/")


def folder_of(room):
    return room if "/" in room else FOLDERS.get(room, f"daemon/{room}/")


# folder or beginning of a path: (project prefixes, third-party groups); the longest that matches counts
LAYERS = {folder_of(room): ([folder_of(name) for name in below.split()] + [folder_of(room)] +
                            (PUBLIC_HEADERS if room in LIBRARY else []), groups.split())
          for room, (below, groups) in ROOMS.items()}
LAYERS.update({header: (PUBLIC_HEADERS, ["glib", "gio"]) for header in PUBLIC_HEADERS})
LAYERS.update({
    "client-lib/queryctl/": (
        [PUBLIC, "client-lib/wire/wire-environment.h", "client-lib/wire/wire-value.h", "client-lib/text/", "client-lib/queryctl/"],
        ["glib", "gio", "public"]),
    "client-lib/queryctl/transfer/": (
        [PUBLIC, "client-lib/wire/wire-value.h", "client-lib/text/", "client-lib/queryctl/"],
        ["glib", "gio", "public"]),
    "client-lib/queryctl/shell/": (
        [PUBLIC, "client-lib/wire/wire-value.h", "client-lib/text/", "client-lib/queryctl/"],
        ["glib", "gio", "libedit", "public"]),
    "client-lib/adbc/": ([PUBLIC, "client-lib/adbc/"], ["glib", "gio", "public"]),
    "client-lib/python/": ([PUBLIC, "client-lib/python/"], ["glib", "gio", "python", "public"]),
    "client-lib/http/": (
        [PUBLIC, "client-lib/wire/wire-value.h", "client-lib/text/", "client-lib/http/", "daemon/format/", "daemon/rdfio/",
         "daemon/base/limits.h", "daemon/base/sha256.h", "client-lib/wire/wire-environment.h", "client-lib/wire/wire-spin.h",
         "client-lib/request/query-try.h"],
        ["glib", "gio", "libsoup", "sd-daemon", "public"]),
    "client-lib/service/": (
        ["client-lib/wire/", "client-lib/core/", "client-lib/direct/", "client-lib/remote-module/", "client-lib/service/",
         "daemon/base/config.h"] + PUBLIC_HEADERS,
        ["glib", "gio", "libsoup", "sd-daemon"]),
    "tests/": ([""], ["glib", "gio", "sqlite3", "sd-bus", "sd-event", "sd-daemon", "tracker", "public"]),
    "tests/bench/": ([""], ["glib", "gio", "sqlite3", "sd-bus", "lmdb", "peers", "public"]),
    "docs/": ([""], ["glib", "gio", "gtk", "public"]),
})
THIRD_PARTY = [
    ("glib", r"glib(-object|-unix)?\.h|glib/.*|gmodule\.h|gobject/.*"), ("gio", r"gio/.*"), ("sqlite3", r"sqlite3(ext)?\.h"),
    ("libxml2", r"libxml/.*"), ("pcre2", r"pcre2\.h"), ("sd-bus", r"systemd/sd-bus(-.*)?\.h"), ("sd-event", r"systemd/sd-event\.h"),
    ("sd-daemon", r"systemd/sd-daemon\.h"), ("sd-journal", r"systemd/sd-(journal|messages|id128)\.h"),
    ("gtk", r"gtk/.*"), ("lmdb", r"lmdb\.h"), ("peers", r"libpq-fe\.h|mysql\.h"),
    ("nettle", r"nettle/.*\.h"), ("libsoup", r"libsoup/soup\.h"), ("libedit", r"histedit\.h|editline/.*"),
    ("python", r"Python\.h"), ("public", r"query-client\.h"), ("tracker", r"libtracker-sparql/tracker-sparql\.h"),
]
LIBC = re.compile(
    r"(alloca|assert|cpuid|ctype|dirent|dlfcn|endian|err|errno|fcntl|fenv|float|ftw|getopt|immintrin|inttypes|langinfo|limits|link|"
    r"locale|malloc|math|memory|poll|pthread|pwd|regex|sched|semaphore|setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|"
    r"stdint|stdio|stdlib|string|strings|syscall|sysexits|syslog|termios|threads|time|ucontext|unistd|unwind|wchar|wctype)\.h|"
    r"(sys|linux|netinet|arpa|asm)/.*\.h")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.M)


def layer_of(path):
    return max((folder for folder in LAYERS if path.startswith(folder)), key=len, default=None)


def check_quoted(path, header, allowed, known):
    if header not in known:
        return [f'"{header}" is not a file relative to the root']
    if not any(header.startswith(prefix) for prefix in allowed):
        return [f'"{header}" is not a layer that this folder may include']
    return []


def check_angle(header, groups):
    for group, pattern in THIRD_PARTY:
        if re.fullmatch(pattern, header):
            return [] if group in groups else [f"<{header}> belongs to {group}, which this folder may not use"]
    return [] if LIBC.fullmatch(header) else [f"<{header}> is not classified"]


def check_file(path, known):
    layer = layer_of(path)
    if layer is None:
        return ["this folder is not in the table of layers"]
    allowed, groups = LAYERS[layer]
    problems = []
    for quote, header in INCLUDE.findall(read(path)):
        if quote == '"' and path in PUBLIC_HEADERS and "/" not in header:
            header = os.path.join(os.path.dirname(path), header)  # installed headers name one another without a folder
        problems += check_quoted(path, header, allowed, known) if quote == '"' else check_angle(header, groups)
    return problems


def check_rooms():
    """A row names only rooms that stand above it: the table has no circle."""
    seen, problems = set(), []
    for room, (below, _) in ROOMS.items():
        problems += [f"'{room}' includes '{name}', which does not stand above it" for name in below.split()
                     if "/" not in name and name not in seen]
        seen.add(room)
    return problems


def count_dragged(header, includes, seen):
    for name in includes.get(header, []):
        if name not in seen:
            seen.add(name)
            count_dragged(name, includes, seen)
    return len(seen)


def find_circles(calls):
    """Sets of files that call one another, by Tarjan's algorithm; @calls: file: files."""
    order, low, stack, circles = {}, {}, [], []

    def visit(path):
        order[path] = low[path] = len(order)
        stack.append(path)
        for other in calls[path]:
            if other not in order:
                visit(other)
            if other in stack:
                low[path] = min(low[path], low[other])
        if low[path] == order[path]:
            at = stack.index(path)
            circles.append(sorted(stack[at:]))
            del stack[at:]

    for path in calls:
        if path not in order:
            visit(path)
    return circles


def list_calls(paths):
    texts = {path: re.sub(r"/\*.*?\*/", "", read(path), flags=re.S) for path in paths}
    owner = {name: path for path, text in texts.items() for name in re.findall(r"^(q\w+)\(", text, re.M)}
    return {path: {owner[name] for name in re.findall(r"\bq\w+", text) if owner.get(name, path) != path}
            for path, text in texts.items()}


def main():
    tap, files = Tap(), c_files()
    known = set(files)
    for path in files:
        tap.case(f"layers/{path}", check_file(path, known))
    tap.case("layers/rooms-have-no-circle", check_rooms())

    names, folders = collections.defaultdict(list), collections.Counter()
    for path in files:
        names[os.path.basename(path)].append(path)
        folders[os.path.dirname(path)] += not path.startswith("tests/")
    tap.case("layers/base-names-are-unique", [" and ".join(paths) for paths in names.values() if len(paths) > 1])
    tap.case("layers/rooms-are-small", [f"{folder} has {n} files, at most {MAX_FILES}" for folder, n in folders.items()
                                        if n > MAX_FILES])
    includes = {path: [name for quote, name in INCLUDE.findall(read(path)) if quote == '"' and name in known] for path in files}
    for header in files:
        if header.endswith(".h") and not header.startswith("tests/"):
            n = count_dragged(header, includes, set())
            tap.case(f"layers/drags/{header}", [f"{header} drags in {n} headers, at most {MAX_DRAGGED}"] if n > MAX_DRAGGED else [])
    for path in files:
        if not path.startswith(("tests/", "daemon/sparql/", "daemon/plan/compile.c")):
            count_dragged(path, includes, seen := set())
            tap.case(f"layers/sees-no-tree/{path}", [f"{path} sees {TREE}"] if TREE in seen else [])
    for folder in sorted(folders):
        if folder not in RECURSIVE and not folder.startswith("tests"):
            circles = find_circles(list_calls([p for p in files if os.path.dirname(p) == folder and p.endswith(".c")]))
            tap.case(f"layers/circles/{folder}", [f"a circle of calls: {' '.join(c)}" for c in circles if len(c) > MAX_CIRCLE])
    for folder in "daemon/rdfio/", "daemon/format/":
        xml_users = [p for p in files if p.startswith(folder) and "libxml/" in read(p)]
        tap.case(f"layers/one-file-uses-libxml2/{folder}", xml_users if len(xml_users) > 1 else [])
    tap.finish()


main()
