# SPDX-License-Identifier: LGPL-2.1-or-later
"""Small SPARQL cases that once went wrong: data, what is asked, the answer. Most were found by tests/differential."""
import json
import re
import tempfile

import pytest

from harness import BusError

PREFIX = "PREFIX : <http://example.org/> "
GRAPHS = "GRAPH :g1 { :a :label :b . :c :q :d } GRAPH :g2 { :a :p :b }"

# (name, N-Triples-like data in SPARQL's syntax, query, rows: each a dict of lexical forms)
QUERIES = [
    ("constant-without-sql", ":a :p 1", "SELECT (COUNT(*) AS ?n) { MINUS { ?x :p 1 } }", [{"n": "1"}]),
    ("count-distinct-of-a-path", "_:y :r :b",
     "SELECT (COUNT(DISTINCT *) AS ?n) { ?z ^(!:q?/:r*) ?x . ?y ?p ?z } GROUP BY ?x ?p",
     [{"n": "1"}, {"n": "1"}]),
    ("repeated-nothing", "", "SELECT ?y { 1 (:p?|:r)+ ?y }", [{"y": "1"}]),
    ("key-never-bound", "", "SELECT ?z {} GROUP BY ?z", [{}]),
    ("plus-of-a-derived-type", ':a :p "7"^^<http://www.w3.org/2001/XMLSchema#byte>',
     "SELECT (STR(DATATYPE(+?x)) AS ?t) { ?s :p ?x }", [{"t": "http://www.w3.org/2001/XMLSchema#integer"}]),
    ("exists-in-a-subselect-that-projects", ":a :p :b . :c :q :d . :e :q 1",
     "SELECT ?o { ?z :q ?o FILTER EXISTS { { SELECT ?o { ?x :p ?y FILTER(isIRI(?o)) } } } }", [{"o": "http://example.org/d"}]),
    ("exists-in-a-subselect-that-does-not-project", ":a :p :b . :c :q :d",
     "SELECT ?o { ?z :q ?o FILTER EXISTS { { SELECT ?x { ?x :p ?y FILTER(isIRI(?o)) } } } }", []),
    ("exists-in-subselects-of-subselects", ":a :p :b . :c :q :d . :e :q 1",
     "SELECT ?o { ?z :q ?o FILTER NOT EXISTS { { SELECT * { { SELECT ?o { ?x :p ?y FILTER(isIRI(?o)) } } } } } }", [{"o": "1"}]),
    ("exists-in-a-group-that-projects", ":a :p :b , :c . :c :q :d . :e :q 1",
     "SELECT ?o { ?z :q ?o FILTER EXISTS { { SELECT ?o { ?x :p ?y FILTER(isIRI(?o)) } GROUP BY ?o HAVING (COUNT(*) = 2) } } }",
     [{"o": "http://example.org/d"}]),
    ("exists-in-a-slice-that-projects", ":a :p 1 . :b :p 2 . :c :q :a , :b , :d",
     "SELECT ?o { ?z :q ?o FILTER EXISTS { { SELECT ?o { ?o :p ?y } ORDER BY ?y LIMIT 1 } } }",
     [{"o": "http://example.org/a"}, {"o": "http://example.org/b"}]),
    ("lang-is-in-lower-case", ':a :p "chat"@EN . :b :p "chat"@en . :c :p "chien"@En-gb',
     "SELECT ?s { ?s :p ?o FILTER(LANG(?o) = 'en' || LANG(?o) = 'en-gb') }",
     [{"s": "http://example.org/a"}, {"s": "http://example.org/b"}, {"s": "http://example.org/c"}]),
    ("lang-of-a-made-string", "",
     "SELECT (LANG(STRLANG('a', 'en-GB')) AS ?l) (LANGMATCHES(LANG('a'@EN-GB), 'en-gb') AS ?m) (sameTerm('a'@EN, 'a'@en) AS ?t) {}",
     [{"l": "en-gb", "m": "true", "t": "true"}]),
    ("aggregates-of-constants", ":a :p 1 . :b :p 2 . :b :p 3",
     "SELECT (SUM(5) AS ?s) (SUM('A') AS ?e) (MAX('q') AS ?m) (AVG(4.5) AS ?v) (COUNT(*) AS ?n) { ?z :p ?y . ?z :p ?x }",
     [{"s": "25", "m": "q", "v": "4.5", "n": "5"}]),
    ("optional-before-paths-in-each-graph",
     "GRAPH :g1 { :a :label :b . :b :p :c . :c :p :d } GRAPH :g2 { :a :p :b . :b :p :c }",
     "SELECT (COUNT(*) AS ?n) { GRAPH ?g { OPTIONAL { ?x :label ?b } ?c :p+ ?a . ?b :p+ ?a OPTIONAL { ?b :p+ ?z } } } GROUP BY ?g "
     "ORDER BY ?g", [{"n": "6"}, {"n": "8"}]),
    ("term-without-an-id-after-an-optional", ":c :r :x",
     "SELECT ?n { ?X :r ?z OPTIONAL { ?x :p+ ?X . ?n :r :c } VALUES ?n { :unknown } }", [{"n": "http://example.org/unknown"}]),
    ("sum-of-a-constant", ":a :p 1 . :b :p 2 . :b :p 3", "SELECT (SUM(5) AS ?s) { ?z :p ?y . ?z :p ?y }", [{"s": "15"}]),
    ("sum-of-a-string", ":a :p 1 . :b :p 2 . :b :p 3", "SELECT (SUM('A') AS ?s) { ?z :p ?y . ?z :p ?y }", [{}]),
    ("exists-of-an-optional-alone", ":x :broader :y . :k :broader :m . :k2 :part :k",
     "SELECT ?v { ?v :broader ?w FILTER EXISTS { OPTIONAL { ?u :part ?v } } }",
     [{"v": "http://example.org/x"}, {"v": "http://example.org/k"}]),
    ("exists-in-exists-beside-an-optional", ':g1 :label "one"',
     "SELECT ?s { ?s :label ?o FILTER EXISTS { FILTER EXISTS { ?s :part ?o } OPTIONAL { ?o :val ?s } } }", []),
    ("key-never-bound-counted", "", "SELECT (COUNT(?n) AS ?c) { { SELECT ?n {} GROUP BY ?n } }", [{"c": "0"}]),
    ("exists-of-many-parts-bound-in-a-graph", GRAPHS,
     "SELECT ?g ?e { GRAPH ?g { ?a :label ?b "
     "BIND(EXISTS { ?b :part ?a . ?a a :C . ?a :related ?a . ?z a :D . ?z :knows :n2 } AS ?e) } }",
     [{"g": "http://example.org/g1", "e": "false"}]),
    ("exists-in-exists-bound-in-a-graph", GRAPHS,
     "SELECT ?g { GRAPH ?g { "
     "BIND(EXISTS { ?s a :D FILTER(1 || EXISTS { ?s :cat ?c . ?c a ?c . ?s a :D . ?x :qty ?y }) } AS ?b) } }",
     [{"g": "http://example.org/g1"}, {"g": "http://example.org/g2"}]),
    ("long-column-in-a-graph", GRAPHS,
     "SELECT ?g ?e { GRAPH ?g { ?a :label ?b BIND(CONCAT(" + "STR(IF(?a = ?b, ?a, 'x')), " * 20 + "'y') AS ?e) } }",
     [{"g": "http://example.org/g1", "e": "x" * 20 + "y"}]),
    ("graph-named-inside", GRAPHS,
     "SELECT ?g ?x { GRAPH ?g { ?x ?p ?y OPTIONAL { ?x :label ?z BIND(IRI(CONCAT(STR(:g), '1')) AS ?g) } } }",
     [{"g": "http://example.org/g1", "x": "http://example.org/a"}, {"g": "http://example.org/g1", "x": "http://example.org/c"},
      {"g": "http://example.org/g2", "x": "http://example.org/a"}]),
]

