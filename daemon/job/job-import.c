/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Import: rows from a descriptor of the caller into a table, in one transaction.
 *
 * What is no regular file is spooled first: a pipe that stalls must not hold the writer.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/call/call-descriptor.h"
#include "daemon/call/call-private.h"
#include "daemon/format/text-reader.h"
#include "daemon/job/import-columns.h"
#include "daemon/job/job-classes.h"
#include "daemon/job/jobs.h"
#include "daemon/notify/changes.h"
#include "daemon/runtime/context.h"
#include "daemon/sqlite/connection.h"
#include "daemon/sqlite/guard/guard.h"
#include "daemon/sqlite/sqlite-error.h"
#include "daemon/store/database.h"
#include "daemon/write/write-item.h"
#include "daemon/write/writer.h"

#define BUFFER_BYTES (256 * 1024)

typedef struct Import {
    QdCall *call;
    int fd; /* regular file, read from `offset` */
    off_t offset;
    QdTextFormat format;
    QdTextReader *reader;
    QdImportColumns *columns;
    QdCompiled *insert; /* (nullable) belongs to the connection's cache */
    guint n_columns;
    gboolean has_made_table;
    char *buffer;
} Import;

static char *
quote_name(const char *name)
{
    g_autoptr(GString) out = g_string_new("\"");

    for (const char *p = name; *p != '\0'; p++) {
        if (*p == '"')
            g_string_append_c(out, '"');
        g_string_append_c(out, *p);
    }
    g_string_append_c(out, '"');
    return g_string_free(g_steal_pointer(&out), FALSE);
}

/* An unlinked file in the store's directory. */
static int
make_spool(QdContext *context, GError **error)
{
    int fd = open(qd_database_get_directory(context->database), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd < 0)
        qd_error_set_errno(error, errno, "cannot make a temporary file in '%s'", qd_database_get_directory(context->database));
    return fd;
}

static gboolean
spool(QdCall *call, int fd, GError **error)
{
    const QdLimits *limits = &call->private->context->limits;
    g_autofree char *buffer = g_malloc(BUFFER_BYTES);
    uint64_t total = 0;
    gssize n;

    while ((n = qd_call_read_descriptor(call, buffer, BUFFER_BYTES, error)) > 0) {
        total += (uint64_t) n;
        if (total > qd_limits_get(limits, QD_LIMIT_TEMP_FILE_BYTES)) {
            qd_limit_set_error(error, limits, QD_LIMIT_TEMP_FILE_BYTES, "import is too big");
            return FALSE;
        }
        if (write(fd, buffer, (size_t) n) != n) {
            qd_error_set_errno(error, errno, "cannot write a temporary file");
            return FALSE;
        }
    }
    return n == 0;
}

static gboolean
open_source(Import *self, GError **error)
{
    QdCall *call = self->call;
    struct stat st;
    int flags = fcntl(call->fd, F_GETFL);

    if (!qd_call_check_descriptor(call, error))
        return FALSE;
    if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY || fstat(call->fd, &st) < 0 || S_ISDIR(st.st_mode)) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "source is not a descriptor that is open for reading");
        return FALSE;
    }
    if (S_ISREG(st.st_mode)) {
        self->fd = fcntl(call->fd, F_DUPFD_CLOEXEC, 3);
        self->offset = lseek(call->fd, 0, SEEK_CUR);
        __atomic_store_n(&call->progress.bytes_total, qd_fd_count_rest(call->fd), __ATOMIC_RELAXED);
        return self->fd >= 0;
    }
    self->fd = make_spool(call->private->context, error);
    if (self->fd < 0 || !spool(call, self->fd, error))
        return FALSE;
    __atomic_store_n(&call->progress.bytes_total, (uint64_t) lseek(self->fd, 0, SEEK_CUR), __ATOMIC_RELAXED);
    return TRUE;
}

/* @names: (nullable): of the columns, where they are known */
static QdTextReader *
create_reader(const Import *self, const char *const *names)
{
    const QdTransferOptions *options = &self->call->options.transfer;
    QdTextReader *reader = qd_text_reader_new(self->format, options->header, names, &self->call->private->context->limits);

    if (options->delimiter != '\0')
        qd_text_reader_set_delimiter(reader, options->delimiter);
    qd_text_reader_set_growing(reader);
    return reader;
}

