# SPDX-License-Identifier: LGPL-2.1-or-later
"""A real file system that is full, again and again, under the real daemon: ext4 with 4 KiB and 1 KiB blocks, and tmpfs.

At each point somebody else's file leaves only so many KiB. Updates, imports and payloads then succeed or say DiskFull, queries
answer; with room again everything works in the same daemon, which writes below its own floor here: free_disk_bytes is 0. In the
end, and in a daemon of its own, all that was acknowledged is there. sqlite-faults does the same page by page, in memory.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
if __name__ == "__main__":
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))

from harness import MANAGER, BusError, World, memory_file, options  # noqa: E402
from outcome import Skip  # noqa: E402

SYSTEMS = ("ext4-4096", "ext4-1024", "tmpfs")
SIZE_MIB = 48
STEP_BYTES, N_STEPS = 4096, 160
ROUNDS_MAX = 20
N_FIXED = 2000
PAYLOAD_BYTES = 20000


class Store:
    """What was acknowledged, and the calls that it takes."""

    def __init__(self, world):
        self.world, self.serial = world, 0
        self.keys, self.imported, self.subjects, self.payloads = set(), set(), set(), {}
        self.n_refused = self.n_settled = self.n_lost = 0

    def set_up(self):
        self.world.update("CREATE TABLE t(k INTEGER PRIMARY KEY, x)")
        self.world.update("CREATE TABLE c(k INTEGER, x)")
        self.world.update("CREATE TABLE fixed AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT "
                          f"{N_FIXED}) SELECT i AS x FROM n")

    def attempt(self, function, *arguments):
        """True when it worked; false when there was no room."""
        try:
            function(*arguments)
            return True
        except BusError as error:
            assert error.name == "DiskFull" and error.message, f"{function.__name__}: {error}"
            self.n_refused += 1
            return False

    def insert(self, n_bytes):
        self.serial += 1
        self.world.update("INSERT INTO t VALUES(?, randomblob(?))", [self.serial, n_bytes])
        self.keys.add(self.serial)

    def insert_twice(self):
        pair = (self.serial + 1, self.serial + 2)
        self.serial += 2
        self.world.batch([("INSERT INTO t VALUES(?, randomblob(3000))", [key]) for key in pair])
        self.keys.update(pair)

    def insert_quads(self):
        self.serial += 1
        self.world.update(f"INSERT DATA {{ <urn:k:{self.serial}> <urn:p> 'x{self.serial}', 'y{self.serial}' }}", language="sparql")
        self.subjects.add(self.serial)

    def import_rows(self):
        self.serial += 1
        with memory_file(b"k,x\n" + b"%d,xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n" % self.serial * 500) as fd:
            job = self.world.import_fd(fd, "csv", table="c")
        if job["State"] != "finished":
            raise BusError(job["ErrorName"].rsplit(".", 1)[-1], job["ErrorMessage"])
        self.imported.add(self.serial)

    def store_columns(self):
        self.world.call("Optimize", "(a{sv})", options({}), interface=MANAGER)

    def store_payload(self):
        self.serial += 1
        data = self.serial.to_bytes(4, "big") * (PAYLOAD_BYTES // 4)
        payload = min(self.payloads) if len(self.payloads) > 5 else None
        with memory_file(data) as fd:
            if payload is None:
                (payload,) = self.world.call("StorePayload", "(ha{sv})", 0, options({}), fds=[fd])[0].unpack()
            else:
                self.world.call("ReplacePayload", "(xha{sv})", payload, 0, options({}), fds=[fd])
        self.payloads[payload] = data

    def exercise(self):
        """Returns: whether all of it worked."""
        calls = [(self.insert, 100), (self.insert, 60000), (self.insert_twice,), (self.insert_quads,), (self.store_columns,),
                 (self.import_rows,), (self.store_payload,), (self.insert, 200)]
        n_done = sum(self.attempt(*call) for call in calls)
        self.read()
        return n_done == len(calls)

    def read(self):
        assert self.world.query("SELECT count(*) FROM fixed") == [(N_FIXED,)]
        for payload, data in list(self.payloads.items())[:1]:
            _, (fd,) = self.world.call("OpenPayload", "(x)", payload)
            assert os.pread(fd, PAYLOAD_BYTES + 1, 0) == data, f"payload {payload} is wrong"
            os.close(fd)

    def settle(self):
        """Looks for what was acknowledged so far, and forgets the rows of it, so that all points fit."""
        self.count_lost()
        self.world.update("DELETE FROM t")
        self.world.update("DELETE FROM c")
        self.world.update("VACUUM")
        self.n_settled += len(self.keys) + len(self.imported)
        self.keys.clear()
        self.imported.clear()

    def count_lost(self):
        found = {row[0] for row in self.world.query("SELECT k FROM t", max_rows=1000000, max_bytes=64 << 20)}
        rows = {row[0] for row in self.world.query("SELECT DISTINCT k FROM c")}
        lost = len(self.keys - found) + len(self.imported - rows)
        for subject in self.subjects:
            answer = self.world.query(f"SELECT ?o {{ <urn:k:{subject}> <urn:p> ?o }}", language="sparql")
            lost += len(answer) != 2
        answer = self.world.query("SELECT (COUNT(?o) AS ?n) { ?s <urn:p> ?o . ?s <urn:p> ?x }", language="sparql")
        lost += int(answer[0][0][0]) != 4 * len(self.subjects)
        assert self.world.check(quick=False) == (True, [])
        for payload, data in self.payloads.items():
            lost += self.world.query("SELECT queryd_payload(?)", [payload]) != [(data,)]
        self.n_lost += lost


def mount(world, system):
    os.makedirs(world.store, mode=0o700, exist_ok=True)
    if system == "tmpfs":
        command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MIB}m,mode=0700", "none", world.store]
    else:
        image = os.path.join(world.folder, "image")
        with open(image, "wb") as file:
            file.truncate(SIZE_MIB << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", "-b", system.split("-")[1], "-m", "0", image], check=True)
        command = ["mount", "-o", "loop", image, world.store]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        raise Skip(f"cannot mount {system}: {mounted.stderr.strip()}")
    os.chmod(world.store, 0o700)


class Filler:
    """Somebody else's file."""

    def __init__(self, folder):
        self.folder, self.path = folder, os.path.join(folder, "somebody-elses-file")

    def leave(self, n_bytes):
        fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while True:
                fs = os.fstatvfs(fd)
                more = fs.f_bavail * fs.f_frsize - n_bytes
                if more < fs.f_frsize:
                    return
                os.posix_fallocate(fd, os.fstat(fd).st_size, min(more, max(fs.f_frsize, more - 65536)))
        except OSError:
            pass  # as full as it gets
        finally:
            os.close(fd)

    def remove(self):
        os.unlink(self.path)


