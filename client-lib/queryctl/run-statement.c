/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a statement's text to its rows on standard output.
 */
#include "client-lib/queryctl/run-statement.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client-lib/queryctl/hint.h"
#include "client-lib/queryctl/transaction.h"
#include "client-lib/queryctl/verbs.h"

/* Parameters ---------------------------------------------------------------------------------------------------------- */

/* X'hex'; NULL when it is something else. */
static GBytes *
parse_blob(const char *text)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    gsize n = strlen(text);

    if (n < 3 || n % 2 == 0 || !g_str_has_prefix(text, "X'") || text[n - 1] != '\'')
        return NULL;
    for (gsize i = 2; i + 1 < n; i += 2) {
        guint8 byte = 0;

        if (!g_ascii_isxdigit(text[i]) || !g_ascii_isxdigit(text[i + 1]))
            return NULL;
        byte = (guint8) (g_ascii_xdigit_value(text[i]) << 4 | g_ascii_xdigit_value(text[i + 1]));
        g_byte_array_append(bytes, &byte, 1);
    }
    return g_byte_array_free_to_bytes(g_steal_pointer(&bytes));
}

/* (sss), as the library takes a term. (transfer floating) */
static GVariant *
create_term(const char *lexical, const char *datatype, const char *language)
{
    return g_variant_new("(sss)", lexical, datatype, language);
}

/* <iri>, "text", "text"@tag, "text"^^<datatype>. (transfer floating) (nullable): NULL when it is something else. */
static GVariant *
parse_term(const char *text)
{
    gsize n = strlen(text);
    const char *close = n > 1 ? strrchr(text, '"') : NULL;
    g_autofree char *value = NULL;
    g_autofree char *datatype = NULL;

    if (n > 2 && text[0] == '<' && text[n - 1] == '>') {
        value = g_strndup(text + 1, n - 2);
        return create_term(value, "@id", "");
    }
    if (text[0] != '"' || close == text || close == NULL)
        return NULL;
    value = g_strndup(text + 1, (gsize) (close - text - 1));
    if (close[1] == 0)
        return create_term(value, "", "");
    if (close[1] == '@')
        return create_term(value, "", close + 2);
    if (!g_str_has_prefix(close, "\"^^<") || text[n - 1] != '>')
        return NULL;
    datatype = g_strndup(close + 4, n - (gsize) (close - text) - 5);
    return create_term(value, datatype, "");
}

/* A value as the library takes it. (transfer floating) */
static GVariant *
create_value(const QctlParameter *parameter, QueryLanguage language)
{
    const char *text = parameter->text;
    g_autoptr(GBytes) blob = parameter->is_text ? NULL : parse_blob(text);
    GVariant *term = language == QUERY_LANGUAGE_SPARQL && !parameter->is_text ? parse_term(text) : NULL;
    gint64 integer = 0;
    double real = 0;
    QwType type = parameter->is_text ? QW_TYPE_TEXT : qctl_number_parse(text, &integer, &real);

    if (term != NULL)
        return term;
    if (blob != NULL)
        return g_variant_new_from_bytes(G_VARIANT_TYPE_BYTESTRING, blob, TRUE);
    if (!parameter->is_text && g_str_equal(text, "NULL"))
        return g_variant_new_signature("");
    if (type == QW_TYPE_INTEGER)
        return g_variant_new_int64(integer);
    return type == QW_TYPE_FLOAT ? g_variant_new_double(real) : g_variant_new_string(text);
}

/* a{sv} of all that the arguments give, and of what the shell keeps that @text has. (transfer full) (nullable): NULL with @error
 * set */
