# SPDX-License-Identifier: LGPL-2.1-or-later
"""Jobs that fail, are cancelled or are killed: the error says what and where, the store is whole, what was acknowledged is there,
and the next job works."""
import contextlib
import fcntl
import os
import random
import socket
import sqlite3
import subprocess
import threading
import time

import pytest

from gi.repository import GLib

from harness import JOB, MANAGER, SLOWER, BusError, memory_file, options, wait_until

ROWS = 4000
N_TRIPLES = 200000
F_ADD_SEALS, F_SEAL_GROW = 1033, 4


@pytest.fixture
def store(bus):
    bus.update("CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT)")
    bus.update("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<?) "
               "INSERT INTO item SELECT i, 'name of ' || i FROM n", [ROWS])
    bus.update("INSERT DATA { <http://e/s> <http://e/p> 'one', 'two', 3 }", language="sparql")
    return bus


def restore(bus, fd, **opts):
    return bus.finish_job(bus.start_job("Restore", "(ha{sv})", 0, options(opts), fds=[fd], interface=MANAGER))


def cancel(bus, job):
    bus.call("Cancel", interface=JOB, path=job)


def count(bus):
    return (bus.query("SELECT count(*) FROM item")[0][0],
            int(bus.query("SELECT (COUNT(*) AS ?n) { ?s <http://e/p> ?o }", language="sparql")[0][0][0]))


def assert_whole(bus, rows=ROWS, triples=3):
    """As it was, without anything left over, and the next jobs and updates work."""
    assert count(bus) == (rows, triples)
    assert bus.check(quick=False) == (True, [])
    known = {"lock", "ballast", "health", "payload", "queryd.db", "queryd.db-wal", "queryd.db-shm", "queryd.db-schema"}
    assert set(os.listdir(bus.store)) <= known
    bus.update("INSERT INTO item(name) VALUES('next')")
    with memory_file() as fd:
        job = bus.backup(fd)
        assert job["State"] == "finished", job
        os.lseek(fd, 0, os.SEEK_SET)
        bus.update("DELETE FROM item WHERE name='next'")
        job = restore(bus, fd)
        assert job["State"] == "finished", job
    assert count(bus) == (rows + 1, triples)
    with memory_file(b"<http://e/next> <http://e/p> 1 .\n") as fd:
        job = bus.import_fd(fd, "turtle")
        assert job["State"] == "finished", job
    assert count(bus) == (rows + 1, triples + 1)


def assert_failed(job, name, words):
    assert (job["State"], job["ErrorName"].rpartition(".")[2]) == ("failed", name), job
    assert words in job["ErrorMessage"], job


# --- backup ---------------------------------------------------------------------------------------------------------------

def backup_to_a_full_device(bus):
    with open("/dev/full", "wb", buffering=0) as device:
        assert_failed(bus.backup(device.fileno()), "DiskFull", "cannot write to the descriptor: No space left on device")


def backup_to_a_full_disk(bus):
    folder = os.path.join(bus.folder, "small")
    os.mkdir(folder)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        with open(os.path.join(folder, "backup"), "wb", buffering=0) as file:
            assert_failed(bus.backup(file.fileno()), "DiskFull", "cannot write to the descriptor: No space left on device")
    finally:
        subprocess.run(["umount", folder], check=True)


def backup_to_a_file_that_cannot_grow(bus):
    with memory_file(b"x" * 5000) as fd:
        fcntl.fcntl(fd, F_ADD_SEALS, F_SEAL_GROW)
        assert_failed(bus.backup(fd), "AccessDenied", "cannot write to the descriptor: Operation not permitted")


def backup_to_a_pipe_that_closes(bus):
    read_end, write_end = os.pipe()

    def read_some():
        os.read(read_end, 5000)
        os.close(read_end)

    thread = threading.Thread(target=read_some)
    thread.start()
    try:
        assert_failed(bus.backup(write_end), "Closed", "cannot write to the descriptor: Broken pipe")
    finally:
        thread.join()
        os.close(write_end)


