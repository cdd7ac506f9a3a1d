/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The commands of the shell: one table at the end, which .help and completion read, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "client-lib/queryctl/cell.h"
#include "client-lib/queryctl/hint.h"
#include "client-lib/queryctl/run-statement.h"
#include "client-lib/queryctl/shell/shell-private.h"
#include "client-lib/queryctl/transaction.h"
#include "client-lib/queryctl/transfer/dump.h"
#include "client-lib/queryctl/verbs.h"

static void run_help(QctlShell *self, const char *argument);

static void
run_quit(QctlShell *self, const char *argument)
{
    self->quit = true;
}

/* The schema ---------------------------------------------------------------------------------------------------------- */

/* @format has one %s: for @pattern (nullable: all) within a string of SQL. */
static void
run_for_pattern(QctlShell *self, const char *format, const char *pattern)
{
    g_auto(GStrv) parts = g_strsplit(pattern != NULL ? pattern : "*", "'", -1);
    g_autofree char *quoted = g_strjoinv("''", parts);
    g_auto(GStrv) around = g_strsplit(format, "%s", 2);
    g_autofree char *query = g_strconcat(around[0], quoted, around[1], NULL);
    g_autoptr(QctlSink) sink = qctl_session_create_sink(self->session);

    qctl_shell_take_code(self, qctl_run_sql(self->session, sink, query));
}

static void
run_tables(QctlShell *self, const char *argument)
{
    g_autoptr(QctlSink) sink = qctl_session_create_sink(self->session);

    qctl_shell_take_code(self, qctl_list_tables(self->session, sink, argument));
}

static void
run_schema(QctlShell *self, const char *argument)
{
    run_for_pattern(self,
                    "SELECT sql || ';' AS sql FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name NOT GLOB 'queryd_*' "
                    "AND tbl_name NOT GLOB 'sqlite_*' AND tbl_name GLOB '%s' ORDER BY tbl_name, type DESC, name",
                    argument);
}

static void
run_indexes(QctlShell *self, const char *argument)
{
    run_for_pattern(self,
                    "SELECT name, tbl_name AS \"table\", (SELECT group_concat(coalesce(i.name, '(expression)'), ', ') "
                    "FROM pragma_index_info(m.name) AS i) AS columns FROM sqlite_schema AS m WHERE type='index' "
                    "AND tbl_name NOT GLOB 'queryd_*' AND tbl_name GLOB '%s' ORDER BY tbl_name, name",
                    argument);
}

static void
run_dump(QctlShell *self, const char *argument)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(QctlSink) sink = qctl_sink_new(qctl_session_get_output(self->session), false);
    bool is_whole = true;

    if (qctl_dump(self->session, sink, argument, &is_whole, &error)) {
        if (!is_whole)
            qctl_shell_take_code(self, QCTL_EXIT_QUERY);
        return;
    }
    qctl_shell_take_code(self, qctl_session_report(self->session, g_error_copy(error), NULL));
    qctl_transaction_check(self->session, error);
}

/* Statements ---------------------------------------------------------------------------------------------------------- */

static void
set_language(QctlShell *self, QueryLanguage language, const char *name, const char *argument)
{
    if (argument != NULL)
        qctl_shell_fail(self, "%s takes nothing: the statements after it are in this language", name);
    else
        qctl_session_set_language(self->session, language);
}

static void
run_to_sql(QctlShell *self, const char *argument)
{
    set_language(self, QUERY_LANGUAGE_SQL, ".sql", argument);
}

static void
run_to_sparql(QctlShell *self, const char *argument)
{
    set_language(self, QUERY_LANGUAGE_SPARQL, ".sparql", argument);
}

static void
run_read(QctlShell *self, const char *argument)
{
    QctlArguments arguments = { .file = (char *) argument, .words = g_ptr_array_new() };
    g_autoptr(GPtrArray) words G_GNUC_UNUSED = arguments.words;
    g_autoptr(GError) error = NULL;
    g_autofree char *text = argument != NULL ? qctl_read_statements(&arguments, &error) : NULL;
    g_autoptr(QctlSink) sink = NULL;

    if (argument == NULL) {
        qctl_shell_fail(self, ".read needs a file");
        return;
    }
    if (text == NULL) {
        qctl_shell_take_code(self, qctl_session_report(self->session, g_steal_pointer(&error), NULL));
        return;
    }
    sink = qctl_session_create_sink(self->session);
    qctl_shell_take_code(self, qctl_run_script(self->session, sink, text, QCTL_ACCESS_EITHER));
}

