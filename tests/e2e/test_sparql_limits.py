# SPDX-License-Identifier: LGPL-2.1-or-later
"""Large and deep SPARQL: every construct works far beyond what people write, or ends at a limit that its error names."""
import json
import os
import re
import tempfile
import time

import pytest

from harness import SANITIZER, SLOWER, BusError, status_kib

PREFIX = "PREFIX : <http://example.org/> "
N_NODES = 260
LIMITED = r": the limit '\w+' is \d+"


def data():
    """A chain of nodes with numbers, the same in the graph :g; :hub leads to all of them."""
    chain = " ".join(f":n{i} :p :n{i + 1} ; :v {i} ." for i in range(N_NODES))
    star = " ".join(f":hub :to{i} :n{i} ." for i in range(N_NODES))
    return f"INSERT DATA {{ {chain} {star} GRAPH :g {{ {chain} }} }}"


@pytest.fixture(scope="module")
def store():
    from harness import World
    world = World()
    world.update(PREFIX + data(), language="sparql")
    yield world
    world.finish()


def nest(n, opening, core, closing):
    """@opening and @closing may count their level: '{i}', and '{j}' for the next."""
    def fill(text, i):
        return text.replace("{i}", str(i)).replace("{j}", str(i + 1))
    return "".join(fill(opening, i) for i in range(n)) + fill(core, n) + "".join(fill(closing, i) for i in reversed(range(n)))


def rows(n, text, separator=" ", first=0):
    return separator.join(text.replace("{i}", str(i)).replace("{j}", str(i + 1)) for i in range(first, n))


def select(pattern, items="*", modifiers=""):
    return f"SELECT {items} {{ {pattern} }} {modifiers}"


def ask(expression):
    return f"ASK {{ FILTER({expression}) }}"


# What is nested: opening, core, closing; the answer is one row, whatever the depth.
NESTED = {
    "group": ("{ ", ":n0 :p ?x", " }"),
    "group-of-patterns": (":n{i} :p ?x{i} { ", ":n{i} :p ?x{i}", " }"),
    "optional": ("?a{i} :p ?a{j} OPTIONAL { ", "?a{i} :p ?a{j}", " }"),
    "optional-of-two": ("?a{i} :p ?a{j} . ?a{i} :v ?v{i} OPTIONAL { ", "?a{i} :p ?a{j}", " }"),
    "optional-with-filter": ("?a{i} :p ?a{j} OPTIONAL { FILTER(BOUND(?a{i})) ", "?a{i} :p ?a{j}", " }"),
    "union": ("{ { :no :p ?x } UNION { ", ":n0 :p ?x", " } }"),
    "union-and-pattern": (":n{i} :p ?x{i} { { :no :p ?x } UNION { ", ":n0 :p ?x", " } }"),
    "minus": ("?a0 :p ?a1 MINUS { ", "?a0 :p :nowhere", " }"),  # of an odd depth
    "minus-of-others": ("?a{i} :p ?a{j} MINUS { ", "?a{i} :p :nowhere", " }"),
    "exists": ("?a{i} :p ?a{j} FILTER EXISTS { ", "?a{i} :p ?a{j}", " }"),
    "not-exists": ("?a{i} :p ?a{j} FILTER NOT EXISTS { ", "?a{i} :p :nowhere", " }"),
    "exists-in-expression": ("?a{i} :p ?a{j} FILTER(1 = 2 || EXISTS { ", "?a{i} :p ?a{j}", " })"),
    "exists-of-the-outermost": ("?a0 :p ?b{i} FILTER EXISTS { ", "?a0 :v ?v", " }"),
    "exists-of-the-outermost-or": ("?a0 :p ?b{i} FILTER(?a0 = :no || EXISTS { ", "?a0 :v ?v", " })"),
    "exists-of-union": ("?a{i} :p ?a{j} FILTER EXISTS { { ?a{i} :p ?b{i} } UNION { ?a{i} :no ?b{i} } ", "?a{i} :v ?v", " }"),
    "subselect": ("{ SELECT * { :n{i} :p ?x{i} . ", ":n0 :p ?x", " } }"),
    "subselect-limit": ("{ SELECT * { :n{i} :p ?x{i} . ", ":n0 :p ?x", " } LIMIT 10 }"),
    "subselect-distinct": ("{ SELECT DISTINCT ?x { ", ":n0 :p ?x", " } }"),
    "subselect-count": ("{ SELECT (COUNT(*) AS ?n{i}) { ", ":n0 :p ?x", " } }"),
    "subselect-group": ("{ SELECT ?x (COUNT(*) AS ?n{i}) { ", ":n0 :p ?x", " } GROUP BY ?x }"),
    "subselect-expression": ("{ SELECT ?x ((?n{j} + 1) AS ?n{i}) { ", ":n0 :p ?x", " } }"),
    "graph": ("GRAPH :g { ", ":n0 :p ?x", " }"),
    "graph-variable": ("GRAPH ?g{i} { ", ":n0 :p ?x", " }"),
    "graph-same-variable": ("GRAPH ?g { ", ":n0 :p ?x", " }"),
    "bind": ("{ ", ":n0 :v ?x0", " BIND(?x0 + {i} AS ?y{i}) }"),
    "bind-on-bind": ("{ ", "BIND(1 AS ?y{i})", " BIND(?y{j} + 1 AS ?y{i}) }"),
    "filter": ("{ FILTER(?x != -1{i}) ", ":n0 :v ?x", " }"),
    "values": ("{ VALUES ?x { :n1 :n2 } ", ":n0 :p ?x", " }"),
}

