# SPDX-License-Identifier: LGPL-2.1-or-later
"""System calls that fail in the real daemon: strace injects an error into the k-th call of a kind, once or from then on.

A point counts only when strace's record shows that the error was injected. Under each point some updates and queries are made:
each succeeds or gives an error in time; a result is whole; after the fault the same daemon serves again. What was acknowledged at
any point is looked for by daemons without faults. Some points are at a start, some in a salvage, the others in a daemon that runs
(syscall_phases.py).
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
import syscall_phases
from outcome import Skip
from wire_client import CutOff, RemoteError

FILE = ("EIO", "ENOSPC", "EDQUOT", "EINTR")
NAMES = ("EIO", "ENOSPC", "EDQUOT", "ENOMEM")
MAKE = ("EMFILE", "ENFILE", "ENOMEM")
# What the kernel may really answer. EINTR comes once only: who retries on it would do so for ever. Not fcntl: SQLite waits for a
# lock for up to ten seconds, whatever the reason, and strace cannot tell locking from unlocking, which never fails. Not read and
# write: most are of eventfds, which have no errors of a disk.
ERRORS = {
    "openat": ("EMFILE", "ENFILE", "ENOSPC", "EDQUOT", "EIO", "ENOMEM", "EINTR"), "pwrite64": FILE, "pread64": ("EIO", "EINTR"),
    "fdatasync": FILE, "fsync": FILE, "ftruncate": FILE, "fallocate": FILE, "sync_file_range": ("EIO", "ENOSPC", "ENOMEM"),
    "unlink": NAMES, "unlinkat": NAMES, "mkdir": NAMES, "rename": NAMES, "renameat": NAMES, "renameat2": NAMES, "linkat": NAMES,
    "getdents64": ("EIO", "ENOMEM"), "lseek": ("EIO",), "fchown": ("EIO", "EDQUOT"), "fchmod": ("EIO",),
    "mmap": ("ENOMEM",), "mremap": ("ENOMEM",), "brk": ("ENOMEM",), "newfstatat": ("EIO", "ENOMEM"),
    "statfs": ("EIO", "EINTR"), "epoll_create1": MAKE, "epoll_ctl": ("ENOMEM", "ENOSPC"), "epoll_wait": ("EINTR",),
    "eventfd2": MAKE,
    "socketpair": MAKE, "signalfd4": MAKE, "timerfd_create": MAKE, "memfd_create": MAKE, "clone3": ("EAGAIN", "ENOMEM"),
    "sendmsg": ("ENOMEM", "EINTR"), "recvmsg": ("ENOMEM", "EINTR"), "getrandom": ("EINTR",), "ppoll": ("EINTR", "ENOMEM"),
    "poll": ("EINTR", "ENOMEM"), "clock_nanosleep": ("EINTR",),
}
# What opening a store makes of it.
SALVAGE = ("openat", "pwrite64", "pread64", "fdatasync", "fsync", "ftruncate", "fallocate", "unlink", "mkdir", "rename", "renameat",
           "renameat2", "linkat", "getdents64", "lseek", "fchmod", "fchown", "mmap", "mremap", "newfstatat", "statfs")
CRASHES = {128 + number for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP)}
NO_MEMORY = ("brk", "mmap", "mremap")  # glibc (any program: brk number 3) and GLib end a process that gets none
LAST = {"epoll_ctl": 6}  # these add a descriptor; those behind change what is waited for, which never fails
DEADLINE_SECONDS = 10
N_FIXED = 3000
SHORT = {"start": 180, "running": 110, "salvage": 15}
N_LONG = 3000  # at least: in a daemon that runs, how often a call comes depends on what it did before
MAX_K = 60  # of a call in a daemon that runs
CALL_LINE = re.compile(r"^(\d+) +(\w+)\(")


class Hang(Exception):
    """No answer in time."""


class Trial:
    """What the points share: the world, and what was acknowledged."""

    def __init__(self):
        self.world = World(limits={"payload_inline_bytes": syscall_phases.INLINE_BYTES})
        self.world.expected_exits = set(range(256))
        self.world.call = functools.partial(self.world.call, timeout=DEADLINE_SECONDS)
        self.acknowledged, self.serial, self.last_error = set(), 0, ""
        self.payloads, self.imported = {}, set()
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
        self.prefix = prefix
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
        """What it gave, false when it gave an error."""
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

    def await_service(self):
        """A check that met errors of the disk may have taken them for damage: then a salvage comes first."""
        wait_until(lambda: self.attempt(self.read), "a daemon that serves")

    def note_hit(self):
        """Whether the error was injected: then it is a point."""
        is_hit = self.count_hits() > 0
        self.counts["points" if is_hit else "missed"] += 1
        return is_hit

    def look(self):
        """By a daemon without faults: how much of the acknowledged is lost, how much is in part."""
        self.launch("")
        self.await_service()
        tables = {kind: set() for kind in ("t", "u")}
        for table, found in tables.items():
            with self.world.prepare(f"SELECT k FROM {table}") as channel:
                found.update(row[0] for row in channel.fetch())
        with self.world.prepare("SELECT ?k (COUNT(*) AS ?n) { ?s <urn:p> ?k, 'x' . FILTER(isNumeric(?k)) } GROUP BY ?k",
                                language="sparql") as channel:
            triples = {int(row[0].text) for row in channel.fetch()}
        with self.world.prepare("SELECT ?n (COUNT(*) AS ?k) { ?s <urn:imported> ?n } GROUP BY ?n", language="sparql") as channel:
            imported = {int(row[0].text if hasattr(row[0], "text") else row[0]): int(row[1].text) for row in channel.fetch()}
        syscall_phases.open_payload(self)
        lost = [number for number in self.imported if imported.get(number) != syscall_phases.N_TRIPLES]
        lost += [unit for unit in self.acknowledged
                if unit[1] not in (triples if unit[0] == "sparql" else tables["t"])
                or (unit[0] == "batch" and unit[1] not in tables["u"])]
        in_part = (tables["u"] - tables["t"]) | {number for number, n in imported.items() if n != syscall_phases.N_TRIPLES}
        ok = self.world.check(quick=False)
        return len(lost), len(in_part), ok[0] is True


def strace(trial, *options):
    return f"strace --seccomp-bpf -qq -f -o {trial.trace} " + " ".join(options)


def read_counts(trial, is_counted=lambda thread, first: True):
    """How often each thread makes each call: {call: the greatest number}. @is_counted: of a thread and the first one of all."""
    counts, first = collections.Counter(), None
    with open(trial.trace, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            match = CALL_LINE.match(line)
            if match:
                first = first or match.group(1)
                counts[match.groups()] += 1
    most = {}
    for (thread, call), n in counts.items():
        if is_counted(thread, first):
            most[call] = max(most.get(call, 0), n)
    return most


def count_calls(trial):
    """In a run without faults, from its start."""
    trial.launch(strace(trial, "-e trace=" + ",".join(ERRORS)))
    trial.exercise()
    trial.end_daemon()
    return read_counts(trial)


def count_calls_of_phase(trial, name):
    prepare, exercise = syscall_phases.PHASES[name]
    prepared = prepare(trial)
    n_errors = trial.counts["errors"]
    with syscall_phases.attached(trial, "-e", "trace=" + ",".join(ERRORS)):
        exercise(trial, prepared)
    if trial.counts["errors"] > n_errors:
        raise AssertionError(f"phase {name} fails without a fault: {trial.last_error}")
    return {call: min(n, MAX_K) for call, n in read_counts(trial).items() if call not in LAST}


def make_points(most, rand, least=None):
    """(call, error, k, sticky) in a random order, each call with the same share. @least: of a call, the last k not meant."""
    by_call = collections.defaultdict(list)
    for call, n in most.items():
        for k in range((least or {}).get(call, 0) + 1, min(n, LAST.get(call, 200)) + 1):
            for error in ERRORS[call]:
                by_call[call].append((call, error, k, False))
                if error != "EINTR" and call not in LAST:
                    by_call[call].append((call, error, k, True))
    # each kind of call has the same share
    for some in by_call.values():
        rand.shuffle(some)
    while any(by_call.values()):
        for some in by_call.values():
            if some:
                yield some.pop()


def inject(point):
    call, error, k, sticky = point
    return ["-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={k}{'+' if sticky else ''}"]


def try_start(trial, point):
    """A point between a daemon's start and its last answer."""
    trial.launch(strace(trial, *inject(point)))
    n_exits = len(trial.world.exits())
    trial.exercise()
    if not trial.note_hit():
        return
    if len(trial.world.exits()) > n_exits:  # it said so and left; the next one starts under the same fault
        trial.counts["ended"] += 1
    elif not point[3]:
        recovered = trial.recovers()
        trial.counts["recovered"] += recovered is True
        if recovered is False:
            raise AssertionError(f"no recovery: {trial.last_error}")


