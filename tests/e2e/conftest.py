# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fixtures of the end-to-end tests. `bus` is a private world with one queryd; `make_bus` makes others with limits."""
import os
import signal
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402

TEST_SECONDS = 120


@pytest.fixture(autouse=True)
def deadline(request):
    """No test hangs the run."""
    marker = request.node.get_closest_marker("deadline")
    seconds = (marker.args[0] if marker else TEST_SECONDS) * harness.SLOWER

    def too_long(_signum, _frame):
        raise TimeoutError(f"the test took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def make_bus():
    worlds = []

    def make(**kwargs):
        worlds.append(harness.World(**kwargs))
        return worlds[-1]

    yield make
    for world in worlds:
        world.finish()


@pytest.fixture
def bus(make_bus):
    return make_bus()


def pytest_configure(config):
    config.addinivalue_line("markers", "deadline(seconds): a test that may take longer than usual")
