# SPDX-License-Identifier: LGPL-2.1-or-later
"""queryctl --direct beside the daemon: the same bytes and errors without it; warming; nothing left behind for the daemon."""
import ctypes
import mmap
import os
import re
import shutil
import subprocess

import pytest

from harness import BUILD
from test_queryctl import DENIED, ENDLESS, MANY, NO_DAEMON, OK, QUERY, TIMEOUT, USAGE, VALUES, Ctl

MODULE = "libquery-client-direct.so"
STATEMENTS = [
    "SELECT * FROM v", "SELECT *, rowid FROM v WHERE 0", "SELECT 1; SELECT 'two' AS t", "SELECT x FROM nosuch", "SELEC 1",
    "SELECT *\n  FORM v", "DELETE FROM v", "PRAGMA journal_mode = DELETE", "SELECT abs(-9223372036854775808)", "SELECT ?",
    MANY.replace("1000000", "20000"), "EXPLAIN QUERY PLAN SELECT * FROM v",
]


@pytest.fixture
def ctl(bus):
    ctl = Ctl(bus)
    ctl.ok("update", VALUES)
    ctl.database = bus.stats()["database_path"]
    return ctl


@pytest.mark.parametrize("fmt", ["tsv", "csv", "json", "jsonl", "markdown", "table"])
def test_same_bytes_and_errors(ctl, fmt):
    for statement in STATEMENTS:
        by_daemon = ctl("sql", "-F", fmt, statement)
        by_direct = ctl("sql", "-F", fmt, "--direct", ctl.database, statement)
        assert by_direct.stdout == by_daemon.stdout
        assert by_direct.stderr == by_daemon.stderr
        assert by_direct.returncode == by_daemon.returncode


def test_options_hold(ctl):
    assert ctl.ok("sql", "--direct", ctl.database, "-n", "2", MANY) == b"x\n1\n2\n"
    assert ctl.ok("sql", "--direct", ctl.database, "-p", "a=5", "SELECT :a + 1 AS b") == b"b\n6\n"
    assert "took longer" in ctl.fails(TIMEOUT, "sql", "--direct", ctl.database, "--timeout", "0.05", ENDLESS)
    assert ctl.ok("ls", "--direct", ctl.database) == b"name\ttype\nv\ttable\n"
    for option in "--watch", "--store=x":
        assert "without the daemon" in ctl.fails(USAGE, "sql", "--direct", ctl.database, option, "SELECT 1")
    assert "has no option '--direct'" in ctl.fails(USAGE, "update", "--direct", ctl.database, "SELECT 1")


def test_needs_no_daemon(bus, ctl):
    bus.stop_daemon()
    env = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"}
    assert ctl.ok("sql", "--direct", ctl.database, "SELECT big FROM v", env=env) == b"big\n9223372036854775807\n"
    assert "opened for reading" in ctl.fails(DENIED, "sql", "--direct", ctl.database, "DELETE FROM v", env=env)
    assert not bus.has_owner()


def test_files_that_may_not_grow(bus, ctl):
    """RLIMIT_FSIZE: a sort that needs a temporary file says so; the signal of it ended the process."""
    text = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<300000) "
            "SELECT count(*) FROM (SELECT DISTINCT hex(randomblob(100)) || i FROM n ORDER BY 1)")
    run = bus.run("prlimit", "--fsize=65536", bus.queryctl, "sql", "--direct", ctl.database, text)
    assert run.returncode == QUERY, run
    assert "too large" in run.stderr, run.stderr


def test_what_cannot_be_opened(ctl, tmp_path):
    (tmp_path / "junk").write_bytes(b"junk" * 4096)
    assert "No such file" in ctl.fails(NO_DAEMON, "sql", "--direct", str(tmp_path / "no"), "SELECT 1")
    assert "not a regular file" in ctl.fails(NO_DAEMON, "sql", "--direct", str(tmp_path), "SELECT 1")
    assert "not a database" in ctl.fails(QUERY, "sql", "--direct", str(tmp_path / "junk"), "SELECT 1")