PEOPLE = (":t1 a :Req ; :w 1 . :t2 a :Req ; :w 2 . "
          ":ann a :P ; :did :t1 , :t2 ; :age 4 . :bob a :P ; :did :t1 ; :age 5 . :cy a :P ; :age 6 .")

# An EXISTS, or what is in the place of ?p's filter: (name, pattern, the last letters of values of ?p). In five places, see below.
EXISTS = [
    ("aggregate-of-an-outer-variable", "FILTER EXISTS { SELECT ?p (COUNT(?p) AS ?n) { ?t a :Req } GROUP BY ?p }", "nby"),
    ("sum-of-an-outer-variable", "?p :age ?a FILTER EXISTS { SELECT ?a { ?t a :Req } GROUP BY ?a HAVING(SUM(?a) = 10) }", "b"),
    ("distinct-sum-of-an-outer-variable",
     "?p :age ?a FILTER EXISTS { SELECT ?a { ?t a :Req } GROUP BY ?a HAVING(SUM(DISTINCT ?a) = 5) }", "b"),
    ("average-of-an-outer-variable", "?p :age ?a FILTER EXISTS { SELECT ?a { ?t a :Req } GROUP BY ?a HAVING(AVG(?a) > 4) }", "by"),
    ("extremes-of-an-outer-variable",
     "?p :age ?a FILTER EXISTS { SELECT ?a { ?t a :Req } GROUP BY ?a HAVING(MAX(?a) = MIN(?a) && MAX(?a) > 5) }", "y"),
    ("sample-of-an-outer-variable", "?p :age ?a FILTER EXISTS { SELECT ?a { ?t a :Req } GROUP BY ?a HAVING(SAMPLE(?a) = 4) }", "n"),
    ("list-of-an-outer-variable",
     "?p :age ?a FILTER NOT EXISTS { SELECT ?a { ?t a :Req } GROUP BY ?a HAVING(GROUP_CONCAT(?a) = '4 4') }", "by"),
    ("having-of-an-outer-variable", "FILTER EXISTS {{{ SELECT ?p { ?t a :Req } GROUP BY ?p HAVING(COUNT(?p) > 1) }}}", "nby"),
    ("having-of-an-outer-variable-in-vain", "FILTER EXISTS { SELECT ?p { ?t a :Req } GROUP BY ?p HAVING(COUNT(?p) > 2) }", ""),
    ("aggregate-of-what-is-outer",
     "FILTER EXISTS { SELECT ?p { BIND(?p AS ?q) } GROUP BY ?p HAVING(COUNT(?q) = 1 && COUNT(DISTINCT *) = 1) }", "nby"),
    ("aggregate-of-an-outer-variable-without-rows", "FILTER EXISTS { SELECT ?p (COUNT(?p) AS ?n) {} GROUP BY ?p }", "nby"),
    ("aggregate-of-exists-of-an-outer-variable",
     "FILTER EXISTS { SELECT ?p { ?t a :Req } GROUP BY ?p HAVING(SUM(IF(EXISTS { ?p :did :t2 }, 1, 0)) = 2) }", "n"),
    ("aggregate-of-an-outer-variable-deeper",
     "FILTER EXISTS { ?p :did ?d FILTER EXISTS { SELECT ?p { ?t a :Req } GROUP BY ?p HAVING(COUNT(?p) = 2) } }", "nb"),
    ("aggregate-of-an-unbound-outer-variable",
     "OPTIONAL { ?p :did ?d } FILTER(?d != :t1) FILTER EXISTS { SELECT ?d { ?t a :Req } GROUP BY ?d HAVING(COUNT(?d) = 2) }", "n"),
    ("minus-of-an-outer-variable", "FILTER NOT EXISTS { ?t a :Req MINUS { ?p :did ?t } }", "n"),
    ("optional-of-an-outer-variable",
     "FILTER NOT EXISTS { ?t a :Req OPTIONAL { ?p :did ?t . ?t :w ?d } FILTER(!BOUND(?d)) }", "n"),
    ("optional-that-takes-nothing-away", "FILTER EXISTS { ?t a :Req OPTIONAL { ?p :did ?t } }", "nby"),
    ("optional-alone", "FILTER EXISTS { OPTIONAL { ?p :did :t2 . ?p :did :t1 } }", "nby"),
    ("minus-alone", "FILTER EXISTS { MINUS { ?p :did :t1 } }", "nby"),
    ("minus-of-a-path", "FILTER NOT EXISTS { ?t a :Req MINUS { ?p :did+ ?t } }", "n"),
    ("optional-of-a-path", "FILTER NOT EXISTS { ?t a :Req OPTIONAL { ?p :did+ ?t . ?t :w ?d } FILTER(!BOUND(?d)) }", "n"),
    ("optional-of-arms",
     "FILTER NOT EXISTS { ?t a :Req OPTIONAL { { ?p :did ?t BIND(1 AS ?d) } UNION { ?p :no ?t } } FILTER(!BOUND(?d)) }", "n"),
    ("minus-of-terms-alone", "FILTER EXISTS { ?p a :P MINUS { ?p :did :t1 } }", "nby"),
    ("minus-compares-what-is-inside-alone", "FILTER EXISTS { ?p :did ?t MINUS { ?p :did :t2 . ?t :w 2 } }", "nb"),
    ("minus-in-minus", "FILTER EXISTS { ?t a :Req MINUS { ?t a :Req MINUS { ?p :did ?t } } }", "nb"),
    ("minus-in-a-subselect", "FILTER NOT EXISTS { SELECT ?p ?t { ?t a :Req MINUS { ?p :did ?t } } }", "n"),
    ("minus-in-a-subselect-that-does-not-project", "FILTER EXISTS { SELECT ?t { ?t a :Req MINUS { ?p :did ?t } } }", ""),
    ("minus-of-a-subselect-that-does-not-project",
     "FILTER EXISTS { ?t a :Req MINUS { SELECT ?t { ?p :did ?t . ?p :age 5 } } }", "nby"),
    ("minus-in-a-group", "FILTER EXISTS { SELECT ?p { ?t a :Req MINUS { ?p :did ?t } } GROUP BY ?p HAVING(COUNT(?t) = 1) }", "b"),
    ("minus-of-values", "VALUES ?p { :bob } FILTER EXISTS { ?t a :Req MINUS { ?p :did ?t } }", "b"),
    ("values-in-minus", "FILTER EXISTS { ?t a :Req MINUS { VALUES ?p { :ann :cy } ?p :did ?t } }", "by"),
    ("minus-of-what-may-be-unbound",
     "OPTIONAL { ?p :did ?d FILTER(?d = :t2) } FILTER NOT EXISTS { ?t :w 1 MINUS { ?t :w ?w . ?d :w ?x . FILTER(?x = 1) } }", "by"),
    ("optionals-of-what-may-be-unbound",
     "OPTIONAL { ?p :did ?d FILTER(?d = :t2) } OPTIONAL { ?p :age ?a FILTER(?a > 4) } "
     "FILTER EXISTS { ?t :w 1 OPTIONAL { ?d :w ?x . ?y :age ?a } FILTER(?x = 2 && ?y = :bob) }", "nb"),
    ("minus-in-exists-in-exists",
     "FILTER NOT EXISTS { ?q a :Req FILTER EXISTS { ?t a :Req MINUS { ?p :did ?t } } }", "n"),
    ("exists-beside-optional", "FILTER EXISTS { FILTER EXISTS { ?p :did :t2 } OPTIONAL { ?p :no ?x } }", "n"),
    ("exists-beside-union", "FILTER EXISTS { { ?p :no ?x } UNION { ?x a :Req } FILTER EXISTS { ?p :did :t2 } }", "n"),
    ("filter-beside-union", "FILTER EXISTS { { ?p :no ?x } UNION { ?x a :Req } FILTER(?p = :cy) }", "y"),
    ("minus-in-a-named-graph", "FILTER NOT EXISTS { GRAPH ?h { ?t a :Req MINUS { ?p :did ?t } } }", "n"),
    ("minus-of-a-named-graph", "GRAPH ?h { ?p a :P } FILTER NOT EXISTS { ?t a :Req MINUS { GRAPH ?h { ?p :did ?t } } }", "n"),
    ("optional-of-many-that-may-be-unbound",
     "OPTIONAL { ?p :did ?d FILTER(?d = :t2) } OPTIONAL { ?p :age ?a FILTER(?a > 4) } OPTIONAL { ?p :no ?b } "
     "OPTIONAL { ?p :no ?c } "
     "FILTER EXISTS { ?t :w 1 OPTIONAL { ?d :w ?x . ?y :age ?a } OPTIONAL { ?b :w ?x . ?c ?q ?r } FILTER(?x = 2 && ?y = :bob) }",
     "nb"),
    ("path-of-many-that-may-be-unbound",
     "OPTIONAL { ?p :no ?a } OPTIONAL { ?p :no ?b } OPTIONAL { ?p :did ?c FILTER(?c = :t2) } "
     "FILTER NOT EXISTS { ?t :w 2 MINUS { ?t :w ?a . ?y :did+ ?b . ?x :did+ ?c . ?x :age 5 } }", "by"),
    ("nested-deep-with-what-may-be-unbound",
     "FILTER " + "EXISTS { ?t a :Req OPTIONAL { ?p :did ?x FILTER(?x = ?t) } FILTER " * 8 +
     "EXISTS { ?q a :Req MINUS { ?p :did ?q } }" + " }" * 8, "by"),
    ("nested-deep",
     "FILTER " + "".join(f"EXISTS {{ ?t a :Req OPTIONAL {{ ?p :did ?x{i} }} FILTER " for i in range(8)) +
     "EXISTS { ?q a :Req MINUS { ?p :did ?q } }" + " }" * 8, "by"),
]