# Expressions that nest; true whatever the depth.
EXPRESSIONS = {
    "parentheses": ("(", "true", ")"),
    "not": ("!(", "true", ")"),
    "strlen": ("STRLEN(STR(", "'x'", "))"),
    "and": ("(true && ", "true", ")"),
    "or": ("(false || ", "true", ")"),
    "if": ("IF(true, ", "true", ", false)"),
    "if-condition": ("IF(", "true", ", true, false)"),
    "coalesce": ("COALESCE(", "true", ", false)"),
    "equals": ("(true = ", "true", ")"),
    "in": ("(true IN (false, ", "true", "))"),
    "sum": ("(1 + ", "1", ")"),
    "negative": ("-(", "1", ")"),
    "concat": ("CONCAT('x', ", "'y'", ")"),
}

# Paths that nest, from the hub to the first node or back.
PATHS = {
    "inverse": ("^(^(", ":to0", "))"),
    "alternative": ("(:nothing|", ":to0", ")"),
    "star": ("(", ":nothing", ")*"),
    "plus": ("(", ":to0", ")+"),
    "sequence-of-plus": ("(", ":to0", "/:nothing?)+"),
    "optional-alternative": ("((", ":to0", ")?|:nothing)"),
}

NODES = rows(1000, ":n{i}", ", ")
WIDE = {
    "chain-200": select(rows(200, "?a{i} :p ?a{j} ."), modifiers="LIMIT 1"),
    "chain-from-constant-200": select(":n0 :p ?a1 . " + rows(200, "?a{i} :p ?a{j} .", first=1)),
    "chain-mixed-200": select(rows(100, "?a{i} :p ?a{j} ; :v ?v{i} .") + " FILTER(?v0 = 0)"),
    "star-200": select(rows(200, "?h :to{i} ?x{i} .")),
    "star-of-values-200": select(rows(200, ":n{i} :v ?v{i} .")),
    "variable-predicates-60": select(":n0 :p ?a1 . " + rows(60, "?a{i} ?p{i} ?a{j} .", first=1) + " FILTER(isIRI(?a60))"),
    "path-sequence-200": select(":n0 " + "/".join([":p"] * 200) + " ?x"),
    "path-inverse-sequence-200": select("?x ^(" + "/".join(["^:p"] * 200) + ") :n200"),
    "path-alternative-300": select(":n0 " + rows(300, ":q{i}", "|") + "|:p ?x"),
    "path-alternative-of-sequences-50": select(":n0 " + rows(50, "(:q{i}/:p)", "|") + "|:p ?x"),
    "path-alternative-of-sequences-300": select(":n0 " + rows(300, "(:q{i}/:p)", "|") + "|:p ?x"),
    "path-negated-300": select(":n0 !(" + rows(300, ":q{i}", "|") + "|:v) ?x"),
    "path-alternative-plus-300": select(":n259 (" + rows(300, ":q{i}", "|") + "|:p)+ ?x"),
    "path-closures-30": select(":hub :to258 ?a0 . " + rows(30, "?a{i} :p* ?a{j} ."), modifiers="LIMIT 1"),
    "optional-200": select(":n0 :p ?x . " + rows(200, "OPTIONAL { :n{i} :v ?v{i} }")),
    "optional-of-two-200": select(":n0 :p ?x . " + rows(200, "OPTIONAL { :n{i} :v ?v{i} . :n{i} :p ?o{i} }")),
    "optional-chain-200": select(":n0 :p ?a0 . " + rows(200, "OPTIONAL { ?a{i} :p ?a{j} }")),
    "optional-of-union-30": select(":n0 :p ?a0 . " + rows(30, "OPTIONAL { { ?a{i} :p ?a{j} } UNION { ?a{i} :q ?a{j} } }")),
    "minus-100": select(":n0 :p ?x . " + rows(100, "MINUS { ?x :v {i} . ?x :p :n0 }")),
    "exists-100": select(":n0 :p ?x . " + rows(100, "FILTER NOT EXISTS { ?x :q{i} ?y }")),
    "exists-20-of-outermost": select(":n0 :v ?x " + nest(20, "FILTER EXISTS { ?a{i} :v ?b{i} FILTER(?b{i} >= ?x) ", "?z :p ?y",
                                                         " }")),
    "graph-100": select(rows(100, "GRAPH :g { :n{i} :p ?x{i} }")),
    "graph-variable-50": select(rows(50, "GRAPH ?g { :n{i} :p ?x{i} }")),
    "subselects-100": select(rows(100, "{ SELECT ?x{i} { :n{i} :p ?x{i} } LIMIT 1 }")),
    "groups-100": select(rows(100, "{ SELECT (COUNT(*) AS ?x{i}) { :n{i} :p ?y } }")),
    "values-1000": select(":n0 :p ?x VALUES ?x { " + NODES.replace(",", "") + " }"),
    "values-1000-of-5": select("VALUES (?a ?b ?c ?d ?e) { " + rows(1000, "(:n{i} {i} 'x{i}' {i}.5 'y'@en)") + " } :hub :to7 ?a"),
    "values-1000-undef": select("VALUES (?a ?b) { " + rows(1000, "(UNDEF {i})") + " } :n7 :v ?b"),
    "values-at-end-1000": select(":n0 :p ?x", modifiers="VALUES ?x { " + NODES.replace(",", "") + " }"),
    "values-tables-100": select(rows(100, "VALUES ?x{i} { {i} }")),
    "values-tables-of-two-60": select(":n7 :v ?x . " + rows(60, "VALUES ?x { 7 {i}00 }")),
    "union-300": select(rows(300, "{ :m{i} :p ?x }", " UNION ") + " UNION { :n0 :p ?x }"),
    "union-300-joined": select(":n0 :p ?y { " + rows(300, "{ ?y :p{i} ?x }", " UNION ") + " UNION { ?y :p ?x } }"),
    "union-30-of-unions": select(rows(30, "{ { :n{i} :p ?x{i} } UNION { :nowhere :p ?x{i} } }")),
    "union-600-of-own-variables": select(rows(600, "{ :m{i} :p{i} ?x{i} . ?x{i} :q ?y{i} }", " UNION ") + " UNION { :n0 :p ?x }"),
    "bind-300-chained": select(":n0 :v ?x0 " + rows(300, "BIND(?x{i} + 1 AS ?x{j})") +
                               " FILTER(?x0 = 0 && ?x137 = 137 && ?x300 = 300)"),
    "bind-400-chained": select("BIND(0 AS ?x0) " + rows(400, "BIND(?x{i} + 1 AS ?x{j})"), items="?x400"),
    "bind-1000-chained-of-one": select("BIND(0 AS ?x0) " + rows(1000, "BIND(?x{i} + 1 AS ?x{j})"), items="?x1000"),
    "bind-300-chained-in-graphs": select("GRAPH ?g { ?n :p ?m BIND(1 AS ?x0) " + rows(300, "BIND(?x{i} + ?x0 AS ?x{j})") +
                                         " FILTER EXISTS { ?m :p ?k } } FILTER(?x137 = 138)", items="(COUNT(*) AS ?count)"),
    "bind-300-of-unbound": select(":n0 :v ?x0 " +
                                  rows(300, "BIND(IF(?x0 = {i}, 1/0, ?x0 + {i}) AS ?y{i}) BIND(?y{i} + 1 AS ?z{i})") +
                                  " FILTER(!BOUND(?z0) && ?z299 = 300)"),
    "bind-200": select(":n0 :v ?x0 " + rows(200, "BIND(?x{i} + 1 AS ?x{j})")),
    "bind-volatile-50": select(":n0 :v ?x " + rows(50, "BIND(RAND() AS ?r{i})")),
    "bind-bnode-50": select(":n0 :v ?x " + rows(50, "BIND(BNODE('b{i}') AS ?r{i})")),
    "select-expressions-300": select(":n0 :v ?x", items=rows(300, "(?x + {i} AS ?y{i})")),
    "select-columns-1000": select(":n0 :v ?x", items=rows(1000, "(?x AS ?y{i})")),
    "filter-500": select(":n0 :v ?x " + rows(500, "FILTER(?x != {j})")),
    "group-by-50": select(rows(50, "?h :to{i} ?x{i} ."), items="(COUNT(*) AS ?n)", modifiers="GROUP BY " + rows(50, "?x{i}")),
    "group-by-expressions-50": select("?h :to0 ?x", items="(COUNT(*) AS ?n)",
                                      modifiers="GROUP BY " + rows(50, "(CONCAT(STR(?x), '{i}') AS ?k{i})")),
    "aggregates-100": select("?n :v ?v", items=rows(100, "(SUM(?v + {i}) AS ?s{i})")),
    "aggregates-distinct-100": select("?n :v ?v", items=rows(100, "(COUNT(DISTINCT ?v + {i}) AS ?s{i})")),
    "group-concat-60": select("?n :v ?v", items=rows(60, "(GROUP_CONCAT(DISTINCT ?v; SEPARATOR='{i}') AS ?s{i})")),
    "having-100": select("?n :v ?v", items="(COUNT(*) AS ?c)",
                         modifiers="HAVING (" + rows(100, "(SUM(?v) > {i})", " && ") + ")"),
    "order-by-50": select(rows(50, "?h :to{i} ?x{i} ."), modifiers="ORDER BY " + rows(50, "?x{i}")),
    "from-100": "SELECT * " + rows(100, "FROM :f{i}") + " FROM :g { :n0 :p ?x }",
    "from-named-100": "SELECT * " + rows(100, "FROM NAMED :f{i}") + " FROM NAMED :g { GRAPH ?g { :n0 :p ?x } }",
    "count-distinct-of-200": select(rows(200, ":n{i} :v ?v{i} ."), items="(COUNT(DISTINCT *) AS ?n)"),
    "distinct-of-200": select(rows(200, ":n{i} :v ?v{i} ."), items="DISTINCT *"),
    "collection-60": select("?x :list (" + rows(60, "{i}") + ")", items="(COUNT(*) AS ?n)"),
    "blank-nodes-80": select(":n0 :p " + nest(80, "[ :p ", "?x", " ]")),
    "expression-of-200-variables": select(rows(200, ":n{i} :v ?v{i} .") + " FILTER(" + rows(200, "?v{i}", " + ") + " = 19900)"),
    "concat-of-200-variables": select(rows(200, ":n{i} :v ?v{i} .") + " FILTER(STRLEN(CONCAT(" + rows(200, "STR(?v{i})", ", ") +
                                      ")) = 490)"),
    "in-of-200-variables": select(rows(200, ":n{i} :v ?v{i} .") + " FILTER(199 IN (" + rows(200, "?v{i}", ", ") + "))"),
    "not-in-of-200-variables": select(rows(200, ":n{i} :v ?v{i} .") + " FILTER(200 NOT IN (" + rows(200, "?v{i}", ", ") + "))"),
    "bind-and-1000": select("BIND(" + " && ".join(["true"] * 1000) + " AS ?x)"),
    "optionals-of-one-variable-40": select(rows(40, "OPTIONAL { :nowhere{i} :p ?x }") + " OPTIONAL { :n0 :p ?x }"),
    "groups-of-optionals-of-one-variable-40": select(rows(40, "{ OPTIONAL { :nowhere{i} :p ?x } }") + " :n0 :p ?x"),
    "optionals-in-expressions-40": select(rows(40, "OPTIONAL { :n{i} :v ?y{i} BIND(?y{i} + 1 AS ?z{i}) FILTER(?z{i} > 0) }")),
    "prologue-1000": rows(1000, "PREFIX p{i}: <http://example.org/{i}/>") + " " + PREFIX + select(":n0 :p ?x"),
}

