# SPDX-License-Identifier: LGPL-2.1-or-later
"""A disk that another program keeps full: queries answer, updates are refused, and no start and no end changes that."""
import contextlib
import os
import shutil
import sqlite3
import subprocess
import time

import pytest

from harness import BusError, wait_until
from test_lifecycle import NUMBERS, fill_up, in_namespace, main, make_ext4, mount, mount_image

N_ROWS = 48
ALL = "SELECT count(*), sum(length(x)) FROM t"


@pytest.mark.parametrize("kind", ["1024", "4096", "tmpfs"])
def test_starts_on_a_full_disk(kind):
    in_namespace("starts", kind, file=__file__)


@pytest.mark.parametrize(("kind", "left"), [("1024", "sparse"), ("4096", "absent"), ("tmpfs", "cut")])
def test_index_without_blocks(kind, left):
    """What an earlier version, another program or a power cut leaves."""
    in_namespace("index", kind, left, file=__file__)


def test_copy_on_write():
    """Each change of a page takes a new block, that of the index's, too."""
    if shutil.which("mkfs.btrfs") is None:
        pytest.skip("no mkfs.btrfs here (Debian: btrfs-progs)")
    in_namespace("copy_on_write", file=__file__)


def test_no_inodes():
    in_namespace("no_inodes", file=__file__)


def test_own_data_fill_the_disk():
    in_namespace("own_data", file=__file__)


def make_disk(bus, kind, mib=300):
    if kind == "tmpfs":
        mount(bus, "tmpfs", "-o", f"size={mib}m,mode=700")
    else:
        make_ext4(bus, int(kind), mib)
    return os.path.join(bus.store, "somebody-elses-file")


