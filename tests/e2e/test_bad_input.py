# SPDX-License-Identifier: LGPL-2.1-or-later
"""Bad input of every kind: a clear error over the bus or the channel, and a daemon that goes on as if nothing had been."""
import os
import re
import select
import tempfile
import time

import pytest
from gi.repository import Gio, GLib

from harness import MANAGER, SANITIZER, SLOWER, BusError, cpu_seconds, status_kib
from wire_client import RemoteError, encode_record

# statement: (error, what its message says)
WRONG_SQL = {
    "SELEC 1": ("Syntax", "1:1: .*SELEC"),
    "SELECT 1 FORM t": ("Syntax", "1:1[0-9]: "),
    "SELECT\n  *\nFROM nosuch": ("Syntax", "nosuch"),
    "SELECT nosuch(1)": ("Syntax", "nosuch"),
    "SELECT a FROM (SELECT 1 AS b)": ("Syntax", "a"),
    "SELECT 1; SELECT 2": ("Syntax|Unsupported", "one statement|more than one|second"),
    "": ("Syntax", "empty|no statement"),
    "   -- only a comment": ("Syntax", "empty|no statement"),
    ";": ("Syntax", "empty|no statement"),
    "SELECT 'open": ("Syntax", "unrecognized|unterminated|'open"),
    "ATTACH 'x' AS y": ("AccessDenied|Unsupported", "."),
    "DETACH main": ("AccessDenied|Unsupported", "."),
    "VACUUM INTO '/tmp/queryd-must-not-exist'": ("AccessDenied|Unsupported|ReadOnly", "."),
    "SELECT load_extension('x')": ("AccessDenied|Unsupported|Syntax", "load_extension"),
    "PRAGMA journal_mode = DELETE": ("AccessDenied|Unsupported|ReadOnly", "."),
    "PRAGMA writable_schema = 1": ("AccessDenied|Unsupported|ReadOnly", "."),
    "CREATE TEMP TABLE x (a)": ("AccessDenied|Unsupported|ReadOnly", "."),
    "SELECT fts3_tokenizer('simple')": ("AccessDenied|Unsupported|Syntax", "fts3_tokenizer"),
    "SELECT [no such column]": ("Syntax", "no such column"),
}


@pytest.fixture
def healthy(bus):
    """After the test the same daemon must still answer."""
    pid = bus.daemon_pid()
    yield bus
    assert bus.query("SELECT 42") == [(42,)]
    assert bus.daemon_pid() == pid


def expect(error, name, message="."):
    assert re.fullmatch(name, error.value.name), error.value
    assert re.search(message, error.value.message, re.S), error.value


@pytest.mark.parametrize("sql", WRONG_SQL, ids=lambda s: re.sub(r"\W+", "-", s) or "nothing")
def test_wrong_sql(healthy, sql):
    name, message = WRONG_SQL[sql]
    calls = [lambda: healthy.prepare(sql), lambda: healthy.query(sql), lambda: healthy.query_text(sql, "json"),
             lambda: healthy.update(sql), lambda: healthy.explain(sql)]
    for call in calls[:-1] if "VACUUM" in sql else calls:
        with pytest.raises(BusError) as error:
            call()
        expect(error, name, message)
    with healthy.prepare("SELECT 1") as channel:
        with pytest.raises(RemoteError) as error:
            channel.prepare(sql)
        expect(error, name, message)
        assert channel.prepare("SELECT 2") and channel.fetch() == [(2,)]
    assert not os.path.exists("/tmp/queryd-must-not-exist")


def test_place_of_a_syntax_error(healthy):
    with healthy.prepare("SELECT 1") as channel:
        with pytest.raises(RemoteError) as error:
            channel.prepare("SELECT 'größe',\n       wrong wrong wrong\n  FROM t")
    assert (error.value.line, error.value.column) == (2, 20)
    assert error.value.message.startswith("2:20: ")


def test_text_with_nul(healthy):
    with healthy.prepare("SELECT 1") as channel:
        with pytest.raises(RemoteError) as error:
            channel.prepare(b"SELECT 1\0, 2")
        expect(error, "Syntax", "NUL")