static void
run_edit(QctlShell *self, const char *argument)
{
    qctl_shell_edit(self);
}

/* Parameters ---------------------------------------------------------------------------------------------------------- */

static const char *
skip_mark(const char *name)
{
    return name[0] != 0 && strchr(":@$?", name[0]) != NULL ? name + 1 : name;
}

static void
unset_parameter(GArray *parameters, const char *name)
{
    for (guint i = parameters->len; i > 0; i--)
        if (g_str_equal(g_array_index(parameters, QctlParameter, i - 1).name, skip_mark(name)))
            g_array_remove_index(parameters, i - 1);
}

/* 'text' is a text, also one that looks like a number; a quote within is doubled, as in SQL. */
static void
set_parameter(GArray *parameters, const char *name, const char *value)
{
    gsize n = strlen(value);
    QctlParameter parameter = { .name = g_strdup(skip_mark(name)), .is_optional = true };

    parameter.is_text = n >= 2 && value[0] == '\'' && value[n - 1] == '\'';
    if (parameter.is_text) {
        g_autofree char *inner = g_strndup(value + 1, n - 2);
        g_auto(GStrv) parts = g_strsplit(inner, "''", -1);

        parameter.text = g_strjoinv("'", parts);
    } else {
        parameter.text = g_strdup(value);
    }
    unset_parameter(parameters, name);
    g_array_append_val(parameters, parameter);
}

static void
list_parameters(QctlShell *self, const GArray *parameters)
{
    static const char *const names[] = { "name", "value" };
    g_autoptr(QctlSink) sink = qctl_session_create_sink(self->session);
    g_autoptr(QctlOutput) output = qctl_session_create_output(self->session, sink, names, 2);
    g_autoptr(GError) error = NULL;
    bool ok = true;

    for (guint i = 0; ok && i < parameters->len; i++) {
        const QctlParameter *parameter = &g_array_index(parameters, QctlParameter, i);
        QwValue cells[2];

        qctl_cell_init_text(&cells[0], parameter->name);
        qctl_cell_init_text(&cells[1], parameter->text);
        ok = qctl_output_put(output, cells, &error);
    }
    if (!ok || !qctl_output_finish(output, true, &error))
        qctl_shell_take_code(self, qctl_session_report(self->session, g_steal_pointer(&error), NULL));
}

static void
run_parameter(QctlShell *self, const char *argument)
{
    GArray *parameters = qctl_session_get_arguments(self->session)->parameters;
    g_auto(GStrv) words = g_strsplit_set(argument != NULL ? argument : "list", " \t", 3);
    guint n = g_strv_length(words);

    if (n == 1 && g_str_equal(words[0], "list"))
        list_parameters(self, parameters);
    else if (n == 1 && g_str_equal(words[0], "clear"))
        g_array_set_size(parameters, 0);
    else if (n == 2 && g_str_equal(words[0], "unset"))
        unset_parameter(parameters, words[1]);
    else if (n == 3 && g_str_equal(words[0], "set") && skip_mark(words[1])[0] != 0)
        set_parameter(parameters, words[1], g_strstrip(words[2]));
    else
        qctl_shell_fail(self, "usage: .parameter set NAME VALUE, unset NAME, list or clear");
}

/* Output -------------------------------------------------------------------------------------------------------------- */

static void
run_format(QctlShell *self, const char *argument)
{
    QctlFormat format = QCTL_FORMAT_AUTO;

    if (argument == NULL)
        (void) fprintf(stderr, "%s\n", qctl_format_get_name(qctl_session_get_format(self->session)));
    else if (qctl_format_from_name(argument, &format))
        qctl_session_set_format(self->session, format);
    else
        qctl_shell_fail(self, "'%s' is not table, tsv, csv, json, jsonl, markdown or line", argument);
}

