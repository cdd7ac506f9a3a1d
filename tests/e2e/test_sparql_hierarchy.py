# SPDX-License-Identifier: LGPL-2.1-or-later
"""Paths, subselects and UNIONs joined with patterns over a hierarchy, in every order: none is scanned for each row of another."""
import random

import pytest

from harness import SLOWER, World, memory_file

N_CLASSES = 8000
PREFIX = "PREFIX : <http://example.org/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"
TIMEOUT_MS = 2000  # a scan for each row takes ten times as long


def make_hierarchy(rng):
    """N-Triples of a tree with some second parents; the parents of each class, and the aliases that some have."""
    parents, aliases = {}, {}
    lines = []
    for number in range(N_CLASSES):
        name = f"<http://example.org/c{number}>"
        lines.append(f"{name} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Class> .")
        lines.append(f'{name} <http://www.w3.org/2000/01/rdf-schema#label> "class {number}" .')
        kind = "common" if number % 4 else f"k{number}"
        lines.append(f"{name} <http://example.org/kind> <http://example.org/{kind}> .")
        if number % 7 == 0:
            aliases[number] = rng.randrange(N_CLASSES)
            lines.append(f"{name} <http://example.org/alias> <http://example.org/c{aliases[number]}> .")
        parents[number] = {rng.randrange(number) for _ in range(1 + (rng.random() < 0.1))} if number else set()
        lines += [f"{name} <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://example.org/c{parent}> ."
                  for parent in parents[number]]
    return "\n".join(lines) + "\n", parents, aliases


class Hierarchy:
    """A store with the hierarchy, and what is above and below each class by it, computed apart.

    place: a pattern around each that is asked for. options: of the import.
    """

    def __init__(self, place, options):
        self.place = place
        text, parents, self.aliases = make_hierarchy(random.Random(1))
        self.above = {}
        for number, own in parents.items():
            self.above[number] = own.union(*(self.above[parent] for parent in own))
        self.n_above = {number: len(above) for number, above in self.above.items()}
        self.n_parents = sum(map(len, parents.values()))
        self.n_grandparents = sum(len(set().union(*(parents[parent] for parent in own))) for own in parents.values())
        self.n_below = sum(5 in above for above in self.above.values())
        self.parents = parents
        self.world = World()
        with memory_file(text.encode()) as fd:
            self.world.import_fd(fd, "ntriples", **options)

    def n_below_of(self, number):
        return sum(number in above for above in self.above.values())

    def n_parents_of_all(self, number):
        """Of the class and of each above it."""
        return sum(len(self.parents[each]) for each in self.above[number] | {number})

    def count(self, pattern, limit=""):
        """limit: of the solutions that are counted."""
        placed = self.place.replace("…", pattern)
        text = PREFIX + "SELECT (COUNT(*) AS ?n) { " + (f"{{ SELECT * {{ {placed} }} {limit} }}" if limit else placed) + " }"
        _, rows, _ = self.world.query_full(text, language="sparql", timeout_ms=TIMEOUT_MS * SLOWER)
        return int(rows[0][0][0])


PLACES = {
    "default": ("…", {}),
    "named": ("GRAPH <http://example.org/g> { … }", {"graph": "http://example.org/g"}),
    "each": ("GRAPH ?g { … }", {"graph": "http://example.org/g"}),
}
N_SIBLINGS = ("?c rdfs:subClassOf* ?a { SELECT ?c (COUNT(DISTINCT ?e) AS ?k) "
              "{ ?c rdfs:subClassOf+ ?b . ?d rdfs:subClassOf ?b . ?e rdfs:subClassOf ?b } GROUP BY ?c }")


@pytest.fixture(scope="module", params=PLACES)
def hierarchy(request):
    made = Hierarchy(*PLACES[request.param])
    yield made
    made.world.finish()


def n_pairs(made):
    return sum(made.n_above.values())


def n_pairs_with_self(made):
    return n_pairs(made) + N_CLASSES


def n_pairs_of_aliased(made):
    return sum(made.n_above[number] for number in made.aliases)


def n_with_grandparents(made):
    return sum(any(made.parents[number] for number in above) for above in made.above.values())


def n_alias_pairs(made):
    return sum(made.n_above[alias] for alias in made.aliases.values())