def backup_to_a_socket_that_is_closed(bus):
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours:
        assert_failed(bus.backup(ours.fileno()), "Closed", "cannot write to the descriptor: Broken pipe")


def backup_to_what_cannot_be_written(bus):
    with open(bus.folder + "/launch", "rb") as file:
        assert_failed(bus.backup(file.fileno()), "BadParameter", "the descriptor is not open for writing")
    fd = os.open(bus.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        assert_failed(bus.backup(fd), "BadParameter", "neither file, pipe, socket nor character device")
    finally:
        os.close(fd)


def backup_that_is_cancelled(bus):
    read_end, write_end = os.pipe()
    try:
        job = bus.start_job("Backup", "(ha{sv})", 0, {}, fds=[write_end], interface=MANAGER)
        assert os.read(read_end, 100)
        cancel(bus, job)
        assert bus.finish_job(job)["State"] == "cancelled"
    finally:
        os.close(read_end)
        os.close(write_end)


@pytest.mark.parametrize("failure", [backup_to_a_full_device, backup_to_a_full_disk, backup_to_a_file_that_cannot_grow,
                                     backup_to_a_pipe_that_closes, backup_to_a_socket_that_is_closed,
                                     backup_to_what_cannot_be_written, backup_that_is_cancelled], ids=lambda f: f.__name__)
def test_backup(store, failure):
    failure(store)
    assert_whole(store)


# --- restore --------------------------------------------------------------------------------------------------------------

def read_backup(bus):
    with memory_file() as fd:
        assert bus.backup(fd)["State"] == "finished"
        return os.pread(fd, os.fstat(fd).st_size, 0)


def test_restore_of_a_part(store):
    """Also of one that lacks a byte, which SQLite would fill up, and of nothing, which SQLite takes for an empty database."""
    whole = read_backup(store)
    generation = store.property("Generation")
    for size in (99, 100, 511, 512, 4095, 4096, 4097, len(whole) // 2, len(whole) - 4096, len(whole) - 1):
        with memory_file(whole[:size]) as fd:
            assert_failed(restore(store, fd), "Corrupt",
                          f"nothing was restored: the source is cut off: it has {size} of {len(whole)} bytes")
    for part in (b"x", whole[:15], whole[:16], b"x" * 10000):
        with memory_file(part) as fd:
            assert_failed(restore(store, fd), "Corrupt", "nothing was restored: the source is no database")
    for check_only in (False, True):
        with memory_file() as fd:
            assert_failed(restore(store, fd, check_only=check_only), "Corrupt", "nothing was restored: the source is empty")
    with open("/dev/null", "rb") as device:
        assert_failed(restore(store, device.fileno()), "Corrupt", "nothing was restored: the source is empty")
    assert store.property("Generation") == generation
    assert_whole(store)


@pytest.mark.parametrize("part", [0.0, 0.5])
def test_restore_from_a_pipe_that_ends_early(store, part):
    whole = read_backup(store)
    read_end, write_end = os.pipe()
    try:
        job = store.start_job("Restore", "(ha{sv})", 0, {}, fds=[read_end], interface=MANAGER)
        with open(write_end, "wb") as pipe:
            pipe.write(whole[:int(part * len(whole))])
        assert_failed(store.finish_job(job), "Corrupt", "the source is cut off" if part else "the source is empty")
    finally:
        os.close(read_end)
    assert_whole(store)


def test_restore_of_junk(store):
    """What begins as a database, and goes on at random in the middle of each page, or everywhere."""
    whole = read_backup(store)
    noise = random.Random(1).randbytes(len(whole))
    mixed = bytearray(whole)
    for start in range(4096, len(whole), 4096):
        mixed[start:start + 100] = noise[start:start + 100]
    for junk in (whole[:100] + noise[100:], whole[:4096] + noise[4096:], bytes(mixed)):
        with memory_file(junk) as fd:
            assert_failed(restore(store, fd), "Corrupt", "nothing was restored: the source")
    assert_whole(store)


@pytest.mark.parametrize("good", [True, False])
def test_restore_while_others_read_and_write(store, good):
    """Streams go on in what they began to read; each update is in the old or the new database, and none that is answered later
    than the restore is lost."""
    whole = read_backup(store)
    stream = store.prepare("SELECT id, name FROM item ORDER BY id", transport="pipe")
    first = stream.read(1000)
    done = threading.Event()
    acknowledged = []
    failures = []

    def write(caller, number):
        i = 0
        while not done.is_set():
            name = f"{number}-{i}"
            try:
                caller.update("INSERT INTO item(name) VALUES(?)", [name])
                acknowledged.append(name)
            except BusError as error:
                failures.append(error)
            i += 1

    threads = [threading.Thread(target=write, args=(store.caller(), number)) for number in range(3)]
    for thread in threads:
        thread.start()
    try:
        wait_until(lambda: len(acknowledged) > 10, "updates")
        for _ in range(3):
            with memory_file(whole if good else whole[:-1]) as fd:
                assert restore(store, fd)["State"] == ("finished" if good else "failed")
        n_before = len(acknowledged)
        wait_until(lambda: len(acknowledged) > n_before + 10, "updates afterwards")
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert not failures
    names = {row[0] for row in store.query("SELECT name FROM item WHERE name GLOB '[0-9]*'", max_rows=1000000)}
    late = acknowledged
    if good:  # the first of each thread may have been answered before the restore
        late = [name for number in range(3) for name in [n for n in acknowledged[n_before:] if n.startswith(f"{number}-")][1:]]
    assert set(late) <= names
    with stream:
        while piece := stream.read(65536):
            first += piece
    assert f"name of {ROWS}".encode() in first
    store.update("DELETE FROM item WHERE name GLOB '[0-9]*'")
    assert_whole(store)


# --- import ---------------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def document():
    return b"".join(b"<http://e/s%d> <http://e/p> \"value %d\" .\n" % (i // 5, i) for i in range(N_TRIPLES))


def progress(bus, job):
    """Bytes done and in all; nothing when the job has ended."""
    reply, _ = bus.call("GetAll", "(s)", JOB, interface="org.freedesktop.DBus.Properties", path=job)
    (props,) = reply.unpack()
    return (props["BytesDone"], props["BytesTotal"]) if props["State"] == "running" else (0, 0)


def start_from_a_pipe(bus, document):
    """An import that has read half of the document and waits for more."""
    read_end, write_end = os.pipe()
    job = bus.start_job("Import", "(hsa{sv})", 0, "ntriples", {}, fds=[read_end])
    os.close(read_end)
    with open(write_end, "wb", buffering=0, closefd=False) as pipe:
        pipe.write(document[:len(document) // 2])
    wait_until(lambda: progress(bus, job)[0] > len(document) // 4, "half of the document to be read")
    return job, write_end


def check_until_it_leaves(caller):
    with contextlib.suppress(GLib.Error):
        caller.check(quick=False)


def test_a_check_ends_with_its_caller_whatever_a_row_costs(bus):
    """Keys of an index that take 50 ms each, and too few instructions for a progress handler."""
    bus.update("CREATE TABLE slow(x)")
    bus.update("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 30) INSERT INTO slow SELECT 25000000 + i FROM n")
    bus.update("CREATE INDEX slow_key ON slow(length(hex(zeroblob(x))))")
    caller = bus.caller()
    thread = threading.Thread(target=check_until_it_leaves, args=[caller])
    thread.start()
    wait_until(lambda: bus.stats()["jobs"] == 1, "the check to run")
    caller.close()
    start = time.monotonic()
    wait_until(lambda: bus.stats()["jobs"] == 0, "the check to end")
    assert time.monotonic() - start < 1.5 * SLOWER
    thread.join()


@pytest.mark.deadline(120)
@pytest.mark.parametrize("end", ["cancel", "kill", "leave"])
def test_import_that_ends_in_the_middle_of_the_document(store, document, end):
    caller = store.caller()
    job, write_end = start_from_a_pipe(caller, document)
    try:
        store.update("INSERT INTO item(name) VALUES('meanwhile')")
        if end == "cancel":
            cancel(caller, job)
            state = caller.finish_job(job)
            assert (state["State"], state["ErrorMessage"]) == ("cancelled", "job was cancelled")
        elif end == "kill":
            store.kill_daemon()
        else:
            caller.close()
            wait_until(lambda: store.stats()["jobs_kept"] == 0, "the end of the job of a caller that left")
    finally:
        os.close(write_end)
    assert_whole(store, rows=ROWS + 1)


@pytest.mark.deadline(120)
@pytest.mark.parametrize("end", ["cancel", "kill"])
def test_import_that_ends_while_it_is_committed(store, document, end):
    """All of it, or nothing."""
    with memory_file(document) as fd:
        job = store.start_job("Import", "(hsa{sv})", 0, "ntriples", {}, fds=[fd])
        wait_until(lambda: (lambda done, total: done == total)(*progress(store, job)), "the second pass")
        if end == "cancel":
            cancel(store, job)
            assert store.finish_job(job)["State"] in ("cancelled", "finished")
        else:
            store.kill_daemon()
    n = count(store)[1]
    assert n in (3, 3 + N_TRIPLES)
    if n == 3:
        with memory_file(document) as fd:
            assert store.import_fd(fd, "ntriples")["State"] == "finished"
    assert_whole(store, triples=3 + N_TRIPLES)


# --- the store's own files ------------------------------------------------------------------------------------------------

def pass_to_jobs(bus, path):
    """Every job refuses it; when this returns, the daemon has closed all of its copies."""
    with open(path, "r+b", buffering=0) as file:
        words = f"the descriptor is of the store's own file '{path}'"
        assert_failed(bus.backup(file.fileno()), "BadParameter", words)
        assert_failed(restore(bus, file.fileno(), check_only=True), "BadParameter", words)
        assert_failed(bus.import_fd(file.fileno(), "turtle"), "BadParameter", words)
        dump = bus.start_job("Dump", "(hsa{sv})", 0, "nquads", {}, fds=[file.fileno()])
        assert_failed(bus.finish_job(dump), "BadParameter", words)
        for call in (lambda: bus.export("SELECT 1", "csv", file.fileno()),
                     lambda: bus.call("StorePayload", "(ha{sv})", 0, {}, fds=[file.fileno()])):
            with pytest.raises(BusError) as error:
                call()
            assert error.value.name == "BadParameter" and words in error.value.message
        wait_until(lambda: not passed_to(bus, file), f"the daemon to close '{path}'")


def passed_to(bus, file):
    """Whether the daemon has a descriptor of the same open file, by its position."""
    here = os.fstat(file.fileno())
    position = os.lseek(file.fileno(), 7_654_321, os.SEEK_SET)
    process = f"/proc/{bus.daemon_pid()}"
    for fd in os.listdir(f"{process}/fd"):
        try:
            same = os.path.samestat(os.stat(f"{process}/fd/{fd}"), here)
            with open(f"{process}/fdinfo/{fd}", encoding="ascii") as info:
                if same and f"pos:\t{position}\n" in info.read():
                    return True
        except FileNotFoundError:
            pass
    return False


def test_descriptors_of_the_store_itself(store):
    """When one is closed, the kernel drops the process' POSIX locks on the file: another program must not take the log for
    abandoned and delete it."""
    path = os.path.join(store.store, "queryd.db")
    names = [entry.name for entry in os.scandir(store.store) if entry.is_file()]
    assert {"queryd.db", "queryd.db-wal", "queryd.db-shm", "lock"} <= set(names)
    for name in names:
        pass_to_jobs(store, os.path.join(store.store, name))
    other = sqlite3.connect(path)
    assert other.execute("SELECT count(*) FROM item").fetchone() == (ROWS,)
    other.close()
    assert os.path.exists(path + "-wal"), "the log is the daemon's"
    store.update("INSERT INTO item(name) VALUES('acknowledged')")
    store.kill_daemon()
    assert_whole(store, rows=ROWS + 1)


def test_locks_outlive_a_descriptor_of_the_shared_memory(store):
    """What a reader and a writer hold in the daemon holds off another program, which then neither makes the shared memory anew
    nor resets the log."""
    path = os.path.join(store.store, "queryd.db")
    with store.prepare("SELECT a.id, b.name FROM item a, item b") as reader, store.prepare("SELECT 1") as writer:
        answer = reader.answer(reader.send_fetch())
        first = next(answer)
        store.update("INSERT INTO item(name) VALUES('later')")
        list(writer.answer(writer.send("B")))
        writer.prepare("INSERT INTO item(name) VALUES('in the transaction')", access="write")
        writer.fetch()
        pass_to_jobs(store, path + "-shm")
        other = sqlite3.connect(path, timeout=0, isolation_level=None)
        assert other.execute("SELECT count(*) FROM item").fetchone() == (ROWS + 1,)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        list(writer.answer(writer.send("M")))
        assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 1, "the reader needs the log"
        other.close()
        assert [first, *(next(answer) for _ in range(20_000))] == [
            (1 + i // ROWS, f"name of {1 + i % ROWS}") for i in range(20_001)], "of its own moment"
    assert_whole(store, rows=ROWS + 2)


# --- limits on files ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("size", [1900000, 2000000, 2004096, 2100000, 2200000])
def test_a_limit_on_the_size_of_files(make_bus, size):
    """SIGXFSZ would end the daemon: instead the update fails, and there is room again when something is deleted.

    Also when the log has no room for the few pages of the deletion: it is copied and cut before the next update.
    """
    bus = make_bus(prefix=f"prlimit --fsize={size} --")
    bus.update("CREATE TABLE large(id INTEGER PRIMARY KEY, content)")
    n_rows = 0
    with pytest.raises(BusError):
        while n_rows < 100:
            bus.update("INSERT INTO large(content) VALUES(zeroblob(100000))")
            n_rows += 1
    assert 2 < n_rows < 100
    assert bus.query("SELECT count(*) FROM large") == [(n_rows,)]
    assert not bus.exits()
    bus.update("DELETE FROM large")
    bus.update("INSERT INTO large(content) VALUES(zeroblob(1000))")
    assert bus.check(quick=False) == (True, [])


def test_a_source_is_counted_from_its_offset(bus):
    """What is before the offset is not read, and neither BytesTotal nor the space that is asked for has it."""
    bus.update("CREATE TABLE t (a)")
    with memory_file(bytes(100)) as copy, memory_file(bytes(100) + b"a\n1\n") as rows, \
            memory_file(bytes(100) + b"<urn:a> <urn:p> 1 .\n") as triples:
        assert bus.backup(copy)["State"] == "finished"
        size = os.fstat(copy).st_size
        os.pwrite(copy, bytes(100) + os.pread(copy, size, 0), 0)
        for fd in (copy, rows, triples):
            os.lseek(fd, 100, os.SEEK_SET)
        jobs = [(bus.import_fd(rows, "csv", table="t"), 4), (bus.import_fd(triples, "turtle"), 20),
                (bus.finish_job(bus.start_job("Restore", "(ha{sv})", 0, {}, fds=[copy], interface=MANAGER)), 2 * size)]
    assert [(job["State"], job["BytesTotal"]) for job, _ in jobs] == [("finished", n_bytes) for _, n_bytes in jobs]
