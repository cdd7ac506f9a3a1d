# SPDX-License-Identifier: LGPL-2.1-or-later
"""A query of joins with paths that gives no row for a while is begun again by its second plan, and has the same result."""
import pytest

from harness import BusError, World

PREFIX = "PREFIX : <http://example.org/> "
N = 180
TRIPLES = N * (N + 1) * (N + 2) // 6  # x before y, y before or at z
PATTERN = "?x :up+ ?y . ?y :up* ?z OPTIONAL { ?z :up ?w }"


def make_world(trial_ms):
    world = World(limits={"plan_trial_ms": trial_ms})
    chain = " ".join(f":x{i} :up :x{i + 1} ." for i in range(N))
    world.update(PREFIX + f"INSERT DATA {{ {chain} }}", language="sparql")
    return world


@pytest.fixture(scope="module", name="impatient")
def fixture_impatient():
    world = make_world(1)
    yield world
    world.finish()


@pytest.fixture(scope="module", name="patient")
def fixture_patient():
    world = make_world(0)
    yield world
    world.finish()


def count(world, pattern, values=()):
    before = world.stats()["sparql_plans_made_total"]
    ((n,),) = world.query(PREFIX + f"SELECT (COUNT(*) AS ?n) {{ {pattern} }}", values, language="sparql")
    return int(n[0] if isinstance(n, tuple) else n), world.stats()["sparql_plans_made_total"] - before


def test_result_is_the_same(impatient, patient):
    assert count(impatient, PATTERN) == (TRIPLES, 2)
    assert count(patient, PATTERN) == (TRIPLES, 1)
    assert count(impatient, PATTERN) == (TRIPLES, 0), "both plans are kept"


def test_values_are_bound_again(impatient):
    text = PREFIX + f"SELECT (COUNT(*) AS ?n) (SAMPLE($v) AS ?s) {{ {PATTERN} FILTER(BOUND($v)) }}"
    ((n, value),) = impatient.query(text, {"v": 7}, language="sparql")
    assert (str(n[0] if isinstance(n, tuple) else n), str(value[0] if isinstance(value, tuple) else value)) == (str(TRIPLES), "7")


def test_rows_are_given_once(impatient):
    pattern = PATTERN + " ?z :up+ ?v FILTER(?v = :none)"
    assert count(impatient, pattern)[0] == 0
    rows = impatient.query(PREFIX + f"SELECT ?x ?y ?z {{ {PATTERN} }} ORDER BY ?x ?y ?z LIMIT 1000", language="sparql")
    assert len(rows) == len(set(rows)) == 1000


def test_explain_tells(impatient):
    described = impatient.explain(PREFIX + f"SELECT * {{ {PATTERN} }}", language="sparql")
    assert "without a row after a while" in "".join(map(str, described))


def test_deadline_holds(impatient):
    with pytest.raises(BusError, match="Timeout|timeout"):
        count_long = "SELECT (COUNT(*) AS ?n) { " + PATTERN + " ?a :up+ ?z . ?b :up+ ?a }"
        impatient.query(PREFIX + count_long, language="sparql", timeout_ms=300)
