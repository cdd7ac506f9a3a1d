# SPDX-License-Identifier: LGPL-2.1-or-later
"""What one client takes leaves enough to others: bytes of unfinished requests, jobs that wait, channels."""
import os
import subprocess
import sys

import pytest

from harness import MANAGER, SANITIZER, SLOWER, BusError, memory_file, status_kib, wait_until
from wire_client import RemoteError, encode_record, encode_row, encode_string
from wire_reader import CutOff

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20


def large_record(channel, n_bytes, serial=1):
    """PREPARE of a text that is too large, which the daemon sees only when all of it is there."""
    return encode_record("P", 0, serial, encode_string("sql") + encode_string(b"x" * n_bytes), channel.page_size)


def send_unfinished(channel, record):
    """All pieces but the last one."""
    last = len(record) % channel.page_size or channel.page_size
    channel.send_raw(record[:-last])
    return record[-last:]


def error_of(channel, serial=1):
    with pytest.raises(RemoteError) as error:
        list(channel.answer(serial))
    return error.value


def test_unfinished_requests_are_bounded(make_bus):
    """16 channels with a request of 64 MiB each, of which the end does not come, took 1 GiB."""
    bus = make_bus(limits={"request_idle_ms": 1500, "channels_per_client": 16})
    bus.query("SELECT 1")
    pid, other = bus.daemon_pid(), bus.caller()
    channels = [bus.prepare("SELECT 1") for _ in range(16)]
    record = large_record(channels[0], 64 * MIB)
    for channel in channels:
        channel.set_timeout(30 * SLOWER)
        send_unfinished(channel, record)
        if not SANITIZER:
            assert status_kib(pid, "RssAnon") < 200 * 1024
    errors = [error_of(channel) for channel in channels]
    assert {e.name for e in errors} == {"LimitExceeded", "Timeout"}
    assert any("'request_idle_ms' is 1500 ms" in e.message for e in errors)
    assert any("'request_bytes_per_client' is 83886080 bytes" in e.message for e in errors)
    # all was given back, and a channel goes on when its refused request has ended
    last = record[-(len(record) % channels[0].page_size or channels[0].page_size):]
    for channel in channels:
        channel.send_raw(last)
        assert channel.fetch() == [(1,)]
    assert other.query("SELECT 2") == [(2,)]


def test_each_large_request_gives_back(make_bus):
    bus = make_bus(limits={"channels_per_client": 16})
    channels = [bus.prepare("SELECT 1") for _ in range(16)]
    record = large_record(channels[0], 64 * MIB)
    for channel in channels:
        channel.set_timeout(30 * SLOWER)
        assert error_of_large(channel, record) == "TooBig"
        channel.close()


def test_record_that_stops_in_its_midst(make_bus):
    """It is answered, and the rest is dropped as it comes. Half of a piece of a large one ends the channel."""
    bus = make_bus(limits={"request_idle_ms": 100})
    for n_bytes in (1000, 20_000, 60_000):
        record = encode_record("P", 0, 7, encode_string("sql") + encode_string(b"x" * n_bytes), 65536)
        with bus.prepare("SELECT 1") as channel:
            for n_sent in (16, 900, len(record) - 8):
                channel.send_raw(record[:n_sent])
                error = error_of(channel, 7)
                assert error.name == "Timeout"
                assert error.message.startswith(f"the rest of the request did not come: {n_sent} of {len(record)} bytes are there: "
                                                "the limit 'request_idle_ms' is 100 ms")
                rest = record[n_sent:]
                channel.send_raw(rest[:5])
                channel.send_raw(rest[5:])
                assert channel.fetch() == [(1,)]
    with bus.prepare("SELECT 1") as channel:
        record = large_record(channel, MIB)
        for n_sent in (40_000, channel.page_size + 1000):
            with bus.prepare("SELECT 1") as other:
                other.send_raw(record[:n_sent])
                assert error_of(other).name == "Timeout"
                with pytest.raises((CutOff, OSError)):
                    list(other.answer())
        assert channel.fetch() == [(1,)]


def error_of_large(channel, record):
    channel.send_raw(record)
    return error_of(channel).name


def test_hang_up_and_cancel_give_back(make_bus):
    bus = make_bus(limits={"request_bytes": 90 * MIB})  # where 8 MiB stay charged, 60 do not fit
    for _ in range(3):
        with bus.prepare("SELECT 1") as channel:
            send_unfinished(channel, large_record(channel, 60 * MIB))
        with bus.prepare("SELECT 1") as channel:
            channel.send_raw(b"".join((large_record(channel, 20 * MIB), encode_record("C", 1, 0, b"", channel.page_size))))
            assert error_of(channel).name in ("TooBig", "Cancelled")

    def fits():
        with bus.prepare("SELECT 1") as channel:
            return error_of_large(channel, large_record(channel, 60 * MIB)) == "TooBig"

    wait_until(fits, "the bytes of closed channels to be given back")


def test_what_can_never_fit_is_refused_at_once(make_bus):
    bus = make_bus(limits={"request_bytes_per_client": 2 * MIB})
    with bus.prepare("SELECT length(?)") as channel:
        channel.send_raw(large_record(channel, 3 * MIB)[:channel.page_size])
        channel.set_timeout(10 * SLOWER)
        error = error_of(channel)
        assert error.name == "LimitExceeded" and "'request_bytes_per_client' is 2097152 bytes" in error.message


