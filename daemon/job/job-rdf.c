/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Import and Dump of RDF.
 *
 * The document is read without any lock; the writer is asked for only when all of it is known to be right.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/base/disk.h"
#include "daemon/base/fd.h"
#include "daemon/base/name-set.h"
#include "daemon/call/call-descriptor.h"
#include "daemon/call/call-private.h"
#include "daemon/job/job-classes.h"
#include "daemon/job/jobs.h"
#include "daemon/notify/changes.h"
#include "daemon/quads/bulk-load.h"
#include "daemon/quads/dictionary.h"
#include "daemon/quads/quads.h"
#include "daemon/rdf/iri.h"
#include "daemon/rdfio/rdf-reader.h"
#include "daemon/rdfio/rdf-writer.h"
#include "daemon/read/pool.h"
#include "daemon/runtime/context.h"
#include "daemon/sqlite/sqlite-error.h"
#include "daemon/store/database.h"
#include "daemon/write/write-columns.h"
#include "daemon/write/writer.h"

#define FLUSH_BYTES (256 * 1024)
#define MANY_QUADS 20000u /* from so many on their columns are stored soon, whether a query asks for them or not */
#define COUNT_PREFIXES "SELECT count(*) FROM queryd_prefix" /* a load only adds some */

static gboolean
check_iri(const char *option, const char *iri, GError **error)
{
    if (iri == NULL || (qd_iri_is_absolute(iri, strlen(iri)) && qd_iri_check(iri, strlen(iri))))
        return TRUE;

    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option '%s' is no absolute IRI: '%.100s'", option, iri);
    return FALSE;
}

/* Import ---------------------------------------------------------------------------------------------------------------- */

typedef struct Import {
    QdCall *call;
    QdRdfFormat format;
    QdBulkLoad *load;    /* NULL: the document is only checked */
    QdChanges *changes;  /* the graphs of its quads */
    gboolean names_none; /* some quad has no graph of its own */
    guint64 n_inserted;
    gint n_restores; /* when the first pass began */
} Import;

static gboolean
open_source(QdCall *call, GError **error)
{
    int flags = fcntl(call->fd, F_GETFL);
    struct stat st;

    if (!qd_call_check_descriptor(call, error))
        return FALSE;
    if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY || fstat(call->fd, &st) < 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "source is not a descriptor that is open for reading");
        return FALSE;
    }
    if (S_ISREG(st.st_mode))
        __atomic_store_n(&call->progress.bytes_total, qd_fd_count_rest(call->fd), __ATOMIC_RELAXED);
    return TRUE;
}

static gssize
read_source(char *buffer, gsize n_bytes, gpointer data, GError **error)
{
    QdCall *call = ((Import *) data)->call;
    gssize n = qd_call_read_descriptor(call, buffer, n_bytes, error);

    if (n > 0) {
        call->result.n_bytes += (uint64_t) n;
        __atomic_store_n(&call->progress.bytes_done, call->result.n_bytes, __ATOMIC_RELAXED);
    }
    return n;
}

static gboolean
check_call(gpointer data, GError **error)
{
    return !qd_call_is_cancelled(((Import *) data)->call, error);
}

static gboolean
take_quad(const QdTerm *s, const QdTerm *p, const QdTerm *o, const QdTerm *g, gpointer data, GError **error)
{
    Import *self = data;

    /* a short name may stand for an IRI of megabytes, so that a read is not often enough */
    if (!check_call(self, error))
        return FALSE;
    if (g != NULL && self->call->options.transfer.one_graph) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "the document has the named graph '%.*s', but the option 'one_graph' is given",
                     (int) MIN(g->n_lexical, 100), g->lexical);
        return FALSE;
    }
    if (g == NULL)
        self->names_none = TRUE;
    else if (g->kind == QD_TERM_IRI)
        qd_name_set_add(self->changes->graphs, g->lexical, g->n_lexical);
    else
        qd_name_set_make_all(self->changes->graphs); /* a blank node, whose name is not known here */
    self->call->result.n_rows++;
    __atomic_store_n(&self->call->progress.rows_done, self->call->result.n_rows, __ATOMIC_RELAXED);
    return self->load == NULL || qd_bulk_load_add(s, p, o, g, self->load, error);
}

