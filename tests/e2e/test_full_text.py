# SPDX-License-Identifier: LGPL-2.1-or-later
"""Full-text search: fts:match in every place where a pattern may stand, settings, and what is wrong."""
import json

import pytest
from gi.repository import GLib

from harness import MANAGER, BusError
from wire_client import RemoteError

PREFIXES = "PREFIX : <http://e/> PREFIX fts: <http://queryd.org/fts#> "
DATA = """
    :a :label "Hello world" ; :comment "a green hello tree" .
    :b :label "hello café"@fr ; :label "second hello" .
    :c :label "other" ; :n 5 .
    GRAPH :g { :d :label "hello graph" . :a :label "Hello world" }
    GRAPH :h { :d :label "hello graph" }
"""


def set_full_text(bus, **options):
    kinds = {"add": "as", "remove": "as", "tokenizer": "s"}
    bus.call("SetFullText", "(a{sv})", {key: GLib.Variant(kinds.get(key, "b"), value) for key, value in options.items()},
             interface=MANAGER)


def update(bus, text):
    return bus.update(PREFIXES + text, language="sparql")


def rows_of(bus, text, **options):
    _, body, truncated = bus.query_text(PREFIXES + text, "sparql-json", language="sparql", **options)
    assert not truncated
    return [{name: cell["value"].replace("http://e/", ":") for name, cell in row.items()}
            for row in json.loads(body)["results"]["bindings"]]


def found(bus, text):
    """Rows as tuples of the values that are bound, sorted."""
    return sorted(tuple(row.values()) for row in rows_of(bus, text))


@pytest.fixture
def labels(bus):
    update(bus, "INSERT DATA {" + DATA + "}")
    set_full_text(bus, add=["http://e/label"])
    return bus


PLACES = [
    ("subjects", '?s fts:match "hello"', [(":a",), (":b",)]),
    ("constant-subject", ':a fts:match "hello" . :a :comment ?c', [("a green hello tree",)]),
    ("constant-without", ':c fts:match "hello" . :c :n ?n', []),
    ("bound-subject", '?s :comment ?c . ?s fts:match "hello"', [("a green hello tree", ":a")]),
    ("two-matches", '?s fts:match "hello" . ?s fts:match "second"', [(":b",)]),
    ("two-subjects", '?s fts:match "world" . ?t fts:match "other"', [(":a", ":c")]),
    ("graph", 'GRAPH :g { ?s fts:match "hello" }', [(":a",), (":d",)]),
    ("any-graph", 'GRAPH ?g { ?s fts:match "hello" }', [(":g", ":a"), (":g", ":d"), (":h", ":d")]),
    ("optional", '?s :label ?l OPTIONAL { ?s fts:match "world" . ?s :comment ?c } FILTER(!BOUND(?c))',
     [("hello café", ":b"), ("other", ":c"), ("second hello", ":b")]),
    ("optional-alone", ':c :n ?n OPTIONAL { ?s fts:match "world" }', [("5", ":a")]),
    ("union", '{ ?s fts:match "world" } UNION { ?s fts:match "second" } UNION { ?s :n ?n }', [("5", ":c"), (":a",), (":b",)]),
    ("exists", '?s :label ?l FILTER EXISTS { ?s fts:match "world" }', [("Hello world", ":a")]),
    ("not-exists", '?s :label ?l FILTER NOT EXISTS { ?s fts:match "hello" }', [("other", ":c")]),
    ("exists-variable", '?s :label ?l . BIND("wor*" AS ?q) FILTER EXISTS { ?s fts:match ?q }', [("Hello world", "wor*", ":a")]),
    ("minus", '?s :label ?l MINUS { ?s fts:match "hello" }', [("other", ":c")]),
    ("subselect", '{ SELECT ?s { ?s fts:match "hello" } } ?s :comment ?c', [("a green hello tree", ":a")]),
    ("values", 'VALUES ?q { "world" "other" "none" } ?s fts:match ?q', [("other", ":c"), ("world", ":a")]),
    ("values-behind", '?s fts:match ?q VALUES ?q { "world" <http://e/a> 5 UNDEF }', [("world", ":a")]),
    ("bind", 'BIND(CONCAT("wor", "ld") AS ?q) ?s fts:match ?q', [("world", ":a")]),
    ("text-of-data", ':c :label ?q . ?s fts:match ?q', [("other", ":c")]),
    ("predicate-list", '?s fts:match (:label "hello")', [(":a",), (":b",)]),
    ("phrase", '?s fts:match "\\"hello world\\""', [(":a",)]),
    ("accents", '?s fts:match "CAFE"', [(":b",)]),
    ("literals", '(?s ?r ?l ?p) fts:match "second OR other" FILTER(?r > 0)', None),
    ("path-and-match", '?s :label|:comment ?t . ?s fts:match "other"', [(":c", "other")]),
]


