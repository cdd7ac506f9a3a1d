/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What updates say that they have changed, by the writer's own connection and with the real statements.
 */
#include "daemon/notify/changes.h"

#include <string.h>

#include "daemon/base/language.h"
#include "daemon/payload/payload.h"
#include "daemon/read/evaluation.h"
#include "daemon/write/write-item.h"
#include "daemon/write/writer.h"
#include "tests/unit/store/store-fixture.h"

typedef struct Fixture {
    StoreFixture store;
    QdPayloads *payloads;
    GString *told; /* of the last update */
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    store_fixture_set_up(&self->store, NULL);
    g_assert_true(qd_evaluation_register(self->store.writer, &self->store.limits, NULL));
    self->payloads = qd_payloads_new(self->store.dir, &self->store.limits);
    qd_payloads_attach(self->payloads, self->store.writer);
    self->told = g_string_new(NULL);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    g_string_free(self->told, TRUE);
    store_fixture_tear_down(&self->store, NULL);
    (void) qd_payloads_free(self->payloads);
}

static void
append_set(GString *text, const char *title, const QdNameSet *set)
{
    g_autoptr(GPtrArray) names = qd_name_set_list(set);

    if (qd_name_set_is_empty(set))
        return;
    g_string_append_printf(text, "%s%s:", text->len > 0 ? " | " : "", title);
    if (qd_name_set_is_all(set))
        g_string_append(text, " all");
    for (guint i = 0; i < names->len; i++)
        g_string_append_printf(text, " <%s>", (char *) names->pdata[i]);
}

/* Runs an update in a transaction, committed. */
static void
run(Fixture *self, QdLanguage language, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) statements = g_array_new(FALSE, TRUE, sizeof(QdWriteStatement));
    QdWriteStatement statement = { .language = language, .text = text, .n_text_bytes = strlen(text) };
    QdWriteItem item;

    g_array_append_val(statements, statement);
    qd_write_item_init(&item);
    item.statements = statements;
    store_execute(self->store.writer, "BEGIN");
    (void) qd_write_item_execute(&item, self->store.writer, &self->store.limits, &error);
    g_assert_no_error(error);
    store_execute(self->store.writer, "COMMIT");

    g_string_truncate(self->told, 0);
    append_set(self->told, "tables", item.outcome.changed->tables);
    append_set(self->told, "graphs", item.outcome.changed->graphs);
    append_set(self->told, "predicates", item.outcome.changed->predicates);
    g_string_append(self->told, item.outcome.changed->schema ? " schema" : "");
    qd_write_item_clear(&item);
}

static void
sql(Fixture *self, const char *text, const char *expected)
{
    run(self, QD_LANGUAGE_SQL, text);
    g_assert_cmpstr(self->told->str, ==, expected);
}

static void
sparql(Fixture *self, const char *text, const char *expected)
{
    g_autofree char *whole = g_strconcat("PREFIX : <x:> ", text, NULL);

    run(self, QD_LANGUAGE_SPARQL, whole);
    g_assert_cmpstr(self->told->str, ==, expected);
}

static void
test_tables(Fixture *self, gconstpointer data)
{
    sql(self, "CREATE TABLE t(a PRIMARY KEY, b) WITHOUT ROWID", "tables: <t> schema");
    sql(self, "CREATE INDEX i ON t(b)", "tables: <t>");
    sql(self, "INSERT INTO T VALUES(1, 2)", "tables: <t>");
    sql(self, "DELETE FROM t", "tables: <t>");
    sql(self, "CREATE VIEW v AS SELECT * FROM t", "tables: <v> schema");
    sql(self, "ALTER TABLE t ADD COLUMN c", "tables: <t> schema");
    sql(self, "DROP VIEW v", "tables: <v> schema");
    sql(self, "ANALYZE", "tables: <sqlite_stat1> schema");
    sql(self, "DROP TABLE t", "tables: <t> schema");
}

static void
test_triggers(Fixture *self, gconstpointer data)
{
    const char insert[] = "INSERT INTO t VALUES(1)";

    sql(self, "CREATE TABLE t(a)", "tables: <t> schema");
    sql(self, "CREATE TABLE log(a)", "tables: <log> schema");
    sql(self, insert, "tables: <t>");
    sql(self, "CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log VALUES(new.a); END", "tables: <t>");
    /* compiled before the trigger, and recompiled by SQLite */
    sql(self, insert, "tables: <log> <t>");
    sql(self, insert, "tables: <log> <t>");
    sql(self, "DROP TRIGGER g", "tables: <t>");
    sql(self, insert, "tables: <t>");

    sql(self, "CREATE VIEW v AS SELECT a FROM t", "tables: <v> schema");
    sql(self, "CREATE TRIGGER h INSTEAD OF INSERT ON v BEGIN INSERT INTO log VALUES(new.a); END", "tables: <v>");
    sql(self, "INSERT INTO v VALUES(1)", "tables: <log> <v>");
}

