# SPDX-License-Identifier: LGPL-2.1-or-later
"""A client process for the load tests: one bus connection, one channel. Commands come on stdin, answers go to stdout.

    open SQL        Prepare; answers "opened"
    start           FETCH without reading; answers "started"
    read            the whole answer to the last FETCH; answers "rows N SUM" or "error NAME"
    lookups N SECONDS   one-row requests by key, one by one; answers "times T…" in µs
    quit
"""
import sys
import time

from harness import Caller
from wire_client import CutOff, RemoteError


def read(channel, serial):
    n_rows, total = 0, 0
    try:
        for row in channel.answer(serial):
            n_rows += 1
            total += row[0]
    except RemoteError as error:
        return f"error {error.name}"
    except (CutOff, ConnectionError):
        return "error CutOff"
    return f"rows {n_rows} {total}"


def lookups(channel, n, n_keys, gap):
    times = []
    for i in range(n):
        key = (i * 7919) % n_keys + 1
        start = time.perf_counter()
        rows = channel.fetch((key,))
        times.append((time.perf_counter() - start) * 1e6)
        assert rows[0][0] == key
        if gap:
            time.sleep(gap)
    return "times " + " ".join(f"{t:.1f}" for t in times)


def main():
    caller = Caller(sys.argv[1])
    channel, serial = None, 0
    print("ready", flush=True)
    for line in sys.stdin:
        command, _, rest = line.strip().partition(" ")
        if command == "open":
            channel = caller.prepare(rest, timeout_ms=0)
            answer = "opened"
        elif command == "start":
            serial = channel.send_fetch()
            answer = "started"
        elif command == "read":
            answer = read(channel, serial)
        elif command == "lookups":
            n, n_keys, gap = rest.split()
            answer = lookups(channel, int(n), int(n_keys), float(gap))
        else:
            return
        print(answer, flush=True)


main()
