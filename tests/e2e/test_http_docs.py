# SPDX-License-Identifier: LGPL-2.1-or-later
"""The examples of docs/http.md, as they stand there."""
import os
import re
import shutil

import pytest

import harness
from http_world import IS_BUILT, NOT_BUILT, HttpServer

pytestmark = [pytest.mark.skipif(not IS_BUILT, reason=NOT_BUILT),
              pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")]


def test_examples(bus):
    with open(os.path.join(harness.ROOT, "docs/http.md"), encoding="utf-8") as stream:
        examples = re.findall(r"^    (curl .*)$", stream.read(), re.M)
    assert len(examples) >= 8
    with open(os.path.join(bus.folder, "people.ttl"), "w", encoding="utf-8") as stream:
        stream.write('<urn:b> <http://xmlns.com/foaf/0.1/name> "Grace" .\n')
    server = HttpServer(bus, "--read-write", token=True)
    outputs = []
    try:
        environment = dict(bus.env, URL=server.url.rstrip("/"), TOKEN=server.token)
        for example in examples:
            result = bus.run("sh", "-c", example.replace("curl ", "curl -sS --fail-with-body ", 1), env=environment, cwd=bus.folder)
            assert result.returncode == 0, (example, result.stdout, result.stderr)
            outputs.append(result.stdout)
    finally:
        server.finish()
    assert any("urn:a,http://xmlns.com/foaf/0.1/name,Ada" in text for text in outputs)
    assert any('<urn:b> <http://xmlns.com/foaf/0.1/name> "Grace"' in text for text in outputs)
    assert any('"rows":[\n[42]\n]' in text for text in outputs)
    assert any('"plan":' in text and "rows: 1, time: " in text for text in outputs)
    assert any("event: ready" in text for text in outputs)
