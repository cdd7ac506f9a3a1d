# SPDX-License-Identifier: LGPL-2.1-or-later
"""The demo and the shell of tests/run: what they print, and that nothing is left of their world. Figures are not judged here."""
import os
import re
import signal
import subprocess

import pytest

from harness import BUILD, ROOT, SANITIZER, SLOWER

SCRIPT = os.path.join(ROOT, "tests/demo/demo.sh")

pytestmark = pytest.mark.skipif(SANITIZER != "", reason="the demo measures a plain build")


def run(tmp_path, *arguments, **kwargs):
    env = dict(os.environ, QUERYD_BUILD_DIR=BUILD, TMPDIR=str(tmp_path), HOME=str(tmp_path / "home"))
    return subprocess.run(["bash", SCRIPT, *arguments], env=env, capture_output=True, text=True, check=False, timeout=90 * SLOWER,
                          **kwargs)


def test_demo(tmp_path):
    result = run(tmp_path, "demo", "--rows", "3000")
    assert result.returncode in (0, 1), result.stderr  # 1: a bar was missed, as it may be with so few rows
    lines = result.stdout.splitlines()
    assert re.fullmatch(r"demo: rows=3000 ratio=\d+\.\d+ first_row_ms=\d+\.\d+ daemon_mib=\d+\.\d+ client_mib=\d+\.\d+", lines[-1])
    assert any("3000 rows" in line and "checksum" in line for line in lines)
    assert any(line.startswith("(['id', 't1'], [[<int64 7>, <'") for line in lines)  # gdbus
    assert any(line.startswith('ssb "application/json"') for line in lines)  # busctl
    assert os.listdir(tmp_path) == []


def test_shell_runs_a_command(tmp_path):
    result = run(tmp_path, "shell", "--", "queryctl", "sql", "SELECT 7 AS seven")
    assert (result.returncode, result.stdout) == (0, "seven\n7\n"), result.stderr
    assert os.listdir(tmp_path) == []


def test_shell_keeps_the_status(tmp_path):
    assert run(tmp_path, "shell", "--", "sh", "-c", "exit 7").returncode == 7
    assert os.listdir(tmp_path) == []


def test_shell_says_what_to_try(tmp_path):
    result = run(tmp_path, "shell", input="queryctl sql 'SELECT 8 AS eight'\n")
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) == 1 + 3 + 2
    assert result.stdout.endswith("eight\n8\n")
    assert os.listdir(tmp_path) == []


def test_shell_serves_a_copy(tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    file = folder / "own.db"
    subprocess.run(["sqlite3", str(file), "CREATE TABLE k(v); INSERT INTO k VALUES('kept')"], check=True)
    before = file.read_bytes()
    commands = "queryctl update \"UPDATE k SET v = 'new'\" && queryctl sql 'SELECT v FROM k'"
    result = run(tmp_path, "shell", str(file), "--", "sh", "-c", commands)
    assert (result.returncode, result.stdout) == (0, "v\nnew\n"), result.stderr
    assert file.read_bytes() == before
    assert os.listdir(tmp_path) == ["own"]


def test_interrupt_leaves_nothing(tmp_path):
    env = dict(os.environ, QUERYD_BUILD_DIR=BUILD, TMPDIR=str(tmp_path))
    with subprocess.Popen(["bash", SCRIPT, "demo", "--rows", "1000000"], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          start_new_session=True) as process:
        assert process.stdout.read(1)  # the daemon is up, the table is being made
        os.killpg(process.pid, signal.SIGINT)
        process.wait(timeout=30 * SLOWER)
    assert os.listdir(tmp_path) == []


def test_closed_output_leaves_nothing(tmp_path):
    env = dict(os.environ, QUERYD_BUILD_DIR=BUILD, TMPDIR=str(tmp_path))
    with subprocess.Popen(["bash", SCRIPT, "demo", "--rows", "3000"], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:
        assert process.stdout.read(1)
        process.stdout.close()
        assert process.wait(timeout=60 * SLOWER) != 0
    assert os.listdir(tmp_path) == []
