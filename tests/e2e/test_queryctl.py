# SPDX-License-Identifier: LGPL-2.1-or-later
"""queryctl against the activated daemon: verbs, formats with exact bytes, options in any order, exit codes, pipes."""
import json
import os
import signal
import sqlite3
import subprocess

import pytest

from harness import SLOWER, wait_until

OK, QUERY, USAGE, NO_DAEMON, TIMEOUT, DENIED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
MANY = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 1000000) SELECT x FROM c"

# One row with what formats get wrong: NULL against '', 64 bits, doubles, blobs, bytes that separate, NUL, wide characters.
VALUES = """CREATE TABLE v (n, empty, big, small, real, inf, blob, noblob, number, zeros, ctrl, quote, nul, bad, wide);
INSERT INTO v VALUES (NULL, '', 9223372036854775807, -9223372036854775808, 0.1, 9e999, X'00ff', X'', '42', '007',
  'a' || char(9) || 'b' || char(10) || 'c' || char(13) || 'd\\e', 'say "hi", you', CAST(X'610062' AS TEXT), CAST(X'61ff' AS TEXT),
  '日本 é');"""
NAMES = "n empty big small real inf blob noblob number zeros ctrl quote nul bad wide".split()


class Ctl:
    """queryctl in one world; output as bytes, nothing on standard input unless given."""

    def __init__(self, world):
        self.world = world

    def __call__(self, *arguments, stdin=b"", env=None, cwd=None):
        return self.world.run(self.world.queryctl, *arguments, input=stdin, text=False, cwd=cwd,
                              env=dict(self.world.env, **(env or {})))

    def ok(self, *arguments, **kwargs):
        """Standard output of a run that must succeed."""
        run = self(*arguments, **kwargs)
        assert run.returncode == OK, run.stderr.decode()
        return run.stdout

    def fails(self, code, *arguments, **kwargs):
        """Standard error of a run that must fail with @code and print no data."""
        run = self(*arguments, **kwargs)
        assert run.returncode == code, (run.returncode, run.stderr.decode())
        assert run.stdout == b""
        assert run.stderr.startswith(b"queryctl: ")
        return run.stderr.decode()

    def start(self, *arguments, **kwargs):
        kwargs.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen([self.world.queryctl, *arguments], env=self.world.env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **kwargs)


@pytest.fixture
def ctl(bus):
    return Ctl(bus)


@pytest.fixture
def values(ctl):
    ctl.ok("update", VALUES)
    return ctl


# --- sql and update ------------------------------------------------------------------------------------------------------

def test_sql_prints_data_only_on_stdout(ctl):
    run = ctl("sql", "SELECT 1 AS a, 'x' AS b")
    assert (run.returncode, run.stdout, run.stderr) == (OK, b"a\tb\n1\tx\n", b"")


def test_update_reports_on_stderr(ctl):
    run = ctl("update", "CREATE TABLE t (a)")
    assert (run.returncode, run.stdout) == (OK, b"")
    run = ctl("update", "INSERT INTO t VALUES (1), (2) RETURNING a * 10 AS b")
    assert (run.returncode, run.stdout, run.stderr) == (OK, b"b\n10\n20\n", b"2 rows changed\n")
    run = ctl("update", "DELETE FROM t WHERE a = 1")
    assert (run.stdout, run.stderr) == (b"", b"1 row changed\n")
    assert ctl.ok("sql", "SELECT a FROM t") == b"a\n2\n"


def test_statements_run_up_to_the_first_that_fails(ctl):
    run = ctl("update", "-", stdin=b"CREATE TABLE t (a);\n-- a ; comment\nINSERT INTO t VALUES (';');\n"
                                   b"INSERT INTO nosuch VALUES (1);\nINSERT INTO t VALUES (2);\n")
    assert run.returncode == QUERY
    assert b"statement at line 4: " in run.stderr and b"nosuch" in run.stderr
    assert ctl.ok("sql", "SELECT a FROM t") == b"a\n;\n"


def test_a_trigger_is_one_statement(ctl):
    ctl.ok("update", "CREATE TABLE t (a); CREATE TABLE log (a); "
                     "CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END; INSERT INTO t VALUES (7);")
    assert ctl.ok("sql", "SELECT a FROM log") == b"a\n7\n"


@pytest.mark.parametrize("how", ["argument", "file", "stdin", "dash", "file-dash"])
def test_sources_of_a_statement(ctl, tmp_path, how):
    text = "SELECT 'é' AS a"
    (tmp_path / "q.sql").write_text(text, encoding="utf-8")
    arguments = {"argument": [text], "file": ["-f", str(tmp_path / "q.sql")], "stdin": [], "dash": ["-"],
                 "file-dash": ["--file=-"]}[how]
    stdin = text.encode() if "dash" in how or how == "stdin" else b""
    assert ctl.ok("sql", *arguments, stdin=stdin) == "a\né\n".encode()


def test_sources_that_are_none(ctl, tmp_path):
    assert "No such file" in ctl.fails(QUERY, "sql", "-f", str(tmp_path / "none.sql"))
    assert "no statement" in ctl.fails(USAGE, "sql", stdin=b"-- nothing\n")
    assert "NUL" in ctl.fails(QUERY, "sql", stdin=b"SELECT 1\0")


