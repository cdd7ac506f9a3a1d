# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the library does without waiting: stores are made and removed, payloads go through descriptors and streams."""
import os
import sys

import pytest

from harness import BUILD, SANITIZER
from python_package import python_environment

pytestmark = [
    pytest.mark.skipif(SANITIZER in ("asan", "tsan"), reason="a plain program cannot load the library built with a sanitizer"),
    pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "client-lib/QueryClient-1.typelib")),
                       reason="the library was built without introspection"),
]

STORES = """
import os, gi
gi.require_version("QueryClient", "1")
from gi.repository import GLib, QueryClient as Query

def refused(function, *arguments):
    try:
        function(*arguments)
    except GLib.Error as error:
        return error
    raise AssertionError(arguments)

for name in ("", "default", "1st", "a-b", "x" * 65, "../up"):
    assert not Query.store_is_name(name)
    for function, arguments in ((Query.store_create, ()), (Query.store_remove, (False,))):
        assert refused(function, name, *arguments, None).matches(Query.error_quark(), Query.Error.BAD_PARAMETER), name

assert Query.store_list() == []
assert Query.store_create("music", None) == (True, False)  # this bus has services of its own
assert refused(Query.store_create, "music", None).matches(GLib.file_error_quark(), GLib.FileError.EXIST)
assert Query.store_list() == ["music"]

loop, done = GLib.MainLoop(), []
def finish(function):
    def on_done(_source, result):
        done.append(function(result))
        loop.quit()
    return on_done
Query.store_create_async("films", None, finish(Query.store_create_finish))
loop.run()
assert Query.store_list() == ["films", "music"]

folder = Query.store_get_folder("music")
assert folder == os.path.join(GLib.get_user_data_dir(), "queryd/stores/music")
os.makedirs(os.path.join(folder, "payloads"))
open(os.path.join(folder, "queryd.db"), "w").close()
assert Query.store_remove("music", False, None) and os.path.exists(folder) and Query.store_list() == ["films"]
assert Query.store_remove("music", True, None) and not os.path.exists(folder)
assert refused(Query.store_remove, "music", True, None).matches(GLib.file_error_quark(), GLib.FileError.NOENT)
Query.store_remove_async("films", True, None, finish(Query.store_remove_finish))
loop.run()
assert done == [True, True] and Query.store_list() == []
assert Query.store_get_folder(None) == os.path.join(GLib.get_user_data_dir(), "queryd")
"""


def test_stores(bus):
    done = bus.run(sys.executable, "-c", STORES, env=python_environment(bus.env))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


PAYLOADS = """
import os, time, gi
gi.require_version("QueryClient", "1")
from gi.repository import Gio, GLib, QueryClient as Query

connection, loop = Query.Connection.new(None), GLib.MainLoop()

def run(name, *arguments):
    found = []
    def on_done(source, result):
        try:
            found.append(getattr(source, name + "_finish")(result))
        except GLib.Error as error:
            found.append(error)
        loop.quit()
    getattr(connection, name + "_async")(*arguments, None, on_done)
    loop.run()
    return found[0]

def is_payload(fd):
    try:
        return "/queryd/payload/" in os.readlink(f"/proc/self/fd/{fd}")
    except FileNotFoundError:  # closed meanwhile, as that of the listing itself
        return False

def wait_until_none_is_open():  # the thread of a call lets go of its descriptor last
    end = time.monotonic() + 30
    while any(map(is_payload, os.listdir("/proc/self/fd"))):
        assert time.monotonic() < end, "a descriptor of a payload stays open"
        time.sleep(0.001)

def stream(content):
    return Gio.MemoryInputStream.new_from_bytes(GLib.Bytes.new(content))

large = b"x" * 300_000
first = run("store_payload_from_stream", stream(large), None)
with open("content", "w+b") as file:
    file.write(b"from a file")
    file.flush()
    second = run("store_payload_from_fd", file.fileno(), None)
    assert run("replace_payload_from_fd", first, file.fileno(), None) is True
    os.fstat(file.fileno())  # it was borrowed
assert [content.get_data() for content in run("load_payloads", [second, first])] == [b"from a file"] * 2
assert run("replace_payload_from_stream", second, stream(large), None) is True
with os.fdopen(run("open_payload", second), "rb") as file:
    assert file.read() == large
assert run("read_payload", second).read_bytes(400_000, None).get_data() == large
wait_until_none_is_open()
connection.open_payload_async(second, None, lambda *_: loop.quit())  # never finished
loop.run()
wait_until_none_is_open()
for name, arguments in (("open_payload", ()), ("read_payload", ()), ("replace_payload_from_stream", (stream(b""), None))):
    assert run(name, 1_000_000, *arguments).matches(Query.error_quark(), Query.Error.BAD_PARAMETER), name
assert run("store_payload_from_fd", 999, None).matches(Query.error_quark(), Query.Error.BAD_PARAMETER)
"""


def test_payloads(bus, tmp_path):
    done = bus.run(sys.executable, "-c", PAYLOADS, env=python_environment(bus.env), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
