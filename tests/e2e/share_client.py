# SPDX-License-Identifier: LGPL-2.1-or-later
"""A process of its own that takes what it can; for test_shares.py.

share_client.py ADDRESS export TEXT: exports to a pipe that it reads when a line comes; prints how many bytes came, or the error.
share_client.py ADDRESS channels: opens channels until there is an error, prints that, and waits.
"""
import os
import sys
import threading

from harness import BusError, Caller


def say(text):
    print(text.replace("\n", " "), flush=True)


def export(caller, text):
    reader, writer = os.pipe()
    go_on = threading.Event()

    def wait_for_line():
        if sys.stdin.readline():
            go_on.set()

    threading.Thread(target=wait_for_line, daemon=True).start()
    sizes = []

    def read():
        go_on.wait()
        n = 0
        while data := os.read(reader, 65536):
            n += len(data)
        sizes.append(n)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        say("started")
        caller.export(text, "csv", writer)
        os.close(writer)
        thread.join()
        say(str(sizes[0]))
    except BusError as error:
        say(error.message)


def take_channels(caller):
    channels = []
    try:
        while True:
            channels.append(caller.prepare("SELECT 1"))
    except BusError as error:
        say(error.message)
    sys.stdin.readline()


if __name__ == "__main__":
    if sys.argv[2] == "export":
        export(Caller(sys.argv[1]), sys.argv[3])
    else:
        take_channels(Caller(sys.argv[1]))