static gboolean
table_exists(QdConnection *connection, const char *table)
{
    return sqlite3_table_column_metadata(qd_connection_get_db(connection), NULL, table, NULL, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

static gboolean
run_as_client(QdConnection *connection, const char *sql, const QdLimits *limits, GError **error)
{
    QdCompiled *compiled = qd_connection_compile(connection, sql, strlen(sql), QD_POLICY_WRITE, limits, error);
    int r;

    if (compiled == NULL)
        return FALSE;
    r = sqlite3_step(compiled->stmt);
    (void) sqlite3_reset(compiled->stmt);
    if (r != SQLITE_DONE)
        qd_sqlite_set_error(error, qd_connection_get_db(connection), r, NULL, 0, NULL);
    return r == SQLITE_DONE;
}

static char *
join_names(const char *const *names, guint n)
{
    g_autoptr(GString) out = g_string_new(NULL);

    for (guint i = 0; i < n; i++) {
        g_autofree char *name = quote_name(names[i]);

        g_string_append_printf(out, "%s%s", i > 0 ? ", " : "", name);
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

/* With the first row the columns are known. */
static gboolean
make_table(Import *self, QdConnection *connection, QdWriteItem *item, guint n_values, GError **error)
{
    QdCall *call = self->call;
    const char *const *names = qd_text_reader_get_column_names(self->reader);
    g_autofree char *table = quote_name(call->options.transfer.table);
    g_autoptr(GString) sql = g_string_new("CREATE TABLE ");

    if (!call->options.transfer.create || names == NULL) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "no table '%s'%s", call->options.transfer.table,
                     call->options.transfer.create ? ", and no column names to make it from" : " (option 'create' makes it)");
        return FALSE;
    }
    if (!qd_import_columns_check(self->columns, names, n_values, error))
        return FALSE;
    g_string_append(sql, table);
    for (guint i = 0; i < n_values; i++) {
        g_string_append(sql, i == 0 ? "(" : ", ");
        qd_import_columns_put(self->columns, sql, names[i]);
    }
    g_string_append_c(sql, ')');
    if (!run_as_client(connection, sql->str, &call->private->context->limits, error))
        return FALSE;
    item->outcome.changed->schema = TRUE;
    self->has_made_table = TRUE;
    return TRUE;
}

/* A key that no row before had. A table that was there has such a column, or the INSERT is wrong. */
static gboolean
add_columns(Import *self, QdConnection *connection, guint n_values, GError **error)
{
    const char *const *names = qd_text_reader_get_column_names(self->reader);
    g_autofree char *table = quote_name(self->call->options.transfer.table);

    for (guint i = self->n_columns; self->has_made_table && i < n_values; i++) {
        g_autoptr(GString) sql = g_string_new(NULL);

        g_string_printf(sql, "ALTER TABLE %s ADD COLUMN ", table);
        qd_import_columns_put(self->columns, sql, names[i]);
        if (!run_as_client(connection, sql->str, &self->call->private->context->limits, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
prepare_insert(Import *self, QdConnection *connection, QdWriteItem *item, guint n_values, GError **error)
{
    QdCall *call = self->call;
    const QdLimits *limits = &call->private->context->limits;
    const char *const *names = qd_text_reader_get_column_names(self->reader);
    g_autofree char *table = quote_name(call->options.transfer.table);
    g_autofree char *columns = names != NULL ? join_names(names, n_values) : NULL;
    g_autoptr(GString) sql = g_string_new(NULL);

    if (self->insert != NULL) {
        (void) sqlite3_clear_bindings(self->insert->stmt);
        if (!add_columns(self, connection, n_values, error))
            return FALSE;
    } else if (!table_exists(connection, call->options.transfer.table) && !make_table(self, connection, item, n_values, error)) {
        return FALSE;
    }

    g_string_printf(sql, "INSERT INTO %s%s%s%s VALUES (", table, columns != NULL ? "(" : "", columns != NULL ? columns : "",
                    columns != NULL ? ")" : "");
    for (guint i = 0; i < n_values; i++)
        g_string_append(sql, i > 0 ? ",?" : "?");
    g_string_append_c(sql, ')');
    self->insert = qd_connection_compile(connection, sql->str, sql->len, QD_POLICY_WRITE, limits, error);
    if (self->insert == NULL)
        g_prefix_error(error, "%" G_GUINT64_FORMAT ":1: ", qd_text_reader_get_line(self->reader));
    self->n_columns = n_values;
    qd_guard_forget_writes(qd_connection_get_guard(connection));
    return self->insert != NULL;
}

static int
bind_value(sqlite3_stmt *stmt, int index, const QwValue *value)
{
    switch (value->type) {
    case QW_TYPE_INTEGER:
        return sqlite3_bind_int64(stmt, index, value->integer);
    case QW_TYPE_FLOAT:
        return sqlite3_bind_double(stmt, index, value->real);
    case QW_TYPE_BLOB:
        return sqlite3_bind_blob64(stmt, index, value->n_bytes > 0 ? value->data : "", value->n_bytes, SQLITE_STATIC);
    case QW_TYPE_TEXT:
    case QW_TYPE_IRI:
    case QW_TYPE_BNODE:
    case QW_TYPE_LITERAL_LANG:
    case QW_TYPE_LITERAL_TYPED:
        return sqlite3_bind_text64(stmt, index, value->n_bytes > 0 ? value->data : "", value->n_bytes, SQLITE_STATIC, SQLITE_UTF8);
    case QW_TYPE_NULL:
        break;
    }
    return sqlite3_bind_null(stmt, index);
}

static gboolean
insert_row(Import *self, QdConnection *connection, const QwValue *values, GError **error)
{
    sqlite3_stmt *stmt = self->insert->stmt;
    int r = SQLITE_OK;

    for (guint i = 0; i < self->n_columns && r == SQLITE_OK; i++)
        r = bind_value(stmt, (int) i + 1, &values[i]);
    if (r == SQLITE_OK)
        r = sqlite3_step(stmt);
    if (r == SQLITE_DONE) {
        (void) sqlite3_reset(stmt);
        self->call->result.n_rows++;
        __atomic_store_n(&self->call->progress.rows_done, self->call->result.n_rows, __ATOMIC_RELAXED);
        return TRUE;
    }

    if ((r & 0xff) != SQLITE_INTERRUPT || !qd_call_is_cancelled(self->call, error))
        qd_sqlite_set_error(error, qd_connection_get_db(connection), r, NULL, 0, NULL);
    g_prefix_error(error, "%" G_GUINT64_FORMAT ":1: ", qd_text_reader_get_line(self->reader));
    (void) sqlite3_reset(stmt);
    return FALSE;
}

/* Looks at all rows, before the writer is held: which columns there are, and which types hold them. */
static gboolean
scan(Import *self, GError **error)
{
    g_autoptr(QdTextReader) reader = create_reader(self, NULL);
    off_t offset = self->offset;

    for (;;) {
        const QwValue *values;
        guint n_values = 0;
        const char *const *names = NULL;
        ssize_t n;

        switch (qd_text_reader_next(reader, &values, &n_values, error)) {
        case QD_TEXT_READ_MORE:
            n = pread(self->fd, self->buffer, BUFFER_BYTES, offset);
            if (n < 0)
                qd_error_set_errno(error, errno, "cannot read the source");
            if (n < 0 || qd_call_is_cancelled(self->call, error))
                return FALSE;
            offset += n;
            qd_text_reader_feed(reader, n > 0 ? self->buffer : NULL, (size_t) n);
            break;
        case QD_TEXT_READ_ROW:
            names = qd_text_reader_get_column_names(reader);
            if (names != NULL)
                qd_import_columns_take(self->columns, names, values, n_values);
            break;
        case QD_TEXT_READ_END:
            return TRUE;
        case QD_TEXT_READ_ERROR:
            return FALSE;
        }
    }
}

static gboolean
feed(Import *self, GError **error)
{
    ssize_t n = pread(self->fd, self->buffer, BUFFER_BYTES, self->offset);

    if (n < 0) {
        qd_error_set_errno(error, errno, "cannot read the source");
        return FALSE;
    }
    if (qd_call_is_cancelled(self->call, error))
        return FALSE;
    self->offset += n;
    self->call->result.n_bytes += (uint64_t) n;
    __atomic_store_n(&self->call->progress.bytes_done, self->call->result.n_bytes, __ATOMIC_RELAXED);
    qd_text_reader_feed(self->reader, n > 0 ? self->buffer : NULL, (size_t) n);
    return TRUE;
}

static gboolean
import_rows(QdConnection *connection, QdWriteItem *item, void *user_data, GError **error)
{
    Import *self = user_data;

    for (;;) {
        const QwValue *values;
        guint n_values = 0;

        switch (qd_text_reader_next(self->reader, &values, &n_values, error)) {
        case QD_TEXT_READ_MORE:
            if (!feed(self, error))
                return FALSE;
            break;
        case QD_TEXT_READ_ROW:
            if ((self->insert == NULL || n_values > self->n_columns) && !prepare_insert(self, connection, item, n_values, error))
                return FALSE;
            if (!insert_row(self, connection, values, error))
                return FALSE;
            break;
        case QD_TEXT_READ_END:
            if (self->insert != NULL) {
                (void) sqlite3_clear_bindings(self->insert->stmt);
                qd_write_item_note_run(item, connection, self->insert, &self->call->private->context->limits);
            }
            return TRUE;
        case QD_TEXT_READ_ERROR:
            return FALSE;
        }
    }
}

static gboolean
check_request(QdCall *call, QdTextFormat *ret_format, GError **error)
{
    if (!qd_text_format_from_name(call->format, ret_format)) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER,
                     "unknown format '%s': csv, tsv, json, jsonl, turtle, trig, ntriples, nquads, rdfxml and jsonld are known",
                     call->format);
        return FALSE;
    }
    if (call->options.transfer.table == NULL || call->options.transfer.table[0] == '\0') {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option 'table' is missing");
        return FALSE;
    }
    if (!call->options.transfer.create && (call->options.transfer.detect_types || call->options.transfer.types != NULL)) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "options 'types' and 'detect_types' are for a table that 'create' makes");
        return FALSE;
    }
    if (call->options.transfer.delimiter != '\0' && *ret_format != QD_TEXT_FORMAT_CSV) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option 'delimiter' is for csv, not for '%s'", call->format);
        return FALSE;
    }
    return qd_client_check_write_all(call->client, error);
}

/* All of it, once the request is checked. */
static void
import_text(QdCall *call, QdTextFormat format, GError **error)
{
    QdContext *context = call->private->context;
    gboolean is_text = format == QD_TEXT_FORMAT_CSV || format == QD_TEXT_FORMAT_TSV;
    Import import = { .call = call, .fd = -1, .format = format };
    const char *const *names = NULL;
    QdWriteItem item;

    qd_write_item_init(&item);
    item.relaxed = call->options.execution.relaxed_durability;
    item.times.timeout_msec = call->options.execution.has_timeout ? call->options.execution.timeout_msec : 0;
    item.cancelled = &call->private->entry.cancelled;
    import.buffer = g_malloc(BUFFER_BYTES);
    import.columns = qd_import_columns_new(call->options.transfer.types, is_text);
    if (open_source(&import, error) && (!call->options.transfer.detect_types || scan(&import, error))) {
        names = qd_import_columns_get_names(import.columns);
        import.reader = create_reader(&import, names[0] != NULL ? names : NULL);
        if (qd_writer_run_exclusive(context->writer, &item, TRUE, import_rows, &import, error))
            call->result.generation = item.outcome.generation;
        else
            call->result.n_rows = 0;
    }

    if (import.fd >= 0)
        (void) close(import.fd);
    qd_text_reader_free(import.reader);
    qd_import_columns_free(import.columns);
    g_free(import.buffer);
    qd_write_item_clear(&item);
}

static void
run_import(QdCall *call, GError **error)
{
    QdRdfFormat rdf_format;
    QdTextFormat format;

    if (qd_rdf_format_from_name(call->format, &rdf_format))
        qd_job_import_rdf(call, rdf_format, error);
    else if (check_request(call, &format, error))
        import_text(call, format, error);
}

const QdCallClass qd_import_call = {
    .name = "Import",
    .place = QD_CALL_ON_JOB,
    .options = QD_TAKES(TIMEOUT) | QD_TAKES(DURABILITY) | QD_TAKES(TABLE) | QD_TAKES(CREATE) | QD_TAKES(HEADER) |
               QD_TAKES(DELIMITER) | QD_TAKES(GRAPH) | QD_TAKES(BASE) | QD_TAKES(REPLACE) | QD_TAKES(CHECK_ONLY) |
               QD_TAKES(ONE_GRAPH),
    .run = run_import,
};