# The limit that ends it.
TOO_COMPLEX = {
    "groups-101": (select(nest(101, "{ ", ":n0 :p ?x", " }")), "sparql_depth"),
    "parentheses-101": (ask(nest(101, "(", "true", ")")), "sparql_depth"),
    "functions-101": (ask(nest(101, "STR(", "'x'", ")")), "sparql_depth"),
    "paths-101": (select(":hub " + nest(101, "(", ":to0", ")*") + " ?x"), "sparql_depth"),
    "collections-101": (select("?x :p " + nest(101, "(", "1", ")")), "sparql_depth"),
    "sum-600": (ask(" + ".join(["1"] * 600) + " = 600"), "sparql_chain"),
    "product-600": (ask(" * ".join(["1"] * 600) + " = 1"), "sparql_chain"),
    "variables-20000": (select(rows(20000, "?a{i} :p ?b .")), "sparql_variables"),
    "patterns-3000": (select(rows(3000, "?a :p{i} ?b .")), "sparql_parts"),
    "path-sequence-20000": (select("?a " + rows(20000, ":p{i}", "/") + " ?b"), "sparql_parts"),
    "path-alternative-20000": (select("?a (" + rows(20000, ":p{i}", "|") + ")* ?b"), "sparql_parts"),
    "path-negated-20000": (select("?a !(" + rows(20000, ":p{i}", "|") + ") ?b"), "sparql_parts"),
    "optional-20000": (select("?a :p ?b " + rows(20000, "OPTIONAL { ?a :p ?b }")), "sparql_parts"),
    "minus-20000": (select("?a :p ?b " + rows(20000, "MINUS { ?a :p ?b }")), "sparql_parts"),
    "exists-2000": (select("?a :p ?b " + rows(2000, "FILTER EXISTS { ?a :p ?b }")), "sparql_parts"),
    "union-20000": (select(rows(20000, "{ ?a :p ?b }", " UNION ")), "sparql_parts"),
    "subselects-20000": (select(rows(20000, "{ SELECT * { ?a :p ?b } }")), "sparql_parts"),
    "construct-where-3000": ("CONSTRUCT WHERE { " + rows(3000, "?a :p{i} ?b .") + " }", "sparql_parts"),
    "group-by-20000": (select("?a :p ?b", "(COUNT(*) AS ?n)", "GROUP BY " + rows(20000, "(?a + {i})")), "sparql_parts"),
    "having-3000": (select("?a :p ?b", "(COUNT(*) AS ?n)", "HAVING " + rows(3000, "(COUNT(?a) > {i})")), "sparql_parts"),
    "order-by-3000": (select("?a :p ?b", "*", "ORDER BY " + rows(3000, "(?a + {i})")), "sparql_parts"),
    "path-sequence-1900": (select("?a " + rows(1900, ":p{i}", "/") + " ?b"), "sparql_plan_bytes"),
    "select-expressions-9000": (select(":n0 :v ?x", items=rows(9000, "(?x + {i} AS ?y{i})")), "columns"),
    "columns-2500": (select(":n0 :v ?x", items=rows(2500, "(?x AS ?y{i})")), "columns"),
    "text-of-2-mib": ("# " + "x" * 2 * 1024 * 1024 + "\n" + select(":n0 :p ?x"), "statement_text_bytes"),
    "constants-33000-in-values": (select("VALUES ?x { " + rows(33000, "{i}") + " }"), "variables"),
    "constants-33000-in-list": (select("?x :p ?y FILTER(?x IN (" + rows(33000, ":n{i}", ", ") + "))"), "variables"),
    "bind-600-chained": (select("BIND(0 AS ?x0) " + rows(600, "BIND(?x{i} + 1 AS ?x{j})")), "sparql_sql_depth"),
    "minus-91": (select(nest(91, *NESTED["minus-of-others"]), modifiers="LIMIT 1"), "sparql_sql_depth"),
}