def test_options_stand_anywhere(ctl):
    expected = b'{"a":5}\n'
    statement = "SELECT :n AS a"
    assert ctl.ok("sql", statement, "--format", "jsonl", "-p", "n=5") == expected
    assert ctl.ok("--format=jsonl", "sql", "-pn=5", statement) == expected
    assert ctl.ok("-F", "jsonl", "--param=n=5", "sql", statement) == expected
    assert ctl.ok("-Fjsonl", "sql", "--param", "n=5", "--", statement) == expected


@pytest.mark.parametrize("given, type_and_value", [
    ("n=5", "integer 5"), ("n=-9223372036854775808", "integer -9223372036854775808"), ("n=1e5", "real 100000.0"),
    ("n=NULL", "null \\N"), ("n=", "text "), ("n=007", "text 007"), ("n=+1", "text +1"), ("n=a=b", "text a=b"),
    ("n=X'00ff'", "blob \\x00ff"), ("n=X''", "blob \\x"), (":n=5", "integer 5"), ("1=5", "integer 5"),
    ("n=9223372036854775808", "real 9.223372036854776e+18"),
])
def test_param(ctl, given, type_and_value):
    out = ctl.ok("sql", "--no-header", "-p", given, "SELECT typeof(:n), :n").decode()
    assert out == type_and_value.replace(" ", "\t", 1) + "\n"


def test_param_text_and_errors(ctl):
    assert ctl.ok("sql", "--no-header", "-P", "n=5", "SELECT typeof(:n), :n") == b'text\t"5"\n'
    assert "m" in ctl.fails(QUERY, "sql", "-p", "m=1", "SELECT :n")
    ctl.fails(QUERY, "sql", "SELECT :n")
    assert "NAME=VALUE" in ctl.fails(USAGE, "sql", "-p", "n", "SELECT :n")


def test_max_rows_and_timing(ctl):
    run = ctl("sql", "--max-rows", "3", "--timing", MANY)
    assert (run.returncode, run.stdout) == (OK, b"x\n1\n2\n3\n")
    assert run.stderr.startswith(b"3 rows, ") and b" ms in the daemon\n" in run.stderr
    assert ctl("update", "CREATE TABLE t (a)", "--timing").stderr.count(b" ms") == 2


def test_watch(ctl, bus):
    """The result again after each change, also by a daemon that was started anew; SIGINT ends it."""
    bus.update("CREATE TABLE t (a)")
    watcher = ctl.start("sql", "--watch", "--no-header", "SELECT count(*) FROM t")
    assert watcher.stdout.readline() == b"0\n"
    for i in range(1, 4):
        bus.update("INSERT INTO t VALUES (1)")
        assert watcher.stdout.readline() == b"%d\n" % i
    bus.kill_daemon()
    bus.update("INSERT INTO t VALUES (1)")
    assert watcher.stdout.readline() == b"4\n"
    watcher.send_signal(signal.SIGINT)
    out, err = watcher.communicate()
    assert (watcher.returncode, out, err) == (INTERRUPTED, b"", b"")
    assert ctl("sql", "--watch", "SELECT nosuch").returncode == QUERY
    assert ctl("watch", "SELECT nosuch").returncode == QUERY
    assert ctl("watch", "sql").returncode == QUERY  # from standard input, which is empty
    assert ctl("update", "--watch", "DELETE FROM t").returncode == USAGE


def test_watch_differences(ctl, bus):
    """jsonl: rows that came and went, each as often as it did; what does not change the result prints nothing."""
    bus.update("CREATE TABLE t (a)")
    bus.update("INSERT INTO t VALUES (1), (1)")
    watcher = ctl.start("watch", "sql", "-F", "jsonl", "SELECT a FROM t WHERE a < 10")
    one, two = b'{"op":"%c","row":{"a":1}}\n', b'{"op":"%c","row":{"a":2}}\n'
    assert [watcher.stdout.readline() for _ in range(2)] == [one % b"+", one % b"+"]
    bus.update("INSERT INTO t VALUES (2), (99)")
    assert watcher.stdout.readline() == two % b"+"
    bus.update("INSERT INTO t VALUES (98)")
    bus.update("DELETE FROM t WHERE rowid = 1")
    assert watcher.stdout.readline() == one % b"-"
    bus.update("UPDATE t SET a = 5 WHERE a < 10")  # 1 and 2 become 5 and 5
    five = b'{"op":"+","row":{"a":5}}\n'
    assert sorted(watcher.stdout.readline() for _ in range(4)) == sorted([one % b"-", two % b"-", five, five])
    watcher.send_signal(signal.SIGINT)
    watcher.communicate()
    assert watcher.returncode == INTERRUPTED


def test_watch_sparql(ctl, bus):
    watcher = ctl.start("watch", "sparql", "--no-header", "SELECT (COUNT(*) AS ?n) { ?s <x:p> ?o }")
    assert watcher.stdout.readline().strip() == b"0"
    bus.update("INSERT DATA { <x:a> <x:q> 1 }", language="sparql")
    bus.update("INSERT DATA { <x:a> <x:p> 1 }", language="sparql")
    assert watcher.stdout.readline().strip() == b"1"
    watcher.send_signal(signal.SIGINT)
    watcher.communicate()
    assert watcher.returncode == INTERRUPTED


def test_null_text(values):
    for fmt, expected in (("csv", b"-,\"\"\n"), ("tsv", b"-\t\n"), ("markdown", b"| n | empty |\n| --- | --- |\n| - |  |\n")):
        header = [] if fmt == "markdown" else ["--no-header"]
        assert values.ok("sql", *header, "-F", fmt, "--null", "-", "SELECT n, empty FROM v") == expected
    assert values.ok("sql", "-F", "jsonl", "--null", "-", "SELECT n FROM v") == b'{"n":null}\n'
    assert values.ok("sql", "-F", "csv", "--no-header", "--null", "", "SELECT n, empty FROM v") == b",\"\"\n"