def test_text_that_is_not_utf8(healthy):
    with healthy.prepare("SELECT 1") as channel:
        for text in (b"SELECT '\xff\xfe'", b'SELECT 1 AS "\xff"', b"SELECT 1 -- \xc3"):
            with pytest.raises(RemoteError) as error:
                channel.prepare(text)
            expect(error, "Syntax", "UTF-8")


def test_unknown_language_and_format(healthy):
    for call in (lambda: healthy.prepare("SELECT 1", language="SQL"), lambda: healthy.query("SELECT 1", language="xquery"),
                 lambda: healthy.update("SELECT 1", language=""), lambda: healthy.query("SELECT * {}", language="SPARQL"),
                 lambda: healthy.query_text("SELECT 1", "xls")):
        with pytest.raises(BusError) as error:
            call()
        expect(error, "Unsupported|BadParameter")


def test_long_text(healthy):
    sql = "SELECT 1 -- " + "x" * (1024 * 1024 + 1)
    with pytest.raises(BusError) as error:
        healthy.query(sql)
    expect(error, "TooBig", "statement_text_bytes.*1048576")
    with healthy.prepare("SELECT 1") as channel:
        with pytest.raises(RemoteError) as error:
            channel.prepare(sql)
        expect(error, "TooBig", "statement_text_bytes.*1048576")


@pytest.mark.parametrize("sql,values,message", [
    ("SELECT ?", [], "1|missing"),
    ("SELECT ?", [1, 2], "2"),
    ("SELECT :a", {":b": 1}, "b"),
    ("SELECT :a", {"a": 1, ":a": 2}, "a"),
    ("SELECT :a, @a", {"a": 1}, "a"),
    ("SELECT :a", {}, "a"),
    ("SELECT ?1, ?3", [1, 2], "3|2"),
    ("SELECT 1", [1], "1"),
    ("SELECT ?", {"0": 1}, "0"),
    ("SELECT ?", {"99999999999999999999": 1}, "9"),
    ("SELECT ?", [GLib.Variant("as", ["x"])], "as|type"),
    ("SELECT ?", [GLib.Variant("g", "s")], "g|type|NULL"),
    ("SELECT ?", [GLib.Variant("t", 2**63)], "64|range|t"),
])
def test_wrong_parameters(healthy, sql, values, message):
    for call in (lambda: healthy.query(sql, values), lambda: healthy.prepare(sql, values, transport="pipe").close()):
        with pytest.raises(BusError) as error:
            call()
        expect(error, "BadParameter", message)


def test_wrong_number_of_parameters_on_a_channel(healthy):
    with healthy.prepare("SELECT ?, ?") as channel:
        for rows in ([], [(1, 2), (3, 4)]):
            with pytest.raises(RemoteError) as error:
                channel.fetch(*rows)
            expect(error, "BadParameter")
        assert channel.fetch((1, 2)) == [(1, 2)]


def test_parameters_in_prepare_of_a_socketpair(healthy):
    with pytest.raises(BusError) as error:
        healthy.prepare("SELECT ?", [1])
    expect(error, "BadParameter", "parameters")


@pytest.mark.parametrize("options,message", [
    ({"nosuch": "x"}, "nosuch"), ({"page_size": 5000}, "page_size"), ({"page_size": 2048}, "page_size"),
    ({"transport": "carrier-pigeon"}, "carrier-pigeon"), ({"access": "both"}, "both"),
    ({"timeout_ms": GLib.Variant("s", "1")}, "timeout_ms"), ({"table": "t"}, "table"), ({"durability": "some"}, "durability"),
])
def test_wrong_options(healthy, options, message):
    with pytest.raises(BusError) as error:
        healthy.prepare("SELECT 1", **options)
    expect(error, "BadParameter", message)
    if not isinstance(next(iter(options.values())), GLib.Variant):
        with healthy.prepare("SELECT 1") as channel:
            with pytest.raises(RemoteError) as error:
                channel.prepare("SELECT 1", **options)
            expect(error, "BadParameter", next(iter(options)))


@pytest.mark.parametrize("sql", [
    "INSERT INTO t VALUES (2)", "DELETE FROM t", "DROP TABLE t", "CREATE TABLE u (a)", "VACUUM", "REINDEX",
    "ALTER TABLE t RENAME TO u", "INSERT INTO t VALUES (3) RETURNING a", "ANALYZE"])
