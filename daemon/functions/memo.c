/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table that remembers conditions. A cursor has a memo. The column entry is a pointer to it, which holds a reference: a value
 * that is put after the cursor's end does no harm.
 */
#include <string.h>

#include "daemon/functions/many.h"
#include "daemon/functions/sql-call.h"
#include "daemon/sqlite/virtual-table.h"

#define KEYS_MAX 4
#define FIRST_CAPACITY 64
#define ENTRIES_MAX (1 << 17) /* 10 MiB with the empty places; then it begins again */
#define POINTER_TYPE "queryd_memo"

enum { COLUMN_VALUE, COLUMN_ENTRY, COLUMN_KEY };

enum { EMPTY, UNKNOWN, NO, YES };

typedef struct Entry {
    gint64 keys[KEYS_MAX];
    guint8 nulls; /* a bit for each key */
    guint8 state;
} Entry;

typedef struct Memo {
    guint n_refs;
    Entry *entries; /* open addressing; (nullable) */
    gsize n;
    gsize capacity; /* a power of two, or 0 */
    Entry current;  /* the row's, also where it is not kept */
} Memo;

typedef struct Cursor {
    QdVirtualCursor base;
    Memo *memo;
} Cursor;

static void
memo_unref(gpointer data)
{
    Memo *self = data;

    if (--self->n_refs > 0)
        return;
    sqlite3_free(self->entries);
    g_free(self);
}

/* The place of what has the keys of @entry, or an empty one. */
static Entry *
find(const Memo *self, const Entry *entry)
{
    guint64 hash = entry->nulls;
    gsize slot;

    for (guint i = 0; i < KEYS_MAX; i++)
        hash = (hash ^ (guint64) entry->keys[i]) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    for (slot = (gsize) (hash >> 20) & (self->capacity - 1); self->entries[slot].state != EMPTY;
         slot = (slot + 1) & (self->capacity - 1)) {
        if (self->entries[slot].nulls == entry->nulls && memcmp(self->entries[slot].keys, entry->keys, sizeof entry->keys) == 0)
            break;
    }
    return &self->entries[slot];
}

/* Makes room for another entry. FALSE: there is no memory. */
static gboolean
reserve(Memo *self)
{
    Memo larger = { .capacity = MAX(FIRST_CAPACITY, 2 * self->capacity) };

    if (2 * self->n < self->capacity)
        return TRUE;
    if (self->n >= ENTRIES_MAX) {
        memset(self->entries, 0, self->capacity * sizeof(Entry));
        self->n = 0;
        return TRUE;
    }
    larger.entries = sqlite3_malloc64(larger.capacity * sizeof(Entry));
    if (larger.entries == NULL)
        return FALSE;
    memset(larger.entries, 0, larger.capacity * sizeof(Entry));
    for (gsize i = 0; i < self->capacity; i++) {
        if (self->entries[i].state != EMPTY)
            *find(&larger, &self->entries[i]) = self->entries[i];
    }
    sqlite3_free(self->entries);
    self->entries = larger.entries;
    self->capacity = larger.capacity;
    return TRUE;
}

/* --- the virtual table ------------------------------------------------------------------------------------------------ */

static int
connect_table(sqlite3 *db, void *data, int n_args, const char *const *args, sqlite3_vtab **ret_table, char **ret_message)
{
    return qd_virtual_table_connect(db, "CREATE TABLE x(value, entry, k1 HIDDEN, k2 HIDDEN, k3 HIDDEN, k4 HIDDEN)", data,
                                    ret_table);
}

/* The number of keys is the index; they come in order. */
static int
plan_table(sqlite3_vtab *table, sqlite3_index_info *info)
{
    guint found = 0;
    int n_keys = 0;

    for (int i = 0; i < info->nConstraint; i++) {
        int key = info->aConstraint[i].iColumn - COLUMN_KEY;

        if (key < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ || (found & (1u << key)) != 0)
            continue;
        if (!info->aConstraint[i].usable)
            return SQLITE_CONSTRAINT;
        info->aConstraintUsage[i].argvIndex = key + 1;
        info->aConstraintUsage[i].omit = TRUE;
        found |= 1u << key;
        n_keys++;
    }
    info->estimatedCost = 1;
    info->estimatedRows = 1;
    return found == (1u << n_keys) - 1 ? SQLITE_OK : SQLITE_CONSTRAINT;
}

static int
open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **ret_cursor)
{
    Cursor *self = g_new0(Cursor, 1);

    self->memo = g_new0(Memo, 1);
    self->memo->n_refs = 1;
    *ret_cursor = &self->base.base;
    return SQLITE_OK;
}

static int
close_cursor(sqlite3_vtab_cursor *cursor)
{
    memo_unref(((Cursor *) cursor)->memo);
    g_free(cursor);
    return SQLITE_OK;
}

static int
filter(sqlite3_vtab_cursor *cursor, int index, const char *index_text, int n_args, sqlite3_value **args)
{
    Cursor *self = (Cursor *) cursor;
    Entry current = { .state = UNKNOWN };

    for (int i = 0; i < n_args; i++) {
        int type = sqlite3_value_type(args[i]);

        if (type == SQLITE_NULL)
            current.nulls |= (guint8) (1u << i);
        else if (type == SQLITE_INTEGER)
            current.keys[i] = sqlite3_value_int64(args[i]);
        else
            current.state = EMPTY; /* it cannot be kept */
    }
    if (current.state != EMPTY && self->memo->capacity > 0) {
        const Entry *known = find(self->memo, &current);

        current.state = known->state != EMPTY ? known->state : UNKNOWN;
    }
    self->memo->current = current;
    self->base.row = 1;
    self->base.is_at_end = FALSE;
    return SQLITE_OK;
}

static int
get_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    Memo *memo = ((Cursor *) cursor)->memo;

    if (column == COLUMN_VALUE && memo->current.state >= NO) {
        sqlite3_result_int(context, memo->current.state == YES);
    } else if (column == COLUMN_ENTRY) {
        memo->n_refs++;
        sqlite3_result_pointer(context, memo, POINTER_TYPE, memo_unref);
    }
    return SQLITE_OK;
}

/* queryd_memo_put(entry, value) */
static void
function_put(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    Memo *memo = sqlite3_value_pointer(args[0], POINTER_TYPE);

    if (memo != NULL && memo->current.state == UNKNOWN && sqlite3_value_type(args[1]) == SQLITE_INTEGER && reserve(memo)) {
        memo->current.state = sqlite3_value_int(args[1]) != 0 ? YES : NO;
        *find(memo, &memo->current) = memo->current;
        memo->n++;
    }
    sqlite3_result_value(context, args[1]);
}

gboolean
qd_memo_register(sqlite3 *db, GError **error)
{
    static const sqlite3_module module = {
        .xConnect = connect_table,
        .xDisconnect = qd_virtual_table_disconnect,
        .xBestIndex = plan_table,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = filter,
        .xNext = qd_virtual_cursor_end,
        .xEof = qd_virtual_cursor_is_at_end,
        .xColumn = get_column,
        .xRowid = qd_virtual_cursor_get_rowid,
    };
    int r = sqlite3_create_module_v2(db, "queryd_memo", &module, NULL, NULL);

    if (r == SQLITE_OK)
        r = sqlite3_create_function_v2(db, "queryd_memo_put", 2, SQLITE_UTF8 | SQLITE_INNOCUOUS, NULL, function_put, NULL, NULL,
                                       NULL);
    if (r != SQLITE_OK)
        qd_sql_create_error(error, "queryd_memo", r);
    return r == SQLITE_OK;
}