TRUE = {
    "in-1000-iris": ":n999 IN (" + NODES + ")",
    "not-in-1000-iris": ":n NOT IN (" + NODES + ")",
    "in-1000-literals": "'999' IN (" + rows(1000, "'{i}'", ", ") + ")",
    "in-1000-mixed": "999 IN (:x, " + rows(1000, "{i}", ", ") + ", 1/0)",
    "concat-300": "STRLEN(CONCAT(" + ", ".join(["'x'"] * 300) + ")) = 300",
    "concat-1000": "STRLEN(CONCAT(" + ", ".join(["'x'"] * 1000) + ")) = 1000",
    "coalesce-300": "COALESCE(" + ", ".join(["1/0"] * 300) + ", true)",
    "coalesce-1000": "COALESCE(" + ", ".join(["1/0"] * 1000) + ", true)",
    "sum-400": " + ".join(["1"] * 400) + " = 400",
    "differences-400": "400 - " + " - ".join(["1"] * 400) + " = 0",
    "product-400": " * ".join(["1"] * 400) + " = 1",
    "and-1000": " && ".join(["true"] * 1000),
    "or-1000": " || ".join(["false"] * 999 + ["true"]),
    "and-or-500": " || ".join(["(true && false)"] * 499 + ["true"]),
}

