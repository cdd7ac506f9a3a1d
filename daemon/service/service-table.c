/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table queryd_service(). Keys are sent in batches, to one endpoint after the other; rows come as the endpoint sends them. With
 * SILENT they wait until the endpoint has answered all, since an error takes back what came before it. Then the keys themselves
 * are the rows, as solutions that bind nothing else.
 */

#include "daemon/base/error.h"
#include "daemon/functions/sql-call.h"
#include "daemon/rdf/term-blob.h"
#include "daemon/service/service-ask.h"
#include "daemon/service/service-term.h"
#include "daemon/sqlite/sqlite-error.h"
#include "daemon/sqlite/virtual-table.h"

enum { ARG_ENDPOINT, ARG_TEXT, ARG_NAMES, ARG_N_KEYS, ARG_FLAGS, ARG_KEYS, N_ARGS };

/* Rows with what belongs to the request that they are of; of SQLite's memory. */
typedef struct Answer {
    struct Answer *next;
    QdServiceRows *rows;
    QdServiceHead head;
} Answer;

typedef enum State {
    STATE_NEXT,    /* another batch, if there is one */
    STATE_ASKED,   /* an answer is under way */
    STATE_SPOOL,   /* SILENT: what an endpoint has said */
    STATE_KEYS,    /* SILENT: of an endpoint that has failed */
    STATE_UNBOUND, /* the same without keys: one row */
    STATE_END,
} State;

typedef struct Cursor {
    QdVirtualCursor base;
    sqlite3_value *args[N_ARGS];
    guint n_names;
    gboolean is_silent;
    State state;
    QdServiceAsk ask;
    Answer *current; /* its row is given; NULL: a row of keys is */
    Answer *first, **last;
    QdServiceKey row[QD_SERVICE_COLUMNS_MAX]; /* of keys */
} Cursor;

/* --- failing ---------------------------------------------------------------------------------------------------------- */

static int
fail(Cursor *self, GError *error)
{
    QwError code = error != NULL ? qd_error_get_code(error) : QW_ERROR_INTERNAL;

    g_clear_error(&self->ask.access->failure);
    self->ask.access->failure = error;
    self->base.base.pVtab->zErrMsg = sqlite3_mprintf("%s", error != NULL ? error->message : "SERVICE has failed");
    return qd_sqlite_from_code(code);
}

gboolean
qd_service_take_failure(QdServiceAccess *access, GError **error)
{
    if (access == NULL || access->failure == NULL)
        return FALSE;
    g_propagate_error(error, g_steal_pointer(&access->failure));
    return TRUE;
}

/* --- answers ---------------------------------------------------------------------------------------------------------- */

static Answer *
answer_free(Answer *self)
{
    if (self != NULL)
        (void) qd_service_rows_free(self->rows);
    sqlite3_free(self);
    return NULL;
}

static void
drop_spool(Cursor *self)
{
    while (self->first != NULL) {
        Answer *answer = self->first;

        self->first = answer->next;
        (void) answer_free(answer);
    }
    self->last = &self->first;
}

/* --- the next row ----------------------------------------------------------------------------------------------------- */

/* Whether SILENT hides @error: the endpoint's own, or of the way to it. */
static gboolean
is_hidden(const Cursor *self, const GError *error)
{
    return self->is_silent && !self->ask.is_ours && qd_error_get_code(error) != QW_ERROR_NO_MEMORY;
}

/* The endpoint has failed. @error: (transfer full) (nullable): NULL: the statement shall end */
static int
take_failure(Cursor *self, GError *error)
{
    if (error == NULL)
        return SQLITE_INTERRUPT;
    if (!is_hidden(self, error))
        return fail(self, error);
    g_error_free(error);
    drop_spool(self);
    qd_service_ask_drop_group(&self->ask);
    self->state = self->ask.keys != NULL ? STATE_KEYS : STATE_UNBOUND;
    return SQLITE_OK;
}

/* Takes @rows. */
static int
take_rows(Cursor *self, QdServiceRows *rows)
{
    Answer *answer = sqlite3_malloc64(sizeof *answer);

    if (answer == NULL) {
        (void) qd_service_rows_free(rows);
        return SQLITE_NOMEM;
    }
    *answer = (Answer){ .rows = rows, .head = self->ask.head };
    if (self->is_silent) {
        *self->last = answer;
        self->last = &answer->next;
    } else {
        self->current = answer;
    }
    return SQLITE_OK;
}

/* What comes from the answer that is under way. */
static int
read_answer(Cursor *self)
{
    GError *error = NULL;
    QdServiceRows *rows = NULL;

    switch (qd_service_ask_read(&self->ask, &rows, &error)) {
    case QD_SERVICE_ROWS:
        return take_rows(self, rows);
    case QD_SERVICE_END:
        self->state = STATE_NEXT;
        return SQLITE_OK;
    case QD_SERVICE_FAILED:
    case QD_SERVICE_STOPPED:
        break;
    }
    return take_failure(self, error);
}

