# SPDX-License-Identifier: LGPL-2.1-or-later
"""The short form of tests/run sql: random scripts, and those of tests/sql, by queryd and by SQLite itself."""
import glob
import os
import subprocess

import pytest

import harness

PROGRAM = os.path.join(harness.BUILD, "tests/sql/queryd-lockstep")


def run(*arguments):
    env = {**os.environ, "QUERYD": os.path.join(harness.BUILD, "daemon/queryd")}
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False, env=env, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.deadline(300)
def test_random_scripts_agree():
    assert int(run("20000", "1").split()[0]) >= 20000


@pytest.mark.parametrize("path", sorted(glob.glob(os.path.join(harness.ROOT, "tests/sql/*.test"))), ids=os.path.basename)
def test_script(path):
    assert " executions" in run(path)
