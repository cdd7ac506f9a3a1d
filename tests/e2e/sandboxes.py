# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sandboxes of applications: bubblewrap's, with the file that Flatpak lays into its own.

xdg-dbus-proxy runs inside, as it does there.
"""
import contextlib
import os
import shutil
import signal
import socket
import subprocess

import pytest

from harness import BUILD, NAME, ROOT, BusError, Caller, wait_until

APPLICATION = "org.example.Music"
OTHER = "org.example.Other"
OWN = f"{NAME}.app.{APPLICATION}"
GRAPHS = "http://example.org/"
INFO = "[Application]\nname={}\nruntime=runtime/org.freedesktop.Platform/x86_64/22.08\n\n[Instance]\ninstance-id={}\n"

needs_sandbox = pytest.mark.skipif(not shutil.which("bwrap") or not shutil.which("xdg-dbus-proxy"),
                                   reason="bubblewrap or xdg-dbus-proxy is not installed")


class Sandboxes:
    """Programs in sandboxes of one world, ended with it."""

    def __init__(self, world):
        self.world = world
        self.processes = []
        self.asked_to_end = set()  # process ids of daemons of the own store

    def command(self, info, *command):
        arguments = ["bwrap", "--die-with-parent"]
        for folder in {"/usr", "/etc", ROOT, BUILD}:
            arguments += ["--ro-bind", folder, folder]
        for folder in ("/bin", "/lib", "/lib64"):
            if os.path.exists(folder):
                arguments += ["--ro-bind", folder, folder]
        arguments += ["--proc", "/proc", "--dev", "/dev", "--bind", self.world.folder, self.world.folder]
        if info is not None:
            path = os.path.join(self.world.folder, f"info-{len(self.processes)}-{len(os.listdir(self.world.folder))}")
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(info)
            arguments += ["--ro-bind", path, "/.flatpak-info"]
        return arguments + list(command)

    def proxy(self, info, *rules):
        """The address of a proxy that runs in a sandbox with @info."""
        path = os.path.join(self.world.folder, f"proxy-{len(self.processes)}")
        command = self.command(info, "xdg-dbus-proxy", self.world.address, path, "--filter", f"--talk={NAME}.*", *rules)
        self.processes.append(subprocess.Popen(command, env=self.world.env))
        wait_until(lambda: listens(path), "the proxy's socket")
        return "unix:path=" + path

    def caller(self, application=APPLICATION, instance=1, info=None):
        address = self.proxy(info if info is not None else INFO.format(application, instance))
        self.world.callers.append(Caller(address))
        return self.world.callers[-1]

    def end_own(self):
        """Asks the daemon of the own store to end. True if there is none: one that came second may follow the first."""
        try:
            pid = self.world.bus_call("GetConnectionUnixProcessID", "(s)", OWN)[0]
        except BusError:
            return True
        if pid not in self.asked_to_end:
            self.asked_to_end.add(pid)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        return False

    def finish(self):
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def make_world(make_bus):
    sandboxes = []

    def make(config="", has_file=True):
        world = make_bus(config=config)
        sandboxes.append(Sandboxes(world))
        if not has_file:
            return world, sandboxes[-1]
        with open(os.path.join(world.folder, "services", OWN + ".service"), "w", encoding="utf-8") as stream:
            stream.write(f"[D-BUS Service]\nName={OWN}\nExec=\"{world.folder}/launch\" --store app.{APPLICATION}\n")
        return world, sandboxes[-1]

    yield make
    for item in sandboxes:
        wait_until(lambda item=item: item.end_own(), "the own daemon's end")
        item.finish()


def listens(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(path) == 0


def grants(text):
    return f"\n[Access {APPLICATION}]\n{text}\n"


def refused(caller, method, *arguments, words="", **keywords):
    """@method of @caller ends with AccessDenied."""
    with pytest.raises(BusError) as failure:
        getattr(caller, method)(*arguments, **keywords)
    assert failure.value.name == "AccessDenied", failure.value
    assert words in failure.value.message, failure.value
    return failure.value.message


def sparql(caller, text, **opts):
    return sorted(tuple(str(v) for v in row) for row in caller.query(text, language="sparql", **opts))


def add_quads(world):
    world.update(f"""INSERT DATA {{ <urn:d> <urn:p> "default" .
        GRAPH <{GRAPHS}music> {{ <urn:m> <urn:p> "music" }} GRAPH <{GRAPHS}mail> {{ <urn:s> <urn:p> "secret" }} }}""",
                 language="sparql")