# An end of a repeated path is computed, and may be unbound: (name, what computes ?v, pattern, values of ?n)
COMPUTED_END_DATA = ":a :p :b . :b :p :c . :e :p 3 . :a :q :c . :b :q :d . :e :q :a . :a :r :e"
COMPUTED_ENDS = [
    ("plus", "BIND(1 + 2 AS ?v)", "?n :q ?m . ?n :p+ ?v", "e"),
    ("star", "BIND(1 + 2 AS ?v)", "?n :q ?m . ?n :p* ?v", "e"),
    ("once", "BIND(1 + 2 AS ?v)", "?n :q ?m . ?n :p? ?v", "e"),
    ("inverse", "BIND(IRI(STR(:e)) AS ?v)", "?n :q ?m . ?v ^:p+ ?n", ""),
    ("from-the-object", "BIND(IRI(STR(:a)) AS ?v)", "?n :q ?m . ?v :p+ ?n", "b"),
    ("alternatives", "BIND(1 + 2 AS ?v)", "?n :q ?m . ?n (:p|:r)+ ?v", "ae"),
    ("sequence", "BIND(1 + 2 AS ?v)", "?n :q ?m . ?n (:r/:p)+ ?v", "a"),
    ("two-paths", "BIND(IRI(STR(:c)) AS ?v)", "?n :q ?m . ?n :p+ ?k . ?k :p+ ?v", "a"),
    ("diamond", "BIND(IRI(STR(:c)) AS ?v)", "?n :q ?m . ?n :p+ ?k . ?n :p+ ?l . ?k :p* ?v . ?l :p* ?v", "aaaab"),
    ("arms", "BIND(1 + 2 AS ?v)", "?n :q ?m . { ?n :p+ ?v } UNION { ?n :r/:p ?v }", "ae"),
    ("computed-from-an-object", "", "?n :q ?m . BIND(IRI(STR(?m)) AS ?v) ?n :p+ ?v", "a"),
    ("bound-by-some", "", "?n :q ?m . OPTIONAL { ?n :r ?k BIND(IRI(STR(?k)) AS ?v) } ?n :p+ ?v", "be"),
    ("errors", "BIND(1 / 0 AS ?v)", "?n :q ?m . ?n :p+ ?v", "aabe"),
    ("in-a-graph", "BIND(1 + 2 AS ?v)", "GRAPH ?g { ?n :q ?m . ?n :p+ ?v }", "e"),
]

