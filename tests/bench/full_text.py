#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times of full-text search and rdf_quad on a file of the Berlin SPARQL Benchmark: tests/bench/full_text.py FILE.nt

Needs a build (QUERYD_BUILD_DIR, default build/). Prints what docs/full-text.md tells.
"""
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
import harness  # noqa: E402
from gi.repository import GLib  # noqa: E402

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
PREFIXES = ("PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX rev: <http://purl.org/stuff/rev#> "
            "PREFIX bsbm: <http://www4.wiwiss.fu-berlin.de/bizer/bsbm/v01/vocabulary/> PREFIX fts: <http://queryd.org/fts#> ")
QUERIES = [
    ("subjects", "SELECT ?s { ?s fts:match '%s' }"),
    ("of a type", "SELECT ?s { ?s fts:match '%s' . ?s a bsbm:Product }"),
    ("best 10, snippets", "SELECT ?s (fts:snippet(?s) AS ?x) { ?s fts:match ('%s' 10) } ORDER BY DESC(fts:rank(?s))"),
    ("snippets, LIMIT 10", "SELECT ?s (fts:snippet(?s) AS ?x) { ?s fts:match '%s' } ORDER BY DESC(fts:rank(?s)) LIMIT 10"),
    ("FILTER EXISTS", "SELECT ?s { ?s a bsbm:Product FILTER EXISTS { ?s fts:match '%s' } }"),
    ("OPTIONAL", "SELECT ?s ?l { ?s a bsbm:Product OPTIONAL { (?s ?r ?l) fts:match '%s' } }"),
]


def timed(call, *arguments):
    start = time.monotonic()
    call(*arguments)
    return time.monotonic() - start


def set_full_text(world, **options):
    kinds = {"add": "as"}
    world.call("SetFullText", "(a{sv})", {key: GLib.Variant(kinds.get(key, "b"), value) for key, value in options.items()},
               interface=harness.MANAGER)


def load(world, path):
    fd = os.open(path, os.O_RDONLY)
    try:
        seconds = timed(world.import_fd, fd, "ntriples")
    finally:
        os.close(fd)
    n_quads = world.query("SELECT sum(n_quads) FROM queryd_predicate")[0][0]
    size = os.path.getsize(os.path.join(world.store, "queryd.db")) >> 20
    print(f"import {seconds:.2f} s, {n_quads / seconds:.0f} triples/s, {size} MiB")


def measure_updates(world, name):
    insert = f'INSERT DATA {{ <http://e/{name}-%d> <{LABEL}> "some fresh words %d" }}'
    seconds = timed(lambda: [world.update(insert % (i, i), language="sparql") for i in range(300)])
    print(f"{name}: one label in an update {seconds / 300 * 1e3:.2f} ms")
    triples = " . ".join(f'<http://e/{name}/{i}> <{LABEL}> "words number {i} of {name}"' for i in range(5000))
    seconds = timed(lambda: world.update("INSERT DATA {" + triples + "}", language="sparql"))
    print(f"{name}: 5000 labels in an update {seconds * 1e3:.0f} ms")


def measure(world, name, text, language="sparql"):
    with world.prepare(text, language=language) as channel:
        n_rows = len(channel.fetch())
        seconds = statistics.median(timed(channel.fetch) for _ in range(7))
    print(f"{name:32} {n_rows:6} rows  {seconds * 1e3:.2f} ms")


def main(path):
    world = harness.World()
    try:
        set_full_text(world, all=True)
        load(world, path)
    finally:
        world.finish()
    world = harness.World()
    try:
        world.query("SELECT 1")
        load(world, path)
        measure_updates(world, "off")
        print(f"index of labels {timed(lambda: set_full_text(world, add=[LABEL])):.2f} s")
        print(f"index of all {timed(lambda: set_full_text(world, all=True)):.2f} s")
        measure_updates(world, "on")
        print(f"check {timed(world.check):.2f} s, fulltext check {timed(lambda: set_full_text(world, check=True)):.2f} s")
        label = world.query("SELECT object, subject FROM rdf_quad WHERE predicate=? LIMIT 1", [LABEL])[0]
        for word in (label[0].split()[0], '"a"*'):
            print(word, world.query("SELECT count(*) FROM queryd_fts WHERE queryd_fts MATCH ?", [word])[0][0], "literals")
            for name, query in QUERIES:
                measure(world, name, PREFIXES + query % word)
        word = label[0].split()[0]
        measure(world, "regex of labels", PREFIXES + f'SELECT ?s {{ ?s rdfs:label ?l FILTER regex(?l, "{word}", "i") }}')
        measure(world, "CONTAINS of reviews", PREFIXES + f'SELECT ?s {{ ?s rev:text ?l FILTER CONTAINS(LCASE(?l), "{word}") }}')
        measure(world, "rdf_quad by subject", f"SELECT predicate, object FROM rdf_quad WHERE subject='{label[1]}'", "sql")
        measure(world, "rdf_quad of a predicate", f"SELECT subject, object FROM rdf_quad WHERE predicate='{LABEL}'", "sql")
    finally:
        world.finish()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: full_text.py FILE.nt")
    main(sys.argv[1])