def test_a_second_large_request_waits_for_the_first(make_bus):
    bus = make_bus()
    with bus.prepare("SELECT length(?)") as channel:
        channel.set_timeout(60 * SLOWER)
        body = encode_row([b"x" * (60 * MIB)])
        assert channel.fetch((b"x" * (60 * MIB),)) == [(60 * MIB,)]
        small = encode_record("F", 1, 9, encode_row([b"abc"]), channel.page_size)
        whole = encode_record("F", 1, 7, body, channel.page_size) + encode_record("F", 1, 8, body, channel.page_size) + small
        channel.send_raw(whole)
        for serial, length in ((7, 60 * MIB), (8, 60 * MIB), (9, 3)):
            assert list(channel.answer(serial)) == [(length,)]


def test_updates_of_some_size_wait_for_each_other(bus):
    """The writer owns the channel while it answers: what is held goes on afterwards."""
    bus.update("CREATE TABLE t(x)")
    with bus.prepare("INSERT INTO t VALUES (length(?))", access="write") as channel:
        channel.set_timeout(30 * SLOWER)
        body = encode_row([b"x" * 500000])
        channel.send_raw(b"".join(encode_record("F", 1, serial, body, channel.page_size) for serial in range(1, 21)))
        for serial in range(1, 21):
            assert not list(channel.answer(serial))
    assert bus.query("SELECT count(*), min(x) FROM t") == [(20, 500000)]


def test_stopped_exports_leave_jobs_to_others(make_bus):
    bus = make_bus(limits={"jobs_waiting": 4, "reader_idle_ms": 8000 * SLOWER})
    text = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) SELECT i, hex(zeroblob(50)) FROM n"
    others = [start_exporter(bus, text) for _ in range(4)]
    try:
        for process in others:
            assert process.stdout.readline() == b"started\n"
        wait_until(lambda: int(bus.stats()["jobs"]) == 4, "the four exports to be there")

        def exports():
            with memory_file() as fd:
                try:
                    bus.export("SELECT 1 AS a", "csv", fd)
                    return os.pread(fd, 100, 0)
                except BusError as error:
                    assert "'jobs' is 4" in error.message
                    return None

        wait_until(exports, "a place among the jobs", 6)
        # one that is read on is finished
        others[0].stdin.write(b"read\n")
        others[0].stdin.flush()
        assert int(others[0].stdout.readline()) > 10 * MIB
        # the others end, as before
        for process in others[1:]:
            assert b"reader_idle_ms" in process.stdout.readline()
    finally:
        for process in others:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


def start_exporter(bus, text):
    """A process whose export goes into a pipe that is not read until it is asked to."""
    return subprocess.Popen([sys.executable, os.path.join(HERE, "share_client.py"), bus.address, "export", text], env=bus.env,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def test_a_quarter_of_the_channels_is_for_those_with_few(make_bus):
    bus = make_bus(limits={"channels": 40, "channels_few": 4})
    processes = [subprocess.Popen([sys.executable, os.path.join(HERE, "share_client.py"), bus.address, "channels"], env=bus.env,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for process in processes:
            assert b"'channels' is 40" in process.stdout.readline()
        channels = [bus.prepare("SELECT 1") for _ in range(4)]
        with pytest.raises(BusError) as error:
            bus.prepare("SELECT 1")
        assert error.value.name.endswith("LimitExceeded") and "'channels' is 40" in error.value.message
        assert all(channel.fetch() == [(1,)] for channel in channels)
        for channel in channels:
            channel.close()
    finally:
        for process in processes:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


def test_a_small_control_group_lowers_the_limits(make_bus, tmp_path):
    """With MemoryMax=128M the kernel killed the daemon at eight queries of 40 MB. A folder stands for the group here."""
    if os.getuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("needs root and unshare -m for a file system of its own")
    with open("/proc/self/cgroup", encoding="utf-8") as stream:
        if not any(line.startswith("0::/") and not line.startswith("0::/..") for line in stream):
            pytest.skip("no control groups of version 2")
    (tmp_path / "memory.max").write_text(f"{128 * MIB}\n")
    bus = make_bus(prefix=f"unshare -m sh -c 'mount --bind {tmp_path} /sys/fs/cgroup && exec \"$@\"' sh")
    limits = bus.limits()
    names = ("heap_hard_bytes", "heap_soft_bytes", "import_memory_bytes", "result_memory_bytes", "query_memory_bytes")
    assert [limits[name][1] // MIB for name in names] == [64, 32, 64, 16, 64]
    channels = [bus.prepare(f"SELECT zeroblob({20 * MIB}) || zeroblob({20 * MIB})") for _ in range(8)]
    for channel in channels:
        channel.send_fetch()
    for channel in channels:
        error = error_of(channel)
        assert error.name == "NoMemory" and "'heap_hard_bytes' is 67108864 bytes" in error.message
        channel.close()
    assert status_kib(bus.daemon_pid(), "VmHWM") < 128 * 1024 or SANITIZER
    bus.call("Reload", interface=MANAGER)
    assert bus.limits()["heap_hard_bytes"][1] == 64 * MIB