# (name, data, update, quads afterwards)
UPDATES = [
    ("clear-sees-new-graphs", ":a :p :a", "INSERT DATA { GRAPH :g { :a :p :b } } ; CLEAR SILENT NAMED", 1),
    ("repeated-path-in-the-graph-of-with", "GRAPH :g { :a :p :b . :b :p :c }",
     "WITH :g INSERT { :a :reaches ?x } WHERE { :a :p+ ?x }", 4),
    ("repeated-path-of-every-node-in-the-graph-of-with", "GRAPH :g { :a :p :b . :b :p :c } :z :p :y",
     "WITH :g INSERT { ?x :reaches ?y } WHERE { ?x :p* ?y }", 9),
    ("graph-sees-new-graphs", ":a :p :a",
     "INSERT DATA { GRAPH :g { :a :p :b } } ; INSERT { ?g :is :graph } WHERE { GRAPH ?g {} }", 3),
]


def rows_of(bus, text):
    _, body, truncated = bus.query_text(PREFIX + text, "sparql-json", language="sparql")
    assert not truncated
    return [{name: cell["value"] for name, cell in row.items()} for row in json.loads(body)["results"]["bindings"]]


def insert(bus, data):
    bus.update(PREFIX + "INSERT DATA { " + data + " }", language="sparql")


