# SPDX-License-Identifier: LGPL-2.1-or-later
"""queryctl web: the link to the workbench, by a server of the test's own and by a systemd that the test plays."""
import os
import re
import socket
import threading

import pytest

import harness
from gi.repository import Gio, GLib
from http_world import IS_BUILT, NOT_BUILT, HttpServer

pytestmark = pytest.mark.skipif(not IS_BUILT, reason=NOT_BUILT)
LINK = r"http://127\.0\.0\.1:(\d+)(/login\?ticket=[\w-]+)\n"


@pytest.fixture(name="start")
def starter(bus):
    servers = []

    def start(path, *arguments):
        servers.append(HttpServer(bus, "--port", "0", "--unix", path, *arguments, token=True))
        return servers[-1]

    yield start
    for server in servers:
        server.finish()


@pytest.fixture(name="path")
def unit_path(bus):
    folder = os.path.join(bus.folder, "run/queryd-http")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return os.path.join(folder, "socket")


def web(bus, *arguments, **environment):
    program = os.path.join(harness.BUILD, "client-lib/queryctl/queryctl")
    return bus.run(program, "web", *arguments, env=dict(bus.env, **environment), timeout=30 * harness.SLOWER)


def check_link(server, text):
    """It opens one session."""
    found = re.fullmatch(LINK, text)
    assert found and int(found[1]) == server.port, text
    answer = server.get(found[2])
    assert answer.status == 303
    cookie = answer.headers["Set-Cookie"].split(";")[0]
    assert server.get("/status").status == 401 and server.get("/status", Cookie=cookie).json["store"]
    assert server.get(found[2]).status == 403


def test_prints_the_link(bus, start, path):
    server = start(path)
    for arguments in (), ("--no-browser",), ("--socket", path), ("--store", "default"):
        result = web(bus, *arguments)
        assert (result.returncode, result.stderr) == (0, "")
        check_link(server, result.stdout)


def test_opens_the_browser(bus, start, path):
    server = start(path)
    programs = os.path.join(bus.folder, "programs")
    os.makedirs(programs)
    with open(programs + "/xdg-open", "w", encoding="utf-8") as stream:
        stream.write(f'#!/bin/sh\necho "$@" >{bus.folder}/opened.part && mv {bus.folder}/opened.part {bus.folder}/opened\n')
    os.chmod(programs + "/xdg-open", 0o755)
    variables = {"PATH": programs + ":" + bus.env["PATH"], "DISPLAY": ":77"}
    assert re.fullmatch(LINK, web(bus, "--no-browser", **variables).stdout)
    assert not os.path.exists(bus.folder + "/opened")
    result = web(bus, **variables)
    assert (result.returncode, result.stdout) == (0, "") and "--no-browser" in result.stderr and "ticket" not in result.stderr
    harness.wait_until(lambda: os.path.exists(bus.folder + "/opened"), "the browser's start")
    with open(bus.folder + "/opened", encoding="utf-8") as stream:
        check_link(server, stream.read())
    assert re.fullmatch(LINK, web(bus, PATH=bus.folder, DISPLAY=":77").stdout)  # without xdg-open


def test_another_store(bus, start, path):
    bus.run("queryctl", "store", "create", "music")
    server = start(path, "--store", "music")
    result = web(bus)
    assert result.returncode == 0
    check_link(server, web(bus, "--store", "music").stdout)
    result = web(bus, "--store", "photos")
    assert result.returncode == 3 and "serves the store 'music', not 'photos'" in result.stderr and result.stdout == ""


def test_only_a_unix_socket(bus, path):
    server = HttpServer(bus, "--unix", path, token=True)
    result = web(bus)
    assert result.returncode == 3 and "listens on no port" in result.stderr
    server.finish()


def test_no_server(bus):
    result = web(bus, "--socket", "/nowhere/socket")
    assert result.returncode == 3 and "no queryd-http at '/nowhere/socket'" in result.stderr
    result = web(bus)
    assert result.returncode == 3 and "systemd does not start 'queryd-http.socket'" in result.stderr
    assert "--socket PATH" in result.stderr


def test_something_else_listens(bus, path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()

        def answer():
            for text in b"SSH-2.0-x\r\n", b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", b"", b"x" * 200000:
                peer, _ = listener.accept()
                peer.recv(65536)
                try:
                    peer.sendall(text)
                except OSError:
                    pass  # it takes no more than it needs
                peer.close()

        thread = threading.Thread(target=answer)
        thread.start()
        for said in "SSH-2.0-x", "404 Not Found", "''", "xxx":
            result = web(bus)
            assert result.returncode in (1, 3) and result.stdout == "", result
            assert "no queryd-http of this version" in result.stderr and said in result.stderr
        thread.join()


class Systemd:
    """The one method of the manager that is called. @started: does what the unit would."""

    XML = """<node><interface name="org.freedesktop.systemd1.Manager"><method name="StartUnit"><arg type="s" direction="in"/>
      <arg type="s" direction="in"/><arg type="o" direction="out"/></method></interface></node>"""

    def __init__(self, address, started):
        self.started, self.calls = started, []
        self.context = GLib.MainContext()
        self.loop = GLib.MainLoop(self.context)
        self.thread = threading.Thread(target=self.run, args=(address,))
        self.is_ready = threading.Event()
        self.thread.start()
        assert self.is_ready.wait(20 * harness.SLOWER)

    def run(self, address):
        self.context.push_thread_default()
        flags = Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION | Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
        connection = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
        interface = Gio.DBusNodeInfo.new_for_xml(self.XML).interfaces[0]
        connection.register_object("/org/freedesktop/systemd1", interface, self.on_call, None, None)
        connection.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
                             GLib.Variant("(su)", ("org.freedesktop.systemd1", 0)), None, Gio.DBusCallFlags.NONE, -1, None)
        self.is_ready.set()
        self.loop.run()
        connection.close_sync(None)
        self.context.pop_thread_default()

    def on_call(self, _connection, _sender, _path, _interface, method, parameters, invocation):
        self.calls.append((method, *parameters.unpack()))
        self.started()
        invocation.return_value(GLib.Variant("(o)", ("/org/freedesktop/systemd1/job/1",)))

    def close(self):
        self.loop.quit()
        self.thread.join()


def test_starts_the_unit(bus, start, path):
    servers = []
    systemd = Systemd(bus.address, lambda: servers.append(start(path)))
    try:
        result = web(bus)
        assert (result.returncode, result.stderr) == (0, "")
        assert systemd.calls == [("StartUnit", "queryd-http.socket", "replace")]
        check_link(servers[0], result.stdout)
        assert web(bus).returncode == 0 and len(systemd.calls) == 1
    finally:
        systemd.close()
