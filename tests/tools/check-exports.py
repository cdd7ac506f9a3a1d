#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The shared library exports exactly the functions of its public headers, as its symbol map says, and nothing but query_*.

What its own module calls has a version of its own, and is what the map lists there. The Debian package's symbols file lists all
of them with the release that brought each; check-exports.py BUILD --fix adds what is new and removes what is gone.
"""
import glob
import os
import re
import subprocess
import sys

from tap import ROOT, Tap, public_headers, read


def declared(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^\s*#.*(\\\n.*)*$", "", text, flags=re.M)
    names = set(re.findall(r"\b(query_\w+)\s*\(", text))
    names |= {f"{prefix}_get_type" for prefix in re.findall(r"G_DECLARE_\w+\(\s*\w+,\s*(query_\w+)", text)}
    return names


def without_version(text):
    """Functions whose declaration does not say since when they exist."""
    found = re.findall(r"^(.*)\n\w[\w *]*?\b(query_\w+)\(", text, re.M)
    return sorted(name for before, name in found if not before.startswith("QUERY_AVAILABLE_IN_"))


PRIVATE = "QUERY_CLIENT_PRIVATE"
SYMBOLS = "data/debian/libquery-client-1-0.symbols"


def exported(library):
    """Names with their versions."""
    out = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    fields = [line.split() for line in out.splitlines()]
    return [f[-1].split("@")[::len(f[-1].split("@")) - 1] for f in fields if len(f) == 3 and f[1] != "A"]


def mapped(text, version):
    body = re.search(version + r"\b[^{]*\{.*?global:(.*?)(local:|\})", text, re.S)
    return {n.strip() for n in re.sub(r"/\*.*?\*/|#.*", "", body.group(1), flags=re.S).split(";") if n.strip()} if body else set()


def difference(have, want, have_name, want_name):
    return ([f"in {have_name}, not in {want_name}: {n}" for n in sorted(have - want)] +
            [f"in {want_name}, not in {have_name}: {n}" for n in sorted(want - have)])


def renew_symbols(library_symbols):
    """Known symbols keep their release; new ones are of this one."""
    release = re.search(r"version: '([\d.]+)'", read("meson.build")).group(1)
    head = [line for line in read(SYMBOLS).splitlines() if not line.startswith(" ")]
    known = dict(line.split() for line in read(SYMBOLS).splitlines() if line.startswith(" "))
    with open(os.path.join(ROOT, SYMBOLS), "w", encoding="utf-8") as stream:
        stream.writelines(line + "\n" for line in head)
        stream.writelines(f" {symbol} {known.get(symbol, release)}\n" for symbol in sorted(library_symbols))


def main():
    tap = Tap()
    libraries = [p for p in glob.glob(os.path.join(sys.argv[1], "client-lib", "libquery-client-1.so*")) if not p.endswith(".p")]
    maps = glob.glob(os.path.join(ROOT, "client-lib", "*.map"))
    if not libraries:
        tap.skip("exports/library", "the library is not built")
        tap.finish()
    symbols = exported(os.path.realpath(libraries[0]))
    headers = set().union(*(declared(read(p)) for p in public_headers()))
    library = {name for name, version in symbols if version != PRIVATE}
    private = {name for name, version in symbols if version == PRIVATE}
    text = read(os.path.relpath(maps[0], ROOT))
    names = mapped(text, "QUERY_CLIENT_1")
    tap.case("exports/library-is-headers", difference(library, headers, "the library", "the public headers"))
    tap.case("exports/versions", [f"{path}: {name}() without QUERY_AVAILABLE_IN_…" for path in public_headers()
                                  for name in without_version(read(path))])
    tap.case("exports/only-query", [n for n in sorted(library | private) if not n.startswith("query_")])
    tap.case("exports/library-is-map", difference(library, names, "the library", maps[0]) if "query_*" not in names else [])
    packaged = {"@".join(symbol) for symbol in symbols} | {f"{version}@{version}" for _name, version in symbols}
    if "--fix" in sys.argv:
        renew_symbols(packaged)
    listed = {line.split()[0] for line in read(SYMBOLS).splitlines() if line.startswith(" ")}
    tap.case("exports/symbols-of-package", [f"{p}; tests/tools/check-exports.py {sys.argv[1]} --fix renews it"
                                            for p in difference(packaged, listed, "the library", SYMBOLS)])
    tap.case("exports/for-the-module", difference(private, mapped(text, PRIVATE), "the library", maps[0]))
    tap.finish()


main()
