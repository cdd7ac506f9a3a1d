# SPDX-License-Identifier: LGPL-2.1-or-later
"""queryctl on a terminal: tables, colours, pager, progress, Ctrl-C, and the shell with its editor."""
import os
import signal
import stat
import subprocess

import pytest

from harness import wait_until, written_bytes
from terminal import Terminal

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
TWO_ROWS = "SELECT 1 AS a, 'x' AS b UNION ALL SELECT 20, NULL"
TABLE = " a  b\n──  ────\n 1  x\n20  NULL\n(2 rows)\n"


@pytest.fixture
def terminal(bus):
    opened = []

    def open_terminal(*arguments, env=None, **kwargs):
        opened.append(Terminal([bus.queryctl, *arguments], {**bus.env, "PAGER": "cat", **(env or {})}, **kwargs))
        return opened[-1]

    yield open_terminal
    for one in opened:
        one.close()


def queries(bus):
    return [q for q in bus.queries() if q["state"] in ("running", "long")]


def test_a_table_with_colours(terminal):
    one = terminal("sql", TWO_ROWS)
    assert one.finish() == 0
    assert one.seen.replace(b"\r\n", b"\n").decode() == (
        " \033[1ma\033[0m  \033[1mb\033[0m\n──  ────\n 1  x\n20  \033[2mNULL\033[0m\n(2 rows)\n")


def test_no_color(terminal):
    one = terminal("sql", TWO_ROWS, env={"NO_COLOR": "1"})
    assert one.finish() == 0
    assert one.seen.replace(b"\r\n", b"\n").decode() == TABLE
    one = terminal("sql", TWO_ROWS, env={"NO_COLOR": ""})
    assert one.finish() == 0 and b"\033[1m" in one.seen


def make_pager(bus):
    """A pager that tells that it ran."""
    path = os.path.join(bus.folder, "pager")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("#!/bin/sh\nsed 's/^/paged: /'\n")
    os.chmod(path, 0o755)
    return path


def test_the_pager_shows_tables_only(bus, terminal):
    pager = {"PAGER": make_pager(bus), "NO_COLOR": "1"}
    one = terminal("sql", TWO_ROWS, env=pager)
    assert one.finish() == 0
    assert one.seen.replace(b"\r\n", b"\n").decode() == "".join(f"paged: {line}\n" for line in TABLE.splitlines())
    for arguments in (["-F", "csv"], ["-F", "jsonl"], ["--no-pager"]):
        one = terminal("sql", *arguments, TWO_ROWS, env=pager)
        assert one.finish() == 0 and b"paged" not in one.seen and b"x" in one.seen


def test_a_pager_that_is_left_early(terminal):
    many = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 500000) SELECT x FROM c"
    one = terminal("sql", many, env={"PAGER": "head -n 3", "NO_COLOR": "1"})
    assert one.finish() == 0
    assert [line.strip() for line in one.seen.decode().splitlines()][2:] == ["1"]


def test_no_pager_behind_a_pipe(bus, terminal):
    one = terminal("sql", TWO_ROWS, env={"PAGER": make_pager(bus)}, stdout=subprocess.PIPE)
    assert one.process.stdout.read() == b"a\tb\n1\tx\n20\t\\N\n"
    assert one.finish() == 0 and one.seen == b""
    one.process.stdout.close()


def test_ctrl_c_ends_a_query(bus, terminal):
    one = terminal("sql", "--timeout", "0", ENDLESS)
    wait_until(lambda: queries(bus), "the query to run")
    one.type("\x03")
    assert one.finish() == 130
    assert one.seen in (b"", b"^C")
    wait_until(lambda: not bus.queries(), "the query's end in the daemon")


def test_ctrl_c_ends_an_update(bus, terminal):
    bus.update("CREATE TABLE many(i)")
    one = terminal("update", "--timeout", "0", f"INSERT INTO many {ENDLESS.replace('count(*)', 'x')}")
    wait_until(lambda: [q for q in bus.queries() if q["state"] == "writing"], "the update to run")
    one.type("\x03")
    assert one.finish() == 130
    bus.update("CREATE TABLE next(i)")  # which the writer executes after all that it has
    assert bus.query("SELECT count(*) FROM many") == [(0,)]


def test_ctrl_c_of_an_update_that_is_not_answered(bus, terminal):
    bus.update("CREATE TABLE many(i)")
    one = terminal("update", "--timeout", "0", f"INSERT INTO many {ENDLESS.replace('count(*)', 'x')}")
    wait_until(lambda: [q for q in bus.queries() if q["state"] == "writing"], "the update to run")
    os.kill(bus.daemon_pid(), signal.SIGSTOP)
    one.type("\x03")
    try:
        assert one.finish() == 130
    finally:
        os.kill(bus.daemon_pid(), signal.SIGCONT)
    assert b"not known whether the update was executed" in one.seen


def test_ctrl_c_leaves_no_part_of_a_file(bus, terminal, tmp_path):
    slow = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
    one = terminal("export", "--timeout", "0", slow, "-o", str(tmp_path / "out.csv"))
    wait_until(lambda: written_bytes(one.process.pid, tmp_path) > 0, "a part of the file")
    one.type("\x03")
    assert one.finish() == 130
    assert os.listdir(tmp_path) == []
    wait_until(lambda: not bus.queries(), "the job's end in the daemon")