static int
go_on(Cursor *self)
{
    GError *error = NULL;
    QdServiceNews news = qd_service_ask_next(&self->ask, &error);

    if (news == QD_SERVICE_ROWS) {
        self->state = STATE_ASKED;
        return SQLITE_OK;
    }
    if (news != QD_SERVICE_END)
        return take_failure(self, error);
    if (self->first != NULL) {
        self->state = STATE_SPOOL;
        return SQLITE_OK;
    }
    if (qd_service_ask_begin_group(&self->ask, &error))
        return SQLITE_OK;
    if (error != NULL)
        return take_failure(self, error);
    self->state = STATE_END;
    return SQLITE_OK;
}

/* One step towards the next row. */
static int
advance(Cursor *self, gboolean *ret_is_row)
{
    switch (self->state) {
    case STATE_NEXT:
        return go_on(self);
    case STATE_ASKED:
        return read_answer(self);
    case STATE_SPOOL:
        self->current = self->first;
        if (self->first != NULL)
            self->first = self->first->next;
        else
            self->state = STATE_NEXT;
        if (self->first == NULL)
            self->last = &self->first;
        return SQLITE_OK;
    case STATE_KEYS:
        *ret_is_row = qd_service_ask_take_keys(&self->ask, self->row);
        if (!*ret_is_row)
            self->state = STATE_NEXT;
        return SQLITE_OK;
    case STATE_UNBOUND:
        *ret_is_row = TRUE;
        self->state = STATE_NEXT;
        return SQLITE_OK;
    case STATE_END:
        self->base.is_at_end = TRUE;
        qd_service_ask_release(&self->ask);
        return SQLITE_OK;
    }
    return SQLITE_INTERNAL;
}

static int
next(sqlite3_vtab_cursor *cursor)
{
    Cursor *self = (Cursor *) cursor;
    gboolean is_row = FALSE;
    int r = SQLITE_OK;

    self->base.row++;
    while (r == SQLITE_OK && !self->base.is_at_end && !is_row) {
        if (self->current != NULL && qw_page_reader_next(&self->current->rows->reader))
            return SQLITE_OK;
        self->current = answer_free(self->current);
        r = advance(self, &is_row);
    }
    return r;
}

/* --- the virtual table ------------------------------------------------------------------------------------------------ */

static int
connect_table(sqlite3 *db, void *data, int n_args, const char *const *args, sqlite3_vtab **ret_table, char **ret_message)
{
    g_autoptr(GString) declaration = g_string_new("CREATE TABLE x(");

    for (guint i = 0; i < QD_SERVICE_COLUMNS_MAX; i++)
        g_string_append_printf(declaration, "v%u,", i);
    g_string_append(declaration, "endpoint HIDDEN,query HIDDEN,names HIDDEN,n_keys HIDDEN,flags HIDDEN,keys HIDDEN)");
    return qd_virtual_table_connect(db, declaration->str, data, ret_table);
}

static int
plan_table(sqlite3_vtab *table, sqlite3_index_info *info)
{
    guint found = 0;

    for (int i = 0; i < info->nConstraint; i++) {
        int arg = info->aConstraint[i].iColumn - QD_SERVICE_COLUMNS_MAX;

        if (arg < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ || (found & (1u << arg)) != 0)
            continue;
        if (!info->aConstraint[i].usable)
            return SQLITE_CONSTRAINT;
        info->aConstraintUsage[i].argvIndex = arg + 1;
        info->aConstraintUsage[i].omit = TRUE;
        found |= 1u << arg;
    }
    info->estimatedCost = 1000;
    info->estimatedRows = 1000;
    return found == (1u << N_ARGS) - 1 ? SQLITE_OK : SQLITE_CONSTRAINT;
}

static int
open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor)
{
    Cursor *self = g_new0(Cursor, 1);

    self->ask.access = ((QdVirtualTable *) table)->data;
    self->ask.link.fd = -1;
    self->last = &self->first;
    *ret_cursor = &self->base.base;
    return SQLITE_OK;
}

static void
clear(Cursor *self)
{
    qd_service_ask_clear(&self->ask);
    self->current = answer_free(self->current);
    drop_spool(self);
    for (guint i = 0; i < N_ARGS; i++)
        g_clear_pointer(&self->args[i], sqlite3_value_free);
}

static int
close_cursor(sqlite3_vtab_cursor *cursor)
{
    clear((Cursor *) cursor);
    g_free(cursor);
    return SQLITE_OK;
}