# --- formats -------------------------------------------------------------------------------------------------------------

def test_csv_is_exact(values):
    assert values.ok("sql", "-F", "csv", "SELECT * FROM v") == ((",".join(NAMES)) + "\n" + ",".join([
        "", '""', "9223372036854775807", "-9223372036854775808", "0.1", "9e999", "X'00ff'", "X''", '"42"', "007",
        '"a\tb\nc\rd\\e"', '"say ""hi"", you"', "CAST(X'610062' AS TEXT)", "CAST(X'61ff' AS TEXT)", "日本 é"]) + "\n").encode()


def test_tsv_is_exact(values):
    assert values.ok("sql", "-F", "tsv", "SELECT * FROM v") == ("\t".join(NAMES) + "\n" + "\t".join([
        "\\N", "", "9223372036854775807", "-9223372036854775808", "0.1", "9e999", "\\x00ff", "\\x", '"42"', "007",
        "a\\tb\\nc\\rd\\\\e", 'say "hi", you', "a\\000b", "a\\377", "日本 é"]) + "\n").encode()


JSON_ROW = ('{"n":null,"empty":"","big":9223372036854775807,"small":-9223372036854775808,"real":0.1,"inf":9e999,'
            '"blob":{"base64":"AP8="},"noblob":{"base64":""},"number":"42","zeros":"007","ctrl":"a\\tb\\nc\\rd\\\\e",'
            '"quote":"say \\"hi\\", you","nul":"a\\u0000b","bad":{"text_base64":"Yf8="},"wide":"日本 é"}')


def test_json_and_jsonl_are_exact(values):
    assert values.ok("sql", "-F", "json", "SELECT * FROM v") == f"[\n{JSON_ROW}\n]\n".encode()
    assert values.ok("sql", "-F", "jsonl", "SELECT * FROM v").decode() == JSON_ROW + "\n"
    assert json.loads(values.ok("sql", "-F", "json", "SELECT * FROM v"))[0]["big"] == 2**63 - 1
    assert values.ok("sql", "-F", "json", "SELECT 1 AS a WHERE 0") == b"[]\n"
    assert values.ok("sql", "-F", "jsonl", "SELECT 1 AS a WHERE 0") == b""
    assert values.ok("sql", "-F", "jsonl", "SELECT 1 AS a, 2 AS a, 3 AS a_2") == b'{"a":1,"a_3":2,"a_2":3}\n'


def test_markdown(values):
    assert values.ok("sql", "-F", "markdown", "SELECT n, real, 'a|b*c' AS x, ctrl FROM v").decode() == (
        "| n | real | x | ctrl |\n| --- | --- | --- | --- |\n|  | 0.1 | a\\|b\\*c | a b↵c\ufffdd\\\\e |\n")


def test_table_measures_columns_of_the_terminal(values):
    assert values.ok("sql", "-F", "table", "SELECT wide, big, n FROM v UNION ALL SELECT 'x', 1, NULL").decode() == (
        "wide                    big  n\n"
        "──────  ───────────────────  ────\n"
        "日本 é  9223372036854775807  NULL\n"
        "x                         1  NULL\n"
        "(2 rows)\n")
    assert values.ok("sql", "-F", "table", "SELECT 1 AS a WHERE 0").decode() == "a\n─\n(0 rows)\n"
    assert b"\033" not in values.ok("sql", "-F", "table", "SELECT n FROM v")


@pytest.mark.parametrize("fmt", ["csv", "tsv", "json", "jsonl"])
def test_sql_prints_what_export_writes(values, fmt):
    assert values.ok("sql", "-F", fmt, "SELECT * FROM v") == values.ok("export", "v", "-F", fmt)


def test_no_rows_still_have_a_header(ctl):
    assert ctl.ok("sql", "-F", "csv", "SELECT 1 AS a, 2 AS b WHERE 0") == b"a,b\n"
    assert ctl.ok("sql", "-F", "tsv", "--no-header", "SELECT 1 AS a WHERE 0") == b""


# --- import and export ---------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("fmt", ["csv", "tsv", "jsonl"])
def test_round_trip_is_exact(values, tmp_path, fmt):
    path = str(tmp_path / f"v.{fmt}")
    run = values("export", "v", "-o", path)
    assert (run.returncode, run.stdout, run.stderr) == (OK, b"", b"")
    assert os.stat(path).st_mode & 0o777 == 0o600 and os.listdir(tmp_path) == [f"v.{fmt}"]
    run = values("import", path, "--table", "w", "--create")
    assert (run.returncode, run.stdout) == (OK, b"") and run.stderr.endswith(b"1 row imported\n")
    same = " AND ".join(f"typeof(v.{c}) = typeof(w.{c}) AND v.{c} IS w.{c}" for c in NAMES)
    assert values.ok("sql", "--no-header", f"SELECT count(*), sum({same}) FROM v, w") == b"1\t1\n"


def test_import_from_a_pipe_and_append(ctl):
    ctl.ok("update", "CREATE TABLE t (a INTEGER, b TEXT)")
    run = ctl("import", "-", "-F", "csv", "-t", "t", stdin=b"b,a\nx,1\ny,2\n")
    assert (run.returncode, run.stdout, run.stderr) == (OK, b"", b"2 rows imported\n")
    ctl.ok("import", "--no-header", "-F", "tsv", "-t", "t", "-", stdin=b"3\tz\n")
    assert ctl.ok("sql", "SELECT * FROM t ORDER BY a") == b"a\tb\n1\tx\n2\ty\n3\tz\n"


