/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the store holds against what was promised.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/payload/payload.h"
#include "daemon/rdf/term-id.h"
#include "tests/crash/workload-private.h"

typedef struct Check {
    const Workload *workload;
    QdConnection *connection;
    sqlite3 *db;
    guint position;
    WorkloadReport *report;
    GArray **found; /* for each client: of guint8, 1 where the unit is there */
} Check;

static void note(Check *self, guint *count, const char *format, ...) G_GNUC_PRINTF(3, 4);

static void
note(Check *self, guint *count, const char *format, ...)
{
    va_list arguments;

    ++*count;
    if (self->report->first_problem != NULL)
        return;
    va_start(arguments, format);
    self->report->first_problem = g_strdup_vprintf(format, arguments);
    va_end(arguments);
}

static sqlite3_stmt *
prepare(Check *self, const char *sql)
{
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(self->db, sql, -1, &stmt, NULL) != SQLITE_OK)
        note(self, &self->report->n_half, "%s: %s", sql, sqlite3_errmsg(self->db));
    return stmt;
}

static void
finish(Check *self, sqlite3_stmt *stmt)
{
    if (stmt != NULL && sqlite3_finalize(stmt) != SQLITE_OK)
        note(self, &self->report->n_half, "%s", sqlite3_errmsg(self->db));
}

static gint64
get_int64(Check *self, const char *sql)
{
    sqlite3_stmt *stmt = prepare(self, sql);
    gint64 value = stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : -1;

    finish(self, stmt);
    return value;
}

/* For facts that SQL counts. */
static void
expect_none(Check *self, const char *what, const char *sql)
{
    gint64 n = get_int64(self, sql);

    if (n != 0)
        note(self, &self->report->n_half, "%s: %" G_GINT64_FORMAT, what, n);
}

static WorkloadClient *
get_client(Check *self, guint index, WorkloadKind kind, WorkloadKind other_kind)
{
    WorkloadClient *client = index < self->workload->clients->len ? self->workload->clients->pdata[index] : NULL;

    return client != NULL && (client->kind == kind || client->kind == other_kind) ? client : NULL;
}

/* A unit is there, and its parts are if @whole. */
static void
find_unit(Check *self, WorkloadClient *client, gint64 k, gboolean whole)
{
    const guint8 yes = 1;

    if (client == NULL || k < 1 || k > client->positions->len) {
        note(self, &self->report->n_half, "unit %" G_GINT64_FORMAT " of client %d was never sent, or had to fail", k,
             client != NULL ? (int) client->index : -1);
        return;
    }
    if (!whole)
        note(self, &self->report->n_half, "unit %" G_GINT64_FORMAT " of client %u is there in part", k, client->index);
    if (self->found[client->index]->len < k)
        g_array_set_size(self->found[client->index], (guint) k);
    g_array_index(self->found[client->index], guint8, k - 1) = yes;
    self->report->n_found++;
}

static void
check_rows(Check *self)
{
    sqlite3_stmt *stmt = prepare(self, "SELECT a.client, a.k, a.t, b.k FROM a LEFT JOIN b ON b.client=a.client AND b.k=a.k");

    while (stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW) {
        guint index = (guint) sqlite3_column_int(stmt, 0);
        gint64 k = sqlite3_column_int64(stmt, 1);
        const char *text = (const char *) sqlite3_column_text(stmt, 2);
        gboolean whole = workload_text_is(index, (guint) k, text, (gsize) sqlite3_column_bytes(stmt, 2)) &&
                         sqlite3_column_int64(stmt, 3) == k;

        find_unit(self, get_client(self, index, WORKLOAD_ROWS, WORKLOAD_SCHEMA), k, whole);
    }
    finish(self, stmt);
    expect_none(self, "rows of b that are not in a", "SELECT count(*) FROM b WHERE (client, k) NOT IN (SELECT client, k FROM a)");
    expect_none(self, "wrong balances",
                "SELECT count(*) FROM balance WHERE n<>(SELECT count(*) FROM a WHERE a.client=balance.client)");
}

static void
check_schema(Check *self)
{
    g_autofree char *sql = NULL;

    for (guint i = 0; i < self->workload->clients->len; i++)
        if (((WorkloadClient *) self->workload->clients->pdata[i])->kind == WORKLOAD_SCHEMA) {
            sql = g_strdup_printf("SELECT count(*) FROM a LEFT JOIN sqlite_schema AS t ON t.name='s_'||k "
                                  "LEFT JOIN sqlite_schema AS i ON i.name='s_'||k||'_x' "
                                  "WHERE client=%u AND (t.name IS NULL OR t.sql NOT LIKE '%%DEFAULT 7%%' OR i.name IS NULL)",
                                  i);
            expect_none(self, "units of the schema without their table", sql);
            g_free(sql);
            sql = g_strdup_printf("SELECT count(*) FROM sqlite_schema WHERE type='table' AND name GLOB 's_*' AND "
                                  "CAST(substr(name, 3) AS INTEGER) NOT IN (SELECT k FROM a WHERE client=%u)",
                                  i);
            expect_none(self, "tables without their unit", sql);
            g_clear_pointer(&sql, g_free);
        }
    expect_none(self, "passing tables", "SELECT count(*) FROM sqlite_schema WHERE name='passing'");
}

