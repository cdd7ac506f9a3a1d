# SPDX-License-Identifier: LGPL-2.1-or-later
"""Payloads: by descriptor and in SQL; small ones in rows, large ones in files; nothing left behind by what failed."""
import fcntl
import hashlib
import mmap
import os
import stat
import threading

import pytest

from harness import BusError, memory_file, options, wait_until

SMALL = b"small"
LARGE = os.urandom(300_000)
INLINE = 65536
SIZES = [0, 1, INLINE, INLINE + 1, 1_000_000]


def store(bus, data, **opts):
    with memory_file(data) as fd:
        return bus.call("StorePayload", "(ha{sv})", 0, options(opts), fds=[fd])[0].unpack()[0]


def replace(bus, payload, data, **opts):
    with memory_file(data) as fd:
        bus.call("ReplacePayload", "(xha{sv})", payload, 0, options(opts), fds=[fd])


def delete(bus, payload):
    bus.call("DeletePayload", "(xa{sv})", payload, {})


def open_payload(bus, payload):
    _, (fd,) = bus.call("OpenPayload", "(x)", payload)
    return fd


def load(bus, payload):
    fd = open_payload(bus, payload)
    try:
        return os.pread(fd, os.fstat(fd).st_size + 1, 0)
    finally:
        os.close(fd)


def files(bus):
    try:
        return sorted(os.listdir(os.path.join(bus.store, "payload")))
    except FileNotFoundError:
        return []


def name_of(data):
    return hashlib.sha256(data).hexdigest()


def expect_files(bus, *contents):
    """Files are deleted after the commit, soon."""
    wanted = sorted({name_of(c) for c in contents})
    wait_until(lambda: files(bus) == wanted, f"the files {wanted}, found {files(bus)}")


@pytest.mark.parametrize("size", SIZES)
def test_round_trip(bus, size):
    data = os.urandom(size)
    payload = store(bus, data, media_type="application/x-test")
    assert load(bus, payload) == data
    row = bus.query("SELECT size, lower(hex(hash)), media_type, created > 1700000000 FROM queryd_payload WHERE id=?", [payload])
    assert row == [(size, name_of(data) if size > INLINE else "", "application/x-test", 1)]
    assert bus.query("SELECT queryd_payload(?)", [payload]) == [(data,)]
    assert files(bus) == ([name_of(data)] if size > INLINE else [])


def test_files_are_private_and_read_only_for_callers(bus):
    fd = open_payload(bus, store(bus, LARGE))
    folder = os.path.join(bus.store, "payload")
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(os.path.join(folder, name_of(LARGE))).st_mode) == 0o600
    with pytest.raises(OSError):
        os.write(fd, b"x")
    with mmap.mmap(fd, 0, prot=mmap.PROT_READ) as view:
        assert view[:] == LARGE
    os.close(fd)
    fd = open_payload(bus, store(bus, SMALL))
    for change in (lambda: os.ftruncate(fd, 0), lambda: os.write(fd, b"x")):
        with pytest.raises(OSError):
            change()
    os.close(fd)


def test_replace_and_delete(bus):
    payload = store(bus, LARGE, media_type="a/b")
    before = open_payload(bus, payload)
    for data in (LARGE[1:], SMALL, LARGE, LARGE):
        replace(bus, payload, data)
        assert load(bus, payload) == data
        expect_files(bus, *[data] if len(data) > INLINE else [])
    assert bus.query("SELECT media_type FROM queryd_payload") == [("a/b",)]
    replace(bus, payload, SMALL, media_type="c/d")
    assert bus.query("SELECT media_type FROM queryd_payload") == [("c/d",)]
    assert os.pread(before, len(LARGE), 0) == LARGE, "what was opened stays"
    os.close(before)
    delete(bus, payload)
    expect_files(bus)
    for call in (lambda: delete(bus, payload), lambda: load(bus, payload), lambda: replace(bus, payload, LARGE)):
        with pytest.raises(BusError) as error:
            call()
        assert (error.value.name, error.value.message) == ("BadParameter", f"there is no payload {payload}")
    expect_files(bus)
    assert store(bus, SMALL) > payload, "an id is never used again"


