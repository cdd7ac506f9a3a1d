# SPDX-License-Identifier: LGPL-2.1-or-later
"""System calls that fail in the real daemon: strace injects an error into the k-th call of a kind, once or from then on.

A point counts only when strace's record shows that the error was injected. Under each point some updates and queries are made:
each succeeds or gives an error in time; a result is whole; after an error that came once the same daemon serves again. What was
acknowledged at any point is looked for by daemons without faults.
"""
import collections
import contextlib
import functools
import os
import random
import re
import signal
import subprocess
import time

from gi.repository import GLib

from harness import NAME, SLOWER, BusError, World, wait_until
from outcome import Skip
from wire_client import CutOff, RemoteError

FILE = ("EIO", "ENOSPC", "EINTR")
MAKE = ("EMFILE", "ENOMEM")
# What the kernel may really answer. EINTR comes once only: who retries on it would do so for ever. Not fcntl: SQLite waits for a
# lock for up to ten seconds, whatever the reason, and strace cannot tell locking from unlocking, which never fails.
ERRORS = {
    "openat": ("EMFILE", "ENOSPC", "EIO", "ENOMEM", "EINTR"), "pwrite64": FILE, "pread64": ("EIO", "EINTR"), "fdatasync": FILE,
    "fsync": FILE, "ftruncate": FILE, "fallocate": FILE, "unlink": ("EIO", "ENOSPC", "ENOMEM"),
    "mkdir": ("EIO", "ENOSPC", "ENOMEM"),
    "mmap": ("ENOMEM",), "mremap": ("ENOMEM",), "brk": ("ENOMEM",), "newfstatat": ("EIO", "ENOMEM"),
    "statfs": ("EIO", "EINTR"), "epoll_create1": MAKE, "epoll_ctl": ("ENOMEM", "ENOSPC"), "epoll_wait": ("EINTR",),
    "eventfd2": MAKE,
    "socketpair": MAKE, "signalfd4": MAKE, "timerfd_create": MAKE, "memfd_create": MAKE, "clone3": ("EAGAIN", "ENOMEM"),
    "sendmsg": ("ENOMEM", "EINTR"), "recvmsg": ("ENOMEM", "EINTR"), "getrandom": ("EINTR",), "ppoll": ("EINTR", "ENOMEM"),
}
LAST = {"epoll_ctl": 6}  # these add a descriptor; those behind change what is waited for, which never fails
DEADLINE_SECONDS = 10
N_FIXED = 3000
N_POINTS = 300
CALL_LINE = re.compile(r"^(\d+) +(\w+)\(")


class Hang(Exception):
    """No answer in time."""


