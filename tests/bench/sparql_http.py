# SPDX-License-Identifier: LGPL-2.1-or-later
"""Others' SPARQL servers by HTTP, on one kept connection: sparql_http.py Oxigraph|Virtuoso VERB FOLDER DATA.nt

"load" loads DATA.nt into an empty store beside it. The others ask that store: "mixes" the queries of FOLDER/explore and FOLDER/bi
that EXPECTED.tsv names, one client and four, and all triples; "questions" FOLDER/*.rq, whose answers are compared with
FOLDER/EXPECTED.tsv, or else with DATA.nt.answers/*.tsv. Prints lines of metric, unit and value, with the names of group-sparql.c.
A query beyond LIMIT_S counts as LIMIT_S, a question beyond QUESTION_LIMIT_S as that. A question that was beyond it or refused is
not asked in later rounds: DATA.nt.ENGINE.slow names it. So all rounds end. For tests/bench/sparql-peers.c.
"""
import http.client
import multiprocessing
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import time
import urllib.parse

from sparql_answers import has_expected, read_expected, same_rows

LIMIT_S = 30
QUESTION_LIMIT_S = 10
STREAM_S = 300  # all triples may take so long
LONG_S = 2  # what takes longer is asked once
REPETITIONS = {"explore": 9, "bi": 1}
N_WARM = 5  # of a question
CREWS = 1, 4
PASSES = 3  # of each client of a crew
ACCEPT = "text/tab-separated-values, application/n-triples, text/plain"
ALL_TRIPLES = "SELECT ?s ?p ?o { ?s ?p ?o }"
GRAPH = "http://example.org/bench"
START_S = 60


def say(metric, unit, value):
    print(metric, unit, repr(float(value)), sep="\t", flush=True)


def get_free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


class Server:
    def __init__(self, store, data):
        self.store, self.data, self.limit = store, data, LIMIT_S
        self.process = self.port = self.connection = None
        self.start()

    def start(self):
        self.port = get_free_port()
        self.process = self.spawn()
        end = time.monotonic() + START_S
        while True:  # it says nowhere that it listens
            try:
                self.connect()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.process.kill()
                    sys.exit(f"{self.process.args[0]} does not listen, status {self.process.wait()}")
                time.sleep(0.01)

    def connect(self):
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.limit)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def stop(self):
        self.connection.close()
        self.process.kill()
        self.process.wait()

    def get_memory_mib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) / 1024

    def query(self, text, body=None):
        """Seconds, lines of the body; its blocks are added to @body. None for what is refused."""
        start = time.perf_counter()
        n_lines = 0
        try:
            self.request(text)
            response = self.connection.getresponse()
            while block := response.read(1 << 20):
                n_lines += block.count(b"\n")
                if body is not None:
                    body.append(block)
        except TimeoutError:
            self.stop()
            self.start()
            return self.limit, 0
        except (http.client.HTTPException, ConnectionError):  # the server ended
            self.stop()
            self.start()
            return None, 0
        return (time.perf_counter() - start if response.status == 200 else None), n_lines


class Oxigraph(Server):
    program = os.environ.get("QUERYD_OXIGRAPH", "")

    def spawn(self):
        return subprocess.Popen([self.program, "serve-read-only", "--location", self.store, "--bind", f"127.0.0.1:{self.port}"],
                                stderr=subprocess.DEVNULL)

    def request(self, text):
        self.connection.request("POST", "/query", text, {"Content-Type": "application/sparql-query", "Accept": ACCEPT})

    @classmethod
    def load(cls, store, data):
        subprocess.run([cls.program, "load", "--location", store, "--file", data], check=True, stderr=subprocess.DEVNULL)
        say("load.memory", "MiB", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)