static gboolean
take_prefix(const char *prefix, gsize n_prefix, const char *iri, gsize n_iri, gpointer data, GError **error)
{
    Import *self = data;

    if (!check_call(self, error))
        return FALSE;
    return self->load == NULL || qd_bulk_load_add_prefix(prefix, n_prefix, iri, n_iri, self->load, error);
}

static gboolean
read_document(Import *self, GError **error)
{
    QdRdfReading reading = {
        .format = self->format,
        .base = self->call->options.base,
        .read_func = read_source,
        .read_data = self,
        .check_func = check_call,
        .quad_func = take_quad,
        .prefix_func = take_prefix,
        .data = self,
        .limits = &self->call->private->context->limits,
    };

    return qd_rdf_read(&reading, error);
}

/* The load is in the log first and in the database then: twice. */
static gboolean
check_room(Import *self, GError **error)
{
    const QdDatabase *database = self->call->private->context->database;
    guint64 needed = 2 * qd_bulk_load_get_estimated_bytes(self->load);
    uint64_t n_free;

    if (!qd_disk_find_free_bytes(qd_database_get_directory(database), &n_free, NULL) || n_free >= needed)
        return TRUE;

    qd_error_set(error, QW_ERROR_DISK_FULL,
                 "import needs about %" G_GUINT64_FORMAT " bytes, but the file system of '%s' has only %" G_GUINT64_FORMAT
                 " bytes free",
                 needed, qd_database_get_directory(database), n_free);
    return FALSE;
}

/* Where the quads go, and where some may have gone from; predicates are not kept apart. */
static void
tell_changes(const Import *self, QdBulkReplace replace, QdChanges *changed)
{
    const char *graph = self->call->options.transfer.graph != NULL ? self->call->options.transfer.graph : "";

    if (self->n_inserted == 0 && replace == QD_BULK_REPLACE_NOTHING)
        return;
    if (self->names_none || replace == QD_BULK_REPLACE_GRAPH)
        qd_name_set_add(changed->graphs, graph, strlen(graph));
    if (replace == QD_BULK_REPLACE_ALL)
        qd_name_set_make_all(changed->graphs);
    qd_name_set_add_all(changed->graphs, self->changes->graphs);
    qd_name_set_make_all(changed->predicates);
}

static gboolean
commit_load(QdConnection *connection, QdWriteItem *item, void *user_data, GError **error)
{
    Import *self = user_data;
    gboolean has_graphs = qd_rdf_format_has_graphs(self->format) && !self->call->options.transfer.one_graph;
    QdBulkReplace replace = !self->call->options.transfer.replace ? QD_BULK_REPLACE_NOTHING
                            : has_graphs                          ? QD_BULK_REPLACE_ALL
                                                                  : QD_BULK_REPLACE_GRAPH;
    gint64 n_before;
    gint64 n_after;

    if (self->n_restores != g_atomic_int_get(&self->call->private->context->n_restores)) {
        qd_error_set(error, QW_ERROR_BUSY, "the database was restored while the document was read: nothing is imported");
        return FALSE;
    }
    if (!qd_connection_get_int64(connection, COUNT_PREFIXES, &n_before, error) ||
        !qd_bulk_load_commit(self->load, connection, replace, &self->n_inserted, error) ||
        !qd_connection_get_int64(connection, COUNT_PREFIXES, &n_after, error))
        return FALSE;
    item->outcome.changed->prefixes = n_after != n_before;
    tell_changes(self, replace, item->outcome.changed);
    return TRUE;
}

static gboolean
run_commit(Import *self, GError **error)
{
    QdCall *call = self->call;
    g_autoptr(GError) local_error = NULL;
    QdWriteItem item;

    qd_write_item_init(&item);
    item.relaxed = call->options.execution.relaxed_durability;
    item.times.timeout_msec = call->options.execution.has_timeout ? call->options.execution.timeout_msec : 0;
    item.cancelled = &call->private->entry.cancelled;
    if (qd_writer_run_exclusive(call->private->context->writer, &item, TRUE, commit_load, self, &local_error)) {
        call->result.generation = item.outcome.generation;
        if (self->n_inserted >= MANY_QUADS)
            qd_write_columns_want();
    }
    qd_write_item_clear(&item);
    if (local_error == NULL)
        return TRUE;
    /* SQLite says no more than that it was interrupted */
    if (!qd_call_is_cancelled(call, error))
        g_propagate_error(error, g_steal_pointer(&local_error));
    return FALSE;
}

