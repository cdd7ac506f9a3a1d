# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests pass however they are started: some of them, once under each condition that a shell, a service or a user may bring."""
import os
import pwd
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

from harness import BUILD, MANAGER, ROOT, SLOWER, wait_until

# One of each kind: signals of a process group, the demo's shell, a job's pipes, texts of queryctl, files and their modes.
SELECTION = ["tests/e2e/test_demo.py::test_interrupt_leaves_nothing", "tests/e2e/test_demo.py::test_shell_runs_a_command",
             "tests/e2e/test_queryctl.py::test_interrupted", "tests/e2e/test_recovery.py::test_backup_into_a_pipe",
             "tests/e2e/test_readme.py::test_console", "tests/e2e/test_lifecycle.py::test_sigterm_leaves_with_zero"]


def ignore(*numbers):
    def prepare():
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
    return prepare


def block():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM})


def close(*fds):
    def prepare():
        for fd in fds:
            os.close(fd)
    return prepare


def become_nobody():
    os.setgroups([])
    os.setgid(NOBODY.pw_gid)
    os.setuid(NOBODY.pw_uid)


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def no_session():
    os.setsid()


NOBODY = pwd.getpwnam("nobody")
LOCALE = {"LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "de:tr"}
CONDITIONS = {
    "no-sigint": (ignore(signal.SIGINT), {}),
    "nohup": (ignore(signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT, signal.SIGPIPE, signal.SIGUSR1, signal.SIGALRM), {}),
    "blocked": (block, {}),
    "no-stdin": (close(0), {}),
    "umask-077": (lambda: os.umask(0o077), {}),
    "umask-000": (lambda: os.umask(0), {}),
    "umask-777": (lambda: os.umask(0o777), {}),
    "locale": (None, LOCALE),
    "locale-c": (None, {"LANG": "C", "LC_ALL": "C"}),
    "no-home": (None, {"HOME": None, "XDG_RUNTIME_DIR": None, "USER": None, "LOGNAME": None, "TERM": None}),
    "home-not-there": (None, {"HOME": "/nonexistent", "XDG_RUNTIME_DIR": "/nonexistent", "TMPDIR": "/nonexistent"}),
    "few-files": (few_files, {}),
    "no-terminal": (no_session, {"TERM": "dumb"}),
    "other-session": (None, {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "DBUS_STARTER_ADDRESS": "unix:path=/nonexistent",
                             "NOTIFY_SOCKET": "/nonexistent", "WATCHDOG_USEC": "1", "LISTEN_FDS": "3", "LISTEN_PID": "1",
                             "QUERYD_STORE": "other", "POSIXLY_CORRECT": "1", "PYTHONUTF8": "0", "GREP_OPTIONS": "-v",
                             "CDPATH": "/"}),
}


def start(condition=None, variables=None):
    env = dict(os.environ, QUERYD_BUILD_DIR=BUILD, QUERYD_SOURCE_ROOT=ROOT, PYTHONDONTWRITEBYTECODE="1")
    for name, value in (variables or {}).items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *SELECTION], cwd=ROOT,
                          env=env, preexec_fn=condition, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
                          restore_signals=False, timeout=100 * SLOWER)


@pytest.mark.deadline(110)
@pytest.mark.parametrize("name", CONDITIONS)
def test_started(name):
    result = start(*CONDITIONS[name])
    assert result.returncode == 0, result.stdout[-4000:]


@pytest.fixture
def short_folder():
    """Short, for the path of a socket has 108 bytes; with what a shell and a bus address would split."""
    folder = tempfile.mkdtemp(prefix="q, %20;")
    yield folder
    shutil.rmtree(folder)


@pytest.mark.deadline(110)
def test_folders_with_blanks(short_folder):
    """The build and temporary files; the sources are read by the path of this file."""
    build = os.path.join(short_folder, "build 'it'")
    os.symlink(BUILD, build)
    result = start(None, {"QUERYD_BUILD_DIR": build, "TMPDIR": short_folder})
    assert result.returncode == 0, result.stdout[-4000:]


@pytest.mark.deadline(110)
def test_beside_load():
    """Twice as many processes as processors that never wait."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
    try:
        result = start()
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert result.returncode == 0, result.stdout[-4000:]


@pytest.mark.deadline(110)
@pytest.mark.skipif(os.getuid() != 0, reason="only root may be somebody else")
def test_as_another_user(short_folder):
    """Without a home; one without a name cannot have a bus. The checkout may be out of its reach."""
    probe = subprocess.run(["test", "-x", BUILD + "/daemon/queryd"], preexec_fn=become_nobody, check=False)
    if probe.returncode != 0:
        pytest.skip("another user cannot reach the build folder")
    os.chmod(short_folder, 0o777)
    result = start(become_nobody, {"HOME": None, "TMPDIR": short_folder, "XDG_RUNTIME_DIR": None})
    assert result.returncode == 0, result.stdout[-4000:]


def test_no_streams(tmp_path):
    """tests/run starts itself so: Python without its standard streams would not get as far as harness.py."""
    code = f"import os; print([os.readlink(f'/proc/self/fd/{{fd}}') for fd in range(3)], file=open({str(tmp_path / 'out')!r}, 'w'))"
    subprocess.run([sys.executable, os.path.join(ROOT, "tests/tools/fresh_start.py"), sys.executable, "-c", code],
                   preexec_fn=close(0, 1, 2), check=True)
    assert (tmp_path / "out").read_text(encoding="utf-8") == f"{['/dev/null'] * 3}\n"


def streams_of(pid):
    return [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in range(3)]


def test_the_daemon_without_streams(make_bus):
    """The bus, an eventfd and a signalfd had their numbers, and the log went into the last of them."""
    bus = make_bus(prefix="sh -c 'exec \"$@\" <&- >&- 2>&-' sh")
    bus.update("CREATE TABLE t (a)")
    assert streams_of(bus.daemon_pid()) == ["/dev/null"] * 3
    bus.write_config({"jobs": "none"})
    bus.call("Reload", interface=MANAGER)  # logs a warning
    assert bus.query("SELECT count(*) FROM t") == [(0,)]


@pytest.mark.parametrize("program, option", [("http/queryd-http", "--unix"), ("service/queryd-service", "--socket")])
def test_servers_without_streams(bus, program, option):
    program = os.path.join(BUILD, "client-lib", program)
    if not os.access(program, os.X_OK):
        pytest.skip(f"{program} was not built")
    path = os.path.join(bus.folder, "run/some")
    with subprocess.Popen([program, option, path], env=bus.env, preexec_fn=close(0, 1, 2)) as process:
        try:
            wait_until(lambda: os.path.exists(path), "the server's socket")
            assert streams_of(process.pid) == ["/dev/null"] * 3
        finally:
            process.terminate()
