# SPDX-License-Identifier: LGPL-2.1-or-later
"""queryctl import: encodings, types of a table that it makes, later keys, sources that break off, what the daemon refuses."""
import os
import pty
import subprocess
import termios

import pytest

from harness import memory_file, wait_until
from test_queryctl import OK, QUERY, USAGE, Ctl


@pytest.fixture
def ctl(bus):
    return Ctl(bus)


@pytest.fixture
def load(bus, ctl, tmp_path):
    """Imports @data into the table t, made by --create; returns what queryctl says, or with @code its error."""
    def run(name, data, *options, code=0):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        if code:
            return ctl.fails(code, "import", str(path), "t", "--create", *options)
        done = ctl("import", str(path), "t", "--create", *options)
        assert done.returncode == 0, done.stderr
        return done.stderr.decode()

    return run


def types(bus):
    return dict(bus.query("SELECT name, type FROM pragma_table_info('t')"))


# --- types ---------------------------------------------------------------------------------------------------------------

CSV = """id,price,zip,day,at,text,big,empty,blob,mixed,quoted,version
1,1.50,007,2024-01-02,2024-01-02T10:11:12.5Z,x,9007199254740993,,X'00ff',1,"7",1.10.1
2,3,12345,2025-12-31,2024-01-02 10:11,y,1,,X'',two,"8",1.2
3,-0.5,99999,,2024-01-02 10:11:12+01:00,,2,,,3.25,"9",
"""


def test_types_hold_what_is_there(bus, load):
    said = load("a.csv", CSV)
    assert types(bus) == {"id": "INTEGER", "price": "REAL", "zip": "TEXT", "day": "DATE", "at": "DATETIME", "text": "TEXT",
                          "big": "INTEGER", "empty": "", "blob": "BLOB", "mixed": "TEXT", "quoted": "TEXT", "version": "TEXT"}
    assert said.startswith("queryctl: the table 't' was made: id INTEGER, price REAL, zip TEXT, day DATE,")
    assert bus.query("SELECT * FROM t WHERE id = 1") == [
        (1, 1.5, "007", "2024-01-02", "2024-01-02T10:11:12.5Z", "x", 9007199254740993, None, b"\x00\xff", "1", "7", "1.10.1")]


def test_the_last_row_counts(bus, load):
    """Types of a sample would make 7 of '007' and lose digits."""
    rows = "".join(f"{i},{i},{i}.5\n" for i in range(1, 20000))
    load("a.csv", "a,b,c\n" + rows + "007,0.1,1234567890.123456789\n")
    assert types(bus) == {"a": "TEXT", "b": "REAL", "c": "TEXT"}
    assert bus.query("SELECT a, c FROM t WHERE a = '007'") == [("007", "1234567890.123456789")]


def test_large_integers_among_reals_keep_their_digits(bus, load):
    load("a.csv", "a\n9007199254740993\n0.5\n")
    assert types(bus) == {"a": ""} and bus.query("SELECT a FROM t") == [(9007199254740993,), (0.5,)]


def test_json_values_keep_their_types(bus, load):
    load("a.jsonl", '{"a":1,"b":"1.50","c":1,"d":true}\n{"a":"x","b":"2.5","c":0.5,"d":null}\n')
    assert types(bus) == {"a": "", "b": "TEXT", "c": "REAL", "d": "INTEGER"}
    assert bus.query("SELECT a, b, c, d FROM t") == [(1, "1.50", 1.0, 1), ("x", "2.5", 0.5, None)]


def test_types_that_are_said(bus, load):
    load("a.csv", CSV, "--types", "id=INTEGER PRIMARY KEY,price=DECIMAL(10)")
    assert bus.query("SELECT pk FROM pragma_table_info('t') WHERE name = 'id'") == [(1,)]
    assert types(bus)["price"] == "DECIMAL(10)" and types(bus)["zip"] == "TEXT"
    assert "the table 't' is there: --types is for one" in load("a.csv", CSV, "--types", "id=TEXT", code=QUERY)