UPDATES = {
    "insert-data-2000": "INSERT DATA { " + rows(2000, ":i{i} :i :i{j} .") + " }",
    "delete-data-2000": "DELETE DATA { " + rows(2000, ":i{i} :i :i{j} .") + " }",
    "insert-200-for-each": "INSERT { " + rows(200, "?x :i{i} _:b{i} .") + " } WHERE { ?x :v 0 }",
    "delete-where-100": "DELETE WHERE { " + rows(100, "?x :i{i} ?b{i} .") + " }",
    "operations-300": rows(300, "INSERT DATA { :i{i} :i {i} }", " ; "),
    "modifications-100": rows(100, "DELETE { ?x :w ?y } INSERT { ?x :w {i} } WHERE { ?x :v 0 OPTIONAL { ?x :w ?y } }", " ; "),
}


def ask_or_count(store, text, **opts):
    """Rows that are there; for ASK the answer."""
    _, body, truncated = store.query_text(PREFIX + text, "sparql-json", language="sparql", **opts)
    assert opts or not truncated
    result = json.loads(body)
    return result["boolean"] if "boolean" in result else len(result["results"]["bindings"])


@pytest.mark.parametrize("depth", [9, 31, 91])
@pytest.mark.parametrize("name", NESTED)
def test_nested_pattern(store, name, depth):
    opening, core, closing = NESTED[name]
    text = nest(depth, opening, core, closing)
    try:
        assert ask_or_count(store, select(text, modifiers="LIMIT 1")) == 1
    except BusError as error:
        assert depth > 31 and re.search(LIMITED, error.message), error