def test_a_failed_import_leaves_nothing(ctl, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("a,b\n1,2\n3,4,5\n", encoding="utf-8")
    ctl.ok("update", "CREATE TABLE t (a, b)")
    message = ctl.fails(QUERY, "import", str(path), "-t", "t")
    assert str(path) in message and "3:" in message
    assert ctl.ok("sql", "--no-header", "SELECT count(*) FROM t") == b"0\n"
    ctl.fails(QUERY, "import", str(path), "-t", "nosuch")
    assert "No such file" in ctl.fails(QUERY, "import", str(tmp_path / "none.csv"), "-t", "t")
    assert "--format" in ctl.fails(USAGE, "import", "-", "-t", "t")
    assert "--table" in ctl.fails(USAGE, "import", str(path))


def test_export_of_a_query_and_its_options(ctl, tmp_path):
    assert ctl.ok("export", MANY, "-n", "2") == b"x\n1\n2\n"
    assert ctl.ok("export", "--no-header", "-F", "csv", "SELECT 1 AS \"a b\", 'x,y' AS c") == b'1,"x,y"\n'
    path = tmp_path / "old.json"
    path.write_text("old", encoding="utf-8")
    ctl.fails(QUERY, "export", "nosuch", "-o", str(path))
    assert path.read_text(encoding="utf-8") == "old" and os.listdir(tmp_path) == ["old.json"]
    ctl.ok("export", "SELECT 1 AS a", "-o", str(path))
    assert path.read_text(encoding="utf-8") == '[\n{"a":1}\n]\n'
    ctl.ok("update", 'CREATE TABLE "we""ird" (a)')
    assert ctl.ok("export", 'we"ird') == b"a\n"


def test_export_replaces_nothing_but_files(ctl, tmp_path):
    """A FIFO or a device under the name is written to; a link stays, what it points to is replaced."""
    os.mkfifo(tmp_path / "fifo")
    process = ctl.start("export", "SELECT 1 AS a", "-o", str(tmp_path / "fifo"))
    with open(tmp_path / "fifo", "rb") as fifo:
        assert fifo.read() == b"a\n1\n"
    assert process.wait(30 * SLOWER) == OK
    process.communicate()
    assert (tmp_path / "fifo").is_fifo()
    (tmp_path / "file").write_text("old", encoding="utf-8")
    (tmp_path / "link").symlink_to("file")
    ctl.ok("export", "SELECT 2 AS a", "-o", str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_bytes() == b"a\n2\n"
    assert "directory" in ctl.fails(QUERY, "export", "SELECT 3", "-o", str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == ["fifo", "file", "link"]


def test_export_to_what_is_no_file_or_pipe(ctl):
    """A character device cannot go to the daemon: a pipe and a thread stand between."""
    with open("/dev/null", "wb") as null:
        run = subprocess.run([ctl.world.queryctl, "export", MANY], env=ctl.world.env, stdout=null, stderr=subprocess.PIPE,
                             check=False, timeout=60 * SLOWER)
    assert (run.returncode, run.stderr) == (OK, b"")
    with open("/dev/full", "wb") as full:
        run = subprocess.run([ctl.world.queryctl, "export", MANY], env=ctl.world.env, stdout=full, stderr=subprocess.PIPE,
                             check=False, timeout=60 * SLOWER)
    assert run.returncode == QUERY and b"No space left" in run.stderr


def test_a_full_device_is_an_error_for_rows_too(ctl):
    with open("/dev/full", "wb") as full:
        run = subprocess.run([ctl.world.queryctl, "sql", MANY], env=ctl.world.env, stdout=full, stderr=subprocess.PIPE,
                             check=False, timeout=60 * SLOWER)
    assert run.returncode == QUERY and b"No space left" in run.stderr


@pytest.mark.parametrize("verb", [["sql"], ["sql", "-F", "table"], ["sql", "-F", "json"], ["export"], ["export", "-F", "csv"]])
def test_a_closed_pipe_ends_it_quietly(ctl, verb):
    process = ctl.start(*verb, MANY)
    assert process.stdout.readline() != b""
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(30 * SLOWER) == OK
    process.stderr.close()
    wait_until(lambda: not [q for q in ctl.world.queries() if q["state"] == "running"], "the query's end")


# --- what the daemon does ------------------------------------------------------------------------------------------------

def test_explain(ctl):
    ctl.ok("update", "CREATE TABLE t (a INTEGER PRIMARY KEY, b)")
    assert ctl.ok("explain", "SELECT b FROM t WHERE a = 5") .decode().strip() != ""
    assert b"PRIMARY KEY" in ctl.ok("explain", "SELECT b FROM t WHERE a = 5")
    assert b"SCAN t" in ctl.ok("explain", stdin=b"SELECT b FROM t")
    assert "nosuch" in ctl.fails(QUERY, "explain", "SELECT * FROM nosuch")


def test_ls(ctl):
    ctl.ok("update", "CREATE TABLE song (a); CREATE TABLE artist (a); CREATE VIEW songs AS SELECT * FROM song")
    assert ctl.ok("ls") == b"name\ttype\nartist\ttable\nsong\ttable\nsongs\tview\n"
    assert ctl.ok("ls", "so*", "--no-header", "-F", "csv") == b"song,table\nsongs,view\n"
    assert ctl.ok("ls", "it's", "--no-header") == b""


def test_stats(ctl):
    ctl.ok("sql", "SELECT 1")
    stats = dict(line.split("\t") for line in ctl.ok("stats", "--no-header").decode().splitlines())
    assert int(stats["queries_total"]) >= 1 and int(stats["channels"]) >= 0 and stats["sqlite_version"].startswith("3.")
    assert set(stats) == set(ctl.world.stats())
    row = next(r for r in json.loads(ctl.ok("stats", "-F", "json")) if r["name"] == "queries_total")
    assert isinstance(row["value"], int)


def test_stats_as_openmetrics(ctl):
    text = ctl.ok("stats", "--openmetrics").decode()
    lines = text.splitlines()
    assert lines[-1] == "# EOF" and text.endswith("\n")
    assert "# TYPE queryd_queries counter" in lines
    assert any(line.startswith("queryd_queries_total ") for line in lines)
    assert sum(line.startswith("queryd_info{") for line in lines) == 1
    types = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    for line in lines:
        if not line.startswith("#"):
            name = line.split("{")[0].split()[0]
            assert name in types or name.removesuffix("_total") in types or name.removesuffix("_info") in types


def test_status_shows_all_limits_and_queries(ctl):
    text = ctl.ok("status").decode()
    limits = ctl.world.limits()
    assert len(limits) > 20
    for name, row in limits.items():
        line = next(line for line in text.splitlines() if line.split()[:1] == [name])
        assert line.split()[1] == str(row[1]) and line.endswith(f" {row[3]:<5}  {row[5]}")
    assert f"Version          {ctl.world.property('Version')}\n" in text
    assert "Queries: 0\n" in text


def test_status_says_where_a_limit_differs(make_bus):
    text = Ctl(make_bus(limits={"statement_text_bytes": 54321})).ok("status").decode()
    line = next(line for line in text.splitlines() if line.split()[:1] == ["statement_text_bytes"])
    assert line.split()[1:4] == ["54321", "(1048576)", "bytes"]


@pytest.mark.parametrize("fmt", ["json", "jsonl"])
def test_status_as_json(ctl, fmt):
    process = ctl.start("sql", "--timeout", "0", ENDLESS)
    wait_until(lambda: [q for q in ctl.world.queries() if q["state"] == "running"], "the query to run")
    out = ctl.ok("status", "-F", fmt)
    process.kill()
    process.communicate()
    status = json.loads(out)
    assert out.count(b"\n") == 1 or fmt == "json"
    assert status["version"] == ctl.world.property("Version") and status["read_only"] is False and status["state"] == "open"
    assert status["languages"] == ctl.world.property("Languages")
    (query,) = [query for query in status["queries"] if query["state"] == "running"]
    assert query["text"] == ENDLESS and query["id"] > 0
    assert [(one["name"], one["value"], one["default"], one["unit"], one["error"], one["description"])
            for one in status["limits"]] == [tuple(row) for row in ctl.world.limits().values()]
    assert "the format is one of json, jsonl" in ctl.fails(USAGE, "status", "-F", "csv")


def test_a_daemon_that_does_not_start(make_bus):
    world = make_bus(prefix="false #")
    world.expected_exits.add(1)
    assert "; 'journalctl --user -u queryd' may say why\n" in Ctl(world).fails(NO_DAEMON, "sql", "SELECT 1")
    assert "journal" not in Ctl(world).fails(NO_DAEMON, "sql", "-s", "nosuch", "SELECT 1")


def test_cancel(ctl):
    process = ctl.start("sql", "--timeout", "0", ENDLESS)
    query = wait_until(lambda: [q for q in ctl.world.queries() if q["state"] == "running"], "the query to run")[0]
    assert b"WITH RECURSIVE" in ctl.ok("status")
    run = ctl("cancel", str(query["id"]))
    assert (run.returncode, run.stdout, run.stderr) == (OK, b"", b"")
    out, err = process.communicate(timeout=30 * SLOWER)
    assert (process.returncode, out) == (QUERY, b"") and b"cancel" in err.lower()
    ctl.fails(QUERY, "cancel", "4711")
    assert "not the id" in ctl.fails(USAGE, "cancel", "abc")


def test_backup(ctl, tmp_path):
    ctl.ok("update", "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
    path = tmp_path / "copy.db"
    run = ctl("backup", str(path))
    assert (run.returncode, run.stdout, run.stderr) == (OK, b"", b"")
    assert path.stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT sum(a) FROM t").fetchone() == (3,)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    before = path.read_bytes()
    assert "exists" in ctl.fails(QUERY, "backup", str(path))
    assert path.read_bytes() == before


def test_check(ctl):
    ctl.ok("update", "CREATE TABLE t (a); CREATE INDEX i ON t (a); INSERT INTO t VALUES (1)")
    for option in ([], ["--full"]):
        run = ctl("check", *option)
        assert (run.returncode, run.stdout, run.stderr) == (OK, b"", b"the database is in order\n")


def test_check_finds_damage(make_bus):
    world = make_bus()
    ctl = Ctl(world)
    ctl.ok("update", "CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1), (2), (3)")
    world.stop_daemon()
    with sqlite3.connect(os.path.join(world.store, "queryd.db")) as database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a NOT NULL UNIQUE)' WHERE name = 't'")
        database.execute("PRAGMA writable_schema = OFF")
    database.close()
    with sqlite3.connect(os.path.join(world.store, "queryd.db")) as database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 't') "
                         "WHERE name = 'sqlite_autoindex_t_1'")
    database.close()
    run = ctl("check", "--full")
    assert run.returncode == QUERY and run.stdout != b"" and run.stderr.startswith(b"queryctl: ")


# --- exit codes ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("arguments", [
    [], ["nosuch"], ["sql", "--nosuch"], ["sql", "a", "b"], ["sql", "-F", "xml", "SELECT 1"], ["sql", "-n", "0", "SELECT 1"],
    ["sql", "--timeout", "soon", "SELECT 1"], ["sql", "--output", "x", "SELECT 1"], ["sql", "--timing=1", "SELECT 1"], ["backup"],
    ["export", "-F", "table", "t"], ["import", "-F", "table", "x", "-t", "t"], ["store", "create", "x", "--delete"],
    ["sql", "-p"], ["store"], ["check", "x"]])