def try_running(trial, phase, point):
    """A point in a daemon that runs, which has to work when the fault is over, and to go on living."""
    prepare, exercise = syscall_phases.PHASES[phase]
    if trial.prefix or not trial.world.has_owner():
        trial.launch("")
    trial.await_service()
    prepared = prepare(trial)
    n_exits = len(trial.world.exits())
    with syscall_phases.attached(trial, *inject(point)):
        exercise(trial, prepared)
    if not trial.note_hit():
        return
    if len(trial.world.exits()) > n_exits:
        trial.counts["left"] += 1
    os.unlink(trial.trace)  # the fault is over
    recovered = trial.recovers()
    if recovered is None and point[0] in NO_MEMORY:  # its end, which the fault had begun, came behind strace's leaving
        trial.await_service()
        recovered = trial.recovers()
    if not recovered:
        raise AssertionError(f"no recovery: {trial.last_error}")
    trial.counts["recovered"] += len(trial.world.exits()) == n_exits


def try_salvage(trial, store, point):
    store.put()
    trial.launch(strace(trial, *inject(point)))
    trial.attempt(store.ask)
    trial.note_hit()
    store.look()


def try_point(trial, function, *arguments):
    """Returns what is wrong, or None."""
    n_exits = len(trial.world.exits())
    try:
        function(trial, *arguments)
        crashes = [status for status in trial.world.exits()[n_exits:] if status in CRASHES]
        if crashes and arguments[-1][0] not in NO_MEMORY:
            return f"{arguments}: the daemon has crashed: {crashes}"
        trial.counts["crashes"] += bool(crashes)
        return None
    except Hang as hang:
        trial.counts["hung"] += 1
        return f"{arguments}: no answer: {hang}"
    except (AssertionError, BusError) as problem:
        return f"{arguments}: {problem}"