def test_write_in_a_read(healthy, sql):
    if not healthy.query("SELECT name FROM sqlite_master WHERE name = 't'"):
        healthy.update("CREATE TABLE t (a)")
        healthy.update("INSERT INTO t VALUES (1)")
    for call in (lambda: healthy.query(sql), lambda: healthy.query_text(sql, "csv"), lambda: healthy.prepare(sql).fetch(),
                 lambda: healthy.prepare(sql, transport="pipe")):
        with pytest.raises((BusError, RemoteError)) as error:
            call()
        expect(error, "ReadOnly|AccessDenied")
    assert healthy.query("SELECT a FROM t") == [(1,)]


def test_own_tables_are_not_writable(healthy):
    for sql in ("CREATE TABLE queryd_x (a)", "DELETE FROM queryd_meta", "DELETE FROM sqlite_master"):
        with pytest.raises(BusError) as error:
            healthy.update(sql)
        expect(error, "AccessDenied|ReadOnly|Syntax")


def test_constraint(healthy):
    healthy.update("CREATE TABLE t (a INTEGER PRIMARY KEY, b NOT NULL, c CHECK (c > 0))")
    healthy.update("INSERT INTO t VALUES (1, 1, 1)")
    for sql in ("INSERT INTO t VALUES (1, 1, 1)", "INSERT INTO t VALUES (2, NULL, 1)", "INSERT INTO t VALUES (2, 1, 0)"):
        with pytest.raises(BusError) as error:
            healthy.update(sql)
        expect(error, "Constraint", "t\\.|c > 0|CHECK")
    assert healthy.query("SELECT count(*) FROM t") == [(1,)]


def test_batch_is_all_or_none(healthy):
    healthy.update("CREATE TABLE t (a INTEGER PRIMARY KEY)")
    with pytest.raises(BusError) as error:
        healthy.batch([("INSERT INTO t VALUES (?)", [i]) for i in (1, 2, 3, 2)])
    expect(error, "Constraint")
    assert healthy.query("SELECT count(*) FROM t") == [(0,)]
    with healthy.prepare("INSERT INTO t VALUES (?)", access="write") as channel:
        with pytest.raises(RemoteError) as error:
            channel.fetch((1,), (2,), (1,))
        expect(error, "Constraint")
    assert healthy.query("SELECT count(*) FROM t") == [(0,)]


@pytest.mark.parametrize("conflict", ["OR ROLLBACK", "OR FAIL", "OR ABORT", "OR REPLACE", "OR IGNORE"])
def test_conflict_clauses_do_not_leave_the_group(healthy, conflict):
    """OR ROLLBACK ends SQLite's whole transaction: the others of the group must not suffer."""
    healthy.update("CREATE TABLE t (a INTEGER PRIMARY KEY)")
    with healthy.prepare("INSERT INTO t VALUES (?)", access="write") as good, \
            healthy.prepare(f"INSERT {conflict} INTO t VALUES (?)", access="write") as bad:
        serials = []
        for i in range(1, 9):
            serials.append((good, good.send_fetch((i,)), True))
            serials.append((bad, bad.send_fetch((i,)), conflict in ("OR REPLACE", "OR IGNORE")))
        outcome = {True: 0, False: 0}
        for channel, serial, _ in serials:
            try:
                list(channel.answer(serial))
                outcome[True] += 1
            except RemoteError as error:
                assert error.name == "Constraint"
                outcome[False] += 1
        assert outcome[True] >= 8
    assert healthy.query("SELECT count(*), min(a), max(a) FROM t") == [(8, 1, 8)]


def test_stored_text_that_is_not_utf8(healthy):
    healthy.update("CREATE TABLE t (a)")
    healthy.update("INSERT INTO t VALUES (CAST(x'c328' AS TEXT))")
    assert healthy.query("SELECT a FROM t") == [(b"\xc3\x28",)]
    text = healthy.query_text("SELECT a FROM t", "csv")[1]
    text.encode()


