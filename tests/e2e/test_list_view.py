# SPDX-License-Identifier: LGPL-2.1-or-later
"""The GTK 4 program of docs/examples/music-library under Xvfb: it paints, scrolls, searches, and shows what another process adds.

The bars of its figures are the issue's, widened: other programs run beside the tests. docs/lists.md has figures of a quiet machine.
"""
import os
import re
import shutil
import struct
import subprocess
import zlib

import pytest

from harness import BUILD, SANITIZER

PROGRAM = os.path.join(BUILD, "docs/examples/music-library/music-library")
N_SONGS = 100_000

pytestmark = [
    pytest.mark.skipif(SANITIZER != "", reason="the figures are those of a plain build"),
    pytest.mark.skipif(not os.path.exists(PROGRAM), reason="the example was not built: libgtk-4-dev is missing"),
    pytest.mark.skipif(shutil.which("Xvfb") is None, reason="xvfb is not installed"),
]


def colours(path):
    """The number of colours of an RGB or RGBA picture, by PNG's filters 0 to 4."""
    with open(path, "rb") as stream:
        data = stream.read()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, _, colour_type = struct.unpack(">IIBB", body[:10])
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    n = 4 if colour_type == 6 else 3
    raw, before, found = zlib.decompress(packed), bytes(width * n), set()
    for y in range(height):
        kind, line = raw[y * (width * n + 1)], bytearray(raw[y * (width * n + 1) + 1:(y + 1) * (width * n + 1)])
        for i, value in enumerate(line):
            left, up, corner = line[i - n] if i >= n else 0, before[i], before[i - n] if i >= n else 0
            paeth = min((abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner))[2]
            line[i] = (value + (0, left, up, (left + up) // 2, paeth)[kind]) & 255
        found.update(bytes(line[i:i + 3]) for i in range(0, len(line), n))
        before = line
    return len(found)


@pytest.fixture
def display():
    """The environment of a display of its own."""
    read_fd, write_fd = os.pipe()
    with subprocess.Popen(["Xvfb", "-displayfd", str(write_fd), "-screen", "0", "1024x768x24", "-nolisten", "tcp"],
                          pass_fds=[write_fd], stderr=subprocess.DEVNULL) as server:
        os.close(write_fd)
        with os.fdopen(read_fd) as stream:
            number = stream.readline().strip()
        yield {"DISPLAY": f":{number}", "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GTK_A11Y": "none",
               "GSETTINGS_BACKEND": "memory"}
        server.terminate()


def test_music_library(bus, display, tmp_path):
    picture = tmp_path / "picture.png"
    env = bus.env | display
    added = bus.run(PROGRAM, "--add", str(N_SONGS))
    assert (added.returncode, added.stderr) == (0, "")
    lines = []
    with open(tmp_path / "errors", "w+", encoding="utf-8") as errors, subprocess.Popen(
            [PROGRAM, "--measure", str(picture)], env=env, stdout=subprocess.PIPE, stderr=errors, text=True) as window:
        for line in window.stdout:
            lines.append(line)
            if line.startswith("waiting"):
                assert bus.run(PROGRAM, "--add", "500").returncode == 0
        window.wait(timeout=60)
        errors.seek(0)
        assert "CRITICAL" not in errors.read()
    found = {name: float(value) for name, value in re.findall(r"(\w+)=([\d.-]+)", "".join(lines))}
    assert window.returncode == 0
    assert found["n_songs"] == N_SONGS
    assert found["live_songs"] == 500
    assert found["scroll_blank_frames"] <= found["scroll_frames"] / 20
    assert found["growth_kib"] <= 40 * 1024
    assert found["first_painted_ms"] <= 1000
    assert colours(picture) > 50
