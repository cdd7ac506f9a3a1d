# SPDX-License-Identifier: LGPL-2.1-or-later
"""A private world for one test: session bus, home, and a queryd that the bus activates from the build folder.

Nothing of it touches the user's own bus, home or daemon. Waiting is polling for a condition with a deadline, never a sleep
that hopes. Environment: QUERYD_BUILD_DIR (default: build/), QUERYD_SANITIZER stretches the deadlines.
"""
import contextlib
import os
import platform
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

from wire_client import Channel  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests/tools"))
import fresh_start  # noqa: E402

fresh_start.reset()
BUILD = os.environ.get("QUERYD_BUILD_DIR", os.path.join(ROOT, "build"))
SANITIZER = os.environ.get("QUERYD_SANITIZER", "")
SLOWER = 10 if SANITIZER else 1
# whether a call of full text is made to return (docs/decisions/forced-return.md), and what starts a daemon so that none is
FORCES = platform.machine() == "x86_64" and SANITIZER != "tsan"
UNFORCED = "strace -f -qq --seccomp-bpf -o /dev/null -e trace=tgkill -e inject=tgkill:error=EPERM" if FORCES else ""
# limits of the daemon that a sanitizer's slowness alone would reach
STRETCHED = {"compile_ms": 10000, "reader_idle_ms": 300000, "query_timeout_ms": 300000, "update_timeout_ms": 600000}
NAME, PATH = "org.queryd.Query1", "/org/queryd/Query1"
MANAGER, JOB = NAME + ".Manager", NAME + ".Job"
ERROR_PREFIX = NAME + ".Error."

BUS_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <keep_umask/>
  <listen>{address}</listen>
  <servicedir>{folder}/services</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
  <limit name="service_start_timeout">60000</limit>
  <limit name="max_message_unix_fds">64</limit>