/* Whether the arguments are what generated SQL gives. */
static gboolean
take_args(Cursor *self)
{
    QdServiceAsk *ask = &self->ask;
    int flags = sqlite3_value_int(self->args[ARG_FLAGS]);

    if (sqlite3_value_type(self->args[ARG_TEXT]) != SQLITE_TEXT || sqlite3_value_type(self->args[ARG_NAMES]) != SQLITE_TEXT)
        return FALSE;
    ask->text = (const char *) sqlite3_value_text(self->args[ARG_TEXT]);
    ask->names = g_strsplit((const char *) sqlite3_value_text(self->args[ARG_NAMES]), " ", -1);
    ask->n_keys = (guint) sqlite3_value_int(self->args[ARG_N_KEYS]);
    ask->constant = qd_service_key_from_value(self->args[ARG_ENDPOINT]);
    ask->names_endpoint = (flags & QD_SERVICE_BY_VARIABLE) != 0;
    self->is_silent = (flags & QD_SERVICE_SILENT) != 0;
    self->n_names = g_strv_length(ask->names);
    if (sqlite3_value_type(self->args[ARG_KEYS]) == SQLITE_BLOB) {
        ask->keys = sqlite3_value_blob(self->args[ARG_KEYS]);
        ask->n_key_bytes = (gsize) sqlite3_value_bytes(self->args[ARG_KEYS]);
        if (ask->keys == NULL)
            ask->keys = (const guint8 *) ""; /* no row */
    }
    return self->n_names <= QD_SERVICE_COLUMNS_MAX && ask->n_keys <= self->n_names && (ask->keys != NULL || ask->n_keys == 0) &&
           ask->n_keys >= (ask->names_endpoint ? 1 : 0);
}

static int
filter(sqlite3_vtab_cursor *cursor, int index, const char *index_text, int n_args, sqlite3_value **args)
{
    Cursor *self = (Cursor *) cursor;

    clear(self);
    self->base.row = 0;
    self->base.is_at_end = FALSE;
    self->state = STATE_NEXT;
    for (int i = 0; i < N_ARGS; i++) {
        self->args[i] = sqlite3_value_dup(args[i]);
        if (self->args[i] == NULL)
            return SQLITE_NOMEM;
    }
    if (!take_args(self))
        return SQLITE_MISUSE;
    return next(cursor);
}

static void
set_key(sqlite3_context *context, const QdServiceKey *key)
{
    if (key->type == SQLITE_INTEGER)
        sqlite3_result_int64(context, key->id);
    else if (key->type == SQLITE_BLOB)
        sqlite3_result_blob64(context, key->blob, key->n_bytes, SQLITE_TRANSIENT);
}

/* The id of a term that is stored or lives in line; else the term. */
static int
set_term(Cursor *self, sqlite3_context *context, const QdTerm *term)
{
    const QdResolver *resolver = &self->ask.access->resolver;
    g_autoptr(GByteArray) blob = NULL;
    GError *error = NULL;
    gint64 id;

    if (term->kind != QD_TERM_BNODE && (qd_term_id_from_term(term, &id) || resolver->find_id(resolver->data, term, &id, &error))) {
        sqlite3_result_int64(context, id);
        return SQLITE_OK;
    }
    if (error != NULL)
        return fail(self, error);
    blob = g_byte_array_new();
    qd_term_blob_append(blob, term);
    sqlite3_result_blob64(context, blob->data, blob->len, SQLITE_TRANSIENT);
    return SQLITE_OK;
}

static int
get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    Cursor *self = (Cursor *) cursor;
    const Answer *answer = self->current;
    g_autofree char *owned = NULL;
    QwValue value;
    QdTerm term;

    if (column < 0 || (guint) column >= self->n_names)
        return SQLITE_OK;
    if (answer == NULL) {
        if ((guint) column < self->ask.n_keys)
            set_key(context, &self->row[column]);
        return SQLITE_OK;
    }
    if (column == 0 && self->ask.names_endpoint) {
        set_key(context, &answer->head.endpoint);
        return SQLITE_OK;
    }
    if (answer->head.map[column] < 0)
        return SQLITE_OK;
    qw_page_reader_get(&answer->rows->reader, (guint32) answer->head.map[column], &value);
    return qd_service_make_term(&value, answer->head.serial, &term, &owned) ? set_term(self, context, &term) : SQLITE_OK;
}

gboolean
qd_service_register(sqlite3 *db, QdServiceAccess *access, GError **error)
{
    static const sqlite3_module module = {
        .xConnect = connect_table,
        .xDisconnect = qd_virtual_table_disconnect,
        .xBestIndex = plan_table,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = filter,
        .xNext = next,
        .xEof = qd_virtual_cursor_is_at_end,
        .xColumn = get_column,
        .xRowid = qd_virtual_cursor_get_rowid,
    };
    int r = sqlite3_create_module_v2(db, "queryd_service", &module, access, NULL);

    if (r != SQLITE_OK)
        qd_sql_create_error(error, "queryd_service", r);
    return r == SQLITE_OK && qd_service_keys_register(db, error);
}
