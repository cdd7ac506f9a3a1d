/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command line: what is taken, and what is refused with which words.
 */
#include "client-lib/queryctl/arguments.h"

#include <string.h>

#include "client-lib/queryctl/verbs.h"

/* The line is split at spaces. */
static QctlArguments *
parse(const char *line, GError **error)
{
    g_auto(GStrv) words = g_strsplit(line, " ", -1);

    return qctl_arguments_parse((int) g_strv_length(words), (const char *const *) words, error);
}

static void
test_order(void)
{
    static const char *const lines[] = { "queryctl sql x --format csv -n 5 --timing --param a=1",
                                         "queryctl --format=csv -n5 sql --timing -p a=1 x",
                                         "queryctl --timing --param=a=1 --max-rows 5 sql -Fcsv -- x" };

    for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(QctlArguments) arguments = parse(lines[i], &error);
        const QctlParameter *parameter = NULL;

        g_assert_no_error(error);
        g_assert_true(arguments->verb == &qctl_sql_verb);
        g_assert_cmpint(arguments->output.format, ==, QCTL_FORMAT_CSV);
        g_assert_cmpuint(arguments->max_rows, ==, 5);
        g_assert_true(arguments->output.timing);
        g_assert_cmpuint(arguments->words->len, ==, 1);
        g_assert_cmpstr(arguments->words->pdata[0], ==, "x");
        g_assert_cmpuint(arguments->parameters->len, ==, 1);
        parameter = &g_array_index(arguments->parameters, QctlParameter, 0);
        g_assert_cmpstr(parameter->name, ==, "a");
        g_assert_cmpstr(parameter->text, ==, "1");
        g_assert_false(parameter->is_text);
    }
}

static void
test_values(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QctlArguments) arguments = parse("queryctl sql - --timeout 1.5 -P :b=x=y --null (none) --store work_2", &error);
    g_autoptr(QctlArguments) never = parse("queryctl sql - --timeout 0", NULL);

    g_assert_no_error(error);
    g_assert_cmpint(arguments->timeout_msec, ==, 1500);
    g_assert_cmpint(never->timeout_msec, ==, 0);
    g_assert_cmpstr(arguments->output.null_text, ==, "(none)");
    g_assert_cmpstr(arguments->store, ==, "work_2");
    g_assert_cmpstr(g_array_index(arguments->parameters, QctlParameter, 0).text, ==, "x=y");
    g_assert_true(g_array_index(arguments->parameters, QctlParameter, 0).is_text);
}

/* A text that begins with a comment is a statement, not an option. */
static void
test_comment(void)
{
    static const char *const words[] = { "queryctl", "sql", "-- all\nSELECT 1", "--timing" };
    g_autoptr(GError) error = NULL;
    g_autoptr(QctlArguments) arguments = qctl_arguments_parse(G_N_ELEMENTS(words), words, &error);

    g_assert_no_error(error);
    g_assert_true(arguments->output.timing);
    g_assert_cmpstr(arguments->words->pdata[0], ==, words[2]);
}

static void
test_sparql(void)
{
    g_autoptr(QctlArguments) query = parse("queryctl sparql x --format sparql-json", NULL);
    g_autoptr(QctlArguments) update = parse("queryctl update x --sparql", NULL);
    g_autoptr(QctlArguments) sql = parse("queryctl update x", NULL);

    g_assert_true(query->sparql && update->sparql && !sql->sparql);
    g_assert_cmpint(query->output.format, ==, QCTL_FORMAT_REMOTE);
    g_assert_cmpstr(query->output.remote_format, ==, "sparql-json");
}