def test_usage(ctl, arguments):
    assert "Try 'queryctl --help'" in ctl.fails(USAGE, *arguments)
    assert not ctl.world.has_owner()


def test_near_names(ctl):
    assert "did you mean 'sql'?" in ctl.fails(USAGE, "slq", "SELECT 1")
    assert "did you mean '--format'?" in ctl.fails(USAGE, "sql", "--fromat", "csv", "SELECT 1")
    assert "did you mean" not in ctl.fails(USAGE, "zzz", "SELECT 1")


def test_the_place_is_shown(ctl):
    assert ctl.fails(QUERY, "sql", "SELECT 'ä',\n\t* FORM t").splitlines()[1:] == ["   * FORM t", "     ^"]
    lines = ctl.fails(QUERY, "sql", "SELECT " + "1, " * 100 + "* FORM t" + ", 2" * 100).splitlines()
    assert len(lines[1]) < 110 and lines[1][lines[2].index("^"):].startswith("FORM")
    assert ctl.fails(QUERY, "sparql", "SELECT * { ?s ?p }").splitlines()[2].strip() == "^"


def test_a_statement_that_writes_has_a_hint(ctl):
    ctl.ok("update", "CREATE TABLE t(a)")
    assert "queryctl update" in ctl.fails(DENIED, "sql", "INSERT INTO t VALUES(1)")
    assert "queryctl update --sparql" in ctl.fails(DENIED, "sparql", "INSERT DATA { <urn:a> <urn:b> 1 }")