@pytest.mark.parametrize("limits", [{}, {"tally_rows": 0}], ids=["by-join", "by-tally"])
@pytest.mark.parametrize("data, query, rows", [case[1:] for case in QUERIES], ids=[case[0] for case in QUERIES])
def test_query(make_bus, limits, data, query, rows):
    """Small data are joined, unless columns are made of them as of large ones."""
    bus = make_bus(limits={"idle_exit_ms": 0} | limits)
    insert(bus, data)
    assert sorted(rows_of(bus, query), key=repr) == sorted(rows, key=repr)


def test_tally_with_keys_that_are_never_bound(make_bus):
    bus = make_bus(limits={"tally_rows": 0, "tally_file_rows": 0, "tally_file_percent": 1000})
    query = "SELECT (MAX(?n) AS ?m) { ?y :r :a . { SELECT ?n {} GROUP BY ?n } } GROUP BY ?n"
    insert(bus, ":x :r :b , :a")
    assert rows_of(bus, query) == [{}]
    bus.update(PREFIX + "DELETE DATA { :x :r :a }", language="sparql")
    assert not rows_of(bus, query)


@pytest.mark.parametrize("pattern, found", [case[1:] for case in EXISTS], ids=[case[0] for case in EXISTS])
def test_exists(bus, pattern, found):
    insert(bus, PEOPLE + " GRAPH :g { " + PEOPLE + " }")
    as_value = re.sub("FILTER( NOT|) EXISTS", r"BIND(\1 EXISTS", pattern, count=1)
    for text in ("SELECT ?p { ?p a :P . " + pattern + " }", "SELECT ?p { GRAPH :g { ?p a :P . " + pattern + " } }",
                 "SELECT ?p { GRAPH ?g { ?p a :P . " + pattern + " } }",
                 "SELECT ?p { ?p a :P . " + as_value + " AS ?e) FILTER(?e) }",
                 "SELECT ?p (COUNT(*) AS ?n) { ?p a :P . " + pattern + " } GROUP BY ?p"):
        assert sorted(row["p"][-1] for row in rows_of(bus, text)) == sorted(found), text


