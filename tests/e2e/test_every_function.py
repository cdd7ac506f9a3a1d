# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every SQL function that a connection of the daemon has, with arguments as large as they may be: each call ends at its deadline.

QUERYD_EVERY_FUNCTION=1 takes every argument at every place, with a deadline of 1 s (about an hour); without it there are a few
calls of each. QUERYD_EVERY_FUNCTION=NAME begins at the functions after NAME.
"""
import os
import time

import pytest

from harness import SANITIZER, BusError
from wire_client import RemoteError

LONG = bool(os.environ.get("QUERYD_EVERY_FUNCTION"))
AFTER = os.environ.get("QUERYD_EVERY_FUNCTION", "1").removeprefix("1")
TIMEOUT_MS = 1000 if LONG else 100
LATE_SECONDS = 0.25
N_BYTES = 60_000_000 if LONG else 6_000_000
MANY = 127
LARGE = {
    "text": f"hex(zeroblob({N_BYTES // 2}))",
    "blob": f"zeroblob({N_BYTES})",
    "multi-byte": f"replace(hex(zeroblob({N_BYTES // 4})), '0', 'é')",
    "conversions": f"replace(hex(zeroblob({N_BYTES // 16})), '0', '%s')",
    "list": f"'[' || replace(hex(zeroblob({N_BYTES // 16})), '0', '1,') || '1]'",
    "object": "(SELECT json_group_object('k' || i, i) FROM n)",
    "deep": "replace(hex(zeroblob(450)), '0', '[') || replace(hex(zeroblob(450)), '0', ']')",
    "stored": "(SELECT x FROM large)",
    "integer": "9223372036854775807",
    "least": "(-9223372036854775807 - 1)",
    "real": "1e308",
}
OTHERS = ("'%a'", "1", "'$'", "'é'", "-1", "'{}'", "60000000", "NULL")
# a format of many conversions; patterns that are compared up to their ends at each character of a text of '0'
WORST = {
    ("strftime", -1): ["(SELECT x FROM format), 0"],
    ("like", 2): [f"'%0' || printf('%.*c', 240, '_') || 'b', {LARGE[kind]}" for kind in ("text", "stored")],
    ("like", 3): [f"'%0' || printf('%.*c', 240, '_') || 'b', {LARGE['text']}, '!'"],
    ("glob", 2): [f"'*{c}' || printf('%.*c', 240, '?') || 'b', {LARGE['text']}" for c in ("0", "[^1]")],
}


@pytest.fixture(name="store")
def make_store(make_bus):
    store = make_bus()
    store.update("CREATE TABLE n AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 20000) SELECT i FROM c")
    store.update("CREATE TABLE large (x)")
    store.update(f"INSERT INTO large VALUES (hex(zeroblob({N_BYTES // 8})))")
    store.update("CREATE TABLE format (x)")
    store.update(f"INSERT INTO format VALUES (replace(hex(zeroblob({N_BYTES // 8})), '0', '%J'))")
    store.update("INSERT DATA { <urn:a> <urn:b> 'a text' }", language="sparql")
    return store


def calls(name, n_args):
    """Calls of a function: all arguments alike, and one that is large at each place; what is known to be the worst."""
    for values in WORST.get((name, n_args), ()):
        yield f'SELECT length("{name}"({values}))'
    for arity in [n_args] if n_args >= 0 else [1, 2, 3, MANY] if LONG else [1, 3, MANY]:
        for kind, value in LARGE.items():
            if LONG or arity <= 3 or kind in ("stored", "integer"):
                yield f'SELECT length("{name}"({", ".join([value] * arity)}))'
        for place in range(min(arity, 3)) if LONG and arity > 1 else ():
            for kind, value in LARGE.items():
                for other in OTHERS:
                    values = [other] * arity
                    values[place] = value
                    yield f'SELECT length("{name}"({", ".join(values)}))'


def overrun(channel, text):
    """Seconds beyond the deadline."""
    start = time.monotonic()
    try:
        channel.prepare(text, timeout_ms=TIMEOUT_MS)
        channel.fetch()
    except (RemoteError, BusError):
        pass
    return time.monotonic() - start - TIMEOUT_MS / 1000


@pytest.mark.deadline(36000 if LONG else 240)
def test_every_function_ends_at_its_deadline(store):
    if SANITIZER:
        pytest.skip("without limits on time there is nothing to be seen")
    functions = store.query("SELECT DISTINCT name, narg FROM pragma_function_list WHERE narg <> 0 ORDER BY name, narg")
    assert len(functions) > 150
    functions = [function for function in functions if function[0] > AFTER]
    late, n_calls = [], 0
    with store.prepare("SELECT 1") as channel:
        for name, n_args in functions:
            for text in calls(name, n_args):
                n_calls += 1
                # what else the machine does may have been in the way: a call is late when it is so thrice
                if overrun(channel, text) > LATE_SECONDS and min(overrun(channel, text) for _ in range(2)) > LATE_SECONDS:
                    late.append(text[:200])
    print(n_calls, "calls")
    assert not late