static GVariant *
create_parameters(QctlSession *session, QueryLanguage language, const char *text, GError **error)
{
    GArray *parameters = qctl_session_get_arguments(session)->parameters;
    g_auto(GVariantDict) dictionary = G_VARIANT_DICT_INIT(NULL);

    for (guint i = 0; i < parameters->len; i++) {
        const QctlParameter *parameter = &g_array_index(parameters, QctlParameter, i);

        if (!g_utf8_validate(parameter->name, -1, NULL) || !g_utf8_validate(parameter->text, -1, NULL)) {
            g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "parameter %u is not UTF-8", i + 1);
            return NULL;
        }
        if (parameter->is_optional && !qctl_text_has_parameter(text, language == QUERY_LANGUAGE_SPARQL, parameter->name))
            continue;
        g_variant_dict_insert_value(&dictionary, parameter->name, create_value(parameter, language));
    }
    return g_variant_ref_sink(g_variant_dict_end(&dictionary));
}

/* Rows ---------------------------------------------------------------------------------------------------------------- */

static bool
print_rows(QctlSession *session, QctlOutput *output, QueryCursor *cursor, GError **error)
{
    guint n_columns = query_cursor_get_n_columns(cursor);
    g_autofree QwValue *cells = g_new0(QwValue, n_columns + 1);
    GError *failure = NULL;
    bool ok = true;

    while (ok && query_cursor_next(cursor, qctl_session_get_cancellable(session), &failure)) {
        for (guint i = 0; i < n_columns; i++)
            qctl_cell_init(&cells[i], cursor, i);
        ok = qctl_output_put(output, cells, error);
    }
    if (failure == NULL)
        return ok && qctl_output_finish(output, true, error);

    /* Rows that came are shown, but never as if they were all; after an interrupt not even that. */
    if (!qctl_session_is_interrupted(session))
        (void) qctl_output_finish(output, false, NULL);
    g_propagate_error(error, failure);
    return false;
}

static bool
print_result(QctlSession *session, QctlSink *sink, QueryCursor *cursor, GError **error)
{
    guint n_columns = query_cursor_get_n_columns(cursor);
    g_autofree const char **names = g_new0(const char *, n_columns + 1);
    g_autoptr(QctlOutput) output = NULL;
    GError *failure = NULL;

    if (n_columns == 0) {
        while (query_cursor_next(cursor, qctl_session_get_cancellable(session), &failure))
            continue;
        if (failure != NULL)
            g_propagate_error(error, failure);
        return failure == NULL;
    }

    for (guint i = 0; i < n_columns; i++)
        names[i] = query_cursor_get_column_name(cursor, i);
    output = qctl_session_create_output(session, sink, names, n_columns);
    return print_rows(session, output, cursor, error);
}

static void
print_notes(QctlSession *session, QueryCursor *cursor, bool writes, gint64 start_usec)
{
    gint64 n_changes = writes ? query_cursor_get_changes(cursor) : 0;

    if (writes && qctl_session_get_arguments(session)->place.remote == NULL) /* an endpoint does not say */
        (void) fprintf(stderr, "%" G_GINT64_FORMAT " row%s changed\n", n_changes, n_changes == 1 ? "" : "s");
    if (qctl_session_get_timing(session))
        (void) fprintf(stderr, "%" G_GUINT64_FORMAT " rows, %.1f ms, of which %.1f ms in the daemon\n",
                       query_cursor_get_n_rows(cursor), (double) (g_get_monotonic_time() - start_usec) / 1000.0,
                       (double) query_cursor_get_elapsed_usec(cursor) / 1000.0);
}

static QueryCursor *
execute_alone(QctlSession *session, QueryConnection *connection, QueryLanguage language, const char *text, GVariant *parameters,
              bool writes, GError **error)
{
    GCancellable *cancellable = qctl_session_get_cancellable(session);
    g_autoptr(QueryStatement) statement = NULL;

    if (writes)
        statement = query_connection_prepare_update(connection, language, text, cancellable, error);
    else
        statement = query_connection_prepare(connection, language, text, cancellable, error);
    if (statement == NULL || !query_statement_bind_parameters(statement, parameters, error))
        return NULL;
    return query_statement_execute(statement, cancellable, error);
}

