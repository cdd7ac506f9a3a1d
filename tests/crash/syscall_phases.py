# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a daemon does in its life, for syscalls.py: each phase is work of one kind, with strace attached for just so long.

A daemon that runs has no start behind each point, and the fault ends with strace's leaving: then the same daemon has to work again,
also after an error that came every time. The salvage of a damaged store happens at a start; its points are those of the thread that
opens the store, behind what the main thread calls.
"""
import contextlib
import hashlib
import os
import shutil
import signal
import subprocess

from gi.repository import GLib

from harness import MANAGER, NAME, SLOWER, BusError, memory_file, wait_until

INLINE_BYTES = 1000
N_TRIPLES = 50
N_KEPT_PAYLOADS = 6
N_SALVAGED = 3000
STORE_FILES = ("queryd.db", "queryd.db-wal")


def read_all(fd):
    return os.pread(fd, os.fstat(fd).st_size, 0)


def finish_job(trial, path):
    job = trial.world.finish_job(path, 10)
    if job["State"] != "finished":
        raise BusError(job.get("ErrorName", "failed"), job.get("ErrorMessage", "a job without a message"))
    return True


# --- payloads -------------------------------------------------------------------------------------------------------------

def make_content(trial):
    trial.serial += 1
    return (b"payload %d " % trial.serial) * (20 if trial.serial % 3 == 0 else 5000)


def store_payload(trial):
    content = make_content(trial)
    with memory_file(content) as fd:
        (payload,) = trial.world.call("StorePayload", "(ha{sv})", 0, {}, fds=[fd])[0].unpack()
    trial.payloads[payload] = hashlib.sha256(content).digest()
    return True


def replace_payload(trial):
    payload, content = next(iter(trial.payloads)), make_content(trial)
    del trial.payloads[payload]  # an error leaves the old one or the new one
    with memory_file(content) as fd:
        trial.world.call("ReplacePayload", "(xha{sv})", payload, 0, {}, fds=[fd])
    trial.payloads[payload] = hashlib.sha256(content).digest()
    return True


def open_payload(trial):
    for payload, digest in trial.payloads.items():
        _, (fd,) = trial.world.call("OpenPayload", "(x)", payload)
        try:
            if hashlib.sha256(read_all(fd)).digest() != digest:
                raise AssertionError(f"payload {payload} has another content")
        finally:
            os.close(fd)
    return True


def delete_payload(trial):
    payload = next(iter(trial.payloads))
    del trial.payloads[payload]
    trial.world.call("DeletePayload", "(xa{sv})", payload, {})
    return True


def work_on_payloads(trial):
    trial.attempt(store_payload, trial)
    if trial.payloads:
        trial.attempt(replace_payload, trial)
    while len(trial.payloads) > N_KEPT_PAYLOADS:
        trial.attempt(delete_payload, trial)
    trial.attempt(open_payload, trial)


# --- jobs -----------------------------------------------------------------------------------------------------------------

def back_up(trial):
    with memory_file() as fd:
        finish_job(trial, trial.world.start_job("Backup", "(ha{sv})", 0, {}, fds=[fd], interface=MANAGER))
        return read_all(fd)


def restore(trial, data):
    with memory_file(data) as fd:
        return finish_job(trial, trial.world.start_job("Restore", "(ha{sv})", 0, {}, fds=[fd], interface=MANAGER))


def import_triples(trial):
    trial.serial += 1
    text = "".join(f'<urn:import:{trial.serial}:{i}> <urn:imported> "{trial.serial}" .\n' for i in range(N_TRIPLES))
    with memory_file(text.encode()) as fd:
        finish_job(trial, trial.world.start_job("Import", "(hsa{sv})", 0, "ntriples", {}, fds=[fd]))
    trial.imported.add(trial.serial)
    return True


def dump(trial):
    with memory_file() as fd:
        finish_job(trial, trial.world.start_job("Dump", "(hsa{sv})", 0, "ntriples", {}, fds=[fd]))
        n_lines = read_all(fd).count(b"<urn:imported>")
    if n_lines < N_TRIPLES * len(trial.imported):
        raise AssertionError(f"a dump of {n_lines} lines looks whole")
    return True


def check(trial):
    _, messages = trial.world.check(quick=False)  # what it could not look at it says
    if any("damaged" in message or "missing" in message or "page" in message for message in messages):
        raise AssertionError(f"a check says: {messages[:3]}")
    return True


def optimize(trial):
    trial.world.call("Optimize", "(a{sv})", {}, interface=MANAGER)
    return True


# --- others ---------------------------------------------------------------------------------------------------------------

def subscribe(trial):
    (path,) = trial.world.call("Subscribe", "(ssa{sv})", "sql", "SELECT count(*) FROM t", {})[0].unpack()
    trial.attempt(trial.write, "plain")
    trial.world.call("Close", interface=NAME + ".Subscription", path=path)
    return True


def update_by_channel(trial):
    with trial.world.prepare("INSERT INTO t VALUES(?, 'channel')", access="write") as channel:
        for _ in range(3):
            trial.serial += 1
            channel.fetch([trial.serial])
            trial.acknowledged.add(("plain", trial.serial))
    return True


def work(*functions):
    """Each of them after the other, whatever became of the one before."""
    def run(trial, _prepared):
        for function in functions:
            trial.attempt(function, trial)
    return run


def nothing(_trial):
    return None


# name: what is made ready without a fault, and the work
PHASES = {
    "updates": (nothing, lambda trial, _: trial.exercise()),
    "channel": (nothing, work(update_by_channel)),
    "payloads": (nothing, lambda trial, _: work_on_payloads(trial)),
    "backup": (nothing, work(back_up)),
    "restore": (back_up, lambda trial, data: trial.attempt(restore, trial, data)),
    "import": (nothing, work(import_triples)),
    "dump": (nothing, work(dump)),
    "subscribe": (nothing, work(subscribe)),
    "check": (nothing, work(check)),
    "checkpoint": (nothing, work(optimize)),
}


# --- strace on a daemon that runs -----------------------------------------------------------------------------------------

def is_traced(pid):
    """All threads of it."""
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/status", encoding="ascii") as stream:
                if "\nTracerPid:\t0\n" in stream.read():
                    return False
    except (FileNotFoundError, ProcessLookupError):  # one has ended since they were listed, or all have: look again
        return False
    return True


def has_ended(pid):
    """Also when its tracer has not heard of that."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as stream:
            return "\nState:\tZ" in stream.read()
    except FileNotFoundError:
        return True