def test_one_file_for_one_content(bus):
    ids = [store(bus, LARGE) for _ in range(3)]
    expect_files(bus, LARGE)
    for payload in ids[:2]:
        delete(bus, payload)
        assert load(bus, ids[2]) == LARGE
    delete(bus, ids[2])
    expect_files(bus)


def test_many_at_once(bus):
    contents = [LARGE[i:] if i % 2 else SMALL + bytes([i]) for i in range(20)]
    ids = [store(bus, data) for data in contents]
    _, fds = bus.call("OpenPayloads", "(ax)", ids[:16])
    assert [os.pread(fd, os.fstat(fd).st_size, 0) for fd in fds] == contents[:16]
    for fd in fds:
        os.close(fd)
    with pytest.raises(BusError, match="'payloads_per_call' is 16") as error:
        bus.call("OpenPayloads", "(ax)", ids)
    assert error.value.name == "TooBig"
    assert bus.call("OpenPayloads", "(ax)", [])[1] == []


def test_row_and_payload_in_one_transaction(bus):
    bus.update("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE, payload INTEGER)")
    bus.update("CREATE TRIGGER item_gone AFTER DELETE ON item BEGIN SELECT queryd_delete_payload(old.payload); END")
    for name, data in ("a", SMALL), ("b", LARGE):
        changes, rowid, _ = bus.update("INSERT INTO item(name, payload) VALUES (?, queryd_store_payload(?, 'x/y'))", [name, data])
        assert (changes, rowid) == (1, 1 if name == "a" else 2)
    assert bus.query("SELECT name, queryd_payload(payload) FROM item ORDER BY id") == [("a", SMALL), ("b", LARGE)]
    with pytest.raises(BusError) as error:
        bus.update("INSERT INTO item(name, payload) VALUES ('a', queryd_store_payload(?))", [LARGE[1:]])
    assert error.value.name == "Constraint"
    expect_files(bus, LARGE)
    with pytest.raises(BusError):
        bus.batch([("INSERT INTO item(name, payload) VALUES ('c', queryd_store_payload(?))", [LARGE[2:]]),
                   ("INSERT INTO item(name) VALUES ('a')", [])])
    with pytest.raises(BusError):
        bus.update("INSERT OR ROLLBACK INTO item(name, payload) VALUES ('a', queryd_store_payload(?))", [LARGE[3:]])
    assert bus.query("SELECT count(*) FROM queryd_payload") == [(2,)]
    bus.update("UPDATE item SET payload = queryd_replace_payload(payload, ?) WHERE name = 'a'", [LARGE[4:]])
    expect_files(bus, LARGE, LARGE[4:])
    bus.update("DELETE FROM item")
    assert bus.query("SELECT count(*) FROM queryd_payload") == [(0,)]
    expect_files(bus)


def test_id_comes_back_on_a_channel(bus):
    with bus.prepare("SELECT queryd_store_payload(?)", access="write") as channel:
        (row,) = channel.fetch((LARGE,))
        assert load(bus, row[0]) == LARGE
    assert bus.query("SELECT queryd_payload(NULL), queryd_payload(99)") == [(None, None)]
    with bus.prepare("SELECT queryd_store_payload(NULL), queryd_delete_payload(NULL), queryd_delete_payload(77)",
                     access="write") as channel:
        assert channel.fetch() == [(None, None, 0)]


def test_new_content_is_seen_in_its_transaction(bus):
    bus.update("CREATE TABLE t (n)")
    bus.batch([("INSERT INTO t SELECT queryd_store_payload(?)", [LARGE]),
               ("UPDATE t SET n = length(queryd_payload(n))", [])])
    assert bus.query("SELECT n FROM t") == [(len(LARGE),)]


@pytest.mark.parametrize("text", ["SELECT queryd_store_payload(x'00')", "SELECT queryd_delete_payload(1)",
                                  "SELECT queryd_replace_payload(1, x'00')"])
def test_queries_do_not_write(bus, text):
    with pytest.raises(BusError) as error:
        bus.query(text)
    assert error.value.name == "ReadOnly"


@pytest.mark.parametrize("text", ["INSERT INTO queryd_payload(size, hash, created) VALUES (1, x'', 0)",
                                  "DROP TABLE queryd_payload", "UPDATE queryd_payload SET size = 1"])