static QueryCursor *
execute(QctlSession *session, const char *text, bool writes, GError **error)
{
    GCancellable *cancellable = qctl_session_get_cancellable(session);
    QueryLanguage language = qctl_session_get_language(session);
    g_autoptr(GVariant) parameters = create_parameters(session, language, text, error);
    QueryConnection *connection = parameters != NULL ? qctl_session_connect(session, error) : NULL;
    QueryTransaction *transaction = qctl_session_get_transaction(session);

    if (connection == NULL)
        return NULL;
    if (transaction == NULL)
        return execute_alone(session, connection, language, text, parameters, writes, error);
    if (writes)
        return query_transaction_update_returning(transaction, language, text, parameters, cancellable, error);
    return query_transaction_query(transaction, language, text, parameters, cancellable, error);
}

/* What an update returns comes after its commit. So the end of that says that it is done, although it cannot be shown. */
static void
tell_done(QctlSession *session, QueryCursor *cursor, GError **error)
{
    g_autoptr(GError) failure = NULL;
    gint64 n_changes;

    while (query_cursor_next(cursor, qctl_session_get_cancellable(session), &failure))
        continue;
    if (failure != NULL)
        return;
    n_changes = query_cursor_get_changes(cursor);
    g_prefix_error(error,
                   "the update is done (%" G_GINT64_FORMAT " row%s changed), but not all that it returns is shown: ", n_changes,
                   n_changes == 1 ? "" : "s");
}

static bool
run(QctlSession *session, QctlSink *sink, const char *text, bool writes, guint64 *ret_generation, GError **error)
{
    gint64 start_usec = g_get_monotonic_time();
    g_autoptr(QueryCursor) cursor = execute(session, text, writes, error);
    g_autoptr(GError) failure = NULL;

    if (cursor == NULL)
        return false;
    if (!print_result(session, sink, cursor, &failure)) {
        if (writes && failure->domain == G_FILE_ERROR && qctl_session_get_transaction(session) == NULL)
            tell_done(session, cursor, &failure);
        g_propagate_error(error, g_steal_pointer(&failure));
        return false;
    }
    print_notes(session, cursor, writes, start_usec);
    if (ret_generation != NULL)
        *ret_generation = query_cursor_get_generation(cursor);
    return true;
}

bool
qctl_run_query(QctlSession *session, QctlSink *sink, const char *text, guint64 *ret_generation, GError **error)
{
    return run(session, sink, text, false, ret_generation, error);
}

/* Of SQL, by its first word: then the daemon is asked, which knows. */
static bool
may_be_query(QctlSession *session, const char *text)
{
    static const char *const words[] = { "SELECT", "WITH", "VALUES", "EXPLAIN" };
    bool found = qctl_session_get_language(session) == QUERY_LANGUAGE_SPARQL;

    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        found = found || g_ascii_strncasecmp(text, words[i], strlen(words[i])) == 0;
    return found;
}

/* A channel that may write runs queries, too. An update by D-Bus is none, so a statement that can be prepared for reading is not.
 */
static bool
check_update(QctlSession *session, const char *text, GError **error)
{
    QueryConnection *connection = may_be_query(session, text) ? qctl_session_connect(session, NULL) : NULL;
    g_autoptr(QueryStatement) statement = NULL;

    if (connection == NULL || qctl_session_get_transaction(session) != NULL ||
        qctl_session_get_arguments(session)->place.remote != NULL)
        return true;
    statement = query_connection_prepare(connection, qctl_session_get_language(session), text,
                                         qctl_session_get_cancellable(session), NULL);
    if (statement == NULL)
        return true;
    g_set_error(error, QUERY_ERROR, QUERY_ERROR_BAD_PARAMETER, "statement changes nothing: run it as a query, with queryctl %s",
                qctl_session_get_language(session) == QUERY_LANGUAGE_SQL ? "sql" : "sparql");
    return false;
}

static bool
run_with_access(QctlSession *session, QctlSink *sink, const char *text, QctlAccess access, GError **error)
{
    g_autoptr(GError) failure = NULL;

    if (access == QCTL_ACCESS_WRITE)
        return check_update(session, text, error) && run(session, sink, text, true, NULL, error);
    if (run(session, sink, text, false, NULL, &failure))
        return true;
    if (access == QCTL_ACCESS_EITHER && g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_READ_ONLY))
        return run(session, sink, text, true, NULL, error);
    g_propagate_error(error, g_steal_pointer(&failure));
    return false;
}