@pytest.mark.parametrize("pattern, rows", [case[1:] for case in PLACES], ids=[case[0] for case in PLACES])
def test_places(labels, pattern, rows):
    got = [tuple(row[name] for name in sorted(row)) for row in rows_of(labels, "SELECT * {" + pattern + "}")]
    if rows is None:
        assert len(got) == 2
    else:
        assert sorted(got) == sorted(tuple(row) for row in rows)


def test_values_of_a_match(labels):
    rows = rows_of(labels, "SELECT ?s ?l ?p (fts:rank(?s) AS ?same) ?r (fts:snippet(?s, '[', ']') AS ?x) (fts:offsets(?s) AS ?o) "
                   '{ (?s ?r ?l ?p) fts:match "hello OR cafe" } ORDER BY DESC(?r) ?l')
    assert [(row["s"], row["l"], row["x"], row["o"]) for row in rows] == [
        (":b", "hello café", "[hello] [café]", "1,5 7,4"), (":a", "Hello world", "[Hello] world", "1,5"),
        (":b", "second hello", "second [hello]", "8,5")]
    assert all(row["r"] == row["same"] and row["p"] == ":label" for row in rows)
    # one solution for a subject: its best literal
    rows = rows_of(labels, 'SELECT ?s (fts:snippet(?s, "[", "]", "..", 8) AS ?x) { ?s fts:match "hello OR cafe" } '
                   "ORDER BY DESC(fts:rank(?s))")
    assert [(row["s"], row["x"]) for row in rows] == [(":b", "[hello] [café]"), (":a", "[Hello] world")]
    # of whichever arm has found it
    rows = rows_of(labels, 'SELECT ?s (fts:snippet(?s) AS ?x) { { ?s fts:match "world" } UNION { ?s fts:match "second" } }')
    assert sorted(row["x"] for row in rows) == ["<b>second</b> hello", "Hello <b>world</b>"]


def test_limit(labels):
    assert len(found(labels, 'SELECT ?s { ?s fts:match ("hello OR cafe" 1) }')) == 1
    assert found(labels, 'SELECT ?l { (?s ?r ?l) fts:match ("hello OR cafe" 1) }') == [("hello café",)]
    # of each graph, of each query text
    assert len(found(labels, 'SELECT ?g ?s { GRAPH ?g { ?s fts:match ("hello" 1) } }')) == 2
    assert len(found(labels, 'SELECT ?q ?s { VALUES ?q { "hello" "hell*" } ?s fts:match (?q 1) }')) == 2


def test_parameter(labels):
    for name in ("?q", "$q"):
        text = PREFIXES + "SELECT ?s { ?s fts:match " + name + " } ORDER BY ?s"
        assert [row[0][0] for row in labels.query(text, {"q": "hello"}, language="sparql")] == ["http://e/a", "http://e/b"]
        assert labels.query(text, {"q": 5}, language="sparql") == []
    subject = PREFIXES + 'SELECT ?n { ?s fts:match "other" ; :n ?n }'
    for name, n_rows in (("c", 1), ("a", 0)):
        assert len(labels.query(subject, {"s": ("http://e/" + name, "@id", "")}, language="sparql")) == n_rows


BAD = [
    ("quote", '?s fts:match "\\"half"', "Syntax", "full-text query: unterminated string"),
    ("operator", '?s fts:match "a AND"', "Syntax", "full-text query: syntax error at its end"),
    ("column", '?s fts:match "dc:title"', "Syntax", "put it in double quotes"),
    ("empty", '?s fts:match ""', "Syntax", "syntax error at its end"),
    ("no-value", "?s fts:match ?q", "Syntax", "the query text has no value there"),
    ("number", "?s fts:match 5", "Syntax", "no query text"),
    ("iri", "?s fts:match :label", "Syntax", "no query text"),
    ("empty-list", "?s fts:match ()", "Syntax", "no query text"),
    ("long-list", '?s fts:match ("a" 1 2)', "Syntax", "and no more"),
    ("bad-limit", '?s fts:match ("a" 0)', "Syntax", "from 1 on"),
    ("subject-list", '(?s ?a ?b ?c ?d) fts:match "a"', "Syntax", "(?s ?rank ?literal ?predicate)"),
    ("rank", '(?s 5) fts:match "a"', "Syntax", "is a variable"),
    ("path", '?s fts:match/:label "a"', "Syntax", "stands in no path"),
    ("function", '?s fts:match "a" FILTER(fts:score(?s) > 1)', "Syntax", "fts:rank, fts:snippet and fts:offsets are known"),
    ("no-match", '?s :label ?l FILTER(fts:rank(?s) > 1)', "Syntax", "no fts:match has the subject ?s"),
    ("arguments", '?s fts:match "a" FILTER(fts:rank(?s, 1) > 1)', "Syntax", "takes the variable of a match"),
    ("not-indexed", '?s fts:match (:comment "a")', "Unsupported", "'queryctl fulltext add PREDICATE' adds it"),
    ("too-long", '?s fts:match "' + "word " * 1000 + '"', "TooComplex", "fulltext_query_bytes"),
    ("too-deep", '?s fts:match "' + "(" * 500 + "a" + ")" * 500 + '"', "Syntax", "full-text query: parser stack overflow"),
]