def try_system(system, n_points):
    world = World(limits={"free_disk_bytes": 0, "payload_inline_bytes": 1024, "tally_rows": 0, "tally_file_rows": 0,
                          "tally_file_percent": 1000})
    outcome = {"points": 0, "not_full": 0, "refused": 0, "not_recovered": 0, "problems": []}
    try:
        mount(world, system)
        store, filler = Store(world), Filler(world.store)
        store.set_up()
        pid = world.daemon_pid()
        for point in range(n_points):
            filler.leave(point * 37 % N_STEPS * STEP_BYTES)
            full = any(not store.exercise() for _ in range(ROUNDS_MAX))
            outcome["points" if full else "not_full"] += 1
            filler.remove()
            outcome["not_recovered"] += not store.exercise()
            if point % 5 == 4:
                store.settle()
        outcome["refused"] = store.n_refused
        outcome["acknowledged"] = store.n_settled + len(store.keys) + len(store.imported) + len(store.subjects)
        assert world.daemon_pid() == pid and world.exits() == [], f"the daemon has left: {world.exits()}"
        store.count_lost()
        world.kill_daemon()
        store.count_lost()
        outcome["lost"] = store.n_lost
        assert world.check(quick=False) == (True, []), world.check(quick=False)
    except (AssertionError, BusError) as problem:
        outcome["problems"].append(f"{system}: {problem}")
    finally:
        subprocess.run(["umount", "-l", world.store], capture_output=True, check=False)
        world.finish()
    outcome["problems"] += [f"{system}: {outcome[key]} {key}" for key in ("lost", "not_recovered") if outcome.get(key)]
    outcome["problems"] += [] if outcome["points"] else [f"{system}: never full"]
    return outcome


def run(long):
    n_points = 100 if long else 20
    if os.getuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode != 0:
        raise Skip("needs root and unshare -m for file systems of its own")
    total = {"problems": []}
    for system in SYSTEMS:
        done = subprocess.run(["unshare", "-m", "--propagation", "private", sys.executable, "-B", os.path.abspath(__file__),
                               system, str(n_points)], stdout=subprocess.PIPE, text=True, check=False)
        last = (done.stdout.splitlines() or [""])[-1]
        outcome = json.loads(last) if last.startswith("{") else {"problems": [f"{system}: status {done.returncode}"]}
        if "skipped" in outcome:
            print(outcome["skipped"], file=sys.stderr)
            total["systems_skipped"] = total.get("systems_skipped", 0) + 1
            continue
        if outcome["problems"]:
            print(done.stdout)
        for key, value in outcome.items():
            total[key] = total.get(key, [] if key == "problems" else 0) + value
    if total.get("systems_skipped") == len(SYSTEMS):
        raise Skip("no file system can be mounted")
    return total


def main():
    try:
        outcome = try_system(sys.argv[1], int(sys.argv[2]))
    except Skip as skip:
        outcome = {"skipped": str(skip)}
    print(json.dumps(outcome))


if __name__ == "__main__":
    main()
