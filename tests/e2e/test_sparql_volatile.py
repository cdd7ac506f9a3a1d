# SPDX-License-Identifier: LGPL-2.1-or-later
"""A value of RAND, UUID, STRUUID or BNODE is made once for a solution, wherever its variable is named afterwards."""
import json
import re

import pytest

from harness import World

PREFIX = "PREFIX : <http://example.org/> "
N_SUBJECTS = 5

# (pattern that binds ?r and ?q to F's value, distinct values: None stands for one of each subject)
PATTERNS = [
    ("?s :p ?o BIND(F AS ?r) BIND(?r AS ?q)", None),
    ("?s :p ?o BIND(F AS ?r) BIND(?r AS ?m) BIND(?m AS ?q)", None),
    ("?s :p ?o BIND(IF(?o < 9, F, 0) AS ?r) BIND(COALESCE(?r, ?o) AS ?q)", None),
    ("?s :p ?o BIND(F AS ?r) BIND(?r AS ?q) FILTER(sameTerm(?r, ?q))", None),
    ("?s :p ?o { SELECT (F AS ?r) (?r AS ?q) {} }", 1),
    ("{ SELECT ?s (F AS ?r) { ?s :p ?o } ORDER BY ?r LIMIT 3 } ?s :p ?o BIND(?r AS ?q)", 3),
    ("{ SELECT ?s (SAMPLE(?o) AS ?x) (F AS ?r) (?r AS ?q) { ?s :p ?o } GROUP BY ?s }", None),
    ("{ SELECT ?r (SAMPLE(?r) AS ?q) { ?s :p ?o } GROUP BY (F AS ?r) HAVING (sameTerm(?r, ?r)) }", None),
    ("?s :p ?o OPTIONAL { ?s :p ?x BIND(F AS ?r) BIND(?r AS ?q) }", None),
    ("?s :p ?o BIND(F AS ?r) OPTIONAL { ?s :p ?x BIND(?x AS ?y) } BIND(?r AS ?q)", None),
    ("?s :p ?o BIND(F AS ?r) { ?s :p ?x } UNION { ?s :p ?x } BIND(?r AS ?q)", None),
    ("{ ?s :p ?o BIND(F AS ?r) BIND(?r AS ?q) } UNION { ?s :p ?o BIND(F AS ?r) BIND(?r AS ?q) }", 2 * N_SUBJECTS),
    ("?s :p ?o BIND(F AS ?r) BIND(?r AS ?q) FILTER EXISTS { ?s :p ?x FILTER(sameTerm(?r, ?q)) }", None),
    ("?s :p ?o BIND(F AS ?r) BIND(?r AS ?q) MINUS { ?s :none ?x }", None),
    ("GRAPH ?g { ?s :p ?o BIND(F AS ?r) } BIND(?r AS ?q)", None),
]
FUNCTIONS = ["UUID()", "STRUUID()", "RAND()", "BNODE()"]


@pytest.fixture(scope="module")
def store():
    world = World()
    triples = " ".join(f":s{i} :p {i} ." for i in range(N_SUBJECTS))
    world.update(PREFIX + f"INSERT DATA {{ {triples} GRAPH :g {{ {triples} }} }}", language="sparql")
    yield world
    world.finish()


def rows_of(world, text):
    _, body, _ = world.query_text(PREFIX + text, "sparql-json", language="sparql")
    return [{name: cell["value"] for name, cell in row.items()} for row in json.loads(body)["results"]["bindings"]]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("pattern, n_values", PATTERNS)
@pytest.mark.parametrize("modifier", ["", "DISTINCT", "ORDER BY"])
def test_select(store, pattern, n_values, function, modifier):
    pattern = re.sub(r"\bF\b", function, pattern)
    text = f"SELECT {'DISTINCT' if modifier == 'DISTINCT' else ''} ?r ?q {{ {pattern} }}"
    rows = rows_of(store, text + (" ORDER BY ?r" if modifier == "ORDER BY" else ""))
    assert all(row["r"] == row["q"] for row in rows), text
    assert len({row["r"] for row in rows}) == (N_SUBJECTS if n_values is None else n_values), text


@pytest.mark.parametrize("function", FUNCTIONS[:3])
def test_templates(store, function):
    where = f"{{ ?s :p ?o BIND({function} AS ?r) BIND(?r AS ?q) }}"
    triples = store.query(PREFIX + f"CONSTRUCT {{ ?s :r ?r ; :q ?q }} {where}", language="sparql")
    assert len({row[2] for row in triples}) == N_SUBJECTS
    store.update(PREFIX + f"INSERT {{ ?s :r ?r ; :q ?q }} WHERE {where}", language="sparql")
    try:
        rows = rows_of(store, "SELECT ?r ?q { ?s :r ?r ; :q ?q }")
        assert len(rows) == N_SUBJECTS and all(row["r"] == row["q"] for row in rows)
    finally:
        store.update(PREFIX + "DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(?p IN (:r, :q)) }", language="sparql")


def test_now(store):
    """One moment for a whole query, and for a whole request of several operations."""
    assert len(rows_of(store, "SELECT DISTINCT ?r { ?s :p ?o BIND(NOW() AS ?r) FILTER(?r = NOW()) }")) == 1
    insert = "INSERT { ?s :now ?r } WHERE { ?s :p ?o BIND(NOW() AS ?r) }"
    store.update(PREFIX + insert + " ; " + insert, language="sparql")
    assert len(rows_of(store, "SELECT ?r { ?s :now ?r }")) == N_SUBJECTS
    assert len(rows_of(store, "SELECT DISTINCT ?r { ?s :now ?r }")) == 1


def test_a_condition_of_a_group_decides_each_solution(store):
    """Filter(expr, Ω) of section 18.6: the solutions of the whole group, those that a product makes of one, too."""
    found = []
    for _ in range(20):
        rows = rows_of(store, "SELECT ?s ?y { ?s :p ?o FILTER(RAND() < 0.5) { BIND(1 AS ?y) } UNION { BIND(2 AS ?y) } }")
        found.append([sorted(row["s"] for row in rows if row["y"] == y) for y in ("1", "2")])
    assert any(one != two for one, two in found)  # equal by chance: once in 32 for each
    assert any(0 < len(part) < N_SUBJECTS for parts in found for part in parts)


def test_conditions(store):
    """What a condition has decided holds for all that is made of the solution; a long IN asks for one value."""
    members = ", ".join(str(i) for i in range(1000))
    rows = rows_of(store, f"SELECT ?x {{ ?s :p ?o BIND((FLOOR(RAND() * 1000)) IN ({members}) AS ?x) }}")
    assert [row["x"] for row in rows] == ["true"] * N_SUBJECTS
    for _ in range(20):
        rows = rows_of(store, "SELECT ?s ?y { { ?s :p ?o FILTER(RAND() < 0.5) } { BIND(1 AS ?y) } UNION { BIND(2 AS ?y) } }")
        assert sorted(row["s"] for row in rows if row["y"] == "1") == sorted(row["s"] for row in rows if row["y"] == "2")
        rows = rows_of(store, "SELECT ?r ?q { ?s :p ?o BIND(EXISTS { ?s :p ?x FILTER(RAND() < 0.5) } AS ?r) BIND(?r AS ?q) }")
        assert all(row["r"] == row["q"] for row in rows)