/* In a transaction of its own, which begins with the settings that were typed. The end of an update's ends the deferring of keys,
 * too. */
static bool
run_with_settings(QctlSession *session, QctlSink *sink, const char *text, QctlAccess access, bool is_update, GError **error)
{
    bool ok;

    if (!qctl_transaction_begin(session, error))
        return false;
    ok = run_with_access(session, sink, text, access, error) && (!is_update || qctl_transaction_commit(session, error));
    qctl_session_take_transaction(session, NULL);
    return ok;
}

/* Outside of a transaction it sets nothing yet. The daemon says whether it can be one. */
static bool
keep_setting(QctlSession *session, const char *text, GError **error)
{
    QueryConnection *connection = qctl_session_connect(session, error);
    g_autoptr(QueryStatement) statement = NULL;

    if (connection != NULL)
        statement = query_connection_prepare_update(connection, QUERY_LANGUAGE_SQL, text, qctl_session_get_cancellable(session),
                                                    error);
    if (statement == NULL)
        return false;
    qctl_transaction_keep_setting(session, text);
    return true;
}

static bool
run_after_settings(QctlSession *session, QctlSink *sink, const char *text, QctlControl control, QctlAccess access, GError **error)
{
    QueryConnection *connection = qctl_session_connect(session, error);
    g_autoptr(QueryStatement) query = NULL;
    g_autoptr(GError) failure = NULL;

    if (connection == NULL)
        return false;
    query = query_connection_prepare(connection, qctl_session_get_language(session), text, qctl_session_get_cancellable(session),
                                     &failure);
    if (query != NULL && control != QCTL_CONTROL_ASKING && access != QCTL_ACCESS_WRITE)
        return run_with_access(session, sink, text, QCTL_ACCESS_READ, error);
    if (query != NULL)
        return run_with_settings(session, sink, text, access, false, error);
    if (access == QCTL_ACCESS_WRITE || g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_READ_ONLY) ||
        g_error_matches(failure, QUERY_ERROR, QUERY_ERROR_SYNTAX)) /* it may compile with them */
        return run_with_settings(session, sink, text, QCTL_ACCESS_WRITE, true, error);
    g_propagate_error(error, g_steal_pointer(&failure));
    return false;
}

static bool
run_outside(QctlSession *session, QctlSink *sink, const char *text, QctlControl control, QctlAccess access, GError **error)
{
    if (control == QCTL_CONTROL_SETTING || control == QCTL_CONTROL_DEFERRING)
        return keep_setting(session, text, error);
    if (qctl_session_get_settings(session)->len > 0)
        return run_after_settings(session, sink, text, control, access, error);
    return run_with_access(session, sink, text, access, error);
}

static bool
run_by_kind(QctlSession *session, QctlSink *sink, const char *text, QctlControl control, QctlAccess access, GError **error)
{
    switch (control) {
    case QCTL_CONTROL_SAVEPOINT:
        return qctl_transaction_set_savepoint(session, text, error);
    case QCTL_CONTROL_BEGIN:
    case QCTL_CONTROL_COMMIT:
    case QCTL_CONTROL_ROLLBACK:
        return qctl_transaction_control(session, control, text, error);
    case QCTL_CONTROL_NONE:
    case QCTL_CONTROL_SETTING:
    case QCTL_CONTROL_DEFERRING:
    case QCTL_CONTROL_ASKING:
        break;
    }
    if (qctl_session_get_transaction(session) != NULL)
        return run_with_access(session, sink, text, access, error);
    return run_outside(session, sink, text, control, access, error);
}

int
qctl_report_statement(QctlSession *session, const GError *error, const char *what, const char *text)
{
    const char *hint = qctl_session_get_arguments(session)->verb->read_only_hint;
    g_autofree char *shown = NULL;
    guint line = 0;
    guint column = 0;
    int code = qctl_session_report(session, g_error_copy(error), what);

    if (code == QCTL_EXIT_INTERRUPTED || code == QCTL_EXIT_OK)
        return code;
    if (query_error_get_place(error, &line, &column))
        shown = qctl_place_show(text, line, column);
    if (shown != NULL)
        (void) fputs(shown, stderr);
    if (hint != NULL && g_error_matches(error, QUERY_ERROR, QUERY_ERROR_READ_ONLY))
        (void) fprintf(stderr, "%s\n", hint);
    return code;
}

