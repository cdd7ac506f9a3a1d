# SPDX-License-Identifier: LGPL-2.1-or-later
"""Disks that become read-only, give errors or take nothing: each message names the cause, the file and what to do."""
import contextlib
import fcntl
import os
import sqlite3
import struct
import subprocess
import sys

import pytest

from harness import BusError, wait_until
from test_full_disk import rest
from test_lifecycle import in_namespace, main, make_ext4, mount

N_ROWS = 10
COUNT = "SELECT count(*) FROM t"
INSERT = "INSERT INTO t (x) VALUES (randomblob(3000))"
EXT4_IOC_SHUTDOWN = 0x8004587d
NO_FLUSH = 2


def test_disk_that_gives_errors():
    in_namespace("errors", file=__file__)


def test_disk_that_an_error_makes_read_only():
    in_namespace("becomes_read_only", file=__file__)


@pytest.mark.parametrize("end", ["kill", "kill-at-rest"])
def test_log_on_a_read_only_disk(end):
    in_namespace("log", end, file=__file__)


def test_disk_that_can_be_written_again():
    in_namespace("writes_again", file=__file__)


def test_log_without_its_index():
    in_namespace("no_index", file=__file__)


def test_overlay_without_room():
    in_namespace("overlay", file=__file__)


def make_rows(bus):
    bus.update("CREATE TABLE t (id INTEGER PRIMARY KEY, x)")
    for _ in range(N_ROWS):
        bus.update(INSERT)


def shut_down(bus):
    """Each call on the file system is EIO from here on."""
    folder = os.open(bus.store, os.O_RDONLY)
    try:
        fcntl.ioctl(folder, EXT4_IOC_SHUTDOWN, struct.pack("I", NO_FLUSH))
    except OSError as error:
        print(f"this kernel does not shut ext4 down: {error}", file=sys.stderr)
        sys.exit(77)
    finally:
        os.close(folder)


def report_error(bus):
    """The kernel makes the file system read-only, as after an error of the disk."""
    device = subprocess.run(["findmnt", "-n", "-o", "SOURCE", bus.store], capture_output=True, text=True,
                            check=True).stdout.strip()
    try:
        with open(f"/sys/fs/ext4/{os.path.basename(device)}/trigger_fs_error", "w", encoding="ascii") as file:
            file.write("1")
    except OSError as error:
        print(f"no error of ext4 can be made here: {error}", file=sys.stderr)
        sys.exit(77)


def fails(call, text, name, *words):
    with pytest.raises(BusError) as caught:
        call(text)
    assert caught.value.name == name, caught.value
    for word in words:
        assert word in caught.value.message, caught.value


def mount_again(bus):
    image = os.path.join(bus.folder, "image")
    subprocess.run(["umount", bus.store], check=True)
    subprocess.run(["e2fsck", "-p", "-f", image], capture_output=True, check=False)
    subprocess.run(["mount", "-o", "loop", image, bus.store], check=True)


def case_errors(bus):
    make_ext4(bus, 4096)
    make_rows(bus)
    os.sync()
    shut_down(bus)
    database = os.path.join(bus.store, "queryd.db")
    fails(bus.update, INSERT, "Internal", f"cannot write '{database}', or a file beside it: Input/output error",
          "the disk reports an error, see the kernel's log")
    bus.stop_daemon()
    fails(bus.query, COUNT, "Internal", "Input/output error", "see the kernel's log")
    direct = subprocess.run([bus.queryctl, "sql", "--direct", database, COUNT], env=bus.env, capture_output=True, text=True,
                            check=False)
    assert direct.returncode != 0 and "Input/output error" in direct.stderr and "rights" not in direct.stderr, direct.stderr
    bus.stop_daemon()
    mount_again(bus)
    bus.update(INSERT)
    assert bus.query(COUNT) == [(N_ROWS + 1,)]


def case_becomes_read_only(bus):
    make_ext4(bus, 4096)
    subprocess.run(["mount", "-o", "remount,errors=remount-ro", bus.store], check=True)
    make_rows(bus)
    os.sync()
    report_error(bus)
    cause = ("Read-only file system", "mount the disk for writing", "queryd.db")
    fails(bus.update, INSERT, "ReadOnly", *cause)
    assert bus.query(COUNT) == [(N_ROWS,)]
    rest(bus)
    fails(bus.update, INSERT, "ReadOnly", *cause)
    assert bus.query(COUNT) == [(N_ROWS,)]
    for end in (bus.stop_daemon, bus.kill_daemon):
        end()
        assert bus.query(COUNT) == [(N_ROWS,)]
        fails(bus.update, INSERT, "ReadOnly", "cannot be written")
    bus.stop_daemon()
    mount_again(bus)
    bus.update(INSERT)
    assert bus.query(COUNT) == [(N_ROWS + 1,)] and bus.check(quick=False) == (True, [])