static gboolean
import_document(Import *self, GError **error)
{
    QdCall *call = self->call;
    QdContext *context = call->private->context;
    g_autoptr(QdConnection) reader = NULL;
    g_autoptr(QdBulkLoad) load = NULL;

    self->n_restores = g_atomic_int_get(&context->n_restores);
    if (!qd_client_check_write_all(call->client, error))
        return FALSE;
    reader = qd_pool_open_connection(context->pool, QD_CONNECTION_READER, error);
    if (reader == NULL)
        return FALSE;
    load = qd_bulk_load_new(reader, qd_database_get_directory(context->database), call->options.transfer.graph, &context->limits,
                            error);
    if (load == NULL)
        return FALSE;
    self->load = load;
    return read_document(self, error) && check_room(self, error) && run_commit(self, error);
}

void
qd_job_import_rdf(QdCall *call, QdRdfFormat format, GError **error)
{
    g_autoptr(QdChanges) changes = qd_changes_new();
    Import import = { .call = call, .format = format, .changes = changes };
    gboolean ok;

    if (call->options.transfer.table != NULL) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option 'table' is not for the format '%s'", qd_rdf_format_get_name(format));
        return;
    }
    if (!check_iri("base", call->options.base, error) || !check_iri("graph", call->options.transfer.graph, error) ||
        !open_source(call, error))
        return;

    ok = call->options.transfer.check_only ? read_document(&import, error) : import_document(&import, error);
    if (!ok)
        call->result.n_rows = 0;
}

/* Dump ------------------------------------------------------------------------------------------------------------------ */

typedef struct Dump {
    QdCall *call;
    sqlite3 *db;
    QdDictionary *dictionary;
    QdRdfWriter *writer;
    GString *out;
} Dump;

static gboolean
flush(Dump *self, gsize keep, GError **error)
{
    if (self->out->len <= keep)
        return TRUE;
    if (!qd_call_write_descriptor(self->call, self->out->str, self->out->len, error))
        return FALSE;

    self->call->result.n_bytes += self->out->len;
    g_string_truncate(self->out, 0);
    return TRUE;
}

static gboolean
write_row(Dump *self, sqlite3_stmt *stmt, const QdTerm *graph, GError **error)
{
    QdTerm terms[3];

    for (int i = 0; i < 3; i++)
        if (!qd_dictionary_get_term(self->dictionary, sqlite3_column_int64(stmt, i), &terms[i], error))
            return FALSE;
    if (!qd_rdf_writer_put(self->writer, &terms[0], &terms[1], &terms[2], graph, error))
        return FALSE;

    qd_dictionary_release(self->dictionary);
    self->call->result.n_rows++;
    __atomic_store_n(&self->call->progress.rows_done, self->call->result.n_rows, __ATOMIC_RELAXED);
    return flush(self, FLUSH_BYTES, error);
}

/* @g: 0: the default graph */
static gboolean
dump_graph(Dump *self, gint64 g, GError **error)
{
    const char *sql = g == 0 ? "SELECT s, p, o FROM queryd_quad NOT INDEXED WHERE g=? ORDER BY s, p, o"
                             : "SELECT s, p, o FROM queryd_quad INDEXED BY queryd_quad_gspo WHERE g=? AND g<>0 ORDER BY s, p, o";
    g_autoptr(GString) lexical = g_string_new(NULL);
    sqlite3_stmt *stmt = NULL;
    QdTerm graph = { 0 };
    gboolean ok = TRUE;
    int r;

    if (g != 0) {
        if (!qd_dictionary_get_term(self->dictionary, g, &graph, error))
            return FALSE;
        g_string_append_len(lexical, graph.lexical, (gssize) graph.n_lexical);
        graph.lexical = lexical->str;
    }
    r = sqlite3_prepare_v2(self->db, sql, -1, &stmt, NULL);
    if (r == SQLITE_OK)
        r = sqlite3_bind_int64(stmt, 1, g);
    if (r == SQLITE_OK)
        while (ok && (r = sqlite3_step(stmt)) == SQLITE_ROW)
            ok = write_row(self, stmt, g != 0 ? &graph : NULL, error);
    if (ok && r != SQLITE_DONE) {
        qd_sqlite_set_error(error, self->db, r, NULL, 0, NULL);
        ok = FALSE;
    }
    (void) sqlite3_finalize(stmt);
    return ok;
}

