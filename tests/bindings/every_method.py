#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every type of the library is constructed by g_object_new(), and every method is called.

That is done with nothing done before, after close(), and after the end of a transaction, each in a process of its own. A crash is a
failure. Exit status 0: all as expected.
"""
import os
import signal
import sys

import gi

gi.require_version("GIRepository", "2.0")
gi.require_version("QueryClient", "1")
from gi.repository import Gio, GIRepository, GLib, GObject, QueryClient  # noqa: E402

SQL = QueryClient.Language.SQL
REPOSITORY = GIRepository.Repository.get_default()
KINDS = ["Batch", "Connection", "Cursor", "ListModel", "Namespaces", "Notifier", "Resource", "Row", "Statement",
         "Subscription", "Transaction"]
N_SECONDS_MAX = 60
# Not without a meaning for the test's own process: a callback in C, an array with a length.
LEFT_OUT = {"new_finish", "new_for_store_finish", "new_direct_finish", "new_from_store_finish", "read_finish"}


def connected():
    return QueryClient.Connection.new(None)


def closed_cursor():
    cursor = connected().query(SQL, "SELECT 1", None, None)
    cursor.close()
    return cursor


def ended_cursor():
    cursor = connected().query(SQL, "SELECT 1", None, None)
    while cursor.next(None):
        pass
    return cursor


def ended_transaction():
    transaction = connected().begin(None)
    transaction.commit(None)
    return transaction


STATES = {"Connection": [connected],
          "Cursor": [closed_cursor, ended_cursor, lambda: connected().query(SQL, "SELECT 1", None, None)],
          "Transaction": [ended_transaction, lambda: connected().begin(None)],
          "Statement": [lambda: connected().prepare(SQL, "SELECT ?", None)], "Batch": [lambda: connected().create_batch()]}


def methods(kind):
    info = REPOSITORY.find_by_name("QueryClient", kind)
    found = (GIRepository.object_info_get_method(info, i) for i in range(GIRepository.object_info_get_n_methods(info)))
    return [method for method in found
            if GIRepository.function_info_get_flags(method) & GIRepository.FunctionInfoFlags.IS_METHOD and
            method.get_name() not in LEFT_OUT]


def simple_value(argument, fd):
    """Something of the argument's type; None if it may be NULL."""
    if GIRepository.arg_info_may_be_null(argument):
        return None
    name = argument.get_name()
    kind = GIRepository.type_info_get_tag(GIRepository.arg_info_get_type(argument))
    tags = GIRepository.TypeTag
    if name == "fd":
        return fd
    if name in ("result",):
        return Gio.Task.new(None, None, None)
    if kind in (tags.UTF8, tags.FILENAME):
        return "1"
    if kind == tags.BOOLEAN:
        return False
    if kind in (tags.DOUBLE, tags.FLOAT):
        return 1.5
    if kind == tags.INTERFACE:
        interface = GIRepository.type_info_get_interface(GIRepository.arg_info_get_type(argument)).get_name()
        made = {"Language": SQL, "Bytes": GLib.Bytes.new(b"a"), "Variant": GLib.Variant("a{sv}", {}), "Value": "value",
                "Transport": QueryClient.Transport.AUTO, "Durability": QueryClient.Durability.FULL,
                "DateTime": GLib.DateTime.new_now_utc(), "InputStream": Gio.MemoryInputStream.new_from_bytes(GLib.Bytes.new(b"a")),
                "Statement": QueryClient.Statement()}
        return made.get(interface)
    if kind == tags.ARRAY:
        return []
    return 0


def call(target, method):
    with open("/dev/null", "r+b", buffering=0) as file:
        values = []
        for i in range(GIRepository.callable_info_get_n_args(method)):
            argument = GIRepository.callable_info_get_arg(method, i)
            if GIRepository.arg_info_get_direction(argument) == GIRepository.Direction.OUT:
                continue
            values.append(simple_value(argument, file.fileno()))
        while True:
            try:
                getattr(target, method.get_name())(*values)
                return
            except TypeError as error:  # lengths and user data have no place in Python
                if "argument" not in str(error) or not values:
                    return
                values.pop()
            except (GLib.Error, AttributeError, ValueError, NotImplementedError):
                return


def settle():
    """Async calls end."""
    context = GLib.MainContext.default()
    for _ in range(200):
        context.iteration(False)


def in_process(action):
    """The signal that has ended it, or its exit status; 0 if all is well."""
    child = os.fork()
    if child == 0:
        signal.alarm(N_SECONDS_MAX)
        os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
        try:
            action()
        except BaseException as error:  # noqa: B902 (whatever it is, the parent has to know)
            os.write(1, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def check(kind, make, label, failures):
    def all_methods():
        target = make()
        for method in methods(kind):
            call(target, method)
            settle()

    if in_process(all_methods) == 0:
        return
    for method in methods(kind):  # which one is it?
        def one():
            call(make(), method)
            settle()

        status = in_process(one)
        if status != 0:
            failures.append(f"{kind} {label}: {method.get_name()}: status {status}")


def main():
    failures = []
    n_methods = 0
    for kind in KINDS:
        gtype = getattr(QueryClient, kind).__gtype__
        n_methods += len(methods(kind))
        check(kind, lambda: GObject.new(gtype), "by g_object_new()", failures)
        for i, make in enumerate(STATES.get(kind, [])):
            check(kind, make, f"state {i}", failures)
    if failures or n_methods < 150:
        sys.exit("\n".join(failures) or f"only {n_methods} methods")
    print("all as expected")


main()
