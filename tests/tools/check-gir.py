#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every symbol of the library is described in its GIR: check-gir.py FILE.gir, TAP on standard output.

Classes, enumerations and their members, callables with parameters and results, properties, signals, constants.
And what waits has an async form.
"""
import sys
import xml.etree.ElementTree as ElementTree

CORE = "{http://www.gtk.org/introspection/core/1.0}"
GLIB = "{http://www.gtk.org/introspection/glib/1.0}"
KINDS = {CORE + name for name in ("class", "record", "enumeration", "member", "function", "method", "constructor", "callback",
                                  "property", "constant", "interface")} | {GLIB + "signal"}
CALLABLES = {CORE + name for name in ("function", "method", "constructor", "callback")} | {GLIB + "signal"}


def has_doc(node):
    doc = node.find(CORE + "doc")
    return doc is not None and bool((doc.text or "").strip())


def lacking_in_callable(node):
    """Parameters and the result, which a caller has to know; user data and errors explain themselves."""
    for parameter in node.findall(f"{CORE}parameters/{CORE}parameter"):
        if not has_doc(parameter):
            yield f"parameter {parameter.get('name')}"
    result = node.find(CORE + "return-value")
    kind = result.find(CORE + "type") if result is not None else None
    if result is not None and not has_doc(result) and (kind is None or kind.get("name") != "none"):
        yield "result"


def walk(node, path):
    """(path, what is lacking) of @node and all below."""
    for child in node:
        if child.tag not in KINDS or child.get("disguised") == "1" or child.get("name", "").endswith("_autoptr"):
            continue
        if child.get(GLIB + "is-gtype-struct-for"):
            continue
        name = child.get(GLIB + "type-name") or child.get("name")
        here = f"{path}.{name}" if path else name
        lacking = list(lacking_in_callable(child)) if child.tag in CALLABLES else []
        if not has_doc(child) and not (child.tag in CALLABLES and child.find(CORE + "return-value") is not None and not lacking and
                                       has_doc(child.find(CORE + "return-value"))):
            lacking.insert(0, "description")
        yield here, lacking
        yield from walk(child, here)


ASYNC_FORMS = {"restore_full": "restore_async"}


def waiting(namespace):
    """What takes a cancellable, and has no async form."""
    for owner in [namespace] + namespace.findall(CORE + "class"):
        callables = {node.get("name"): node for node in owner if node.tag in CALLABLES}
        for name, node in callables.items():
            names = {parameter.get("name") for parameter in node.findall(f"{CORE}parameters/{CORE}parameter")}
            is_pair = name.endswith(("_async", "_finish")) or ASYNC_FORMS.get(name, name + "_async") in callables
            if "cancellable" in names and not is_pair:
                yield f"{owner.get('name')}.{name}"


def main():
    namespace = ElementTree.parse(sys.argv[1]).getroot().find(CORE + "namespace")
    n_bad = n = 0
    for name, lacking in walk(namespace, ""):
        n += 1
        n_bad += bool(lacking)
        for what in lacking:
            print(f"# gir/{name}: no {what}")
    alone = list(waiting(namespace))
    for name in alone:
        print(f"# gir/{name}: no async form")
    print("TAP version 13\n1..3")
    print("ok 1 - gir/complete" if n_bad == 0 else f"not ok 1 - gir/complete: {n_bad} of {n}")
    print(f"{'ok' if n > 250 else 'not ok'} 2 - gir/found {n} symbols")
    print("not ok 3 - gir/async-forms" if alone else "ok 3 - gir/async-forms")
    return n_bad > 0 or n <= 250 or bool(alone)


sys.exit(main())
