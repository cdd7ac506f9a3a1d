/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where statements end, and which ones control transactions.
 */
#include "client-lib/queryctl/splitter.h"

/* The statements between bars; the last one is followed by what it lacks. */
static void
assert_split(const char *text, const char *expected)
{
    g_autoptr(GString) out = g_string_new(NULL);
    QctlSpan span = { 0 };

    for (gsize offset = 0; qctl_span_find(text, offset, &span); offset = span.next) {
        g_string_append_len(out, text + span.start, (gssize) (span.end - span.start));
        g_string_append(out, span.is_open ? "<open>" : span.complete ? "|" : "<more>");
    }
    g_assert_cmpstr(out->str, ==, expected);
}

static void
test_statements(void)
{
    assert_split("", "");
    assert_split(" \n\t", "");
    assert_split("select 1", "select 1<more>");
    assert_split(" select 1 ; select 2;\n", "select 1|select 2|");
    assert_split(";;", "||");
    assert_split("select 1; -- the end", "select 1|");
}

static void
test_quotes(void)
{
    assert_split("select ';', 'it''s;' ; x", "select ';', 'it''s;'|x<more>");
    assert_split("select \";\", `;`, [;];", "select \";\", `;`, [;]|");
    assert_split("select 'abc", "select 'abc<open>");
    assert_split("select 'abc;\n", "select 'abc;\n<open>");
}

static void
test_comments(void)
{
    assert_split("-- a; b\nselect 1;", "select 1|");
    assert_split("select /* ; */ 1; /* x */ ", "select /* ; */ 1|");
    assert_split("select 1 -- ;", "select 1<more>");
    assert_split("select 1 - -2;", "select 1 - -2|");
    assert_split("select 4 / 2;", "select 4 / 2|");
    assert_split("select /* abc", "select /* abc<open>");
    assert_split("/* abc", "<open>");
}

static void
test_triggers(void)
{
    const char *trigger = "CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; UPDATE a SET b = 2; END";
    g_autofree char *two = g_strdup_printf("%s; select 1;", trigger);
    g_autofree char *two_split = g_strdup_printf("%s|select 1|", trigger);
    g_autofree char *temp = g_strdup("EXPLAIN QUERY PLAN create temp trigger t begin select case x when 1 then 2 end; end;");

    assert_split(two, two_split);
    assert_split(temp, "EXPLAIN QUERY PLAN create temp trigger t begin select case x when 1 then 2 end; end|");
    assert_split("create trigger t begin select 1;", "create trigger t begin select 1;<more>");
    assert_split("create table trigger_x(a); select 1;", "create table trigger_x(a)|select 1|");
}