@pytest.mark.parametrize("computes, pattern, found", [case[1:] for case in COMPUTED_ENDS], ids=[case[0] for case in COMPUTED_ENDS])
def test_computed_end_of_a_path(bus, computes, pattern, found):
    """A search names the row that it begins from, which has to stay in sight when the end is compared."""
    insert(bus, COMPUTED_END_DATA + " . GRAPH :g { " + COMPUTED_END_DATA + " }")
    rows = rows_of(bus, "SELECT ?n { " + computes + " " + pattern + " }")
    assert sorted(row["n"] for row in rows) == ["http://example.org/" + name for name in found]


def test_stored_prefixes(bus):
    """What the store keeps needs no declaration; what a text declares is the text's."""
    query = "SELECT ?o { ?s rdfs:label ?o }"
    bus.update("INSERT DATA { <http://a/s> rdfs:label 'stored' ; <http://b/label> 'own' }", language="sparql")
    assert bus.query(query, language="sparql") == [("stored",)]
    assert bus.query("PREFIX rdfs: <http://b/> " + query, language="sparql") == [("own",)]
    with pytest.raises(BusError) as error:
        bus.query("SELECT ?o { ?s new:label ?o }", language="sparql")
    assert error.value.name == "Syntax" and "1:16: the prefix 'new:' is not declared" in error.value.message
    with tempfile.TemporaryFile() as file:
        file.write(b"@prefix new: <http://b/> . <http://a/t> new:label 'imported' .")
        file.seek(0)
        assert bus.import_fd(file.fileno(), "turtle")["State"] == "finished"
    assert bus.query("SELECT ?o { <http://a/t> new:label ?o }", language="sparql") == [("imported",)]


@pytest.mark.parametrize("pattern", ["GRAPH ?g {}", "GRAPH ?g { :a :p 1 }", "GRAPH ?g { :a :p+ 1 }",
                                     "GRAPH ?g { VALUES ?x { 1 } }"])
def test_parameter_names_a_graph(bus, pattern):
    insert(bus, "GRAPH :g { :a :p 1 }")
    for name, n_rows in (("g", 1), ("h", 0)):
        graph = ("http://example.org/" + name, "@id", "")
        assert len(bus.query(PREFIX + "SELECT ?z { " + pattern + " }", {"g": graph}, language="sparql")) == n_rows, name


@pytest.mark.parametrize("pattern", ["?y :q+/:q* 'x'", "?y :q+ ?m . ?m :q* 'x'", "?y :q+ ?z . ?y :q* 'x'"])
def test_parameter_is_the_first_variable(bus, pattern):
    """A path does not take the first variable of the query for the end of another path that it has none of."""
    insert(bus, ":a :q 'x'")
    term = ("http://example.org/d", "@id", "")
    assert bus.query(PREFIX + "SELECT (?x AS ?v) { " + pattern + " }", {"x": term}, language="sparql") == [(term,)]


@pytest.mark.parametrize("data, update, n_quads", [case[1:] for case in UPDATES], ids=[case[0] for case in UPDATES])
def test_update(bus, data, update, n_quads):
    insert(bus, data)
    bus.update(PREFIX + update, language="sparql")
    job, text = bus.dump("nquads")
    assert job["State"] == "finished"
    assert len(text.splitlines()) == n_quads, text
