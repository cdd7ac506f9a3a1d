# SPDX-License-Identifier: LGPL-2.1-or-later
"""Oxigraph by its HTTP endpoint, on one kept connection: oxigraph_http.py load|ask PROGRAM FOLDER DATA.nt

"load" loads DATA.nt into an empty store beside it; "ask" runs the queries of FOLDER/explore and FOLDER/bi that EXPECTED.tsv names
on that store, and reads all triples. Prints lines of metric, unit and value, with the names of group-sparql.c. A query beyond
LIMIT_S counts as LIMIT_S.
"""
import http.client
import math
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import time

LIMIT_S = 30
LONG_S = 2  # what takes longer is asked once
REPETITIONS = {"explore": 9, "bi": 1}
ACCEPT = "text/tab-separated-values, application/n-triples"
ALL_TRIPLES = "SELECT ?s ?p ?o { ?s ?p ?o }"


def say(metric, unit, value):
    print(metric, unit, repr(float(value)), sep="\t", flush=True)


class Server:
    def __init__(self, program, store):
        self.arguments = [program, "serve-read-only", "--location", store]
        self.process = self.connection = None
        self.start()

    def start(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.process = subprocess.Popen([*self.arguments, "--bind", f"127.0.0.1:{port}"], stderr=subprocess.DEVNULL)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)
        while True:  # it says nowhere that it listens
            try:
                self.connection.connect()
                break
            except ConnectionRefusedError:
                if self.process.poll() is not None:
                    sys.exit(f"oxigraph ended with status {self.process.returncode}")
                time.sleep(0.01)
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def stop(self):
        self.connection.close()
        self.process.kill()
        self.process.wait()

    def query(self, text):
        """Seconds, lines of the body."""
        start = time.perf_counter()
        n_lines = 0
        try:
            self.connection.request("POST", "/query", text, {"Content-Type": "application/sparql-query", "Accept": ACCEPT})
            response = self.connection.getresponse()
            while block := response.read(1 << 20):
                n_lines += block.count(b"\n")
        except TimeoutError:
            self.stop()
            self.start()
            return LIMIT_S, 0
        if response.status != 200:
            sys.exit(f"oxigraph answers {response.status}")
        return time.perf_counter() - start, n_lines


def measure_instance(server, text, n):
    first = server.query(text)[0]
    return first, first if first >= LONG_S else statistics.median(server.query(text)[0] for _ in range(n))


def run_mix(server, folder, mix):
    families = {}
    with open(os.path.join(folder, mix, "EXPECTED.tsv"), encoding="utf-8") as expected:
        for name in (line.split("\t")[0] for line in expected):
            with open(os.path.join(folder, mix, name), encoding="utf-8") as file:
                families.setdefault(name[:3], []).append(measure_instance(server, file.read(), REPETITIONS[mix]))
    medians = []
    for family, times in sorted(families.items()):
        say(f"{mix}.{family}.cold", "ms", 1000 * statistics.median(cold for cold, warm in times))
        medians.append(1000 * statistics.median(warm for cold, warm in times))
        say(f"{mix}.{family}", "ms", medians[-1])
    if medians:
        say(f"{mix}.mean", "ms", math.exp(statistics.fmean(map(math.log, medians))))


def load(program, store, data):
    shutil.rmtree(store, ignore_errors=True)
    start = time.perf_counter()
    subprocess.run([program, "load", "--location", store, "--file", data], check=True, stderr=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    say("load.memory", "MiB", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
    with open(data, "rb") as file:
        say("load.rate", "triples/s", sum(1 for _ in file) / seconds)


def ask(program, store, folder):
    server = Server(program, store)
    try:
        for mix in ("explore", "bi"):
            run_mix(server, folder, mix)
        seconds, n_lines = server.query(ALL_TRIPLES)
        say("stream", "rows/s", (n_lines - 1) / seconds)
    finally:
        server.stop()


def main():
    verb, program, folder, data = sys.argv[1:]
    if verb == "load":
        load(program, data + ".oxigraph", data)
    else:
        ask(program, data + ".oxigraph", folder)


if __name__ == "__main__":
    main()