static void
check_sparql(Check *self)
{
    g_autofree guint *n_units = g_new0(guint, self->workload->clients->len);
    sqlite3_stmt *stmt = prepare(self, "SELECT t.lexical, count(*), max(q.o) FROM queryd_term t JOIN queryd_quad q ON q.s=t.id "
                                       "WHERE t.lexical GLOB 'urn:s:*' GROUP BY q.s ORDER BY length(t.lexical) DESC");

    while (stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *iri = (const char *) sqlite3_column_text(stmt, 0);
        guint index = 0;
        guint k = 0;
        int n = sscanf(iri, "urn:s:%u:%u", &index, &k);

        if (n == 2) {
            find_unit(self, get_client(self, index, WORKLOAD_SPARQL, WORKLOAD_SPARQL), k, sqlite3_column_int(stmt, 1) == 2);
            n_units[MIN(index, self->workload->clients->len - 1)]++;
        } else {
            gint64 o = sqlite3_column_int64(stmt, 2);

            if (sqlite3_column_int(stmt, 1) != 1 || o != qd_term_id_make(QD_TAG_INTEGER, n_units[index]))
                note(self, &self->report->n_half, "the counter of client %u is not %u", index, n_units[index]);
        }
    }
    finish(self, stmt);
    expect_none(
        self, "terms that quads name and that are missing",
        "SELECT count(*) FROM (SELECT s AS x FROM queryd_quad UNION SELECT p FROM queryd_quad UNION SELECT o FROM queryd_quad "
        "UNION SELECT g FROM queryd_quad) WHERE x>0 AND x NOT IN (SELECT id FROM queryd_term)");
    expect_none(self, "terms and hashes that differ in number",
                "SELECT (SELECT count(*) FROM queryd_term)-(SELECT count(*) FROM queryd_term_hash)");
    expect_none(self, "wrong statistics",
                "SELECT count(*) FROM queryd_predicate r WHERE n_quads<>(SELECT count(*) FROM queryd_quad WHERE p=r.id)");
    expect_none(self, "graphs of a wrong size",
                "SELECT count(*) FROM queryd_graph r WHERE n_quads<>(SELECT count(*) FROM queryd_quad WHERE g=r.id AND g<>0)");
}

static void
check_imports(Check *self, WorkloadClient *client)
{
    sqlite3_stmt *stmt;

    if (client->kind == WORKLOAD_IMPORT_ROWS) {
        stmt = prepare(self, "SELECT k, count(DISTINCT j) FROM c GROUP BY k");
        while (stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW)
            find_unit(self, client, sqlite3_column_int64(stmt, 0), sqlite3_column_int(stmt, 1) == WORKLOAD_IMPORT_N_ROWS);
        finish(self, stmt);
        return;
    }
    stmt = prepare(self, "SELECT count(*), min(o), max(o) FROM queryd_quad WHERE g<>0");
    if (stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0) > 0) {
        gint64 k = qd_term_id_get_payload(sqlite3_column_int64(stmt, 1));

        find_unit(self, client, k,
                  sqlite3_column_int64(stmt, 1) == sqlite3_column_int64(stmt, 2) &&
                      sqlite3_column_int(stmt, 0) == (int) self->workload->config.n_import_quads);
        /* it has replaced those before it */
        for (gint64 earlier = 1; earlier < k; earlier++)
            find_unit(self, client, earlier, TRUE);
    }
    finish(self, stmt);
}

/* The content of a payload is that of unit @k; else a fault is noted. */
static void
check_payload(Check *self, const WorkloadClient *client, int64_t id, gint64 k)
{
    WorkloadReport *report = self->report;
    gboolean relaxed = workload_is_relaxed(client, (guint) k);
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) content = NULL;
    g_autoptr(GBytes) expected = workload_make_payload(client->index, (guint) k);
    g_auto(QdFd) fd = -1;
    QdPayloadInfo info;

    if (!qd_payload_read(self->connection, id, &info, &content, &fd, &error)) {
        if (relaxed)
            report->n_payload_faults_relaxed++;
        else
            note(self, &report->n_payload_faults, "unit %" G_GINT64_FORMAT ": %s", k,
                 error != NULL ? error->message : "it has no payload");
        return;
    }
    if (content == NULL) {
        uint8_t *data = g_malloc(info.size + 1);
        gssize n = pread(fd, data, info.size + 1, 0);

        content = g_bytes_new_take(data, (gsize) MAX(n, 0));
    }
    if (g_bytes_equal(content, expected))
        return;
    if (relaxed)
        report->n_payload_faults_relaxed++;
    else
        note(self, &report->n_payload_faults, "unit %" G_GINT64_FORMAT ": the content of its payload is wrong", k);
}

static void
find_units_before(Check *self, WorkloadClient *client, gint64 k)
{
    for (gint64 earlier = 1; earlier < k; earlier++)
        find_unit(self, client, earlier, TRUE);
}