static gboolean
dump_named_graphs(Dump *self, GError **error)
{
    g_autoptr(GArray) graphs = g_array_new(FALSE, FALSE, sizeof(gint64));
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_prepare_v2(self->db, "SELECT id FROM queryd_graph WHERE id<>0 ORDER BY id", -1, &stmt, NULL);

    if (r == SQLITE_OK)
        while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
            gint64 id = sqlite3_column_int64(stmt, 0);

            g_array_append_val(graphs, id);
        }
    (void) sqlite3_finalize(stmt);
    if (r != SQLITE_DONE) {
        qd_sqlite_set_error(error, self->db, r, NULL, 0, NULL);
        return FALSE;
    }
    for (guint i = 0; i < graphs->len; i++)
        if (!dump_graph(self, g_array_index(graphs, gint64, i), error))
            return FALSE;
    return TRUE;
}

static gboolean
dump_graphs(Dump *self, QdRdfFormat format, GError **error)
{
    const char *iri = self->call->options.transfer.graph;
    QdTerm term = { .kind = QD_TERM_IRI, .lexical = iri, .n_lexical = iri != NULL ? strlen(iri) : 0 };
    g_autoptr(GError) local_error = NULL;
    gint64 g = 0;

    if (iri == NULL)
        return dump_graph(self, 0, error) && (!qd_rdf_format_has_graphs(format) || dump_named_graphs(self, error));
    if (qd_dictionary_find_id(self->dictionary, &term, &g, &local_error))
        return dump_graph(self, g, error);
    if (local_error != NULL)
        g_propagate_error(error, g_steal_pointer(&local_error));
    return *error == NULL;
}

static gboolean
check_target(QdCall *call, QdRdfFormat *ret_format, GError **error)
{
    int flags = fcntl(call->fd, F_GETFL);

    if (!qd_rdf_format_from_name(call->format, ret_format)) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER,
                     "unknown format '%.40s': turtle, trig, ntriples, nquads, rdfxml and jsonld are known", call->format);
        return FALSE;
    }
    if (!qd_call_check_descriptor(call, error) || !check_iri("graph", call->options.transfer.graph, error))
        return FALSE;
    if (flags >= 0 && ((flags & O_ACCMODE) == O_WRONLY || (flags & O_ACCMODE) == O_RDWR))
        return TRUE;

    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "target is not a descriptor that is open for writing");
    return FALSE;
}

static void
run_dump(QdCall *call, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(QdPrefixMap) prefixes = qd_prefix_map_new();
    g_autoptr(QdConnection) reader = NULL;
    g_autoptr(QdRdfWriter) writer = NULL;
    Dump dump = { .call = call, .out = out };
    QdRdfFormat format;

    if (!check_target(call, &format, error))
        return;
    reader = qd_pool_open_connection(call->private->context->pool, QD_CONNECTION_READER, error);
    if (reader == NULL || !qd_connection_execute(reader, "BEGIN", error))
        return;
    dump.db = qd_connection_get_db(reader);
    dump.dictionary = qd_dictionary_get(reader, error);
    if (dump.dictionary == NULL || !qd_quads_list_prefixes(reader, prefixes, error))
        return;

    dump.writer = writer = qd_rdf_writer_new(format, prefixes, out);
    if (!dump_graphs(&dump, format, error))
        return;
    qd_rdf_writer_finish(writer);
    (void) flush(&dump, 0, error);
}

const QdCallClass qd_dump_call = {
    .name = "Dump",
    .place = QD_CALL_ON_JOB,
    .options = QD_TAKES(GRAPH),
    .reads = TRUE,
    .run = run_dump,
};
