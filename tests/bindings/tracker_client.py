# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program for TinySPARQL, written against libtracker-sparql only; queryd answers it. Prints "all as expected"."""
import sys

import gi

gi.require_version("Tracker", "3.0")
from gi.repository import Gio, GLib, Tracker  # noqa: E402

PARSE, TYPE, UNSUPPORTED = (int(getattr(Tracker.SparqlError, f"ERROR_{name}")) for name in ("PARSE", "TYPE", "UNSUPPORTED"))
DATA = """INSERT DATA { <urn:a> <urn:text> "hello" ; <urn:number> 7 ; <urn:double> "2.5"^^xsd:double ; <urn:flag> true ;
  <urn:time> "2020-01-02T03:04:05Z"^^xsd:dateTime ; <urn:tongue> "chat"@fr ; <urn:resource> <urn:b> ; <urn:blank> _:n }"""
TYPES = {"text": Tracker.SparqlValueType.STRING, "number": Tracker.SparqlValueType.INTEGER,
         "double": Tracker.SparqlValueType.DOUBLE, "flag": Tracker.SparqlValueType.BOOLEAN,
         "time": Tracker.SparqlValueType.DATETIME, "tongue": Tracker.SparqlValueType.STRING,
         "resource": Tracker.SparqlValueType.URI, "blank": Tracker.SparqlValueType.BLANK_NODE}


def rows(cursor):
    found = []
    while cursor.next(None):
        found.append(tuple(cursor.get_string(i)[0] for i in range(cursor.get_n_columns())))
    cursor.close()
    return found


def wait(start, finish):
    """Runs an asynchronous call to its end."""
    loop, results = GLib.MainLoop(), []

    def done(_source, result):
        results.append(result)
        loop.quit()

    start(done)
    loop.run()
    return finish(results[0])


def check_cursor(connection):
    connection.update(DATA, None)
    seen = {}
    cursor = connection.query("SELECT ?p ?o ?none { <urn:a> ?p ?o }", None)
    assert [cursor.get_variable_name(i) for i in range(3)] == ["p", "o", "none"]
    while cursor.next(None):
        name = cursor.get_string(0)[0].removeprefix("urn:")
        seen[name] = cursor.get_value_type(1)
        assert cursor.get_value_type(2) == Tracker.SparqlValueType.UNBOUND and not cursor.is_bound(2)
        if name == "number":
            assert cursor.get_integer(1) == 7
        elif name == "double":
            assert cursor.get_double(1) == 2.5
        elif name == "flag":
            assert cursor.get_boolean(1)
        elif name == "time":
            assert cursor.get_datetime(1).to_unix() == 1577934245
        elif name == "tongue":
            assert cursor.get_string(1)[0] == "chat"
    assert seen == TYPES, seen
    assert rows(connection.query("SELECT ?o { <urn:a> <urn:nothing> ?o }", None)) == []
    assert rows(connection.query("ASK { <urn:a> ?p ?o }", None)) == [("true",)]


def check_statement(connection):
    statement = connection.query_statement("SELECT ?p { ~who ?p ~what . FILTER (?p != ~not) } LIMIT ~most", None)
    statement.bind_string("who", "urn:a")
    statement.bind_string("what", "urn:b")
    statement.bind_string("not", "urn:nothing")
    statement.bind_int("most", 5)
    assert rows(statement.execute(None)) == [("urn:resource",)]
    statement.bind_string("what", "hello")
    assert rows(statement.execute(None)) == [("urn:text",)]
    statement.clear_bindings()
    for value, bind, expected in ((7, statement.bind_int, "urn:number"), (2.5, statement.bind_double, "urn:double"),
                                  (True, statement.bind_boolean, "urn:flag")):
        statement.bind_string("who", "urn:a")
        statement.bind_string("not", "x:y")
        statement.bind_int("most", 1)
        bind("what", value)
        assert rows(statement.execute(None)) == [(expected,)], value
    injected = connection.query_statement("SELECT (~text AS ?x) {}", None)
    injected.bind_string("text", "\"} INSERT \\ \n'")
    assert rows(injected.execute(None)) == [("\"} INSERT \\ \n'",)]