def test_import_shows_progress_on_a_terminal_only(bus, terminal, tmp_path):
    path = tmp_path / "big.csv"
    path.write_text("a,b\n" + "1,some text that makes the file long enough to see it being read\n" * 400000, encoding="utf-8")
    bus.update("CREATE TABLE t (a, b)")
    one = terminal("import", str(path), "-t", "t")
    assert one.finish() == 0
    assert b"import: " in one.seen and b" % of " in one.seen
    assert one.seen.replace(b"\r\n", b"\n").endswith(b"\r\x1b[K400000 rows imported\n")
    run = bus.run(bus.queryctl, "import", str(path), "-t", "t")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "400000 rows imported\n")


# --- the shell -----------------------------------------------------------------------------------------------------------

def test_shell_with_statements_of_several_lines(bus, terminal):
    one = terminal("shell", env={"NO_COLOR": "1"})
    one.expect("Ctrl-D leaves.")
    one.expect_prompt()
    one.type("CREATE TABLE t\n")
    one.expect_prompt("...> ")
    one.type("(a, b);\n")
    one.expect_prompt()
    one.type("INSERT INTO t VALUES (1, 'x;'); SELECT b FROM t;\n")
    one.expect("1 row changed\n")
    one.expect("(1 row)\n")
    one.expect_prompt()
    one.type("SELECT nosuch;\n")
    one.expect("queryctl: 1:8: no such column: nosuch\n")
    one.expect_prompt()
    one.type("\x04")
    assert one.finish() == 0
    assert bus.query("SELECT a, b FROM t") == [(1, "x;")]


def test_shell_keeps_a_history(bus, terminal):
    path = os.path.join(bus.env["XDG_STATE_HOME"], "queryd/history")
    one = terminal("shell")
    one.expect_prompt()
    one.type("SELECT 'first' || 'one' AS a;\n")
    one.expect("firstone\n")
    one.expect_prompt()
    one.type(".quit\n")
    assert one.finish() == 0
    with open(path, encoding="utf-8") as stream:
        assert "firstone" not in stream.read()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    again = terminal("shell")
    again.expect_prompt()
    again.type("\x10\x10")
    again.expect("SELECT 'first' || 'one' AS a;")
    again.type("\n")
    again.expect("firstone\n")
    again.expect_prompt()
    again.type("exit\n")
    assert again.finish() == 0


def test_shell_ctrl_c_cancels_a_statement_and_goes_on(bus, terminal):
    one = terminal("shell", "--timeout", "0")
    one.expect_prompt()
    for _ in range(2):
        one.type(ENDLESS + ";\n")
        wait_until(lambda: queries(bus), "the query to run")
        one.type("\x03")
        one.expect("interrupted\n")
        one.expect_prompt()
        wait_until(lambda: not bus.queries(), "the query's end in the daemon")
    one.type("SELECT 'still' || 'here' AS a;\n")
    one.expect("stillhere\n")
    one.expect_prompt()
    one.type("\x04")
    assert one.finish() == 0


def test_shell_ctrl_c_ends_what_a_file_runs(bus, terminal, tmp_path):
    (tmp_path / "s.sql").write_text(ENDLESS + ";\nSELECT 'after' || 'wards';\n", encoding="utf-8")
    one = terminal("shell", "--timeout", "0")
    one.expect_prompt()
    one.type(f".read {tmp_path}/s.sql\n")
    wait_until(lambda: queries(bus), "the query to run")
    one.type("\x03")
    one.expect("interrupted\n")
    one.expect_prompt()
    one.type("SELECT 'still' || 'here' AS a;\n")
    assert "afterwards" not in one.expect("stillhere\n")
    one.expect_prompt()
    one.type("\x04")
    assert one.finish() == 0


def test_shell_ctrl_c_drops_what_is_typed(terminal):
    one = terminal("shell")
    one.expect_prompt()
    one.type("SELECT 'dropped'\n")
    one.expect_prompt("...> ")
    one.type("|| 'more'\x03")
    one.expect("^C\n")
    one.expect_prompt()
    one.type("SELECT 'kept' || 'one' AS a;\n")
    one.expect("keptone\n")
    one.expect_prompt()
    one.type("\x04")
    assert one.finish() == 0


def test_shell_completes_names(bus, terminal):
    bus.update("CREATE TABLE longname (a)")
    bus.update("INSERT INTO longname VALUES ('found')")
    one = terminal("shell")
    one.expect_prompt()
    one.type("SELECT a FROM longn\t;\n")
    one.expect("found\n")
    one.type(".tab\t\n")
    one.expect("longname")
    one.expect_prompt()
    one.type("\x04")
    assert one.finish() == 0


def test_shell_commands(terminal):
    one = terminal("shell")
    one.expect_prompt()
    for typed, answer in ((".format jsonl\nSELECT 1 AS a;\n", '{"a":1}\n'),
                          (".format\n", "jsonl\n"),
                          (".timing on\n", "timing is on\n"),
                          ("SELECT 2 AS a;\n", " ms in the daemon\n"), (".nosuch\n", "unknown command '.nosuch'"),
                          ("help\n", ".quit")):
        one.type(typed)
        one.expect(answer)
    one.expect_prompt()
    one.type("quit\n")
    assert one.finish() == 0


def test_shell_survives_the_daemon(bus, terminal):
    one = terminal("shell")
    one.expect_prompt()
    one.type("SELECT 'one' || 'st' AS a;\n")
    one.expect("onest\n")
    bus.kill_daemon()
    one.type("SELECT 'two' || 'nd' AS a;\n")
    one.expect("twond\n")
    one.expect_prompt()
    one.type("\x04")
    assert one.finish() == 0
