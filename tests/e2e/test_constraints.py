# SPDX-License-Identifier: LGPL-2.1-or-later
"""Details of constraint errors that SQLite reports by codes or words of another error."""

import pytest
from wire_client import RemoteError


def break_constraint(bus, text):
    """The error's code and details."""
    with bus.prepare("SELECT 1", error_details=True) as channel:
        with pytest.raises(RemoteError) as error:
            channel.prepare(text, access="write")
            channel.fetch()
    return error.value.name, error.value.details


def test_added_columns(bus):
    """The rows break the new column's constraint."""
    bus.update("CREATE TABLE t(x)")
    bus.update("INSERT INTO t VALUES(7)")
    for column, kind in (("y CHECK(x <> 7)", "check"), ("z AS (NULL) NOT NULL", "not-null")):
        assert break_constraint(bus, f"ALTER TABLE t ADD COLUMN {column}") == ("Constraint", [("kind", kind), ("table", "t")])
    assert break_constraint(bus, "ALTER TABLE t ADD COLUMN z NOT NULL")[0] == "Syntax"  # whichever rows there are


def test_new_index(bus):
    """Equal rows were there before CREATE UNIQUE INDEX, which is in no schema yet."""
    bus.update('CREATE TABLE t(x, "y, t.x", "a.b", y)')
    bus.update("INSERT INTO t VALUES(7, 7, 7, 7), (7, 7, 7, 7)")
    table = ("kind", "unique"), ("table", "t")
    for columns, details in (
        ("x", [*table, ("column", "x")]),
        ('"a.b", x', [*table, ("column", "a.b"), ("column", "x")]),
        ("y, x", [table[0]]),  # or the one column "y, t.x"
        ("x + 1", [table[0], ("name", "it's"), table[1]]),
    ):
        assert break_constraint(bus, f"CREATE UNIQUE INDEX \"it's\" ON t({columns})") == ("Constraint", details)


def test_virtual_tables(bus):
    """Their modules have codes of their own, without a table."""
    bus.update("CREATE VIRTUAL TABLE f USING fts5(a)")
    bus.update("CREATE VIRTUAL TABLE r USING rtree(i, a, b)")
    for text, table in (
        ("INSERT INTO f(rowid, a) VALUES(1, 'x'), (1, 'y')", "f"),
        ("INSERT INTO r VALUES(1, 1, 2), (1, 1, 2)", "r"),
        ("INSERT INTO r VALUES(1, 5, 2)", "r"),
    ):
        assert break_constraint(bus, text) == ("Constraint", [("kind", "virtual-table"), ("table", table)])


def test_restrict(bus):
    """SQLite compiles it as a trigger without a name; a trigger with the same words is still one."""
    bus.update("CREATE TABLE p(id INTEGER PRIMARY KEY)")
    bus.update("CREATE TABLE r(a REFERENCES p ON DELETE RESTRICT ON UPDATE RESTRICT)")
    bus.update("CREATE TABLE t(x)")
    bus.update("CREATE TRIGGER raises BEFORE INSERT ON t BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END")
    bus.update("INSERT INTO p VALUES(1)")
    bus.update("INSERT INTO r VALUES(1)")
    key = [("kind", "foreign-key"), ("table", "r"), ("column", "a")]
    assert break_constraint(bus, "DELETE FROM p WHERE id = 1") == ("Constraint", key)
    assert break_constraint(bus, "UPDATE p SET id = 5") == ("Constraint", key)
    assert break_constraint(bus, "INSERT INTO t VALUES(1)") == ("Constraint", [("kind", "trigger")])
    bus.update("CREATE TRIGGER also BEFORE DELETE ON p WHEN old.id = 7 BEGIN INSERT INTO t VALUES(1); END")
    assert break_constraint(bus, "DELETE FROM p WHERE id = 1")[1][0] == ("kind", "trigger")  # one of both
