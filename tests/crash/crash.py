#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""crash.py [--long] [--json FILE] [--junit FILE] [TEST...]: the crash tests, one line each; QUERYD_BUILD_DIR names the build.

Each test is a function here that returns its figures; what is lost, in part, hung or not hit fails it. --long does ten times as
much. docs/reliability.md says what the tests do and what they have shown.
"""
import argparse
import contextlib
import io
import json
import os
import sys
import time
import traceback
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
sys.path.insert(0, HERE)

import disk_full  # noqa: E402
import in_process  # noqa: E402
import kills  # noqa: E402
import syscalls  # noqa: E402
from outcome import Skip  # noqa: E402

TESTS = {"power-cut": in_process.power_cut, "sqlite-faults": in_process.sqlite_faults, "disk-full": disk_full.run,
         "kills": kills.run, "syscalls": syscalls.run}


def run(name, long):
    """One test: its outcome as a dictionary, printed as a line."""
    start, log = time.monotonic(), io.StringIO()
    try:
        with contextlib.redirect_stdout(log):  # the daemon's log, at the end of each world
            outcome = TESTS[name](long)
    except Skip as skip:
        outcome = {"skipped": str(skip)}
    except Exception as error:  # the other tests go on
        traceback.print_exc()
        outcome = {"problems": [f"{type(error).__name__}: {error}"]}
    outcome["seconds"] = round(time.monotonic() - start, 1)
    outcome["ok"] = "skipped" in outcome or not outcome.get("problems")
    figures = ", ".join(f"{value} {key.replace('_', ' ')}" for key, value in outcome.items() if isinstance(value, int)
                        and not isinstance(value, bool))
    state = "SKIPPED: " + outcome["skipped"] if "skipped" in outcome else figures
    print(f"{'ok' if outcome['ok'] else 'FAILED'} {name}: {state}; {outcome['seconds']} s", flush=True)
    for problem in outcome.get("problems", [])[:20]:
        print(f"    {problem}", flush=True)
    if not outcome["ok"]:
        print(log.getvalue()[-4000:], file=sys.stderr)
    return outcome


def write_junit(outcomes, path):
    """As pytest does, for tests/tools/tally.py."""
    suite = xml.etree.ElementTree.Element("testsuite", name="crash")
    for name, outcome in outcomes.items():
        case = xml.etree.ElementTree.SubElement(suite, "testcase", classname="crash", name=name, time=str(outcome["seconds"]))
        if "skipped" in outcome:
            xml.etree.ElementTree.SubElement(case, "skipped", message=outcome["skipped"])
        for problem in outcome.get("problems", [])[:1]:
            xml.etree.ElementTree.SubElement(case, "failure", message=problem)
    xml.etree.ElementTree.ElementTree(suite).write(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true", help="ten times as much")
    parser.add_argument("--json", metavar="FILE", help="all figures")
    parser.add_argument("--junit", metavar="FILE", help="for the tally of tests/run check")
    parser.add_argument("tests", metavar="TEST", nargs="*", choices=[[], *TESTS], help="of " + " ".join(TESTS))
    arguments = parser.parse_args()
    outcomes = {name: run(name, arguments.long) for name in arguments.tests or TESTS}
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as stream:
            json.dump(outcomes, stream, indent=2)
            stream.write("\n")
    if arguments.junit:
        write_junit(outcomes, arguments.junit)
    sys.exit(0 if all(outcome["ok"] for outcome in outcomes.values()) else 1)


if __name__ == "__main__":
    main()
