# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pictures that the report begins with and the README shows, with a sentence each; none where its figures are not there."""
from pictures import Picture

RESULTS = {"queryd": "queryd", "direct": "SQLite, read directly", "PostgreSQL, single rows": "PostgreSQL, single rows",
           "MariaDB, prepared, streamed": "MariaDB, prepared, streamed"}
COMMITS = ("queryd", "SQLite", "PostgreSQL", "MariaDB")


def draw_results(figures):
    found = dict(figures.values("fetch", "time_kept"))
    if not {"queryd", "PostgreSQL, single rows"} <= found.keys():
        return None
    picture = Picture("results", 1, 760, 260)
    picture.panel("A result of 300,000 rows of 31 values, kept in the client's memory", "ms", "", "unset key")
    picture.bars({"": [(label, found[case]) for case, label in RESULTS.items() if case in found]}, 0)
    return picture.svg()


def draw_sparql(figures):
    series = {system: [(label, value) for label, metric in (("explore", "explore.mean"), ("business intelligence", "bi.mean"))
                       for case, value in figures.values("sparql", metric) if case == system] for system in ("queryd", "Oxigraph")}
    if not all(series.values()):
        return None
    picture = Picture("sparql", 1, 760, 260)
    picture.panel("Berlin SPARQL Benchmark, geometric mean of a query's median time", "ms", "", "set logscale x")
    picture.bars(series, 0.01)
    return picture.svg()


def draw_commits(figures):
    curves = figures.curves("inserts", "rate", lambda case: case in COMMITS)
    if not {"queryd", "PostgreSQL"} <= curves.keys():
        return None
    picture = Picture("commits", 1, 760, 340)
    picture.panel("Durable commits of one row, all clients together", "clients", "commits a second", "set logscale xy",
                  "set format y '%.0s%c'")
    picture.curves({name: curves[name] for name in COMMITS if name in curves})
    return picture.svg()


HEADLINES = {
    "results": (draw_results, "A whole result through queryd, beside reading the file and beside two servers."),
    "sparql": (draw_sparql, "SPARQL queries beside Oxigraph."),
    "commits": (draw_commits, "Clients that write at the same time share commits; each is durable before its answer."),
}
