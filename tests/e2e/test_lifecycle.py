# SPDX-License-Identifier: LGPL-2.1-or-later
"""From activation to exit: idle exit, draining, broken and missing directories, a full disk, a second daemon."""
import contextlib
import errno
import glob
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
from gi.repository import GLib

from harness import BUILD, MANAGER, NAME, SLOWER, BusError, memory_file, wait_until
from wire_client import CutOff, RemoteError

NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) "


def database_file(bus):
    (name,) = [n for n in os.listdir(bus.store) if n.endswith((".db", ".sqlite"))]
    return os.path.join(bus.store, name)


def test_activation(bus):
    assert not bus.has_owner()
    assert bus.query("SELECT 1") == [(1,)]
    assert bus.has_owner()
    mode = os.stat(bus.store).st_mode & 0o777
    assert mode == 0o700, oct(mode)
    assert os.stat(database_file(bus)).st_mode & 0o077 == 0


def test_sigterm_leaves_with_zero(bus):
    bus.query("SELECT 1")
    assert bus.stop_daemon(signal.SIGTERM) == 0
    assert bus.query("SELECT 2") == [(2,)]
    assert bus.stop_daemon(signal.SIGINT) == 0


def test_sigterm_drains(bus):
    """What has been asked for is answered; a reader sees a whole result or an error."""
    bus.update("CREATE TABLE t AS " + NUMBERS.format(60000) + "SELECT i, hex(zeroblob(30)) AS x FROM n")
    channels = [bus.prepare("SELECT i, x FROM t") for _ in range(4)]
    for channel in channels:
        channel.send_fetch()
    streams = [c.answer(1) for c in channels]
    assert [next(s)[0] for s in streams] == [1] * 4
    pid = bus.daemon_pid()
    os.kill(pid, signal.SIGTERM)
    n_whole = 0
    for stream, channel in zip(streams, channels):
        try:
            n_whole += 1 + sum(1 for _ in stream) == 60000
        except (RemoteError, CutOff, ConnectionError) as error:
            print(error)
        channel.close()
    assert n_whole == 4, "a drain serves what is queued"
    wait_until(lambda: bus.exits() == [0], "exit 0")


def fetch_again(bus, sql):
    """As a library does it: a channel that has gone before the request was taken in is prepared anew."""
    while True:
        with bus.prepare(sql) as channel:
            try:
                return channel.fetch()
            except (CutOff, ConnectionError):
                pass


@pytest.mark.deadline(180)
def test_idle_exit_loses_no_request(make_bus):
    """Calls that meet the exit are answered by this daemon or the next."""
    bus = make_bus(limits={"idle_exit_ms": 1})
    bus.update("CREATE TABLE t (a)")
    n = 60 if SLOWER > 1 else 300
    n_written = 0
    for i in range(20 * n):
        if i >= n and len(bus.exits()) > 3:
            break
        assert bus.query("SELECT ?", [i]) == [(i,)]
        if i % 3 == 0:
            assert fetch_again(bus, 'SELECT "a" FROM t LIMIT 0') == []
        if i % 50 == 0:
            bus.update("INSERT INTO t VALUES (?)", [i])
            n_written += 1
        GLib.usleep(i % 7 * 300 * SLOWER)
    wait_until(lambda: not bus.has_owner(), "the idle exit")
    assert len(bus.exits()) > 3 and set(bus.exits()) == {0}, "the fault was hit: there were exits between the calls"
    assert bus.query("SELECT count(*) FROM t") == [(n_written,)]


def test_idle_time_counts_from_the_last_call(make_bus):
    """The timer is started once and not moved by calls: when it comes, it waits for the rest."""
    bus = make_bus(limits={"idle_exit_ms": 1000})
    bus.query("SELECT 1")
    start = last = time.monotonic()
    longest = 0
    while last - start < 2.5:  # calls with pauses, in which the daemon has nothing to do
        bus.query("SELECT 1")
        GLib.usleep(100000)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    assert bus.exits() == [] or longest > 0.8  # on a machine that has no time for this
    wait_until(lambda: bus.exits() == [0], "the idle exit")