void
qctl_shell_set_output(QctlShell *self, const char *name)
{
    const char *ending = name != NULL ? qctl_format_guess(name) : NULL;
    QctlFormat format = QCTL_FORMAT_AUTO;
    int fd = -1;

    if (name != NULL && (fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0666)) < 0) {
        qctl_shell_fail(self, "cannot open '%s': %s", name, g_strerror(errno));
        return;
    }
    if (ending != NULL)
        (void) qctl_format_from_name(ending, &format);
    qctl_session_set_output(self->session, fd, format);
    self->is_once = false;
}

static void
run_output(QctlShell *self, const char *argument)
{
    qctl_shell_set_output(self, argument);
}

static void
run_once(QctlShell *self, const char *argument)
{
    if (argument == NULL) {
        qctl_shell_fail(self, ".once needs a file");
        return;
    }
    qctl_shell_set_output(self, argument);
    self->is_once = true;
}

static void
run_timing(QctlShell *self, const char *argument)
{
    bool timing = argument != NULL ? g_str_equal(argument, "on") : !qctl_session_get_timing(self->session);

    if (argument != NULL && !timing && !g_str_equal(argument, "off")) {
        qctl_shell_fail(self, ".timing is on or off");
        return;
    }
    qctl_session_set_timing(self->session, timing);
    (void) fprintf(stderr, "timing is %s\n", timing ? "on" : "off");
}

/* Verbs --------------------------------------------------------------------------------------------------------------- */

/* "queryctl VERB ARGUMENT", on the connection of the shell. */
static void
run_verb(QctlShell *self, const char *verb, const char *argument)
{
    g_autofree char *line = g_strdup_printf("queryctl %s %s", verb, argument != NULL ? argument : "");
    g_autoptr(GError) error = NULL;
    g_autoptr(QctlArguments) arguments = NULL;
    const QctlArguments *before = NULL;
    g_auto(GStrv) words = NULL;
    int n = 0;

    if (g_shell_parse_argv(line, &n, &words, &error))
        arguments = qctl_arguments_parse(n, (const char *const *) words, &error);
    if (arguments == NULL) {
        qctl_shell_fail(self, "%s", error->message);
    } else if (arguments->help) {
        g_autofree char *help = qctl_arguments_get_help(arguments->verb);

        (void) fputs(help, stderr);
    } else if (arguments->store != NULL) {
        qctl_shell_fail(self, "the shell has one store: leave it, and give it --store %s", arguments->store);
    } else {
        before = qctl_session_exchange_arguments(self->session, arguments);
        qctl_shell_take_code(self, arguments->verb->run(self->session));
        (void) qctl_session_exchange_arguments(self->session, before);
    }
}

static void
run_import(QctlShell *self, const char *argument)
{
    if (qctl_session_get_transaction(self->session) != NULL)
        qctl_shell_fail(self, "an import is a transaction of its own: COMMIT or ROLLBACK first");
    else
        run_verb(self, "import", argument);
}

/* The table ----------------------------------------------------------------------------------------------------------- */