@pytest.mark.parametrize("depth", [30, 44])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_nested_expression(store, name, depth):
    text = nest(depth, *EXPRESSIONS[name])
    assert ask_or_count(store, ask(text)) is True
    assert ask_or_count(store, "ASK { BIND(" + text + " AS ?x) FILTER(?x) }") is True


@pytest.mark.parametrize("depth", [10, 30, 45])
@pytest.mark.parametrize("name", PATHS)
def test_nested_path(store, name, depth):
    path = nest(depth, *PATHS[name])
    try:
        assert ask_or_count(store, "ASK { :hub " + path + " :n0 }") is (name != "star")
    except BusError as error:
        assert name == "sequence-of-plus" and re.search(LIMITED, error.message), error


@pytest.mark.parametrize("name", WIDE)
def test_wide_pattern(store, name):
    assert ask_or_count(store, WIDE[name]) == 1


@pytest.mark.parametrize("name", TOO_COMPLEX)
def test_limit_is_named(store, name):
    text, limit = TOO_COMPLEX[name]
    with pytest.raises(BusError) as error:
        ask_or_count(store, text)
    assert f"the limit '{limit}' is " in error.value.message, error.value


def test_many_large_plans_take_little_memory(make_bus):
    """A plan of 379 KB of path took 9.9 GB, and nothing bounded those that were kept."""
    bus = make_bus()
    pid = bus.daemon_pid()
    for i in range(40):
        try:
            with bus.prepare(PREFIX + select(f":n{i} " + rows(900, ":p{i}", "/") + " ?b"), language="sparql"):
                pass
        except BusError as error:
            assert "sparql_plan_bytes" in error.message
    assert SANITIZER or status_kib(pid, "RssAnon") < 200 * 1024  # AddressSanitizer keeps what is freed
    with pytest.raises(BusError, match="sparql_parts"):
        bus.update(PREFIX + "DELETE WHERE { " + rows(3000, "?a :p{i} ?b .") + " }", language="sparql")
    # what each operation has counts by itself
    bus.update(PREFIX + rows(700, "INSERT { ?a :q ?b } WHERE { ?a :p ?b . ?b :p ?c }", " ; "), language="sparql")


@pytest.mark.parametrize("name", TRUE)
def test_wide_expression(store, name):
    assert ask_or_count(store, ask(TRUE[name])) is True


@pytest.mark.parametrize("name", UPDATES)
def test_update(store, name):
    store.update(PREFIX + UPDATES[name], language="sparql")


# --- what would take for ever --------------------------------------------------------------------------------------------

