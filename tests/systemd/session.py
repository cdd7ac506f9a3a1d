# SPDX-License-Identifier: LGPL-2.1-or-later
"""The systemd user session that the tests run in, with the installed queryd: its units, its files, its bus.

There is one session for all tests; Session.clean() puts it back to where no test has been. Waiting is polling for a condition
with a deadline, as in tests/e2e/harness.py.
"""
import json
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from harness import NAME, PATH, Caller, wait_until  # noqa: E402, F401

HOME = os.environ["HOME"]
DATA = os.path.join(HOME, ".local/share")
STORE = os.path.join(DATA, "queryd")
CONFIG = os.path.join(HOME, ".config/queryd/queryd.conf")
UNITS = os.path.join(HOME, ".config/systemd/user")
ACTIVATION = os.path.join(DATA, "dbus-1/services")
UNIT = "queryd.service"
started_at = time.time()
WALL = 0x40000000  # of waitpid(2): threads too


def run(*command, check=False, timeout=60, **kwargs):
    """A program as a user of the session would call it."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout, **kwargs)
    if check:
        assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def systemctl(*arguments, check=True):
    return run("systemctl", "--user", *arguments, check=check).stdout.strip()


def show(name, unit=UNIT):
    """A property of a unit."""
    return systemctl("show", "--value", "-p", name, unit)


def unit_log(unit=UNIT):
    """What the daemon and systemd said about it since the test began."""
    run("journalctl", "--user", "--sync")
    return run("journalctl", "--user", "-u", unit, "-o", "cat", f"--since=@{started_at:.6f}", check=True).stdout


def write(path, text):
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def drop_in(text, unit=UNIT, name="test"):
    """A drop-in of the user's for @unit; takes effect with the next start."""
    write(os.path.join(UNITS, unit + ".d", name + ".conf"), text)
    systemctl("daemon-reload")


def thread_state(pid, tid):
    """The letter of the kernel: R, S, T (stopped), t (by a tracer)."""
    with open(f"/proc/{pid}/task/{tid}/stat", encoding="utf-8") as stream:
        return stream.read().rsplit(")", 1)[1].split()[0]


def ptrace_stop(pid, tid):
    """Stops one thread of a process, not the process. Once that is killed, ptrace_reap() has to let the thread go."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    seize, interrupt = 0x4206, 0x4207
    if libc.ptrace(seize, tid, None, None) != 0:
        raise OSError(ctypes.get_errno(), "PTRACE_SEIZE")
    assert libc.ptrace(interrupt, tid, None, None) == 0
    os.waitpid(tid, WALL)
    wait_until(lambda: thread_state(pid, tid) == "t", "the thread to stop")


def ptrace_reap(tid):
    """Waits for the end of a thread that was stopped; before that its process cannot end."""
    while os.WIFSTOPPED(os.waitpid(tid, WALL)[1]):
        pass


class Session(Caller):
    """A connection to the session's bus, and what tests do to the service behind it."""

    def __init__(self):
        super().__init__(os.environ["DBUS_SESSION_BUS_ADDRESS"])

    def clean(self):
        """No queryd, no data, no configuration, units as installed."""
        listed = json.loads(systemctl("list-units", "--all", "--output=json", "queryd*"))
        units = [u["unit"] for u in listed if u["unit"].endswith(".service")]
        if units:
            systemctl("kill", "--signal=SIGKILL", *units, check=False)
            systemctl("stop", *units, check=False)
        for path in (STORE, UNITS, ACTIVATION, os.path.dirname(CONFIG)):
            shutil.rmtree(path, ignore_errors=True)
        systemctl("daemon-reload")
        systemctl("reset-failed")
        self.bus_call("ReloadConfig")
        global started_at
        started_at = time.time()

    def has_owner(self, name=NAME):
        return self.bus_call("NameHasOwner", "(s)", name)[0]

    def owner_pid(self, name=NAME):
        return self.bus_call("GetConnectionUnixProcessID", "(s)", name)[0]

    def start(self):
        systemctl("start", UNIT)
        return self.main_pid()

    @staticmethod
    def main_pid(unit=UNIT):
        return int(show("MainPID", unit))

    @staticmethod
    def is_active(unit=UNIT):
        return show("ActiveState", unit) == "active"

    def wait_for_new_pid(self, old, seconds=20):
        """Waits until systemd has restarted the daemon and it is ready; returns the new process."""
        wait_until(lambda: self.main_pid() not in (0, old) and self.is_active(), "a new queryd", seconds)
        return self.main_pid()
