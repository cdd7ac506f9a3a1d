#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Includes against the table of layers (docs/architecture.md): project headers, third-party headers, unique base names.

A folder is a layer. An include that the table does not allow is a failure, and so is a header that nobody has classified.
"""
import collections
import os
import re

from tap import Tap, c_files, public_headers, read

WIRE, TEXT, BASE, RDF, STORE = "client-lib/wire/", "client-lib/text/", "daemon/base/", "daemon/rdf/", "daemon/store/"
SPARQL, FUNCTIONS, EXEC, BUS, MAIN = "daemon/sparql/", "daemon/functions/", "daemon/exec/", "daemon/bus/", "daemon/main/"
PUBLIC = "client-lib/query-client.h"
PUBLIC_HEADERS = public_headers()

# folder: (project prefixes or files, third-party groups); the longest matching folder counts
LAYERS = {
    WIRE: ([WIRE], []),
    TEXT: ([WIRE, TEXT], ["glib"]),
    BASE: ([WIRE, BASE], ["glib", "nettle", "sd-event", "sd-journal"]),
    RDF: ([WIRE, BASE, RDF], ["glib", "libxml2"]),
    STORE: ([WIRE, BASE, RDF, STORE], ["glib", "sqlite3"]),
    SPARQL: ([WIRE, BASE, RDF, SPARQL, STORE + "catalog.h"], ["glib"]),
    FUNCTIONS: ([WIRE, BASE, RDF, FUNCTIONS, STORE + "sqlite-error.h"], ["glib", "sqlite3", "pcre2"]),
    EXEC: ([WIRE, TEXT, BASE, RDF, STORE, SPARQL, FUNCTIONS, EXEC], ["glib", "sqlite3", "libxml2"]),
    BUS: ([WIRE, BASE, RDF, STORE, SPARQL, FUNCTIONS, EXEC, BUS], ["glib", "sd-bus", "sd-event"]),
    MAIN: (["client-lib/wire/", "daemon/"], ["glib", "sd-bus", "sd-event", "sd-daemon", "sd-journal"]),
    "client-lib/": ([WIRE, TEXT, "client-lib/query-"], ["glib", "gio"]),
    # direct connections run the daemon's reader (daemon/meson.build, reader_lib) and nothing else of it
    "client-lib/query-direct": (
        [WIRE, "client-lib/query-", BASE + "error.h", BASE + "limits.h", STORE + "connection.h", STORE + "file-check.h",
         EXEC + "bind.h", EXEC + "pool.h", EXEC + "run.h"], ["glib", "gio", "sqlite3"]),
    "client-lib/queryctl/": ([PUBLIC, WIRE + "wire-value.h", TEXT, "client-lib/queryctl/"], ["glib", "gio", "libedit", "public"]),
    "tests/": ([""], ["glib", "gio", "sqlite3", "sd-bus", "sd-event", "sd-daemon", "public"]),
    "tests/bench/": ([""], ["glib", "gio", "sqlite3", "sd-bus", "lmdb", "peers", "public"]),
    "docs/": ([""], ["glib", "gio", "public"]),
}
THIRD_PARTY = [
    ("glib", r"glib(-object|-unix)?\.h|glib/.*|gmodule\.h|gobject/.*"), ("gio", r"gio/.*"), ("sqlite3", r"sqlite3(ext)?\.h"),
    ("libxml2", r"libxml/.*"), ("pcre2", r"pcre2\.h"), ("sd-bus", r"systemd/sd-bus(-.*)?\.h"), ("sd-event", r"systemd/sd-event\.h"),
    ("sd-daemon", r"systemd/sd-daemon\.h"), ("sd-journal", r"systemd/sd-(journal|messages|id128)\.h"),
    ("lmdb", r"lmdb\.h"), ("peers", r"libpq-fe\.h|mysql\.h"),
    ("nettle", r"nettle/.*\.h"), ("libedit", r"histedit\.h|editline/.*"), ("public", r"query-client\.h"),
]
LIBC = re.compile(
    r"(alloca|assert|cpuid|ctype|dirent|dlfcn|endian|err|errno|fcntl|fenv|float|ftw|getopt|immintrin|inttypes|langinfo|limits|"
    r"locale|malloc|math|memory|poll|pthread|pwd|regex|sched|setjmp|signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|"
    r"stdlib|string|strings|syscall|sysexits|syslog|termios|threads|time|unistd|wchar|wctype)\.h|"
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


def main():
    tap, files = Tap(), c_files()
    known = set(files)
    for path in files:
        tap.case(f"layers/{path}", check_file(path, known))

    names = collections.defaultdict(list)
    for path in files:
        names[os.path.basename(path)].append(path)
    tap.case("layers/base-names-are-unique", [" and ".join(paths) for paths in names.values() if len(paths) > 1])
    for folder in RDF, EXEC:
        xml_users = [p for p in files if p.startswith(folder) and "libxml/" in read(p)]
        tap.case(f"layers/one-file-uses-libxml2/{folder}", xml_users if len(xml_users) > 1 else [])
    tap.finish()


main()