def test_the_table_is_ours(bus, text):
    with pytest.raises(BusError) as error:
        bus.update(text)
    assert error.value.name == "AccessDenied"


@pytest.mark.parametrize("text", ["DELETE FROM sqlite_sequence", "UPDATE sqlite_sequence SET seq = 0",
                                  "UPDATE sqlite_sequence SET seq = 9223372036854775807",
                                  "UPDATE sqlite_sequence SET seq = 'x'",
                                  "INSERT INTO sqlite_sequence VALUES ('queryd_payload', 9223372036854775807)"])
def test_ids_are_not_the_clients(bus, text):
    """An id is never used again, and there is a next one, though clients may write the numbers of AUTOINCREMENT."""
    ids = [store(bus, SMALL) for _ in range(2)]
    delete(bus, ids[1])
    bus.update(text)
    assert store(bus, SMALL) > ids[1]


def test_delete_by_sql(bus):
    bus.update("CREATE TABLE item (payload INTEGER REFERENCES queryd_payload(id))")
    ids = [store(bus, LARGE[i:]) for i in range(5)] + [store(bus, SMALL)]
    bus.update("INSERT INTO item VALUES (?)", [ids[4]])
    assert bus.update("DELETE FROM queryd_payload WHERE id < ?", [ids[3]])[0] == 3
    expect_files(bus, LARGE[3:], LARGE[4:])
    with pytest.raises(BusError) as error:
        bus.update("DELETE FROM queryd_payload")
    assert error.value.name == "Constraint"
    bus.update("DROP TABLE item")
    assert bus.update("DELETE FROM queryd_payload")[0] == 3
    expect_files(bus)
    assert store(bus, SMALL) > ids[5]
    with pytest.raises(BusError) as error:
        bus.query("DELETE FROM queryd_payload")
    assert error.value.name == "ReadOnly"


def test_pipe(bus):
    reader, writer = os.pipe()
    results = []
    caller = bus.caller()
    thread = threading.Thread(
        target=lambda: results.append(caller.call("StorePayload", "(ha{sv})", 0, {}, fds=[reader])[0].unpack()[0]))
    thread.start()
    with os.fdopen(writer, "wb") as stream:
        stream.write(LARGE)
    thread.join()
    os.close(reader)
    assert load(bus, results[0]) == LARGE


def nameless_file(folder, data):
    """As the library makes it beside the store's files: (a descriptor that writes, one that reads)."""
    try:
        writer = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    except OSError as error:
        pytest.skip(f"no files without a name here: {error}")
    os.write(writer, data)
    return writer, os.open(f"/proc/self/fd/{writer}", os.O_RDONLY)


def can_lease(fd):
    try:
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return True
    except OSError:
        return False


def store_fd(bus, fd):
    return bus.call("StorePayload", "(ha{sv})", 0, {}, fds=[fd])[0].unpack()[0]


def test_a_file_that_nobody_can_write_to_is_taken_over(bus):
    folder = os.path.join(bus.store, "payload")
    store(bus, LARGE[7:])
    writer, reader = nameless_file(folder, LARGE)
    os.close(writer)
    if not can_lease(reader):
        pytest.skip("no leases here")
    payload = store_fd(bus, reader)
    assert os.stat(os.path.join(folder, name_of(LARGE))).st_ino == os.fstat(reader).st_ino
    assert load(bus, payload) == LARGE
    again = store_fd(bus, reader)  # it has a name now: a copy of the same content takes that
    assert load(bus, again) == load(bus, payload) == LARGE
    expect_files(bus, LARGE, LARGE[7:])
    os.close(reader)
    delete(bus, payload)
    delete(bus, again)
    expect_files(bus, LARGE[7:])


def test_a_file_that_can_be_written_to_is_copied(bus):
    folder = os.path.join(bus.store, "payload")
    store(bus, LARGE[7:])
    writer, reader = nameless_file(folder, LARGE)
    for fd in reader, writer:
        payload = store_fd(bus, fd)
        assert os.stat(os.path.join(folder, name_of(LARGE))).st_ino != os.fstat(fd).st_ino
        os.pwrite(writer, b"changed", 0)
        assert load(bus, payload) == LARGE, "what was stored stays as it was"
        os.pwrite(writer, LARGE[:7], 0)
    os.close(writer)
    os.close(reader)
    expect_files(bus, LARGE, LARGE[7:])


