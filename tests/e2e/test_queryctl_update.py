# SPDX-License-Identifier: LGPL-2.1-or-later
"""queryctl update: what it refuses, and what it says of an update whose rows cannot be shown."""
import subprocess

import pytest

from harness import SLOWER
from test_queryctl import QUERY, Ctl


@pytest.fixture
def ctl(bus):
    return Ctl(bus)


@pytest.mark.parametrize("arguments", [("SELECT 1",), ("WITH a AS (SELECT 1) SELECT * FROM a",), ("VALUES (1)",),
                                       ("EXPLAIN SELECT 1",),
                                       ("--sparql", "SELECT * { ?s ?p ?o }")])
def test_an_update_that_changes_nothing(ctl, arguments):
    """As Update by D-Bus."""
    assert "changes nothing: run it as a query" in ctl.fails(QUERY, "update", *arguments)


def test_an_update_by_with(ctl):
    ctl.ok("update", "CREATE TABLE t (a)")
    ctl.ok("update", "WITH a(b) AS (VALUES (1)) INSERT INTO t SELECT b FROM a")
    ctl.ok("update", "REINDEX")
    assert ctl.ok("sql", "SELECT a FROM t") == b"a\n1\n"


@pytest.mark.parametrize("n_bytes", [1, 300000])
def test_what_is_done_is_said_where_it_cannot_be_shown(ctl, n_bytes):
    ctl.ok("update", "CREATE TABLE t (a)")
    with open("/dev/full", "wb") as full:
        run = subprocess.run([ctl.world.queryctl, "update", f"INSERT INTO t VALUES (1), (2) RETURNING zeroblob({n_bytes})"],
                             env=ctl.world.env, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60 * SLOWER)
    assert run.returncode == QUERY and b"the update is done (2 rows changed)" in run.stderr
    assert b"cannot write the output" in run.stderr
    assert ctl.ok("sql", "SELECT count(*) AS n FROM t") == b"n\n2\n"
