# SPDX-License-Identifier: LGPL-2.1-or-later
"""Grants that are taken back end what runs by them."""
import os

import pytest

from harness import MANAGER, NAME, BusError, options, wait_until
from sandboxes import GRAPHS, grants, make_world, needs_sandbox, refused  # noqa: F401
from test_subscribe import SUBSCRIPTION, Ear, spin, subscribe
from test_transactions import do
from wire_client import RemoteError

pytestmark = needs_sandbox
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "


def reload(world, config):
    world.write_config({}, config)
    world.call("Reload", interface=MANAGER)


def ends_denied(rows):
    """The rest of a result ends with AccessDenied; returns how many rows came before."""
    n = 0
    with pytest.raises(RemoteError) as failure:
        for _ in rows:
            n += 1
    assert failure.value.name == "AccessDenied" and "taken back" in failure.value.message, failure.value
    return n


def test_a_result_that_is_half_read(make_world):
    world, sandboxes = make_world(grants("read=table:t;table:other"))
    world.update("CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) "
                 "SELECT i, hex(randomblob(50)) AS x FROM n")
    caller = sandboxes.caller()
    with caller.prepare("SELECT * FROM t") as channel, world.prepare("SELECT * FROM t") as others:
        serials = [c.send_fetch() for c in (channel, others)]
        rows = channel.answer(serials[0])
        assert next(rows)[0] == 1
        reload(world, grants("read=table:other"))
        assert ends_denied(rows) < 99999
        assert len(list(others.answer(serials[1]))) == 100000


def test_a_grant_that_is_added_ends_nothing(make_world):
    world, sandboxes = make_world(grants("read=table:t"))
    world.update("CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000) "
                 "SELECT i, hex(randomblob(50)) AS x FROM n")
    caller = sandboxes.caller()
    with caller.prepare("SELECT * FROM t") as channel:
        rows = channel.answer(channel.send_fetch())
        next(rows)
        reload(world, grants("read=table:t;table:other"))
        assert len(list(rows)) == 99999


@pytest.mark.parametrize("language,granted,text", [
    ("sql", "table:t", ENDLESS + "SELECT count(*) FROM n, t"),
    ("sparql", f"graph:{GRAPHS}music", "SELECT (count(*) AS ?n) { GRAPH ?g { " +
     " ".join(f"?s{i} ?p{i} ?o{i} ." for i in range(8)) + " } }"),
])
def test_a_query_that_gives_no_row_yet(make_world, language, granted, text):
    world, sandboxes = make_world(grants("read=" + granted))
    world.update("CREATE TABLE t AS SELECT 1 AS i")
    world.update(f"INSERT DATA {{ GRAPH <{GRAPHS}music> {{ " +
                 " ".join(f"<urn:a{i}> <urn:p> {i} ." for i in range(40)) + " } }", language="sparql")
    caller = sandboxes.caller()
    with caller.prepare(text, language=language, timeout_ms=0) as channel:
        serial = channel.send_fetch()
        wait_until(lambda: any(q["state"] == "running" for q in world.queries()), "the query to run")
        reload(world, "")
        assert ends_denied(channel.answer(serial)) == 0


def test_an_open_transaction(make_world):
    world, sandboxes = make_world(grants("write=table:t"))
    world.update("CREATE TABLE t(a)")
    caller = sandboxes.caller()
    with caller.prepare("INSERT INTO t VALUES(1)", access="write") as channel:
        do(channel, "B")
        channel.fetch()
        reload(world, grants("read=table:t"))
        with pytest.raises(RemoteError) as failure:
            do(channel, "M")
        assert failure.value.name == "AccessDenied" and "taken back" in failure.value.message
    assert world.query("SELECT count(*) FROM t") == [(0,)]


def test_a_prepared_statement(make_world):
    world, sandboxes = make_world(grants("write=table:t"))
    world.update("CREATE TABLE t(a)")
    caller = sandboxes.caller()
    with caller.prepare("INSERT INTO t VALUES(1)", access="write") as writing, caller.prepare("SELECT a FROM t") as reading:
        writing.fetch()
        assert reading.fetch() == [(1,)]
        reload(world, "")
        for channel in (writing, reading):
            with pytest.raises(RemoteError) as failure:
                channel.fetch()
            assert failure.value.name == "AccessDenied"
    assert world.query("SELECT count(*) FROM t") == [(1,)]


def test_a_subscription(make_world):
    world, sandboxes = make_world(grants("read=table:t;table:u"))
    world.update("CREATE TABLE t(a)")
    world.update("CREATE TABLE u(a)")
    caller = sandboxes.caller()
    ear = Ear(caller)
    lost, kept = subscribe(caller, "SELECT * FROM t"), subscribe(caller, "SELECT * FROM u")
    reload(world, grants("read=table:u"))
    # one last Stale, and who asks again learns why
    spin(lambda: {path for _, paths in ear.stale() for path in paths} == {lost, kept}, "the last Stale")
    refused(caller, "query", "SELECT * FROM t", words="table 't'")
    with pytest.raises(BusError):
        caller.call("Close", interface=SUBSCRIPTION, path=lost)
    assert world.stats()["subscriptions"] == 1
    ear.heard.clear()
    world.update("INSERT INTO t VALUES(1)")
    generation = world.update("INSERT INTO u VALUES(1)")[2]
    spin(lambda: (generation, [kept]) in ear.stale(), "the Stale of the other")
    assert not any(lost in paths for _, paths in ear.stale())


def test_a_view_that_reads_more(make_world):
    """While it is not known what the query reads, nothing is said of what it may not read."""
    world, sandboxes = make_world(grants("read=table:t;table:v"))
    world.update("CREATE TABLE t(a)")
    world.update("CREATE TABLE secret(a)")
    world.update("CREATE VIEW v AS SELECT * FROM t")
    caller = sandboxes.caller()
    ear = Ear(caller)
    path = subscribe(caller, "SELECT * FROM v")
    world.batch([("DROP VIEW v", ()), ("CREATE VIEW v AS SELECT * FROM secret", ())])
    spin(lambda: any(path in paths for _, paths in ear.stale()), "the last Stale")
    wait_until(lambda: world.stats()["subscriptions"] == 0, "the end of the subscription")


def test_a_job(make_world):
    world, sandboxes = make_world(grants("read=*"))
    world.update(f"INSERT DATA {{ GRAPH <{GRAPHS}music> {{ " +
                 " ".join(f"<urn:a{i}> <urn:p> {i} ." for i in range(20000)) + " } }", language="sparql")
    caller = sandboxes.caller()
    reading, writing = os.pipe()
    try:
        job = caller.call("Dump", "(hsa{sv})", 0, "nquads", options({}), fds=[writing])[0].unpack()[0]
        os.close(writing)
        assert os.read(reading, 100)
        reload(world, "")

        def state():
            return caller.call("Get", "(ss)", NAME + ".Job", "State", interface="org.freedesktop.DBus.Properties",
                               path=job)[0].unpack()[0]

        wait_until(lambda: state() != "running", "the job's end")
        assert state() == "failed"
        error = caller.call("Get", "(ss)", NAME + ".Job", "ErrorName", interface="org.freedesktop.DBus.Properties", path=job)
        assert error[0].unpack()[0].endswith("AccessDenied")
    finally:
        os.close(reading)
