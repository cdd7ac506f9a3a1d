# SPDX-License-Identifier: LGPL-2.1-or-later
"""The short form of tests/differential: random SPARQL, through the daemon and through a naive evaluator."""
import os
import subprocess
import sys

import pytest

import harness

PROGRAM = os.path.join(harness.ROOT, "tests/differential/differential.py")


@pytest.mark.deadline(120)
def test_random_requests_agree():
    done = subprocess.run([sys.executable, PROGRAM, "500", "1"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert "500 cases" in done.stdout


@pytest.mark.deadline(120)
def test_paths_in_hierarchies_agree():
    done = subprocess.run([sys.executable, PROGRAM, "300", "2", "--hierarchies"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert "300 cases" in done.stdout