def test_no_types(bus, load):
    assert load("a.csv", "a,b\n1,x\n", "--types", "none") == "1 row imported\n"
    assert set(types(bus).values()) == {""}


def test_wrong_types(bus, ctl, load):
    assert "no column of the source fits 'x=TEXT'" in load("a.csv", "a\n1\n", "--types", "x=TEXT", code=QUERY)
    for wrong in ("a=TEXT)", "a=TEXT; DROP", "a=(", "a=TEXT,b", "a='x'"):
        assert "option 'types'" in load("a.csv", "a\n1\n", "--types", wrong, code=QUERY)
    assert "--types is for a table that --create makes" in ctl.fails(USAGE, "import", "x.csv", "t", "--types", "none")
    assert bus.query("SELECT count(*) FROM sqlite_schema WHERE name = 't'") == [(0,)]


def test_options_of_the_daemon(bus):
    bus.update("CREATE TABLE there (a)")
    for options in ({"types": ["a=TEXT"]}, {"detect_types": True}):
        with memory_file(b"a\n1\n") as fd:
            job = bus.import_fd(fd, "csv", table="there", **options)
            assert job["State"] == "failed" and "'create' makes" in str(job), job
    with memory_file(b"a\n1\n") as fd:
        bus.import_fd(fd, "csv", table="t", create=True)
    assert types(bus) == {"a": ""}


# --- keys ----------------------------------------------------------------------------------------------------------------

ROWS = '{"a":1}\n{"b":"x","a":2}\n{"c":[1],"a":3}\n{"a":4}\n'


@pytest.mark.parametrize("options", [(), ("--types", "none")])
def test_later_keys_are_columns(bus, load, options):
    load("a.jsonl", ROWS, *options)
    assert bus.query("SELECT a, b, c FROM t") == [(1, None, None), (2, "x", None), (3, None, "[1]"), (4, None, None)]


def test_later_keys_of_a_table_that_is_there(bus, load):
    bus.update("CREATE TABLE t (a, c, b DEFAULT 7)")
    load("a.json", "[" + ",".join(ROWS.splitlines()) + "]")
    assert bus.query("SELECT a, b, c FROM t") == [(1, 7, None), (2, "x", None), (3, None, "[1]"), (4, None, None)]


def test_a_key_without_a_column_keeps_nothing(bus, load):
    bus.update("CREATE TABLE t (a, b)")
    assert load("a.jsonl", ROWS, code=QUERY).endswith("a.jsonl: 3:1: table t has no column named c\n")
    assert bus.query("SELECT count(*) FROM t") == [(0,)]


def test_too_many_keys(bus, load):
    rows = "".join('{"k%d":1}\n' % i for i in range(3000))
    assert "columns" in load("a.jsonl", rows, code=QUERY)
    assert bus.query("SELECT count(*) FROM sqlite_schema WHERE name = 't'") == [(0,)]


# --- encodings -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("encoding", ["latin1", "windows-1252", "UTF-16LE", "UTF-16", "UTF-32"])
def test_encodings(bus, load, encoding):
    text = "a;b\n" + "Zoë;é\n" * 30000  # characters lie across the pieces in which it is converted
    load("a.csv", text.encode(encoding), "--encoding", encoding)
    assert bus.query("SELECT DISTINCT a, b FROM t") == [("Zoë", "é")]
    assert bus.query("SELECT count(*) FROM t") == [(30000,)]


def test_the_mark_of_utf_16_is_seen(bus, load):
    said = load("a.csv", "a,b\n日,é\n".encode("utf-16"))
    assert said.startswith("queryctl: its first bytes are the mark of UTF-16: it is read so; --encoding says it\n")
    assert bus.query("SELECT a, b FROM t") == [("日", "é")]