static void
test_foreign_keys(Fixture *self, gconstpointer data)
{
    sql(self, "CREATE TABLE parent(a PRIMARY KEY)", "tables: <parent> schema");
    sql(self, "CREATE TABLE child(b REFERENCES parent ON DELETE CASCADE)", "tables: <child> schema");
    sql(self, "DELETE FROM parent WHERE a=1", "tables: <child> <parent>");
}

/* Payloads are deleted by a statement of ours, too. */
static void
test_payload_references(Fixture *self, gconstpointer data)
{
    sql(self, "CREATE TABLE log(a)", "tables: <log> schema");
    sql(self, "CREATE TABLE photo(p REFERENCES queryd_payload(id) ON DELETE CASCADE)", "tables: <photo> schema");
    sql(self, "CREATE TRIGGER g AFTER DELETE ON photo BEGIN INSERT INTO log VALUES(old.p); END", "tables: <photo>");
    sql(self, "INSERT INTO photo VALUES(queryd_store_payload(x'00'))", "tables: <photo> <queryd_payload>");
    sql(self, "SELECT queryd_delete_payload(1)", "tables: <log> <photo> <queryd_payload>");
    g_assert_cmpint(store_get_int64(self->store.writer, "SELECT count(*) FROM log"), ==, 1);
    sql(self, "DELETE FROM queryd_payload", "tables: <log> <photo> <queryd_payload>");
}

static void
test_sparql(Fixture *self, gconstpointer data)
{
    sparql(self, "INSERT DATA { :a :p 1 }", "graphs: <> | predicates: <x:p>");
    sparql(self, "INSERT DATA { :a :p 1 }", "");
    sparql(self, "INSERT DATA { GRAPH :g { :a :p 1 ; :q 2 } }", "graphs: <x:g> | predicates: <x:p> <x:q>");
    sparql(self, "DELETE { ?s ?p ?o } INSERT { GRAPH :h { ?s :r ?o } } WHERE { ?s ?p ?o }",
           "graphs: <> <x:h> | predicates: <x:p> <x:r>");
    sparql(self, "COPY :g TO :h", "graphs: <x:h> | predicates: <x:p> <x:q> <x:r>");
    sparql(self, "CREATE GRAPH :new", "graphs: <x:new>");
    sparql(self, "DROP GRAPH :new", "graphs: <x:new>");
    sparql(self, "CLEAR NAMED ; INSERT DATA { :a :z 1 }", "graphs: <> <x:g> <x:h> | predicates: <x:p> <x:q> <x:z>");
}

static void
test_many(Fixture *self, gconstpointer data)
{
    g_autoptr(GString) text = g_string_new("INSERT DATA {");

    for (int i = 0; i < 65; i++)
        g_string_append_printf(text, " GRAPH :g%d { :a :p%d 1 }", i, i);
    g_string_append(text, " }");
    sparql(self, text->str, "graphs: all | predicates: all");
}

static void
test_merged(Fixture *self, gconstpointer data)
{
    g_autoptr(QdChanges) one = qd_changes_new();
    g_autoptr(QdChanges) other = qd_changes_new();

    g_assert_true(qd_changes_is_empty(one));
    qd_changes_add_table(one, "t");
    other->schema = TRUE;
    g_assert_false(qd_changes_is_empty(other));
    qd_changes_add_all(other, one);
    g_assert_true(other->schema && qd_name_set_has(other->tables, "t"));
    g_assert_false(qd_name_set_has(other->tables, "u"));
    qd_changes_make_all(other);
    g_assert_true(qd_name_set_has(other->tables, "u") && qd_name_set_is_all(other->graphs) && other->prefixes);
    qd_changes_clear(other);
    g_assert_true(qd_changes_is_empty(other));
}

#define ADD(path, func) g_test_add("/notify/changes/" path, Fixture, NULL, set_up, func, tear_down)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("tables", test_tables);
    ADD("triggers", test_triggers);
    ADD("foreign-keys", test_foreign_keys);
    ADD("payload-references", test_payload_references);
    ADD("sparql", test_sparql);
    ADD("many", test_many);
    ADD("merged", test_merged);
    return g_test_run();
}