def test_schema_change_between_prepare_and_fetch(healthy):
    healthy.update("CREATE TABLE t (a, b)")
    healthy.update("INSERT INTO t VALUES (1, 2)")
    with healthy.prepare("SELECT * FROM t") as channel:
        assert channel.fetch() == [(1, 2)]
        healthy.update("ALTER TABLE t ADD COLUMN c DEFAULT 3")
        assert channel.fetch() == [(1, 2, 3)]
        assert [c for c, _ in channel.reader.schema.columns] == ["a", "b", "c"]
        healthy.update("DROP TABLE t")
        with pytest.raises(RemoteError) as error:
            channel.fetch()
        expect(error, "Syntax", "t")
        healthy.update("CREATE TABLE t (z)")
        assert channel.fetch() == []


@pytest.mark.parametrize("fmt, expected", [("csv", "a,b\n1,7\n"), ("tsv", "a\tb\n1\t7\n"), ("jsonl", '{"a":1,"b":7}\n'),
                                           ("json", '[\n{"a":1,"b":7}\n]\n')])
def test_schema_change_before_text(healthy, fmt, expected):
    """SQLite compiles a cached statement anew within its first step: it has another column then."""
    healthy.update("CREATE TABLE t AS SELECT 1 AS a")
    before = healthy.query_text("SELECT * FROM t", fmt)[1]
    assert "b" not in before
    healthy.update("ALTER TABLE t ADD COLUMN b DEFAULT 7")
    assert healthy.query_text("SELECT * FROM t", fmt)[1] == expected
    healthy.update("ALTER TABLE t DROP COLUMN b")
    with tempfile.TemporaryFile() as file:
        healthy.export("SELECT * FROM t", fmt, file.fileno())
        file.seek(0)
        assert file.read().decode() == before
    healthy.update("DELETE FROM t")
    healthy.update("ALTER TABLE t ADD COLUMN c")
    assert healthy.query_text("SELECT * FROM t", "csv")[1] == "a,c\n", "a result without rows has its header"


def test_schema_change_before_returning(healthy):
    healthy.update("CREATE TABLE t (a)")
    with healthy.prepare("INSERT INTO t(a) VALUES (1) RETURNING *", access="write") as channel:
        assert channel.fetch() == [(1,)]
        healthy.update("ALTER TABLE t ADD COLUMN b DEFAULT 7")
        assert channel.fetch() == [(1, 7)]
        assert channel.fetch() == [(1, 7)]


def test_schema_change_before_returning_nothing(healthy):
    healthy.update("CREATE TABLE t (a)")
    with healthy.prepare("DELETE FROM t WHERE a = ?1 RETURNING *", access="write") as channel:
        assert channel.fetch((1,)) == [] and channel.n_columns == 1
        healthy.update("ALTER TABLE t ADD COLUMN b DEFAULT 7")
        assert channel.fetch((1,)) == [] and channel.n_columns == 2, "the old columns"
        healthy.update("INSERT INTO t(a) VALUES(1)")
        assert channel.fetch((1,)) == [(1, 7)]


def export_nowhere(caller, sql):
    with open(os.devnull, "wb") as stream:
        caller.export(sql, "csv", stream.fileno(), timeout_ms=20)


def test_compile_ends_with_the_deadline(healthy):
    """60,000 constants, each compared with the others: a second of compiling, as a query, on a channel, as an update, an export."""
    healthy.update("CREATE TABLE t (a)")
    sql = "SELECT CASE 1" + "".join(f" WHEN {i} THEN 'x{i}'" for i in range(30000)) + " END"
    for call in (lambda: healthy.query(sql, timeout_ms=20), lambda: healthy.prepare(sql, timeout_ms=20),
                 lambda: healthy.update("INSERT INTO t(a) " + sql, timeout_ms=20), lambda: export_nowhere(healthy, sql)):
        with pytest.raises(BusError) as error:
            call()
        expect(error, "Timeout", "20 ms")


def test_an_update_that_is_compiled_at_its_deadline_says_so(bus):
    """The parser sees the interruption at a comment before any other check does. It gave "Cancelled: interrupted" then."""
    bus.update("CREATE TABLE t (a)")
    # longer than some ticks of the interrupter: comments alone take 5 ms
    sql = "INSERT INTO t VALUES(1)" + ",(1)/**/" * 60000
    start = time.monotonic()
    bus.update(sql)
    first_ms = 1000 * (time.monotonic() - start)
    n_late = 0
    for i in range(100):
        try:
            bus.update(sql + f"/*{i}*/", timeout_ms=1 + int(first_ms * (i % 20) / 20))
        except BusError as error:
            assert error.name == "Timeout", error
            n_late += 1
    assert n_late > 0, f"no update was late; the first took {first_ms:.1f} ms"