static void
test_control(void)
{
    static const struct {
        const char *text;
        QctlControl control;
    } cases[] = {
        { "BEGIN", QCTL_CONTROL_BEGIN },
        { "/* COMMIT */ begin -- it\n immediate transaction", QCTL_CONTROL_BEGIN },
        { "begin exclusive", QCTL_CONTROL_BEGIN },
        { "BEGIN nonsense", QCTL_CONTROL_NONE },
        { "BEGINS", QCTL_CONTROL_NONE },
        { "\"BEGIN\"", QCTL_CONTROL_NONE },
        { "COMMIT", QCTL_CONTROL_COMMIT },
        { "END TRANSACTION", QCTL_CONTROL_COMMIT },
        { "commit 1", QCTL_CONTROL_NONE },
        { "ROLLBACK", QCTL_CONTROL_ROLLBACK },
        { "rollback transaction", QCTL_CONTROL_ROLLBACK },
        { "rollback to a", QCTL_CONTROL_SAVEPOINT },
        { "ROLLBACK TRANSACTION TO SAVEPOINT \"a b\"", QCTL_CONTROL_SAVEPOINT },
        { "savepoint x", QCTL_CONTROL_SAVEPOINT },
        { "RELEASE x", QCTL_CONTROL_SAVEPOINT },
        { "EXPLAIN BEGIN", QCTL_CONTROL_NONE },
        { "", QCTL_CONTROL_NONE },
        { "/* BEGIN", QCTL_CONTROL_NONE },
        { "PRAGMA foreign_keys=OFF", QCTL_CONTROL_SETTING },
        { "pragma /* it */ recursive_triggers(1)", QCTL_CONTROL_SETTING },
        { "PRAGMA defer_foreign_keys = ON", QCTL_CONTROL_DEFERRING },
        { "PRAGMA legacy_alter_table", QCTL_CONTROL_ASKING },
        { "PRAGMA defer_foreign_keys", QCTL_CONTROL_ASKING },
        { "PRAGMA main.foreign_keys=OFF", QCTL_CONTROL_SETTING },
        { "PRAGMA temp.foreign_keys=OFF", QCTL_CONTROL_SETTING },
        { "PRAGMA \"main\" . [foreign_keys] ( OFF )", QCTL_CONTROL_SETTING },
        { "PRAGMA 'defer_foreign_keys'=ON", QCTL_CONTROL_DEFERRING },
        { "PRAGMA main.`foreign_keys` -- now", QCTL_CONTROL_ASKING },
        { "SELECT * FROM \"PRAGMA_foreign_keys\"", QCTL_CONTROL_ASKING },
        { "SELECT 'a pragma_foreign_keys'", QCTL_CONTROL_NONE },
        { "PRAGMA main foreign_keys=OFF", QCTL_CONTROL_NONE },
        { "\"PRAGMA\" foreign_keys=OFF", QCTL_CONTROL_NONE },
        { "PRAGMA user_version = 3", QCTL_CONTROL_NONE },
        { "PRAGMA foreign_key_check", QCTL_CONTROL_NONE },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_cmpint(qctl_control_find(cases[i].text), ==, cases[i].control);
}

/* As assert_split(). */
static void
assert_split_sparql(const char *text, const char *expected)
{
    g_autoptr(GString) out = g_string_new(NULL);
    QctlSpan span = { 0 };

    for (gsize offset = 0; qctl_span_find_sparql(text, offset, &span); offset = span.next) {
        g_string_append_len(out, text + span.start, (gssize) (span.end - span.start));
        g_string_append(out, span.is_open ? "<open>" : span.complete ? "|" : "<more>");
    }
    g_assert_cmpstr(out->str, ==, expected);
}

static void
test_sparql(void)
{
    assert_split_sparql("", "");
    assert_split_sparql(" # a;\n", "");
    assert_split_sparql("SELECT * { ?s ?p ?o };", "SELECT * { ?s ?p ?o }|");
    assert_split_sparql("SELECT * { ?s ?p ?o }; # all\nASK {}", "SELECT * { ?s ?p ?o }|ASK {}<more>");
    assert_split_sparql("SELECT * { ?s a ?t ;\n ?p ?o } ; \n", "SELECT * { ?s a ?t ;\n ?p ?o }|");
    assert_split_sparql("INSERT DATA { <a> <b> 1 }; CLEAR ALL;\n", "INSERT DATA { <a> <b> 1 }; CLEAR ALL|");
    assert_split_sparql("SELECT (1 AS ?x;\n) {};\n", "SELECT (1 AS ?x;\n) {}|");
    assert_split_sparql(";\n;", "||");
}

static void
test_sparql_tokens(void)
{
    assert_split_sparql("ASK { ?s ?p ';\\';', \"}\" };", "ASK { ?s ?p ';\\';', \"}\" }|");
    assert_split_sparql("ASK { ?s ?p '''};\n';''' };", "ASK { ?s ?p '''};\n';''' }|");
    assert_split_sparql("ASK { ?s ?p \"\"\"}", "ASK { ?s ?p \"\"\"}<open>");
    assert_split_sparql("ASK { <http://x/#;> ?p 1 };", "ASK { <http://x/#;> ?p 1 }|");
    assert_split_sparql("ASK { FILTER(?a < 1 # {\n) };", "ASK { FILTER(?a < 1 # {\n) }|");
    assert_split_sparql("ASK { x:a\\; ?p 1 };", "ASK { x:a\\; ?p 1 }|");
    assert_split_sparql("ASK { ?s ?p 'it };\n", "ASK { ?s ?p 'it };<more>");
}

static void
test_parameters(void)
{
    static const struct {
        const char *text;
        bool is_sparql;
        const char *name;
        bool found;
    } cases[] = {
        { "SELECT :a", false, "a", true },        { "SELECT @a + $b", false, ":b", true },
        { "SELECT :ab", false, "a", false },      { "SELECT ':a' -- :a", false, "a", false },
        { "SELECT ?, ?", false, "2", true },      { "SELECT ?, ?", false, "3", false },
        { "SELECT ?7", false, "?7", true },       { "ASK { ?s ?p $o }", true, "o", true },
        { "ASK { ?s ?p ?o }", true, "o", false }, { "ASK { ?s ?p '$o' }", true, "o", false },
        { "SELECT :a", false, "", false },
    };

    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        g_assert_cmpint(qctl_text_has_parameter(cases[i].text, cases[i].is_sparql, cases[i].name), ==, cases[i].found);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/queryctl/splitter/statements", test_statements);
    g_test_add_func("/queryctl/splitter/quotes", test_quotes);
    g_test_add_func("/queryctl/splitter/comments", test_comments);
    g_test_add_func("/queryctl/splitter/triggers", test_triggers);
    g_test_add_func("/queryctl/splitter/control", test_control);
    g_test_add_func("/queryctl/splitter/sparql", test_sparql);
    g_test_add_func("/queryctl/splitter/sparql-tokens", test_sparql_tokens);
    g_test_add_func("/queryctl/splitter/parameters", test_parameters);
    return g_test_run();
}
