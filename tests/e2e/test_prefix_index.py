# SPDX-License-Identifier: LGPL-2.1-or-later
"""LIKE and GLOB are functions of the daemon, and an index serves a pattern that begins with a prefix all the same."""
import pytest

from harness import BusError

CONDITIONS = ("folded LIKE 'abc%'", "folded LIKE 'ab!%%' ESCAPE '!'", "exact GLOB 'abc*'", "exact GLOB 'a[b]c*'")


@pytest.fixture(name="store")
def make_store(make_bus):
    store = make_bus()
    store.update("CREATE TABLE t (folded TEXT COLLATE NOCASE, exact TEXT)")
    store.update("CREATE INDEX i ON t (folded)")
    store.update("CREATE INDEX j ON t (exact)")
    store.update("INSERT INTO t VALUES ('Abcd', 'abcd'), ('ab%', 'ab%'), ('x', 'x')")
    return store


@pytest.mark.parametrize("condition", CONDITIONS)
def test_index_serves_prefix(store, condition):
    plan = store.query(f"EXPLAIN QUERY PLAN SELECT count(*) FROM t WHERE {condition}")
    assert plan[0][3].startswith("SEARCH t USING"), plan
    assert store.query(f"SELECT count(*) FROM t WHERE {condition}") == [(1,)]


def test_own_functions_may_stand_in_definitions(store):
    store.update("CREATE TABLE d (x TEXT CHECK (x GLOB 'a*' AND x LIKE '%B'), y AS (x LIKE 'a%'))")
    store.update("CREATE INDEX d_like ON d (x) WHERE x LIKE 'A%'")
    store.update("INSERT INTO d (x) VALUES ('ab')")
    with pytest.raises(BusError) as error:
        store.update("INSERT INTO d (x) VALUES ('Ab')")
    assert error.value.name == "Constraint"
    assert store.query("SELECT y FROM d") == [(1,)]
    assert store.query("PRAGMA integrity_check") == [("ok",)]