def test_large_statements_leave_memory_for_others(bus):
    """The writer kept 128 compiled statements of any size: after 30 of 60,000 rows every update failed with NoMemory."""
    bus.update("CREATE TABLE t (a)")
    for i in range(60):
        bus.update(f"INSERT INTO t VALUES({i})" + ",(1)" * 60000)
    for i in range(30):
        assert len(bus.query_full(f"VALUES({i})" + ",(1)" * 20000, max_rows=5)[1]) == 5
    bus.update("DELETE FROM t")


@pytest.mark.parametrize("levels", [18, 20, 22, 26, 30])
def test_long_compile_is_bounded(healthy, levels):
    """Nested CTEs that double: kilobytes of text, seconds of compiling, gigabytes of memory."""
    sql = "WITH c0 AS (SELECT 1 AS x)"
    for i in range(1, levels):
        sql += f", c{i} AS (SELECT a.x FROM c{i - 1} a, c{i - 1} b)"
    sql += f" SELECT * FROM c{levels - 1}"
    used = cpu_seconds(healthy.daemon_pid())  # other load on the machine does not count
    with pytest.raises(BusError) as error:
        healthy.query(sql)
    expect(error, "TooComplex|NoMemory", "the limit '(compile_ms|query_memory_bytes|authorizer_calls)'")
    assert cpu_seconds(healthy.daemon_pid()) - used < 2 * SLOWER
    assert SANITIZER or status_kib(healthy.daemon_pid(), "VmHWM") < 160 * 1024


