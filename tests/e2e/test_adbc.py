# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs of Python use the driver for ADBC: the driver manager's dbapi, pandas, polars, DuckDB.

They need wheels that Debian has not: "tests/run adbc" makes build/arrow-venv with them and runs these tests. QUERYD_ARROW_PYTHON is
another interpreter that has them.
"""
import os
import pathlib
import re

import pytest

from harness import BUILD, ROOT, SANITIZER

PYTHON = os.environ.get("QUERYD_ARROW_PYTHON") or os.path.join(ROOT, "build/arrow-venv/bin/python")
DRIVER = os.path.join(BUILD, "client-lib/adbc/libadbc_driver_queryd.so")

pytestmark = [
    pytest.mark.skipif(SANITIZER in ("asan", "tsan"), reason="a plain program cannot load the library built with a sanitizer"),
    pytest.mark.skipif(not os.path.exists(PYTHON), reason="there is no build/arrow-venv: tests/run adbc makes it"),
    pytest.mark.skipif(not os.path.exists(DRIVER), reason="the driver for ADBC was not built"),
]


def environment(bus, tmp_path):
    """The driver is found by its manifest, as after an installation."""
    folder = tmp_path / "drivers"
    folder.mkdir()
    manifest = f'manifest_version = 1\n[Driver]\nentrypoint = "AdbcDriverQuerydInit"\nshared = "{DRIVER}"\n'
    (folder / "queryd.toml").write_text(manifest, encoding="utf-8")
    return dict(bus.env, ADBC_DRIVER_PATH=str(folder), PYTHONIOENCODING="utf-8")


@pytest.mark.parametrize("program", ["adbc_dbapi.py", "adbc_frames.py"])
def test_program(bus, tmp_path, program):
    result = bus.run(PYTHON, os.path.join(ROOT, "tests/bindings", program), DRIVER, env=environment(bus, tmp_path))
    assert (result.returncode, result.stdout.splitlines()[-1:]) == (0, ["all as expected"]), result.stdout + result.stderr
    for line in result.stdout.splitlines()[:-1]:
        print(line)


def test_export(bus, tmp_path):
    """What Export writes is read by pyarrow, pandas and polars."""
    result = bus.run(PYTHON, os.path.join(ROOT, "tests/bindings/arrow_export.py"), bus.queryctl, str(tmp_path))
    assert (result.returncode, result.stdout) == (0, "all as expected\n"), result.stdout + result.stderr


def test_page(bus, tmp_path):
    """The examples in Python of docs/arrow.md, one after the other, as they stand."""
    page = pathlib.Path(ROOT, "docs/arrow.md").read_text(encoding="utf-8")
    program = tmp_path / "page.py"
    program.write_text("\n".join(re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)), encoding="utf-8")
    result = bus.run(PYTHON, str(program), env=environment(bus, tmp_path))
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    assert result.stdout.splitlines() == ["Rome 2746984", "2"]
