# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each line of the unit's sandbox bites: with the unit as installed the forbidden act fails, without that one line it succeeds.

The act is done by probe.py in the real unit queryd@probe_….service, in which a drop-in replaces the program and, for the
control, takes the line away. So a line that systemd ignores without a word, as it does with some in a user's unit, is found.
"""
import os
import re
import socket

import pytest

from session import HOME, drop_in, run, show, systemctl, write
from harness import BusError

PROBE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe.py")
DONE, REFUSED, IMPOSSIBLE = "10", "11", "12"
PROGRAM = f"""[Service]
Type=oneshot
Restart=no
WatchdogSec=0
ExecStart=
ExecStart=/usr/bin/python3 -B {PROBE} """

# These imply NoNewPrivileges= in a user's unit, and PrivateUsers= leaves nobody to become: without them the line stands alone.
ALONE = ("PrivateUsers=no\nProtectSystem=no\nReadWritePaths=\nPrivateTmp=no\nPrivateNetwork=no\nRestrictAddressFamilies=\n"
         "SystemCallFilter=\nSystemCallArchitectures=\nLockPersonality=no\nRestrictNamespaces=no\nRestrictSUIDSGID=no\n")

# line: (act, what takes the line away for the control, lines of both)
LINES = {
    "PrivateUsers=yes": ("see_other_users", "PrivateUsers=no", ""),
    "ProtectSystem=strict": ("write_home", "ProtectSystem=no", ""),
    "PrivateTmp=yes": ("see_tmp", "PrivateTmp=no", ""),
    "PrivateNetwork=yes": ("reach_network", "PrivateNetwork=no", ""),
    "NoNewPrivileges=yes": ("gain_privileges", "NoNewPrivileges=no", ALONE),
    "RestrictAddressFamilies=AF_UNIX": ("make_inet_socket", "RestrictAddressFamilies=", ""),
    "SystemCallFilter=@system-service": ("trace", "SystemCallFilter=", ""),
    "SystemCallArchitectures=native": ("call_as_other_architecture", "SystemCallArchitectures=", ""),
    "LockPersonality=yes": ("change_personality", "LockPersonality=no", ""),
    "RestrictNamespaces=yes": ("make_namespace", "RestrictNamespaces=no", ""),
    "RestrictSUIDSGID=yes": ("make_setuid", "RestrictSUIDSGID=no", ""),
    "UMask=0077": ("make_readable_file", "UMask=0022", ""),
    "LimitNOFILE=16384": ("open_many_files", "LimitNOFILE=17000", ""),
    "MemoryMax=512M": ("use_memory", "MemoryMax=infinity", ""),
    "TasksMax=64": ("start_many_threads", "TasksMax=infinity", ""),
    "OOMPolicy=stop": ("use_memory_in_child", "OOMPolicy=continue", ""),
}
# ReadWritePaths= is the one line that allows: test_read_write_paths(). The others of [Service] are no sandbox.
ALLOWING = ["ReadWritePaths=-%h/.local/share/queryd"]
NO_SANDBOX = ("Type", "NotifyAccess", "BusName", "ExecStart", "ExecReload", "WatchdogSec", "Restart", "RestartSec",
              "RestartPreventExitStatus", "TimeoutStopSec")
CONTROLLERS = {"MemoryMax=512M": "memory", "TasksMax=64": "pids", "OOMPolicy=stop": "memory"}


def controllers():
    """The resource controllers that this session's manager may use."""
    path = "/sys/fs/cgroup" + systemctl("show", "--value", "-p", "ControlGroup") + "/cgroup.controllers"
    with open(path, encoding="utf-8") as stream:
        return stream.read().split()


def attempt(name, act, lines):
    """Runs the act in the unit with these further lines; returns its exit status and the unit's result."""
    unit = f"queryd@probe_{name}.service"
    drop_in(PROGRAM + act + "\n" + lines + "\n", unit)
    systemctl("start", unit, check=False)
    return show("ExecMainStatus", unit), show("Result", unit)


@pytest.mark.parametrize("unit", ["queryd.service", "queryd@some.service"])
def test_table_is_complete(unit):
    """A line that joins the unit needs its probe."""
    with open(show("FragmentPath", unit), encoding="utf-8") as stream:
        service = stream.read().split("[Service]", 1)[1]
    lines = [line for line in service.splitlines() if re.match(r"\w", line)]
    sandbox = [line for line in lines if line.split("=", 1)[0] not in NO_SANDBOX]
    assert sorted(sandbox) == sorted(list(LINES) + ALLOWING)


@pytest.fixture
def outside(session):
    """What probes look for beyond the sandbox: a file in /tmp, a socket in the network's name space."""
    mark = "/tmp/queryd-probe-mark"
    write(mark, "")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0queryd-probe")
        listener.listen()
        yield session
    os.unlink(mark)
    if os.path.exists(os.path.join(HOME, "probe")):
        os.unlink(os.path.join(HOME, "probe"))


@pytest.mark.parametrize("line", LINES)
def test_line_bites(outside, line):
    act, without, both = LINES[line]
    if line in CONTROLLERS and CONTROLLERS[line] not in controllers():
        pytest.skip(f"this machine gives a user's session no cgroup controller '{CONTROLLERS[line]}'")
    control = attempt("control", act, both + without)
    if control[0] == IMPOSSIBLE:
        pytest.skip(f"{act} is not possible on this machine, sandbox or not")
    assert control[0] == DONE, f"without {line} the act succeeds: {control}"
    status, result = attempt("bites", act, both)
    assert status == REFUSED or result == "oom-kill", f"with {line} it fails: {status}, {result}"


def test_read_write_paths(session):
    """The store can be written, and by this line only."""
    assert attempt("allowed", "write_store", "")[0] == DONE
    assert attempt("refused", "write_store", "ReadWritePaths=")[0] == REFUSED


def test_private_users_is_what_makes_others_work(session):
    """The trap that the unit's comment warns of: systemd drops lines without a word. If this fails, the comment is history."""
    version = int(run("systemctl", "--version", check=True).stdout.split()[1])
    if version > 252:
        pytest.skip("known of systemd 252")
    assert attempt("trap", "write_home", "PrivateUsers=no")[0] == DONE


def test_setup_makes_the_directory(session):
    """Before each start, and for its user alone."""
    path = os.path.join(HOME, ".local/share/queryd")
    for _ in range(2):
        assert not os.path.exists(path)
        systemctl("start", "queryd.service")
        assert os.stat(path).st_mode & 0o777 == 0o700
        systemctl("stop", "queryd.service")
        run("rm", "-r", path, check=True)


def test_directory_that_cannot_be_made(session):
    """The caller is told, at once and by a service that is up; no bus keeps it waiting for a unit that failed."""
    drop_in("[Service]\nExecStart=\nExecStart=false\n", "queryd-setup.service")
    with pytest.raises(BusError) as error:
        session.query("SELECT 1")
    assert error.value.name == "ReadOnly" and "cannot create directory" in error.value.message
    assert show("Result", "queryd-setup.service") == "exit-code", "the fault was hit"
    assert session.is_active() and show("NRestarts") == "0"