static void
test_refused(void)
{
    static const char *const lines[][2] = {
        { "queryctl", "a verb is missing" },
        { "queryctl sqll", "unknown verb 'sqll'; did you mean 'sql'?" },
        { "queryctl sql --fromat csv", "unknown option '--fromat'; did you mean '--format'?" },
        { "queryctl sql -x", "unknown option '-x'" },
        { "queryctl sql --format xml", "--format: 'xml' is not table, tsv, csv, json, jsonl, markdown, line, sparql-json, "
                                       "sparql-xml, sparql-csv, sparql-tsv, turtle, "
                                       "trig, ntriples, nquads, rdfxml, jsonld, arrow or arrow-file" },
        { "queryctl sql x --format turtle",
          "the format 'turtle' is for 'sparql' without parameters, for 'export', and of RDF for 'import'" },
        { "queryctl sparql x --format turtle -p a=1",
          "the format 'turtle' is for 'sparql' without parameters, for 'export', and of RDF for 'import'" },
        { "queryctl sql x --sparql", "'sql' has no option '--sparql'" },
        { "queryctl sql --format", "option '--format' needs FORMAT" },
        { "queryctl sql --timing=yes", "option '--timing' takes no value" },
        { "queryctl sql --max-rows 0", "--max-rows: '0' is not a number of rows, from 1" },
        { "queryctl sql --timeout -1", "--timeout: '-1' is not a number of seconds" },
        { "queryctl sql --timeout 1s", "--timeout: '1s' is not a number of seconds" },
        { "queryctl sql --param a", "--param: 'a' is not of the form NAME=VALUE" },
        { "queryctl sql --store a-b", "--store: 'a-b' is not a name of letters, digits and '_'" },
        { "queryctl sql a b", "'b' is too much; usage: queryctl sql [STATEMENT|-]" },
        { "queryctl sql a -f b", "'a' is too much beside --file 'b'; usage: queryctl sql [STATEMENT|-]" },
        { "queryctl ls --timing", "'ls' has no option '--timing'" },
        { "queryctl import", "usage: queryctl import FILE|- [TABLE]" },
        { "queryctl import x --table t --format sparql-json",
          "the format 'sparql-json' is for 'sparql' without parameters, for 'export', and of RDF for 'import'" },
        { "queryctl import x --table t --format table", "import: the format is one of csv, tsv, json, jsonl" },
        { "queryctl import x t --table t", "usage: queryctl import FILE|- [TABLE]" },
        { "queryctl export t --format line", "export: the format is one of csv, tsv, json, jsonl" },
        { "queryctl export t --format table", "export: the format is one of csv, tsv, json, jsonl" },
        { "queryctl cancel", "usage: queryctl cancel ID…" },
        { "queryctl cancel x", "'x' is not the id of a query; see 'queryctl status'" },
        { "queryctl store make x", "usage: queryctl store list|create NAME|import FILE NAME|remove NAME" },
        { "queryctl store create 1x",
          "'1x' is not a store's name: letters, digits and '_', at most 64, not a digit first, not 'default'" },
    };

    for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(QctlArguments) arguments = parse(lines[i][0], &error);

        g_assert_null(arguments);
        g_assert_cmpstr(error->message, ==, lines[i][1]);
    }
}

static void
test_help(void)
{
    g_autofree char *help = qctl_arguments_get_help(NULL);
    g_autoptr(QctlArguments) arguments = parse("queryctl --help", NULL);

    g_assert_true(arguments->help);
    for (const QctlVerb *const *verb = qctl_verbs_list(); *verb != NULL; verb++)
        g_assert_nonnull(strstr(help, (*verb)->name));
    for (const char *line = help; line != NULL && *line != 0; line = strchr(line, '\n'), line += line != NULL ? 1 : 0)
        g_assert_cmpint(g_utf8_strlen(line, (gssize) strcspn(line, "\n")), <=, 110);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);

    g_test_add_func("/queryctl/arguments/order", test_order);
    g_test_add_func("/queryctl/arguments/values", test_values);
    g_test_add_func("/queryctl/arguments/comment", test_comment);
    g_test_add_func("/queryctl/arguments/sparql", test_sparql);
    g_test_add_func("/queryctl/arguments/refused", test_refused);
    g_test_add_func("/queryctl/arguments/help", test_help);
    return g_test_run();
}