DOUBLED = "BIND('" + "x" * 1000 + "' AS ?t0) " + rows(30, "BIND(CONCAT(?t{i}, ?t{i}) AS ?t{j})")
ALL = "?s{i} ?p{i} ?o{i} ."
BOMBS = {
    "product": select(rows(6, ALL), items="(COUNT(*) AS ?n)"),
    "product-sorted": select(rows(3, ALL), modifiers="ORDER BY ?s2 ?s1"),
    "product-distinct": select(rows(3, ALL), items="DISTINCT ?s0 ?s1 ?s2 ?o2"),
    "product-grouped": select(rows(3, ALL), items="?s0 ?s2 (COUNT(*) AS ?n)", modifiers="GROUP BY ?s0 ?s2"),
    "exists-without-answer": select(ALL + " FILTER EXISTS { " + rows(5, ALL, first=1) + " FILTER(?s4 = ?p3 && ?o2 < ?o1) }"),
    "minus-without-answer": select(ALL + " MINUS { ?s{i} ?x ?y . " + rows(4, ALL, first=1) + " FILTER(?o1 = ?p2 && ?o2 > ?o3) }"),
    "paths-of-all-pairs": select("?a (!:nothing)* ?b . ?c (!:nothing)* ?d . ?e (!:nothing)+ ?f", items="(COUNT(*) AS ?n)"),
    "path-of-paths": select("?a ((:p|^:p)/(:p|^:p))+ ?b . ?b ((:v|^:v)/(:p|^:p)*)* ?c", items="(COUNT(*) AS ?n)"),
    "regex": "ASK { ?s :v ?o FILTER(REGEX('" + "a" * 5000 + "', '^(a+)+$b')) }",
    "regex-backwards": "ASK { ?s :v ?o FILTER(REGEX('" + "a" * 5000 + "!', '^(a|aa)+$')) }",
    "replace": "ASK { ?s :v ?o FILTER(STRLEN(REPLACE('" + "a" * 5000 + "!', '(a*)*b', '$1')) > 9) }",
    "doubled-text": select(DOUBLED, items="(STRLEN(?t30) AS ?n)"),
    "concatenated-group": select(rows(2, ALL), items="(STRLEN(GROUP_CONCAT(CONCAT(STR(?s0), STR(?s1), STR(?o1)))) AS ?n)"),
    "decimals": select("BIND(9999999999.99 AS ?x0) " + rows(60, "BIND(?x{i} * ?x{i} AS ?x{j})") + rows(3, ALL),
                       items="(SUM(?x60) AS ?n)"),
    "values-joined": select(rows(8, "VALUES ?x{i} { " + rows(100, "{i}") + " }"), items="(COUNT(*) AS ?n)"),
    "functions": select(rows(3, ALL) + " FILTER(STRLEN(SHA512(CONCAT(STR(?o0), STR(?o1), STR(?o2)))) = 1)"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bomb(store, name):
    """Each ends within its deadline and 250 ms, by an answer or an error that names the limit; the daemon goes on at once."""
    text = BOMBS[name].replace("{i}", "0").replace("{j}", "1")
    start = time.monotonic()
    try:
        ask_or_count(store, text, timeout_ms=500)
    except BusError as error:
        assert error.name in ("Timeout", "TooComplex", "TooBig", "NoMemory", "DiskFull"), error
    assert time.monotonic() - start < 0.75 * SLOWER
    assert ask_or_count(store, "ASK { :n0 :v 0 }") is True


@pytest.mark.parametrize("text", ["INSERT { ?s0 :x ?o2 } WHERE { " + rows(3, ALL) + " }",
                                  "DELETE { ?s0 ?p0 ?o0 } WHERE { " + rows(4, ALL) + " FILTER(?o1 != ?p2 && ?o2 > ?o3) }"])
def test_bomb_in_an_update(store, text):
    start = time.monotonic()
    with pytest.raises(BusError) as error:
        store.update(PREFIX + text, language="sparql", timeout_ms=500)
    assert error.value.name in ("Timeout", "DiskFull", "NoMemory"), error.value
    assert time.monotonic() - start < 0.75 * SLOWER
    assert ask_or_count(store, "ASK { ?s :x ?o }") is False


# --- bad documents ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("fmt, line, wrong, message", [
    ("ntriples", "<http://e/{i}> <http://e/p> \"{i}\" .\n", "<http://e/x> <http://e/p> .\n", "unexpected '.', expected an object"),
    ("nquads", "<http://e/{i}> <http://e/p> <http://e/{j}> <http://e/g> .\n", "<http://e/x> _ .\n", "expected a predicate"),
    ("turtle", "<http://e/{i}> <http://e/p> {i} , [ <http://e/q> ( {i} ) ] .\n", "<http://e/x> <http://e/p> nothing:x .\n",
     "'nothing:' is not declared"),
    ("trig", "<http://e/g{i}> { <http://e/{i}> <http://e/p> {i} }\n", "<http://e/g> { } }\n", "'}'"),
])
@pytest.mark.parametrize("replace", [False, True])
def test_malformed_in_the_middle(store, fmt, line, wrong, message, replace):
    """60,000 good lines on both sides: nothing of them is there afterwards, in the store or beside it."""
    before, generation = store.dump("nquads")[1], store.property("Generation")
    files = sorted(os.listdir(store.store))
    n = 60000
    with tempfile.TemporaryFile() as file:
        file.write((rows(n, line, "") + wrong + rows(2 * n, line, "", first=n)).encode())
        file.seek(0)
        job = store.import_fd(file.fileno(), fmt, replace=replace)
    assert job["State"] == "failed" and job["ErrorName"].endswith(".Syntax"), job
    assert job["ErrorMessage"].startswith(f"{n + 1}:") and message in job["ErrorMessage"], job
    assert store.dump("nquads")[1] == before
    assert store.property("Generation") == generation
    assert sorted(os.listdir(store.store)) == files