@pytest.mark.parametrize("pattern, expected", [
    ("?c a :Class . ?c rdfs:subClassOf* ?a", n_pairs_with_self),
    ("?c rdfs:subClassOf* ?a . ?c a :Class", n_pairs_with_self),
    ("?c a :Class . ?a rdfs:subClassOf* ?c", n_pairs_with_self),
    ("?c a :Class . ?c ^rdfs:subClassOf+ ?a", n_pairs),
    ("?c a :Class . ?c rdfs:subClassOf+ ?a", n_pairs),
    ("?c a :Class . ?c rdfs:subClassOf? ?a", lambda made: made.n_parents + N_CLASSES),
    ("?c a :Class . ?c (rdfs:subClassOf|:none)+ ?a . ?a rdfs:label ?l", n_pairs),
    ("?c a :Class . ?a (rdfs:subClassOf/rdfs:subClassOf)? ?c", lambda made: made.n_grandparents + N_CLASSES),
    ("?c a :Class OPTIONAL { ?c rdfs:subClassOf+ ?a }", lambda made: n_pairs(made) + 1),
    ("?c a :Class OPTIONAL { ?c rdfs:subClassOf+ ?a . ?a rdfs:label ?l }", lambda made: n_pairs(made) + 1),
    ("?c a :Class { SELECT ?c ?a { ?a rdfs:subClassOf+ ?c } }", n_pairs),
    ("OPTIONAL { ?c :alias ?b } ?c rdfs:subClassOf+ ?a", n_pairs_of_aliased),
    ("OPTIONAL { ?c :none ?b } ?c rdfs:subClassOf+ ?a", n_pairs),
    ("?c a :Class FILTER EXISTS { { SELECT ?x ?c { ?x a :Class . ?c rdfs:subClassOf+/rdfs:subClassOf ?x } } }",
     n_with_grandparents),
    ("?c a :Class MINUS { SELECT ?x ?c { ?x a :Class . ?c rdfs:subClassOf+/rdfs:subClassOf ?x } }",
     lambda made: N_CLASSES - n_with_grandparents(made)),
    ("OPTIONAL { ?b :alias ?d } OPTIONAL { ?c :alias ?e } ?c rdfs:subClassOf+ ?a FILTER(?b = :c7)", n_pairs_of_aliased),
    ("OPTIONAL { ?c :alias ?b } ?a rdfs:subClassOf+ ?c FILTER NOT EXISTS { { SELECT ?x ?c { ?x (rdfs:subClassOf|^:none)* ?c } } }",
     lambda made: 0),
    ("OPTIONAL { ?c :alias ?b } ?c a :Class OPTIONAL { ?c rdfs:subClassOf+ ?a } FILTER EXISTS { ?c rdfs:subClassOf+ :c0 }",
     n_pairs_of_aliased),
    ("?c a :Class . ?c rdfs:subClassOf+ ?a VALUES ?a { :c5 :none }", lambda made: made.n_below),
    ("?c a :Class { ?c rdfs:subClassOf+ ?a } UNION { ?c :alias ?a }", lambda made: n_pairs(made) + len(made.aliases)),
    ("?c a :Class { ?c rdfs:subClassOf+ ?a } UNION { ?a rdfs:subClassOf+ ?c }", lambda made: 2 * n_pairs(made)),
    ("?c :alias ?d . ?d a :Class { SELECT ?d ?a { ?d rdfs:subClassOf+ ?a } }", n_alias_pairs),
    ("?c :alias ?d { SELECT DISTINCT ?d ?a { ?d rdfs:subClassOf+ ?a } }", n_alias_pairs),
    ("?c a :Class { SELECT ?c (COUNT(?a) AS ?k) { ?c rdfs:subClassOf+ ?a } GROUP BY ?c }", lambda made: N_CLASSES - 1),
    ("{ SELECT ?c { ?c a :Class } LIMIT 100000 } { SELECT DISTINCT ?c { ?c rdfs:label ?l } LIMIT 100000 }", lambda made: N_CLASSES),
    ("{ SELECT DISTINCT ?d { :c7 :alias|:none ?d } } { SELECT ?c ?d { ?c a :Class OPTIONAL { ?c :alias ?d } } }",
     lambda made: sum(d == made.aliases[7] for d in made.aliases.values()) + N_CLASSES - len(made.aliases)),
    ("{ SELECT ?c { ?c :alias ?x } LIMIT 100000 } OPTIONAL { ?c :alias ?d } { SELECT DISTINCT ?d { ?d rdfs:label ?l } }",
     lambda made: len(made.aliases)),
    ("?c :alias ?x OPTIONAL { ?c :alias ?d } ?d rdfs:subClassOf+ ?a", n_alias_pairs),
    ("?c :alias ?x OPTIONAL { ?c :alias ?d } ?a rdfs:subClassOf* ?d . ?a rdfs:label ?l",
     lambda made: sum(made.n_below_of(alias) + 1 for alias in made.aliases.values())),
    ("?c :alias ?d { ?d rdfs:subClassOf+/rdfs:label ?l } UNION { ?d rdfs:subClassOf+ :c5 }",
     lambda made: n_alias_pairs(made) + sum(5 in made.above[alias] for alias in made.aliases.values())),
    ("?c :alias ?d { SELECT ?d ?b { ?d rdfs:subClassOf*/rdfs:subClassOf ?b } }",
     lambda made: sum(made.n_parents_of_all(alias) for alias in made.aliases.values())),
    ("?c a :Class MINUS { ?c rdfs:subClassOf+ :c5 }", lambda made: N_CLASSES - made.n_below),
    ("?c a :Class MINUS { ?c rdfs:subClassOf* ?a . ?a :alias ?b . ?b rdfs:subClassOf+ :none }", lambda made: N_CLASSES),
    ("?c a :Class FILTER EXISTS { ?c rdfs:subClassOf+ :c5 }", lambda made: made.n_below),
    ("?c a :Class FILTER NOT EXISTS { { SELECT DISTINCT ?c { ?c rdfs:subClassOf+ :c5 } } }", lambda made: N_CLASSES - made.n_below),
    ("?c a :Class FILTER EXISTS { ?c rdfs:subClassOf+ ?a . ?a rdfs:label ?l }", lambda made: N_CLASSES - 1),
    ("?c rdfs:subClassOf+ ?a { ?a rdfs:label ?l } UNION { ?a :alias ?b . ?b rdfs:subClassOf+ :none } "
     "{ ?c :none+ ?d } UNION { ?c :alias ?e }",
     n_pairs_of_aliased),
    ("?c rdfs:subClassOf+ ?a { ?b rdfs:subClassOf+ ?a } UNION { ?a rdfs:subClassOf+ ?d } FILTER EXISTS { ?a :none ?m }",
     lambda made: 0),
    ("?c rdfs:subClassOf+ ?a OPTIONAL { ?b rdfs:subClassOf+ ?a } { SELECT ?c (COUNT(*) AS ?k) { ?c :none+ ?x } GROUP BY ?c }",
     lambda made: 0),
    ("?c rdfs:subClassOf ?a . ?a rdfs:subClassOf* ?d OPTIONAL { ?a :none ?m . ?b rdfs:subClassOf* ?a }",
     lambda made: sum(made.n_above[parent] + 1 for own in made.parents.values() for parent in own)),
    ("?c :alias ?d { SELECT DISTINCT ?d ?e { ?d rdfs:subClassOf* ?e . ?e rdfs:subClassOf* ?x } }",
     lambda made: sum(made.n_above[alias] + 1 for alias in made.aliases.values())),
    ("?c rdfs:subClassOf* ?a . ?b rdfs:subClassOf+ ?a FILTER EXISTS { ?b :alias :none }", lambda made: 0),
    ("?c rdfs:subClassOf+ ?a OPTIONAL { ?a :none ?d } { SELECT ?a ?d { ?a rdfs:label ?x . ?a rdfs:subClassOf* ?d } }",
     lambda made: sum(made.n_above[above] + 1 for all_above in made.above.values() for above in all_above)),
    ("?c rdfs:subClassOf ?b { SELECT ?b (COUNT(*) AS ?k) { ?b :kind :common ; a :Class } GROUP BY ?b } "
     "{ ?c a :Class . ?c rdfs:subClassOf+/:alias ?c } UNION { ?c rdfs:subClassOf+/:alias :none }",
     lambda made: sum(number in made.above[alias] and sum(parent % 4 > 0 for parent in made.parents[alias])
                      for number, alias in made.aliases.items())),
    ("FILTER EXISTS { ?a :kind :k400 } " + N_SIBLINGS, lambda made: made.n_below_of(400) + 1),
    ("?a :kind :common { SELECT DISTINCT ?c ?b { ?c rdfs:subClassOf ?b . ?a :alias ?c } } ?d :kind :common . ?c rdfs:label ?d",
     lambda made: 0),
    ("?a :kind :k400 . " + N_SIBLINGS, lambda made: made.n_below_of(400) + 1),
    ("?c rdfs:subClassOf/(^rdfs:subClassOf)+ ?d . ?b rdfs:subClassOf? ?c { ?e (^rdfs:subClassOf)+ ?b } UNION { ?b :none ?x } "
     "?d ^rdfs:subClassOf* ?y . ?y (rdfs:subClassOf|^:none)* ?z FILTER NOT EXISTS { ?d rdfs:subClassOf/rdfs:subClassOf? ?w }",
     lambda made: 0),
    ("OPTIONAL { ?x :kind ?b } ?c (rdfs:subClassOf/rdfs:subClassOf)+ ?a . ?c (^rdfs:subClassOf)+ ?b "
     "OPTIONAL { ?b rdfs:subClassOf ?e . ?e (rdfs:subClassOf|:none)*|:alias ?f } OPTIONAL { ?a a :none }", lambda made: 0),
])
def test_joined_with_patterns(hierarchy, pattern, expected):
    assert hierarchy.count(pattern) == expected(hierarchy)


