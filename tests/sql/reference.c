/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One statement at a time, all rows.
 */
#include "tests/sql/reference.h"

#include <string.h>

/* Random triggers and joins may insert without end. About half a second of work for the statements of a script together. */
#define LOOK_OPERATIONS 1000
#define SCRIPT_LOOKS 20000u

static void
note_rowid(void *notes, int action, const char *database, const char *table, sqlite3_int64 rowid)
{
    if (rowid == G_MAXINT64)
        ((ReferenceNotes *) notes)->has_last = TRUE;
}

static int
note_work(void *data)
{
    ReferenceNotes *notes = data;

    notes->too_long = ++notes->n_looks > SCRIPT_LOOKS;
    return notes->too_long;
}

void
reference_limit_work(sqlite3 *db, ReferenceNotes *notes)
{
    *notes = (ReferenceNotes){ 0 };
    sqlite3_progress_handler(db, LOOK_OPERATIONS, note_work, notes);
}

sqlite3 *
reference_open(ReferenceNotes *notes)
{
    static const int options[][2] = {
        { SQLITE_DBCONFIG_DEFENSIVE, 1 },
        { SQLITE_DBCONFIG_ENABLE_FKEY, 1 },
        { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1 },
    };
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    for (gsize i = 0; i < G_N_ELEMENTS(options); i++)
        (void) sqlite3_db_config(db, options[i][0], options[i][1], NULL);
    (void) sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 100);          /* sql_depth */
    (void) sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 256); /* like_pattern_bytes */
    reference_limit_work(db, notes);
    (void) sqlite3_update_hook(db, note_rowid, notes);
    return db;
}

static const char *
get_class(int result)
{
    switch (result & 0xff) {
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
        return "SYNTAX TOO_COMPLEX ACCESS_DENIED UNSUPPORTED";
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
        return "CONSTRAINT";
    case SQLITE_TOOBIG:
        return "TOO_BIG TOO_COMPLEX";
    case SQLITE_LOCKED:
        return "BUSY";
    case SQLITE_FULL:
        return "DISK_FULL";
    case SQLITE_READONLY:
        return "READ_ONLY";
    case SQLITE_AUTH:
    case SQLITE_PERM:
        return "ACCESS_DENIED";
    case SQLITE_CORRUPT:
        return "CORRUPT";
    case SQLITE_RANGE:
        return "BAD_PARAMETER";
    default: /* SQLite's numbers, not our enum */
        return "INTERNAL";
    }
}

static void
take_row(Outcome *outcome, sqlite3_stmt *stmt)
{
    GString *row = g_string_new(NULL);

    for (int i = 0; i < sqlite3_column_count(stmt); i++) {
        switch (sqlite3_column_type(stmt, i)) {
        case SQLITE_NULL:
            outcome_put_null(row);
            break;
        case SQLITE_INTEGER:
            outcome_put_int64(row, sqlite3_column_int64(stmt, i));
            break;
        case SQLITE_FLOAT:
            outcome_put_double(row, sqlite3_column_double(stmt, i));
            break;
        case SQLITE_TEXT: {
            const char *text = (const char *) sqlite3_column_text(stmt, i);

            outcome_put_text(row, text, (gsize) sqlite3_column_bytes(stmt, i));
            break;
        }
        default: /* SQLite's numbers, not our enum */
            outcome_put_blob(row, sqlite3_column_blob(stmt, i), (gsize) sqlite3_column_bytes(stmt, i));
        }
    }
    outcome_add_row(outcome, row);
}

/* 0: there is none of this name. A bare name is tried with each of SQLite's signs. */
static int
find_parameter(sqlite3_stmt *stmt, const char *key)
{
    if (g_ascii_isdigit(key[0]))
        return (int) g_ascii_strtoll(key, NULL, 10);
    for (const char *sign = ":@$"; *sign != '\0'; sign++) {
        g_autofree char *name = g_strdup_printf("%c%s", *sign, strchr(":@$", key[0]) != NULL ? key + 1 : key);
        int index = sqlite3_bind_parameter_index(stmt, name);

        if (index > 0)
            return index;
    }
    return 0;
}

static void
bind_value(sqlite3_stmt *stmt, int index, GVariant *value)
{
    switch (g_variant_classify(value)) {
    case G_VARIANT_CLASS_BOOLEAN:
        (void) sqlite3_bind_int64(stmt, index, g_variant_get_boolean(value) ? 1 : 0);
        return;
    case G_VARIANT_CLASS_BYTE:
        (void) sqlite3_bind_int64(stmt, index, g_variant_get_byte(value));
        return;
    case G_VARIANT_CLASS_INT32:
        (void) sqlite3_bind_int64(stmt, index, g_variant_get_int32(value));
        return;
    case G_VARIANT_CLASS_INT64:
        (void) sqlite3_bind_int64(stmt, index, g_variant_get_int64(value));
        return;
    case G_VARIANT_CLASS_UINT64:
        (void) sqlite3_bind_int64(stmt, index, (gint64) g_variant_get_uint64(value));
        return;
    case G_VARIANT_CLASS_DOUBLE:
        (void) sqlite3_bind_double(stmt, index, g_variant_get_double(value));
        return;
    case G_VARIANT_CLASS_STRING:
        (void) sqlite3_bind_text(stmt, index, g_variant_get_string(value, NULL), -1, SQLITE_TRANSIENT);
        return;
    case G_VARIANT_CLASS_ARRAY: {
        gsize n_bytes = 0;
        const void *data = g_variant_get_fixed_array(value, &n_bytes, 1);

        (void) sqlite3_bind_blob(stmt, index, data != NULL ? data : "", (int) n_bytes, SQLITE_TRANSIENT);
        return;
    }
    default: /* GLib's enum: the others, and a signature, are NULL */
        (void) sqlite3_bind_null(stmt, index);
    }
}