@contextlib.contextmanager
def attached(trial, *options):
    """strace, from here to the end of the block or of the daemon."""
    pid = trial.world.daemon_pid()
    with contextlib.suppress(FileNotFoundError):
        os.unlink(trial.trace)
    tracer = subprocess.Popen(["strace", "-qq", "-f", "-p", str(pid), "-o", trial.trace, *options], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: tracer.poll() is not None or is_traced(pid), "strace to have the daemon")
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            tracer.send_signal(signal.SIGINT)
        try:
            tracer.wait(10 * SLOWER)
        except subprocess.TimeoutExpired:  # it waits for the first thread of a daemon that ended, before that of another thread
            if not has_ended(pid):
                raise
            tracer.kill()
            tracer.wait()


# --- a damaged store ------------------------------------------------------------------------------------------------------

class DamagedStore:
    """A template of a store with damage, which is put in the place of the trial's for a while."""

    def __init__(self, trial):
        self.trial, self.folder = trial, os.path.join(trial.world.folder, "damaged")
        self.kept = trial.world.store + ".kept"

    def make(self):
        """In the place of the store, whose daemon has ended."""
        world = self.trial.world
        self.trial.launch("")
        world.update("CREATE TABLE s(k INTEGER PRIMARY KEY, x, same AS (queryd_eq(queryd_integer(k), queryd_integer(k))) STORED,"
                     " CHECK(queryd_ebv(queryd_boolean(k))))")
        world.update("CREATE INDEX s_key ON s(queryd_sort_key(queryd_integer(k))) WHERE queryd_ebv(queryd_boolean(k))")
        world.update("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<?) "
                     "INSERT INTO s(k, x) SELECT i, 'x' || i FROM n", [N_SALVAGED])
        world.update("INSERT DATA { <urn:s> <urn:p> 1, 2, 3 }", language="sparql")
        store_payload(self.trial)
        world.call("Optimize", "(a{sv})", {}, interface=MANAGER)
        ((page,),) = world.query("SELECT rootpage FROM sqlite_schema WHERE name='queryd_meta'")
        self.trial.end_daemon()
        shutil.copytree(world.store, self.folder)
        with open(os.path.join(self.folder, "queryd.db"), "r+b") as stream:
            stream.seek(4096 * (page - 1))
            stream.write(bytes(4096))

    def put(self):
        shutil.rmtree(self.trial.world.store, ignore_errors=True)
        shutil.copytree(self.folder, self.trial.world.store)

    def __enter__(self):
        world = self.trial.world
        self.trial.end_daemon()
        os.rename(world.store, self.kept)
        self.payloads, self.trial.payloads = self.trial.payloads, {}
        self.make()
        return self

    def __exit__(self, *_):
        if os.path.exists(self.trial.pid_file):
            self.trial.end_daemon()
        shutil.rmtree(self.trial.world.store, ignore_errors=True)
        os.rename(self.kept, self.trial.world.store)
        self.trial.payloads = self.payloads

    def ask(self):
        """Until the salvage has ended in either way: true with all rows."""
        def count():
            try:
                return self.trial.world.query("SELECT count(*) FROM s WHERE x='x' || k AND same")[0][0]
            except BusError as error:
                if error.name == "Recovering":
                    return None
                raise
        try:
            n_rows = wait_until(count, "the end of a salvage", 10)
        except GLib.Error as error:
            raise AssertionError(f"no answer: {error}") from None
        if n_rows != N_SALVAGED:
            raise AssertionError(f"{n_rows} of {N_SALVAGED} rows after a salvage that had an end")
        return True

    def look(self):
        """By a daemon without faults: nothing more is lost, and the damaged file is there still."""
        self.trial.launch("")
        self.ask()
        self.trial.attempt(open_payload, self.trial)
        names = os.listdir(self.trial.world.store)
        if not any(name.startswith("queryd.db.corrupt-") and name.endswith("Z") for name in names):
            raise AssertionError(f"no damaged file was set aside: {names}")
        if any(".new" in name or ".next" in name for name in names):
            raise AssertionError(f"something is left over: {names}")
