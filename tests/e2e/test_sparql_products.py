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


@pytest.mark.parametrize("pattern, expected", [
    ("?a :name ?n . ?b :called ?m FILTER(LCASE(?n) = LCASE(?m))", len(range(0, N_USERS, 10))),
    ("?a :name ?n . ?b :called ?m FILTER(UCASE(STR(?n)) = ?m && ?a != ?b) FILTER NOT EXISTS { ?b :age 7 }",
     sum(number % 90 != 7 for number in range(N_USERS // 10))),
    ("?a :joined ?c . ?b :joined ?d FILTER(?c = ?d && ?a != ?b)", sum(DATES.count(date) - 1 for date in DATES)),
    ("?a :score ?c . ?b :age ?d FILTER(?d + 900 = ?c + 0.0e0)", sum(N_NICKS // 90 * (900 <= score < 990) for score in SCORES)),
    ("?a :score ?c . ?b :age ?d OPTIONAL { ?b :none ?x } FILTER(?d + 900 = ?c * 1.0)",
     sum(N_NICKS // 90 * (900 <= score < 990) for score in SCORES)),
    ("?a :name ?n . ?b :called ?m . ?e :nick ?k FILTER(LCASE(?n) = LCASE(?m) && SUBSTR(?k, 2) = SUBSTR(?n, 6))",
     len(range(0, N_NICKS, 10))),
    ("?a :name ?n . ?b :called ?m . ?e :age ?h FILTER(LCASE(?n) = LCASE(?m) && ?h = 3)", N_USERS // 10 * (N_NICKS // 90)),
    ("?a :name ?n . ?b :called ?m FILTER(LCASE(?n) = LCASE(?m) && ?none = ?m)", 0),
    ("?a :name ?n FILTER EXISTS { ?b :called ?m FILTER(LCASE(?m) = LCASE(?n)) }", N_USERS // 10),
    ("?a :name ?n FILTER NOT EXISTS { ?b :called ?m FILTER(LCASE(?m) = LCASE(?n) && ?b != ?a) }", N_USERS - N_USERS // 10),
    ("?a :joined ?c FILTER NOT EXISTS { ?b :joined ?d FILTER(?c = ?d && ?a != ?b) }",
     sum(DATES.count(date) == 1 for date in DATES)),
    ("?a :score ?c ; :name ?n FILTER(STRLEN(?n) = 6 && EXISTS { ?b :age ?d FILTER(?c = ?d + 900) })",
     sum(900 <= score < 990 for score in SCORES[:10])),
    ("?a :name ?n OPTIONAL { ?b :called ?m FILTER(LCASE(?m) = LCASE(?n)) }", N_USERS),
    ("?a :name ?n OPTIONAL { ?b :called ?m FILTER(LCASE(?m) = LCASE(?n)) } FILTER(BOUND(?m))", N_USERS // 10),
    ("?a :score ?c OPTIONAL { ?b :age ?d FILTER(?d + 900 = ?c) }",
     sum(N_NICKS // 90 if 900 <= score < 990 else 1 for score in SCORES)),
    ("?a :score ?c OPTIONAL { ?b :age ?d . ?b :nick ?k FILTER(?c = ?d && ?k != 'X3') } FILTER(?c = 3)",
     SCORES.count(3) * (N_NICKS // 90 - 1)),
])
def test_equal_values(count, pattern, expected):
    assert count(pattern) == expected


N_BOTH = len(range(0, N_USERS, 10))  # names that are equal but for case
NAMES = "?a :name ?n BIND(LCASE(?n) AS ?k)"
CALLED = "?b :called ?m BIND(LCASE(?m) AS ?k)"


@pytest.mark.parametrize("pattern, expected", [
    (NAMES + " { " + CALLED + " }", N_BOTH),
    ("{ " + NAMES + " } { " + CALLED + " }", N_BOTH),
    ("{ SELECT ?a (LCASE(?n) AS ?k) { ?a :name ?n } } { SELECT ?b (LCASE(?m) AS ?k) { ?b :called ?m } }", N_BOTH),
    ("{ SELECT ?k (COUNT(*) AS ?x) { " + NAMES + " } GROUP BY ?k } { SELECT ?k (COUNT(*) AS ?y) { " + CALLED + " } GROUP BY ?k }",
     N_BOTH),
    (NAMES + " OPTIONAL { " + CALLED + " }", N_USERS),
    (NAMES + " OPTIONAL { " + CALLED + " } FILTER(BOUND(?m))", N_BOTH),
    (NAMES + " OPTIONAL { " + CALLED + " FILTER(?b != :o0) } FILTER(BOUND(?m))", N_BOTH - 1),
    (NAMES + " MINUS { " + CALLED + " }", N_USERS - N_BOTH),
    ("?a :name ?n . ?b :called ?m BIND(LCASE(?n) AS ?k) BIND(LCASE(?m) AS ?l) FILTER(?k = ?l)", N_BOTH),
    ("?a :name ?n . ?b :called ?m BIND(LCASE(?n) AS ?k) BIND(LCASE(?m) AS ?l) BIND(CONCAT(?k, ?l) AS ?x) "
     "FILTER(?k = ?l && STRLEN(?x) > 12)", N_BOTH - 1),
    ("?a :name ?n BIND(UCASE(?n) AS ?k) ?b :called ?m FILTER(?k = ?m)", N_BOTH),
    ("?a :name ?n . ?b :called ?m BIND(IF(?n = 'user 10', 'x', 1 / 0) AS ?k) BIND(IF(?m = 'USER 20', 'x', 1 / 0) AS ?l) "
     "FILTER(?k = ?l)", 1),
    ("?a :name ?n BIND(IF(?a = :u7, 1 / 0, LCASE(?n)) AS ?k) { ?b :called ?m BIND(IF(?b = :o0, 1 / 0, LCASE(?m)) AS ?k) }",
     N_BOTH - 1 + N_NICKS + N_USERS - 1),
])
def test_computed_values(count, pattern, expected):
    """Variables that each part computes for itself, and that may be unbound."""
    assert count(pattern) == expected


VALUES = [
    '"1"^^xsd:integer', '"01"^^xsd:integer', '"1.0"^^xsd:decimal', '"1"^^xsd:float', '"1.0"^^xsd:double', '"1"^^xsd:byte',
    '"0.1"^^xsd:decimal', '"0.1"^^xsd:float', '"0.1"^^xsd:double', '"0.10"^^xsd:decimal', '"16777217"^^xsd:integer',
    '"16777216"^^xsd:float', '"16777217"^^xsd:double', '"9007199254740993"^^xsd:integer', '"9007199254740992"^^xsd:double',
    '"9007199254740993.0"^^xsd:decimal', '"0"^^xsd:integer', '"-0"^^xsd:double', '"NaN"^^xsd:double', '"INF"^^xsd:float',
    '"INF"^^xsd:double', '"1e39"^^xsd:double', '"1"^^xsd:boolean', '"true"^^xsd:boolean', '"false"^^xsd:boolean', '"a"',
    '"a"^^xsd:string', '"a"@en', '"a"@EN', '"a"@de', '"A"', '""', '"x"^^:type', '"x"^^:other', '"x"^^xsd:integer', ':x',
    '<http://example.org/x>', '"http://example.org/x"', '"2024-01-01"^^xsd:date', '"2024-01-01Z"^^xsd:date',
    '"2024-01-01+00:00"^^xsd:date', '"2024-01-01T00:00:00Z"^^xsd:dateTime', '"2024-01-01T01:00:00+01:00"^^xsd:dateTime',
    '"2024-01-01T00:00:00Z"^^xsd:dateTimeStamp', '"2024-01-01T00:00:00"^^xsd:dateTime',
    '"2024-01-01T00:00:00.000"^^xsd:dateTime', '"24:00:00"^^xsd:time', '"00:00:00"^^xsd:time',
    '"P12M"^^xsd:yearMonthDuration', '"P1Y"^^xsd:duration', '"P1Y"^^xsd:yearMonthDuration', '"PT0S"^^xsd:dayTimeDuration',
    '"P0M"^^xsd:yearMonthDuration', '"PT24H"^^xsd:dayTimeDuration', '"P1D"^^xsd:duration', '"2024"^^xsd:gYear', '_:node',
]


@pytest.mark.parametrize("left, right", [
    ("?x", "?y"), ("COALESCE(?x, 0)", "?y"), ("?x", "IF(BOUND(?y), ?y, 0)"), ("STR(?x)", "?y"), ("?x + 0", "?y"),
])
def test_keys_of_equal_values(left, right):
    """All pairs that "=" calls equal are found by keys. The other side tests each pair: it asks for what is bound by BIND."""
    world = World()
    data = " ".join(f":a{i} :p {value} . :b{i} :q {value} ." for i, value in enumerate(VALUES))
    world.update(PREFIX + f"INSERT DATA {{ {data} }}", language="sparql")
    found = [sorted(world.query_full(PREFIX + f"SELECT ?a ?b {{ ?a :p ?x . ?b :q ?y {condition} }}", language="sparql")[1])
             for condition in (f"FILTER({left} = {right})", f"BIND({left} = {right} AS ?e) FILTER(?e)")]
    world.finish()
    assert found[0] == found[1] and len(found[0]) >= 2