@pytest.mark.parametrize("pattern, code, words", [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad(labels, pattern, code, words):
    with pytest.raises(BusError) as caught:
        rows_of(labels, "SELECT * {" + pattern + "}")
    assert caught.value.name == code and words in str(caught.value), caught.value


def test_not_enabled(bus):
    with pytest.raises(BusError, match="queryctl fulltext add PREDICATE") as caught:
        rows_of(bus, 'SELECT ?s { ?s fts:match "a" }')
    assert caught.value.name == "Unsupported"
    with pytest.raises(BusError, match="queryctl fulltext add PREDICATE"):
        bus.query("SELECT rowid FROM queryd_fts WHERE queryd_fts MATCH 'a'")


def test_a_kept_statement_outlives_the_index(labels):
    with labels.prepare(PREFIXES + 'SELECT ?s { ?s fts:match "hello" }', language="sparql") as channel:
        assert len(channel.fetch()) == 2
        set_full_text(labels, remove=["http://e/label"])
        with pytest.raises(RemoteError, match="not enabled"):
            channel.fetch()
        set_full_text(labels, all=True)
        assert len(channel.fetch()) == 2


def test_follows_updates(labels):
    def check():
        set_full_text(labels, check=True)
        assert labels.check() == (True, [])

    # the next operation of a request sees what the one before has changed
    update(labels, 'INSERT DATA { :e :label "fresh" } ; INSERT { ?s :seen true } WHERE { ?s fts:match "fresh" }')
    assert found(labels, "SELECT ?s { ?s :seen ?x }") == [(":e",)]
    update(labels, "DELETE { ?s :label ?l } WHERE { ?s fts:match 'fresh' ; :label ?l }")
    assert found(labels, 'SELECT ?s { ?s fts:match "fresh" }') == []
    check()
    update(labels, "CLEAR GRAPH :g")
    assert found(labels, 'SELECT ?g ?s { GRAPH ?g { ?s fts:match "hello" } }') == [(":h", ":d")]
    check()
    # nothing of a request that fails
    with pytest.raises(BusError):
        update(labels, 'INSERT DATA { :e :label "half" } ; CREATE GRAPH :h')
    assert found(labels, 'SELECT ?s { ?s fts:match "half" }') == []
    check()
    update(labels, "DROP ALL")
    assert labels.query("SELECT count(*) FROM queryd_fts_docsize") == [(0,)]
    check()


def test_queryctl(bus):
    def ctl(*words, code=0):
        run = bus.run(bus.queryctl, "fulltext", *words)
        assert run.returncode == code, run.stderr
        return run.stdout + run.stderr

    update(bus, "INSERT DATA {" + DATA + "}")
    ctl("add", "http://e/label", "http://e/comment")
    assert ctl("ls").splitlines()[1:] == ["http://e/comment\tunicode61", "http://e/label\tunicode61"]
    assert found(bus, 'SELECT ?s { ?s fts:match "green" }') == [(":a",)]
    ctl("remove", "http://e/comment")
    assert found(bus, 'SELECT ?s { ?s fts:match "green" }') == []
    ctl("add", "--all")
    ctl("rebuild", "--tokenizer", "trigram")
    assert found(bus, 'SELECT ?s { ?s fts:match "gree" }') == [(":a",)]
    assert ctl("check") == ""
    assert "is not in the full-text index" in ctl("remove", "http://e/n", code=1)
    for words in (["add"], ["ls", "x"], ["find"], ["check", "--all"], ["ls", "--tokenizer", "porter"]):
        assert "usage: queryctl fulltext" in ctl(*words, code=2)


def test_explain(labels):
    sql, plan = labels.explain(PREFIXES + 'SELECT ?s { ?s fts:match "hello" ; :label ?l }', language="sparql")
    assert "queryd_fts MATCH" in sql
    assert "match" in plan


@pytest.mark.parametrize("place", ["GRAPH :g", "GRAPH ?g"])
def test_literals_are_looked_up_in_a_graph(labels, place):
    """Not all quads of the graph are read for each literal that matches."""
    _, plan = labels.explain(PREFIXES + f'SELECT ?s {{ {place} {{ ?s fts:match "hello" }} }}', language="sparql")
    assert "queryd_quad_ospg (o=?)" in plan, plan
