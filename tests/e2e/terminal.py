# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program on a terminal of its own: what it writes is read as it comes, what a user types is sent."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from harness import SLOWER, wait_until

ESCAPES = re.compile(rb"\033\[[0-9;?]*[A-Za-z]|\033[=>]|\r")


class Terminal:
    """stdin, stdout and (unless given) stderr of @command are a terminal of 24 lines and @columns columns."""

    def __init__(self, command, env, columns=200, stdin=None, stdout=None, stderr=None):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

        def become_leader():
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            command, env=dict(env, TERM="xterm"), start_new_session=True, preexec_fn=become_leader,
            stdin=slave if stdin is None else stdin, stdout=slave if stdout is None else stdout,
            stderr=slave if stderr is None else stderr)
        os.close(slave)
        self.seen = b""
        self.position = 0

    def read_some(self, seconds):
        """Takes in what came; False at the end, or when nothing came for so long."""
        if not select.select([self.master], [], [], max(0, seconds))[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.seen += data
        return data != b""

    def expect(self, text, seconds=20):
        """Reads until @text has come behind what was expected before; returns what stood before it, without escapes."""
        text = text.encode()
        deadline = time.monotonic() + seconds * SLOWER
        while True:
            plain = ESCAPES.sub(b"", self.seen)
            found = plain.find(text, self.position)
            if found >= 0:
                before = plain[self.position:found]
                self.position = found + len(text)
                return before.decode()
            assert self.read_some(deadline - time.monotonic()), f"no {text} in {plain[self.position:]!r}"

    def expect_prompt(self, text="sql> "):
        """The prompt is on the screen a moment before the keys go to the editor: until then the kernel edits lines."""
        self.expect(text)
        wait_until(lambda: not termios.tcgetattr(self.master)[3] & termios.ICANON, "the editor to take the keys")

    def type(self, text):
        os.write(self.master, text.encode())

    def finish(self, seconds=20):
        """Reads to the end; returns the exit status. All bytes are then in .seen."""
        deadline = time.monotonic() + seconds * SLOWER
        while self.read_some(deadline - time.monotonic()):
            pass
        try:
            return self.process.wait(max(1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it has not ended: {self.seen!r}") from None

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
