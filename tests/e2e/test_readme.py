# SPDX-License-Identifier: LGPL-2.1-or-later
"""The README does as it says: its own text is run against a daemon that the bus activates.

tests/tools/examples.py says what is an example. The tests of the packages run the same ones where queryd is installed.
"""
import os
import re
import shutil
import sys

import pytest

from harness import BUILD, ROOT, SANITIZER
from examples import blocks, commands, promised_output
from python_package import python_environment

with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as stream:
    README = stream.read()

instrumented = pytest.mark.skipif(SANITIZER in ("asan", "tsan"),
                                  reason="a plain program cannot load the library built with a sanitizer")


def run_console(bus):
    for block in blocks(README, "console"):
        for command, expected in commands(block):
            result = bus.run("bash", "-c", command)
            assert (result.returncode, result.stdout) == (0, expected), (command, result.stderr)


def test_console(bus):
    assert len(commands("".join(blocks(README, "console")))) >= 6
    run_console(bus)


def copy_pkg_config(target):
    """The build's own, by links to the folders: what pkg-config says stands in a command, where blanks of a path would split it."""
    links = {BUILD: target / "build", ROOT: target / "source"}
    for path, link in links.items():
        link.symlink_to(path)
    for name in os.listdir(os.path.join(BUILD, "meson-uninstalled")):
        with open(os.path.join(BUILD, "meson-uninstalled", name), encoding="utf-8") as stream:
            text = stream.read()
        for path, link in links.items():
            text = text.replace(path.replace(" ", "\\ "), str(link)).replace(path, str(link))
        (target / name).write_text(text, encoding="utf-8")


@instrumented
def test_c(bus, tmp_path):
    if shutil.which("pkg-config") is None or shutil.which("cc") is None:
        pytest.skip("no compiler or no pkg-config here")
    (source,) = blocks(README, "c")
    assert len(source.splitlines()) <= 24
    (tmp_path / "notes.c").write_text(source, encoding="utf-8")
    (command,) = [block for block in blocks(README, "sh") if "pkg-config" in block]
    run_console(bus)
    copy_pkg_config(tmp_path)
    env = dict(bus.env, PKG_CONFIG_PATH=str(tmp_path))
    built = bus.run("bash", "-c", command, env=env, cwd=tmp_path)
    assert (built.returncode, built.stderr) == (0, "")
    result = bus.run(str(tmp_path / "notes"))
    assert (result.returncode, result.stdout, result.stderr) == (0, promised_output(README, "c"), "")


@instrumented
def test_python(bus):
    env = python_environment(bus.env)
    (source,) = blocks(README, "python")
    run_console(bus)
    result = bus.run(sys.executable, "-c", source, env=env)
    assert (result.returncode, result.stdout, result.stderr) == (0, promised_output(README, "python"), "")


def test_folders_exist():
    table = README.split("## The folders", 1)[1]
    for name in re.findall(r"^\| `([\w-]+)/`", table, re.M):
        assert os.path.isdir(os.path.join(ROOT, name)), name
    for name in re.findall(r"`([\w.-]+\.md)`", table):
        assert any(os.path.exists(os.path.join(ROOT, folder, name)) for folder in ("", "docs")), name
