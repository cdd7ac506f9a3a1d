# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/guide: its examples run as they are printed, page by page, and the programs in docs/examples print what the guide says."""
import glob
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from harness import BUILD, ROOT, SANITIZER, wait_until
from examples import steps
from python_package import python_environment
from test_readme import copy_pkg_config

GUIDE = os.path.join(ROOT, "docs/guide")
EXAMPLES = os.path.join(ROOT, "docs/examples")
PAGES = sorted(os.path.basename(path) for path in glob.glob(os.path.join(GUIDE, "*.md")))
FIRST = "Kind of Blue (1959)\nRevolver (1966)\n"

instrumented = pytest.mark.skipif(SANITIZER in ("asan", "tsan"),
                                  reason="a plain program cannot load the library built with a sanitizer")


def page_steps(name):
    return steps(pathlib.Path(GUIDE, name).read_text(encoding="utf-8"))


@instrumented
@pytest.mark.parametrize("page", [page for page in PAGES if page_steps(page)])
def test_page(bus, tmp_path, page):
    for language, code, expected in page_steps(page):
        if language == "python":
            result = bus.run(sys.executable, "-c", code, env=python_environment(bus.env), cwd=tmp_path)
        else:
            assert language == "sh", f"a block in {language} is not run"
            result = bus.run("bash", "-c", code, cwd=tmp_path)
        assert (result.returncode, result.stdout) == (0, expected), (code, result.stderr)


def test_first_program_is_promised():
    assert f"```text\n{FIRST}```" in pathlib.Path(GUIDE, "first-program.md").read_text(encoding="utf-8")


def need(program):
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program}")


def need_introspection():
    if not os.path.exists(os.path.join(BUILD, "client-lib/QueryClient-1.typelib")):
        pytest.skip("the library was built without introspection")


def first(bus, *command, **kwargs):
    result = bus.run(*command, **kwargs)
    assert (result.returncode, result.stdout, result.stderr) == (0, FIRST, "")


@instrumented
def test_first_c(bus, tmp_path):
    need("pkg-config")
    copy_pkg_config(tmp_path)
    command = f"cc -Wall -Werror {EXAMPLES}/first.c -o first $(pkg-config --cflags --libs query-client-1) && ./first"
    first(bus, "bash", "-c", command, env=dict(bus.env, PKG_CONFIG_PATH=str(tmp_path)), cwd=tmp_path)


@instrumented
def test_first_python(bus):
    first(bus, sys.executable, os.path.join(EXAMPLES, "first.py"), env=python_environment(bus.env))


@instrumented
def test_first_javascript(bus):
    need("gjs")
    need_introspection()
    first(bus, "gjs", "-m", os.path.join(EXAMPLES, "first.js"))


@instrumented
def test_first_vala(bus, tmp_path):
    need("valac")
    if not os.path.exists(os.path.join(BUILD, "client-lib/query-client-1.vapi")):
        pytest.skip("the library was built without its vapi")
    program = str(tmp_path / "first")
    env = dict(bus.env, PKG_CONFIG_PATH=os.path.join(BUILD, "meson-uninstalled"))
    built = bus.run("valac", "--vapidir", os.path.join(BUILD, "client-lib"), "--pkg", "query-client-1", "--pkg", "gio-2.0",
                    "-X", "-w", "-o", program, os.path.join(EXAMPLES, "first.vala"), env=env)
    assert built.returncode == 0, built.stderr
    first(bus, program)


# --- D-Bus alone, without the library ---------------------------------------------------------------------------------------

def test_other_languages_are_promised():
    assert f"```text\n{FIRST}```" in pathlib.Path(GUIDE, "other-languages.md").read_text(encoding="utf-8")


def test_dbus_javascript(bus):
    need("gjs")
    first(bus, "gjs", "-m", os.path.join(EXAMPLES, "dbus.js"))


def test_dbus_vala(bus, tmp_path):
    need("valac")
    program = str(tmp_path / "dbus")
    built = bus.run("valac", "--pkg", "gio-unix-2.0", "-X", "-w", "-o", program, os.path.join(EXAMPLES, "dbus.vala"))
    assert built.returncode == 0, built.stderr
    first(bus, program)


def test_dbus_go(bus, tmp_path):
    need("go")
    if not os.path.isdir("/usr/share/gocode/src/github.com/godbus/dbus"):
        pytest.skip("golang-github-godbus-dbus-dev is not installed")
    program = str(tmp_path / "dbus")
    env = dict(bus.env, GO111MODULE="off", GOPATH="/usr/share/gocode", GOFLAGS="", GOCACHE=os.path.join(BUILD, "go-cache"))
    built = bus.run("go", "build", "-o", program, os.path.join(EXAMPLES, "dbus.go"), env=env, timeout=300)
    assert built.returncode == 0, built.stderr
    first(bus, program)


@instrumented
def test_live_javascript(bus, tmp_path):
    """The list follows what another program commits, and ends with the last row."""
    need("gjs")
    need_introspection()
    bus.run(bus.queryctl, "update", "CREATE TABLE album(title TEXT, year INTEGER)")
    bus.run(bus.queryctl, "update", "INSERT INTO album VALUES ('Dummy', 1994)")
    shown = tmp_path / "shown"
    with open(shown, "w", encoding="utf-8") as stream, \
            subprocess.Popen(["gjs", "-m", os.path.join(EXAMPLES, "live.js")], env=bus.env, stdout=stream) as program:
        try:
            wait_until(lambda: "1 albums, the last of 1994\n" in shown.read_text(encoding="utf-8"), "the first list")
            bus.run(bus.queryctl, "update", "INSERT INTO album VALUES ('Third', 2008)")
            wait_until(lambda: "2 albums, the last of 2008\n" in shown.read_text(encoding="utf-8"), "the new album")
            bus.run(bus.queryctl, "update", "DELETE FROM album")
            assert program.wait(20) == 0
        finally:
            program.kill()


def test_every_page_is_in_the_index():
    index = pathlib.Path(GUIDE, "README.md").read_text(encoding="utf-8")
    assert [page for page in PAGES if page != "README.md" and f"]({page})" not in index] == []