</busconfig>
"""
# The exit status of a child of dbus-daemon is visible only to a parent of its own. 0 before the name is taken: it will be yet.
LAUNCHER = """#!/bin/sh
ulimit -c 0
{prefix} {daemon} {arguments} "$@"
status=$?
echo $status >> {exits}
exit $status
"""


class BusError(Exception):
    """An error reply; name without our prefix."""

    def __init__(self, name, message):
        super().__init__(f"{name}: {message}")
        self.name, self.message = name, message


def wait_until(condition, what, seconds=60):
    """Polls until @condition returns something true, and returns that."""
    deadline = time.monotonic() + seconds * SLOWER
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds * SLOWER} s: {what}")
        time.sleep(0.005)


@contextlib.contextmanager
def memory_file(data=b""):
    """A descriptor to pass along, of a file that holds @data, at its begin."""
    fd = os.memfd_create("memory-file", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.write(fd, data)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


def to_variant(value):
    """A parameter value as the interface wants it."""
    if value is None:
        return GLib.Variant("g", "")
    if isinstance(value, GLib.Variant):
        return value
    if isinstance(value, bool):
        return GLib.Variant("b", value)
    if isinstance(value, int):
        return GLib.Variant("x", value)
    if isinstance(value, float):
        return GLib.Variant("d", value)
    if isinstance(value, (bytes, bytearray)):
        return GLib.Variant.new_from_bytes(GLib.VariantType("ay"), GLib.Bytes.new(bytes(value)), True)
    if isinstance(value, tuple):
        return GLib.Variant("(sss)", value)
    return GLib.Variant("s", value)


def parameters(values):
    """Positional list or dict → a{sv} payload."""
    if isinstance(values, dict):
        return {k: to_variant(v) for k, v in values.items()}
    return {str(i): to_variant(v) for i, v in enumerate(values, 1)}


OPTION_TYPES = {"page_size": "u", "timeout_ms": "u", "max_rows": "u", "max_bytes": "u", "header": "b", "create": "b",
                "analyze": "b", "quick": "b", "replace": "b", "check_only": "b", "text_transactions": "b", "schema_details": "b",
                "error_details": "b", "whole_results": "b", "fetch": "b", "types": "as", "detect_types": "b", "keys": "b",
                "one_graph": "b", "session": "t"}


def options(values):
    return {k: v if isinstance(v, GLib.Variant) else GLib.Variant(OPTION_TYPES.get(k, "s"), v) for k, v in values.items()}


def unpack_value(variant):
    """A value of Query: (type signature, Python value); NULL is None."""
    kind = variant.get_type_string()
    if kind == "g":
        return None
    if kind == "ay":
        return bytes(variant.get_data_as_bytes().get_data())
    return variant.unpack()


class Caller:
    """One connection to the bus: the methods of the interface as Python calls."""

    def __init__(self, address):
        flags = Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION | Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
        self.connection = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)

    def close(self):
        if not self.connection.is_closed():
            self.connection.close_sync(None)

    def call(self, method, signature=None, *arguments, interface=NAME, path=PATH, fds=(), timeout=60, destination=NAME):
        """Calls and returns (reply variant, list of received descriptors)."""
        fd_list = Gio.UnixFDList.new()
        for fd in fds:
            fd_list.append(fd)
        body = GLib.Variant(signature, arguments) if signature else None
        try:
            reply, received = self.connection.call_with_unix_fd_list_sync(
                destination, path, interface, method, body, None, Gio.DBusCallFlags.NONE, int(timeout * 1000 * SLOWER), fd_list,
                None)
        except GLib.Error as error:
            name = Gio.DBusError.get_remote_error(error)
            if name is None:
                raise
            message = re.sub(r"^GDBus.Error:[\w.]+: ", "", error.message)
            raise BusError(name[len(ERROR_PREFIX):] if name.startswith(ERROR_PREFIX) else name, message) from None
        return reply, received.steal_fds() if received is not None else []

    def prepare(self, text, values=(), language="sql", **opts):
        """Prepare: a Channel (socketpair) or an object with .fd (pipe)."""
        reply, fds = self.call("Prepare", "(ssa{sv}a{sv})", language, text, parameters(values), options(opts))
        index, columns, info = reply.unpack()
        assert len(fds) == 1 and index == 0
        if info.get("transport", opts.get("transport")) in ("pipe", "vmsplice"):
            return Pipe(fds[0], columns, info)
        return Channel(fds[0], columns, info)

    def query(self, text, values=(), language="sql", **opts):
        """Query: list of rows; a truncated result is an error here."""
        columns, rows, truncated = self.query_full(text, values, language, **opts)
        assert not truncated
        return rows

    def query_full(self, text, values=(), language="sql", **opts):
        reply, _ = self.call("Query", "(ssa{sv}a{sv})", language, text, parameters(values), options(opts))
        rows = reply.get_child_value(1)
        table = []
        for i in range(rows.n_children()):
            row = rows.get_child_value(i)
            table.append(tuple(unpack_value(row.get_child_value(k).get_variant()) for k in range(row.n_children())))
        return reply.get_child_value(0).unpack(), table, reply.get_child_value(2).unpack()

    def query_text(self, text, fmt, language="sql", **opts):
        return self.call("QueryText", "(sssa{sv})", language, text, fmt, options(opts))[0].unpack()

    def update(self, text, values=(), language="sql", **opts):
        """Update: (changes, last_insert_rowid, generation)"""
        return self.call("Update", "(ssa{sv}a{sv})", language, text, parameters(values), options(opts))[0].unpack()

    def batch(self, statements, **opts):
        body = [("sql", text, parameters(values)) for text, values in statements]
        return self.call("Batch", "(a(ssa{sv})a{sv})", body, options(opts))[0].unpack()

    def explain(self, text, language="sql", **opts):
        return self.call("Explain", "(ssa{sv})", language, text, options(opts))[0].unpack()

    def export(self, text, fmt, fd, language="sql", **opts):
        return self.call("Export", "(sssha{sv})", language, text, fmt, 0, options(opts), fds=[fd])[0].unpack()

    def start_job(self, method, signature, *arguments, fds=(), interface=NAME):
        return self.call(method, signature, *arguments, fds=fds, interface=interface)[0].unpack()[0]

    def finish_job(self, path, seconds=60):
        """Waits for the job's end; returns its properties."""
        def state():
            reply, _ = self.call("GetAll", "(s)", JOB, interface="org.freedesktop.DBus.Properties", path=path)
            (props,) = reply.unpack()
            return props if props["State"] in ("finished", "failed", "cancelled") else None
        return wait_until(state, f"the end of job {path}", seconds)

    def import_fd(self, fd, fmt, **opts):
        return self.finish_job(self.start_job("Import", "(hsa{sv})", 0, fmt, options(opts), fds=[fd]))

    def dump(self, fmt, **opts):
        """Dump: the job's properties and the text."""
        with memory_file() as fd:
            job = self.finish_job(self.start_job("Dump", "(hsa{sv})", 0, fmt, options(opts), fds=[fd]))
            return job, os.pread(fd, os.fstat(fd).st_size, 0).decode()

    def backup(self, fd):
        return self.finish_job(self.start_job("Backup", "(ha{sv})", 0, {}, fds=[fd], interface=MANAGER))

    def check(self, quick=True):
        return self.call("Check", "(a{sv})", options({"quick": quick}), interface=MANAGER)[0].unpack()

    def stats(self):
        return self.call("GetStats", interface=MANAGER)[0].unpack()[0]

    def limits(self):
        return {row[0]: row for row in self.call("GetLimits", interface=MANAGER)[0].unpack()[0]}

    def queries(self):
        return self.call("ListQueries", interface=MANAGER)[0].unpack()[0]

    def property(self, name):
        reply, _ = self.call("Get", "(ss)", NAME, name, interface="org.freedesktop.DBus.Properties")
        return reply.unpack()[0]

    def bus_call(self, method, signature=None, *arguments):
        return self.call(method, signature, *arguments, interface="org.freedesktop.DBus", path="/org/freedesktop/DBus",
                         destination="org.freedesktop.DBus")[0].unpack()