class Trial:
    """What the points share: the world, and what was acknowledged."""

    def __init__(self):
        self.world = World()
        self.world.expected_exits = set(range(256))
        self.world.call = functools.partial(self.world.call, timeout=DEADLINE_SECONDS)
        self.acknowledged, self.serial, self.last_error = set(), 0, ""
        self.counts = collections.Counter()
        self.n_launched = 0
        self.pid_file = os.path.join(self.world.folder, "launch.pid")
        self.trace = os.path.join(self.world.folder, "trace")

    def descendants(self, pid):
        try:
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as stream:
                children = [int(child) for child in stream.read().split()]
        except OSError:
            return []  # it has ended
        return children + [grandchild for child in children for grandchild in self.descendants(child)]

    def end_daemon(self):
        """kill -9, also of one that never came as far as the bus."""
        with open(self.pid_file, encoding="ascii") as stream:
            launchers = [int(line) for line in stream]
        for launcher in launchers:
            for pid in self.descendants(launcher):
                with contextlib.suppress(OSError):
                    with open(f"/proc/{pid}/comm", encoding="utf-8") as stream:
                        if stream.read().strip() != "strace":  # it ends with the daemon, and tells how that has ended
                            os.kill(pid, signal.SIGKILL)
        self.n_launched += len(launchers)
        wait_until(lambda: len(self.world.exits()) >= self.n_launched, "the daemon's end")
        os.unlink(self.pid_file)
        wait_until(lambda: not self.world.has_owner(), "the name to be free")

    def launch(self, prefix):
        """The next daemon starts behind @prefix."""
        if os.path.exists(self.pid_file):
            self.end_daemon()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.trace)
        self.world.write_launcher(prefix=f"echo $$ >> {self.pid_file}; {prefix}")

    def set_up(self):
        self.launch("")
        self.world.update("CREATE TABLE t(k INTEGER PRIMARY KEY, x)")
        self.world.update("CREATE TABLE u(k INTEGER PRIMARY KEY)")
        self.world.update("CREATE TABLE fixed AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT "
                          f"{N_FIXED}) SELECT i AS x, hex(zeroblob(40)) AS y FROM n")

    def write(self, kind):
        """One update of a kind; true when it was acknowledged."""
        self.serial += 1
        k = self.serial
        if kind == "sparql":
            self.world.update(f"INSERT DATA {{ <urn:k:{k}> <urn:p> {k}, 'x' }}", language="sparql", timeout_ms=5000)
        elif kind == "batch":
            self.world.batch([("INSERT INTO t VALUES(?, hex(zeroblob(?)))", [k, k % 3000]), ("INSERT INTO u VALUES(?)", [k])])
        else:
            self.world.update("INSERT INTO t VALUES(?, ?)", [k, "x" * (k % 500)])
        self.acknowledged.add((kind, k))
        return True

    def read(self):
        with self.world.prepare("SELECT x, y FROM fixed ORDER BY y, x") as channel:
            rows = channel.fetch()
        if len(rows) != N_FIXED:
            raise AssertionError(f"a result of {len(rows)} rows looks whole")
        return True

    def attempt(self, function, *arguments):
        """True when it worked, false when it gave an error."""
        start = time.monotonic()
        try:
            return function(*arguments)
        except BusError as error:
            self.counts["errors"] += 1
            self.last_error = str(error)
            if error.name == "ReadOnly":
                raise AssertionError(f"the store can be written, and the error says: {error}") from None
            if not error.message:
                raise AssertionError(f"an error without a message: {error.name}") from None
        except (RemoteError, CutOff, ConnectionError):
            self.counts["errors"] += 1
        except GLib.Error as error:
            raise Hang(str(error)) from None
        finally:
            if time.monotonic() - start > DEADLINE_SECONDS * SLOWER:
                raise Hang(f"{time.monotonic() - start:.1f} s")
        return False

    def exercise(self):
        for kind in ("plain", "batch", "sparql"):
            self.attempt(self.write, kind)
        self.attempt(self.read)
        self.attempt(self.write, "batch")

    def recovers(self):
        """Whether updates and queries work again, with some patience; None when the fault has come again or the daemon has left.

        strace counts calls in each thread, so what is tried again by a new thread may be hit again.
        """
        n_hits, n_exits, deadline = self.count_hits(), len(self.world.exits()), time.monotonic() + 5 * SLOWER
        while time.monotonic() < deadline:
            if self.attempt(self.write, "plain") and self.attempt(self.write, "sparql") and self.attempt(self.read):
                return True
            if self.count_hits() > n_hits or len(self.world.exits()) > n_exits:
                return None
            time.sleep(0.05)
        return False

    def count_hits(self):
        try:
            with open(self.trace, encoding="utf-8", errors="replace") as stream:
                return stream.read().count("(INJECTED)")
        except FileNotFoundError:
            return 0

    def look(self):
        """By a daemon without faults: how much of the acknowledged is lost, how much is in part."""
        self.launch("")
        tables = {kind: set() for kind in ("t", "u")}
        for table, found in tables.items():
            with self.world.prepare(f"SELECT k FROM {table}") as channel:
                found.update(row[0] for row in channel.fetch())
        with self.world.prepare("SELECT ?k (COUNT(*) AS ?n) { ?s <urn:p> ?k, 'x' . FILTER(isNumeric(?k)) } GROUP BY ?k",
                                language="sparql") as channel:
            triples = {int(row[0].text) for row in channel.fetch()}
        lost = [unit for unit in self.acknowledged
                if unit[1] not in (triples if unit[0] == "sparql" else tables["t"])
                or (unit[0] == "batch" and unit[1] not in tables["u"])]
        in_part = tables["u"] - tables["t"]
        ok = self.world.check(quick=False)
        return len(lost), len(in_part), ok[0] is True