def test_optional_of_many(hierarchy):
    """Its right begins from the values of ?c alone. What a sample of the left says of ?e is not known there."""
    pattern = ("?c rdfs:subClassOf+ ?a { ?x rdfs:subClassOf*|:alias ?a . ?a a :none } UNION { ?e rdfs:subClassOf* ?a } "
               "OPTIONAL { ?c rdfs:subClassOf+/rdfs:label ?e . ?c :alias ?x }")
    assert hierarchy.count(pattern, "LIMIT 50000") == 50000


N_DEEP = 3000
N_CIRCLE = 10


@pytest.fixture(scope="module", params=PLACES)
def deep(request):
    """A chain of nodes that ends in a circle; every hundredth node is marked."""
    nodes = [f"<http://example.org/d{number}>" for number in range(N_DEEP)]
    lines = [f"{node} <http://example.org/up> {above} ." for node, above in zip(nodes, nodes[1:] + nodes[-N_CIRCLE:])]
    lines += [f"{node} <http://example.org/mark> <http://example.org/m> ." for node in nodes[::100]]
    place, options = PLACES[request.param]
    world = World()
    world.place = place
    with memory_file("\n".join(lines).encode()) as fd:
        world.import_fd(fd, "ntriples", **options)
    yield world
    world.finish()


