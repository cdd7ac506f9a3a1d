# SPDX-License-Identifier: LGPL-2.1-or-later
"""Backup, Restore, checks, and the salvage of damaged databases, by the real daemon."""
import contextlib
import glob
import os
import random
import sqlite3
import threading

import pytest

from harness import MANAGER, BusError, memory_file, options, wait_until

ROWS = 4000


def fill(bus):
    bus.update("CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT)")
    bus.update("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<?) "
               "INSERT INTO item SELECT i, 'name of ' || i FROM n", [ROWS])
    bus.update("CREATE INDEX item_name ON item(name)")
    bus.update("INSERT DATA { <http://e/s> <http://e/p> 'one', 'two', 3 }", language="sparql")


def database_path(bus):
    return os.path.join(bus.store, "queryd.db")


def restore(bus, path, **opts):
    with open(path, "rb") as file:
        job = bus.start_job("Restore", "(ha{sv})", 0, options(opts), fds=[file.fileno()],
                            interface=MANAGER)
        return bus.finish_job(job)


def backup(bus, path):
    with open(path, "w+b") as file:
        job = bus.backup(file.fileno())
        assert job["State"] == "finished", job


def table_pages(path, table):
    """The pages of a table's rows, in the file's order."""
    with sqlite3.connect(path) as database:
        return [row[0] for row in
                database.execute("SELECT pageno FROM dbstat WHERE name=? AND pagetype='leaf' ORDER BY pageno", (table,))]


def overwrite(path, page, data=None, page_size=4096):
    with open(path, "r+b") as file:
        file.seek((page - 1) * page_size)
        file.write(data if data is not None else random.Random(page).randbytes(page_size))


def triples(bus):
    return sorted(row[0] if isinstance(row[0], str) else row[0][0]
                  for row in bus.query("SELECT ?o WHERE { ?s <http://e/p> ?o }", language="sparql"))


# --- backup ---------------------------------------------------------------------------------------------------------------

def test_backup_is_of_one_moment(bus, tmp_path):
    """While others write pairs of rows, no backup has half of a pair."""
    bus.update("CREATE TABLE pair(id INTEGER PRIMARY KEY, half INT)")
    other = bus.caller()
    done = threading.Event()

    def write():
        number = 0
        while not done.is_set():
            other.batch([("INSERT INTO pair(half) VALUES(?)", [number]), ("INSERT INTO pair(half) VALUES(?)", [number])])
            number += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for i in range(5):
            path = str(tmp_path / f"{i}.db")
            backup(bus, path)
            with sqlite3.connect(path) as database:
                assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                assert database.execute("SELECT count(*) % 2 FROM pair").fetchone() == (0,)
                assert database.execute("SELECT count(*) FROM (SELECT half FROM pair GROUP BY half HAVING count(*)<>2)"
                                        ).fetchone() == (0,)
    finally:
        done.set()
        thread.join()