int
qctl_run_statement(QctlSession *session, QctlSink *sink, const char *text, QctlAccess access, const char *what)
{
    bool is_sql = qctl_session_get_language(session) == QUERY_LANGUAGE_SQL;
    QctlControl control = is_sql && access != QCTL_ACCESS_READ ? qctl_control_find(text) : QCTL_CONTROL_NONE;
    g_autoptr(GError) error = NULL;
    bool ok;
    int code;

    ok = run_by_kind(session, sink, text, control, access, &error);
    if (ok)
        return QCTL_EXIT_OK;

    code = qctl_report_statement(session, error, what, text);
    qctl_transaction_check(session, error);
    return code;
}

int
qctl_run_sql(QctlSession *session, QctlSink *sink, const char *text)
{
    QueryLanguage language = qctl_session_get_language(session);
    int code;

    qctl_session_set_language(session, QUERY_LANGUAGE_SQL);
    code = qctl_run_statement(session, sink, text, QCTL_ACCESS_READ, NULL);
    qctl_session_set_language(session, language);
    return code;
}

/* Scripts ------------------------------------------------------------------------------------------------------------- */

static guint
count_lines(const char *text, gsize n_bytes)
{
    guint line = 1;

    for (gsize i = 0; i < n_bytes; i++)
        line += text[i] == '\n' ? 1 : 0;
    return line;
}

int
qctl_run_script(QctlSession *session, QctlSink *sink, const char *text, QctlAccess access)
{
    QctlSpan span = { 0 };
    QctlSpan after = { 0 };
    int code = QCTL_EXIT_OK;
    bool several = qctl_span_find(text, 0, &span) && qctl_span_find(text, span.next, &after);

    if (qctl_session_get_language(session) == QUERY_LANGUAGE_SPARQL) /* its semicolons are within */
        return qctl_run_statement(session, sink, text, access, NULL);
    if (!qctl_span_find(text, 0, &span)) {
        (void) fprintf(stderr, "queryctl: there is no statement\n");
        return QCTL_EXIT_USAGE;
    }

    for (gsize offset = 0; code == QCTL_EXIT_OK && qctl_span_find(text, offset, &span); offset = span.next) {
        g_autofree char *statement = g_strndup(text + span.start, span.end - span.start);
        g_autofree char *what = NULL;

        if (span.start == span.end)
            continue;
        if (several)
            what = g_strdup_printf("statement at line %u", count_lines(text, span.start));
        code = qctl_run_statement(session, sink, statement, access, what);
    }
    return code;
}

static char *
read_all(int fd, const char *name, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    char buffer[16384];
    ssize_t n = 0;

    while ((n = read(fd, buffer, sizeof buffer)) != 0) {
        if (n < 0 && errno != EINTR) {
            g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "cannot read '%s': %s", name, g_strerror(errno));
            return NULL;
        }
        if (n > 0)
            g_string_append_len(text, buffer, n);
    }
    if (strlen(text->str) < text->len) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s is not a text: it has a NUL", name);
        return NULL;
    }

    return g_string_free(g_steal_pointer(&text), FALSE);
}

char *
qctl_read_statements(const QctlArguments *arguments, GError **error)
{
    const char *word = arguments->words->len > 0 ? arguments->words->pdata[0] : NULL;
    const char *file = arguments->file;
    char *text = NULL;
    int fd = -1;

    if (word != NULL && !g_str_equal(word, "-"))
        return g_strdup(word);
    if (file == NULL || g_str_equal(file, "-"))
        return read_all(STDIN_FILENO, "standard input", error);

    fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(errno), "cannot open '%s': %s", file, g_strerror(errno));
        return NULL;
    }
    text = read_all(fd, file, error);
    (void) close(fd);
    return text;
}