def test_the_end_after_a_rest_copies_the_log(make_bus):
    """A copy of the database's file alone is whole then. The writer has closed its connection at the rest, which copies nothing."""
    bus = make_bus(limits={"reader_idle_ms": 100})
    bus.update("CREATE TABLE t(a)")
    assert bus.query("SELECT * FROM t") == []
    path = os.path.join(bus.store, "queryd.db")
    fds = f"/proc/{bus.daemon_pid()}/fd"

    def rests():
        links = []
        for fd in os.listdir(fds):
            with contextlib.suppress(OSError):
                links.append(os.readlink(os.path.join(fds, fd)))
        return path + "-wal" not in links
    wait_until(rests, "the writer's rest")
    bus.stop_daemon()
    assert not os.path.exists(path + "-wal")
    with contextlib.closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_idle_exit_does_not_wait_for_idle_channels(make_bus):
    bus = make_bus(limits={"idle_exit_ms": 100})
    channel = bus.prepare("SELECT 1")
    wait_until(lambda: bus.exits() == [0], "the idle exit")
    channel.close()


def test_no_idle_exit_while_a_result_is_open(make_bus):
    bus = make_bus(limits={"idle_exit_ms": 100})
    with bus.prepare(NUMBERS.format(100000) + "SELECT i, hex(zeroblob(100)) FROM n") as channel:
        channel.send_fetch()
        stream = channel.answer(1)
        next(stream)
        start = time.monotonic()
        wait_until(lambda: time.monotonic() - start > 0.6, "six idle times")
        assert bus.exits() == []
        assert sum(1 for _ in stream) == 99999


def test_one_daemon_per_directory(make_bus):
    """The second one, on a bus of its own, answers Busy and names the holder; it does not exit for that."""
    first = make_bus()
    first.update("CREATE TABLE t (a)")
    pid = first.daemon_pid()
    second = make_bus(data_home=first.data_home)
    with pytest.raises(BusError) as error:
        second.query("SELECT 1")
    assert error.value.name == "Busy" and str(pid) in error.value.message, error.value
    assert second.has_owner()
    assert first.query("SELECT count(*) FROM t") == [(0,)]


def corrupt(path, offset, data):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def test_garbage_instead_of_a_database(bus):
    """An error over the bus, no exit; repaired, the next daemon works."""
    bus.query("SELECT 1")
    path = database_file(bus)
    bus.stop_daemon()
    for name in os.listdir(bus.store):
        if name.endswith(("-wal", "-shm")):
            os.unlink(os.path.join(bus.store, name))
    with open(path, "wb") as file:
        file.write(b"this is not a database" * 1000)
    start = time.monotonic()
    def error_of(call):
        with pytest.raises(BusError) as error:
            call()
        return error.value.name

    for call in (lambda: bus.query("SELECT 1"), lambda: bus.prepare("SELECT 1"), lambda: bus.update("CREATE TABLE t (a)")):
        wait_until(lambda call=call: error_of(call) == "Corrupt", "the end of a salvage that finds nothing")
    assert time.monotonic() - start < 6 * SLOWER
    assert bus.has_owner() and bus.property("Version")
    bus.stop_daemon()
    os.unlink(path)
    assert bus.query("SELECT 1") == [(1,)]


def test_corrupt_page(bus):
    """Damage inside: Corrupt for what meets it; then the store is salvaged, and everything answers."""
    bus.update("CREATE TABLE good AS " + NUMBERS.format(100) + "SELECT i FROM n")
    bus.update("CREATE TABLE bad AS " + NUMBERS.format(5000) + "SELECT i, hex(randomblob(100)) AS x FROM n")
    root = bus.query("SELECT rootpage FROM sqlite_master WHERE name = 'bad'")[0][0]
    bus.call("Optimize", "(a{sv})", {}, interface=NAME + ".Manager")
    path = database_file(bus)
    bus.stop_daemon()
    assert os.path.getsize(path) > 1000000, "the log was checkpointed into the file"
    corrupt(path, (root - 1) * 4096, b"\xff" * 4096)
    with pytest.raises((BusError, RemoteError)) as error:
        bus.prepare("SELECT x FROM bad").fetch()
    assert error.value.name == "Corrupt", error.value

    def salvaged():
        try:
            answer = bus.query("SELECT count(*) FROM bad NOT INDEXED, good")
            return glob.glob(bus.store + "/*.report.txt") and answer == [(500000,)]
        except BusError as failure:
            assert failure.name in ("Recovering", "Corrupt"), failure
            return False

    wait_until(salvaged, "the salvage")
    assert bus.check(quick=False) == (True, [])