static void
check_payloads(Check *self)
{
    const guint n_clients = self->workload->clients->len;
    sqlite3_stmt *stmt = prepare(self, "SELECT client, k, id FROM p ORDER BY client, k");
    guint client = 0;
    guint k = 0;

    while (stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW) {
        WorkloadClient *found = get_client(self, (guint) sqlite3_column_int(stmt, 0), WORKLOAD_PAYLOAD, WORKLOAD_PAYLOAD);

        k = (guint) sqlite3_column_int(stmt, 1);
        find_unit(self, found, k, TRUE);
        if (found == NULL)
            continue;
        check_payload(self, found, sqlite3_column_int64(stmt, 2), k);
        find_units_before(self, found, (gint64) k - WORKLOAD_N_PAYLOADS + 1); /* it has deleted those so far before it */
    }
    finish(self, stmt);

    stmt = prepare(self, "SELECT id, media_type FROM queryd_payload WHERE media_type IS NOT NULL");
    while (stmt != NULL && sqlite3_step(stmt) == SQLITE_ROW) {
        WorkloadClient *found = NULL;

        if (sscanf((const char *) sqlite3_column_text(stmt, 1), "unit/%u-%u", &client, &k) == 2 && client < n_clients)
            found = get_client(self, client, WORKLOAD_REPLACE_PAYLOAD, WORKLOAD_REPLACE_PAYLOAD);
        find_unit(self, found, k, TRUE);
        if (found == NULL)
            continue;
        check_payload(self, found, sqlite3_column_int64(stmt, 0), k);
        find_units_before(self, found, k); /* it has replaced those before it */
    }
    finish(self, stmt);
    expect_none(self, "payloads that nobody has",
                "SELECT count(*) FROM queryd_payload WHERE media_type IS NULL AND id NOT IN "
                "(SELECT id FROM p)");
    expect_none(
        self, "payloads that had to be deleted",
        "SELECT count(*) FROM p WHERE k<=(SELECT max(k) FROM p AS q WHERE q.client=p.client)-" G_STRINGIFY(WORKLOAD_N_PAYLOADS));
}

static gboolean
is_unit(const WorkloadClient *client)
{
    return client->kind <= WORKLOAD_REPLACE_PAYLOAD;
}

/* A client sends a unit when the one before it is answered: if it is there, all are that were acknowledged before. */
static void
check_client(Check *self, const WorkloadClient *client)
{
    guint i = client->index;
    guint later = 0;

    for (guint k = client->positions->len; k > 0; k--) {
        guint position = g_array_index(client->positions, guint, k - 1);
        gboolean found = k <= self->found[i]->len && g_array_index(self->found[i], guint8, k - 1);

        if (found && later == 0)
            later = k;
        if (found || position == WORKLOAD_NOT_ACKNOWLEDGED)
            continue;
        if (later != 0)
            note(self, &self->report->n_half, "unit %u of client %u was acknowledged and is lost, unit %u is there", k, i, later);
        if (position <= self->position && workload_is_relaxed(client, k))
            self->report->n_lost_relaxed++;
        else if (position <= self->position)
            note(self, &self->report->n_lost, "unit %u of client %u was acknowledged at operation %u and is lost", k, i, position);
    }
}

static void
check_acknowledged(Check *self)
{
    for (guint i = 0; i < self->workload->clients->len; i++)
        if (is_unit(self->workload->clients->pdata[i]))
            check_client(self, self->workload->clients->pdata[i]);
}

static gboolean
is_set_up(Check *self)
{
    guint position = self->workload->set_up_position;

    if (get_int64(self, "SELECT count(*) FROM sqlite_schema WHERE name='fixed'") == 1)
        return TRUE;
    if (position != WORKLOAD_NOT_ACKNOWLEDGED && position <= self->position)
        note(self, &self->report->n_lost, "the tables were acknowledged at operation %u and are lost", position);
    return FALSE;
}

void
workload_check(const Workload *self, QdConnection *connection, guint position, WorkloadReport *report)
{
    g_autofree GArray **found = g_new0(GArray *, self->clients->len);
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    Check check = { self, connection, qd_connection_get_db(connection), position, report, found };

    for (guint i = 0; i < self->clients->len; i++)
        found[i] = g_array_new(FALSE, TRUE, 1);
    if (is_set_up(&check)) {
        expect_none(&check, "rows of fixed that are missing", "SELECT count(*)-100 FROM fixed");
        check_rows(&check);
        check_schema(&check);
        check_sparql(&check);
        check_payloads(&check);
        for (guint i = 0; i < self->clients->len; i++) {
            WorkloadClient *client = self->clients->pdata[i];

            if (client->kind == WORKLOAD_IMPORT_ROWS || client->kind == WORKLOAD_IMPORT_QUADS)
                check_imports(&check, client);
        }
        check_acknowledged(&check);
    }
    for (guint i = 0; i < self->clients->len; i++)
        g_array_unref(found[i]);
    (void) qd_connection_set_policy(connection, policy);
}
