# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs in other languages use the library's GIR and vapi against the real daemon. What is not there is skipped, aloud."""
import os
import shutil
import sys

import pytest

from harness import BUILD, ROOT, SANITIZER

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
