# SPDX-License-Identifier: LGPL-2.1-or-later
"""What SQL may call through queryd: what it tells, what it costs, and which errors it gives."""
import time

import pytest

from harness import SLOWER, BusError

RDF = "INSERT DATA { <http://e/s> <http://e/p> 'a literal', 'another'@en }"


@pytest.mark.parametrize("call", [
    "queryd_sort_key(5)", "queryd_str_text(5)", "queryd_to_term(5)", "queryd_ebv(7)", "queryd_eq(5, 6)", "queryd_lt(7, 11)",
    "queryd_equality_key(5)",
    "queryd_str_text(9223372036854775807)", "queryd_str_text(4)", "queryd_eval(x'00')", "queryd_eval(1)", "queryd_test('x', 1)",
    "queryd_sum(7)", "queryd_avg(7)", "queryd_min(7)", "queryd_max(7)", "queryd_group_concat(5)", "queryd_group_list(5)",
    "queryd_list_join(x'ffffffff00', 5)", "queryd_match_text(5)", "queryd_steps(1)", "queryd_steps('*', 1, 2, 3)",
    "(SELECT count(*) FROM queryd_closure(5, 'x', 0))", "(SELECT count(*) FROM queryd_closure(5, queryd_steps('*', 1, 5), 0))",
    "(SELECT count(*) FROM queryd_tally('=s00', queryd_tally_ids(5)))", "(SELECT count(*) FROM queryd_tally('=x', 5))",
    "(SELECT count(*) FROM queryd_tally('#p7', NULL))", "queryd_sum(7, -9223372036854775808)", "queryd_avg(7, 'x')",
    "(SELECT count(*) FROM queryd_rdf_quad WHERE subject_id=5)", "queryd_payload(5)", "queryd_payload(-1)", "queryd_payload('x')",
])
def test_nonsense_says_nothing_of_the_file(bus, call):
    """Ids and programs that no one has made are mistakes of the caller's; Corrupt would have the store examined."""
    for with_rdf in (False, True):
        if with_rdf:
            bus.update(RDF, language="sparql")
        try:
            bus.query(f"SELECT {call}")
        except BusError as error:
            assert error.name in ("BadParameter", "Syntax"), error


def test_ids_that_stand_for_nothing(bus):
    bus.update(RDF, language="sparql")
    with pytest.raises(BusError, match="BadParameter: no term has the id 5"):
        bus.query("SELECT queryd_sort_key(5)")


def test_an_index_that_does_not_fit_is_no_damage(bus):
    """FTS5 with content of its own calls that a malformed disk image."""
    for text in ("CREATE TABLE note(id INTEGER PRIMARY KEY, body)", "INSERT INTO note VALUES(1, 'red'), (2, 'green')",
                 "CREATE VIRTUAL TABLE note_fts USING fts5(body, content='note', content_rowid='id')",
                 "INSERT INTO note_fts(note_fts) VALUES('rebuild')", "DELETE FROM note WHERE id=1"):
        bus.update(text)
    with pytest.raises(BusError, match="Constraint: the index of a virtual table does not fit its content: rebuild it"):
        bus.query("SELECT body FROM note_fts WHERE note_fts MATCH 'red'")
    with pytest.raises(BusError, match="Constraint: the index of a virtual table does not fit its content: rebuild it"):
        bus.update("INSERT INTO note_fts(note_fts, rank) VALUES('integrity-check', 1)")
    bus.update("INSERT INTO note_fts(note_fts) VALUES('rebuild')")
    assert bus.query("SELECT body FROM note_fts WHERE note_fts MATCH 'green'") == [("green",)]


@pytest.mark.parametrize("text, words", [
    ("SELECT sql FROM sqlite_stmt", "no such table: sqlite_stmt"),
    ("SELECT 1 FROM sqlite_schema NATURAL FULL JOIN sqlite_stmt", "no such table: sqlite_stmt"),
    ("SELECT data FROM sqlite_dbpage", "no such table"),
])
def test_what_is_no_clients_business(bus, text, words):
    bus.query("SELECT 'a text that no one else shall see'")
    for call in (bus.query, bus.update):
        with pytest.raises(BusError, match=words):
            call(text)


# Built within the statement: texts and blobs of 8 MiB, and what takes the functions long. {n} is a number of bytes.
EXTREMES = ["zeroblob({n})", "printf('%.{n}c', 'a')", "replace(hex(zeroblob({n}/2)), '0', '1')", "-9223372036854775808", "1e308",
            "NULL", "''", "'[' || substr(replace(hex(zeroblob({n}/4)), '00', '1,'), 1, {n}/4) || '1]'",
            "'$[#-1]'", "'%a' || replace(hex(zeroblob(99)), '0', '_')"]
VALUE_BYTES = 8 << 20
DEADLINE_MS, LATE_SECONDS = 500, 2.0  # generous: a call in one piece may take some 100 ms, and a machine of tests may be busy
LIMITS = ("Timeout", "TooBig", "TooComplex", "NoMemory")
ORDINARY = LIMITS + ("Syntax", "BadParameter", "AccessDenied", "Unsupported", "Constraint", "Cancelled")


def arguments_of(n, i):
    """@n arguments, of which the @i-th combination begins with another extreme."""
    return ", ".join(EXTREMES[(i + k * 3) % len(EXTREMES)].format(n=VALUE_BYTES) for k in range(n))


@pytest.mark.parametrize("module", ["json_each", "json_tree", "fts3tokenize", "dbstat", "pragma_integrity_check",
                                    "pragma_quick_check", "pragma_table_info", "pragma_foreign_key_check"])
def test_every_table_valued_function_ends_in_time(bus, module):
    for i in range(len(EXTREMES)):
        start = time.monotonic()
        try:
            bus.query(f"SELECT count(*) FROM {module}({arguments_of(1, i)})", timeout_ms=DEADLINE_MS)
        except BusError as error:
            assert error.name in ORDINARY, error
        assert time.monotonic() - start < DEADLINE_MS / 1000 + LATE_SECONDS * SLOWER


@pytest.mark.parametrize("column", ["length(randomblob(30000000 + {i}))", "length(printf('%.30000000c', {i}))",
                                    "length(hex(zeroblob(15000000 + {i})))", "length(upper(x || {i}))", "length(x || {i})",
                                    "length(replace(x, '1', '{i}'))", "length(trim(x, {i}))"])
def test_a_row_without_a_jump(bus, column):
    """SQLite looks at the deadline where its program jumps: 1,000 columns are one piece to it."""
    columns = ", ".join(column.format(i=i) for i in range(1000))
    start = time.monotonic()
    with pytest.raises(BusError) as raised:
        bus.query(f"WITH v(x) AS MATERIALIZED (SELECT replace(hex(zeroblob(8000000)), '0', '1')) SELECT {columns} FROM v",
                  timeout_ms=DEADLINE_MS)
    assert raised.value.name in ("Timeout", "TooBig", "NoMemory")
    assert time.monotonic() - start < DEADLINE_MS / 1000 + LATE_SECONDS * SLOWER