def test_export_to_a_name_of_no_format(ctl, tmp_path):
    for name in ("x.parquet", "x.xlsx", "x.csv.gz"):
        assert "csv, tsv, json" in ctl.fails(USAGE, "export", "-o", str(tmp_path / name), "SELECT 1 AS a")
    ctl.ok("export", "-o", str(tmp_path / "x.parquet"), "--format", "csv", "SELECT 1 AS a")
    ctl.ok("export", "-o", str(tmp_path / "plain"), "SELECT 1 AS a")
    assert sorted(os.listdir(tmp_path)) == ["plain", "x.parquet"]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_import_with_another_delimiter(ctl, tmp_path, delimiter):
    path = tmp_path / "other.csv"
    path.write_text(f'id{delimiter}name\n1{delimiter}"a{delimiter}""b"""\n2{delimiter}x,y\n', encoding="utf-8")
    name = "tab" if delimiter == "\t" else delimiter
    done = ctl("import", str(path), "--create", "-t", "found")
    assert (done.returncode, f"separated by '{name}'" in done.stderr.decode()) == (OK, True)
    ctl.ok("import", str(path), "--create", "-t", "told", "--delimiter", name)
    for table in ("found", "told"):
        rows = json.loads(ctl.ok("sql", "-F", "json", f"SELECT * FROM {table}"))
        assert rows == [{"id": 1, "name": f'a{delimiter}"b"'}, {"id": 2, "name": "x,y"}]


