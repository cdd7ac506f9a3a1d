# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files of queryctl when it is killed: under their names they are whole, and nothing else is left."""
import os
import sqlite3

import pytest

from harness import wait_until, written_bytes
from test_queryctl import Ctl


@pytest.fixture
def ctl(bus):
    return Ctl(bus)


LONG = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000000) SELECT i, hex(zeroblob(100)) FROM n"


@pytest.mark.parametrize("earlier", [[], ["old.csv"]])
def test_an_export_that_is_killed_leaves_nothing(ctl, tmp_path, earlier):
    for name in earlier:
        (tmp_path / name).write_text("old", encoding="utf-8")
    process = ctl.start("export", LONG, "-o", str(tmp_path / "old.csv"))
    wait_until(lambda: written_bytes(process.pid, tmp_path) > 100000, "the export to write")
    process.kill()
    process.communicate()
    assert os.listdir(tmp_path) == earlier
    ctl.ok("export", "SELECT 1 AS a", "-o", str(tmp_path / "old.csv"))
    assert os.listdir(tmp_path) == ["old.csv"] and (tmp_path / "old.csv").read_text(encoding="utf-8") == "a\n1\n"
    assert (tmp_path / "old.csv").stat().st_mode & 0o777 == 0o600


def test_a_backup_that_is_killed_leaves_all_or_nothing(ctl, tmp_path):
    """It had its name from the beginning, so that a part of it could be taken for a whole one."""
    path = tmp_path / "copy.db"
    ctl.world.update("CREATE TABLE t (a)")
    ctl.world.update("INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 8000) "
                     "SELECT zeroblob(10000) FROM n")
    process = ctl.start("backup", str(path))
    wait_until(lambda: process.poll() is not None or written_bytes(process.pid, tmp_path) > 0, "the backup to write")
    process.kill()
    process.communicate()
    if os.listdir(tmp_path) != []:  # it was faster
        assert os.listdir(tmp_path) == ["copy.db"]
        assert sqlite3.connect(path).execute("SELECT count(*) FROM t").fetchall() == [(8000,)]
        path.unlink()
    ctl.ok("backup", str(path))
    assert os.listdir(tmp_path) == ["copy.db"]
