# SPDX-License-Identifier: LGPL-2.1-or-later
"""A hostile client: keeps its channels busy with what costs most, one thread a channel, until its standard input ends.

    hostile_client.py ADDRESS CHANNELS TIMEOUT_MS [transactions|compiles]
Each statement that has ended becomes a line "SECONDS NAME KIND", with the time from its request to its last record and the error's
name, or "end".
"""
import itertools
import os
import random
import sys
import threading
import time

from harness import BusError, Caller, options
from wire_client import CutOff, RemoteError, encode_record, encode_string

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
# (kind, text, writes)
STATEMENTS = [
    ("function", "SELECT max(length(randomblob(3000000 + id))) FROM t", False),
    ("function", ENDLESS + "SELECT max(length(hex(randomblob(1000000 + i % 7)))) FROM n", False),
    ("function", ENDLESS + "SELECT sum(instr(zeroblob(1000000), x'01' || i)) FROM n", False),
    ("rows", "SELECT id, x FROM t UNION ALL SELECT max(length(randomblob(2000000 + a.id))), 0 FROM t a, t b", False),
    ("rows", ENDLESS + "SELECT i, CASE WHEN i < 200 THEN 0 ELSE length(randomblob(9000000)) END FROM n", False),
    ("cross join", "SELECT count(*) FROM t a, t b, t c WHERE a.y < b.y", False),
    ("cross join", "SELECT max(a.x || b.x || c.y) FROM t a, t b, t c", False),
    ("sort", "SELECT a.x || b.x FROM t a, t b WHERE a.id < 100 ORDER BY b.y, 1 LIMIT 1 OFFSET 1000000", False),
    ("like", "SELECT count(*) FROM t a, t b WHERE a.x || b.x LIKE '%1%2%3%4%5%6%7%8%'", False),
    ("check", "PRAGMA quick_check", False),
    ("update", "UPDATE u SET x = (SELECT max(length(randomblob(500000 + a.id))) FROM t a, t b)", True),
    ("update", "INSERT INTO u(x) " + ENDLESS + "SELECT length(randomblob(100000)) FROM n LIMIT 100000000", True),
    ("update", "UPDATE u SET x = (SELECT count(*) FROM t a, t b, t c)", True),
]
SPARQL = [
    ("path", "SELECT (COUNT(*) AS ?n) { ?a (<urn:p>|^<urn:p>)* ?b . ?b (<urn:p>|^<urn:p>)+ ?c }"),
    ("regex", "SELECT (COUNT(*) AS ?n) { ?a <urn:p> ?b . ?c <urn:p> ?d . ?e <urn:p> ?f FILTER(REGEX(STR(?b), '(x+x+)+y')) }"),
]
lock = threading.Lock()


def note(start, name, kind):
    with lock:
        print(f"{time.monotonic() - start:.3f} {name} {kind}", flush=True)


def drain(channel):
    """The whole answer; its error's name or "end"."""
    try:
        for _ in channel.answer():
            pass
        return "end"
    except RemoteError as error:
        return error.name


def run_statement(caller, kind, text, language, writes, timeout_ms):
    start = time.monotonic()
    try:
        access = {"access": "write"} if writes else {}
        with caller.prepare(text, language=language, timeout_ms=timeout_ms, **access) as channel:
            start = time.monotonic()
            channel.send_fetch()
            name = drain(channel)
    except BusError as error:
        name = error.name
    except (CutOff, OSError):
        name = "CutOff"
    note(start, name, kind)


def run_chunks(caller, timeout_ms):
    """A request of 60 MiB that stops before its end, and stays for a while."""
    with caller.prepare("SELECT 1") as channel:
        start = time.monotonic()
        record = encode_record("P", 0, 1, encode_string("sql") + encode_string(b"x" * (60 << 20)), channel.page_size)
        try:
            channel.set_timeout(timeout_ms / 1000)
            channel.send_raw(record[:-channel.page_size - 64])
            name = drain(channel)
        except (CutOff, OSError):
            name = "CutOff"
        note(start, name, "chunks")


def run_transaction(caller, timeout_ms):
    with caller.prepare("UPDATE u SET x = (SELECT max(length(randomblob(500000 + a.id))) FROM t a, t b)", access="write",
                        timeout_ms=timeout_ms) as channel:
        for request in ("B", "F", "M"):
            start = time.monotonic()
            try:
                channel.send(request)
                name = drain(channel)
            except (CutOff, OSError):
                name = "CutOff"
            note(start, name, "begin" if request == "B" else "transaction")


def begin_again(address, _number, _timeout_ms):
    """One transaction after the other, each for as long as it may take."""
    caller = Caller(address)
    while True:
        try:
            with caller.prepare("INSERT INTO u VALUES(2)", access="write") as channel:
                channel.send("B")
                list(channel.answer())
                while True:
                    channel.fetch()
                    time.sleep(0.05)
        except (BusError, RemoteError):
            pass


# A text of 230 kB, and a short one whose plan takes long. With the number in it no cache knows it.
COMPILES = [
    "SELECT %d IN (" + ",".join(map(str, range(40000))) + ")",
    "SELECT %d FROM v t0 " + " ".join(f"JOIN v t{i} ON t{i}.x = t{i - 1}.x" for i in range(1, 60)),
]


def compile_again(address, number, timeout_ms):
    """Statements that are compiled, and not executed."""
    caller = Caller(address)
    for count in itertools.count(number * 1000000):
        start = time.monotonic()
        try:
            caller.prepare(random.choice(COMPILES) % count, timeout_ms=timeout_ms).close()
            name = "end"
        except BusError as error:
            name = error.name
        note(start, name, "compile")


def work(address, number, timeout_ms):
    caller = Caller(address)
    random.seed(number)
    while True:
        choice = random.randrange(20)
        try:
            if choice == 0:
                run_chunks(caller, timeout_ms)
            elif choice == 1:
                run_transaction(caller, timeout_ms)
            elif choice < 4:
                kind, text = random.choice(SPARQL)
                run_statement(caller, kind, text, "sparql", False, timeout_ms)
            else:
                kind, text, writes = STATEMENTS[(number + random.randrange(3)) % len(STATEMENTS)]
                run_statement(caller, kind, text, "sql", writes, timeout_ms)
        except BusError as error:
            note(time.monotonic(), error.name, "prepare")
            time.sleep(0.05)


MODES = {"": work, "transactions": begin_again, "compiles": compile_again}


def main():
    options({"timeout_ms": 1})  # PyGObject loads GLib's types at their first use, which threads at once would spoil for each other
    target = MODES["".join(sys.argv[4:])]
    for number in range(int(sys.argv[2])):
        threading.Thread(target=target, args=(sys.argv[1], number, int(sys.argv[3])), daemon=True).start()
    sys.stdin.read()
    os._exit(0)


main()
