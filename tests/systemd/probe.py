#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""probe.py ACT: does what the sandbox is there to forbid. Runs in queryd's unit in place of the daemon (test_sandbox.py).

Exit status: 10 the act succeeded, 11 it was refused, 12 it is not possible on this machine at all; anything else is a bug.
"""
import ctypes
import mmap
import os
import platform
import resource
import signal
import socket
import subprocess
import sys
import threading

DONE, REFUSED, IMPOSSIBLE = 10, 11, 12
HOME = os.environ["HOME"]
STORE = os.path.join(HOME, ".local/share/queryd")
libc = ctypes.CDLL(None, use_errno=True)


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return True


def write_file(path):
    """A new file: a mode may be left from the control."""
    if os.path.exists(path):
        os.unlink(path)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("probe")
    return True


def see_other_users():
    return os.stat("/").st_uid == 0


def write_home():
    return write_file(os.path.join(HOME, "probe"))


def write_store():
    return write_file(os.path.join(STORE, "probe"))


def see_tmp():
    return os.path.exists("/tmp/queryd-probe-mark")


def reach_network():
    """An abstract socket belongs to the network, and needs no family but AF_UNIX."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect("\0queryd-probe")
    return True


def gain_privileges():
    return subprocess.run(["/run/userbus/setuid-id", "-u"], capture_output=True, text=True, check=True).stdout.strip() == "0"


def make_inet_socket():
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()
    return True


def trace():
    return check(libc.ptrace(0, 0, None, None))  # PTRACE_TRACEME


def call_as_other_architecture():
    """getpid() by the way of 32-bit programs: mov eax, 20; int 0x80; ret"""
    if platform.machine() != "x86_64":
        sys.exit(IMPOSSIBLE)
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("b814000000cd80c3"))
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    result = function()
    if result == -38:  # ENOSYS: a kernel without them
        sys.exit(IMPOSSIBLE)
    return result == os.getpid()


def change_personality():
    return check(libc.personality(8))  # PER_LINUX32


def make_namespace():
    return check(libc.unshare(0x10000000))  # CLONE_NEWUSER


def make_setuid():
    path = os.path.join(STORE, "probe-setuid")
    write_file(path)
    os.chmod(path, 0o4700)
    return True


def make_readable_file():
    path = os.path.join(STORE, "probe-readable")
    write_file(path)
    return os.stat(path).st_mode & 0o077 != 0


def open_many_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (16500, 16500))
    files = [os.open("/dev/null", os.O_RDONLY) for _ in range(16400)]
    return len(files) == 16400


def use_memory():
    block = bytearray(600 << 20)
    for i in range(0, len(block), 4096):
        block[i] = 1
    return True


def start_many_threads():
    end = threading.Event()
    threads = [threading.Thread(target=end.wait) for _ in range(100)]
    try:
        for thread in threads:
            thread.start()
    except RuntimeError as error:
        raise OSError(str(error)) from error
    finally:
        end.set()
    return True


def use_memory_in_child():
    """The child is killed; does the unit go on?"""
    child = os.fork()
    if child == 0:
        use_memory()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        sys.exit(IMPOSSIBLE)
    signal.sigtimedwait({signal.SIGUSR1}, 3)  # time for systemd to notice
    return True


def act(function):
    try:
        return DONE if function() else REFUSED
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        print(f"{type(error).__name__}: {error}")
        return REFUSED


def main():
    """In a child, since a refusal may be its death by SIGSYS."""
    function = globals()[sys.argv[1]]
    if function in (use_memory_in_child, use_memory):
        sys.exit(act(function))
    child = os.fork()
    if child == 0:
        try:
            os._exit(act(function))
        except SystemExit as end:
            os._exit(end.code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        sys.exit(REFUSED if os.WTERMSIG(status) == signal.SIGSYS else 1)
    sys.exit(os.WEXITSTATUS(status))


main()
