#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds up the results of all stages of `tests/run check`: one line for each failure and skip, then the totals.

Counts test cases: subtests of TAP programs, cases of pytest. A program that fails without a failed case counts as one;
so does each report that a sanitizer left behind, and each stage that did not run to its end.
"""
import glob
import json
import os
import re
import sys
import xml.etree.ElementTree

TAP_LINE = re.compile(r"^(not ok|ok)\b(?:\s+\d+)?\s*-?\s*(.*?)(?:\s+#\s*(SKIP)\b\s*(.*))?$", re.I)
SANITIZER_HEAD = re.compile(r"(ERROR|WARNING): \w+Sanitizer.*|runtime error:.*")


class Tally:
    def __init__(self):
        self.passed, self.failures, self.skips = 0, [], []

    def tap(self, test):
        seen_failures, cases = 0, 0
        for line in (test.get("stdout") or "").splitlines():
            match = TAP_LINE.match(line)
            if not match:
                continue
            cases += 1
            if match.group(3):
                self.skips.append(f"{test['name']}: {match.group(2)}: {match.group(4) or 'no reason given'}")
            elif match.group(1) == "ok":
                self.passed += 1
            else:
                seen_failures += 1
                self.failures.append(f"{test['name']}: {match.group(2)}")
        if test["result"] in ("FAIL", "ERROR", "TIMEOUT", "INTERRUPT") and not seen_failures:
            self.failures.append(f"{test['name']}: {test['result'].lower()} (exit status {test.get('returncode')})")
        elif not cases:
            if test["result"] == "SKIP":
                self.skips.append(f"{test['name']}: skipped")
            else:
                self.passed += 1

    def junit(self, path):
        for case in xml.etree.ElementTree.parse(path).iter("testcase"):
            name = f"{case.get('classname')}.{case.get('name')}"
            skipped = case.find("skipped")
            problem = case.find("failure") if case.find("failure") is not None else case.find("error")
            if problem is not None:
                self.failures.append(f"{name}: {(problem.get('message') or 'no message').splitlines()[0][:200]}")
            elif skipped is not None:
                self.skips.append(f"{name}: {skipped.get('message')}")
            else:
                self.passed += 1

    def sanitizer(self, path):
        with open(path, encoding="utf-8", errors="replace") as stream:
            heads = SANITIZER_HEAD.search(stream.read())
        self.failures.append(f"{path}: {heads.group(0) if heads else 'a report'}")

    def lines(self, path, into):
        with open(path, encoding="utf-8") as stream:
            into += stream.read().splitlines()


def main():
    results, tally = sys.argv[1], Tally()
    for path in sorted(glob.glob(os.path.join(results, "*.json"))):
        with open(path, encoding="utf-8") as stream:
            for line in stream:
                tally.tap(json.loads(line))
    for path in sorted(glob.glob(os.path.join(results, "*.xml"))):
        tally.junit(path)
    for path in sorted(glob.glob(os.path.join(results, "sanitizer*"))):
        tally.sanitizer(path)
    for path in sorted(glob.glob(os.path.join(results, "*.failed"))):
        tally.lines(path, tally.failures)
    for path in sorted(glob.glob(os.path.join(results, "*.skip"))):
        tally.lines(path, tally.skips)

    for skip in tally.skips:
        print(f"SKIPPED {skip}")
    for failure in tally.failures:
        print(f"FAILED {failure}")
    if tally.passed == 0 and not tally.failures:
        tally.failures.append("nothing ran")
        print("FAILED nothing ran")
    print(f"{tally.passed} passed, {len(tally.failures)} failed, {len(tally.skips)} skipped")
    sys.exit(1 if tally.failures else 0)


main()