def test_files_with_holes(make_bus):
    bus = make_bus(limits={"payload_bytes": 1000000})
    folder = os.path.join(bus.store, "payload")
    store(bus, LARGE)
    for size in 500_000, 1 << 40:
        writer, reader = nameless_file(folder, b"x")
        os.truncate(writer, size)
        os.close(writer)
        if size == 500_000:
            assert load(bus, store_fd(bus, reader)) == b"x" + bytes(size - 1)
        else:
            with pytest.raises(BusError, match="'payload_bytes' is 1000000 bytes"):
                store_fd(bus, reader)
        os.close(reader)
    expect_files(bus, LARGE, b"x" + bytes(499_999))


def test_sources_that_are_none(bus):
    folder = os.open("/", os.O_RDONLY)
    write_only = os.open(os.path.join(bus.folder, "w"), os.O_WRONLY | os.O_CREAT)
    path_only = os.open("/etc/passwd", os.O_PATH)
    for fd in (folder, write_only, path_only):
        with pytest.raises(BusError) as error:
            bus.call("StorePayload", "(ha{sv})", 0, {}, fds=[fd])
        assert error.value.name == "BadParameter"
        os.close(fd)


def test_stalled_pipe(make_bus):
    bus = make_bus(limits={"reader_idle_ms": 300})
    reader, writer = os.pipe()
    os.write(writer, LARGE[:60000])
    with pytest.raises(BusError) as error:
        bus.call("StorePayload", "(ha{sv})", 0, {}, fds=[reader])
    assert error.value.name == "Timeout"
    os.close(reader)
    os.close(writer)
    assert bus.query("SELECT count(*) FROM queryd_payload") == [(0,)]
    expect_files(bus)


def test_too_big(make_bus):
    bus = make_bus(limits={"payload_bytes": 200000})
    store(bus, LARGE[:200000])
    expect_files(bus, LARGE[:200000])
    with pytest.raises(BusError, match="'payload_bytes' is 200000 bytes") as error:
        store(bus, LARGE)
    assert error.value.name == "TooBig"
    zero = os.open("/dev/zero", os.O_RDONLY)
    with pytest.raises(BusError) as error:
        bus.call("StorePayload", "(ha{sv})", 0, {}, fds=[zero])
    assert error.value.name == "TooBig"
    os.close(zero)
    expect_files(bus, LARGE[:200000])


def test_cut_off_is_configured(make_bus):
    bus = make_bus(limits={"payload_inline_bytes": 0})
    payload = store(bus, SMALL)
    expect_files(bus, SMALL)
    assert load(bus, payload) == SMALL


def test_missing_and_damaged_files(bus):
    ids = [store(bus, LARGE[i:]) for i in range(3)]
    folder = os.path.join(bus.store, "payload")
    os.unlink(os.path.join(folder, name_of(LARGE)))
    with open(os.path.join(folder, name_of(LARGE[1:])), "r+b") as stream:
        stream.truncate(1000)
    with open(os.path.join(folder, name_of(LARGE[2:])), "r+b") as stream:
        stream.write(b"damage")
    for payload, what in (ids[0], "is missing"), (ids[1], "is damaged"):
        for call in (lambda p: load(bus, p), lambda p: bus.query("SELECT queryd_payload(?)", [p])):
            with pytest.raises(BusError, match=what) as error:
                call(payload)
            assert error.value.name == "Corrupt"
    ok, messages = bus.check()
    assert not ok and len(messages) == 2 and f"payload {ids[0]}: the payload file" in messages[0]
    ok, messages = bus.check(quick=False)
    assert not ok and len(messages) == 3 and messages[2] == f"payload {ids[2]}: the content of its file is damaged"
    assert bus.query("SELECT 1") == [(1,)], "the database itself is sound"
    replace(bus, ids[0], LARGE[1:])
    assert load(bus, ids[1]) == LARGE[1:], "the same content repairs it"


def test_links_are_not_followed(bus):
    payload = store(bus, LARGE)
    path = os.path.join(bus.store, "payload", name_of(LARGE))
    os.unlink(path)
    os.symlink("/etc/passwd", path)
    with pytest.raises(BusError):
        load(bus, payload)