@pytest.mark.parametrize("pattern", [
    "?s <x:p>/(<x:q>*/<x:r>)? ?o",
    "{ SELECT DISTINCT ?s { ?s <x:p> ?o } } { SELECT DISTINCT ?s { ?s <x:q> ?o } }"])
def test_what_is_materialised_is_looked_up(bus, pattern):
    """SQLite knows no statistics of the quads: for few rows it would scan the other side once for each of them."""
    plan = bus.explain("SELECT * { " + pattern + " }", language="sparql")[1]
    assert "AUTOMATIC COVERING INDEX" in plan, plan


@pytest.mark.parametrize("pattern", [
    "?s <x:p>/<x:q>? ?o", "?s <x:p>/(<x:q>/<x:r>)+ ?o", "?s <x:p>/<x:q>* ?o", "?s <x:p> ?o OPTIONAL { ?o <x:q>+ ?z }",
    "?s <x:p> ?o MINUS { ?o <x:q>+ ?z }", "?s <x:p> ?o . ?o <x:q>+ ?z . ?z <x:r>* ?w"])
def test_path_is_searched_from_each_row(bus, pattern):
    plan = bus.explain("SELECT * { " + pattern + " }", language="sparql")[1]
    assert "VIRTUAL TABLE" in plan and "MATERIALIZE" not in plan, plan


def double(text, n):
    """Patterns that bind ?x{n} to 2^n times @text."""
    return f"BIND('{text}' AS ?x0) " + rows(n, "BIND(CONCAT(?x{i}, ?x{i}) AS ?x{j})")


def test_one_replacement_ends_at_a_limit(bus):
    """3,000 times a text of 1 MiB was appended before a limit was asked: the daemon was out of memory."""
    pid = bus.daemon_pid()
    replaced = "STRLEN(REPLACE(?x20, '^a+$', '" + "$0" * 3000 + "'))"
    with pytest.raises(BusError, match=r"value_bytes|query_memory_bytes"):
        bus.query(select(double("a", 20), f"({replaced} AS ?n)"), language="sparql")
    assert bus.daemon_pid() == pid
    assert SANITIZER or status_kib(pid, "VmHWM") < 256 << 10


@pytest.mark.deadline(120)
@pytest.mark.parametrize("value, order", [
    ("CONCAT(?b, '{i}', ?b)", ""), ("UCASE(CONCAT(?b, '{i}'))", ""), ("REPLACE(?b, '^a+', '$0$0{i}')", ""),
    ("CONCAT(?b, '{i}')", "ORDER BY DESC(?y)")])
def test_computed_values_are_in_the_account(bus, value, order):
    """24 open queries with rows of 8 MiB: what functions compute, sort keys and the dictionary's texts count as SQLite's."""
    for i in range(4):
        pattern = double("a", 22) + f" BIND(CONCAT(?x22, '{i}') AS ?x)"
        bus.update(f"INSERT {{ <x:s> <x:p{i}> ?x }} WHERE {{ {pattern} }}", language="sparql")
    pid, caller, channels, most_kib = bus.daemon_pid(), bus.caller(), [], 0
    for i in range(24):
        text = select(f"<x:s> ?p ?b BIND({value} AS ?y)".replace("{i}", str(i)), "?b ?y", order)
        try:
            channels.append(caller.prepare(text, language="sparql"))
            channels[-1].send_fetch()
        except BusError as error:
            assert "heap_hard_bytes" in str(error), error
        for _ in range(10):
            most_kib = max(most_kib, status_kib(pid, "RssAnon"))
            time.sleep(0.01)
    assert channels and bus.daemon_pid() == pid
    assert SANITIZER or most_kib < 340 << 10, most_kib
    for channel in channels:
        channel.close()


def test_searches_give_their_memory_back(bus):
    """The stack of a search is up to 8 MiB, and stayed in each of 16 kept expressions of a connection."""
    pid = bus.daemon_pid()
    before = status_kib(pid, "RssAnon")
    for i in range(12):
        with pytest.raises(BusError, match="regex_steps"):
            bus.query(select(double("ab", 15), f"(REGEX(?x15, '^(a|b|c{{{i + 1}}})*$') AS ?n)"), language="sparql")
    assert SANITIZER or status_kib(pid, "RssAnon") - before < 32 << 10
