/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A statement has a pointer to its program, then the number of its operations. An operation begins with the byte of its code, and
 * has three numbers from byte 4 on. All that is SQLite's own and may change: EXPLAIN of a statement says what to look for. It tells
 * where the pointer is, how long an operation is, and which code is a jump. Unless exactly one place fits nothing is changed.
 */
#include "daemon/sqlite/builtin/program-end.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/fd.h"

#define TEXT "SELECT 4711, 4712, 'a' || 4713 WHERE abs(4714) <> 4715"
#define JUMP "Goto"
#define MAX_OPERATIONS 64u
#define NUMBERS_OFFSET 4u
#define MAX_OPERATION_BYTES 64u
#define STATEMENT_BYTES 232u /* at least so large it is */

typedef struct Numbers {
    int p[3];
} Numbers;

/* What EXPLAIN says. */
typedef struct Explained {
    guint n;
    guint jump; /* its place */
    Numbers numbers[MAX_OPERATIONS];
} Explained;

/* Written once, before any request. */
static struct {
    gsize n_operation_bytes; /* 0: not known */
    gsize program_offset;
    uint8_t jump;
} layout;

static gboolean
explain(sqlite3 *db, Explained *explained)
{
    sqlite3_stmt *stmt = NULL;

    *explained = (Explained){ .jump = MAX_OPERATIONS };
    if (sqlite3_prepare_v2(db, "EXPLAIN " TEXT, -1, &stmt, NULL) != SQLITE_OK)
        return FALSE;
    while (sqlite3_step(stmt) == SQLITE_ROW && explained->n < MAX_OPERATIONS) {
        for (int i = 0; i < 3; i++)
            explained->numbers[explained->n].p[i] = sqlite3_column_int(stmt, 2 + i);
        if (g_strcmp0((const char *) sqlite3_column_text(stmt, 1), JUMP) == 0)
            explained->jump = explained->n;
        explained->n++;
    }
    (void) sqlite3_finalize(stmt);
    return explained->jump < explained->n;
}

/* FALSE: @address is no memory. */
static gboolean
copy_memory(const int fds[2], const void *address, uint8_t *ret, gsize n_bytes)
{
    ssize_t n = write(fds[1], address, n_bytes);

    return n > 0 && read(fds[0], ret, (gsize) n) == n && (gsize) n == n_bytes;
}

static gboolean
is_program(const uint8_t *bytes, gsize n_operation_bytes, const Explained *explained)
{
    for (guint i = 0; i < explained->n; i++)
        if (memcmp(bytes + i * n_operation_bytes + NUMBERS_OFFSET, &explained->numbers[i], sizeof(Numbers)) != 0)
            return FALSE;
    return TRUE;
}

/* Returns: how many places fit */
static guint
find_program(const uint8_t *statement, const int fds[2], const Explained *explained)
{
    guint n_found = 0;

    for (gsize at = 0; at + sizeof(void *) + sizeof(int) <= STATEMENT_BYTES; at += sizeof(void *)) {
        uint8_t bytes[MAX_OPERATIONS * MAX_OPERATION_BYTES];
        const void *program;
        int n;

        memcpy(&program, statement + at, sizeof program);
        memcpy(&n, statement + at + sizeof program, sizeof n);
        if (n != (int) explained->n || program == NULL)
            continue;
        for (gsize size = 24; size <= MAX_OPERATION_BYTES; size += 8) {
            if (!copy_memory(fds, program, bytes, explained->n * size) || !is_program(bytes, size, explained))
                continue;
            n_found++;
            layout.n_operation_bytes = size;
            layout.program_offset = at;
            layout.jump = bytes[explained->jump * size];
        }
    }
    return n_found;
}

/* end_program() */
static void
call_end(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    (void) qd_program_end(sqlite3_context_db_handle(context));
}

static gboolean
can_end(sqlite3 *db)
{
    return sqlite3_create_function(db, "end_program", 0, SQLITE_UTF8, NULL, call_end, NULL, NULL) == SQLITE_OK &&
           sqlite3_exec(db, "SELECT end_program(), 1", NULL, NULL, NULL) == SQLITE_INTERRUPT;
}

gboolean
qd_program_learn(sqlite3 *db)
{
    g_auto(QdFd) from = -1;
    g_auto(QdFd) to = -1;
    Explained explained;
    sqlite3_stmt *stmt = NULL;
    guint n_found = 0;
    int fds[2];

    if (!explain(db, &explained) || pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
        return FALSE;
    from = fds[0];
    to = fds[1];
    if (sqlite3_prepare_v2(db, TEXT, -1, &stmt, NULL) == SQLITE_OK)
        n_found = find_program((const uint8_t *) stmt, fds, &explained);
    (void) sqlite3_finalize(stmt);
    if (n_found != 1 || !can_end(db))
        layout.n_operation_bytes = 0;
    return layout.n_operation_bytes != 0;
}

static void
end_statement(sqlite3_stmt *stmt)
{
    const uint8_t *place = (const uint8_t *) stmt + layout.program_offset;
    volatile uint8_t *program;
    int n;

    memcpy(&program, place, sizeof program);
    memcpy(&n, place + sizeof program, sizeof n);
    for (int i = 0; i < n; i++)
        program[(gsize) i * layout.n_operation_bytes] = layout.jump;
}

gboolean
qd_program_end(sqlite3 *db)
{
    gboolean found = FALSE;

    if (db == NULL || layout.n_operation_bytes == 0)
        return FALSE;
    for (sqlite3_stmt *stmt = sqlite3_next_stmt(db, NULL); stmt != NULL; stmt = sqlite3_next_stmt(db, stmt)) {
        if (!sqlite3_stmt_busy(stmt))
            continue;
        if (!found)
            sqlite3_interrupt(db);
        found = TRUE;
        end_statement(stmt);
    }
    return found;
}