def test_wrong_encodings(bus, load, ctl, tmp_path):
    assert "is not UTF-8: --encoding latin1" in load("a.csv", "a\né\n".encode("latin1"), code=QUERY)
    assert "byte 4 is no character of ascii" in load("a.csv", "a\nxé\n", "--encoding", "ascii", code=QUERY)
    assert "byte 3 is no character of UTF-16LE" in load("a.csv", b"a\0b", "--encoding", "UTF-16LE", code=QUERY)
    assert "'nosuch' is no encoding that is known" in load("a.csv", "a\n1\n", "--encoding", "nosuch", code=QUERY)
    bus.update("CREATE TABLE zeros (a)")
    assert "encoding" not in ctl.fails(QUERY, "import", "-F", "csv", "/dev/zero", "zeros")
    (tmp_path / "x.ttl").write_text("")
    assert "RDF is UTF-8" in ctl.fails(USAGE, "import", str(tmp_path / "x.ttl"), "--encoding", "latin1")
    assert bus.query("SELECT count(*) FROM sqlite_schema WHERE name = 't'") == [(0,)]


# --- sources that break off ----------------------------------------------------------------------------------------------

GRAPHS = "INSERT DATA { <urn:a> <urn:p> 1 . GRAPH <urn:g> { <urn:c> <urn:p> 3 } }"
COUNT = "SELECT (COUNT(*) AS ?n) { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"


@pytest.mark.parametrize("source", ["folder", "folder.ttl", "write-only", "shell"])
def test_a_source_that_cannot_be_read_keeps_the_graphs(bus, ctl, tmp_path, source):
    """It was taken for an empty document, and --replace deleted what was there."""
    bus.update(GRAPHS, language="sparql")
    folder = tmp_path / "x.ttl"
    folder.mkdir()
    if source == "write-only":
        with open("/dev/null", "wb") as null:
            run = bus.run(ctl.world.queryctl, "import", "--replace", "-F", "turtle", "-", stdin=null, input=None, text=False)
        assert b"cannot read the input: Bad file descriptor" in run.stderr
    elif source == "shell":
        run = ctl("shell", stdin=b".import --replace %s\n" % bytes(folder))
    else:
        run = ctl("import", "--replace", *(("-F", "trig", str(tmp_path)) if source == "folder" else (str(folder),)))
    assert run.returncode == QUERY and (source == "write-only" or b"cannot read the input: Is a directory" in run.stderr), run
    assert bus.query(COUNT, language="sparql")[0][0][0] == "2"


def test_a_folder_is_no_table_and_no_document(bus, ctl, tmp_path):
    for name in ("x.csv", "x.ttl"):
        (tmp_path / name).mkdir()
    assert "Is a directory" in ctl.fails(QUERY, "import", "--check-only", str(tmp_path / "x.ttl"))
    assert "Is a directory" in ctl.fails(QUERY, "import", "--create", str(tmp_path / "x.csv"), "t")
    assert "neither file, pipe" in ctl.fails(QUERY, "restore", str(tmp_path / "x.csv"))
    assert "neither file, pipe" in ctl.fails(QUERY, "payload", "store", str(tmp_path / "x.csv"))
    assert ctl("import", "-F", "turtle", "/dev/null").returncode == OK


@pytest.mark.parametrize("end", ["hang-up", "kill", "ctrl-d"])
def test_a_terminal_that_ends_early(bus, ctl, end):
    """Only Ctrl-D ends the rows; a read error, or the end of queryctl, imports none of them."""
    bus.update("CREATE TABLE t (a)")
    master, slave = pty.openpty()
    modes = termios.tcgetattr(slave)
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(slave, 0, modes)
    run = ctl.start("import", "-F", "csv", "-", "t", stdin=slave, start_new_session=True)
    os.write(master, b"a\n" + b"".join(b"row%d\n" % i for i in range(100)))
    wait_until(lambda: bus.stats()["jobs"] == 1, "the import to begin")
    if end == "ctrl-d":
        os.write(master, b"\4")
    elif end == "kill":
        run.kill()
    os.close(slave)
    if end == "hang-up":
        os.close(master)
    said = run.communicate()[1].decode()
    if end != "hang-up":
        os.close(master)
    assert end != "hang-up" or (run.returncode, said) == (QUERY, "queryctl: cannot read the input: Input/output error\n")
    wait_until(lambda: bus.stats()["jobs"] == 0, "the import to end")
    assert bus.query("SELECT count(*) FROM t") == [(100 if end == "ctrl-d" else 0,)]