class Pipe:
    """A result of transport "pipe" or "vmsplice": its descriptor and what the reply said."""

    def __init__(self, fd, columns, info):
        self.fd, self.columns, self.info = fd, columns, info

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
        self.fd = -1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def read(self, n):
        return os.read(self.fd, n)


class World(Caller):
    """The bus, its folders and its first caller. More callers: caller()."""

    def __init__(self, limits=None, config="", arguments="", prefix="", data_home=None):
        assert os.access(os.path.join(BUILD, "daemon/queryd"), os.X_OK), f"no daemon/queryd in {BUILD}: build first"
        self.folder = tempfile.mkdtemp(prefix="queryd-e2e-")
        self.data_home = data_home or os.path.join(self.folder, "home/.local/share")
        self.store = os.path.join(self.data_home, "queryd")
        self.expected_exits = {0}
        self.callers = []
        for name in ("services", "run", "home/.config/queryd", "home/.local/share", "tmp"):
            os.makedirs(os.path.join(self.folder, name), mode=0o700, exist_ok=True)
        self.write_config((STRETCHED if SANITIZER else {}) | (limits or {}), config)
        self.write_launcher(arguments, prefix)
        with open(os.path.join(self.folder, "services", NAME + ".service"), "w", encoding="utf-8") as stream:
            stream.write(f"[D-BUS Service]\nName={NAME}\nExec=\"{self.folder}/launch\"\n")
        self.start_bus()
        super().__init__(self.address)

    def write_config(self, limits, config=""):
        with open(os.path.join(self.folder, "home/.config/queryd/queryd.conf"), "w", encoding="utf-8") as stream:
            stream.write("[Limits]\n" + "".join(f"{k}={v}\n" for k, v in limits.items()) + config)

    def write_launcher(self, arguments="", prefix=""):
        path = os.path.join(self.folder, "launch")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(LAUNCHER.format(exits=shlex.quote(os.path.join(self.folder, "exits")), arguments=arguments, prefix=prefix,
                                         daemon=shlex.quote(os.path.join(BUILD, "daemon", "queryd"))))
        os.chmod(path, 0o755)

    def start_bus(self):
        self.address = "unix:path=" + urllib.parse.quote(os.path.join(self.folder, "bus"))
        with open(os.path.join(self.folder, "bus.conf"), "w", encoding="utf-8") as stream:
            stream.write(BUS_CONFIG.format(folder=self.folder, address=self.address))
        keep = {k: v for k, v in os.environ.items()
                if k in ("PATH", "G_SLICE", "QUERYD_SANITIZER", "QUERYD_SOURCE_ROOT") or k.endswith("SAN_OPTIONS")}
        home = os.path.join(self.folder, "home")
        self.env = dict(
            keep, HOME=home, LANG="C.UTF-8", TMPDIR=os.path.join(self.folder, "tmp"), XDG_DATA_HOME=self.data_home,
            XDG_CONFIG_HOME=home + "/.config", XDG_CACHE_HOME=home + "/.cache", XDG_STATE_HOME=home + "/.local/state",
            XDG_RUNTIME_DIR=os.path.join(self.folder, "run"), DBUS_SESSION_BUS_ADDRESS=self.address, QUERYD_BUILD_DIR=BUILD,
            GI_TYPELIB_PATH=os.path.join(BUILD, "client-lib"), LD_LIBRARY_PATH=os.path.join(BUILD, "client-lib"),
            PYTHONDONTWRITEBYTECODE="1")
        self.env["PATH"] = os.path.join(BUILD, "client-lib/queryctl") + ":" + keep.get("PATH", "/usr/bin:/bin")
        self.log = open(os.path.join(self.folder, "log"), "wb")
        self.dbus_daemon = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", "dbus-daemon", "--nofork", f"--config-file={self.folder}/bus.conf"], env=self.env,
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)
        wait_until(self.bus_listens, "the bus's socket")

    def bus_listens(self):
        """The socket's file is there a moment before anybody listens to it."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            return probe.connect_ex(os.path.join(self.folder, "bus")) == 0

    @property
    def queryctl(self):
        return os.path.join(BUILD, "client-lib/queryctl/queryctl")

    def caller(self):
        """A further connection, closed with the world."""
        self.callers.append(Caller(self.address))
        return self.callers[-1]

    def run(self, *command, **kwargs):
        """A program inside this world; returns CompletedProcess with text output."""
        kwargs.setdefault("timeout", 60 * SLOWER)
        kwargs.setdefault("text", True)
        return subprocess.run(command, env=kwargs.pop("env", self.env), capture_output=True, check=False, **kwargs)

    def gdbus(self, method, *arguments, interface=NAME):
        return self.run("gdbus", "call", "--session", "-d", NAME, "-o", PATH, "-m", f"{interface}.{method}", *arguments)

    def busctl(self, method, *arguments, interface=NAME):
        return self.run("busctl", "--user", "call", NAME, PATH, interface, method, *arguments)

    def has_owner(self):
        return self.bus_call("NameHasOwner", "(s)", NAME)[0]

    def daemon_pid(self):
        """The daemon's process; activates it."""
        if not self.has_owner():
            self.property("Version")
        return self.bus_call("GetConnectionUnixProcessID", "(s)", NAME)[0]

    def owner_pid(self):
        """The process of a daemon that runs; None: there is none."""
        try:
            return self.bus_call("GetConnectionUnixProcessID", "(s)", NAME)[0]
        except BusError:  # the name has no owner
            return None

    def has_left(self, pid):
        """Whether the daemon of this process has given its name back."""
        return self.owner_pid() != pid

    def exits(self):
        try:
            with open(os.path.join(self.folder, "exits"), encoding="utf-8") as stream:
                return [int(line) for line in stream]
        except FileNotFoundError:
            return []

    def stop_daemon(self, signum=signal.SIGTERM, seconds=20):
        """Ends the daemon, if there is one, and waits until it is gone; returns its exit status."""
        before, pid = len(self.exits()), self.owner_pid()
        if pid is None:
            return None
        with contextlib.suppress(ProcessLookupError):  # an idle daemon may end by itself now
            os.kill(pid, signum)
        wait_until(lambda: len(self.exits()) > before, f"the daemon's end by signal {signum}", seconds)
        wait_until(lambda: not self.has_owner(), "the name to be free")
        return self.exits()[-1]

    def kill_daemon(self):
        """kill -9: 137 is then an expected exit status."""
        self.expected_exits.add(128 + signal.SIGKILL)
        return self.stop_daemon(signal.SIGKILL)

    def finish(self):
        """Ends everything; the daemon must drain and leave with an expected status."""
        problems = []
        try:
            if not self.connection.is_closed():
                self.stop_daemon()
        except (AssertionError, GLib.Error) as error:
            problems.append(str(error))
        problems += [f"the daemon left with status {s}" for s in self.exits() if s not in self.expected_exits]
        for caller in self.callers + [self]:
            try:
                caller.close()
            except GLib.Error:
                pass
        self.dbus_daemon.terminate()
        self.dbus_daemon.wait()
        self.log.close()
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as stream:
            print("--- log of the bus and the daemon\n" + stream.read()[-20000:])
        shutil.rmtree(self.folder, ignore_errors=True)
        assert not problems, problems


# --- figures of a process ------------------------------------------------------------------------------------------------

def n_fds(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def written_bytes(pid, folder):
    """Of the largest file in @folder that the process has open, with a name or without. It may close it, or end, meanwhile."""
    most = 0
    with contextlib.suppress(OSError):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                if os.readlink(f"/proc/{pid}/fd/{fd}").startswith(f"{folder}/"):
                    most = max(most, os.stat(f"/proc/{pid}/fd/{fd}").st_size)
    return most


def status_kib(pid, field):
    """A field of /proc/PID/status in KiB, such as RssAnon."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as stream:
        for line in stream:
            if line.startswith(field + ":"):
                return int(line.split()[1])
    raise KeyError(field)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stream:
        fields = stream.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
