# SPDX-License-Identifier: LGPL-2.1-or-later
"""The laboratory in its shortest form: every group runs, its figures have the promised shape, all cases have read the same.

Figures are not judged here: so few rows on a busy machine say nothing.
"""
import html
import json
import lzma
import math
import os
import re
import shutil
import subprocess
import sys

import pytest

from harness import BUILD, ROOT, SANITIZER, SLOWER
from python_package import python_environment

SCRIPT = os.path.join(ROOT, "tests/demo/demo.sh")
GROUPS = ["fetch", "buffers", "latency", "concurrency", "memory", "ipc", "cache", "inserts", "items", "notify", "remembered",
          "scale", "hostile", "python", "tpch", "http", "bibliography"]  # "arrow" needs wheels for Python, "sparql" data
KEYS = ["group", "case", "metric", "unit", "median", "min", "max", "ratio"]

pytestmark = pytest.mark.skipif(SANITIZER != "", reason="the benchmarks measure a plain build")


def run(tmp_path, *arguments, **variables):
    env = dict(os.environ, **variables, QUERYD_BUILD_DIR=BUILD, QUERYD_SOURCE_ROOT=ROOT, TMPDIR=str(tmp_path),
               HOME=str(tmp_path / "home"))
    return subprocess.run(["bash", SCRIPT, "bench", *arguments], env=env, capture_output=True, text=True, check=False,
                          timeout=60 * SLOWER)


@pytest.mark.parametrize("group", GROUPS)
def test_group(tmp_path, group):
    if group in ("python", "tpch"):
        python_environment({})  # or skips
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


def make_benchmark(folder, n_expected):
    """Three triples, one query in each of its folders."""
    for mix in ("explore", "bi"):
        (folder / mix).mkdir(parents=True)
        (folder / mix / "q01-01.rq").write_text("SELECT ?o { <s:1> <p:1> ?o }")
        (folder / mix / "EXPECTED.tsv").write_text(f"q01-01.rq\t{n_expected}\n")
    (folder / "tiny.nt.xz").write_bytes(lzma.compress(b'<s:1> <p:1> "a" .\n<s:1> <p:1> <o:1> .\n<s:2> <p:1> "b" .\n'))


def make_questions(folder):
    """What no file of expected answers has is only timed."""
    folder.mkdir()
    (folder / "count.rq").write_text("SELECT (COUNT(*) AS ?n) { ?s <p:1> ?o }")
    (folder / "list.rq").write_text("SELECT ?s { ?s <p:1> ?o }")
    (folder / "EXPECTED.tsv").write_text("count\t1\t3\n")


@pytest.mark.parametrize("n_expected", [2, 3])
def test_sparql(tmp_path, n_expected):
    out = tmp_path / "out.json"
    make_benchmark(tmp_path / "bsbm", n_expected)
    make_questions(tmp_path / "questions")
    result = run(tmp_path, "sparql", "--rounds", "1", "--rows", "3000", "--json", str(out), QUERYD_BSBM=str(tmp_path / "bsbm"),
                 QUERYD_SPARQLOSCOPE=str(tmp_path / "questions"))
    if n_expected == 3:  # a wrong number of rows is a failure
        assert result.returncode == 2
        assert "explore/q01-01.rq: 2 rows instead of 3" in result.stderr
        return
    assert result.returncode == 0, result.stdout + result.stderr
    assert "skipped: Oxigraph" in result.stdout or os.environ.get("QUERYD_OXIGRAPH")
    assert "skipped: Virtuoso" in result.stdout or shutil.which("virtuoso-t")
    assert "different." not in result.stdout
    figures = {figure["metric"]: figure["median"] for figure in json.loads(out.read_text()) if "queryd" in figure["case"]}
    assert set(figures) >= {"load.rate", "load.file", "load.memory", "explore.q01", "explore.q01.cold", "explore.mean", "bi.q01",
                            "bi.mean", "bi.timeouts", "stream", "crew.rate@4", "crew.p95@4", "question.count", "cold.count",
                            "question.list", "question.mean", "cold.mean", "memory"}
    assert figures["bi.timeouts"] == 0


@pytest.mark.skipif(shutil.which("gnuplot") is None, reason="the pictures are drawn by gnuplot, which only the bench installs")
def test_report(tmp_path):
    folder = tmp_path / "report"
    result = run(tmp_path, "fetch", "ipc", "--rounds", "1", "--rows", "3000", "--report", str(folder))
    assert result.returncode == 0, result.stdout + result.stderr
    assert sorted(name for name in os.listdir(folder) if not name.endswith(".svg")) == ["bars.log", "figures.json", "report.html"]
    page = (folder / "report.html").read_text()
    assert re.findall(r"<h2>(\w+)</h2>", page) == ["fetch", "ipc", "bars"]
    headlines = [name for name in os.listdir(folder) if name.endswith(".svg")]  # where PostgreSQL is here
    assert page.count("<svg") == page.count("</svg>") == 2 + len(headlines)
    assert "2010 report" in page and "http" not in page.replace("http://www.w3.org/", "")


@pytest.mark.skipif(shutil.which("gnuplot") is None, reason="the pictures are drawn by gnuplot, which only the bench installs")
def test_pictures_of_the_readme(tmp_path):
    """They are drawn from the figures of the page, and what README says of them is in these."""
    source = os.path.join(ROOT, "docs/benchmarks")
    for name in "figures.json", "bars.log":
        shutil.copy(os.path.join(source, name), tmp_path)
    subprocess.run([os.path.join(ROOT, "tests/bench/report.py"), tmp_path], check=True, capture_output=True)
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as stream:
        readme = stream.read()
    shown = re.findall(r"!\[(.*)\]\(docs/benchmarks/(\w+\.svg)\)", readme)
    assert sorted(name for _, name in shown) == sorted(name for name in os.listdir(tmp_path) if name.endswith(".svg"))
    assert all(os.path.exists(os.path.join(source, name)) for _, name in shown)

    figures = {(row["case"], row["metric"]): row["median"] for row in json.loads((tmp_path / "figures.json").read_text())}
    words = dict((name, text) for text, name in shown)["results.svg"]
    for case, label in (("queryd", "queryd"), ("direct", "directly"), ("PostgreSQL, single rows", "PostgreSQL")):
        told = float(re.search(label + r" (\d+) ms", words).group(1))
        assert abs(told - figures[case, "time_kept"]) < 1, case


def test_no_such_group(tmp_path):
    result = run(tmp_path, "fetch", "nonsense")
    assert result.returncode == 2
    assert "no group is named 'nonsense'; there are: " + " ".join([*GROUPS, "arrow", "sparql"]) in result.stderr
    assert os.listdir(tmp_path) == []


def test_missed_bars_are_explained():
    """Each missed bar of the page that is in the tree has a reason, and each reason a page."""
    sys.path.insert(0, os.path.join(ROOT, "tests/bench"))
    from missed import missed, reason

    with open(os.path.join(ROOT, "docs/benchmarks/bars.log"), encoding="utf-8") as stream:
        log = stream.read()
    names = missed(log)
    assert len(names) == log.count("MISSED")
    with open(os.path.join(ROOT, "docs/benchmarks/report.html"), encoding="utf-8") as stream:
        page = html.unescape(stream.read())
    for name in names:
        assert reason(name) is not None, name
        sentence, decision = reason(name)
        assert sentence in page and os.path.exists(os.path.join(ROOT, f"docs/decisions/{decision}.md")), name
