# SPDX-License-Identifier: LGPL-2.1-or-later
"""A variable that may be unbound, as the subject of a later pattern: it is looked up where it is bound, and the pattern is scanned
only where it is not."""
import pytest

from harness import SLOWER, World, memory_file

N = 10000
N_WITHOUT = 10  # posts
PREFIX = "PREFIX : <http://example.org/>\n"
TIMEOUT_MS = 2000  # a scan for each row takes three times as long


def make_data():
    """Posts, the first without a user; users with a name each, every second one with a mail, one without posts with a note."""
    lines = []
    for number in range(N):
        post, user = f"<http://example.org/post{number}>", f"<http://example.org/user{number}>"
        lines.append(f"{post} <http://example.org/title> \"title {number}\" .")
        if number >= N_WITHOUT:
            lines.append(f"{post} <http://example.org/by> <http://example.org/user{number * 7 % N}> .")
        lines.append(f"{user} <http://example.org/name> \"name {number}\" .")
        if number % 2 == 0:
            lines.append(f"{user} <http://example.org/mail> \"mail {number}\" .")
    lines.append("<http://example.org/user7> <http://example.org/note> \"note\" .")
    return "\n".join(lines)


@pytest.fixture(scope="module", params=["…", "GRAPH <http://example.org/g> { … }", "GRAPH ?g { … }"])
def posts(request):
    world = World()
    with memory_file(make_data().encode()) as fd:
        world.import_fd(fd, "ntriples", **({"graph": "http://example.org/g"} if "GRAPH" in request.param else {}))
    yield world, request.param
    world.finish()


WITH = N - N_WITHOUT
ALL = WITH + N_WITHOUT * N


@pytest.mark.parametrize("pattern, count", [
    ("?u :name ?n", ALL),
    ("OPTIONAL { ?u :name ?n }", ALL),
    ("OPTIONAL { ?u :name ?n FILTER(?n != 'name 8') }", ALL - N_WITHOUT),
    ("OPTIONAL { ?u :name ?n } OPTIONAL { ?u :mail ?m }", ALL),
    ("OPTIONAL { ?u :name ?n ; :mail ?m }", WITH + N_WITHOUT * N // 2),
    ("OPTIONAL { ?u :mail ?m OPTIONAL { ?u :name ?n } }", WITH + N_WITHOUT * N // 2),
    ("OPTIONAL { ?p :editor ?u } OPTIONAL { ?u :name ?n }", ALL),
    ("FILTER(BOUND(?u)) OPTIONAL { ?u :name ?n }", ALL),
    ("BIND(BOUND(?u) AS ?b) OPTIONAL { ?u :name ?n } FILTER(?b)", WITH),
    ("BIND(?u AS ?v) OPTIONAL { ?v :name ?n }", ALL),
    ("OPTIONAL { ?u :name|:note ?n }", ALL + N_WITHOUT),
    ("?u :note ?n", N_WITHOUT),
    ("?u :name 'name 7'", N_WITHOUT),
    ("OPTIONAL { ?u :name 'name 7' }", N),
    ("FILTER EXISTS { ?u :name ?n }", N),
    ("FILTER NOT EXISTS { ?u :mail ?n }", WITH - N // 2 + N_WITHOUT // 2),
    ("MINUS { ?u :mail ?n }", WITH - N // 2 + N_WITHOUT // 2 + N_WITHOUT),
])
def test_subject_is_looked_up(posts, pattern, count):
    world, place = posts
    inner = "?p :title ?t OPTIONAL { ?p :by ?u } " + pattern
    text = PREFIX + "SELECT (COUNT(*) AS ?k) { " + place.replace("…", inner) + " }"
    _, rows, _ = world.query_full(text, language="sparql", timeout_ms=TIMEOUT_MS * SLOWER)
    assert int(rows[0][0][0]) == count