static const QctlCommand commands[] = {
    { ".help", "[COMMAND]", "this list, or more about one command", run_help, QCTL_VALUES_COMMANDS, NULL },
    { ".tables", "[PATTERN]", "tables and views", run_tables, QCTL_VALUES_TABLES, "PATTERN is as in GLOB: * and ? stand for any." },
    { ".schema", "[PATTERN]", "the statements that made tables and views", run_schema, QCTL_VALUES_TABLES,
      "With the indexes and triggers of these tables. PATTERN is as in GLOB." },
    { ".indexes", "[PATTERN]", "indexes of tables, with their columns", run_indexes, QCTL_VALUES_TABLES,
      "PATTERN, as in GLOB, is of the tables." },
    { ".dump", "[PATTERN]", "tables as SQL that makes them again", run_dump, QCTL_VALUES_TABLES,
      "What sqlite3 reads, in one transaction: tables, rows, then indexes, triggers and views. RDF data is not in it:\n"
      "'queryctl export' writes that. PATTERN is as in GLOB. Without it views, user_version and application_id are written, too." },
    { ".sql", "", "statements are SQL from now on", run_to_sql, QCTL_VALUES_ANY, NULL },
    { ".sparql", "", "statements are SPARQL from now on", run_to_sparql, QCTL_VALUES_ANY,
      "A request ends with a semicolon that is the last of its line, with no bracket open. Others stand between its operations." },
    { ".parameter", "set NAME VALUE|unset NAME|list|clear", "values of parameters", run_parameter, QCTL_VALUES_ANY,
      "VALUE is an integer, a real, NULL, X'hex' or a text by its looks; 'text' is a text. They are given to the statements\n"
      "that have a parameter of that name: :NAME, @NAME or $NAME; for ? it is the number." },
    { ".mode", "[FORMAT]", "table, tsv, csv, json, jsonl, markdown or line", run_format, QCTL_VALUES_FORMATS,
      "line prints each value on a line of its own. Without FORMAT: which one it is." },
    { ".format", "[FORMAT]", "the same as .mode", run_format, QCTL_VALUES_FORMATS, NULL },
    { ".output", "[FILE]", "write results to FILE from now on, else to the screen", run_output, QCTL_VALUES_FILES,
      "FILE begins empty. A name that ends in .csv, .tsv, .json or .jsonl says the format, until .mode does." },
    { ".once", "FILE", "write the next result to FILE", run_once, QCTL_VALUES_FILES, "As .output, for one statement or command." },
    { ".timing", "[on|off]", "show rows and times", run_timing, QCTL_VALUES_ANY, NULL },
    { ".read", "FILE", "run the statements of a file", run_read, QCTL_VALUES_FILES, NULL },
    { ".import", "FILE [TABLE] [OPTION…]", "read a file into a table, or RDF into a graph", run_import, QCTL_VALUES_FILES,
      "As 'queryctl import', with its options: .import songs.csv song --create" },
    { ".edit", "", "edit the statement in $VISUAL or $EDITOR, and run it; also \\e", run_edit, QCTL_VALUES_ANY,
      "That is what is being typed, or else the statement before." },
    { ".quit", "", "leave; so does Ctrl-D", run_quit, QCTL_VALUES_ANY, NULL },
    { 0 },
};

const QctlCommand *
qctl_shell_list_commands(void)
{
    return commands;
}

/* With or without its dot; (nullable) */
static const QctlCommand *
find_command(const char *name)
{
    const char *plain = name + (name[0] == '.' ? 1 : 0);

    if (g_str_equal(plain, "exit"))
        plain = "quit";
    for (const QctlCommand *command = commands; command->name != NULL; command++)
        if (g_str_equal(command->name + 1, plain))
            return command;
    return NULL;
}

static void
refuse_command(QctlShell *self, const char *name)
{
    QctlSuggestion suggestion = { .typed = name };

    for (const QctlCommand *command = commands; command->name != NULL; command++)
        qctl_suggestion_try(&suggestion, command->name);
    if (suggestion.best != NULL)
        qctl_shell_fail(self, "unknown command '%s'; did you mean '%s'?", name, suggestion.best);
    else
        qctl_shell_fail(self, "unknown command '%s'; .help lists them", name);
}

static void
run_help(QctlShell *self, const char *argument)
{
    const QctlCommand *command = argument != NULL ? find_command(argument) : NULL;

    if (argument != NULL && command == NULL) {
        refuse_command(self, argument);
        return;
    }
    if (command != NULL) {
        (void) fprintf(stderr, "%s %s: %s\n%s%s", command->name, command->argument, command->help,
                       command->more != NULL ? command->more : "", command->more != NULL ? "\n" : "");
        return;
    }
    (void) fputs("A statement ends with ';' and may take several lines. Ctrl-C ends it or drops what is typed.\n", stderr);
    for (command = commands; command->name != NULL; command++)
        (void) fprintf(stderr, "  %-11s %-12s %s\n", command->name, strlen(command->argument) <= 12 ? command->argument : "...",
                       command->help);
}

bool
qctl_shell_is_command(const char *line)
{
    static const char *const bare[] = { "help", "quit", "exit", NULL };
    g_autofree char *copy = g_strstrip(g_strdup(line));

    return copy[0] == '.' || g_strv_contains(bare, copy);
}

void
qctl_shell_run_command(QctlShell *self, const char *line)
{
    g_autofree char *copy = g_strstrip(g_strdup(line));
    char *space = strpbrk(copy, " \t");
    const char *argument = NULL;
    const QctlCommand *command = NULL;

    if (space != NULL) {
        *space = 0;
        argument = g_strstrip(space + 1);
    }
    command = find_command(copy);
    if (command != NULL)
        command->run(self, argument);
    else
        refuse_command(self, copy);
}
