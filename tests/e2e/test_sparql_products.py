# SPDX-License-Identifier: LGPL-2.1-or-later
"""Patterns that share no variable, connected by filters alone: no condition on one of them is tested for each pair."""
import pytest

from harness import SLOWER, World, memory_file

N_USERS, N_NICKS = 8000, 900
PREFIX = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
TIMEOUT_MS = 2000  # 64 million pairs take ten times as long
SCORES = [number * 7919 % 1000 for number in range(N_USERS)]
DATES = [f"20{5 + number % 20:02}-{1 + number % 12:02}-{1 + number % 28:02}" for number in range(N_USERS)]
PLACES = {"default": ("…", {}), "each": ("GRAPH ?g { … }", {"graph": "http://example.org/g"})}


def make_data():
    lines = []
    for number in range(N_USERS):
        lines.append(f':u{number} :name "user {number}" ; :score {SCORES[number]} ; :joined "{DATES[number]}"^^xsd:date .')
    lines += [f':o{number} :nick "X{number}" ; :age {number % 90} ; :called "USER {number * 10}" .' for number in range(N_NICKS)]
    return PREFIX + "\n".join(lines)  # Turtle has SPARQL's PREFIX, too


@pytest.fixture(scope="module", params=PLACES)
def count(request):
    place, options = PLACES[request.param]
    world = World()
    with memory_file(make_data().encode()) as fd:
        world.import_fd(fd, "turtle", **options)

    def ask(pattern):
        text = PREFIX + "SELECT (COUNT(*) AS ?n_rows) { " + place.replace("…", pattern) + " }"
        _, rows, _ = world.query_full(text, language="sparql", timeout_ms=TIMEOUT_MS * SLOWER)
        return int(rows[0][0][0])

    yield ask
    world.finish()


def n_above(limit):
    return sum(score > limit for score in SCORES)


ENDINGS = [number for number in range(N_USERS) if f"user {number}".endswith("er 777")]
N_777 = SCORES.count(777)


@pytest.mark.parametrize("pattern, expected", [
    ('?a :score ?c . ?b :name ?n ; :score ?d FILTER(STRENDS(?n, "er 777") && ?c > ?d)',
     sum(n_above(SCORES[number]) for number in ENDINGS)),
    ('?a :score ?c . ?b :name ?n ; :score ?d FILTER(STRENDS(?n, "er 777") && ?c > ?d + 990)',
     sum(n_above(SCORES[number] + 990) for number in ENDINGS)),
    ('?a :joined ?c . ?b :joined ?d FILTER(?d = "2024-08-28"^^xsd:date && ?c > ?d)',
     DATES.count("2024-08-28") * sum(date > "2024-08-28" for date in DATES)),
    ("?a :score ?c . ?b :score ?d FILTER(?d = 777 && ?c > ?d)", N_777 * n_above(777)),
    ("?a :score ?c . ?b :score ?d FILTER(?d = 777) FILTER(?c > ?d + 200)", N_777 * n_above(977)),
    ("?a :score ?c . ?b :score ?d FILTER(?d * 1 = 777 && ?c * 1 = 778 && ?a != ?b)", N_777 * SCORES.count(778)),
    ("?a :score ?c . ?b :score ?d OPTIONAL { ?b :none ?x } FILTER(?d * 1 = 777 && ?c > ?d)", N_777 * n_above(777)),
    ("?a :score ?c . ?b :score ?d BIND(?d + 1 AS ?e) MINUS { ?a :none ?x } FILTER(?d * 1 = 777 && ?c > ?e)", N_777 * n_above(778)),
    ("?a :score ?c . ?b :score ?d OPTIONAL { ?b :nick ?d } OPTIONAL { ?a :age ?x } FILTER(?d * 1 = 777 && ?c > ?d && !BOUND(?x))",
     N_777 * n_above(777)),
    ("?a :score ?c . ?b :score ?d FILTER(?c > ?d && ?d * 1 = 777 && 1 < 2 && ?none)", 0),
    ("?a :score ?c . ?b :score ?d FILTER(?d * 1 = 777 && ?c > 990 && NOT EXISTS { ?a :name ?n . ?b :name ?n })",
     N_777 * n_above(990)),
])
def test_conditions_of_one_part(count, pattern, expected):
    assert count(pattern) == expected
