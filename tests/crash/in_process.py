# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tests that run the engine in a process of their own: power-cut-main.c and sqlite-faults-main.c say what they do."""
import json
import os
import subprocess

from harness import BUILD


def run_program(name, *arguments):
    """Its last line is JSON: the figures, and what is wrong with them."""
    done = subprocess.run([os.path.join(BUILD, "tests/crash", name), *arguments], stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.splitlines()
    if done.returncode < 0 or not lines or not lines[-1].startswith("{"):
        return {"problems": [f"{name} ended with status {done.returncode}"]}
    return json.loads(lines[-1])


def power_cut(long):
    return run_program("power-cut", *(["--records", "40", "--images", "200000"] if long else []))


def sqlite_faults(long):
    return run_program("sqlite-faults", *(["--points", "50000"] if long else []))