def make_rows(bus):
    bus.update("CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
    for _ in range(N_ROWS):
        bus.update("INSERT INTO t (x) VALUES (randomblob(5000))")


def assert_refuses(bus):
    with pytest.raises(BusError, match="has to stay free|have to stay free|disk is full") as caught:
        bus.update("INSERT INTO t (x) VALUES (1)")
    assert caught.value.name == "DiskFull", caught.value


def rest(bus):
    """More than one read connection at once, and then two seconds without any."""
    pid = bus.daemon_pid()
    text = NUMBERS.format(500000) + "SELECT count(*) FROM n, (SELECT count(*) FROM t)"
    queries = [subprocess.Popen([bus.queryctl, "sql", text], env=bus.env, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [query.wait() for query in queries] == [0] * len(queries)
    wait_until(lambda: not any("-shm" in name or "log-index" in name for name in open_files(pid)), "the daemon's rest")


def open_files(pid):
    names = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            names.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return names


def assert_recovers(bus, other):
    """Without a restart."""
    os.unlink(other)
    bus.update("INSERT INTO t (x) VALUES (zeroblob(5000))")
    assert bus.query(ALL) == [(N_ROWS + 1, 5000 * (N_ROWS + 1))]
    assert bus.check(quick=False) == (True, [])
    assert os.stat(os.path.join(bus.store, "ballast")).st_blocks * 512 >= 1 << 20


def case_starts(bus, kind):
    other = make_disk(bus, kind)
    make_rows(bus)
    for end in (bus.kill_daemon, bus.stop_daemon, bus.kill_daemon):
        fill_up(other)
        assert_refuses(bus)
        end()
        fill_up(other)
        assert bus.query(ALL) == [(N_ROWS, 5000 * N_ROWS)]
        assert_refuses(bus)
        rest(bus)
        fill_up(other)
        assert bus.query(ALL) == [(N_ROWS, 5000 * N_ROWS)]
    with sqlite3.connect(os.path.join(bus.store, "queryd.db")) as beside:
        assert beside.execute(ALL).fetchall() == [(N_ROWS, 5000 * N_ROWS)], "another program reads, too"
    beside.close()
    assert_recovers(bus, other)


def leave_index(path, left):
    if left == "cut":
        os.truncate(path, 3)
    else:
        os.unlink(path)
    if left == "sparse":
        with open(path, "wb") as file:  # as SQLite makes it
            for end in range(4096, 32769, 4096):
                file.seek(end - 1)
                file.write(b"\0")


def case_index(bus, kind, left):
    other = make_disk(bus, kind)
    make_rows(bus)
    for end in (bus.kill_daemon, bus.stop_daemon, bus.kill_daemon):
        end()
        leave_index(os.path.join(bus.store, "queryd.db-shm"), left)
        if os.path.exists(os.path.join(bus.store, "ballast")):
            os.unlink(os.path.join(bus.store, "ballast"))
        fill_up(other)
        assert bus.query(ALL) == [(N_ROWS, 5000 * N_ROWS)]
        assert_refuses(bus)
        rest(bus)
        assert bus.query(ALL) == [(N_ROWS, 5000 * N_ROWS)]
    assert_recovers(bus, other)


def case_own_data(bus):
    """No floor: the store's own log takes the last block."""
    bus.write_config({"free_disk_bytes": 0})
    other = make_disk(bus, "1024", 24)
    make_rows(bus)
    with open(other, "wb") as file:
        file.write(bytes(4 << 20))
    n_rows = N_ROWS
    with pytest.raises(BusError) as caught:
        for _ in range(1000):
            bus.update("INSERT INTO t (x) VALUES (randomblob(100000))")
            n_rows += 1
    assert caught.value.name == "DiskFull" and n_rows > N_ROWS
    for _ in range(2):
        bus.kill_daemon()
        fill_up(other)
        assert bus.query("SELECT count(*) FROM t") == [(n_rows,)]
    os.unlink(other)
    bus.update("DELETE FROM t WHERE id > 5")
    assert bus.query("SELECT count(*) FROM t") == [(5,)]


def case_copy_on_write(bus):
    """The index of the log had changed since it was last written to the disk, so that its next change needed a block."""
    bus.write_config({"free_disk_bytes": 0})
    mount_image(bus, ["mkfs.btrfs", "-q", "-f"], 300)
    other = os.path.join(bus.store, "somebody-elses-file")
    make_rows(bus)
    n_rows = N_ROWS
    for end in (bus.kill_daemon, bus.stop_daemon, bus.kill_daemon):
        pid = bus.daemon_pid()
        os.sync()
        fill_up(other)
        with pytest.raises(BusError) as caught:
            for _ in range(5000):
                bus.update("INSERT INTO t (x) VALUES (zeroblob(5000))")
                n_rows += 1
        assert caught.value.name == "DiskFull", caught.value
        assert bus.query(ALL) == [(n_rows, 5000 * n_rows)]
        assert bus.daemon_pid() == pid, "no signal has ended it"
        end()
        fill_up(other)
        assert bus.query(ALL) == [(n_rows, 5000 * n_rows)]
    os.unlink(other)
    os.sync()
    wait_until(lambda: adds_row(bus), "room again")
    assert bus.query(ALL) == [(n_rows + 1, 5000 * (n_rows + 1))]


def adds_row(bus):
    """The file system gives room back by and by."""
    try:
        bus.update("INSERT INTO t (x) VALUES (zeroblob(5000))")
    except BusError as error:
        assert error.name == "DiskFull", error
        return False
    return True


def case_no_inodes(bus):
    """An orderly end keeps the log's files, as it could not have them back."""
    mount(bus, "tmpfs", "-o", "size=200m,mode=700,nr_inodes=40")
    make_rows(bus)
    take_inodes(bus.store)
    bus.stop_daemon()
    assert not take_inodes(bus.store)
    assert bus.query(ALL) == [(N_ROWS, 5000 * N_ROWS)]
    bus.update("INSERT INTO t (x) VALUES (zeroblob(5000))")
    assert bus.query(ALL) == [(N_ROWS + 1, 5000 * (N_ROWS + 1))]


def take_inodes(folder):
    """Returns: the files that it could make."""
    made = []
    with contextlib.suppress(OSError):
        while True:
            path = os.path.join(folder, f"other-{time.monotonic_ns()}")
            with open(path, "x", encoding="utf-8"):
                made.append(path)
    return made


if __name__ == "__main__":
    main(globals())
