# SPDX-License-Identifier: LGPL-2.1-or-later
"""The laboratory in its shortest form: every group runs, its figures have the promised shape, all cases have read the same.

Figures are not judged here: so few rows on a busy machine say nothing.
"""
import json
import math
import os
import re
import shutil
import subprocess

import pytest

from harness import BUILD, ROOT, SANITIZER, SLOWER

SCRIPT = os.path.join(ROOT, "tests/demo/demo.sh")
GROUPS = ["fetch", "buffers", "latency", "concurrency", "memory", "ipc", "cache"]
KEYS = ["group", "case", "metric", "unit", "median", "min", "max", "ratio"]

pytestmark = pytest.mark.skipif(SANITIZER != "", reason="the benchmarks measure a plain build")


def run(tmp_path, *arguments):
    env = dict(os.environ, QUERYD_BUILD_DIR=BUILD, QUERYD_SOURCE_ROOT=ROOT, TMPDIR=str(tmp_path), HOME=str(tmp_path / "home"))
    return subprocess.run(["bash", SCRIPT, "bench", *arguments], env=env, capture_output=True, text=True, check=False,
                          timeout=60 * SLOWER)


@pytest.mark.parametrize("group", GROUPS)
def test_group(tmp_path, group):
    out = tmp_path / "out.json"
    result = run(tmp_path, group, "--rounds", "1", "--rows", "3000", "--json", str(out))
    assert result.returncode == 0, result.stdout + result.stderr
    assert not any(line.startswith("bar ") for line in result.stdout.splitlines())
    figures = json.loads(out.read_text())
    assert all(list(figure) == KEYS for figure in figures)
    assert {figure["group"] for figure in figures} == {group}
    assert len({(figure["case"], figure["metric"]) for figure in figures}) == len(figures) > 5
    for figure in figures:
        assert figure["min"] <= figure["median"] <= figure["max"], figure
        assert figure["ratio"] is None or math.isfinite(figure["ratio"]), figure
    assert sum(figure["metric"] == "stolen" for figure in figures) == 1
    assert os.listdir(tmp_path) == ["out.json"]


@pytest.mark.skipif(shutil.which("gnuplot") is None, reason="the pictures are drawn by gnuplot, which only the bench installs")
def test_report(tmp_path):
    folder = tmp_path / "report"
    result = run(tmp_path, "fetch", "ipc", "--rounds", "1", "--rows", "3000", "--report", str(folder))
    assert result.returncode == 0, result.stdout + result.stderr
    assert sorted(os.listdir(folder)) == ["bars.log", "figures.json", "report.html"]
    page = (folder / "report.html").read_text()
    assert re.findall(r"<h2>(\w+)</h2>", page) == ["bars", "fetch", "ipc"]
    assert page.count("<svg") == page.count("</svg>") == 2
    assert "2010 report" in page and "http" not in page.replace("http://www.w3.org/", "")


def test_no_such_group(tmp_path):
    result = run(tmp_path, "fetch", "nonsense")
    assert result.returncode == 2
    assert "no group is named 'nonsense'; there are: " + " ".join(GROUPS) in result.stderr
    assert os.listdir(tmp_path) == []