def test_backup_into_a_pipe(bus, tmp_path):
    fill(bus)
    run = bus.run("sh", "-c", f'queryctl backup - | cat > "{tmp_path}/b.db"')
    assert run.returncode == 0, run.stderr
    with sqlite3.connect(str(tmp_path / "b.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("SELECT count(*) FROM item").fetchone() == (ROWS,)


# --- restore --------------------------------------------------------------------------------------------------------------

def test_restore(bus, tmp_path):
    fill(bus)
    path = str(tmp_path / "b.db")
    backup(bus, path)
    assert triples(bus) == ["3", "one", "two"]
    generation = bus.property("Generation")
    bus.update("DELETE FROM item WHERE id>10")
    bus.update("DELETE WHERE { ?s ?p 'one' }; INSERT DATA { <http://e/s> <http://e/p> 'later', 'much later' }", language="sparql")
    assert triples(bus) == ["3", "later", "much later", "two"]
    channel = bus.prepare("SELECT count(*) FROM item")

    assert restore(bus, path)["State"] == "finished"
    assert bus.query("SELECT count(*) FROM item") == [(ROWS,)]
    assert triples(bus) == ["3", "one", "two"], "the caches are those of the restored data"
    assert [tuple(row) for row in channel.fetch()] == [(ROWS,)]
    assert bus.property("Generation") > generation
    bus.update("INSERT DATA { <http://e/s> <http://e/p> 'new' }", language="sparql")
    assert triples(bus) == ["3", "new", "one", "two"]
    assert bus.check(quick=False) == (True, [])
    bus.stop_daemon()
    assert triples(bus) == ["3", "new", "one", "two"]
    assert bus.property("Generation") > generation


def test_restore_lets_readers_finish(bus, tmp_path):
    fill(bus)
    path = str(tmp_path / "b.db")
    backup(bus, path)
    bus.update("UPDATE item SET name='after ' || id || substr(hex(zeroblob(200)), 1, 300)")
    with bus.prepare("SELECT name FROM item ORDER BY id", transport="pipe") as pipe:
        first = b""
        while b"after 1" not in first:  # the first page follows the schema
            piece = pipe.read(1000)
            assert piece
            first += piece
        assert restore(bus, path)["State"] == "finished"
        rest = b""
        while True:
            piece = pipe.read(65536)
            if not piece:
                break
            rest += piece
    assert b"name of" not in first + rest, "one result is of one moment"
    assert f"after {ROWS}".encode() in first + rest
    assert bus.query("SELECT name FROM item WHERE id=1") == [("name of 1",)]


def test_restore_adopts_a_plain_file(bus, tmp_path):
    """Of another page size, and without any of our tables."""
    fill(bus)
    path = str(tmp_path / "plain.db")
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA page_size=1024")
        database.execute("CREATE TABLE mine(a)")
        database.execute("INSERT INTO mine VALUES(7)")
    assert restore(bus, path)["State"] == "finished"
    assert bus.query("SELECT a FROM mine") == [(7,)]
    assert triples(bus) == []


@pytest.mark.parametrize("kind", ["junk", "damaged", "newer", "empty-write-only"])
def test_restore_changes_nothing_when_it_fails(bus, tmp_path, kind):
    fill(bus)
    path = str(tmp_path / "b.db")
    backup(bus, path)
    if kind == "junk":
        with open(path, "wb") as file:
            file.write(b"no database " * 1000)
    elif kind == "damaged":
        overwrite(path, table_pages(path, "item")[3])
    elif kind == "newer":
        with sqlite3.connect(path) as database:
            database.execute("UPDATE queryd_meta SET value=100000 WHERE key='schema_version'")
        database.close()
    generation = bus.property("Generation")
    if kind == "empty-write-only":
        with open(path, "wb") as file:
            job = bus.finish_job(bus.start_job("Restore", "(ha{sv})", 0, {}, fds=[file.fileno()], interface=MANAGER))
    else:
        job = restore(bus, path)
    assert job["State"] == "failed", job
    assert bus.query("SELECT count(*) FROM item") == [(ROWS,)]
    assert triples(bus) == ["3", "one", "two"]
    assert bus.property("Generation") == generation
    assert not glob.glob(bus.store + "/restore*")


@pytest.mark.parametrize("check_only", [True, False])
def test_restore_names_payloads_without_files(make_bus, tmp_path, check_only):
    """A backup has no payload files: what is deleted meanwhile is missing after it."""
    bus = make_bus(limits={"payload_inline_bytes": 100})
    ids = []
    for number in range(3):
        with memory_file(bytes([number]) * 1000) as fd:
            ids += bus.call("StorePayload", "(ha{sv})", 0, {}, fds=[fd])[0].unpack()
    path = str(tmp_path / "b.db")
    backup(bus, path)
    assert restore(bus, path, check_only=True)["Messages"] == []
    bus.call("DeletePayload", "(xa{sv})", ids[1], {})
    wait_until(lambda: len(os.listdir(bus.store + "/payload")) == 2, "the sweep of its file")
    job = restore(bus, path, check_only=check_only)
    assert (job["State"], job["Kind"]) == ("finished", "restore")
    (message,) = job["Messages"]
    assert message.startswith(f"payload {ids[1]}: ") and message.endswith("is missing")
    if not check_only:
        assert bus.check() == (False, [message])
    run = bus.run(bus.queryctl, "restore", *(["--check-only"] if check_only else []), path)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", f"queryctl: {message}\n")


def test_restore_by_queryctl(bus, tmp_path):
    fill(bus)
    path = str(tmp_path / "b.db")
    assert bus.run(bus.queryctl, "backup", path).returncode == 0
    bus.update("DROP TABLE item")
    assert bus.run(bus.queryctl, "restore", "--check-only", path).returncode == 0
    assert bus.query("SELECT count(*) FROM sqlite_schema WHERE name='item'") == [(0,)]
    run = bus.run(bus.queryctl, "restore", path)
    assert (run.returncode, run.stderr) == (0, "")
    assert bus.query("SELECT count(*) FROM item") == [(ROWS,)]


def error_of(bus):
    with pytest.raises(BusError) as failure:
        bus.query("SELECT 1")
    return failure.value.name


def test_restore_of_a_store_that_does_not_open(bus, tmp_path):
    fill(bus)
    path = str(tmp_path / "b.db")
    backup(bus, path)
    bus.stop_daemon()
    with open(database_path(bus), "wb") as file:
        file.write(b"no database at all " * 1000)
    for log in glob.glob(database_path(bus) + "-*[lm]"):  # one that was not copied has all pages, and the store would open
        os.unlink(log)
    wait_until(lambda: error_of(bus) == "Corrupt", "the end of a salvage in vain")
    assert restore(bus, path)["State"] == "finished"
    assert bus.query("SELECT count(*) FROM item") == [(ROWS,)]
    (aside,) = glob.glob(bus.store + "/queryd.db.replaced-*Z")
    with open(aside, "rb") as file:
        assert file.read(11) == b"no database"


# --- salvage --------------------------------------------------------------------------------------------------------------

def query_patiently(bus, text):
    """As a client does that is told to come again."""
    told = []

    def ask():
        try:
            return bus.query(text)
        except BusError as error:
            assert error.name == "Recovering", error
            told.append(error)
            return None

    return wait_until(ask, "the end of the salvage"), told


def try_query(bus, text):
    try:
        return bus.query(text)
    except BusError:
        return None


def test_a_damaged_file_is_salvaged_at_the_start(bus):
    fill(bus)
    bus.stop_daemon()
    pages = table_pages(database_path(bus), "item")
    meta = table_pages(database_path(bus), "queryd_meta")
    overwrite(database_path(bus), pages[2])
    overwrite(database_path(bus), meta[0])
    (rows, _) = query_patiently(bus, "SELECT count(*) FROM item")
    assert ROWS * 0.9 < rows[0][0] < ROWS
    assert bus.query("SELECT count(*) FROM item WHERE name<>'name of ' || id") == [(0,)]
    assert bus.check(quick=False) == (True, [])
    (report,) = glob.glob(bus.store + "/queryd.db.corrupt-*.report.txt")
    with open(report, encoding="utf-8") as file:
        text = file.read()
    assert f"table 'item': {rows[0][0]} rows" in text
    assert f"page {pages[2]}: rowids from " in text
    assert os.path.exists(report[:-len(".report.txt")])
    stats = bus.stats()
    assert stats["salvage_report"] == report
    assert stats["health"] == "ok"
    status = bus.run(bus.queryctl, "status").stdout
    assert report in status and "Health           ok" in status
    assert triples(bus) == ["3", "one", "two"]
    bus.update("INSERT INTO item(name) VALUES('goes on')")


@pytest.mark.parametrize("kind", ["made just before a kill", "rebuilt by VACUUM", "restored"])
def test_a_lost_schema_comes_from_its_copy(bus, tmp_path, kind):
    """All its pages: nothing else in the file says which page is whose."""
    fill(bus)
    bus.update("CREATE TABLE late(x)")
    bus.update("INSERT INTO late VALUES('here')")
    bus.update("PRAGMA user_version=7")  # changes no table
    if kind == "rebuilt by VACUUM":
        bus.update("DELETE FROM item WHERE id%2=0")
        bus.update("VACUUM")
        bus.update("INSERT INTO item SELECT id+1, 'name of ' || (id+1) FROM item")
    elif kind == "restored":
        path = str(tmp_path / "b.db")
        backup(bus, path)
        bus.update("DROP TABLE late")
        bus.update("DROP TABLE item")
        assert restore(bus, path)["State"] == "finished"
    bus.kill_daemon()
    with contextlib.closing(sqlite3.connect(database_path(bus))) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages = [row[0] for row in database.execute("SELECT pageno FROM dbstat WHERE name='sqlite_schema'")]
    for page in pages:
        overwrite(database_path(bus), page, bytes(4096))
    rows, _ = query_patiently(bus, "SELECT count(*) FROM item WHERE name='name of ' || id")
    assert rows == [(ROWS,)]
    assert bus.query("SELECT x FROM late") == [("here",)]
    assert triples(bus) == ["3", "one", "two"]
    assert bus.check(quick=False) == (True, [])
    (report,) = glob.glob(bus.store + "/queryd.db.corrupt-*.report.txt")
    with open(report, encoding="utf-8") as file:
        text = file.read()
    assert "the schema is damaged: it is taken from its copy" in text
    assert "user_version 7 and application_id 0 are taken from the copy of the schema" in text
    assert bus.query("PRAGMA user_version") == [(7,)]
    assert os.path.exists(report[:-len(".report.txt")] + "-schema")


def test_who_comes_during_a_salvage_is_told(make_bus):
    """The salvage is made slow by a large file."""
    bus = make_bus()
    fill(bus)
    bus.update("CREATE TABLE large(a)")
    for _ in range(6):
        bus.update("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<40000) "
                   "INSERT INTO large SELECT hex(randomblob(60)) FROM n")
    bus.stop_daemon()
    overwrite(database_path(bus), table_pages(database_path(bus), "queryd_meta")[0])
    rows, told = query_patiently(bus, "SELECT count(*) FROM large")
    assert rows == [(240000,)]
    assert told, "a client was told to wait"
    assert "is being salvaged" in told[0].message


def test_damage_met_by_a_query_is_salvaged(bus):
    """The daemon finds it with the first client that does, ends in order, and the next call starts one that salvages."""
    fill(bus)
    bus.stop_daemon()
    path = database_path(bus)
    overwrite(path, table_pages(path, "item")[2])
    pid = bus.daemon_pid()
    with pytest.raises(BusError) as failure:
        bus.query("SELECT sum(length(name)) FROM item NOT INDEXED")
    assert failure.value.name == "Corrupt"
    wait_until(lambda: bus.has_left(pid), "the end of the daemon that met it")
    rows, _ = query_patiently(bus, "SELECT count(*) FROM item NOT INDEXED")
    assert ROWS * 0.9 < rows[0][0] < ROWS
    assert glob.glob(bus.store + "/queryd.db.corrupt-*.report.txt")


def test_a_check_that_a_client_asks_for_leads_to_a_salvage(bus):
    fill(bus)
    bus.stop_daemon()
    path = database_path(bus)
    overwrite(path, table_pages(path, "item")[1], bytes(4096))
    ok, messages = bus.check()
    assert not ok and messages
    wait_until(lambda: glob.glob(bus.store + "/queryd.db.corrupt-*.report.txt") or not bus.property("Version"), "the salvage")
    rows, _ = query_patiently(bus, "SELECT count(*) FROM item")
    assert ROWS * 0.9 < rows[0][0] < ROWS


def test_idle_check_finds_damage(make_bus):
    """A store that was not closed is checked when the daemon is about to leave."""
    bus = make_bus(limits={"idle_exit_ms": 300})
    fill(bus)
    bus.kill_daemon()
    assert bus.query("SELECT count(*) FROM item") == [(ROWS,)]
    wait_until(lambda: not bus.has_owner(), "the idle exit")
    assert bus.stats()["health"] == "ok"
    wait_until(lambda: len(bus.exits()) == 3, "the end of the third daemon, which closes the file after it has left the bus")
    overwrite(database_path(bus), table_pages(database_path(bus), "item")[2])
    bus.query("SELECT 1")
    bus.kill_daemon()
    bus.query("SELECT 1")
    wait_until(lambda: not bus.has_owner(), "the end after the check")
    rows, _ = query_patiently(bus, "SELECT count(*) FROM item")
    assert ROWS * 0.9 < rows[0][0] < ROWS
    assert bus.call("Get", "(ss)", MANAGER, "Health", interface="org.freedesktop.DBus.Properties")[0].unpack()[0] == "ok"


def test_no_check_when_it_is_off(make_bus):
    bus = make_bus(limits={"idle_exit_ms": 200, "check_interval_hours": 0})
    fill(bus)
    bus.kill_daemon()
    bus.query("SELECT 1")
    wait_until(lambda: not bus.has_owner(), "the idle exit")
    with open(bus.store + "/health", encoding="utf-8") as file:
        assert "open=true" in file.read(), "what was not checked still has to be"


@pytest.mark.parametrize("kind", ["missing", "empty"])
def test_a_log_without_its_database_is_salvaged(bus, kind):
    """SQLite would begin anew, and delete the log with all that is in it."""
    fill(bus)
    bus.kill_daemon()
    assert os.path.getsize(database_path(bus) + "-wal") > 100000, "nothing was written back yet"
    if kind == "missing":
        os.unlink(database_path(bus))
    else:
        os.truncate(database_path(bus), 0)
    rows, _ = query_patiently(bus, "SELECT count(*) FROM item WHERE name='name of ' || id")
    assert rows == [(ROWS,)]
    assert triples(bus) == ["3", "one", "two"]
    assert glob.glob(bus.store + "/queryd.db.corrupt-*.report.txt")


def test_full_text_tables_survive_a_salvage(bus):
    """Also when rows of the module's own are lost without which it would not open the table."""
    fill(bus)
    bus.update("CREATE VIRTUAL TABLE doc USING fts5(body)")
    bus.update("INSERT INTO doc(body) SELECT name FROM item")
    bus.update("CREATE TABLE keyed(k TEXT PRIMARY KEY, v) WITHOUT ROWID")
    bus.update("INSERT INTO keyed SELECT name, id FROM item")
    bus.update("ALTER TABLE keyed ADD COLUMN late DEFAULT 'late'")
    bus.call("Optimize", "(a{sv})", {}, interface=MANAGER)
    ((page,),) = bus.query("SELECT rootpage FROM sqlite_schema WHERE name='doc_config'")
    bus.stop_daemon()
    overwrite(database_path(bus), page, bytes(4096))
    with contextlib.suppress(BusError):  # the first one meets the damage, and the daemon may leave before the second
        bus.query("SELECT count(*) FROM doc")
        bus.check(quick=False)
    wait_until(lambda: glob.glob(bus.store + "/queryd.db.corrupt-*.report.txt") or not bus.property("Version"), "the salvage")
    rows, _ = query_patiently(bus, "SELECT count(*) FROM doc WHERE doc MATCH 'name'")
    assert rows == [(ROWS,)]
    assert bus.query("SELECT count(*) FROM keyed WHERE late='late'") == [(ROWS,)]
    bus.update("DROP TABLE doc")


def test_a_salvage_that_fails_changes_nothing(bus):
    """It is tried again by the calls that follow."""
    fill(bus)
    bus.stop_daemon()
    path = database_path(bus)
    overwrite(path, 1, bytes(100))
    with open(path, "rb") as file:
        before = file.read()
    # the new file's place is taken by what cannot be written
    os.mkdir(path + ".new")
    with pytest.raises(BusError):
        bus.query("SELECT 1")
    with open(path, "rb") as file:
        assert file.read() == before
    os.rmdir(path + ".new")
    rows = wait_until(lambda: try_query(bus, "SELECT count(*) FROM item"), "another salvage")
    assert rows == [(ROWS,)], "only the file's header was damaged"


# --- definitions that call functions -------------------------------------------------------------------------------------

def fill_with_calls(bus):
    """Tables, indexes, a view and a trigger that call the daemon's functions."""
    bus.update("CREATE TABLE called(id INTEGER PRIMARY KEY, payload INT, a, b,"
               " same AS (queryd_eq(queryd_integer(a), queryd_integer(b))) STORED,"
               " CHECK(queryd_payload(payload) IS NOT NULL), CHECK(queryd_eq(queryd_integer(a), queryd_integer(a))))")
    bus.update("CREATE TABLE doc(id INTEGER PRIMARY KEY, json, title AS (json_extract(json, '$.title')) STORED,"
               " size AS (json ->> '$.size'), CHECK(json_valid(json)), CHECK(json_patch(json, '{}') IS NOT NULL))")
    bus.update("CREATE INDEX doc_words ON doc(json_array_length(json, '$.words'), json_type(json -> '$.title'))")
    bus.update("CREATE VIEW titles AS SELECT json_set(json, '$.title', upper(title)) AS json FROM doc")
    bus.update("INSERT INTO doc(json) VALUES('{\"title\": \"one\", \"size\": 3, \"words\": [1, 2]}'), ('{}')")
    bus.update("CREATE INDEX called_key ON called(queryd_sort_key(queryd_integer(a)))")
    bus.update("CREATE INDEX called_part ON called(id) WHERE queryd_eq(queryd_integer(a), queryd_integer(b))")
    bus.update("CREATE VIEW contents AS SELECT id, queryd_payload(payload) AS content FROM called")
    bus.update("CREATE TRIGGER drop_payload AFTER DELETE ON called BEGIN SELECT queryd_delete_payload(old.payload); END")
    for i in range(300):
        bus.update("INSERT INTO called(id, payload, a, b) VALUES(?, queryd_store_payload(?), 1, ?)",
                   [i, f"content {i}".encode(), i % 2])


def check_calls(bus):
    assert bus.query("SELECT count(*), sum(same) FROM called") == [(300, 150)]
    assert bus.query("SELECT content FROM contents WHERE id = 7") == [(b"content 7",)]
    assert bus.query("SELECT id, title, size FROM doc") == [(1, "one", 3), (2, None, None)]
    assert bus.query("SELECT id FROM doc INDEXED BY doc_words WHERE json_array_length(json, '$.words') = 2") == [(1,)]
    assert bus.query("SELECT json ->> 'title' FROM titles") == [("ONE",), (None,)]
    with pytest.raises(BusError, match="malformed JSON"):
        bus.update("INSERT INTO doc(json) VALUES('x')")
    assert bus.query("SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE name LIKE 'called_%' OR"
                     " name IN ('contents', 'drop_payload') ORDER BY name)") == [("called_key,called_part,contents,drop_payload",)]
    with pytest.raises(BusError):
        bus.update("INSERT INTO called(id, payload) VALUES(1000, 123456)")
    bus.update("DELETE FROM called WHERE id = 7")
    assert bus.query("SELECT count(*) FROM queryd_payload") == [(299,)]


def test_own_backup_with_calls_is_restored(bus, tmp_path):
    fill_with_calls(bus)
    backup(bus, tmp_path / "copy")
    bus.update("DROP TABLE called")
    assert restore(bus, tmp_path / "copy")["State"] == "finished"
    check_calls(bus)


def test_calls_survive_a_salvage(bus):
    fill_with_calls(bus)
    fill(bus)
    bus.stop_daemon()
    overwrite(database_path(bus), table_pages(database_path(bus), "item")[2])
    overwrite(database_path(bus), 1, bytes(100), 100)
    query_patiently(bus, "SELECT 1")
    (report,) = glob.glob(database_path(bus) + ".corrupt-*.report.txt")
    with open(report, encoding="utf-8") as stream:
        assert "definitions could not be made" not in stream.read()
    check_calls(bus)


def test_computed_columns_survive_a_salvage(bus):
    """Those that are computed where they are read have no values in the records; rows of whole pages come back with them."""
    bus.update("CREATE TABLE product(id INTEGER PRIMARY KEY, price INT, tax AS (price / 4) VIRTUAL, name,"
               " same AS (queryd_eq(queryd_integer(price), queryd_integer(id))) VIRTUAL, total AS (price + price / 4) STORED,"
               " title AS (upper(name)) VIRTUAL UNIQUE)")
    bus.update("CREATE INDEX product_tax ON product(tax)")
    bus.update("INSERT INTO product(id, price, name) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)"
               " SELECT i, i * 100, 'product ' || i FROM n")
    bus.stop_daemon()
    path = database_path(bus)
    lost = table_pages(path, "product")[len(table_pages(path, "product")) // 2]
    with contextlib.closing(sqlite3.connect(path)) as database:
        page_size = database.execute("PRAGMA page_size").fetchone()[0]
    overwrite(path, lost)
    overwrite(path, 1, bytes(100), 100)
    query_patiently(bus, "SELECT 1")
    ((n,),) = bus.query("SELECT count(*) FROM product")
    assert 20000 - page_size // 16 < n < 20000
    assert bus.query("SELECT count(*) FROM product WHERE tax = id * 25 AND total = id * 125 AND title = 'PRODUCT ' || id"
                     " AND same = 0") == [(n,)]
    assert bus.query("SELECT count(*) FROM product WHERE tax BETWEEN 25 AND 2500") == [(100,)]
    assert bus.query("SELECT group_concat(name), sum(hidden = 2) FROM pragma_table_xinfo('product')") == [
        ("id,price,tax,name,same,total,title", 3)]
    with pytest.raises(BusError) as error:
        bus.update("INSERT INTO product(id, price, name) VALUES(30000, 1, 'Product 1')")
    assert error.value.name == "Constraint"
    (report,) = glob.glob(path + ".corrupt-*.report.txt")
    with open(report, encoding="utf-8") as stream:
        assert "definitions could not be made" not in stream.read()


def make_third_file(path):
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.create_function("theirs", 1, lambda value: value, deterministic=True)
        database.executescript("CREATE TABLE t(a, b AS (theirs(a)) STORED, CHECK(theirs(a))); CREATE TABLE u(a);"
                               "CREATE INDEX i ON u(theirs(a)); INSERT INTO t VALUES(1), (2); INSERT INTO u VALUES(3)")


def test_a_file_with_functions_of_others_is_restored_and_checked(bus, tmp_path):
    make_third_file(tmp_path / "theirs")
    job = restore(bus, tmp_path / "theirs")
    assert job["State"] == "finished", job
    assert bus.query("SELECT a, b FROM t") == [(1, 1), (2, 2)]
    assert bus.call("Check", "(a{sv})", options({}), interface=MANAGER)[0].unpack() == (True, [])


HOSTILE = {
    "trigger": "CREATE TRIGGER g AFTER UPDATE ON queryd_meta BEGIN"
               " SELECT queryd_delete_payload(1), queryd_store_payload(zeroblob(9)); END",
    "check": "CREATE TABLE t(a, CHECK(queryd_delete_payload(a) OR queryd_store_payload(zeroblob(80000)))); INSERT INTO t VALUES(1)",
    "view": "CREATE VIEW v AS SELECT queryd_delete_payload(1)",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_source_calls_nothing(bus, tmp_path, kind):
    """Its triggers do not fire, and its schema calls nothing that writes, while it is checked and stepped up."""
    bus.update("SELECT queryd_store_payload(zeroblob(100000))")
    files = sorted(os.listdir(os.path.join(bus.store, "payload")))
    backup(bus, tmp_path / "copy")
    with contextlib.closing(sqlite3.connect(tmp_path / "copy")) as database:
        for name in ("queryd_delete_payload", "queryd_store_payload"):
            database.create_function(name, 1, lambda value: 1)
        database.executescript(HOSTILE[kind])
    job = restore(bus, tmp_path / "copy")
    assert job["State"] == "finished", job
    assert sorted(os.listdir(os.path.join(bus.store, "payload"))) == files
    assert bus.query("SELECT count(*) FROM queryd_payload") == [(1,)]
