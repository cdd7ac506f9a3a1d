# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fixtures of the tests in a systemd user session: `session`, cleaned before and after each test; no test hangs the run."""
import os
import signal
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import session as user_session  # noqa: E402

TEST_SECONDS = 60


@pytest.fixture(autouse=True)
def deadline():
    def too_long(_signum, _frame):
        raise TimeoutError(f"the test took more than {TEST_SECONDS} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(TEST_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def session():
    world = user_session.Session()
    world.clean()
    yield world
    journal = user_session.run("journalctl", "--user", "-n", "60", "--no-pager", "-o", "short-precise")
    print("--- the journal's end\n" + journal.stdout + journal.stderr)
    world.clean()
    world.close()