def may_trace():
    try:
        done = subprocess.run(["strace", "--seccomp-bpf", "-f", "-qq", "-o", "/dev/null", "-e", "trace=getpid", "true"],
                              capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise Skip("there is no strace") from None
    if done.returncode != 0:
        raise Skip(f"strace may not trace here: {done.stderr.strip()}")


class Tally:
    """Tries points one by one, and looks now and then for what was acknowledged."""

    def __init__(self, trial):
        self.trial, self.problems, self.by_phase = trial, [], {}
        self.n_wanted = self.lost = self.in_part = 0

    def look(self):
        lost, in_part, sound = self.trial.look()
        self.lost, self.in_part = max(self.lost, lost), max(self.in_part, in_part)
        self.problems += [] if sound else [f"integrity_check after {self.trial.counts['points']} points"]

    def try_points(self, phase, points, n_wanted, *arguments, looks=True):
        """All of them, or until so many were hit; some calls do not come in each run."""
        points, before = list(points), self.trial.counts["points"]
        n_wanted = n_wanted or (len(points) * 9 // 10 if phase == "start" else 1)
        for number, point in enumerate(points, 1):
            problem = try_point(self.trial, *arguments, point)
            self.problems += [problem] if problem else []
            if looks and number % 50 == 0:
                self.look()
            if 1 < n_wanted < len(points) * 9 // 10 and self.trial.counts["points"] - before >= n_wanted:
                break
        if looks:
            self.look()
        n_hit = self.trial.counts["points"] - before
        self.by_phase[phase] = n_hit
        if n_hit < n_wanted:
            self.problems.append(f"{phase}: only {n_hit} of {n_wanted} points were hit")


def try_salvages(trial, tally, rand, n_wanted):
    with syscall_phases.DamagedStore(trial) as store:
        store.put()
        trial.launch(strace(trial, "-e trace=" + ",".join(SALVAGE)))
        store.ask()
        trial.end_daemon()
        least = read_counts(trial, lambda thread, first: thread == first)
        most = read_counts(trial, lambda thread, first: thread != first)
        tally.try_points("salvage", make_points(most, rand, least), n_wanted, try_salvage, store, looks=False)


def try_all(trial, tally, long):
    """Returns how many kinds of calls were met."""
    rand = random.Random(7)
    n_wanted = dict.fromkeys(SHORT) if long else SHORT
    trial.set_up()
    most = count_calls(trial)
    tally.try_points("start", make_points(most, rand), n_wanted["start"], try_start)
    calls = set(most)
    for phase in syscall_phases.PHASES:
        trial.launch("")
        trial.await_service()
        trial.exercise()
        most = count_calls_of_phase(trial, phase)
        calls |= set(most)
        n = n_wanted["running"] and n_wanted["running"] // len(syscall_phases.PHASES)
        tally.try_points(phase, make_points(most, rand), n, try_running, phase, looks=long)
    tally.look()
    try_salvages(trial, tally, rand, n_wanted["salvage"])
    return len(calls)


def run(long):
    may_trace()
    trial = Trial()
    tally = Tally(trial)
    try:
        n_calls = try_all(trial, tally, long)
    finally:
        trial.launch("")
        trial.world.finish()
    problems = tally.problems
    if long and trial.counts["points"] < N_LONG:
        problems.append(f"only {trial.counts['points']} points")
    problems += [f"{tally.lost} lost"] if tally.lost else []
    problems += [f"{tally.in_part} in part"] if tally.in_part else []
    counts = trial.counts
    return {"points": counts["points"], "phases": len(tally.by_phase), "kinds_of_calls": n_calls,
            "acknowledged": len(trial.acknowledged) + len(trial.imported), "lost": tally.lost, "in_part": tally.in_part,
            "hung": counts["hung"], "recovered_without_restart": counts["recovered"], "could_not_start": counts["ended"],
            "left_while_running": counts["left"], "ended_by_libc_or_glib": counts["crashes"],
            "errors": counts["errors"], "not_hit_and_not_counted": counts["missed"],
            **{f"in_{phase}": n for phase, n in tally.by_phase.items()}, "problems": problems}
