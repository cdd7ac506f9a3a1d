/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that stand for SQLite's own: the same calls on a connection that has ours and on one that has not.
 */
#pragma once

#include <sqlite3.h>

#include "daemon/base/interrupt.h"
#include "daemon/functions/linear.h"

typedef struct Plain {
    sqlite3 *ours;
    sqlite3 *plain;
} Plain;

static inline void
plain_open(Plain *self)
{
    g_assert_cmpint(sqlite3_open(":memory:", &self->ours), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_open(":memory:", &self->plain), ==, SQLITE_OK);
    g_assert_true(qd_functions_register_linear(self->ours, NULL));
}

static inline void
plain_close(Plain *self)
{
    g_assert_cmpint(sqlite3_close(self->ours), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_close(self->plain), ==, SQLITE_OK);
}

/* Type, size and bytes of the only value, or the error. */
static inline char *
plain_run(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    GString *out = g_string_new(NULL);
    int r = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

    if (r == SQLITE_OK)
        r = sqlite3_step(stmt);
    if (r == SQLITE_ROW) {
        const guchar *data = sqlite3_column_blob(stmt, 0);
        int n = sqlite3_column_bytes(stmt, 0);

        g_string_append_printf(out, "%d %d ", sqlite3_column_type(stmt, 0), n);
        for (int i = 0; i < n; i++)
            g_string_append_printf(out, "%02x", data[i]);
    } else {
        g_string_append_printf(out, "error %d: %s", r, sqlite3_errmsg(db));
    }
    (void) sqlite3_finalize(stmt);
    return g_string_free(out, FALSE);
}

static inline void
plain_assert_same(Plain *self, const char *sql)
{
    g_autofree char *ours = plain_run(self->ours, sql);
    g_autofree char *plain = plain_run(self->plain, sql);

    if (!g_str_equal(ours, plain))
        g_error("%s: %s, but SQLite says %s", sql, ours, plain);
}

static inline gboolean
plain_end_it(void *data)
{
    return TRUE;
}

/* While the statement shall end each of the calls fails at once. */
static inline void
plain_assert_interruptible(Plain *self, const char *const *calls, guint n)
{
    for (guint i = 0; i < n; i++) {
        QdInterrupt interrupt = { .look = plain_end_it, .is_always_due = TRUE };
        g_autofree char *sql = g_strdup_printf("SELECT %s", calls[i]);
        g_autofree char *result = NULL;

        qd_interrupt_begin(&interrupt);
        result = plain_run(self->ours, sql);
        qd_interrupt_end(&interrupt);
        if (!g_str_equal(result, "error 9: interrupted"))
            g_error("%s: %s", sql, result);
    }
}
