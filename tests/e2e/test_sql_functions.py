# SPDX-License-Identifier: LGPL-2.1-or-later
"""What SQL may call through queryd: what it tells, what it costs, and which errors it gives."""
import pytest

from harness import BusError

RDF = "INSERT DATA { <http://e/s> <http://e/p> 'a literal', 'another'@en }"


@pytest.mark.parametrize("call", [
    "queryd_sort_key(5)", "queryd_str_text(5)", "queryd_to_term(5)", "queryd_ebv(7)", "queryd_eq(5, 6)", "queryd_lt(7, 11)",
    "queryd_str_text(9223372036854775807)", "queryd_str_text(4)", "queryd_eval(x'00')", "queryd_eval(1)", "queryd_test('x', 1)",
    "queryd_sum(7)", "queryd_avg(7)", "queryd_min(7)", "queryd_max(7)", "queryd_group_concat(5)", "queryd_group_list(5)",
    "queryd_list_join(x'ffffffff00', 5)", "queryd_match_text(5)", "queryd_steps(1)", "queryd_steps('*', 1, 2, 3)",
    "(SELECT count(*) FROM queryd_closure(5, 'x', 0))", "(SELECT count(*) FROM queryd_closure(5, queryd_steps('*', 1, 5), 0))",
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
