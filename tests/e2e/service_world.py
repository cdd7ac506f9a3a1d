# SPDX-License-Identifier: LGPL-2.1-or-later
"""queryd-service beside a private daemon, and endpoints for it: queryd-http of another store, and servers that misbehave."""
import os
import socket
import subprocess
import threading

import harness

PROGRAM = os.path.join(harness.BUILD, "client-lib/service/queryd-service")
IS_BUILT = os.access(PROGRAM, os.X_OK)
NOT_BUILT = "queryd-service was not built: libsoup-3.0 is not there"


class Helper:
    """The program, with what [Service] of the world's queryd.conf says; written before each test of a list."""

    def __init__(self, world, allow="", private=""):
        self.world = world
        self.path = os.path.join(world.folder, "run/queryd-service/socket")
        self.config = os.path.join(world.folder, "service.conf")
        self.errors = open(os.path.join(world.folder, "service.log"), "w+", encoding="utf-8")
        self.allow(allow, private)
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", PROGRAM, "--socket", self.path, "--config", self.config],
                                        env=world.env, stdin=subprocess.DEVNULL, stdout=self.errors, stderr=self.errors)
        harness.wait_until(self.listens, "the helper's socket")

    def listens(self):
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(self.path) == 0

    def allow(self, urls, private=""):
        with open(self.config, "w", encoding="utf-8") as stream:
            stream.write(f"[Service]\nallow={urls}\nprivate={private}\n")

    def n_sockets(self):
        return harness.n_fds(self.process.pid)

    def finish(self):
        self.process.terminate()
        status = self.process.wait(20 * harness.SLOWER)
        self.errors.seek(0)
        complaints = self.errors.read()
        self.errors.close()
        assert status == 0, f"queryd-service left with status {status}: {complaints}"
        assert complaints == "", complaints


class Endpoint:
    """A server that answers each request with what @answer does to its socket. It counts connections and requests; `gone` is set
    when one of them has ended.
    """

    def __init__(self, answer):
        self.answer = answer
        self.n_connections = 0
        self.n_ended = 0  # requests
        self.paths = []
        self.requests = []
        self.gone = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/sparql"
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.n_connections += 1
            threading.Thread(target=self.serve_client, args=(client,), daemon=True).start()

    def serve_client(self, client):
        with client:
            data = b""
            while b"\r\n\r\n" not in data:
                more = client.recv(65536)
                if not more:
                    return
                data += more
            head, _, body = data.partition(b"\r\n\r\n")
            lengths = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
            length = int(lengths[0].split(b":")[1])
            while len(body) < length:
                body += client.recv(65536)
            self.paths.append(head.split(b" ", 2)[1].decode())
            self.requests.append(body)
            try:
                self.answer(client)
            except OSError:
                pass
            self.n_ended += 1
            self.gone.set()

    def finish(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