def strace(trial, *options):
    return f"strace --seccomp-bpf -qq -f -o {trial.trace} " + " ".join(options)


def count_calls(trial):
    """How often each thread makes each call in a run without faults: {call: the greatest number}."""
    trial.launch(strace(trial, "-e trace=" + ",".join(ERRORS)))
    trial.exercise()
    trial.end_daemon()
    counts = collections.Counter()
    with open(trial.trace, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            match = CALL_LINE.match(line)
            if match:
                counts[match.groups()] += 1
    most = {}
    for (_, call), n in counts.items():
        most[call] = max(most.get(call, 0), n)
    return most


def make_points(most, rand):
    """(call, error, k, sticky) in a random order; early calls, which all threads make, come more often."""
    points = []
    for call, n in most.items():
        for k in range(1, min(n, LAST.get(call, 200)) + 1):
            for error in ERRORS[call]:
                points.append((call, error, k, False))
                if error != "EINTR" and call not in LAST:
                    points.append((call, error, k, True))
    # each kind of call has the same share
    by_call = collections.defaultdict(list)
    for point in points:
        by_call[point[0]].append(point)
    for some in by_call.values():
        rand.shuffle(some)
    while any(by_call.values()):
        for some in by_call.values():
            if some:
                yield some.pop()


def try_point(trial, point):
    """Returns what is wrong, or None."""
    call, error, k, sticky = point
    trial.launch(strace(trial, f"-e trace={call}", f"-e inject={call}:error={error}:when={k}{'+' if sticky else ''}"))
    n_exits = len(trial.world.exits())
    try:
        trial.exercise()
        n_hits = trial.count_hits()
        if n_hits == 0:
            trial.counts["missed"] += 1
            return None
        trial.counts["points"] += 1
        if len(trial.world.exits()) > n_exits:  # it said so and left; the next one starts under the same fault
            trial.counts["ended"] += 1
        elif not sticky:
            recovered = trial.recovers()
            trial.counts["recovered"] += recovered is True
            if recovered is False:
                return f"{point}: no recovery: {trial.last_error}"
        return None
    except Hang as hang:
        trial.counts["hung"] += 1
        return f"{point}: no answer: {hang}"
    except AssertionError as problem:
        return f"{point}: {problem}"


def may_trace():
    try:
        done = subprocess.run(["strace", "--seccomp-bpf", "-f", "-qq", "-o", "/dev/null", "-e", "trace=getpid", "true"],
                              capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise Skip("there is no strace") from None
    if done.returncode != 0:
        raise Skip(f"strace may not trace here: {done.stderr.strip()}")


def run(long):
    may_trace()
    rand, problems = random.Random(7), []
    trial = Trial()
    lost = in_part = 0
    try:
        trial.set_up()
        most = count_calls(trial)
        points = list(make_points(most, rand))
        n_points = len(points) * 9 // 10 if long else N_POINTS  # long: all; some calls do not come in each run
        for number, point in enumerate(points, 1):
            problem = try_point(trial, point)
            problems += [problem] if problem else []
            is_enough = number == len(points) or (trial.counts["points"] >= n_points and not long)
            if is_enough or number % 50 == 0:
                now_lost, now_in_part, sound = trial.look()
                lost, in_part = max(lost, now_lost), max(in_part, now_in_part)
                problems += [] if sound else [f"integrity_check after {number} points"]
            if is_enough:
                break
    finally:
        trial.launch("")
        trial.world.finish()
    problems += [f"{lost} lost"] if lost else []
    problems += [f"{in_part} in part"] if in_part else []
    if trial.counts["points"] < n_points:
        problems.append(f"only {trial.counts['points']} of {n_points} points were hit")
    return {"points": trial.counts["points"], "kinds_of_calls": len(most), "acknowledged": len(trial.acknowledged), "lost": lost,
            "in_part": in_part, "hung": trial.counts["hung"], "recovered_without_restart": trial.counts["recovered"],
            "could_not_start": trial.counts["ended"],
            "errors": trial.counts["errors"], "not_hit_and_not_counted": trial.counts["missed"], "problems": problems}