def test_newer_schema_is_refused(bus):
    bus.query("SELECT 1")
    path = database_file(bus)
    bus.stop_daemon()
    subprocess.run(["sqlite3", path, "UPDATE queryd_meta SET value = 2000000 WHERE key = 'schema_version'"], check=True)
    with pytest.raises(BusError) as error:
        bus.query("SELECT 1")
    assert error.value.name in ("Unsupported", "Corrupt") and "2000000" in error.value.message
    bus.stop_daemon()
    version = subprocess.run(["sqlite3", path, "SELECT value FROM queryd_meta WHERE key = 'schema_version'"],
                             capture_output=True, text=True, check=True).stdout
    assert version == "2000000\n", "untouched"


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere; the same case as root: test_read_only_file_system")
def test_read_only_directory(bus):
    bus.update("CREATE TABLE t (a)")
    bus.update("INSERT INTO t VALUES (1)")
    bus.stop_daemon()
    for name in os.listdir(bus.store):
        os.chmod(os.path.join(bus.store, name), 0o400)
    os.chmod(bus.store, 0o500)
    try:
        check_read_only(bus)
    finally:
        os.chmod(bus.store, 0o700)


def check_read_only(bus):
    with pytest.raises(BusError) as error:
        bus.update("INSERT INTO t VALUES (2)")
    assert error.value.name in ("ReadOnly", "AccessDenied"), error.value
    try:
        assert bus.query("SELECT a FROM t") == [(1,)]
        assert bus.property("ReadOnly") is True
    except BusError as read_error:
        assert read_error.name in ("ReadOnly", "AccessDenied"), "a clear error is the least"
    assert bus.has_owner()


def in_namespace(name, *arguments, file=__file__):
    """Runs one of the cases of @file as root in a mount namespace of its own; skips aloud where that is not allowed."""
    probe = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    if os.getuid() != 0 or probe.returncode != 0:
        pytest.skip("needs root and unshare -m for a file system of its own")
    run = subprocess.run(
        ["unshare", "-m", "--propagation", "private", sys.executable, "-B", os.path.abspath(file), name, *arguments],
        capture_output=True, text=True, check=False, timeout=110 * SLOWER)
    print(run.stdout[-8000:], run.stderr[-8000:])
    if run.returncode == 77:
        pytest.skip(run.stderr.strip().splitlines()[-1])
    assert run.returncode == 0, run.stderr[-2000:]


@pytest.mark.parametrize("block_size", [4096, 1024])
def test_full_disk(block_size):
    in_namespace("full_disk", str(block_size))


def test_read_only_file_system():
    in_namespace("read_only")


def test_file_system_without_sizes():
    in_namespace("no_sizes")


def test_backups_on_a_full_disk_leave_nothing():
    in_namespace("full_backup")


def test_file_system_without_inodes():
    in_namespace("no_inodes")


@pytest.mark.parametrize("case", ["permissions", "file_size"])
def test_errors_of_the_system_are_named(case):
    command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] if os.getuid() == 0 else ["env"]
    run = subprocess.run([*command, sys.executable, "-B", os.path.abspath(__file__), case], capture_output=True, text=True,
                         check=False, timeout=110 * SLOWER)
    assert run.returncode == 0, run.stderr[-2000:]


