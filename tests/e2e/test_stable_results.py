# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prepare and SCHEMA tell whether a result depends on the database and the parameters alone."""
import pytest

STABLE = {
    "sql": ["SELECT 1", "SELECT a, upper(b) FROM t ORDER BY 1", "SELECT count(*), group_concat(b), row_number() OVER () FROM t",
            "SELECT bm25(f) FROM f WHERE f MATCH 'x'", "SELECT 'random()' -- now()", "SELECT name FROM sqlite_schema",
            "SELECT hex(b) || json_extract('[1]', '$[0]') FROM t WHERE b LIKE '%x%'"],
    "sparql": ["SELECT * { ?s ?p ?o }", "ASK { ?s ?p ?o FILTER(STRLEN(STR(?o)) > 2) }", "SELECT (YEAR(?o) AS ?y) { ?s ?p ?o }",
               "CONSTRUCT { ?s <x:is> ?o } WHERE { ?s ?p ?o }", "SELECT ('NOW()' AS ?now) {}"],
}
VOLATILE = {
    "sql": ["SELECT random()", "SELECT a FROM t WHERE random() > 0", "SELECT a FROM t ORDER BY RANDOM()",
            "SELECT hex(randomblob(4))",
            "SELECT datetime('now')", "SELECT date(b) FROM t", "SELECT CURRENT_TIMESTAMP", "SELECT strftime('%s', 'now')",
            "SELECT unixepoch()", "SELECT changes()", "SELECT total_changes() + last_insert_rowid()", "SELECT * FROM v",
            "SELECT (SELECT random() FROM t)", "WITH c AS (SELECT random() AS r) SELECT 1 FROM c WHERE r > 0",
            "PRAGMA data_version", "SELECT * FROM pragma_table_info('t')"],
    "sparql": ["SELECT (NOW() AS ?n) {}", "SELECT ?s { ?s ?p ?o FILTER(RAND() < 0.5) }", "SELECT * { ?s ?p ?o } ORDER BY UUID()",
               "ASK { BIND(BNODE() AS ?b) }", "SELECT ?s { ?s ?p ?o FILTER EXISTS { BIND(STRUUID() AS ?u) } }",
               "CONSTRUCT { ?s <x:at> ?t } WHERE { ?s ?p ?o BIND(now() AS ?t) }"],
}
CASES = [(language, text, stable) for stable, texts in ((True, STABLE), (False, VOLATILE)) for language in texts
         for text in texts[language]]


@pytest.fixture(name="store")
def make_store(make_bus):
    store = make_bus()
    store.update("CREATE TABLE t (a, b)")
    store.update("CREATE VIRTUAL TABLE f USING fts5 (x)")
    store.update("CREATE VIEW v AS SELECT a, random() AS r FROM t")
    return store


def test_what_is_told(store):
    with store.prepare("SELECT 1", schema_details=True) as channel, store.prepare("SELECT 1") as plain:
        for language, text, stable in CASES:
            with store.prepare(text, language=language) as first:
                assert first.info["stable"] == stable, text
            assert channel.prepare(text, language=language).stable == stable, text
            assert not plain.prepare(text, language=language).stable, "without the option there is no such flag"


def test_a_view_that_becomes_volatile(store):
    """The columns stay the same: SCHEMA comes again all the same."""
    store.update("CREATE VIEW w AS SELECT 1 AS x")
    with store.prepare("SELECT 1", schema_details=True) as channel:
        assert channel.prepare("SELECT x FROM w").stable
        channel.fetch()
        assert channel.reader.schema is None
        store.update("DROP VIEW w")
        store.update("CREATE VIEW w AS SELECT abs(random() % 10) AS x")
        channel.fetch()
        assert channel.reader.schema is not None and not channel.reader.schema.stable
