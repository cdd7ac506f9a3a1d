# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs in other languages use the library's GIR and vapi against the real daemon. What is not there is skipped, aloud."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from harness import BUILD, ROOT, SANITIZER
from python_package import python_environment

CLIENT = os.path.join(BUILD, "client-lib")
EXAMPLES = os.path.join(ROOT, "tests/bindings")

pytestmark = pytest.mark.skipif(SANITIZER in ("asan", "tsan"),
                                reason="a plain program cannot load the library built with a sanitizer")


def check(result):
    assert (result.returncode, result.stdout, result.stderr) == (0, "all as expected\n", "")


def test_python(bus):
    if not os.path.exists(os.path.join(CLIENT, "QueryClient-1.typelib")):
        pytest.skip("the library was built without introspection")
    check(bus.run(sys.executable, os.path.join(EXAMPLES, "example.py")))


def test_every_method(bus):
    """No construction and no order of calls ends the process."""
    if not os.path.exists(os.path.join(CLIENT, "QueryClient-1.typelib")):
        pytest.skip("the library was built without introspection")
    check(bus.run(sys.executable, os.path.join(EXAMPLES, "every_method.py")))


def test_every_method_in_javascript(bus):
    if shutil.which("gjs") is None:
        pytest.skip("there is no gjs")
    if not os.path.exists(os.path.join(CLIENT, "QueryClient-1.typelib")):
        pytest.skip("the library was built without introspection")
    result = bus.run("gjs", os.path.join(EXAMPLES, "every_method.js"), timeout=120)
    lines = result.stdout.splitlines()
    assert (result.returncode, lines[-1]) == (0, "all as expected"), lines[-2:]


@pytest.mark.parametrize("program", ["dbapi.py", "dbapi_callbacks.py", "dbapi_asyncio.py", "dbapi_threads.py", "dbapi_ported.py",
                                     "dbapi_settings.py"])
def test_python_package(bus, program):
    check(bus.run(sys.executable, "-X", "dev", os.path.join(EXAMPLES, program), env=python_environment(bus.env)))


def test_python_page(bus, tmp_path):
    """The examples of docs/python.md, one after the other, as they stand."""
    page = pathlib.Path(ROOT, "docs/python.md").read_text(encoding="utf-8")
    program = tmp_path / "page.py"
    program.write_text("\n".join(re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)), encoding="utf-8")
    result = bus.run(sys.executable, str(program), env=dict(python_environment(bus.env), PYTHONIOENCODING="utf-8"))
    expected = ["1 first", "2 second", "Les Misérables fr", "2", "UNIQUE note ('text',)", "1 FIRST", "2 SECOND",
                "by GIR 3"]
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines() == expected


def test_python_overrides(bus):
    """The library by its GIR, with and without what the overrides change."""
    if not os.path.exists(os.path.join(CLIENT, "QueryClient-1.typelib")):
        pytest.skip("the library was built without introspection")
    env = python_environment(bus.env)
    check(bus.run(sys.executable, os.path.join(EXAMPLES, "overrides.py"), env=env))
    check(bus.run(sys.executable, os.path.join(EXAMPLES, "example.py"), env=env))


RELATIVE = """
import gi
gi.require_version("QueryClient", "1")
from gi.repository import QueryClient
print(QueryClient.store_get_folder(None), QueryClient.store_get_folder("other"))
(row,) = QueryClient.Connection.new_direct(None, None).query(QueryClient.Language.SQL, "SELECT a FROM t")
print(row[0])
"""


def test_relative_folders_are_ignored(bus, tmp_path):
    """By an application, whose environment the library leaves as it is. The daemon ignores them, too."""
    bus.update("CREATE TABLE t AS SELECT 7 AS a")
    env = dict(python_environment(bus.env), XDG_DATA_HOME="relative/data")
    result = subprocess.run([sys.executable, "-c", RELATIVE], env=env, cwd=tmp_path, capture_output=True, text=True, check=False,
                            timeout=60)
    assert result.stdout.split() == [bus.store, os.path.join(bus.store, "stores/other"), "7"], result.stderr


def test_python_pandas(bus):
    pytest.importorskip("pandas")
    check(bus.run(sys.executable, os.path.join(EXAMPLES, "dbapi_pandas.py"), env=python_environment(bus.env)))


def test_python_sqlalchemy(bus):
    pytest.importorskip("sqlalchemy")
    check(bus.run(sys.executable, os.path.join(EXAMPLES, "dbapi_sqlalchemy.py"), env=python_environment(bus.env)))


def test_vala(bus, tmp_path):
    if shutil.which("valac") is None:
        pytest.skip("there is no valac")
    if not os.path.exists(os.path.join(CLIENT, "query-client-1.vapi")):
        pytest.skip("the library was built without its vapi")
    program = str(tmp_path / "example")
    env = dict(bus.env, PKG_CONFIG_PATH=os.path.join(BUILD, "meson-uninstalled"))
    built = bus.run("valac", "--vapidir", CLIENT, "--pkg", "query-client-1", "--pkg", "gio-2.0", "-X", "-w", "-o", program,
                    os.path.join(EXAMPLES, "example.vala"), env=env)
    assert built.returncode == 0, built.stderr
    check(bus.run(program))