def check_errors(connection):
    Tracker.sparql_error_quark()  # from then on GDBus knows the names of errors
    for text, code in (("SELECT ?a {", PARSE),
                       ("SELECT nie:title(?a) { ?a ?b ?c }", UNSUPPORTED),
                       ("SELECT fn:nothing(?a) { ?a ?b ?c }", UNSUPPORTED),
                       ("SELECT ?a { ?a ?b ~missing }", TYPE)):
        try:
            connection.query(text, None)
        except GLib.Error as error:
            assert (error.domain, error.code) == ("tracker-sparql-error-quark", code), (text, error.message)
            continue
        raise AssertionError(f"no error: {text}")
    try:
        connection.update("INSERT DATA {", None)
    except GLib.Error as error:
        assert (error.domain, error.code) == ("tracker-sparql-error-quark", PARSE), error.message
    else:
        raise AssertionError("an update without an error")


def execute(connection, *updates):
    """Several updates as one; tracker_client.c has the call that the GIR describes wrongly."""
    batch = connection.create_batch()
    for update in updates:
        batch.add_sparql(update)
    batch.execute(None)


def check_updates(connection):
    execute(connection, "INSERT DATA { <urn:c> <urn:n> 1 }", "INSERT { <urn:c> <urn:n> 2 }")
    assert rows(connection.query("SELECT ?n { <urn:c> <urn:n> ?n } ORDER BY ?n", None)) == [("1",), ("2",)]
    batch = connection.create_batch()
    batch.add_sparql("DELETE { <urn:c> <urn:n> 1 } INSERT { <urn:c> <urn:n> 3 }")
    resource = Tracker.Resource.new("urn:d")
    resource.set_string("rdfs:label", "a label")
    batch.add_resource(None, resource)
    batch.execute(None)
    assert rows(connection.query("SELECT ?n { <urn:c> <urn:n> ?n } ORDER BY ?n", None)) == [("2",), ("3",)]
    assert rows(connection.query("SELECT ?l { <urn:d> rdfs:label ?l }", None)) == [("a label",)]
    try:  # all or nothing
        execute(connection, "INSERT DATA { <urn:c> <urn:n> 9 }", "nonsense")
        raise AssertionError("nonsense was executed")
    except GLib.Error:
        pass
    assert rows(connection.query("ASK { <urn:c> <urn:n> 9 }", None)) == [("false",)]
    names = connection.update_blank("INSERT DATA { _:x <urn:is> 1 . _:y <urn:knows> _:x }", None)[0][0]
    assert sorted(names) == ["x", "y"]
    assert rows(connection.query("SELECT ?a ?b { ?a <urn:knows> ?b }", None)) == [(names["y"], names["x"])]


def check_dialect(connection):
    assert rows(connection.query("SELECT fn:upper-case(?o) AS ?up COUNT(?p) AS ?n { ?s ?p ?o . FILTER (fn:starts-with(?o, 'hel')) }"
                                 " GROUP BY ?o", None)) == [("HELLO", "1")]
    assert rows(connection.query("SELECT ?x + 1 * 2 tracker:coalesce(?none, 'other') { <urn:a> <urn:number> ?x }", None)) == \
        [("9", "other")]
    assert len(rows(connection.query("SELECT ?u { ?u a rdfs:Resource }", None))) >= 4
    assert rows(connection.query("SELECT ?n { ?u a rdfs:Resource ; <urn:number> ?n }", None)) == [("7",)]
    prefixes = dict(rows(connection.query("SELECT ?prefix ?name { ?name nrl:prefix ?prefix }", None)))
    assert prefixes["rdfs"] == "http://www.w3.org/2000/01/rdf-schema#"