def test_delimiters_that_cannot_be(ctl, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n", encoding="utf-8")
    for delimiter in ("ab", ""):
        ctl.fails(USAGE, "import", str(path), "--create", "-t", "t", "--delimiter", delimiter)
    for delimiter in ('"', "x", "1"):
        assert "delimiter" in ctl.fails(QUERY, "import", str(path), "--create", "-t", "t", "--delimiter", delimiter)
    (tmp_path / "x.tsv").write_text("a\n1\n", encoding="utf-8")
    assert "for csv" in ctl.fails(QUERY, "import", str(tmp_path / "x.tsv"), "--create", "-t", "t", "--delimiter", ";")
    ctl.ok("import", str(path), "--create", "-t", "t", "--delimiter", ",")


def test_import_of_a_json_array(ctl, tmp_path):
    path = tmp_path / "rows.json"
    path.write_text('[{"a": 1, "b": "x"}, {"a": 2, "b": null}]', encoding="utf-8")
    ctl.ok("import", str(path), "--create", "-t", "t")
    assert ctl.ok("sql", "SELECT a, b FROM t") == b"a\tb\n1\tx\n2\t\\N\n"


def test_query_errors_say_where(ctl):
    message = ctl.fails(QUERY, "sql", "SELECT 1 FORM t")
    assert message.startswith("queryctl: 1:") and len(message.splitlines()) == 3
    ctl.ok("update", "CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)")
    assert "UNIQUE" in ctl.fails(QUERY, "update", "INSERT INTO t VALUES (1)")


NUMBERS = "SELECT group_concat(a) FROM (SELECT a FROM t ORDER BY a)"


def test_update_with_a_transaction(ctl):
    ctl.ok("update", "CREATE TABLE t (a UNIQUE)")
    ctl.ok("update", "BEGIN; INSERT INTO t VALUES (1) RETURNING a; COMMIT")
    ctl.ok("update", "BEGIN; DELETE FROM t; ROLLBACK")
    ctl.ok("update", "BEGIN; SAVEPOINT s; INSERT INTO t VALUES (2); ROLLBACK TO s; INSERT INTO t VALUES (3); RELEASE s; END")
    assert ctl.ok("sql", "--no-header", NUMBERS) == b"1,3\n"
    for text in ("BEGIN; INSERT INTO t VALUES (4); INSERT INTO t VALUES (1); COMMIT", "BEGIN; INSERT INTO t VALUES (4)"):
        run = ctl("update", text)
        assert run.returncode == QUERY and b"the transaction was rolled back" in run.stderr
    assert "no transaction" in ctl.fails(QUERY, "update", "COMMIT")
    assert "no transaction" in ctl.fails(QUERY, "update", "SAVEPOINT s")
    assert ctl.ok("sql", "--no-header", NUMBERS) == b"1,3\n"

    ctl.ok("update", "--transaction", "INSERT INTO t VALUES (5); INSERT INTO t VALUES (6)")
    for text, words in (("INSERT INTO t VALUES (7); INSERT INTO t VALUES (1)", b"UNIQUE"),
                        ("INSERT INTO t VALUES (7); COMMIT", b"cannot stand")):
        run = ctl("update", "--transaction", text)
        assert run.returncode == QUERY and words in run.stderr and b"the transaction was rolled back" in run.stderr
    assert ctl.ok("sql", "--no-header", NUMBERS) == b"1,3,5,6\n"


def test_shell_with_a_transaction(ctl):
    run = ctl("shell", stdin=b"CREATE TABLE t (a);\nBEGIN;\nINSERT INTO t VALUES (1) RETURNING a;\n"
                             b"SELECT count(*) AS n FROM t;\nCOMMIT;\n")
    assert (run.returncode, run.stdout) == (OK, b"a\n1\nn\n1\n"), run.stderr
    run = ctl("shell", stdin=b"BEGIN;\nDELETE FROM t;\n")
    assert run.returncode == QUERY and b"rolled back" in run.stderr
    assert ctl.ok("sql", "--no-header", "SELECT count(*) FROM t") == b"1\n"


def test_settings_before_a_transaction(ctl):
    """As SQLite's documentation types them; they end with the run."""
    ctl.ok("update", "CREATE TABLE p (a PRIMARY KEY); CREATE TABLE c (b REFERENCES p ON DELETE CASCADE);"
                     "INSERT INTO p VALUES (1); INSERT INTO c VALUES (1)")
    rebuild = "CREATE TABLE n (a PRIMARY KEY); INSERT INTO n SELECT a FROM p; DROP TABLE p; ALTER TABLE n RENAME TO p"
    ctl.ok("update", f"PRAGMA foreign_keys=OFF; BEGIN; {rebuild}; COMMIT; PRAGMA foreign_keys=ON")
    assert ctl.ok("sql", "--no-header", "SELECT count(*) FROM c") == b"1\n"
    run = ctl("shell", stdin=b"PRAGMA foreign_keys = OFF;\nPRAGMA foreign_keys;\nINSERT INTO c VALUES (2);\n"
                             b"SELECT count(*) AS n FROM c;\nPRAGMA foreign_keys(1);\nPRAGMA foreign_keys;\n")
    assert (run.returncode, run.stdout) == (OK, b"foreign_keys\n0\nn\n2\nforeign_keys\n1\n"), run.stderr
    assert "FOREIGN KEY" in ctl.fails(QUERY, "update", "PRAGMA foreign_keys=OFF; PRAGMA foreign_keys=ON;"
                                                       "INSERT INTO c VALUES (3)")
    assert "FOREIGN KEY" in ctl.fails(QUERY, "update", "INSERT INTO c VALUES (3)")
    ctl.ok("update", "PRAGMA defer_foreign_keys=ON; BEGIN; INSERT INTO c VALUES (4); INSERT INTO p VALUES (4); COMMIT")
    assert "FOREIGN KEY" in ctl.fails(QUERY, "update", "PRAGMA defer_foreign_keys=ON; BEGIN; COMMIT; BEGIN;"
                                                       "INSERT INTO c VALUES (5); INSERT INTO p VALUES (5); COMMIT")


def test_what_is_denied(ctl, tmp_path):
    ctl.ok("update", "CREATE TABLE t (a)")
    for statement in ("INSERT INTO t VALUES (1)", "DROP TABLE t", "PRAGMA journal_mode = DELETE", f"ATTACH '{tmp_path}/x' AS x",
                      f"VACUUM INTO '{tmp_path}/x'"):
        ctl.fails(DENIED, "sql", statement)
    assert "no COMMIT" in ctl.fails(QUERY, "update", "BEGIN")
    assert ctl.ok("sql", "PRAGMA journal_mode") == b"journal_mode\nwal\n"
    assert os.listdir(tmp_path) == []
    assert ctl.ok("ls", "--no-header") == b"t\ttable\n"


def test_timeout(ctl):
    assert "time" in ctl.fails(TIMEOUT, "sql", "--timeout", "0.2", ENDLESS)
    assert "time" in ctl.fails(TIMEOUT, "export", "--timeout", "0.2", ENDLESS)


def test_no_daemon(ctl):
    nowhere = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=" + os.path.join(ctl.world.folder, "nowhere")}
    for arguments in (["sql", "SELECT 1"], ["status"], ["stats"], ["check"], ["cancel", "1"], ["ls"], ["explain", "SELECT 1"],
                      ["export", "t"]):
        ctl.fails(NO_DAEMON, *arguments, env=nowhere)


def test_a_killed_daemon_is_no_end_of_a_result(ctl):
    process = ctl.start("sql", "--timeout", "0", ENDLESS)
    wait_until(lambda: [q for q in ctl.world.queries() if q["state"] == "running"], "the query to run")
    ctl.world.kill_daemon()
    out, err = process.communicate(timeout=30 * SLOWER)
    assert (process.returncode, out) == (NO_DAEMON, b"") and err.startswith(b"queryctl: ")
    assert ctl.ok("sql", "SELECT 1 AS a") == b"a\n1\n"


@pytest.mark.parametrize("verb", ["sql", "export"])
def test_interrupted(ctl, verb):
    process = ctl.start(verb, "--timeout", "0", ENDLESS)
    wait_until(lambda: [q for q in ctl.world.queries() if q["state"] in ("running", "job")], "the query to run")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30 * SLOWER)
    assert (process.returncode, out, err) == (INTERRUPTED, b"", b"")
    wait_until(lambda: not ctl.world.queries(), "the end of the query in the daemon")