TOO_MUCH = {
    "parentheses": ("SELECT " + "(" * 300 + "1" + ")" * 300, "sql_parser_depth"),
    "terms": ("SELECT " + "+".join(["1"] * 300), "sql_depth"),
    "compound": ("SELECT " + " UNION ALL SELECT ".join(["1"] * 501), "compound_selects"),
    "columns": ("SELECT " + ", ".join(["1"] * 2001), "columns"),
    "variables": ("SELECT ?40000", "variables"),
    "pattern": ("SELECT 1 WHERE 'x' LIKE '" + "a%" * 200 + "'", "like_pattern_bytes"),
    "value": ("SELECT length(zeroblob(100000000))", "value_bytes"),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_limits_are_named(healthy, name):
    """The error names limit and value."""
    sql, limit = TOO_MUCH[name]
    value = healthy.limits()[limit][1]
    with pytest.raises(BusError) as error:
        healthy.query(sql)
    expect(error, "TooComplex|TooBig", f"the limit '{limit}' is {value}")


def test_deadline(healthy):
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    for call in (lambda: healthy.query(endless, timeout_ms=200), lambda: healthy.prepare(endless, timeout_ms=200).fetch(),
                 lambda: healthy.query_text(endless, "csv", timeout_ms=200)):
        start = time.monotonic()
        with pytest.raises((BusError, RemoteError)) as error:
            call()
        expect(error, "Timeout", "query_timeout_ms|timeout_ms|200")
        assert 0.15 < time.monotonic() - start < 3


def test_update_deadline(healthy):
    healthy.update("CREATE TABLE t (a)")
    with pytest.raises(BusError) as error:
        healthy.update("INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
                       timeout_ms=300)
    expect(error, "Timeout", "timeout")
    assert healthy.query("SELECT count(*) FROM t") == [(0,)]
    healthy.update("INSERT INTO t VALUES (1)")


def test_slow_functions_keep_to_the_deadline(healthy):
    """C functions without a progress handler inside must be linear."""
    start = time.monotonic()
    try:
        healthy.query("SELECT instr(zeroblob(2000000), zeroblob(1000000) || x'01')", timeout_ms=2000)
    except BusError as error:
        assert error.name in ("Timeout", "TooBig", "TooComplex")
    assert time.monotonic() - start < 5


# --- the channel ---------------------------------------------------------------------------------------------------------

def test_transactions_out_of_turn(healthy):
    with healthy.prepare("SELECT 1", access="read") as channel:
        for kind in "MLBBMM":
            serial = channel.send(kind)
            if kind == "B" and serial == 3 or kind == "M" and serial == 5:
                assert not list(channel.answer(serial))
                continue
            with pytest.raises(RemoteError) as error:
                list(channel.answer(serial))
            expect(error, "BadParameter")
        assert channel.fetch() == [(1,)]


def test_fetch_without_statement(healthy):
    with healthy.prepare("SELECT 1") as channel:
        with pytest.raises(RemoteError):
            channel.prepare("SELEC")
        with pytest.raises(RemoteError) as error:
            channel.fetch()
        expect(error, "Closed")


# --- descriptors that are passed in --------------------------------------------------------------------------------------

def test_garbage_descriptors_for_export(make_bus):
    """Not open for writing, a folder, a path only: refused at once; one that never takes a byte: like a reader that stops."""
    bus = make_bus(limits={"reader_idle_ms": 500})
    epoll = select.epoll()
    fds = {os.open("/dev/null", os.O_RDONLY): "BadParameter", os.open("/", os.O_RDONLY | os.O_DIRECTORY): "BadParameter",
           os.open("/dev/null", os.O_PATH): "BadParameter", epoll.fileno(): "BadParameter|Timeout"}
    for fd, name in fds.items():
        with pytest.raises(BusError) as error:
            bus.export("SELECT 1", "csv", fd)
        expect(error, name)
    for fd in list(fds)[:3]:
        os.close(fd)
    epoll.close()
    assert bus.query("SELECT 1") == [(1,)]


def test_export_to_a_closed_pipe(healthy):
    read_end, write_end = os.pipe()
    os.close(read_end)
    with pytest.raises(BusError) as error:
        healthy.export("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT i FROM n", "csv",
                       write_end)
    expect(error, "Closed|Cancelled|Internal", "pipe|closed|reader")
    os.close(write_end)


def test_missing_descriptor(healthy):
    """A handle that points at no descriptor."""
    body = GLib.Variant("(sssha{sv})", ("sql", "SELECT 1", "csv", 3, {}))
    with pytest.raises(GLib.Error):
        healthy.connection.call_sync("org.queryd.Query1", "/org/queryd/Query1", "org.queryd.Query1", "Export", body, None,
                                     Gio.DBusCallFlags.NONE, 5000, None)


def test_import_of_garbage(healthy):
    with tempfile.TemporaryFile() as file:
        file.write(b'a,b\n1,"open\n')
        file.seek(0)
        job = healthy.import_fd(file.fileno(), "csv", table="g", create=True)
    assert job["State"] == "failed" and job["ErrorName"].endswith(".Syntax"), job
    assert re.match(r"\d+:\d+: ", job["ErrorMessage"]), job
    assert healthy.query("SELECT count(*) FROM sqlite_master WHERE name = 'g'") == [(0,)]


def test_backup_into_what_cannot_be_written(healthy):
    read_end, write_end = os.pipe()
    try:
        job = healthy.backup(read_end)
        assert job["State"] == "failed"
    except BusError as error:
        assert error.name in ("BadParameter", "Unsupported")
    os.close(read_end)
    os.close(write_end)


def test_cancel_query_that_is_not(healthy):
    with pytest.raises(BusError) as error:
        healthy.call("CancelQuery", "(t)", 999999, interface=MANAGER)
    expect(error, "BadParameter|Closed", "999999")


def test_temporary_files_are_bounded(make_bus):
    """A sort that does not fit into the cache goes to disk, up to the limit."""
    bus = make_bus(limits={"temp_file_bytes": 4 << 20, "query_memory_bytes": 1 << 30})
    rows = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) "
            "SELECT i, randomblob(500) AS x FROM n ORDER BY x")
    with pytest.raises(BusError) as error:
        bus.query(rows.format(400000), timeout_ms=20000)
    expect(error, "DiskFull", "the limit 'temp_file_bytes' is 4194304")
    assert len(bus.query(rows.format(500))) == 500
    with pytest.raises(BusError) as error:
        bus.update("CREATE TABLE t AS " + rows.format(400000), timeout_ms=20000)
    expect(error, "DiskFull", "the limit 'temp_file_bytes' is 4194304")
    bus.update("CREATE TABLE t AS " + rows.format(500))


