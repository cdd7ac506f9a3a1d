# SPDX-License-Identifier: LGPL-2.1-or-later
"""The documents as a site, in a browser without a window: pages are drawn, and the programs of the guide stand side by side."""
import os
import re
import shutil
import subprocess

import pytest

from harness import BUILD

SITE = os.path.join(BUILD, "docs/site/html")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = [pytest.mark.skipif(BROWSER is None, reason="there is no chromium"),
              pytest.mark.skipif(not os.path.exists(os.path.join(SITE, "index.html")), reason="there is no HTML of the documents")]


def browse(tmp_path, *arguments):
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
               "--enable-logging=stderr", f"--user-data-dir={tmp_path}/profile", "--virtual-time-budget=5000", *arguments]
    env = dict(os.environ, HOME=str(tmp_path))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "CONSOLE" not in done.stderr, done.stderr
    return done.stdout


@pytest.mark.parametrize("page, words", [
    ("index.html", "Guide for application developers"),
    ("sql.html", "Modules of virtual tables"),
    ("api/class.Connection.html", "query_connection_query")])
def test_page(tmp_path, page, words):
    """index.html leads to the guide."""
    if not os.path.exists(os.path.join(SITE, page)):
        pytest.skip("the documents were built without the API")
    assert words in re.sub(r"<[^>]+>", "", browse(tmp_path, "--dump-dom", f"file://{SITE}/{page}"))


def test_programs_stand_side_by_side(tmp_path):
    script = tmp_path / "where.html"
    script.write_text(f"""<iframe src="file://{SITE}/guide/first-program.html" width="1600" height="900"></iframe>
<script>onload = () => {{
  const places = [...frames[0].document.querySelectorAll('.languages figure')].map(f => f.getBoundingClientRect());
  document.body.textContent = 'rows ' + new Set(places.map(p => Math.round(p.top))).size + ' programs ' + places.length;
}}</script>""", encoding="utf-8")
    shown = browse(tmp_path, "--allow-file-access-from-files", "--disable-web-security", "--dump-dom", f"file://{script}")
    assert "rows 2 programs 4" in shown, shown