@pytest.mark.skipif("QUERYD_SANITIZER" in os.environ, reason="a sanitizer maps more than that")
def test_memory_of_the_system():
    """It was said that the limit heap_hard_bytes was reached."""
    import harness
    world = harness.World(prefix="prlimit --as=600000000 --")
    try:
        world.update("CREATE TABLE t (a)")
        with pytest.raises(BusError, match="the system has no more for the daemon") as caught:
            for n in range(1, 9):
                world.query(f"SELECT length(hex(zeroblob({n * 25000000})))")
        assert caught.value.name == "NoMemory" and world.query("SELECT 1") == [(1,)]
    finally:
        world.finish()


def make_ext4(bus, block_size, mib=96):
    """A small ext4 on a loop device at the store's place."""
    mount_image(bus, ["mkfs.ext4", "-q", "-F", "-b", str(block_size), "-m", "0"], mib)


def mount_image(bus, make, mib):
    image = os.path.join(bus.folder, "image")
    os.makedirs(bus.store, mode=0o700, exist_ok=True)
    with open(image, "wb") as file:
        file.truncate(mib * 1024 * 1024)
    subprocess.run([*make, image], check=True)
    mounted = subprocess.run(["mount", "-o", "loop", image, bus.store], capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        print(f"no loop device here: {mounted.stderr.strip()}", file=sys.stderr)
        sys.exit(77)
    os.chmod(bus.store, 0o700)


def fill_up(path):
    with open(path, "ab", buffering=0) as file:
        for n_bytes in (65536, 512):
            try:
                while True:
                    file.write(b"x" * n_bytes)
            except OSError as error:
                assert error.errno == errno.ENOSPC


def case_full_disk(bus, block_size):
    """Fill the disk by writing: refused with DiskFull, reads go on, nothing acknowledged is lost, space freed helps."""
    make_ext4(bus, int(block_size))
    ballast = os.path.join(bus.store, "somebody-elses-file")
    with open(ballast, "wb") as file:
        file.write(b"x" * (16 << 20))
    bus.update("CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
    acknowledged, refused = 0, None
    for i in range(3000):
        try:
            bus.update("INSERT INTO t (x) VALUES (randomblob(500000))")
            acknowledged += 1
        except BusError as error:
            refused = error
            break
    assert refused is not None and refused.name == "DiskFull", f"after {acknowledged} rows: {refused}"
    assert acknowledged > 10
    assert bus.query("SELECT count(*) FROM t") == [(acknowledged,)]
    print(f"refused after {acknowledged} rows: {refused}")

    fill_up(ballast)  # now really full, below the daemon's own floor
    for _ in range(5):
        try:
            bus.update("INSERT INTO t (x) VALUES (randomblob(500000))")
            raise AssertionError("a write on a full disk was acknowledged")
        except BusError as error:
            assert error.name == "DiskFull", error
    assert bus.query("SELECT count(*) FROM t") == [(acknowledged,)]
    pid = bus.daemon_pid()
    bus.kill_daemon()
    fill_up(ballast)
    assert bus.query("SELECT count(*) FROM t") == [(acknowledged,)], "also after a crash on a full disk"
    assert bus.daemon_pid() != pid
    os.unlink(ballast)
    bus.update("DELETE FROM t WHERE id > 5")
    assert bus.query("SELECT count(*) FROM t") == [(5,)]
    assert bus.check(quick=False) == (True, [])


def mount(bus, kind, *options):
    os.makedirs(bus.store, mode=0o700, exist_ok=True)
    subprocess.run(["mount", "-t", kind, *options, "none", bus.store], check=True)
    os.chmod(bus.store, 0o700)


def case_no_sizes(bus):
    """statfs() of ramfs, and of some in FUSE, says 0 blocks: that is no full disk to restore, import or salvage on."""
    mount(bus, "ramfs")
    bus.update("CREATE TABLE t AS " + NUMBERS.format(20000) + "SELECT i, hex(randomblob(100)) AS x FROM n")
    with memory_file() as copy, memory_file(b"".join(b'<urn:i%d> <urn:p> "v" .\n' % i for i in range(200000))) as document:
        assert bus.backup(copy)["State"] == "finished"
        os.lseek(copy, 0, os.SEEK_SET)
        job = bus.finish_job(bus.start_job("Restore", "(ha{sv})", 0, {}, fds=[copy], interface=MANAGER))
        assert job["State"] == "finished", job["ErrorMessage"]
        assert bus.import_fd(document, "ntriples")["State"] == "finished"
    bus.stop_daemon()
    with open(database_file(bus), "r+b") as file:
        file.seek(4096 * 30)
        file.write(os.urandom(4096))

    def count():
        try:
            return bus.query("SELECT count(*) FROM t")[0][0]
        except BusError as error:
            assert error.name in ("Corrupt", "Recovering"), error
            return 0

    wait_until(lambda: 0 < count() < 20000, "the salvage")


def case_full_backup(bus):
    """SQLite kept the journal of each copy that failed; they stayed until the daemon's next start."""
    mount(bus, "tmpfs", "-o", "size=40m,mode=700")
    bus.update("CREATE TABLE t AS " + NUMBERS.format(20000) + "SELECT hex(randomblob(300)) AS x FROM n")
    bus.call("Optimize", "(a{sv})", {}, interface=MANAGER)
    with open(os.path.join(bus.store, "other"), "wb") as other:
        other.write(bytes(20 << 20))
    with memory_file() as copy:
        for _ in range(3):
            job = bus.backup(copy)
            assert (job["State"], job["ErrorName"].split(".")[-1]) == ("failed", "DiskFull"), job
    assert [name for name in os.listdir(bus.store) if "backup" in name] == []


def assert_backup_fails(bus, name, words):
    with memory_file() as copy:
        job = bus.backup(copy)
    assert (job["State"], job["ErrorName"].split(".")[-1]) == ("failed", name), job
    assert words in job["ErrorMessage"]


def case_no_inodes(bus):
    mount(bus, "tmpfs", "-o", "nr_inodes=12,size=64m,mode=700")
    bus.update("CREATE TABLE t (a)")
    with contextlib.suppress(OSError):
        for i in range(20):
            with open(os.path.join(bus.store, f"other-{i}"), "wb"):
                pass
    assert_backup_fails(bus, "DiskFull", ".tmp': No space left on device")


def case_permissions(bus):
    """Each names the file and the reason; the daemon goes on when they are given back."""
    log = os.path.join(bus.store, "queryd.db-wal")
    bus.update("CREATE TABLE t (a)")
    os.chmod(bus.store, 0o500)
    assert_backup_fails(bus, "AccessDenied", ".tmp': Permission denied")
    os.chmod(bus.store, 0o700)
    bus.kill_daemon()
    for path, mode, name, words in ((database_file(bus), 0o400, "ReadOnly", "queryd.db' for writing: Permission denied; the user"),
                                    (log, 0o400, "ReadOnly", f"cannot open '{log}' for writing: Permission denied"),
                                    (log, 0, "AccessDenied", f"cannot open '{log}': Permission denied"),
                                    (bus.store, 0o600, "AccessDenied", "cannot look at it: Permission denied")):
        before = os.stat(path).st_mode & 0o777
        os.chmod(path, mode)
        with pytest.raises(BusError, match=words) as caught:
            bus.update("INSERT INTO t VALUES (1)")
        assert caught.value.name == name, caught.value
        os.chmod(path, before)

        def writes():
            with contextlib.suppress(BusError):
                return bus.update("INSERT INTO t VALUES (1)")

        wait_until(writes, "the next try")
        bus.kill_daemon()


def case_file_size(bus):
    """A file that may not grow is a full disk, not an error without a name."""
    bus.stop_daemon()
    bus.write_launcher(prefix="prlimit --fsize=4000000 --")
    bus.update("CREATE TABLE t (a)")
    with pytest.raises(BusError, match="queryd.db', or a file beside it: File too large") as caught:
        for n in range(20):
            bus.update("INSERT INTO t VALUES (randomblob(1000000))")
    assert caught.value.name == "DiskFull"
    assert bus.query("SELECT count(*) > 0 FROM t") == [(1,)] and bus.check(quick=False) == (True, [])


def case_read_only(bus):
    make_ext4(bus, 4096)
    bus.update("CREATE TABLE t (a)")
    bus.update("INSERT INTO t VALUES (1)")
    bus.stop_daemon()
    subprocess.run(["mount", "-o", "remount,ro", bus.store], check=True)
    check_read_only(bus)


def test_fewer_open_files_than_the_limit():
    """Channels leave some of the files that there are, so that other calls go on. One client took all, and each call failed."""
    import harness
    world = harness.World(limits={"idle_exit_ms": 0}, prefix="prlimit --nofile=64 --")
    try:
        world.update("CREATE TABLE t (a)")
        assert world.limits()["descriptors"][1] == 64
        holder, channels = world.caller(), []
        with pytest.raises(BusError, match="the limit 'descriptors' is 64"):
            for _ in range(60):
                channels.append(holder.prepare("SELECT 1"))
        assert len(channels) > 10
        other = world.caller()
        assert other.update("INSERT INTO t VALUES (1)")[0] == 1 and other.query("SELECT a FROM t") == [(1,)]
        world.call("Reload", interface=MANAGER)
        assert world.limits()["descriptors"][1] == 64
        for channel in channels:
            channel.close()
        assert other.prepare("SELECT a FROM t").fetch() == [(1,)]
    finally:
        world.finish()


def test_concurrent_first_calls(bus):
    """Many callers of a service that is just being activated: all are answered."""
    results = []

    def call():
        results.append(bus.caller().query("SELECT 1"))

    threads = [threading.Thread(target=call) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[(1,)]] * 12


def test_calls_while_the_database_opens(bus):
    """A write-ahead log to recover first: calls made meanwhile wait and are answered."""
    bus.update("CREATE TABLE t (a)")
    for _ in range(5):
        bus.update("INSERT INTO t " + NUMBERS.format(20000) + "SELECT i FROM n")
    bus.kill_daemon()
    assert bus.query("SELECT count(*) FROM t") == [(100000,)]


def test_relative_folders_are_ignored(bus):
    """The store was made where the daemon happened to be started."""
    bus.write_launcher(prefix="env XDG_DATA_HOME=relative/folder")
    bus.update("CREATE TABLE t (a)")
    assert os.path.exists(os.path.join(bus.store, "queryd.db"))
    assert not os.path.exists(os.path.join(os.readlink(f"/proc/{bus.daemon_pid()}/cwd"), "relative"))


def test_relative_folders_are_ignored_by_programs(bus, tmp_path):
    """queryctl made the file of a store's service in its working folder. queryd-http looked there for its token."""
    env = dict(bus.env, XDG_DATA_HOME="relative/data", XDG_RUNTIME_DIR="relative/run")
    subprocess.run([bus.queryctl, "store", "create", "other"], env=env, cwd=tmp_path, check=True, timeout=20 * SLOWER)
    assert os.listdir(tmp_path) == [] and "other" in bus.run(bus.queryctl, "store", "list").stdout
    program = os.path.join(BUILD, "client-lib/http/queryd-http")
    if os.path.exists(program):
        with subprocess.Popen([program, "--port", "0"], env=env, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline().startswith("http:")
            process.terminate()
        assert os.listdir(tmp_path) == [] and os.path.exists(os.path.join(env["XDG_CACHE_HOME"], "queryd-http/token"))


def test_options_of_the_program():
    program = os.path.join(BUILD, "daemon/queryd")
    options = {"--version": "queryd", "--help": "--print-limits", "--print-limits=markdown": "statement_text_bytes"}
    for option, want in options.items():
        arguments = option.split("=")
        run = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, timeout=20 * SLOWER)
        assert run.returncode == 0 and want in run.stdout, (option, run)
    run = subprocess.run([program, "--nosuch"], capture_output=True, text=True, check=False, timeout=20 * SLOWER)
    assert run.returncode != 0 and "nosuch" in run.stderr


def main(cases):
    """A case in its own mount namespace."""
    import harness
    world = harness.World()
    try:
        cases["case_" + sys.argv[1]](world, *sys.argv[2:])
    finally:
        subprocess.run(["umount", "-l", world.store], capture_output=True, check=False)
        world.finish()


if __name__ == "__main__":
    main(globals())