def test_a_part_of_a_result_is_never_closed(ctl):
    """What was printed before an error does not look whole."""
    failing = ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
               "SELECT x, abs(-9223372036854775808 + (x < 40000)) FROM c")
    for fmt, end in (("json", b"]\n"), ("table", b"rows)\n")):
        run = ctl("sql", "-F", fmt, failing)
        assert run.returncode == QUERY and b"integer overflow" in run.stderr
        assert run.stdout.count(b"\n") > 30000 and not run.stdout.endswith(end)


# --- the shell without a terminal ----------------------------------------------------------------------------------------

def test_shell_runs_a_script(ctl):
    run = ctl("shell", stdin=b"CREATE TABLE t (a);\nINSERT INTO t\n  VALUES (1),\n  (2);\n.format csv\nSELECT a FROM t;\n"
                             b".tables\nSELECT count(*) AS n FROM t")
    assert run.returncode == OK, run.stderr
    assert run.stdout == b"a\n1\n2\nname,type\nt,table\nn\n2\n"
    assert b"sql>" not in run.stdout + run.stderr
    assert not os.path.exists(os.path.join(ctl.world.env["XDG_STATE_HOME"], "queryd/history"))


def test_shell_ends_a_script_at_the_first_error(ctl, tmp_path):
    run = ctl("shell", stdin=b"SELECT 1 AS a;\nSELECT nosuch;\nSELECT 2 AS b;\n")
    assert (run.returncode, run.stdout) == (QUERY, b"a\n1\n") and b"nosuch" in run.stderr
    assert ctl("shell", stdin=b".nosuch\nSELECT 1;\n").returncode == USAGE
    assert ctl("shell", stdin=b".format nosuch\nSELECT 1;\n").returncode == USAGE
    (tmp_path / "s.sql").write_text("SELECT nosuch;", encoding="utf-8")
    run = ctl("shell", stdin=f".read {tmp_path}/s.sql\nSELECT 2 AS b;\n".encode())
    assert (run.returncode, run.stdout) == (QUERY, b"")


def test_shell_commands(ctl, tmp_path):
    (tmp_path / "s.sql").write_text("CREATE TABLE t (a);\nINSERT INTO t VALUES (1);", encoding="utf-8")
    run = ctl("shell", stdin=f".read {tmp_path}/s.sql\n.schema\n.timing on\nSELECT a FROM t;\n.help\n.quit\nSELECT 9;\n".encode())
    assert run.returncode == OK
    assert run.stdout == b"sql\nCREATE TABLE t (a);\na\n1\n"
    assert b"timing is on\n" in run.stderr and b"1 rows, " in run.stderr and b".schema" in run.stderr


def test_triples_are_turtle(ctl, bus):
    bus.update('INSERT DATA { <x:a> <x:p> <x:b> , "t" }', language="sparql")
    construct = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(isIRI(?o)) }"
    assert ctl.ok("sparql", construct) == ctl.ok("sparql", "-F", "turtle", construct)
    assert b"<x:a> <x:p> <x:b> ." in ctl.ok("sparql", construct)
    assert b"<x:a>" in ctl.ok("sparql", "DESCRIBE <x:a>")
    assert ctl.ok("sparql", "-F", "tsv", construct) == b"subject\tpredicate\tobject\nx:a\tx:p\tx:b\n"
    same_names = ctl.ok("sparql", "SELECT ?subject ?predicate ?object { ?subject ?predicate ?object FILTER(isIRI(?object)) }")
    assert same_names == b"subject\tpredicate\tobject\nx:a\tx:p\tx:b\n"


def test_unknown_function_is_warned_of(ctl):
    told = ctl("sparql", "\ufeffSELECT ?y { BIND(<x:none>(1) AS ?y) }")
    assert told.stdout == b"y\n\\N\n"
    assert told.stderr.startswith(b"queryctl: warning: 1:18: ") and b"<x:none>" in told.stderr, told.stderr
    assert ctl("sparql", "SELECT ?y { BIND(1 AS ?y) }").stderr == b""