static void
bind_all(sqlite3_stmt *stmt, GVariant *bound)
{
    GVariantIter iter;
    const char *key;
    GVariant *value;

    g_variant_iter_init(&iter, bound);
    while (g_variant_iter_loop(&iter, "{&sv}", &key, &value))
        bind_value(stmt, find_parameter(stmt, key), value);
}

Outcome *
reference_execute(sqlite3 *db, const char *text, GVariant *bound)
{
    g_autoptr(Outcome) outcome = outcome_new();
    sqlite3_stmt *stmt = NULL;
    gint64 total = sqlite3_total_changes64(db);
    int r = sqlite3_prepare_v2(db, text, -1, &stmt, NULL);

    if (r == SQLITE_OK && stmt != NULL) {
        if (bound != NULL)
            bind_all(stmt, bound);
        while ((r = sqlite3_step(stmt)) == SQLITE_ROW)
            take_row(outcome, stmt);
        if (r == SQLITE_DONE)
            r = SQLITE_OK;
        for (int i = 0; i < sqlite3_column_count(stmt); i++)
            outcome_add_column(outcome, sqlite3_column_name(stmt, i), sqlite3_column_decltype(stmt, i));
    }
    if (r != SQLITE_OK)
        outcome_set_error(outcome, get_class(r), sqlite3_errmsg(db));
    (void) sqlite3_finalize(stmt);
    outcome->n_changes = sqlite3_total_changes64(db) != total ? sqlite3_changes64(db) : 0;
    outcome->rowid = sqlite3_last_insert_rowid(db);
    return g_steal_pointer(&outcome);
}

Outcome *
reference_execute_whole(sqlite3 *db, const char *text, GVariant *bound)
{
    Outcome *outcome;

    reference_command(db, "SAVEPOINT whole");
    outcome = reference_execute(db, text, bound);
    if (sqlite3_get_autocommit(db) == 0)
        reference_command(db, outcome->error != NULL ? "ROLLBACK TO whole; RELEASE whole" : "RELEASE whole");
    return outcome;
}

Outcome *
reference_execute_between(sqlite3 *db, const char *text, GVariant *bound)
{
    Outcome *outcome;
    g_autoptr(Outcome) end = NULL;

    reference_command(db, "BEGIN IMMEDIATE");
    outcome = reference_execute_whole(db, text, bound);
    if (outcome->error == NULL) {
        end = reference_execute(db, "COMMIT", NULL);
        if (end->error != NULL) {
            outcome_free(outcome);
            outcome = g_steal_pointer(&end);
        }
    }
    if (sqlite3_get_autocommit(db) == 0)
        reference_command(db, "ROLLBACK");
    return outcome;
}

void
reference_command(sqlite3 *db, const char *text)
{
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
        g_error("SQLite refuses %s: %s", text, sqlite3_errmsg(db));
}

static int
append_drop(void *data, int n, char **values, char **names)
{
    g_string_append_printf(data, "DROP %s IF EXISTS \"%s\";", values[0], values[1]);
    return 0;
}

void
reference_empty_store(const char *path)
{
    g_autoptr(GString) sql = g_string_new("BEGIN IMMEDIATE;");
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(path, &db), ==, SQLITE_OK);
    (void) sqlite3_busy_timeout(db, 20000);
    reference_command(db, "PRAGMA synchronous=OFF; PRAGMA foreign_keys=OFF; PRAGMA wal_autocheckpoint=0");
    if (sqlite3_exec(db,
                     "SELECT type, name FROM sqlite_schema WHERE type IN ('view', 'table', 'trigger') AND name NOT LIKE 'queryd%' "
                     "AND name NOT LIKE 'sqlite%' AND (type <> 'trigger' OR tbl_name NOT LIKE 'queryd%') "
                     "ORDER BY type = 'table', sql LIKE '% VIRTUAL %' DESC",
                     append_drop, sql, NULL) != SQLITE_OK)
        g_error("cannot list the schema: %s", sqlite3_errmsg(db));
    g_string_append(sql, "COMMIT");
    reference_command(db, sql->str);
    /* also the table: whether it is there changes what an R-tree estimates */
    (void) sqlite3_exec(db, "DROP TABLE IF EXISTS sqlite_stat1", NULL, NULL, NULL);
    (void) sqlite3_exec(db, "DELETE FROM sqlite_sequence", NULL, NULL, NULL);
    (void) sqlite3_close(db);
}