def test_orphans_are_swept_at_start(bus):
    payload = store(bus, LARGE)
    bus.stop_daemon()
    folder = os.path.join(bus.store, "payload")
    for name in (name_of(SMALL), "tmp-1-1"):
        with open(os.path.join(folder, name), "wb") as stream:
            stream.write(SMALL)
    bus.query("SELECT 1")
    expect_files(bus, LARGE)
    assert load(bus, payload) == LARGE


def test_relaxed(bus):
    payload = store(bus, LARGE, durability="relaxed")
    assert load(bus, payload) == LARGE
    replace(bus, payload, SMALL, durability="relaxed")
    expect_files(bus)


def test_many_callers(bus):
    """The same contents come and go from several sides: no row ever lacks its file."""
    errors = []

    def work(caller, seed):
        try:
            for i in range(20):
                data = LARGE[(seed + i) % 3:]
                payload = store(caller, data)
                assert load(caller, payload) == data
                delete(caller, payload)
        except Exception as error:  # pylint: disable=broad-except
            errors.append(error)
    threads = [threading.Thread(target=work, args=(bus.caller(), seed)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    expect_files(bus)
    assert bus.check() == (True, [])


def test_waiting_payloads_are_the_callers(make_bus):
    """They wait in their caller's turn and count for its limit, as any update does."""
    bus = make_bus(limits={"write_queue_per_client": 1})
    stored = []
    with bus.prepare("SELECT 1") as channel:
        assert not list(channel.answer(channel.send("B")))
        thread = threading.Thread(target=lambda: stored.append(store(bus.caller(), b"waits")))
        thread.start()
        wait_until(lambda: bus.stats()["updates_queued"] == 1, "the first to wait")
        with pytest.raises(BusError, match="write_queue_per_client"):
            store(bus, b"too many")
        assert not list(channel.answer(channel.send("M")))
        thread.join()
    assert load(bus, stored[0]) == b"waits"


def test_statement_with_many_payloads(bus):
    bus.update("CREATE TABLE t (p)")
    text = ("INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
            " SELECT queryd_store_payload(cast(i AS TEXT) || zeroblob(70000)) FROM n")
    bus.update(text)
    assert len(files(bus)) == 300
    assert bus.query("SELECT count(*), sum(length(queryd_payload(p))) FROM t") == [
        (300, sum(len(str(i)) + 70000 for i in range(1, 301)))]
    bus.update("UPDATE t SET p = queryd_delete_payload(p)")
    expect_files(bus)


def test_queryctl(bus):
    path = os.path.join(bus.folder, "large")
    with open(path, "wb") as stream:
        stream.write(LARGE)
    def queryctl(*words, **kwargs):
        return bus.run("queryctl", "payload", *words, text=False, **kwargs)
    run = queryctl("store", path, "--media-type", "x/y")
    assert (run.returncode, run.stdout) == (0, b"1\n"), run.stderr
    assert queryctl("store", "-", input=SMALL).stdout == b"2\n"
    assert queryctl("cat", "1").stdout == LARGE
    assert queryctl("cat", "2").stdout == SMALL
    lines = queryctl("ls", "--format", "tsv").stdout.decode().splitlines()
    assert lines[0].split("\t") == ["id", "size", "media_type", "created", "sha256", "place"]
    assert [(f[0], f[1], f[2], f[4], f[5]) for f in (line.split("\t") for line in lines[1:])] == [
        ("1", str(len(LARGE)), "x/y", name_of(LARGE), "file"), ("2", str(len(SMALL)), "\\N", "\\N", "row")]
    assert queryctl("replace", "2", path).returncode == 0
    assert load(bus, 2) == LARGE
    assert queryctl("rm", "1", "2").returncode == 0
    run = queryctl("cat", "1")
    assert (run.returncode, run.stderr) == (1, b"queryctl: there is no payload 1\n")
    assert queryctl("store", "/nowhere").returncode == 1
    for words in ["cat"], ["cat", "0"], ["cat", "x"], ["rm"], ["store"], ["replace", "1"], ["no"], ["ls", "1"]:
        assert queryctl(*words).returncode == 2, words
