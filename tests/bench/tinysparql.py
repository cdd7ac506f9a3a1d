#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""100,000 rows of 31 columns for an unchanged client of libtracker-sparql: queryd and TinySPARQL's own endpoint, in turns.

    python3 tests/bench/tinysparql.py [--rounds N] [--stored]

The query computes its rows, so that both do the same (a product of VALUES). --stored reads 31 properties of 100,000 resources from
queryd; TinySPARQL would need an ontology for them. Needs Debian's tracker and libtracker-sparql-3.0-dev.
"""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
import harness  # noqa: E402

ENDPOINT = "org.example.TinySPARQL"
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stream:
        fields = stream.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def build_client(folder):
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "tracker-sparql-3.0"], capture_output=True, text=True, check=True)
    path = os.path.join(folder, "client")
    source = os.path.join(ROOT, "tests/bindings/tracker_client.c")
    subprocess.run(["cc", "-O2", "-o", path, source] + flags.stdout.split(), check=True)
    return path


def computed():
    columns = " ".join(f"(?a AS ?c{i})" if i % 2 else f"(?b AS ?c{i})" for i in range(31))
    texts = " ".join(f'"value {i}"' for i in range(1000))
    return f"SELECT {columns} {{ VALUES ?a {{ {texts} }} VALUES ?b {{ {' '.join(map(str, range(100)))} }} }}"


def fill(world):
    with tempfile.NamedTemporaryFile("w+", suffix=".nt") as stream:
        for s in range(100000):
            for p in range(31):
                value = f'"value {s % 1000}"' if p % 2 else f'"{s % 1000}"^^<http://www.w3.org/2001/XMLSchema#integer>'
                stream.write(f"<urn:s{s}> <urn:p{p}> {value} .\n")
        stream.flush()
        with open(stream.name, "rb") as document:
            assert world.import_fd(document.fileno(), "ntriples")["State"] == "finished"


def stored():
    return "SELECT * { " + " ".join(f"?s <urn:p{p}> ?v{p} ." for p in range(31)) + " }"


def measure(world, client, service, pid, text):
    before, children = cpu_seconds(pid), resource.getrusage(resource.RUSAGE_CHILDREN)
    result = world.run(client, "count", text, env=dict(world.env, TRACKER_TEST_SERVICE=service), timeout=300)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    rows, _n_bytes, seconds, end = result.stdout.split()
    assert rows == "100000" and end == "end", result
    return (float(seconds), cpu_seconds(pid) - before,
            after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--stored", action="store_true")
    arguments = parser.parse_args()
    world = harness.World(config="[Daemon]\ntinysparql=on\n")
    with tempfile.TemporaryDirectory() as folder:
        client = build_client(folder)
        services = {harness.NAME: world.daemon_pid()}
        text, endpoint = computed(), None
        if arguments.stored:
            fill(world)
            text = stored()
        else:
            endpoint = subprocess.Popen(["tracker3", "endpoint", "--dbus-service", ENDPOINT, "--ontology", "nepomuk", "-d",
                                         folder + "/store"], env=world.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            harness.wait_until(lambda: world.bus_call("NameHasOwner", "(s)", ENDPOINT)[0], "TinySPARQL's endpoint")
            services[ENDPOINT] = endpoint.pid
        figures = {service: [] for service in services}
        for _ in range(arguments.rounds):
            for service, pid in services.items():
                figures[service].append(measure(world, client, service, pid, text))
        for service, rounds in figures.items():
            wall, server, own = (statistics.median(column) for column in zip(*rounds))
            best = min(r[0] for r in rounds)
            print(f"{service}: {wall:.2f} s ({best:.2f} at best), CPU: server {server:.2f} s, client {own:.2f} s")
        if endpoint is not None:
            endpoint.terminate()
            endpoint.wait()
    world.finish()


main()