def check_constraint(connection):
    connection.update("INSERT DATA { GRAPH <urn:g1> { <urn:s> <urn:in> 1 } GRAPH <urn:g2> { <urn:s> <urn:in> 2 } }", None)

    def numbers(clauses, pattern="GRAPH ?g { <urn:s> <urn:in> ?n }", dataset=""):
        return [n for (n,) in rows(connection.query(f"{clauses} SELECT ?n {dataset} {{ {pattern} }} ORDER BY ?n", None))]

    assert numbers("") == ["1", "2"]
    assert numbers("CONSTRAINT SERVICE CONSTRAINT GRAPH <urn:g1>") == ["1"]
    assert numbers("CONSTRAINT GRAPH") == []
    assert numbers("CONSTRAINT GRAPH ALL") == ["1", "2"]
    assert numbers("CONSTRAINT GRAPH <urn:g1>, <urn:g2> CONSTRAINT GRAPH <urn:g2>") == ["2"]
    assert numbers("CONSTRAINT GRAPH <urn:g1>", dataset="FROM NAMED <urn:g2>") == []
    assert numbers("CONSTRAINT GRAPH <urn:g1>", dataset="FROM NAMED <urn:g1> FROM NAMED <urn:g2>") == ["1"]
    assert numbers("CONSTRAINT GRAPH <urn:g1>", pattern="GRAPH <urn:g2> { <urn:s> <urn:in> ?n }") == []
    assert numbers("CONSTRAINT GRAPH <urn:g1>", pattern="{ SELECT ?n { GRAPH ?g { ?s <urn:in> ?n } } }") == ["1"]
    assert numbers("CONSTRAINT GRAPH DEFAULT", pattern="<urn:a> <urn:number> ?n") == ["7"]
    assert numbers("CONSTRAINT GRAPH <urn:g1>", pattern="<urn:a> <urn:number> ?n") == []
    return numbers("", pattern="<urn:s> <urn:in> ?n")  # what is the default graph?


def check_rdf(connection):
    turtle, graph = Tracker.RdfFormat.RDF_FORMAT_TURTLE, "http://example.org/g"
    stream = Gio.MemoryInputStream.new_from_bytes(GLib.Bytes.new(b"@prefix e: <http://example.org/> .\ne:s e:p 'v' .\n"))
    assert wait(lambda done: connection.deserialize_async(Tracker.DeserializeFlags.DESERIALIZE_FLAGS_NONE, turtle, graph, stream,
                                                          None, done), connection.deserialize_finish)
    assert rows(connection.query(f"SELECT ?o {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}", None)) == [("v",)]
    query = f"CONSTRUCT {{ ?s ?p ?o }} {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}"
    out = wait(lambda done: connection.serialize_async(Tracker.SerializeFlags.SERIALIZE_FLAGS_NONE, turtle, query, None, done),
               connection.serialize_finish)
    text = out.read_bytes(100000, None).get_data().decode()
    assert "<http://example.org/s>" in text and '"v"' in text, text


def check_notifier(connection):
    """Events with the IRIs, which the library asks for by tracker:uri(?id). Those of earlier updates may still come."""
    created, deleted, updated = (getattr(Tracker.NotifierEventType, name) for name in ("CREATE", "DELETE", "UPDATE"))
    notifier, loop, awaited = connection.create_notifier(), GLib.MainLoop(), set()

    def on_events(_notifier, _service, graph, events):
        awaited.difference_update((graph or "", event.get_event_type(), event.get_urn()) for event in events)
        if not awaited:
            loop.quit()

    notifier.connect("events", on_events)
    for update, expected in (
            ("INSERT DATA { <urn:n:1> <urn:p> 1, 2 . <urn:n:2> <urn:p> 1 }", {("", created, "urn:n:1"), ("", created, "urn:n:2")}),
            ("INSERT DATA { <urn:n:1> <urn:p> 3 }", {("", updated, "urn:n:1")}),
            ("DELETE WHERE { <urn:n:2> ?p ?o } ; DELETE DATA { <urn:n:1> <urn:p> 1 }",
             {("", deleted, "urn:n:2"), ("", updated, "urn:n:1")}),
            ("INSERT DATA { GRAPH <urn:n:g> { <urn:n:1> <urn:p> 3 } }", {("urn:n:g", created, "urn:n:1")})):
        awaited.update(expected)
        connection.update(update, None)
        loop.run()
    ((number,),) = rows(connection.query("SELECT tracker:id(<urn:n:1>) {}", None))
    assert rows(connection.query(f"SELECT tracker:uri({number}) tracker:uri(99999999) {{}}", None)) == [("urn:n:1", None)]


def main():
    connection = Tracker.SparqlConnection.bus_new("org.queryd.Query1", None, None)
    check_cursor(connection)
    check_statement(connection)
    check_errors(connection)
    check_updates(connection)
    check_dialect(connection)
    in_default_graph = check_constraint(connection)
    assert in_default_graph == (["1", "2"] if sys.argv[1:] == ["union"] else []), in_default_graph
    check_rdf(connection)
    check_notifier(connection)
    connection.close()
    print("all as expected")


main()