class Virtuoso(Server):
    """Debian's package. One thread a query, as with the others; its buffers hold all of the data."""

    program = "virtuoso-t"
    SETTINGS = """[Database]
DatabaseFile=virtuoso.db
ErrorLogFile=virtuoso.log
LockFile=virtuoso.lck
TransactionFile=virtuoso.trx
xa_persistent_file=virtuoso.pxa
[TempDatabase]
DatabaseFile=virtuoso-temp.db
TransactionFile=virtuoso-temp.trx
[Parameters]
ServerPort=127.0.0.1:{sql_port}
DirsAllowed=., {data}
NumberOfBuffers={buffers}
MaxDirtyBuffers={dirty}
ThreadsPerQuery=1
[HTTPServer]
ServerPort=127.0.0.1:{port}
ServerRoot=.
[SPARQL]
ResultSetMaxRows=100000000
MaxQueryExecutionTime={limit}
DefaultGraph={graph}
"""

    def __init__(self, store, data):
        self.sql_port = None
        super().__init__(store, data)

    def spawn(self):
        buffers = min(340_000, max(20_000, os.path.getsize(self.data) // 700))  # of 8 KiB
        self.sql_port = get_free_port()
        with open(os.path.join(self.store, "virtuoso.ini"), "w", encoding="utf-8") as settings:
            settings.write(self.SETTINGS.format(sql_port=self.sql_port, port=self.port, limit=STREAM_S, graph=GRAPH,
                                                buffers=buffers, dirty=buffers * 3 // 4,
                                                data=os.path.dirname(self.data)))
        with open(os.path.join(self.store, "out.log"), "w", encoding="utf-8") as log:
            return subprocess.Popen([self.program, "+foreground", "+configfile", "virtuoso.ini"], cwd=self.store, stdout=log,
                                    stderr=log)

    def request(self, text):
        self.connection.request("GET", "/sparql?" + urllib.parse.urlencode({"query": text, "default-graph-uri": GRAPH}),
                                headers={"Accept": ACCEPT, "Connection": "keep-alive"})

    def execute(self, text):
        subprocess.run(["isql-vt", f"127.0.0.1:{self.sql_port}", "dba", "dba", f"exec={text}"], check=True,
                       stdout=subprocess.DEVNULL)

    @classmethod
    def load(cls, store, data):
        os.makedirs(store)
        server = cls(store, data)
        folder, name = os.path.split(data)
        server.execute(f"ld_dir('{folder}', '{name}', '{GRAPH}'); rdf_loader_run(); checkpoint;")
        say("load.memory", "MiB", server.get_memory_mib())
        server.execute("shutdown;")
        server.process.wait()


ENGINES = {"Oxigraph": Oxigraph, "Virtuoso": Virtuoso}


def load(engine, store, data):
    shutil.rmtree(store, ignore_errors=True)
    start = time.perf_counter()
    engine.load(store, data)
    seconds = time.perf_counter() - start
    with open(data, "rb") as file:
        say("load.rate", "triples/s", sum(1 for _ in file) / seconds)


# --- the Berlin SPARQL Benchmark -------------------------------------------------------------------------------------------

def measure_instance(server, text, n):
    first = server.query(text)[0]
    return first, first if first is None or first >= LONG_S else statistics.median(server.query(text)[0] for _ in range(n))


def read_instances(folder, mix):
    """[(name, text)] of what EXPECTED.tsv names"""
    texts = []
    with open(os.path.join(folder, mix, "EXPECTED.tsv"), encoding="utf-8") as expected:
        for name in (line.split("\t")[0] for line in expected):
            with open(os.path.join(folder, mix, name), encoding="utf-8") as file:
                texts.append((name, file.read()))
    return texts


def run_mix(server, folder, mix):
    families = {}
    for name, text in read_instances(folder, mix):
        times = measure_instance(server, text, REPETITIONS[mix])
        if None not in times:
            families.setdefault(name[:3], []).append(times)
    medians = []
    for family, times in sorted(families.items()):
        say(f"{mix}.{family}.cold", "ms", 1000 * statistics.median(cold for cold, warm in times))
        medians.append(1000 * statistics.median(warm for cold, warm in times))
        say(f"{mix}.{family}", "ms", medians[-1])
    if medians:
        say(f"{mix}.mean", "ms", statistics.geometric_mean(medians))


def run_client(server, texts, offset):
    """Returns: when it began, when it ended, and the times between"""
    server.connect()
    texts = (texts[offset:] + texts[:offset]) * PASSES
    start = time.perf_counter()
    times = [server.query(text)[0] or LIMIT_S for text in texts]
    return start, time.perf_counter(), times


def run_crews(server, folder):
    texts = [text for _, text in read_instances(folder, "explore")]
    for n in CREWS:
        with multiprocessing.get_context("fork").Pool(n) as pool:
            clients = pool.starmap(run_client, [(ForkedServer(server), texts, i * len(texts) // n) for i in range(n)])
        times = sorted(time for client in clients for time in client[2])
        say(f"crew.rate@{n}", "queries/s", len(times) / (max(end for _, end, _ in clients) - min(start for start, _, _ in clients)))
        say(f"crew.p95@{n}", "ms", 1000 * times[int(0.95 * (len(times) - 1))])


class ForkedServer:
    """What a client in a process of its own needs of a server."""

    def __init__(self, server):
        self.engine, self.port, self.limit = type(server), server.port, server.limit

    def connect(self):
        Server.connect(self)

    def request(self, text):
        self.engine.request(self, text)

    def query(self, text):
        return Server.query(self, text)


def run_mixes(server, folder, _data):
    for mix in ("explore", "bi"):
        run_mix(server, folder, mix)
    run_crews(server, folder)
    server.connection.sock.settimeout(STREAM_S)
    seconds, n_lines = server.query(ALL_TRIPLES)
    say("stream", "rows/s", (n_lines - 1) / seconds)


# --- questions -------------------------------------------------------------------------------------------------------------

def is_right(name, expected, data, body):
    if name in expected:
        return has_expected(body, *expected[name])
    path = os.path.join(data + ".answers", name + ".tsv")
    if not os.path.exists(path):
        return True
    with open(path, "rb") as answer:
        return same_rows(body, answer.read())


def read_slow(path):
    """{name: whether it was refused}"""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return {line.split()[0]: line.split()[1] == "refused" for line in file}


def run_questions(server, folder, data):
    expected = read_expected(os.path.join(folder, "EXPECTED.tsv"))
    slow_path = f"{data}.{type(server).__name__.lower()}.slow"
    slow = read_slow(slow_path)
    server.limit = QUESTION_LIMIT_S
    server.connection.sock.settimeout(server.limit)
    medians = []
    for name in sorted(file[:-3] for file in os.listdir(folder) if file.endswith(".rq")):
        with open(os.path.join(folder, name + ".rq"), encoding="utf-8") as file:
            text = file.read()
        if name in slow and slow[name]:
            say(f"refused.{name}", "", 1)
            continue
        body = []
        cold = server.query(text, body)[0] if name not in slow else QUESTION_LIMIT_S
        times = [] if cold is None or cold >= LONG_S else [server.query(text)[0] for _ in range(N_WARM)]
        if name not in slow and (None in (cold, *times) or cold >= QUESTION_LIMIT_S):
            with open(slow_path, "a", encoding="utf-8") as file:
                print(name, "refused" if None in (cold, *times) else "slow", file=file)
        if None in (cold, *times):
            say(f"refused.{name}", "", 1)
            continue
        medians.append(1000 * (statistics.median(times) if times else cold))
        say(f"question.{name}", "ms", medians[-1])
        if cold < QUESTION_LIMIT_S and not is_right(name, expected, data, b"".join(body)):
            say(f"different.{name}", "", 1)
    say("question.mean", "ms", statistics.geometric_mean(medians))


def main():
    name, verb, folder, data = sys.argv[1:]
    engine = ENGINES[name]
    store = f"{data}.{name.lower()}"
    if not shutil.which(engine.program):
        sys.exit("QUERYD_OXIGRAPH names no program 'oxigraph'" if engine is Oxigraph else
                 "there is no program 'virtuoso-t' (Debian: virtuoso-opensource-7)")
    if verb == "load":
        load(engine, store, data)
        return
    server = engine(store, data)
    try:
        {"mixes": run_mixes, "questions": run_questions}[verb](server, folder, data)
        say("memory", "MiB", server.get_memory_mib())
    finally:
        server.stop()


if __name__ == "__main__":
    main()
