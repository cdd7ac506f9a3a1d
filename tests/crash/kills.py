# SPDX-License-Identifier: LGPL-2.1-or-later
"""kill -9 under load: the daemon dies at any moment, the next call of a client brings it back.

kill-clients (kill-clients.c) writes and reads meanwhile by the library, and in the end looks for what was acknowledged.
"""
import json
import os
import random
import signal
import subprocess
import time

from harness import BUILD, NAME, SLOWER, BusError, World, wait_until

KEPT = {"queryd.db", "queryd.db-wal", "queryd.db-shm", "queryd.db-schema", "lock", "ballast", "payload", "health"}


def find_owner(world):
    """The pid of the daemon that the bus knows, or None: without a call since the last one died there is none."""
    try:
        return world.bus_call("GetConnectionUnixProcessID", "(s)", NAME)[0]
    except BusError:
        return None


def kill_once(world, rand, last_pid):
    """Waits for a daemon other than the last, lets it work for a moment, kills it; returns its pid."""
    pid = wait_until(lambda: (owner := find_owner(world)) != last_pid and owner, "the daemon to be activated again", 30)
    time.sleep(rand.choice((rand.uniform(0, 0.02), rand.uniform(0, 0.3))))  # the moment is the test's random number
    os.kill(pid, signal.SIGKILL)
    return pid


def run(long):
    n_kills, rand, problems = (2000 if long else 200), random.Random(5), []
    world = World(limits={"payload_inline_bytes": 1024})
    world.expected_exits.add(128 + signal.SIGKILL)
    try:
        clients = subprocess.Popen([os.path.join(BUILD, "tests/crash/kill-clients")], env=world.env, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        assert clients.stdout.readline().strip() == "ready", "the clients did not start"
        pid = None
        for _ in range(n_kills):
            pid = kill_once(world, rand, pid)
        # until the bus has seen the last death, it hands a call to the dead daemon: the clients' final look would end with it
        wait_until(lambda: find_owner(world) != pid, "the bus to know that the last daemon is dead", 30)
        text, _ = clients.communicate(timeout=60 * SLOWER)
        outcome = {"kills": n_kills, **json.loads(text)}
        n_killed = sum(status == 128 + signal.SIGKILL for status in world.exits())
        check = world.check(quick=False)
        world.stop_daemon()
        outcome["orphans"] = len(set(os.listdir(world.store)) - KEPT)
        # the next daemon sweeps what those before it have left
        ((n_payloads,),) = world.query("SELECT (SELECT count(*) FROM item)+(SELECT count(*) FROM latest)")
        folder = os.path.join(world.store, "payload")
        wait_until(lambda: len(os.listdir(folder)) == n_payloads, f"{n_payloads} files of payloads and no orphan")
        outcome["payload_files"] = n_payloads
    finally:
        world.finish()
    problems += [f"{outcome[key]} {key}" for key in ("lost", "in_part", "wrong", "orphans") if outcome[key]]
    problems += [f"0 {key}" for key in ("acknowledged", "whole_results", "errors") if not outcome[key]]
    if n_killed < n_kills:
        problems.append(f"only {n_killed} of {n_kills} daemons have died of it")
    if check[0] is not True:
        problems.append(f"integrity_check: {check}")
    return {**outcome, "problems": problems}
