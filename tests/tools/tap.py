# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the lints share: the list of files and TAP output, so that each checked thing counts as one test case."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIPPED_DIRS = ("build", ".git", "__pycache__", ".pytest_cache")


def tracked_files():
    """Paths relative to the root, sorted: what git knows or would add; without git everything but build folders."""
    git = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"],
                         capture_output=True, text=True, check=False)
    if git.returncode == 0 and git.stdout:
        return sorted(p for p in set(git.stdout.splitlines()) if os.path.isfile(os.path.join(ROOT, p)))
    found = []
    for folder, dirs, names in os.walk(ROOT):
        dirs[:] = [d for d in dirs if not d.startswith(SKIPPED_DIRS)]
        found += [os.path.relpath(os.path.join(folder, n), ROOT) for n in names]
    return sorted(found)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="surrogateescape") as stream:
        return stream.read()


def c_files():
    return [p for p in tracked_files() if p.endswith((".c", ".h"))]


def public_headers():
    """The installed headers: query-client.h and those that it includes, which stand beside it."""
    main = "client-lib/query-client.h"
    return [main] + [os.path.join("client-lib", name) for name in re.findall(r'^#include "(query-[\w-]+\.h)"', read(main), re.M)]


class Tap:
    def __init__(self):
        self.n, self.failed = 0, 0

    def case(self, name, problems):
        """One test case; passes when @problems is empty."""
        self.n += 1
        if problems:
            self.failed += 1
            for problem in problems:
                print(f"# {name}: {problem}")
        print(f"{'not ok' if problems else 'ok'} {self.n} {name}")

    def skip(self, name, reason):
        self.n += 1
        print(f"ok {self.n} {name} # SKIP {reason}")

    def finish(self):
        print(f"1..{self.n}")
        sys.exit(1 if self.failed else 0)
