# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pragmas that queryctl keeps for the updates and transactions of a run, and what it tells of them."""
import pytest

from test_queryctl import OK, QUERY, Ctl


@pytest.fixture(name="ctl")
def make_ctl(bus):
    return Ctl(bus)


@pytest.mark.parametrize("verb", ["update", "shell"])
@pytest.mark.parametrize("between", ["", "SELECT 1;", "PRAGMA user_version;", "PRAGMA defer_foreign_keys;",
                                     "SELECT * FROM pragma_defer_foreign_keys;"])
def test_deferring_lasts_until_commit(ctl, verb, between):
    """Questions before it leave it."""
    ctl.ok("update", "CREATE TABLE p (a PRIMARY KEY); CREATE TABLE c (b REFERENCES p)")
    transaction = "BEGIN;\nINSERT INTO c VALUES ({0});\nINSERT INTO p VALUES ({0});\nCOMMIT;\n"
    run = ctl(verb, stdin=("PRAGMA defer_foreign_keys=ON;\n" + between + "\n" + transaction.format(1)).encode())
    assert run.returncode == OK, run.stderr
    run = ctl(verb, stdin=("PRAGMA defer_foreign_keys=ON;\n" + transaction.format(2) + transaction.format(3)).encode())
    assert run.returncode == QUERY and b"FOREIGN KEY" in run.stderr
    assert ctl.ok("sql", "--no-header", "SELECT b FROM c") == b"1\n2\n"


@pytest.mark.parametrize("verb", ["update", "shell"])
@pytest.mark.parametrize("name", ["main.foreign_keys", "\"foreign_keys\"", "[foreign_keys]", "main . `foreign_keys` /* all */"])
def test_ways_to_write_a_setting(ctl, verb, name):
    """As SQLite takes them. What is compiled without keys needs no table that they name."""
    ctl.ok("update", "CREATE TABLE c (b REFERENCES gone)")
    text = f"PRAGMA {name}=OFF;\nINSERT INTO c VALUES (1);\nPRAGMA {name};\nSELECT * FROM pragma_foreign_keys;\n"
    run = ctl(verb, stdin=text.encode())
    assert (run.returncode, run.stdout) == (OK, b"foreign_keys\n0\n" * 2), run.stderr
    assert "gone" in ctl.fails(QUERY, "update", f"PRAGMA foreign_keys=OFF; PRAGMA {name}=ON; INSERT INTO c VALUES (2)")


def test_setting_that_cannot_be(ctl):
    """It fails where it stands, not at the next update."""
    run = ctl("shell", stdin=b"PRAGMA foreign_keys OFF;\n")
    assert run.returncode == QUERY and b"syntax error" in run.stderr


def test_raise_without_words(ctl):
    """SQLite's words for the code stand for them."""
    ctl.ok("update", "CREATE TABLE t (a); CREATE TRIGGER r BEFORE INSERT ON t BEGIN SELECT RAISE(ABORT, ''); END")
    assert "queryctl: constraint failed\n" in ctl.fails(QUERY, "update", "INSERT INTO t VALUES (1)")