N_ON_CHAIN = N_DEEP - N_CIRCLE
N_DEEP_PAIRS = sum(N_DEEP - 1 - number for number in range(N_ON_CHAIN)) + N_CIRCLE * N_CIRCLE


@pytest.mark.parametrize("pattern, expected", [
    ("?x :up+ ?x", N_CIRCLE),
    ("?x :up ?y MINUS { ?x :up+ ?x }", N_ON_CHAIN),
    ("{ SELECT (COUNT(*) AS ?k) { ?x :up+ ?y } } FILTER(?k = %d)" % N_DEEP_PAIRS, 1),
    ("{ SELECT ?y (COUNT(*) AS ?k) { ?x :up* ?y } GROUP BY ?y } FILTER(?k = 7)", 1),
    ("{ SELECT ?y (COUNT(?x) AS ?k) { ?x :up* ?y } GROUP BY ?y } FILTER(?k = 7)", 1),
    ("?x :up ?z { SELECT ?x (COUNT(?y) AS ?k) { ?x :up+ ?y } GROUP BY ?x }", N_DEEP),
    ("{ SELECT DISTINCT ?x { ?x :up+ ?y } }", N_DEEP),
    ("?x :up+ ?y MINUS { ?y :up ?z }", 0),
    ("?x :up+ ?y . ?y :mark :nowhere", 0),
    ("?x :mark ?m . ?x :up+ ?y . ?y :mark ?m", 29 * 30 // 2),
    ("?x :up ?y FILTER NOT EXISTS { ?x :up+/:mark ?m }", N_DEEP - 2900),
    ("?x :up ?y FILTER EXISTS { ?x :up+ ?z . ?z :mark :nowhere }", 0),
])
def test_deep_chain(deep, pattern, expected):
    """4.5 million pairs: circles are found in one pass, pairs counted where they are found."""
    text = PREFIX + "SELECT (COUNT(*) AS ?n) { " + deep.place.replace("…", pattern) + " }"
    as_rows = 3 if deep.place.startswith("GRAPH ?") else 1  # pairs in each graph are counted as rows
    _, rows, _ = deep.query_full(text, language="sparql", timeout_ms=TIMEOUT_MS * SLOWER * as_rows)
    assert int(rows[0][0][0]) == expected


N_LINKS = 20000
N_GRAPHS = 20
N_NODES = 60


@pytest.fixture(scope="module")
def graphs():
    """The same nodes in each of some graphs, with other links: above[graph][node] is what a node leads to."""
    rng = random.Random(7)
    above, lines = [], []
    for graph in range(N_GRAPHS):
        own = {}
        for node in range(N_NODES):
            parents = {rng.randrange(node) for _ in range(rng.randrange(1, 3))} if node else set()
            own[node] = parents.union(*(own[parent] for parent in parents))
            lines += [f"<http://example.org/n{node}> <http://example.org/up> <http://example.org/n{parent}> "
                      f"<http://example.org/g{graph}> ." for parent in parents]
        above.append(own)
    world = World()
    with memory_file("\n".join(lines).encode()) as fd:
        world.import_fd(fd, "nquads")
    yield world, above
    world.finish()


@pytest.mark.parametrize("pattern, count", [
    ("?x :up+ ?y", lambda own: sum(map(len, own.values()))),
    ("?x :up* ?y", lambda own: sum(map(len, own.values())) + N_NODES),
    ("?x :up+ :n3", lambda own: sum(3 in above for above in own.values())),
    (":n9 :up* ?y", lambda own: len(own[9]) + 1),
    ("?x :up+ ?y . ?y :up* ?z", lambda own: sum(len(own[y]) + 1 for above in own.values() for y in above)),
    ("?x :up+ ?x", lambda own: 0),
    ("?x (:up|^:up)* ?x", lambda own: N_NODES),
    ("{ SELECT ?x ?y { ?x :up+ ?y } } ?y :up+ :n0", lambda own: sum(y != 0 for above in own.values() for y in above)),
    ("?x :up+ :n0 FILTER NOT EXISTS { ?x :up+ :n7 }", lambda own: sum(x > 0 and 7 not in own[x] for x in own)),
])
def test_paths_stay_in_their_graph(graphs, pattern, count):
    world, above = graphs
    text = PREFIX + f"SELECT ?g (COUNT(*) AS ?n) {{ GRAPH ?g {{ {pattern} }} }} GROUP BY ?g"
    _, rows, _ = world.query_full(text, language="sparql")
    found = {row[0][0]: int(row[1][0]) for row in rows}
    assert found == {f"http://example.org/g{graph}": n for graph, n in enumerate(map(count, above)) if n}


@pytest.mark.parametrize("path", [":up*", ":up+", ":up?", "(:up|:down)*"])
def test_many_paths_in_each_graph(graphs, path):
    """Each doubled what SQLite compiles. No way is sixteen links long."""
    chain = " . ".join(f"?v{i} {path} ?v{i + 1}" for i in range(16))
    text = PREFIX + f"SELECT ?g {{ GRAPH ?g {{ :n5 :up ?v0 . {chain} }} }} LIMIT 1"
    _, rows, _ = graphs[0].query_full(text, language="sparql")
    assert len(rows) == (path != ":up+")


@pytest.fixture
def chain():
    world = World()
    lines = [f"<http://example.org/n{i}> <http://example.org/up> <http://example.org/n{i + 1}> <http://example.org/g> ."
             for i in range(N_LINKS)]
    with memory_file("\n".join(lines).encode()) as fd:
        world.import_fd(fd, "nquads")
    yield world
    world.finish()


@pytest.mark.parametrize("place", ["GRAPH ?g", "GRAPH <http://example.org/g>"])
@pytest.mark.parametrize("pattern", ["?x :up ?y . ?z :up ?x", "?x :up ?y . ?z ?p ?x", "?x :up ?y . ?z (:up|:none) ?x",
                                     "?x :up ?y . ?z !:none ?x", "?x :up ?y . ?z (!:none)? ?x FILTER(?z != ?x)"])
def test_object_is_looked_up_in_its_graph(chain, place, pattern):
    """Not all quads of the graph are read for each row."""
    text = PREFIX + f"SELECT (COUNT(*) AS ?n) {{ {place} {{ {pattern} }} }}"
    _, rows, _ = chain.query_full(text, language="sparql", timeout_ms=TIMEOUT_MS * SLOWER)
    assert int(rows[0][0][0]) == N_LINKS - 1