def test_the_daemon_goes_on_beside_a_reader(bus, ctl):
    """An unfinished direct result keeps its snapshot; updates go on, and the log is emptied when the reader has gone."""
    ctl.ok("update", "CREATE TABLE t(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) "
           "INSERT INTO t SELECT printf('%0200d', i) FROM n")
    reader = ctl.start("sql", "--direct", ctl.database, "SELECT a FROM t")
    assert reader.stdout.readline() == b"a\n"
    for i in range(20):
        bus.update("UPDATE t SET a = ?1 WHERE rowid % 100 = 0", [f"new {i}"])
    rest = reader.stdout.read()
    assert (reader.wait(), rest.count(b"\n"), rest.count(b"new")) == (OK, 50000, 0)
    bus.call("Optimize", "(a{sv})", {}, interface="org.queryd.Query1.Manager")
    assert os.stat(ctl.database + "-wal").st_size == 0
    assert bus.check() == (True, [])


# --- optimize ------------------------------------------------------------------------------------------------------------

def cached_pages(path):
    """How many pages of a file are in the system's memory, of how many."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mincore.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
    size = os.stat(path).st_size
    n_pages = -(-size // mmap.PAGESIZE)
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), size) as view:
        vector = ctypes.create_string_buffer(n_pages)
        address = ctypes.addressof(ctypes.c_char.from_buffer(view))
        assert libc.mincore(address, size, vector) == 0, os.strerror(ctypes.get_errno())
        return sum(byte[0] & 1 for byte in vector), n_pages


def drop_from_memory(path):
    """Only while nobody has it mapped or open for writing."""
    with open(path, "r+b") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def test_optimize(bus, ctl):
    ctl.ok("update", "CREATE TABLE t(a); CREATE INDEX t_a ON t(a); INSERT INTO t VALUES(1), (2)")
    assert os.stat(ctl.database + "-wal").st_size > 0
    assert ctl.ok("optimize") == b""
    assert os.stat(ctl.database + "-wal").st_size == 0


def test_optimize_warm(bus, ctl):
    ctl.ok("update", "CREATE TABLE t(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
           "INSERT INTO t SELECT zeroblob(4000) FROM n")
    ctl.ok("optimize")
    bus.stop_daemon()
    drop_from_memory(ctl.database)
    before, n_pages = cached_pages(ctl.database)
    if before > n_pages // 10:
        pytest.skip("this file system keeps files in memory")
    bus.property("Generation")
    assert ctl.ok("optimize", "--warm") == b""
    assert cached_pages(ctl.database)[0] == n_pages
    # it read beside the other connections without taking their locks away
    bus.update("INSERT INTO t VALUES('after')")
    assert bus.query("SELECT count(*) FROM t WHERE a = 'after'") == [(1,)]
    assert "has no option" in ctl.fails(USAGE, "check", "--warm")


def libraries(path):
    """As the file itself names them."""
    text = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text)


def test_applications_need_no_sqlite():
    for name in "libquery-client-1.so", "queryctl/queryctl":
        needed = libraries(os.path.join(BUILD, "client-lib", name))
        assert any(name.startswith("libglib-2.0") for name in needed)
        assert not [name for name in needed if re.match("lib(sqlite|pcre|nettle)", name)]
    assert any(name.startswith("libsqlite3") for name in libraries(os.path.join(BUILD, "client-lib", MODULE)))


def test_module(ctl, tmp_path):
    """It is looked for beside the library; without it, or with one of another version, an error says so."""
    def run(folder):
        return ctl("sql", "--direct", ctl.database, "SELECT 1 AS x", env={"LD_LIBRARY_PATH": str(folder)})

    def fails(folder, words):
        result = run(folder)
        assert result.returncode == NO_DAEMON and words in result.stderr.decode()

    shutil.copy(os.path.join(BUILD, "client-lib", "libquery-client-1.so.0"), tmp_path)
    path = f"{tmp_path}/query-client-1-0/{MODULE}"
    fails(tmp_path, f"direct connections need the module '{path}' of libquery-client, which cannot be")

    folder = tmp_path / "query-client-1-0"
    folder.mkdir()
    shutil.copy(os.path.join(BUILD, "client-lib", MODULE), folder)
    assert run(tmp_path).stdout == b"x\n1\n"

    source = tmp_path / "other.c"
    source.write_text('const struct { const char *version; } query_direct_table = { "0.0.1" };')
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / MODULE, source], check=True)
    fails(tmp_path, "is of version 0.0.1, libquery-client of ")
    (folder / MODULE).write_bytes(b"no library")
    fails(tmp_path, "cannot be loaded")
