#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""fresh_start.py COMMAND...: runs COMMAND as from a fresh session, whatever this process was given.

A shell's background job ignores SIGINT, nohup ignores SIGHUP, a service has no HOME: what is inherited would decide whether a test
passes. tests/run starts itself by this, and what imports harness.py calls reset(): the one place that says what tests start with.
"""
import os
import pwd
import resource
import signal
import sys

# Tests that are about files count on some: a soft limit below this is raised, as far as the hard one allows.
OPEN_FILES = 1024
# Those that Python ignores by itself; subprocess restores them.
OF_PYTHON = {signal.SIGPIPE, signal.SIGXFSZ}


def reset_signals():
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP} - OF_PYTHON:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def reset_descriptors():
    """Else what is opened first takes the number of a standard stream that is closed, and is written to as one."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null == fd:
                os.set_inheritable(fd, True)
            else:
                os.dup2(null, fd)
                os.close(null)


def reset_limits():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def reset_environment():
    for name in [name for name in os.environ if name.startswith("LC_") or name == "LANGUAGE"]:
        del os.environ[name]
    os.environ["LANG"] = "C.UTF-8"
    if not os.path.isdir(os.environ.get("HOME", "")):
        try:
            home = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:  # a user of a container that has no name
            home = "/"
        os.environ["HOME"] = home if os.path.isdir(home) else "/"
    if not os.path.isdir(os.environ.get("XDG_RUNTIME_DIR", "/")):
        del os.environ["XDG_RUNTIME_DIR"]
    if not os.access(os.environ.get("TMPDIR", "/"), os.W_OK | os.X_OK):
        os.environ.pop("TMPDIR", None)


def reset():
    reset_descriptors()
    reset_signals()
    reset_limits()
    reset_environment()
    os.umask(0o022)


if __name__ == "__main__":
    reset()
    for of_python in OF_PYTHON:
        signal.signal(of_python, signal.SIG_DFL)
    os.execvp(sys.argv[1], sys.argv[1:])