def test_a_row_too_big_for_the_bus(bus):
    """The bus throws off who sends a message above its limit: a huge value is an error for its caller, and the daemon stays."""
    pid = bus.daemon_pid()
    for text in ("SELECT zeroblob(20000000)", "SELECT hex(zeroblob(10000000))", "SELECT zeroblob(60000000), 1"):
        for call in (bus.query, lambda text: bus.query_text(text, "json")):
            with pytest.raises(BusError) as caught:
                call(text)
            assert caught.value.name == "TooBig" and "'value_result_bytes' is 1048576 bytes" in caught.value.message
    assert bus.query("SELECT length(x) FROM (SELECT zeroblob(60000000) AS x)") == [(60000000,)]
    assert len(bus.query("SELECT zeroblob(2000000)")[0][0]) == 2000000
    assert bus.daemon_pid() == pid


def repeat(head, item, tail, separator=" ", n_bytes=990_000):
    """A text of nearly a MiB."""
    items, size, i = [], 0, 0
    while size < n_bytes:
        items.append(item.replace("{i}", str(i)))
        size += len(items[-1]) + len(separator)
        i += 1
    return head + separator.join(items) + tail


@pytest.mark.parametrize("text, limit", [
    # each aggregate was compared with all others: 4.5 s
    (repeat("SELECT CASE ", "WHEN sum(a+{i}) THEN 1", " END FROM t"), "aggregates"),
    (repeat("SELECT CASE ", "WHEN sum(a)FILTER(WHERE a>{i}) THEN 1", " END FROM t"), "aggregates"),
    (repeat("SELECT CASE ", "WHEN row_number()OVER(ORDER BY a+{i}) THEN 1", " END FROM t"), "aggregates"),
    # a program that was too long was said to need more than the memory of all statements
    (repeat("SELECT 1 FROM t WHERE a IN (", "{i}", ")", ","), "vdbe_ops"),
    (repeat("INSERT INTO t VALUES ", "('{i}')", "", ","), "vdbe_ops")])
def test_a_text_that_costs_much_to_compile(bus, text, limit):
    bus.update("CREATE TABLE t(a)")
    start = time.monotonic()
    with pytest.raises(BusError) as error:
        (bus.update if text.startswith("INSERT") else bus.query)(text)
    assert error.value.name == "TooComplex" and f"the limit '{limit}' is " in error.value.message
    assert time.monotonic() - start < 2 * SLOWER


WRONG_TERMS = {
    ("x", "", "no good tag"): "no language tag", ("x", "", "en-"): "no language tag", ("x", "", "1"): "no language tag",
    ("x", "", "en . <a:inj> <a:inj> 1 .\n#"): "no language tag",
    ("http://e/ a>b", "@id", ""): "a character that no IRI has", ("rel", "@id", ""): "no absolute IRI",
    ("", "@id", ""): "no absolute IRI", ("a:\nb", "@id", ""): "a character that no IRI has",
    ("x", "rela tive", ""): "a datatype that is no absolute IRI", ("x", "a:b c", ""): "a datatype that is no absolute IRI",
}


@pytest.mark.parametrize("term", WRONG_TERMS, ids=repr)
def test_wrong_terms(healthy, term):
    """No value becomes a term that a dump could not be read with again."""
    calls = [lambda: healthy.update("INSERT { <a:b> <a:c> $o } WHERE {}", {"o": term}, language="sparql"),
             lambda: healthy.query("SELECT ?s { ?s ?p $o }", {"o": term}, language="sparql"),
             lambda: list(healthy.prepare("SELECT ?s { ?s ?p $o }", {"o": term}, language="sparql", fetch=True).answer(1))]
    for call in calls:
        with pytest.raises((BusError, RemoteError)) as error:
            call()
        expect(error, "BadParameter", r"parameter '.o' .*" + WRONG_TERMS[term])
    assert healthy.query("SELECT * { ?s ?p ?o }", language="sparql") == []


def test_terms_that_are_right(healthy):
    terms = [("x", "", "en"), ("x", "", "de-AT-1996"), ("a:", "@id", ""), ("x", "a:b", "")]
    for term in terms:
        healthy.update("INSERT { <a:b> <a:c> $o } WHERE {}", {"o": term}, language="sparql")
    assert healthy.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", language="sparql")[0][0][0] == str(len(terms))