def remount(bus, how):
    subprocess.run(["mount", "-o", f"remount,{how}", bus.store], check=True)


def case_log(bus, end):
    """What was acknowledged is in the log only; another program writes as soon as the disk can be written."""
    make_ext4(bus, 4096)
    make_rows(bus)
    bus.update("INSERT DATA { <urn:a> <urn:b> 1 }", language="sparql")
    if end == "kill-at-rest":
        rest(bus)
    bus.kill_daemon()
    assert end == "kill-at-rest" or os.path.getsize(os.path.join(bus.store, "queryd.db-wal")) > 0
    remount(bus, "ro")
    assert bus.query(COUNT) == [(N_ROWS,)]
    assert bus.query("SELECT ?o { <urn:a> <urn:b> ?o }", language="sparql")[0][0][0] == "1"
    assert bus.property("ReadOnly") is True and bus.check(quick=False) == (True, [])
    fails(bus.update, INSERT, "ReadOnly", "cannot be written")
    rest(bus)
    assert bus.query(COUNT) == [(N_ROWS,)]
    remount(bus, "rw")
    if end == "kill":
        with contextlib.closing(sqlite3.connect(os.path.join(bus.store, "queryd.db"), isolation_level=None)) as other:
            for n in range(1, 200):
                other.execute("INSERT INTO t (x) VALUES (randomblob(3000))")
                other.execute("PRAGMA wal_checkpoint")
                assert bus.query(COUNT) == [(N_ROWS + n,)]
        assert bus.query(COUNT) == [(N_ROWS + n,)] and bus.check(quick=False) == (True, [])
    wait_until(lambda: writes(bus), "a daemon that writes")
    assert bus.check(quick=False) == (True, [])


def writes(bus):
    """A daemon that was begun on a read-only disk ends when that is over."""
    with contextlib.suppress(BusError):
        return bus.update(INSERT)


def case_writes_again(bus):
    mount(bus, "tmpfs", "-o", "mode=700")
    make_rows(bus)
    bus.stop_daemon()
    remount(bus, "ro")
    fails(bus.update, INSERT, "ReadOnly", f"store '{bus.store}' cannot be written: Read-only file system")
    pid = bus.daemon_pid()
    assert bus.query(COUNT) == [(N_ROWS,)] and bus.daemon_pid() == pid
    remount(bus, "rw")
    wait_until(lambda: writes(bus), "a daemon that writes")
    assert bus.daemon_pid() != pid and bus.query(COUNT) == [(N_ROWS + 1,)]


def case_no_index(bus):
    make_ext4(bus, 4096)
    make_rows(bus)
    bus.kill_daemon()
    os.unlink(os.path.join(bus.store, "queryd.db-shm"))
    remount(bus, "ro")
    fails(bus.query, COUNT, "ReadOnly", "its log has to be recovered first (copy the folder to a place that can be written")


def case_overlay(bus):
    """The upper layer has no room for a copy of the database."""
    lower, upper = os.path.join(bus.folder, "lower"), os.path.join(bus.folder, "upper")
    for folder in (lower, upper, bus.store):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    subprocess.run(["mount", "--bind", lower, bus.store], check=True)
    make_rows(bus)
    bus.update("INSERT INTO t (x) VALUES (zeroblob(3000000))")
    bus.stop_daemon()
    subprocess.run(["umount", bus.store], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", upper], check=True)
    os.mkdir(os.path.join(upper, "u"), mode=0o700)
    os.mkdir(os.path.join(upper, "w"), mode=0o700)
    layers = f"lowerdir={lower},upperdir={upper}/u,workdir={upper}/w"
    command = ["mount", "-t", "overlay", "-o", layers, "none", bus.store]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        print(f"no overlay here: {mounted.stderr.strip()}", file=sys.stderr)
        sys.exit(77)
    database = os.path.join(bus.store, "queryd.db")
    fails(bus.update, INSERT, "DiskFull", f"cannot open '{database}' for writing: No space left on device", "make room")


if __name__ == "__main__":
    main(globals())
